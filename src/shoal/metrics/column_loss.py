"""The information loss of one column, by several measures at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.encoding.ends import RangeEnds
from shoal.encoding.partition import RANGE, SET, Cells
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.level_weights import Climb
from shoal.metrics.released_cells import SUPPRESSED, CategoryReader, Domain, NumberLine, OrderedReader, Reader, reader
from shoal.rules import Pair
from shoal.schema import Column, Schema

__all__ = ["Baseline", "Bounds", "ColumnLoss", "add_losses", "column_loss"]

MOST_AT_ONCE = 1 << 16  # ranges whose losses are in memory at the same time


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


class Bounds(NamedTuple):
    """A released cell that covers a range of numbers or dates; the losses of many of them are computed at once."""

    text: str
    low: float
    high: float


class _Sums:
    """Sums of losses, one term after the other: the order of the terms fixes the last digit."""

    def __init__(self) -> None:
        self._sums: dict[str, Any] = dict.fromkeys(AMOUNTS, 0)  # counts stay ints
        self._broken = set[int]()

    def add(self, loss: ColumnLoss, times: int) -> None:
        """Add a loss, a number of times."""
        if times and loss is not UNCHANGED:
            pairs = zip(self._sums.items(), _amounts(loss), strict=True)
            self._sums = {name: total + amount * times for (name, total), amount in pairs}
            self._broken |= loss.broken

    def add_ranges(self, baseline: Baseline, ranges: Sequence[Bounds], times: Sequence[int]) -> None:
        """Add the losses of ranges, each a number of times."""
        if ranges:
            amounts, broken = baseline.losses_of(ranges)
            with np.errstate(over="ignore"):  # widths of huge numbers add up to infinity
                for name, own in amounts.items():
                    total = np.cumsum(np.append(self._sums[name], own * np.array(times)))[-1]  # term by term
                    self._sums[name] = total.item()
            self._broken |= broken

    def total(self) -> ColumnLoss:
        """Return the sums."""
        return ColumnLoss(**self._sums, broken=frozenset(self._broken))


def add_losses(losses: Iterable[tuple[ColumnLoss, int]]) -> ColumnLoss:
    """Add up losses, each a number of times."""
    sums = _Sums()
    for loss, times in losses:
        sums.add(loss, times)
    return sums.total()


def column_loss(
    baseline: Baseline,
    counts: Mapping[str, int],
    n_suppressed: int,
    loss_of: Callable[[str], ColumnLoss | Bounds],
) -> ColumnLoss:
    """Return the loss of a column.

    An empty cell in the release counts as an untouched missing value as long as the original has as many.

    Args:
        baseline: The column of the original.
        counts: The number of rows of each distinct released cell.
        n_suppressed: The number of rows that are not in the release.
        loss_of: Returns the loss of a released cell, or the range that it covers.
    """
    left = sum(count for text, count in baseline.before.items() if text in baseline.missing)
    sums, ranges, times = _Sums(), list[Bounds](), list[int]()
    sums.add(baseline.everything, n_suppressed)
    for text in () if baseline.is_as_it_was(counts) else sorted(counts):
        loss, count = baseline.everything, counts[text]
        if text in baseline.missing and (left or text not in SUPPRESSED):
            surplus = max(0, count - left)
            left, count = left - (count - surplus), surplus
        else:
            found = loss_of(text)
            if isinstance(found, Bounds) and len(ranges) < MOST_AT_ONCE:
                ranges.append(found)
                times.append(count)
                continue
            loss = baseline.loss_of_range(found) if isinstance(found, Bounds) else found
        sums.add_ranges(baseline, ranges, times)
        ranges, times = [], []
        sums.add(loss, count)
    sums.add_ranges(baseline, ranges, times)
    return sums.total()


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
        line: The known values of a number or date, in order.
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
    line: NumberLine
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
        is_ordered, missing = isinstance(cells, OrderedReader), tuple(schema.missing)
        known = {text: count for text, count in rows.items() if is_ordered and text not in missing}
        line = NumberLine.of(column, known, attribute if is_ordered else None)
        return cls(column, before, rows, n_values, cells, hierarchy, level_losses, line, pairs, missing, attribute)

    @cached_property
    def everything(self) -> ColumnLoss:
        """The loss of a suppressed cell."""
        iloss = (self.n_values - 1) / self.n_values if self.n_values else 0.0
        entropy, span = self._entropy(self.rows.values()), float(max(len(self.rows) - 1, 0))
        further, width = max(self._n_distinct - 1, 0), 0.0
        if isinstance(self.cells, OrderedReader):
            span = self.line.width
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
        found = self.read_text(text)
        return self.loss_of_range(found) if isinstance(found, Bounds) else found

    def read_text(self, text: str) -> ColumnLoss | Bounds | None:
        """Return the loss of a released cell from its text, or its range; None if the text cannot be read."""
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
        return None if bounds is None else Bounds(text, *bounds)

    def read_cell(
        self, text: str, cells: Cells, index: int, texts: Sequence[str], ends: RangeEnds
    ) -> ColumnLoss | Bounds | None:
        """Return the loss of a cell of a partition, or its range; only labels of hierarchies are read as text.

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
            return Bounds(text, *self.cells.with_coded(float(ends.low[index]), high))
        return self.read_text(text)

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

    def loss_of_range(self, found: Bounds) -> ColumnLoss:
        """Return the loss of a range."""
        amounts, broken = self.losses_of([found])
        own: dict[str, Any] = {name: amount.item() for name, amount in amounts.items()}
        return ColumnLoss(**own, broken=broken)

    def losses_of(self, ranges: Sequence[Bounds]) -> tuple[dict[str, NDArray[Any]], frozenset[int]]:
        """Return the losses of ranges, amount by amount, and the rules that some of them break."""
        assert isinstance(self.cells, OrderedReader)
        low, high = np.array([each.low for each in ranges]), np.array([each.high for each in ranges])
        inside = self.line.inside(low, high)
        levels, broken = np.ones(len(ranges), dtype=np.int64), set[int]()
        spans = zip(inside.first.tolist(), inside.end.tolist(), strict=True)
        for place, (first, end) in enumerate(spans) if self.hierarchy is not None or self.pairs else ():
            if self.hierarchy is not None:
                levels[place] = self._level(ranges[place].text, self.line.texts[first:end])
            broken |= self._broken_between(first, end) if self.pairs else frozenset()
        beyond, ncp = np.maximum(inside.end - inside.first - 1, 0), self.cells.losses_of(low, high)
        ones = np.ones(len(ranges), dtype=np.int64)
        amounts = {
            "ncp": ncp,
            "changed": ones,
            "iloss": beyond / max(self.n_values, 1),
            "lm": ncp,  # the share of the domain; a set or label counts its leaves instead
            "entropy": inside.entropies,
            "levels": levels / (len(self.level_losses) - 1),
            "distortion": np.array(self.level_losses)[levels],
            "spans": inside.widths,
            "further": inside.further,
            "width": high - low,
            "starred": ones - 1,
        }
        return amounts, frozenset(broken)

    @cached_property
    def _n_distinct(self) -> int:
        """The number of values; several spellings of a number are one."""
        if isinstance(self.cells, CategoryReader):
            return self.n_values
        return len(self.line.distinct) + any(text in self.missing for text in self.before)

    def _broken_between(self, first: int, end: int) -> frozenset[int]:
        """Return the rules that a group breaks which covers these numbers; all spellings of a number have one code."""
        if end <= first:
            return frozenset()
        low, high = self.line.numbers[first], self.line.numbers[end - 1]
        if isinstance(self.cells, OrderedReader) and self.attribute is not None:
            low, high = np.clip([low, high], *self.cells.coded)
        distinct = self.line.distinct
        codes = np.searchsorted(distinct, low), np.searchsorted(distinct, high, side="right")
        return self._broken_by(list(range(*codes)))

    def _broken_by(self, codes: list[int]) -> frozenset[int]:
        return frozenset(pair.rule for pair in self.pairs if pair.one[codes].any() and pair.other[codes].any())

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
