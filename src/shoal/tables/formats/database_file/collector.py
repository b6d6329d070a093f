"""Rows of a database file as columns of text, and what the readers of both kinds of file share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, Note
from shoal.tables.formats.memory_limit import available_memory, check_memory, refuse_expansion
from shoal.tables.sources.url import FileTable
from shoal.tables.table import check_width
from shoal.tables.watch import Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BLOCK_BYTES", "BLOCK_ROWS", "TITLES", "UNREADABLE", "Collector", "Text", "find_table", "quoted"]

TITLES = {"sqlite": "an SQLite database", "duckdb": "a DuckDB database"}
BLOCK_BYTES = 1 << 23
BLOCK_ROWS = 10_000
SHARE = 0.5  # of the memory for DuckDB
UNREADABLE = "it is damaged, encrypted, in use by another program or of an unknown version"

Text = Callable[[Any], str]


class Collector:
    """Turns rows into columns of text, and keeps them within the memory that is available.

    Args:
        place: The file and the table.
        size: The size of the file.
        watch: Hears of progress and may cancel.
        keeps: Whether rows are kept.
        memory: The memory of DuckDB in bytes; by default a share of what is available.

    Attributes:
        names: Names of the columns.
        keeps: Whether rows are kept.
        memory: The memory of DuckDB in bytes.
        n_rows: The number of rows so far.
        n_cells: The number of cells, if it is known beforehand.
        known_types: Types of columns that a database states.
    """

    def __init__(
        self, place: FileTable, size: int, watch: Watch, *, keeps: bool = True, memory: int | None = None
    ) -> None:
        self._place, self._size, self._watch = place, size, watch
        self.keeps, self.n_cells = keeps, 0
        self._available = available_memory()
        self.memory = memory if memory is not None or self._available is None else int(self._available * SHARE)
        self.known_types: dict[str, Any] = {}
        self.names: list[str] = []
        self._texts: list[Text] = []
        self._blocks: list[list[pl.Series]] = []
        self._kinds: list[set[type]] = []
        self._odd: list[int] = []
        self._declared: list[str] = []
        self._n_bytes = self.n_rows = 0

    def begin(self, names: Sequence[str], texts: Sequence[Text], declared: Sequence[str] = ()) -> None:
        """Say which columns follow, how their cells become text, and what SQLite declares about them."""
        check_width(len(names), self._place.shown)
        self.names, self._texts, self._declared = list(names), list(texts), list(declared)
        self._kinds, self._odd = [set() for _ in names], [0] * len(names)

    def add(self, rows: Sequence[Sequence[Any]]) -> list[pl.Series]:
        """Add a block of rows; return its columns."""
        import polars as pl

        self._watch.check()
        block = []
        for position, cells in enumerate(zip(*rows, strict=True)):
            self._kinds[position] |= set(map(type, cells))
            if self._declared and "INT" in self._declared[position]:
                self._odd[position] += sum(type(cell) is str for cell in cells)
            text = self._texts[position]
            try:
                column = pl.Series([text(cell) for cell in cells], dtype=pl.String)
            except UnicodeError:
                raise InputError(
                    f"{self._place.shown}: column {self.names[position]!r} contains text that is not valid Unicode. "
                    "Correct it first."
                ) from None
            self._n_bytes += int(column.str.len_bytes().sum())
            block.append(column)
        self.n_rows += len(rows)
        n_cells = self.n_rows * len(self.names)
        refuse_expansion(self._place.path, self._size, self._n_bytes + n_cells)
        if self.keeps:
            self._blocks.append(block)
            check_memory(self._place.path, self._n_bytes, n_cells, self._available)
        return block

    def columns(self) -> dict[str, pl.Series]:
        """Return the columns."""
        import polars as pl

        return {name: pl.concat([b[i] for b in self._blocks]).alias(name) for i, name in enumerate(self.names)}

    def types(self) -> dict[str, Any]:
        """Return the types that a database states, and of SQLite those of columns of integers or of floats alone."""
        import polars as pl

        types = dict(self.known_types)
        if self._place.engine == "duckdb":
            return types
        for name, kinds in zip(self.names, self._kinds, strict=True):
            if (known := kinds - {type(None)}) in ({int}, {float}):
                types[name] = pl.Int64 if known == {int} else pl.Float64
        return types

    def notes(self) -> Iterator[Note]:
        """Note the columns of integers in which SQLite found texts."""
        for name, count in zip(self.names, self._odd, strict=True):
            if count:
                text = "is declared as integers, but {cells:cell is|cells are} text; all are read as they are"
                yield Note(f"column {name!r}", text, counts={"cells": count})


def find_table(place: FileTable, tables: Sequence[str]) -> None:
    """Raise an InputError if a file has no such table; SQL does not distinguish the case of a name."""
    if place.table.lower() in (name.lower() for name in tables):
        return
    known = ", ".join(map(repr, sorted(tables)[:10])) or "none"
    raise InputError(f"{place.shown}: the file has no table or view {place.table!r}. Its tables: {known}.")


def quoted(name: str) -> str:
    """Return a name as both databases quote it."""
    return '"' + name.replace('"', '""') + '"'
