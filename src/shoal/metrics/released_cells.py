"""Read released cells, ours and those of other tools, and compute the loss of each."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.errors import InputError, UsageError, setting
from shoal.hierarchy.base import Hierarchy
from shoal.schema import Column, Kind
from shoal.tables import values
from shoal.tables.values.forms import parse_texts

__all__ = [
    "CategoryReader",
    "Domain",
    "NumberLine",
    "OrderedReader",
    "Reader",
    "cell_counts",
    "numbers_of",
    "open_step",
    "rare_labels",
    "reader",
    "unreadable_cell",
]

SUPPRESSED = frozenset({"*", "", "nan", "None", "NULL", "any", "ANY", "All", "?*"})
NUMBER = r"[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?"
LONGEST_RANGE = 4000  # characters
DAY = 86400.0
INTERVAL = re.compile(rf"[\[({{]?\s*({NUMBER})\s*(?:-|~|,|:|;|\.\.)\s*({NUMBER})\s*([\])\[}}]?)")

Domain = tuple[float, float] | Sequence[str]  # of numbers and dates, two texts are its ends


class Reader(Protocol):
    """Computes the loss of a released cell: 0 if it is unchanged, 1 if it is suppressed."""

    def loss(self, cell: str) -> float | None:
        """Return the loss in [0, 1], or None if the text cannot be read."""


def numbers_of(column: Column, texts: Sequence[str]) -> tuple[list[Any], list[int]]:
    """Return the numbers behind texts (dates: seconds; ordered: ranks), and the indices of texts that are not one."""
    return parse_texts(column, column.kind or Kind.NUMERIC, texts)


def open_step(kind: Kind | None, numbers: Iterable[float]) -> float:
    """Return what an open bound takes off a range: 1 if all numbers are integers, a day if all dates are; else 0."""
    step = DAY if kind is Kind.DATE else 1.0
    return step if all(float(number) % step == 0 for number in numbers) else 0.0


def cell_counts(texts: Iterable[str], counts: Iterable[int]) -> dict[str, int]:
    """Return the rows of each distinct cell in normalised form."""
    rows: dict[str, int] = {}
    for text, count in zip(texts, counts, strict=True):
        name = values.normalise(text)
        rows[name] = rows.get(name, 0) + count
    return rows


@dataclass(frozen=True)
class OrderedReader:
    """Reads numbers, dates and ranks; the loss is the width of the range over the width of the domain.

    A set of ordered categories is the range from its lowest to its highest member. A half-open interval of integers
    (or days) ends one before its bound. A label of a hierarchy that is not an interval covers the range of the
    values below it.

    Attributes:
        column: The column.
        low: The lower end of the domain.
        high: The upper end of the domain.
        step: What an open bound takes off, from `open_step`.
        labels: The range of the values below each label of the hierarchy.
        coded: The bounds of bottom and top coding; a cell that reaches such a bound covers all that lies beyond it.
    """

    column: Column
    low: float
    high: float
    step: float
    labels: Mapping[str, tuple[float, float]]
    coded: tuple[float, float] = (-math.inf, math.inf)

    def loss(self, cell: str) -> float | None:
        """Return the loss in [0, 1], or None if the text cannot be read."""
        if cell in SUPPRESSED:
            return 1.0
        bounds = self.bounds(cell)
        return None if bounds is None else self.loss_of(*bounds)

    def loss_of(self, low: float, high: float) -> float:
        """Return the loss of a range."""
        low, high = max(low, self.low), min(high, self.high)
        return max(0.0, (high - low) / (self.high - self.low)) if self.high > self.low else 0.0

    def losses_of(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the losses of ranges."""
        if not self.high > self.low:
            return np.zeros(len(low))
        widths = np.minimum(high, self.high) - np.maximum(low, self.low)
        return np.asarray(np.maximum(0.0, widths / (self.high - self.low)))

    def bounds(self, cell: str) -> tuple[float, float] | None:
        """Return the least and the greatest number that a cell covers; a single value is both."""
        number = self._number(cell)
        bounds = (number, number) if number is not None else self._bounds(cell) or self.labels.get(cell)
        return None if bounds is None else self.with_coded(*bounds)

    def with_coded(self, low: float, high: float) -> tuple[float, float]:
        """Return what a range covers if it reaches a bound beyond which values were recoded."""
        low = min(low, self.low) if low <= self.coded[0] else low
        return low, max(high, self.high) if high >= self.coded[1] else high

    def _bounds(self, cell: str) -> tuple[float, float] | None:
        if self.column.kind is not None and self.column.kind.is_ranked:
            return self._ranks(cell)
        marks = values.Marks(*self.column.marks)
        ends = None if marks == values.PLAIN else self._ends(cell)  # [1.234, 2.345] may be integers
        match = INTERVAL.fullmatch(cell) if ends is None and self.column.kind is Kind.NUMERIC else None
        if match is not None:
            low, high, closing = float(match[1]), float(match[2]), match[3]
        else:
            ends = ends or self._ends(cell)
            if ends is None:
                return None
            low, high, closing = *ends, cell[-1]
        if low > high:
            return None
        if closing in ("[", ")") and self.step and low % self.step == high % self.step == 0:
            high = max(low, high - self.step)
        return low, high

    def _ranks(self, cell: str) -> tuple[float, float] | None:
        """Read the lowest and the highest member of a set."""
        members = sorted(CategoryReader(frozenset(), frozenset(), {}).members(cell)) if cell else []
        numbers, misfits = numbers_of(self.column, members)
        return (min(numbers), max(numbers)) if numbers and not misfits else None

    def _ends(self, cell: str) -> tuple[float, float] | None:
        """Read both ends of a range in brackets; a date may contain the separator itself, as in Jan 5, 2020."""
        if cell[0] not in "[(" or cell[-1] not in "])" or len(cell) > LONGEST_RANGE:
            return None
        parts = cell[1:-1].split(", ")
        for cut in range(1, len(parts)):
            low, high = (self._number(", ".join(part)) for part in (parts[:cut], parts[cut:]))
            if low is not None and high is not None:
                return low, high
        return None

    def _number(self, text: str) -> float | None:
        numbers, misfits = numbers_of(self.column, [text])
        return None if misfits else float(numbers[0])


