"""Tables that are counted where they lie: files by DuckDB, tables of a PostgreSQL database by their URL."""
