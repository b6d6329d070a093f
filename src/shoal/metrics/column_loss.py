"""What one column of a release lost, by several measures at once."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.level_weights import Climb
from shoal.metrics.released_cells import SUPPRESSED, CategoryReader, Domain, OrderedReader, Reader, numbers_of, reader
from shoal.rules import Pair
from shoal.schema import Column, Kind, Schema
from shoal.tables import values
from shoal.tables.table import Table

__all__ = ["ColumnLoss", "column_loss"]


@dataclass(frozen=True)
class ColumnLoss:
    """Sums over the cells of a column; each is 0 where nothing was changed.

    ncp, iloss, lm: see Measures. changed: cells that are not what they were. entropy: in bits. levels: climbed levels
    over the height of the hierarchy. distortion: weighted hierarchical distance from the original. spans: values that
    cells show beyond the one that each was. starred: cells that show nothing. broken: rules that some cell breaks.
    """

    ncp: float = 0.0
    changed: int = 0
    iloss: float = 0.0
    lm: float = 0.0
    entropy: float = 0.0
    levels: float = 0.0
    distortion: float = 0.0
    spans: float = 0.0
    starred: int = 0
    broken: frozenset[int] = frozenset()

    def plus(self, other: ColumnLoss, times: int) -> ColumnLoss:
        """Return the sum with so many cells that lost as much as the other."""
        names = [f.name for f in fields(self) if f.name != "broken"]
        sums = {name: getattr(self, name) + getattr(other, name) * times for name in names}
        return replace(self, **sums, broken=self.broken | other.broken if times else self.broken)


def column_loss(
    original: Table,
    released: Table,
    column: Column,
    schema: Schema,
    domain: Domain | None,
    hierarchy: Hierarchy | None,
    climb: Climb,
    pairs: Sequence[Pair] = (),
) -> ColumnLoss:
    """Return what a column lost; cells of rows that are missing from the release have lost all.

    An empty cell in the release is an untouched missing value as long as the original has as many. pairs: of the rules
    of this column, over its values in order, a missing number last.
    """
    before = _distinct(original, column.name)
    after = _distinct(released, column.name)
    n_missing = sum(count for text, count in before.items() if text in schema.missing)
    scale = _Scale.of(column, before, domain, schema, hierarchy, climb, pairs)
    total = ColumnLoss().plus(scale.everything, original.n_rows - released.n_rows)
    for text in sorted(after):  # sums of floats in one order, so that the last digit never varies
        count = after[text]
        if text in schema.missing and (n_missing or text not in SUPPRESSED):
            surplus = max(0, count - n_missing)
            n_missing -= count - surplus
            total = total.plus(scale.everything, surplus)
            continue
        lost = scale.cell(text)
        if lost is None:
            row = _first_row(released, column.name, text)
            raise InputError(
                f"column {column.name!r} of the release: the cell at row {row} cannot be read. Allowed: a value of the "
                "original, a range such as [25, 40], a set such as {a, b}, or *."
            )
        total = total.plus(lost, count)
    return total


@dataclass(frozen=True)
class _Scale:
    """What there is to lose in a column: its values with their rows, and how its cells are read.

    numbers: of numbers and dates, the known values in order; each is one of rows, of which texts names the text.
    """

    column: Column
    before: Mapping[str, int]
    rows: Mapping[str, int]  # missing values of whatever marker are one, the empty text
    n_values: int
    cells: Reader
    hierarchy: Hierarchy | None
    climbs: list[float]
    numbers: list[float]
    texts: list[str]
    pairs: Sequence[Pair]
    missing: tuple[str, ...]

    @classmethod
    def of(
        cls,
        column: Column,
        before: Mapping[str, int],
        domain: Domain | None,
        schema: Schema,
        hierarchy: Hierarchy | None,
        climb: Climb,
        pairs: Sequence[Pair],
    ) -> _Scale:
        cells = reader(column, before, domain, schema.missing, hierarchy)
        rows: dict[str, int] = {}
        for text, count in before.items():
            name = "" if text in schema.missing else text
            rows[name] = rows.get(name, 0) + count
        n_values = len(cells.domain) if isinstance(cells, CategoryReader) else len(rows)
        climbs = [float(share) for share in climb.to_levels(column.name, hierarchy.height if hierarchy else 1)]
        spelled: list[tuple[float, str]] = []
        if isinstance(cells, OrderedReader):
            known = [text for text in rows if text not in schema.missing]
            spelled = sorted(zip(map(float, numbers_of(column, known)[0]), known, strict=True))
        numbers, texts = [number for number, _ in spelled], [text for _, text in spelled]
        return cls(
            column, before, rows, n_values, cells, hierarchy, climbs, numbers, texts, pairs, tuple(schema.missing)
        )

    @cached_property
    def everything(self) -> ColumnLoss:
        """The loss of a suppressed cell."""
        whole = (self.n_values - 1) / self.n_values if self.n_values else 0.0
        entropy, span = self._entropy(self.rows.values()), self._span(0, len(self.numbers), len(self.rows))
        return ColumnLoss(1.0, 1, whole, 1.0, entropy, 1.0, 1.0, span, 1)

    def cell(self, text: str) -> ColumnLoss | None:
        """Return the loss of a released cell; None where it cannot be read."""
        if text in self.before:
            return ColumnLoss()
        ncp = self.cells.loss(text)
        if ncp is None:
            return None
        if text in SUPPRESSED:
            return self.everything
        first, end = self._stretch(text)
        inside = sorted(self.cells.members(text)) if isinstance(self.cells, CategoryReader) else ()
        beyond = max(len(inside) + end - first - 1, 0)
        # A range is its share of the domain, a set or label counts its leaves beyond the one that it was.
        lm = ncp if isinstance(self.cells, OrderedReader) else beyond / max(self.n_values - 1, 1)
        level = self._level(text, inside or (self.texts[first:end] if self.hierarchy else ()))
        entropy = self._entropy([self.rows.get(value, 0) for value in inside]) if inside else self._spread(first, end)
        levels = level / (len(self.climbs) - 1)
        iloss, span = beyond / max(self.n_values, 1), self._span(first, end, len(inside))
        broken = self._broken(first, end, inside)
        return ColumnLoss(ncp, 1, iloss, lm, entropy, levels, self.climbs[level], span, broken=broken)

    def _span(self, first: int, end: int, n_inside: int) -> float:
        """Return how many values a cell shows beyond one: whole numbers and days, else smallest gaps, or members."""
        if isinstance(self.cells, CategoryReader):
            return float(max(n_inside - 1, 0))
        return (self.numbers[end - 1] - self.numbers[first]) / self._resolution if end > first else 0.0

    @cached_property
    def _resolution(self) -> float:
        day = 86400.0 if self.column.kind is Kind.DATE else 1.0
        gaps = np.diff(np.unique(self.numbers))
        if len(gaps) == 0 or all(number % day == 0 for number in self.numbers):
            return day
        return float(gaps.min())

    def _broken(self, first: int, end: int, inside: Sequence[str]) -> frozenset[int]:
        """Return the rules that a group breaks which shows these values."""
        if not self.pairs:
            return frozenset()
        codes = [self._codes[value] for value in inside]
        if end > first:  # a number has one code, however often it is spelled in another way
            low, high = self.numbers[first], self.numbers[end - 1]
            codes = list(range(bisect_left(self._distinct, low), bisect_right(self._distinct, high)))
        return frozenset(pair.rule for pair in self.pairs if pair.one[codes].any() and pair.other[codes].any())

    @cached_property
    def _distinct(self) -> list[float]:
        return sorted(set(self.numbers))

    @cached_property
    def _codes(self) -> dict[str, int]:
        """The code of each value of a category; the missing one, however it is marked, stands where its text does."""
        marks = sorted({text for text in self.before if text in self.missing})
        texts = [value or (marks[0] if len(marks) == 1 else "") for value in self.rows]
        order = {text: code for code, text in enumerate(sorted(texts))}
        return {value: order[text] for value, text in zip(self.rows, texts, strict=True)}

    def _stretch(self, text: str) -> tuple[int, int]:
        """Return where the numbers begin and end that a cell stands for."""
        bounds = self.cells.bounds(text) if isinstance(self.cells, OrderedReader) else None
        if bounds is None:
            return 0, 0
        return bisect_left(self.numbers, bounds[0]), bisect_right(self.numbers, bounds[1])

    @cached_property
    def _sums(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Of the numbers up to each: their rows, and the sum of rows x log2(rows)."""
        rows = np.array([0, *(self.rows[text] for text in self.texts)])
        return np.cumsum(rows), np.cumsum(rows * np.log2(np.maximum(rows, 1)))

    def _spread(self, first: int, end: int) -> float:
        """Return the entropy of a stretch of the numbers, without going through them."""
        rows, bits = self._sums
        whole = rows[end] - rows[first]
        return max(0.0, float(np.log2(whole) - (bits[end] - bits[first]) / whole)) if whole else 0.0

    def _entropy(self, counts: Iterable[int]) -> float:
        """Return the mean of -log2(rows of the value / rows of the cell) over the rows that the cell stands for."""
        known = [count for count in counts if count]
        whole = sum(known)
        return math.fsum(count * math.log2(whole / count) for count in known) / whole if whole else 0.0

    def _level(self, text: str, inside: Sequence[str]) -> int:
        """Return the lowest level with this label, or with one label over all values inside; without hierarchy, 1."""
        if self.hierarchy is None:
            return 1
        if text in self._label_levels:
            return self._label_levels[text]
        known = [self.hierarchy.rows[value] for value in inside if value in self.hierarchy.rows]
        if len(known) <= 1:
            return 0
        same = [len({labels[level] for labels in known}) == 1 for level in range(self.hierarchy.height)]
        return same.index(True) + 1

    @cached_property
    def _label_levels(self) -> dict[str, int]:
        """The lowest level of each label."""
        levels: dict[str, int] = {}
        for labels in self.hierarchy.rows.values() if self.hierarchy else ():
            for level, label in enumerate(labels, 1):
                levels[label] = min(level, levels.get(label, level))
        return levels


def _distinct(table: Table, name: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text, count in zip(table.factor(name).texts.to_list(), table.counts(name).tolist(), strict=True):
        text = values.normalise(text)
        counts[text] = counts.get(text, 0) + count
    return counts


def _first_row(table: Table, name: str, text: str) -> int:
    """Return the number of the first row with a cell of this normal form."""
    ranks, texts = table.factor(name)
    same = np.array([values.normalise(raw) == text for raw in texts.to_list()])
    return int(np.argmax(same[ranks])) + 1
