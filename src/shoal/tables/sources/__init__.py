"""Where tables come from: memory, files, files counted by DuckDB, tables of a PostgreSQL database."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError, setting
from shoal.schema import Reading
from shoal.tables.sources.url import is_file_url, is_url, parse_file_url, parse_url

if TYPE_CHECKING:
    from shoal.tables.sources.base import Source

__all__ = ["find_source", "why_not_on_disk"]


def find_source(
    data: Any,
    engine: str | None = None,
    *,
    memory: int | None = None,
    threads: int = 1,
    reading: Reading | None = None,
    numbered: Sequence[str] = (),
) -> Source:
    """Return the source for a frame, a `Table`, a path or the URL of a table; it is not opened yet.

    Args:
        data: The table.
        engine: What counts the rows of a file: "duckdb", or by default "memory".
        memory: The memory limit of DuckDB in bytes; by default the available memory.
        threads: The threads of DuckDB.
        reading: How a file is read: delimiter, encoding, header, columns that it has, sheet, and doubles of names.
        numbered: Columns whose distinct cells are kept in memory, however many they are: the quasi-identifiers.
    """
    from shoal.tables.sources.memory import TableSource

    reading = reading or Reading()
    if not isinstance(data, str | os.PathLike):
        from shoal.tables.formats import as_table

        return TableSource(as_table(data, duplicate_columns=reading.duplicate_columns))
    copying: dict[str, Any] = {"memory": memory, "threads": threads, "numbered": numbered}
    if engine == "duckdb":
        from shoal.tables.formats.memory_limit import available_memory

        copying["memory"] = available_memory() if memory is None else memory
    if engine == "duckdb" and is_url(data):
        from shoal.tables.sources.duck.databases import ServerSource

        return ServerSource(parse_url(str(data)), **copying)
    if engine == "duckdb" and is_file_url(data):
        from shoal.tables.formats import refuse_options
        from shoal.tables.sources.duck.databases import DatabaseFileSource

        given = {name: getattr(reading, name) for name in ("delimiter", "encoding", "header", "sheet")}
        refuse_options(data, "a database", given)
        return DatabaseFileSource(parse_file_url(str(data)), **copying)
    if is_url(data):
        from shoal.tables.sources.postgres import PostgresSource

        return PostgresSource(parse_url(str(data)))
    options: dict[str, Any] = {
        "delimiter": reading.delimiter,
        "encoding": reading.encoding,
        "header": reading.header,
        "named": reading.named,
        "duplicate_columns": reading.duplicate_columns,
    }
    if engine != "duckdb":
        return TableSource(path=data, options=options | {"sheet": reading.sheet})
    if reading.sheet is not None:
        raise UsageError(
            f"{data}: {setting('sheet')} is for workbooks, which DuckDB does not read. Use "
            f"{setting('engine', 'memory')}."
        )
    from shoal.tables.sources.duckdb import DuckSource

    return DuckSource(Path(data), **copying, **options)


def why_not_on_disk(data: Any, reading: Reading) -> str | None:
    """Return why DuckDB cannot keep a table on disk; None if it can."""
    from shoal.tables.formats.sniff import Format, sniff

    if not isinstance(data, str | os.PathLike):
        return "a frame is in memory"
    if is_url(data) or is_file_url(data):
        return None
    form = sniff(Path(data))
    if reading.sheet is not None or form not in (Format.CSV, Format.GZIP, Format.PARQUET):
        return f"DuckDB does not read {form}"
    return None
