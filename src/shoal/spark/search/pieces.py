"""Sections as a tree of cuts, and the pieces of tuples or units that each of them has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.methods.sections import Cut, Division, Loan
from shoal.release.counted_tables.sections.plan import Sectioning
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Cuts", "Pieces", "Units"]


class Units(NamedTuple):
    """Packed tuples or units as codes.

    Attributes:
        codes: All codes of each.
        columns: Its codes in the columns of the search.
        keys: Its packed numbers, by which units are sorted.
        rows: Its rows.
    """

    codes: NDArray[np.int32]
    columns: NDArray[np.int32]
    keys: list[NDArray[np.int64]]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, frame: pl.DataFrame, packing: Packing, plan: Sectioning) -> Units:
        """Unpack them."""
        codes = packing.codes(frame)
        columns = plan.codes(np.ascontiguousarray(codes[:, : packing.n_keys]))
        return cls(codes, columns, [frame[name].to_numpy() for name in packing.names], frame["n"].to_numpy())

    def lent(self, loan: Loan, column: int, pieces: Pieces) -> NDArray[np.int64]:
        """Return how many rows of some pieces are lent; column: by whose codes."""
        *last, number = loan.last
        is_before, is_same = np.zeros(len(pieces.unit), dtype=bool), np.ones(len(pieces.unit), dtype=bool)
        for keys, key in zip(self.keys, last, strict=True):
            own = keys[pieces.unit]
            is_before |= is_same & (own < key)
            is_same &= own == key
        upto = np.where(is_same, np.clip(number - pieces.start, 0, pieces.rows), 0)
        lends = np.isin(self.columns[pieces.unit, column], loan.codes)
        return np.where(lends, np.where(is_before, pieces.rows, upto), 0)


class Pieces(NamedTuple):
    """Rows of units that are in one section.

    Attributes:
        unit: The place of the unit of each piece.
        start: The rows of the unit before the piece.
        rows: The rows of the piece.
    """

    unit: NDArray[np.int64]
    start: NDArray[np.int64]
    rows: NDArray[np.int64]

    def sides(self, division: Division, units: Units) -> tuple[Pieces, Pieces]:
        """Divide the pieces of a section."""
        is_left = division.goes_left[units.columns[self.unit, division.column]]
        if division.loan is None:
            return self._take(is_left), self._take(~is_left)
        lent = np.where(is_left, self.rows, units.lent(division.loan, division.column, self))
        left = self._replace(rows=lent)
        right = self._replace(start=self.start + lent, rows=self.rows - lent)
        return left._take(left.rows > 0), right._take(right.rows > 0)

    def _take(self, chosen: NDArray[np.bool_]) -> Pieces:
        return Pieces(*(own[chosen] for own in self))


@dataclass
class Cuts:
    """Sections and the cuts between them, as a tree of nodes; the first is the whole table.

    Attributes:
        cut: For each node, what divides it; None for a section.
        sides: For each node that is cut, its two sides.
    """

    cut: list[Division | None] = field(default_factory=lambda: [None])
    sides: dict[int, tuple[int, int]] = field(default_factory=dict)

    def divide(self, node: int, division: Division) -> tuple[int, int]:
        """Cut a section in two; return the numbers of the new nodes."""
        self.cut[node] = division
        self.sides[node] = len(self.cut), len(self.cut) + 1
        self.cut += [None, None]
        return self.sides[node]

    def place(self, units: Units) -> dict[int, Pieces]:
        """Return the pieces of units in each section, by node."""
        every = np.arange(len(units.rows))
        found: dict[int, Pieces] = {}
        pending = [(0, Pieces(every, np.zeros_like(units.rows), units.rows))]
        while pending:
            node, pieces = pending.pop()
            division = self.cut[node]
            if not len(pieces.unit):
                continue
            if division is None:
                found[node] = pieces
                continue
            pending += zip(self.sides[node], pieces.sides(division, units), strict=True)
        return found

    def close(self, node: int) -> None:
        """Undo the cuts of a node, which becomes a section."""
        self.cut[node] = None
        del self.sides[node]

    def parents(self) -> dict[int, int]:
        """Return the node that each node was cut from."""
        return {side: node for node, sides in self.sides.items() for side in sides}

    def numbers(self) -> dict[int, int]:
        """Return the number of each section by its node, in order: sections count from left to right."""
        order, pending = [], [0]
        while pending:
            node = pending.pop()
            if node in self.sides:
                pending += reversed(self.sides[node])
            else:
                order.append(node)
        return {node: number for number, node in enumerate(order)}

    def separate(self, node: int, cut: Cut, first: int, last: int) -> dict[int, int]:
        """Separate some parts of a cut by halves; return the part of each new node."""
        if first == last:
            return {node: first}
        middle = (first + last) // 2
        left, right = self.divide(node, cut.division(middle))
        return self.separate(left, cut, first, middle) | self.separate(right, cut, middle + 1, last)
