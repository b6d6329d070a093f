"""Tables and views in files of SQLite and DuckDB, opened read-only; every cell becomes the text of its value.

SQLite stores whatever it is given: a text may stand in a column of integers. Such a cell keeps its text, the column is
read as text, and a note says so. Nothing is downloaded, and a view cannot read other files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import FileError, InputError, Note, counted, file_path
from shoal.tables.csv import check_file
from shoal.tables.formats.database_file.collector import TITLES, Collector
from shoal.tables.formats.database_file.duckdb_file import read_duckdb
from shoal.tables.formats.database_file.sqlite_file import read_sqlite
from shoal.tables.sources.url import FileTable
from shoal.tables.table import Stamp, Table, check_cells, check_names, make_table
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DatabaseBlocks", "read_database_file"]

MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}


def read_database_file(place: FileTable, watch: Watch = UNWATCHED) -> Table:
    """Read a table or view.

    Args:
        place: The file and the table.
        watch: Hears of progress and may cancel.

    Raises:
        InputError: The file is not such a database, has no such table, or has a column or cell without a text.
        FileError: The file cannot be read, or the table does not fit into memory.
    """
    stamp, collector = _begin(place, watch)
    for _ in _blocks(place, collector, watch):
        pass
    if Stamp.of(place.path) != stamp:
        raise InputError(f"{place.shown}: the file changed while it was read. Run again when nothing writes to it.")
    if not collector.n_rows:
        raise InputError(f"{place.shown}: no data rows.")
    columns = collector.columns()
    notes = (_about(place, len(columns)), *collector.notes())
    return make_table(columns, place.shown, path=place.path, stamp=stamp, notes=notes, types=collector.types())


class DatabaseBlocks:
    """A table or view as blocks of rows, of which one at a time is in memory; they can be read only once.

    Args:
        place: The file and the table.
        watch: Hears of progress and may cancel.
        memory: The memory of DuckDB in bytes; by default a share of what is available.

    Attributes:
        names: Names of the columns.
        stamp: The state of the file when it was opened.
        n_cells: The number of cells, if it is known.
    """

    def __init__(self, place: FileTable, watch: Watch = UNWATCHED, memory: int | None = None) -> None:
        self.stamp, self._collector = _begin(place, watch, keeps=False, memory=memory)
        self._place = place
        self._blocks = _blocks(place, self._collector, watch)
        self._first = next(self._blocks, None)
        self.names = tuple(self._collector.names)
        self.n_cells = self._collector.n_cells
        self._of_names = check_names(list(self.names), place.shown)

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows."""
        import polars as pl

        block = self._first
        while block is not None:
            check_cells(block, self._place.shown)
            yield pl.DataFrame([cells.alias(name) for cells, name in zip(block, self.names, strict=True)])
            block = next(self._blocks, None)

    def notes(self) -> tuple[Note, ...]:
        """Return what was detected or noticed, after all rows were read."""
        return (_about(self._place, len(self.names)), *self._collector.notes(), *self._of_names)


def _begin(place: FileTable, watch: Watch, *, keeps: bool = True, memory: int | None = None) -> tuple[Stamp, Collector]:
    if not os.path.exists(place.path) and os.path.exists(absolute := Path("/") / place.path):
        raise FileError(
            f"{place.path}: no such file. Write an absolute path with four slashes: {place.engine}:///{absolute}?..."
        )
    stamp = check_file(place.path)
    _check_magic(place)
    return stamp, Collector(place, stamp.size, watch, keeps=keeps, memory=memory)


def _blocks(place: FileTable, collector: Collector, watch: Watch) -> Iterator[list[pl.Series]]:
    return read_sqlite(place, collector, watch) if place.engine == "sqlite" else read_duckdb(place, collector)


def _about(place: FileTable, n_columns: int) -> Note:
    about = f"{TITLES[place.engine]}, table {place.table!r}, {counted(n_columns, 'column')}"
    return Note(file_path(place.path), about)


def _check_magic(place: FileTable) -> None:
    offset, magic = MAGIC[place.engine]
    try:
        with open(place.path, "rb") as file:
            head = file.read(offset + len(magic))
    except OSError as error:
        raise FileError(f"{place.path}: cannot be read: {error.strerror}.") from None
    if head[offset:] != magic:
        raise InputError(f"{place.path}: is not {TITLES[place.engine]}. Name another file.")
