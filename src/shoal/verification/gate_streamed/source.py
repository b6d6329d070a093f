"""What the verifier keeps of a source that it reads block by block."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.schema import INPUT, Column, Dialect, Schema
from shoal.verification.cells import normalise
from shoal.verification.cells.marks import OtherMark, are_numbers, as_released
from shoal.verification.gate_streamed.blocks import MOST_TEXTS, BlockColumn, CodedBlocks, pick_columns
from shoal.verification.gate_streamed.keys import Bag, TextKeys, add_rows, row_keys, total_keys
from shoal.verification.gate_streamed.outliers import Recoded, RecodedColumn
from shoal.verification.reading.tables import PathName

__all__ = ["SourceTable", "SourceTally", "other_mark", "spread_mark"]

Codes = NDArray[np.int32]


class SourceTable:
    """The source as the verifier reads it: a file, or blocks of text by column.

    Args:
        table: A path; or an iterator of blocks, the cells of each column; or what returns one for the names of columns.
        dialect: How a file is written.
    """

    def __init__(
        self,
        table: PathName | Iterator[Sequence[Sequence[str]]] | Callable[[Sequence[str]], Iterator[Sequence[Any]]],
        dialect: Dialect | None = None,
    ) -> None:
        self._table, self._dialect = table, dialect or Dialect()

    def blocks(self, names: Sequence[str]) -> Iterator[list[tuple[BlockColumn, Codes]]]:
        """Yield these columns block by block.

        Raises:
            InputError: A column is missing, or the file cannot be read as a table.
        """
        if not isinstance(self._table, str | os.PathLike):
            columns = [BlockColumn() for _ in names]
            for cells in self._table(names) if callable(self._table) else self._table:
                yield [(column, column.code(each)) for column, each in zip(columns, cells, strict=True)]
                for column in columns:
                    if len(column.texts) > MOST_TEXTS:
                        column.forget()
            return
        table, places = CodedBlocks(self._table, self._dialect), list[int]()
        for block in table.blocks():
            try:
                places = places or pick_columns(table, names, self._dialect)
            except InputError as error:
                raise InputError(f"{os.fspath(self._table)}: {error.text}") from None
            yield [(table.columns[i], block[i]) for i in places]
        if table.reader is not None and table.reader.ragged_rows().times:
            raise table.reader.ragged_error()


@dataclass
class _Numbers:
    """Whether all cells of a column, apart from missing ones, are numbers.

    Attributes:
        column: The column as a release has it.
        are_all: Whether all cells so far are numbers.
        n_seen: How many of its distinct cells were looked at.
        epoch: How often the column forgot its cells.
    """

    column: Column
    are_all: bool = True
    n_seen: int = 0
    epoch: int = 0


class SourceTally:
    """The bag of the rows of a source, and what else a release is compared with.

    Args:
        schema: The columns of the source.
        held_back: Columns that are not released but counted.
        key: The key of the hashes.
        decimal: The decimal mark of numbers in the release; "input" for that of the source.
        counted: Whether to count the distinct cells of quasi-identifiers.
        ordered: Whether the order of rows belongs to the bag.
        recoded: By column, the outliers and what is shown in their place.

    Attributes:
        bag: The bag of the rows.
        counts: By quasi-identifier, the rows of each distinct cell, if they are counted.
        ordered: Whether the order of rows belongs to the bag.
    """

    def __init__(
        self,
        schema: Schema,
        held_back: Sequence[str],
        key: bytes,
        decimal: str,
        *,
        counted: bool,
        ordered: bool,
        recoded: Recoded | None = None,
    ) -> None:
        self.bag: Bag = (0, 0, 0)
        self.counts: dict[str, Counter[str]] = {column.name: Counter() for column in schema.qi if counted}
        self.ordered = ordered
        self._schema, self._key, self._decimal = schema, key, decimal
        self._names = [*(column.name for column in schema.released), *held_back]
        self._recoded = {name: RecodedColumn(shown) for name, shown in (recoded or {}).items()}
        self._missing = {"", *map(normalise, schema.missing)}
        columns = schema.released if decimal != INPUT else ()
        self._numbers = {column.name: _Numbers(as_released(column, schema.marks)) for column in columns}

    def read(self, source: SourceTable) -> None:
        """Read the source."""
        text_keys = [TextKeys(self._key, i) for i in range(len(self._names))]
        for read in source.blocks(self._names):
            block = [
                (self._shown(name, column), codes) for name, (column, codes) in zip(self._names, read, strict=True)
            ]
            n_rows = len(block[0][1])
            keys = [own.of(*cells) for own, cells in zip(text_keys, block, strict=True)]
            if self.ordered:
                keys.append(row_keys(self._key, np.arange(self.bag[2], self.bag[2] + n_rows)))
            self.bag = add_rows(self.bag, total_keys(keys, n_rows))
            for name, (column, codes) in zip(self._names, block, strict=True):
                if name in self.counts:
                    distinct, rows = (each.tolist() for each in np.unique(codes, return_counts=True))
                    for code, n in zip(distinct, rows, strict=True):
                        self.counts[name][column.texts[code]] += n
                if name in self._numbers:
                    self._look(self._numbers[name], column)

    def _shown(self, name: str, column: BlockColumn) -> BlockColumn:
        """Return a column with its outliers recoded."""
        return self._recoded[name].follow(column) if name in self._recoded else column

    def mark(self) -> OtherMark | None:
        """Return the decimal mark of the release, if it is not that of the source; columns of numbers have it."""
        return other_mark(self._schema, self._decimal, self.numbers)

    @property
    def numbers(self) -> frozenset[str]:
        """The columns with nothing but numbers so far, if the release has another decimal mark."""
        return frozenset(name for name, each in self._numbers.items() if each.are_all)

    def spread_mark(self, column: Column) -> str:
        """Return the decimal mark of the spread of a column."""
        return spread_mark(column, self._schema, self._decimal)

    def _look(self, numbers: _Numbers, column: BlockColumn) -> None:
        """See whether the cells that a block brought are numbers."""
        if numbers.epoch != column.epoch:
            numbers.epoch, numbers.n_seen = column.epoch, 0
        new = [text for text in column.texts[numbers.n_seen :] if normalise(text) not in self._missing]
        numbers.n_seen = len(column.texts)
        numbers.are_all = numbers.are_all and are_numbers(numbers.column, new)


def spread_mark(column: Column, schema: Schema, decimal: str) -> str:
    """Return the decimal mark of the spread of a column; decimal: that of the release, or "input"."""
    if decimal != INPUT:
        return decimal
    return column.decimal if column.kind == "numeric" else schema.marks[0]


def other_mark(schema: Schema, decimal: str, numbers: Container[str]) -> OtherMark | None:
    """Return the decimal mark of a release, if it is not that of the source.

    Args:
        schema: The columns of the source.
        decimal: The decimal mark, or "input".
        numbers: The columns with nothing but numbers.
    """
    if decimal == INPUT:
        return None
    columns = {column.name: as_released(column, schema.marks) for column in schema.released if column.name in numbers}
    return OtherMark(decimal, columns.get, {"", *map(normalise, schema.missing)})
