"""Sections of a table that DuckDB has: cut by queries, searched one by one, their groups in files."""