class Inside(NamedTuple):
    """What ranges cover of the numbers of a column.

    Attributes:
        first: The place of the first number in each range.
        end: The place after the last one.
        widths: From the least to the greatest number, in units of the resolution.
        further: How many numbers each range covers beyond one.
        entropies: The mean of -log2(rows of the number / rows of the range) over the rows that each covers.
    """

    first: NDArray[np.intp]
    end: NDArray[np.intp]
    widths: NDArray[np.float64]
    further: NDArray[np.int64]
    entropies: NDArray[np.float64]


@dataclass(frozen=True)
class NumberLine:
    """The numbers or dates of a column of the original, in order.

    Attributes:
        numbers: The numbers, once for each spelling.
        texts: The spelling of each.
        rows: The number of rows of each.
        distinct: The numbers, once each; those of the codes, if values were recoded.
        day: The resolution of dates, 1 for numbers: what integers are multiples of.
    """

    numbers: NDArray[np.float64]
    texts: list[str]
    rows: NDArray[np.int64]
    distinct: NDArray[np.float64]
    day: float

    @classmethod
    def of(cls, column: Column, rows: Mapping[str, int], attribute: Attribute | None = None) -> NumberLine:
        """Read the numbers of a column; rows: of each known cell; attribute: its codes, if values were recoded."""
        texts = sorted(rows)
        numbers = np.array([float(number) for number in numbers_of(column, texts)[0]]) if texts else np.empty(0)
        order = np.argsort(numbers, kind="stable")
        counts = np.array([rows[text] for text in texts], dtype=np.int64)
        distinct = np.unique(numbers) if attribute is None else attribute.known_values
        day = DAY if column.kind is Kind.DATE else 1.0
        return cls(numbers[order], [texts[i] for i in order.tolist()], counts[order], distinct, day)

    @property
    def width(self) -> float:
        """The width of all numbers, in units of the resolution."""
        return float(np.ptp(self.numbers) / self._resolution) if len(self.numbers) else 0.0

    @cached_property
    def _resolution(self) -> float:
        """1 or a day if all numbers are multiples of it, else the smallest gap."""
        gaps = np.diff(np.unique(self.numbers))
        return float(gaps.min()) if len(gaps) and (self.numbers % self.day).any() else self.day

    @cached_property
    def _sums(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For each number, the rows up to it, and the sum of rows x log2(rows)."""
        rows = np.append(0, self.rows)
        return np.cumsum(rows), np.cumsum(rows * np.log2(np.maximum(rows, 1)))

    def inside(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> Inside:
        """Return what ranges cover."""
        first, end = np.searchsorted(self.numbers, low), np.searchsorted(self.numbers, high, side="right")
        some, numbers = end > first, np.append(self.numbers, 0.0)
        least, most = numbers[first], numbers[end - 1]
        further = np.searchsorted(self.distinct, most) - np.searchsorted(self.distinct, least)
        rows, bits = (own[end] - own[first] for own in self._sums)
        n_rows = np.maximum(rows, 1)
        entropies = np.maximum(0.0, np.log2(n_rows) - bits / n_rows)
        widths = (most - least) / self._resolution
        kept = (np.where(some, each, 0) for each in (widths, further, np.where(rows > 0, entropies, 0.0)))
        return Inside(first, end, *kept)


@dataclass(frozen=True)
class CategoryReader:
    """Reads categories; the loss is the number of values in a set over that of the domain, 0 for a single value.

    All markers of a missing value become one value, the empty text. A label of a hierarchy covers the values of the
    domain below it.

    Attributes:
        domain: The values of the column.
        missing: The texts that mark a missing value.
        labels: The values below each label of the hierarchy, and those behind the label of rare values, which may be a
            member of a set.
    """

    domain: frozenset[str]
    missing: frozenset[str]
    labels: Mapping[str, frozenset[str]]

    def loss(self, cell: str) -> float | None:
        """Return the loss in [0, 1], or None if the text cannot be read."""
        if cell in self.domain and not self.is_wide(cell):
            return 0.0
        if cell in SUPPRESSED:
            return 1.0
        members = self.members(cell)
        return self.loss_of(members) if members <= self.domain else None

    def is_wide(self, cell: str) -> bool:
        """Return whether a text is a label of the hierarchy that covers several values of the domain."""
        return cell in self.labels and len(self.members(cell)) > 1

    def loss_of(self, members: frozenset[str]) -> float:
        """Return the loss of a set of values."""
        return 0.0 if len(members) <= 1 else len(members) / len(self.domain)

    def members(self, cell: str) -> frozenset[str]:
        """Return the values that a set or label covers."""
        listed = self.labels[cell] if cell in self.labels else self._listed(cell)
        members = self.spelled_out("" if member in self.missing else member for member in listed)
        return members & self.domain if cell in self.labels else members

    def spelled_out(self, members: Iterable[str]) -> frozenset[str]:
        """Return the values of a set, with rare values in place of their label; a value may share its name with one."""
        found: set[str] = set()
        for member in members:
            behind = self.labels.get(member, frozenset())
            found |= {member} if member in behind or not behind else behind
        return frozenset(found)

    @staticmethod
    def _listed(cell: str) -> frozenset[str]:
        if cell[0] + cell[-1] == "{}":
            try:
                cells = next(csv.reader([cell[1:-1]], skipinitialspace=True), [])
            except csv.Error:  # a line end outside quotes, or a member too long for the csv module
                cells = [cell]
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
    """Return the reader of a column.

    Args:
        column: The column.
        original: The distinct cells of the original.
        domain: A declared range or list of values that replaces that of the original.
        missing: The texts that mark a missing value.
        hierarchy: The hierarchy over the values of the original.

    Raises:
        InputError: The original contains values that are not of the kind of the column.
        UsageError: The declared range is empty.
    """
    known_texts = [text for text in original if text not in missing]
    under = hierarchy.values_under() if hierarchy else {}
    if column.kind not in (None, Kind.CATEGORICAL):
        numbers, misfits = numbers_of(column, known_texts)
        if misfits:
            raise InputError(
                f"column {column.name!r} of the original: {len(misfits)} distinct values are not {column.kind}. "
                f"Pass {setting('categorical', [column.name])}, or declare the markers of missing values with "
                f"{setting('missing')}."
            )
        bounds = (float(min(numbers)), float(max(numbers))) if numbers else (0.0, 0.0)
        if domain is not None:
            bounds = _declared(column, domain)
        labels = {}
        for label, below in under.items():
            inside = numbers_of(column, [text for text in below if text not in missing])[0]
            if inside:
                labels[label] = (float(min(inside)), float(max(inside)))
        coded = {
            coding.form: float(numbers_of(column, [coding.text])[0][0]) for coding in column.codings if coding.text
        }
        return OrderedReader(
            column,
            *bounds,
            step=open_step(column.kind, numbers),
            labels=labels,
            coded=(coded.get("bottom", -math.inf), coded.get("top", math.inf)),
        )
    domain_values = original if domain is None else map(str, domain)
    distinct = frozenset("" if text in missing else text for text in domain_values)
    return CategoryReader(distinct, frozenset(missing), {**under, **rare_labels(column, original, missing)})


def rare_labels(column: Column, original: Mapping[str, int], missing: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the values that the label of a recoding stands for; original: the rows of each cell."""
    return {
        coding.text: frozenset(
            text for text, rows in original.items() if text not in missing and rows < int(coding.given)
        )
        for coding in column.codings
        if coding.form == "rare" and coding.text
    }


def _declared(column: Column, domain: Domain) -> tuple[float, float]:
    """Return a declared domain; its ends are numbers (dates: seconds), or texts as the column has them."""
    wrong = f"domain of {column.name!r}: give its least value first, then its greatest, as the column has them."
    texts = [end for end in domain if isinstance(end, str)]
    numbers, misfits = numbers_of(column, texts) if texts else (list(domain), [])
    if len(domain) != 2 or misfits or len(texts) == 1 or not numbers[0] <= numbers[1]:
        raise UsageError(wrong)
    return float(numbers[0]), float(numbers[1])


def unreadable_cell(column: str, row: int | None) -> InputError:
    """Return the error about a released cell that cannot be read."""
    place = "a cell" if row is None else f"the cell at row {row}"
    return InputError(
        f"column {column!r} of the release: {place} cannot be read. Allowed: a value of the original, a range such as "
        "[25, 40], a set such as {a, b}, or *."
    )
