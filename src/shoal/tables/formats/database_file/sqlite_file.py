"""Tables and views in a file of SQLite, which is opened read-only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shoal.errors import InputError
from shoal.tables.formats.database_file.collector import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    TITLES,
    UNREADABLE,
    Collector,
    Text,
    find_table,
    quoted,
)
from shoal.tables.sources.url import FileTable
from shoal.tables.table import LONGEST_CELL
from shoal.tables.typed_text import ADVICE, cell_text
from shoal.tables.watch import Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_sqlite"]

STEPS = 10_000  # of SQLite's machine between two looks at whether the run was cancelled
LISTED = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"


def read_sqlite(place: FileTable, collector: Collector, watch: Watch) -> Iterator[list[pl.Series]]:
    """Yield the rows of a table, block by block."""
    journal = place.path.with_name(f"{place.path.name}-wal")
    # Without changes in a journal, SQLite need not make files beside the database to read it.
    mode = "mode=ro" if journal.exists() and journal.stat().st_size else "immutable=1"
    uri = f"file:{quote(str(place.path.absolute()))}?{mode}"
    with _guarded_sqlite(place, watch), closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.text_factory = _decoded
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
        connection.set_progress_handler(watch.cancelled, STEPS)
        for safety in ("query_only = on", "trusted_schema = off", "cell_size_check = on"):
            connection.execute(f"pragma {safety}")
        tables = [name for (name,) in connection.execute(LISTED)] if place.schema in (None, "main") else []
        find_table(place, tables)
        name = ".".join(quoted(part) for part in (place.schema, place.table) if part is not None)
        # A view has no declared types of its own; the pragma knows those that it passes on.
        listed = connection.execute("select name, type from pragma_table_info(?)", (place.table,))
        declared = {column: str(kind).upper() for column, kind in listed}
        cursor = connection.execute(f"select * from {name}")
        names = [column[0] for column in cursor.description]
        texts = [_sqlite_text(column, place) for column in names]
        collector.begin(names, texts, [declared.get(column, "") for column in names])
        rows: list[tuple[Any, ...]] = []
        n_bytes = 0
        for row in cursor:
            rows.append(row)
            n_bytes += sum(len(cell) for cell in row if isinstance(cell, str))
            if len(rows) == BLOCK_ROWS or n_bytes > BLOCK_BYTES:
                yield collector.add(rows)
                rows, n_bytes = [], 0
        if rows:
            yield collector.add(rows)


def _decoded(raw: bytes) -> str:
    """Decode a text; the error of SQLite's own decoding would show the cell."""
    return raw.decode("utf-8", "surrogateescape")


def _sqlite_text(column: str, place: FileTable) -> Text:
    def text(cell: Any) -> str:
        if isinstance(cell, bytes):
            raise InputError(f"{place.shown}: column {column!r} contains a BLOB, which has no text. {ADVICE}")
        return cell_text(cell)

    return text


@contextmanager
def _guarded_sqlite(place: FileTable, watch: Watch) -> Iterator[None]:
    """Replace errors of SQLite, whose texts may contain cells."""
    try:
        yield
    except (sqlite3.Error, UnicodeError) as error:
        watch.check()
        if isinstance(error, sqlite3.DataError) or getattr(error, "sqlite_errorname", "") == "SQLITE_TOOBIG":
            raise InputError(f"{place.shown}: a cell has more than {LONGEST_CELL >> 20} MB. {ADVICE}") from None
        raise InputError(f"{place.shown}: cannot be read as {TITLES['sqlite']}: {UNREADABLE}.") from None
