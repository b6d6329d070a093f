"""Hierarchies of intervals over numbers and dates: half-open and disjoint, each level coarser than the one below."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from shoal.errors import InputError, UsageError, join_problems
from shoal.hierarchy.base import TOP, LabelRule, Misfit
from shoal.hierarchy.scale import Numbers, Scale, scale_of
from shoal.schema import ISO, Column
from shoal.tables.values import PLAIN, Marks

__all__ = ["IntervalHierarchy", "intervals"]

Bounds = tuple[Fraction | None, Fraction | None]
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class IntervalHierarchy(LabelRule):
    """A rule that makes intervals from widths, cuts or ranges; built by `intervals`.

    A label is a half-open interval `[20, 25)` with exact bounds, or `<18` below the first cut and `>=65` from the last
    cut up. It depends only on the value and the rule, never on the other values.

    Attributes:
        widths: The width of the intervals on each level, or empty.
        cuts: The rising cuts of each level, or empty.
        ranges: The (low, high) bounds of the intervals on each level, or empty; None is an open end.
        origin: Where one of the intervals of a width begins.
        unit: The unit of a calendar; None for numbers.
        date_format: How dates are written in the column.
        marks: The decimal and thousands marks of numbers in the column.
    """

    widths: tuple[Fraction, ...] = ()
    cuts: tuple[tuple[Fraction, ...], ...] = ()
    ranges: tuple[tuple[Bounds, ...], ...] = ()
    origin: Fraction = Fraction(0)
    unit: str | None = None
    date_format: str = "%Y-%m-%d"
    marks: Marks = PLAIN

    def in_form(self, column: Column) -> IntervalHierarchy:
        """Return the rule for a column that writes its dates and numbers in another way than the rule says."""
        if self.unit is not None:
            return replace(self, date_format=column.date_format) if self.date_format == ISO else self
        return replace(self, marks=Marks(*column.marks)) if self.marks == PLAIN else self

    @cached_property
    def scale(self) -> Scale:
        """How values and bounds are read and written."""
        return scale_of(self.unit, self.date_format, self.marks, bool(self.widths))[0]

    @property
    def height(self) -> int:
        """Number of levels above the values."""
        return len(self.widths or self.cuts or self.ranges) + 1

    @property
    def _source_name(self) -> str:
        return "intervals"

    def _height_over(self, texts: Sequence[str]) -> int:
        return self.height

    def _labels_of(self, text: str, height: int) -> tuple[str, ...] | None:
        return self.labels(text)

    def _misfit(self, texts: Sequence[str], positions: Sequence[int]) -> Misfit:
        unreadable = [i for i in positions if self.scale.place(texts[i]) is None]
        if unreadable:
            return Misfit(unreadable, f"not {self.scale.allowed}", "Correct them, declare them missing")
        outer = self._label((self.ranges[0][0][0], self.ranges[0][-1][1]))
        return Misfit(positions, f"outside the intervals, which cover {outer}", "Widen the intervals")

    def labels(self, text: str) -> tuple[str, ...] | None:
        """Return the labels of a value from level 1 up; None if it cannot be read or lies outside the intervals."""
        place = self.scale.place(text)
        if place is None:
            return None
        path = [self._interval_at(place, level) for level in range(self.height - 1)]
        if any(bounds is None for bounds in path):
            return None
        return (*(self._label(bounds) for bounds in path if bounds is not None), TOP)

    def _interval_at(self, place: Fraction, level: int) -> Bounds | None:
        if self.widths:
            width = self.widths[level]
            low = self.origin + (place - self.origin) // width * width
            return low, low + width
        if self.cuts:
            cuts = self.cuts[level]
            i = bisect_right(cuts, place)
            return cuts[i - 1] if i else None, cuts[i] if i < len(cuts) else None
        for low_bound, high in self.ranges[level]:
            if (low_bound is None or low_bound <= place) and (high is None or place < high):
                return low_bound, high
        return None

    def _label(self, bounds: Bounds) -> str:
        low, high = (None if bound is None else self.scale.text(bound) for bound in bounds)
        if low is None and high is None:
            return TOP
        if low is None:
            return f"<{high}"
        return f">={low}" if high is None else f"[{low}, {high})"


def intervals(
    widths: Sequence[Any] | None = None,
    *,
    cuts: Sequence[Sequence[Any]] | None = None,
    ranges: Sequence[Sequence[Pair]] | None = None,
    origin: Any = 0,
    unit: str | None = None,
    date_format: str = "%Y-%m-%d",
    marks: Marks = PLAIN,
) -> IntervalHierarchy:
    """Return a rule that makes intervals of numbers or dates, finest level first.

    Args:
        widths: The width of each level, a multiple of the width before.
        cuts: The rising cuts of each level, all of them also cuts of the level before. The intervals cover everything:
            `<18` is below the first cut, `>=65` is from the last cut up.
        ranges: The (low, high) bounds of each level, one range after the other without a gap. A value outside is an
            error. None as the first low or the last high leaves that side open.
        origin: Where one of the intervals begins, if `widths` are given.
        unit: For dates: "day", "week", "month", "quarter" or "year" as the unit of `widths`; "date" for `cuts` and
            `ranges`.
        date_format: How dates are written in the column, as for strptime.
        marks: The decimal and thousands marks of numbers in the column.

    Raises:
        UsageError: An argument cannot be read, or not exactly one of `widths`, `cuts` and `ranges` is given.
        InputError: The intervals have gaps or overlaps, or the levels do not nest.

    >>> intervals([5, 10]).over(["23", "-1"]).rows
    {'23': ('[20, 25)', '[20, 30)', '*'), '-1': ('[-5, 0)', '[-10, 0)', '*')}
    >>> intervals(cuts=[[18, 40, 65], [40]]).over(["17", "65"]).rows
    {'17': ('<18', '<40', '*'), '65': ('>=65', '>=40', '*')}
    """
    levels_given = [levels for levels in (widths, cuts, ranges) if levels is not None]
    if len(levels_given) != 1 or not levels_given[0]:
        raise UsageError("intervals: give exactly one of widths, cuts and ranges, with at least one level.")
    scale, length = scale_of(unit, date_format, marks, widths is not None)
    notation = {"unit": unit, "date_format": date_format, "marks": marks}
    if widths is not None:
        sizes = tuple(_width(width, unit) * length for width in widths)
        start = Fraction(0) if origin == 0 else scale.bound(origin)
        rule = IntervalHierarchy(widths=sizes, origin=start, **notation)  # type: ignore[arg-type]
        problems = _check_widths(rule)
    elif cuts is not None:
        places = tuple(tuple(scale.bound(cut) for cut in level) for level in cuts)
        rule = IntervalHierarchy(cuts=places, **notation)  # type: ignore[arg-type]
        problems = _check_cuts(rule)
    else:
        assert ranges is not None
        levels = tuple(tuple((_bound(scale, low), _bound(scale, high)) for low, high in level) for level in ranges)
        rule = IntervalHierarchy(ranges=levels, **notation)  # type: ignore[arg-type]
        problems = _check_ranges(rule)
    if problems:
        raise InputError(join_problems([f"interval hierarchy, {problem}" for problem in problems]))
    return rule


def _bound(scale: Scale, bound: Any) -> Fraction | None:
    return None if bound is None else scale.bound(bound)


def _width(value: Any, unit: str | None) -> Fraction:
    width = Numbers().bound(value)
    if width <= 0 or (unit is not None and width.denominator != 1):
        raise UsageError(f"interval hierarchy: width {value!r} is not a positive {'integer' if unit else 'number'}.")
    return width


def _check_widths(rule: IntervalHierarchy) -> list[str]:
    problems = []
    for level, (fine, coarse) in enumerate(pairwise(rule.widths), start=2):
        if coarse % fine:
            problems.append(_split_interval(rule, level, rule.origin + coarse))
        elif coarse == fine:
            label = rule._label((rule.origin, rule.origin + fine))
            problems.append(f"level {level}: {label} is also an interval of level {level - 1}. Use a larger width.")
    return problems


def _split_interval(rule: IntervalHierarchy, level: int, cut: Fraction) -> str:
    """Return the problem that a cut of a level splits an interval of the level below."""
    interval = rule._interval_at(cut, level - 2)
    assert interval is not None
    return (
        f"level {level}: the cut at {rule.scale.text(cut)} lies inside {rule._label(interval)} of level {level - 1}. "
        "Cut a level only where the level below is cut."
    )


def _check_cuts(rule: IntervalHierarchy) -> list[str]:
    problems = []
    for level, cuts in enumerate(rule.cuts, start=1):
        if not cuts:
            problems.append(f"level {level} has no cuts. Leave it out.")
        for low, high in pairwise(cuts):
            if low >= high:
                bounds = _bounds_text(rule, low, high)
                problems.append(f"level {level}: {bounds} are reversed or equal. Give the cuts in rising order.")
    for level, (fine, coarse) in enumerate(pairwise(rule.cuts), start=2):
        if not problems:
            problems += [_split_interval(rule, level, cut) for cut in sorted(set(coarse).difference(fine))]
    return problems


def _bounds_text(rule: IntervalHierarchy, low: Fraction | None, high: Fraction | None) -> str:
    texts = ["an open end" if bound is None else str(rule.scale.text(bound)) for bound in (low, high)]
    return f"the bounds {texts[0]} and {texts[1]}"


def _check_ranges(rule: IntervalHierarchy) -> list[str]:
    problems = []
    for level, ranges in enumerate(rule.ranges, start=1):
        if not ranges:
            problems.append(f"level {level} has no ranges. Leave it out.")
        problems += [f"level {level}: {text}" for text in _check_level(rule, ranges)]
    if problems:
        return problems
    for level, (fine, coarse) in enumerate(pairwise(rule.ranges), start=2):
        ends = [(fine[0][0], coarse[0][0]), (fine[-1][1], coarse[-1][1])]
        for below, above in ends:
            if below != above:
                bounds = _bounds_text(rule, above, below)
                problems.append(
                    f"level {level}: {bounds} are the ends of levels {level} and {level - 1}. Make all levels cover "
                    "the same values."
                )
        if not problems:
            inner_cuts = sorted(_inner_cuts(coarse).difference(_inner_cuts(fine)))
            problems += [_split_interval(rule, level, cut) for cut in inner_cuts]
    return problems


def _inner_cuts(ranges: Sequence[Bounds]) -> set[Fraction]:
    return {low for low, _ in ranges[1:] if low is not None}


def _check_level(rule: IntervalHierarchy, ranges: Sequence[Bounds]) -> Iterable[str]:
    for low, high in ranges:
        if low is not None and high is not None and low >= high:
            yield f"{_bounds_text(rule, low, high)} are reversed or equal. Put the lower one first."
    for (_, high), (low, _) in pairwise(ranges):
        if high is None or low is None:
            yield f"open end inside: {_bounds_text(rule, high, low)} meet. Leave only the first or last end open."
        elif high < low:
            yield f"gap between {_bounds_text(rule, high, low)}. Begin each range where the one before ends."
        elif high > low:
            yield f"overlap between {_bounds_text(rule, low, high)}. Begin each range where the one before ends."
