"""Sections cut and searched by executors: tuples and groups stay with them, the driver decides from counts."""
