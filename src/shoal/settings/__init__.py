"""Everything a user can set about a run: the table of fields, shoal.toml in and out."""
