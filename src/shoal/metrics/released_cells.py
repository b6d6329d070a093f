"""Read released cells, ours and other tools', and tell how much of its column's meaning each one lost."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shoal.errors import InputError, UsageError
from shoal.hierarchy.base import Hierarchy
from shoal.schema import Column, Kind
from shoal.tables import values

__all__ = ["CategoryReader", "Domain", "OrderedReader", "Reader", "numbers_of", "reader"]

SUPPRESSED = frozenset({"*", "", "nan", "None", "NULL", "any", "ANY", "All", "?*"})
NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
INTERVAL = re.compile(rf"[\[({{]?\s*({NUMBER})\s*(?:-|~|,|:|;|\.\.)\s*({NUMBER})\s*([\])\[}}]?)")

Domain = tuple[float, float] | Sequence[str]


class Reader(Protocol):
    """Tells the loss of a released cell: 0 as it was, 1 all of it; None where the text cannot be read."""

    def loss(self, cell: str) -> float | None:
        """Return the loss in [0, 1]."""


def numbers_of(column: Column, texts: Sequence[str]) -> tuple[list[Any], list[int]]:
    """Return the numbers, or dates in seconds, behind the texts of a column, and the indices of those that are none."""
    if column.kind is Kind.NUMERIC:
        return values.parse_numbers(texts, values.Marks(column.decimal, column.thousands))
    return values.parse_dates(texts, column.date_format)


@dataclass(frozen=True)
class OrderedReader:
    """Numbers and dates: the width of the range over that of the domain.

    A half-open interval of whole numbers (or days) ends one before its bound. A label of a hierarchy that is no
    interval costs the range of the values below it.
    """

    column: Column
    low: float
    high: float
    step: float  # what a half-open bound takes off: 1, or a day in seconds
    labels: Mapping[str, tuple[float, float]]

    def loss(self, cell: str) -> float | None:
        """Return the loss in [0, 1]."""
        if cell in SUPPRESSED:
            return 1.0
        bounds = self.bounds(cell)
        if bounds is None:
            return None
        low, high = max(bounds[0], self.low), min(bounds[1], self.high)
        return max(0.0, (high - low) / (self.high - self.low)) if self.high > self.low else 0.0

    def bounds(self, cell: str) -> tuple[float, float] | None:
        """Return the least and the greatest number that a cell stands for; of a value, the value twice."""
        number = self._number(cell)
        return (number, number) if number is not None else self._bounds(cell) or self.labels.get(cell)

    def _bounds(self, cell: str) -> tuple[float, float] | None:
        match = INTERVAL.fullmatch(cell) if self.column.kind is Kind.NUMERIC else None
        if match is not None:
            low, high, closing = float(match[1]), float(match[2]), match[3]
        else:
            ends = self._ends(cell)
            if ends is None or cell[0] not in "[(" or cell[-1] not in "])":
                return None
            low, high, closing = *ends, cell[-1]
        high -= self.step if closing in ("[", ")") else 0
        return (low, high) if low <= high else None

    def _ends(self, cell: str) -> tuple[float, float] | None:
        """Read both ends of a range; a date may hold the separator itself, as in Jan 5, 2020."""
        parts = cell[1:-1].split(", ")
        for cut in range(1, len(parts)):
            low, high = (self._number(", ".join(part)) for part in (parts[:cut], parts[cut:]))
            if low is not None and high is not None:
                return low, high
        return None

    def _number(self, text: str) -> float | None:
        numbers, misfits = numbers_of(self.column, [text])
        return None if misfits else float(numbers[0])


@dataclass(frozen=True)
class CategoryReader:
    """Categories: the number of values in the set over that of the domain; one value costs nothing.

    Missing values of whatever marker are one value, the empty text. A label of a hierarchy counts the values of the
    domain below it.
    """

    domain: frozenset[str]
    missing: frozenset[str]
    labels: Mapping[str, frozenset[str]]

    def loss(self, cell: str) -> float | None:
        """Return the loss in [0, 1]."""
        if cell in self.domain:
            return 0.0
        if cell in SUPPRESSED:
            return 1.0
        members = self.members(cell)
        if not members <= self.domain:
            return None
        return 0.0 if len(members) <= 1 else len(members) / len(self.domain)

    def members(self, cell: str) -> frozenset[str]:
        """Return the values that a set or label stands for."""
        given = self.labels[cell] if cell in self.labels else self._listed(cell)
        members = frozenset("" if member in self.missing else member for member in given)
        return members & self.domain if cell in self.labels else members

    @staticmethod
    def _listed(cell: str) -> frozenset[str]:
        if cell[0] + cell[-1] == "{}":
            cells = next(csv.reader([cell[1:-1]], skipinitialspace=True), [])
        else:
            cells = re.split(r"[,~|;]", cell[1:-1] if cell[0] + cell[-1] == "[]" else cell)
        return frozenset(part.strip() for part in cells)


def reader(
    column: Column,
    original: Mapping[str, int],
    domain: Domain | None,
    missing: Sequence[str],
    hierarchy: Hierarchy | None = None,
) -> Reader:
    """Return the reader of a column: from its distinct original cells, or from a declared domain or range."""
    known = [text for text in original if text not in missing]
    under = hierarchy.values_under() if hierarchy else {}
    if column.kind in (Kind.NUMERIC, Kind.DATE):
        numbers, misfits = numbers_of(column, known)
        if misfits:
            raise InputError(
                f"column {column.name!r} of the original: {len(misfits)} distinct values are not {column.kind}. "
                "Declare the column categorical, or name the markers of missing values."
            )
        bounds = (float(min(numbers)), float(max(numbers))) if numbers else (0.0, 0.0)
        if domain is not None:
            bounds = (float(domain[0]), float(domain[1]))
            if not bounds[0] <= bounds[1]:
                raise UsageError(f"domain of {column.name!r}: give its least and its greatest value, in this order.")
        labels = {}
        for label, below in under.items():
            inside = numbers_of(column, [text for text in below if text not in missing])[0]
            if inside:
                labels[label] = (float(min(inside)), float(max(inside)))
        return OrderedReader(column, *bounds, step=1.0 if column.kind is Kind.NUMERIC else 86400.0, labels=labels)
    values_of = original if domain is None else map(str, domain)
    one_form = frozenset("" if text in missing else text for text in values_of)
    return CategoryReader(one_form, frozenset(missing), under)
