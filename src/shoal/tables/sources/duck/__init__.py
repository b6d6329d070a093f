"""What DuckDB needs besides files: the columns of what it writes, and tables of databases."""
