"""Range queries in plain Python: shares of cells, one row and one column at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

__all__ = ["count", "share"]

Cell = tuple[int, int] | frozenset[str] | None  # a range of whole numbers, a set of values, a missing number
Wanted = tuple[int, int] | frozenset[str]


def share(cell: Cell, wanted: Wanted) -> Fraction:
    """Return the share of the values of a cell that match."""
    if cell is None:
        return Fraction(0)
    if isinstance(cell, frozenset):
        return Fraction(len([value for value in cell if value in wanted]), len(cell))
    values = range(cell[0], cell[1] + 1)
    return Fraction(len([value for value in values if int(wanted[0]) <= value <= int(wanted[1])]), len(values))  # type: ignore[index]


def count(rows: Sequence[Mapping[str, Cell]], query: Mapping[str, Wanted]) -> Fraction:
    """Return the number of matching rows, each with the product of the shares of its cells."""
    total = Fraction(0)
    for row in rows:
        product = Fraction(1)
        for name, wanted in query.items():
            product *= share(row[name], wanted)
        total += product
    return total
