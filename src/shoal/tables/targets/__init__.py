"""Where a release goes: a file, standard output or a database table, all at once or not at all."""
