"""The information loss of one column, by several measures at once."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.encoding.ends import RangeEnds
from shoal.encoding.partition import RANGE, SET, Cells
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.level_weights import Climb
from shoal.metrics.released_cells import SUPPRESSED, CategoryReader, Domain, OrderedReader, Reader, numbers_of, reader
from shoal.rules import Pair
from shoal.schema import Column, Kind, Schema
from shoal.tables import values

__all__ = ["Baseline", "ColumnLoss", "add_losses", "cell_counts", "column_loss"]


@dataclass(frozen=True)
class ColumnLoss:
    """Sums over the cells of a column; each is 0 if no cell was changed.

    Attributes:
        ncp: See `Measures`.
        changed: The number of cells that differ from the original.
        iloss: See `Measures`.
        lm: See `Measures`.
        entropy: In bits.
        levels: The levels by which cells were generalised, over the height of the hierarchy.
        distortion: The weighted hierarchical distance from the original.
        spans: The number of values that cells cover beyond the original one.
        further: The number of values of the original that cells cover beyond one.
        width: The distance between the ends of cells of numbers and dates (in seconds).
        starred: The number of suppressed cells.
        broken: The rules that some cell breaks.
    """

    ncp: float = 0.0
    changed: int = 0
    iloss: float = 0.0
    lm: float = 0.0
    entropy: float = 0.0
    levels: float = 0.0
    distortion: float = 0.0
    spans: float = 0.0
    further: int = 0
    width: float = 0.0
    starred: int = 0
    broken: frozenset[int] = frozenset()


UNCHANGED = ColumnLoss()
AMOUNTS = tuple(each.name for each in fields(ColumnLoss) if each.name != "broken")
_amounts = attrgetter(*AMOUNTS)


def add_losses(losses: Iterable[tuple[ColumnLoss, int]]) -> ColumnLoss:
    """Add up losses, each a number of times; the order of the terms fixes the last digit of the sums."""
    sums: list[float] | None = None
    broken = set[int]()
    for loss, times in losses:  # one after the other: a column may have millions of different cells
        if times:
            pairs = zip(sums or [0] * len(AMOUNTS), _amounts(loss), strict=True)
            sums = [total + amount * times for total, amount in pairs]  # counts stay ints
            broken |= loss.broken
    by_name: dict[str, Any] = dict(zip(AMOUNTS, sums or _amounts(UNCHANGED), strict=True))
    return ColumnLoss(**by_name, broken=frozenset(broken))


def column_loss(
    baseline: Baseline,
    counts: Mapping[str, int],
    n_suppressed: int,
    loss_of: Callable[[str], ColumnLoss],
) -> ColumnLoss:
    """Return the loss of a column.

    An empty cell in the release counts as an untouched missing value as long as the original has as many.

    Args:
        baseline: The column of the original.
        counts: The number of rows of each distinct released cell.
        n_suppressed: The number of rows that are not in the release.
        loss_of: Returns the loss of a released cell.
    """

    def terms() -> Iterator[tuple[ColumnLoss, int]]:
        left = sum(count for text, count in baseline.before.items() if text in baseline.missing)
        yield baseline.everything, n_suppressed
        for text in () if baseline.is_as_it_was(counts) else sorted(counts):
            count = counts[text]
            if text in baseline.missing and (left or text not in SUPPRESSED):
                surplus = max(0, count - left)
                left -= count - surplus
                yield baseline.everything, surplus
            else:
                yield loss_of(text), count

    return add_losses(terms())


@dataclass(frozen=True)
class Baseline:
    """What a column of the original has to lose.

    Attributes:
        column: The column.
        before: The number of rows of each distinct cell.
        rows: The same by value: all markers of a missing value become the empty text.
        n_values: The number of values.
        cells: Reads the released cells of the column.
        hierarchy: The hierarchy of the column, if there is one.
        level_losses: The distortion of each level of the hierarchy.
        numbers: The known values of a number or date in order, once for each spelling.
        texts: The spelling of each of `numbers`.
        pairs: The rules of the column, over its codes.
        missing: The texts that mark a missing value.
        attribute: The column as codes, if rules are over values that were recoded.
    """

    column: Column
    before: Mapping[str, int]
    rows: Mapping[str, int]
    n_values: int
    cells: Reader
    hierarchy: Hierarchy | None
    level_losses: list[float]
    numbers: Sequence[float]
    texts: list[str]
    pairs: Sequence[Pair]
    missing: tuple[str, ...]
    attribute: Attribute | None = None

    @classmethod
    def of(
        cls,
        column: Column,
        before: Mapping[str, int],
        schema: Schema,
        *,
        domain: Domain | None = None,
        hierarchy: Hierarchy | None = None,
        climb: Climb | None = None,
        pairs: Sequence[Pair] = (),
        attribute: Attribute | None = None,
    ) -> Baseline:
        """Return the baseline of a column.

        Args:
            column: The column.
            before: The number of rows of each distinct cell of the original, from `cell_counts`.
            schema: The columns of the table.
            domain: A declared range or list of values that replaces that of the original.
            hierarchy: The hierarchy over the values of the original.
            climb: The weights of the levels of the hierarchy.
            pairs: The rules of this column over its values in order, a missing number last.
            attribute: The column as codes, which a column that was recoded needs for its rules.
        """
        cells = reader(column, before, domain, schema.missing, hierarchy)
        absent = [text for text in before if text in schema.missing]
        rows = before  # a column may have millions of values: they are not listed again without need
        if absent:
            rows = {text: count for text, count in before.items() if text not in schema.missing}
            rows[""] = rows.get("", 0) + sum(before[text] for text in absent)
        n_values = len(cells.domain) if isinstance(cells, CategoryReader) else len(rows)
        height = hierarchy.height if hierarchy else 1
        level_losses = [float(share) for share in (climb or Climb()).to_levels(column.name, height)]
        numbers, texts = array("d"), list[str]()
        if isinstance(cells, OrderedReader):
            known_texts = sorted(text for text in rows if text not in schema.missing)
            own = np.array([float(number) for number in numbers_of(column, known_texts)[0]])
            order = np.argsort(own, kind="stable")
            numbers, texts = array("d", own[order].tobytes()), [known_texts[i] for i in order.tolist()]
        missing = tuple(schema.missing)
        return cls(
            column, before, rows, n_values, cells, hierarchy, level_losses, numbers, texts, pairs, missing, attribute
        )

    @cached_property
    def everything(self) -> ColumnLoss:
        """The loss of a suppressed cell."""
        iloss = (self.n_values - 1) / self.n_values if self.n_values else 0.0
        entropy, span = self._entropy(self.rows.values()), self._span(0, len(self.numbers), len(self.rows))
        further, width = max(self._n_distinct - 1, 0), 0.0
        if isinstance(self.cells, OrderedReader):
            width = self.cells.high - self.cells.low
        return ColumnLoss(1.0, 1, iloss, 1.0, entropy, 1.0, 1.0, span, further, width, 1)

    def is_value(self, text: str) -> bool:
        """Return whether a released text can only be a value of the original.

        A value that gave its name to a label, such as "Other", also means the other values below that label, and a
        bound of a recoding what lies beyond it.
        """
        if self.column.codings and any(text == coding.text for coding in self.column.codings):
            return False
        return text in self.before and not (isinstance(self.cells, CategoryReader) and self.cells.is_wide(text))

    def is_as_it_was(self, counts: Mapping[str, int]) -> bool:
        """Return whether a column shows only values of the original, and none of them more often."""
        return all(count <= self.before.get(text, 0) for text, count in counts.items())

    def loss_of_text(self, text: str) -> ColumnLoss | None:
        """Return the loss of a released cell from its text; None if the text cannot be read."""
        if self.is_value(text):
            return UNCHANGED
        if text in SUPPRESSED:
            return self.everything
        ncp = self.cells.loss(text)
        if ncp is None:
            return None
        if isinstance(self.cells, CategoryReader):
            return self._loss_of_set(text, ncp, self.cells.members(text))
        assert isinstance(self.cells, OrderedReader)
        bounds = self.cells.bounds(text)
        return None if bounds is None else self._loss_of_range(text, *bounds)

    def loss_of_cell(
        self, text: str, cells: Cells, index: int, texts: Sequence[str], ends: RangeEnds
    ) -> ColumnLoss | None:
        """Return the loss of a cell of a partition; only labels of hierarchies are read as text.

        Args:
            text: Its released text.
            cells: The distinct cells of the attribute.
            index: Which of them it is.
            texts: The text of each code.
            ends: The ends of the ranges.
        """
        form = cells.form[index]
        if self.is_value(text):
            return UNCHANGED
        if form == SET and isinstance(self.cells, CategoryReader):
            members = [texts[code] for code in cells.members[cells.starts[index] : cells.starts[index + 1]].tolist()]
            values_inside = self.cells.spelled_out("" if each in self.missing else each for each in members)
            return self._loss_of_set(text, self.cells.loss_of(values_inside), values_inside)
        if form == RANGE and isinstance(self.cells, OrderedReader):
            high = float(ends.high[index]) - (self.cells.step if ends.half_open[index] else 0.0)
            return self._loss_of_range(text, *self.cells.with_coded(float(ends.low[index]), high))
        return self.loss_of_text(text)

    def _loss_of_set(self, text: str, ncp: float, members: frozenset[str]) -> ColumnLoss:
        inside = sorted(members)
        beyond = max(len(inside) - 1, 0)
        level = self._level(text, inside)
        return ColumnLoss(
            ncp=ncp,
            changed=1,
            iloss=beyond / max(self.n_values, 1),
            lm=beyond / max(self.n_values - 1, 1),
            entropy=self._entropy([self.rows.get(value, 0) for value in inside]) if inside else 0.0,
            levels=level / (len(self.level_losses) - 1),
            distortion=self.level_losses[level],
            spans=float(beyond),
            further=beyond,
            broken=self._broken_by(self._codes_of(inside)) if self.pairs else frozenset(),
        )

    def _loss_of_range(self, text: str, low: float, high: float) -> ColumnLoss:
        assert isinstance(self.cells, OrderedReader)
        first, end = bisect_left(self.numbers, low), bisect_right(self.numbers, high)
        beyond = max(end - first - 1, 0)
        ncp = self.cells.loss_of(low, high)
        level = self._level(text, self.texts[first:end] if self.hierarchy else ())
        return ColumnLoss(
            ncp=ncp,
            changed=1,
            iloss=beyond / max(self.n_values, 1),
            lm=ncp,  # the share of the domain; a set or label counts its leaves instead
            entropy=self._entropy_between(first, end),
            levels=level / (len(self.level_losses) - 1),
            distortion=self.level_losses[level],
            spans=self._span(first, end, 0),
            further=self._n_further(first, end),
            width=high - low,
            broken=self._broken_between(first, end) if self.pairs else frozenset(),
        )

    def _span(self, first: int, end: int, n_inside: int) -> float:
        """Return how many values a cell covers beyond one: integers or days, else smallest gaps, or members."""
        if isinstance(self.cells, CategoryReader):
            return float(max(n_inside - 1, 0))
        return (self.numbers[end - 1] - self.numbers[first]) / self._resolution if end > first else 0.0

    def _n_further(self, first: int, end: int) -> int:
        """Return how many distinct numbers a range covers beyond one; several spellings of a number are one."""
        if end <= first:
            return 0
        ends = self.numbers[first], self.numbers[end - 1]
        return bisect_left(self._distinct, ends[1]) - bisect_left(self._distinct, ends[0])

    @cached_property
    def _n_distinct(self) -> int:
        """The number of values; several spellings of a number are one."""
        if isinstance(self.cells, CategoryReader):
            return self.n_values
        return len(self._distinct) + any(text in self.missing for text in self.before)

    @cached_property
    def _resolution(self) -> float:
        day = 86400.0 if self.column.kind is Kind.DATE else 1.0
        numbers = np.unique(self.numbers)
        gaps = np.diff(numbers)
        if len(gaps) == 0 or not (numbers % day).any():
            return day
        return float(gaps.min())

    def _broken_between(self, first: int, end: int) -> frozenset[int]:
        """Return the rules that a group breaks which covers these numbers; all spellings of a number have one code."""
        if end <= first:
            return frozenset()
        low, high = self.numbers[first], self.numbers[end - 1]
        if isinstance(self.cells, OrderedReader) and self.attribute is not None:
            least, most = self.cells.coded
            low, high = min(max(low, least), most), min(max(high, least), most)
        return self._broken_by(list(range(bisect_left(self._distinct, low), bisect_right(self._distinct, high))))

    def _broken_by(self, codes: list[int]) -> frozenset[int]:
        return frozenset(pair.rule for pair in self.pairs if pair.one[codes].any() and pair.other[codes].any())

    @cached_property
    def _distinct(self) -> Sequence[float]:
        distinct = np.unique(self.numbers) if self.attribute is None else self.attribute.known_values
        return array("d", distinct.tobytes())

    @cached_property
    def _codes(self) -> dict[str, int]:
        """The code of each value of a category; the missing value is sorted by its marker if there is only one."""
        markers = sorted({text for text in self.before if text in self.missing})
        texts = [value or (markers[0] if len(markers) == 1 else "") for value in self.rows]
        order = {text: code for code, text in enumerate(sorted(texts))}
        return {value: order[text] for value, text in zip(self.rows, texts, strict=True)}

    def _codes_of(self, inside: Iterable[str]) -> list[int]:
        """Return the codes of values of a category; with a recoding, rare ones have the code of its label."""
        if self.attribute is None or not isinstance(self.cells, CategoryReader):
            return [self._codes[value] for value in inside]
        codes = {"" if text in self.missing else text: code for code, text in enumerate(self.attribute.texts)}
        labels = [coding.text for coding in self.column.codings if coding.text]
        label_of = {value: label for label in labels for value in self.cells.labels[label]}
        return [codes[label_of.get(value, value)] for value in inside]

    @cached_property
    def _sums(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For each number, the rows up to it, and the sum of rows x log2(rows)."""
        rows = np.array([0, *(self.rows[text] for text in self.texts)])
        return np.cumsum(rows), np.cumsum(rows * np.log2(np.maximum(rows, 1)))

    def _entropy_between(self, first: int, end: int) -> float:
        """Return the entropy of consecutive numbers in constant time."""
        rows, bits = self._sums
        n_rows = rows[end] - rows[first]
        return max(0.0, float(np.log2(n_rows) - (bits[end] - bits[first]) / n_rows)) if n_rows else 0.0

    def _entropy(self, counts: Iterable[int]) -> float:
        """Return the mean of -log2(rows of the value / rows of the cell) over the rows that the cell covers."""
        positive = [count for count in counts if count]
        n_rows = sum(positive)
        return math.fsum(count * math.log2(n_rows / count) for count in positive) / n_rows if n_rows else 0.0

    def _level(self, text: str, inside: Sequence[str]) -> int:
        """Return the lowest level with this label, or with one label over all values inside; 1 without hierarchy."""
        if self.hierarchy is None:
            return 1
        if text in self._label_levels:
            return self._label_levels[text]
        paths = [self.hierarchy.rows[value] for value in inside if value in self.hierarchy.rows]
        if len(paths) <= 1:
            return 0
        same = [len({labels[level] for labels in paths}) == 1 for level in range(self.hierarchy.height)]
        return same.index(True) + 1

    @cached_property
    def _label_levels(self) -> dict[str, int]:
        return self.hierarchy.label_levels() if self.hierarchy else {}


def cell_counts(texts: Iterable[str], counts: Iterable[int]) -> dict[str, int]:
    """Return the rows of each distinct cell in normalised form."""
    rows: dict[str, int] = {}
    for text, count in zip(texts, counts, strict=True):
        name = values.normalise(text)
        rows[name] = rows.get(name, 0) + count
    return rows
