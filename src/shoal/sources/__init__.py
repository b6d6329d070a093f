"""Tables that are counted where they lie: files by DuckDB, tables of a PostgreSQL database by their URL."""

from shoal.sources.base import DistinctRows, Facts, Recoding, Source
from shoal.sources.url import TableURL, is_url, parse_url

__all__ = ["DistinctRows", "Facts", "Recoding", "Source", "TableURL", "is_url", "parse_url"]
