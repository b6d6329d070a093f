"""Sort rows of codes: pack the columns of a row into one integer, then sort integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LARGEST_KEY", "Packing", "number_rows", "number_texts", "pack", "sort_keys", "starts_of_runs"]

LARGEST_KEY = 2**62


@dataclass(frozen=True)
class Packing:
    """Rows of codes as few 64-bit numbers, which compare as the rows do; engines move, join and sort these.

    Attributes:
        cards: The number of codes of each column.
        n_keys: The number of quasi-identifiers; further columns tell the units of a tuple apart.
        parts: The columns of each number. No number has quasi-identifiers and others.
    """

    cards: tuple[int, ...]
    n_keys: int
    parts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, cards: Sequence[int], n_keys: int | None = None) -> Packing:
        """Pack as many columns into a number as it holds; without n_keys, all are quasi-identifiers."""
        parts: list[list[int]] = [[]]
        size = 1
        for column, card in enumerate(cards):
            if parts[-1] and (size * card > LARGEST_KEY or column == n_keys):
                parts.append([])
                size = 1
            parts[-1].append(column)
            size *= max(1, card)
        return cls(tuple(cards), len(cards) if n_keys is None else n_keys, tuple(map(tuple, parts)))

    @property
    def names(self) -> list[str]:
        """The names of the packed columns."""
        return [f"p{i}" for i in range(len(self.parts))]

    @property
    def key_names(self) -> list[str]:
        """The names of the packed columns that have the quasi-identifiers."""
        return [name for name, part in zip(self.names, self.parts, strict=True) if part[0] < self.n_keys]

    def packed(self) -> list[pl.Expr]:
        """Return the numbers as expressions of polars over columns k0, k1 and so on."""
        import polars as pl

        found = []
        for name, part in zip(self.names, self.parts, strict=True):
            number = pl.lit(0, pl.Int64)
            for column in part:
                number = number * self.cards[column] + pl.col(f"k{column}").cast(pl.Int64)
            found.append(number.alias(name))
        return found

    def packed_in_sql(self, columns: Sequence[str]) -> list[str]:
        """Return the numbers as expressions of SQL over these columns."""
        found = []
        for part in self.parts:
            number = f"{columns[part[0]]}::bigint"
            for column in part[1:]:
                number = f"({number} * {self.cards[column]} + {columns[column]})"
            found.append(number)
        return found

    def code_in_sql(self, column: int) -> str:
        """Return the code of a column as an expression of SQL over the numbers."""
        name, part = next((n, each) for n, each in zip(self.names, self.parts, strict=True) if column in each)
        place = part.index(column)
        rest = prod(max(1, self.cards[each]) for each in part[place + 1 :])
        code = name if rest == 1 else f"{name} // {rest}"
        return f"({code} % {self.cards[column]})::int" if place else f"({code})::int"

    def pack(self, columns: Sequence[NDArray[Any]]) -> list[NDArray[np.int64]]:
        """Return the numbers of rows of codes."""
        found = []
        for part in self.parts:
            number = np.zeros(len(columns[0]), dtype=np.int64)
            for column in part:
                number *= self.cards[column]
                number += columns[column]
            found.append(number)
        return found

    def codes(self, frame: pl.DataFrame) -> NDArray[np.int32]:
        """Return the codes of packed rows."""
        codes = np.empty((frame.height, len(self.cards)), dtype=np.int32)
        for name, part in zip(self.names, self.parts, strict=True):
            number = frame[name].to_numpy()
            for column in reversed(part):
                number, codes[:, column] = np.divmod(number, self.cards[column])
        return codes

    def tuples(self, frame: pl.DataFrame) -> NDArray[np.int32]:
        """Return the codes of the quasi-identifiers only."""
        return np.ascontiguousarray(self.codes(frame)[:, : self.n_keys])

    def whole_tuples(self, frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Cut blocks of sorted packed rows anew where a tuple of quasi-identifiers ends."""
        import polars as pl

        held: pl.DataFrame | None = None  # the last tuple, of which there may be more
        for frame in frames:
            whole = frame if held is None else pl.concat([held, frame])
            last = pl.struct(self.key_names)
            is_last = whole.select((last == last.last()).alias("is_last"))["is_last"]
            held, complete = whole.filter(is_last), whole.filter(~is_last)
            if complete.height:
                yield complete
        if held is not None and held.height:
            yield held


def pack(columns: Sequence[NDArray[Any]], cards: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Return one integer for each row, ordered as the rows are, and a bound that all of them lie below.

    If the integers would exceed 62 bits, the columns packed so far are replaced by their ranks.

    Args:
        columns: The columns, the most significant first; entries of column i lie in [0, cards[i]).
        cards: The number of codes of each column.
    """
    key, n_keys = columns[0].astype(np.int64), max(cards[0], 1)
    for column, card in zip(columns[1:], cards[1:], strict=True):
        card = max(card, 1)
        if n_keys * card >= LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            n_keys = max(len(distinct), 1)
        key *= card
        key += column
        n_keys *= card
    return key, n_keys


def number_rows(columns: Sequence[NDArray[Any]], cards: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of each row, from 0 without gaps; equal rows have the same. Arguments as for `pack`."""
    return np.unique(pack(columns, cards)[0], return_inverse=True)[1].astype(np.int64)


def number_texts(texts: Iterable[str]) -> NDArray[np.int64]:
    """Return the number of each text, from 0 in the order of first occurrence; equal texts have the same."""
    number_of: dict[str, int] = {}
    return np.array([number_of.setdefault(text, len(number_of)) for text in texts], dtype=np.int64)


def sort_keys(key: NDArray[np.int64], n_keys: int) -> NDArray[np.int64]:
    """Return the stable order that sorts keys in [0, n_keys)."""
    n_rows = len(key)
    if n_rows == 0 or n_keys * n_rows >= LARGEST_KEY:
        return np.argsort(key, kind="stable")
    # With the row number as last digit all keys differ, and sorting values is faster than sorting indices.
    with_row = key * n_rows
    with_row += np.arange(n_rows)
    with_row.sort()
    with_row %= n_rows
    return with_row


def starts_of_runs(sorted_key: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the first row of each run of equal keys."""
    begins = np.ones(len(sorted_key), dtype=bool)
    np.not_equal(sorted_key[1:], sorted_key[:-1], out=begins[1:])
    return begins
