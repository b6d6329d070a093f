"""Dictionaries: the distinct cells of a column, and the code of each.

A dictionary needs no rows, only distinct texts with their counts, so a database can supply them. The codes of any block
of rows follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, counted, first_row, setting
from shoal.schema import Column, Kind
from shoal.tables import values
from shoal.tables.table import Factor, Table
from shoal.tables.values.forms import parse_texts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Dictionary", "Distinct"]

Meaning = TypeVar("Meaning")


@dataclass(frozen=True, eq=False)
class FirstRow:
    """The number (from 1) of the first row that contains a distinct cell; can be pickled, unlike a closure.

    Attributes:
        ranks: For each row, the index of its cell among the distinct cells.
        n_texts: Number of distinct cells.
    """

    ranks: NDArray[np.integer[Any]]
    n_texts: int

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The first row of each distinct cell."""
        rows = np.empty(self.n_texts, dtype=np.int64)
        rows[self.ranks[::-1]] = np.arange(len(self.ranks), 0, -1)  # the last assignment to a place wins
        return rows

    def __call__(self, index: int) -> int:
        """Return the first row of a cell, given its index."""
        return int(self.rows[index])


@dataclass(frozen=True)
class Distinct:
    """The distinct cells of a column.

    Attributes:
        texts: The cells in sorted order.
        counts: The number of rows of each cell.
        first_row: Returns the number (from 1) of the first row that contains a cell, given its index in `texts`. None
            if the source does not number its rows; error messages then omit the row.
    """

    texts: pl.Series
    counts: NDArray[np.int64]
    first_row: Callable[[int], int] | None = None

    @classmethod
    def of(cls, table: Table, name: str) -> Distinct:
        """Return the distinct cells of a column of a table."""
        ranks, texts = table.factor(name)
        return cls(texts, table.counts(name), FirstRow(ranks, len(texts)))

    @cached_property
    def normalised(self) -> list[str]:
        """The cells in the form in which they are compared: composed Unicode, no outer blanks."""
        return [values.normalise(text) for text in self.texts.to_list()]

    def read_values(self, column: Column, kind: Kind, known: Sequence[int]) -> list[Any]:
        """Return the values of some cells: numbers, dates, ranks or, for categories, their texts.

        Args:
            column: How its cells are read.
            kind: What they are read as.
            known: The indices of the cells, none of which is missing.

        Raises:
            InputError: A cell does not suit the kind.
        """
        cell_values, misfits = parse_texts(column, kind, [self.normalised[i] for i in known])
        if misfits:
            allowed = {
                Kind.NUMERIC: f"a number within float64, such as 42 or -1{column.decimal}5e3",
                Kind.DATE: f"a date in the format {column.date_format}",
                Kind.BOOLEAN: "a word for yes or no, such as true, no or 0",
                Kind.ORDERED: "in its order",
            }[kind]
            other = " or date format" if kind is Kind.DATE else ""
            cure = "add them to the order" if kind is Kind.ORDERED else f"declare another kind{other}"
            raise InputError(
                f"column {column.name!r} is declared {kind}, but "
                f"{counted(len(misfits), 'distinct value is', 'distinct values are')} not {allowed}"
                f"{self.example(known[misfits[0]])}. Correct them, declare the markers of missing values with "
                f"{setting('missing')}, or {cure}."
            )
        return cell_values

    def code_values(
        self, cell_values: Sequence[Any], known: Sequence[int]
    ) -> tuple[list[Any], list[str], NDArray[np.int32]]:
        """Give each distinct value a code, in order of value; all spellings of a value share its code.

        Args:
            cell_values: The value of each cell that is not missing.
            known: The indices of these cells.

        Returns:
            The distinct values in order, the shortest spelling of each, and the code of each cell. A missing cell has
            the code after the last value.
        """
        is_plain = all(type(value) is float for value in cell_values)
        own = np.fromiter(cell_values, np.float64 if is_plain else np.object_, len(cell_values))
        order = np.argsort(own, kind="stable")
        own = own[order]
        begins = np.ones(len(own), dtype=bool)
        begins[1:] = own[1:] != own[:-1]
        places, first = np.asarray(known, dtype=np.int64)[order], np.flatnonzero(begins)
        codes = np.full(len(self.normalised), len(first), dtype=np.int32)
        codes[places] = np.cumsum(begins) - 1
        texts = [self.normalised[i] for i in places[first].tolist()]
        for code in np.flatnonzero(np.diff(first, append=len(own)) > 1).tolist():
            end = first[code + 1] if code + 1 < len(first) else len(own)
            texts[code] = values.shortest(self.normalised[i] for i in places[first[code] : end].tolist())
        return own[first].tolist(), texts, codes

    def example(self, index: int) -> str:
        """Mention a row of a cell, as " (for example at row 3)"; an empty text if rows have no numbers."""
        return "" if self.first_row is None else first_row(self.first_row(index), "for example")

    def first(self, index: int) -> str:
        """Mention the first row of a cell, as " (first at row 3)"; an empty text if rows have no numbers."""
        return "" if self.first_row is None else first_row(self.first_row(index))


@dataclass(frozen=True)
class Dictionary(Generic[Meaning]):
    """The code of each distinct cell of a column.

    Attributes:
        name: The column.
        distinct: Its distinct cells.
        values: The code of each cell, or whatever number the column encodes.
        meaning: What the codes mean: an `Attribute`, a `Sensitive`, or None.
    """

    name: str
    distinct: Distinct = field(repr=False)
    values: NDArray[Any] = field(repr=False)
    meaning: Meaning

    def codes(self, block: Factor) -> NDArray[Any]:
        """Return the code of each row of a block.

        Raises:
            InputError: The block contains a cell that the dictionary lacks.
        """
        import polars as pl

        texts = self.distinct.texts
        if block.texts is texts:
            return self.values[block.ranks]
        index = pl.Series(np.arange(len(texts), dtype=np.int64))
        places = block.texts.replace_strict(texts, index, default=-1, return_dtype=pl.Int64).to_numpy()
        if (places < 0).any():
            raise InputError(
                f"column {self.name!r}: {int((places < 0).sum())} distinct values of this block are not among the "
                "values that were counted before. Run again when nothing writes to the source."
            )
        by_text: NDArray[Any] = self.values[places]
        return by_text[block.ranks]
