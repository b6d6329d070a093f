"""Hierarchies of intervals over numbers and dates: half-open, disjoint, each level a coarser cut of the one below."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from shoal.errors import InputError, UsageError, join_problems
from shoal.hierarchy.base import TOP, Hierarchy, RowsOf, lacking_text, settle
from shoal.hierarchy.scale import Scale, scale_of
from shoal.tables.values import PLAIN, Marks

__all__ = ["IntervalHierarchy", "intervals"]

Bounds = tuple[Fraction | None, Fraction | None]
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class IntervalHierarchy:
    """Intervals from widths, from cuts, or from ranges; made by `intervals`.

    A label is a half-open interval `[20, 25)` with exact bounds; `<18` and `>=65` stand for what lies below the first
    and from the last cut on. It depends on the value and the rule alone, never on the other values.
    """

    widths: tuple[Fraction, ...] = ()
    cuts: tuple[tuple[Fraction, ...], ...] = ()
    ranges: tuple[tuple[Bounds, ...], ...] = ()
    origin: Fraction = Fraction(0)
    unit: str | None = None
    date_format: str = "%Y-%m-%d"
    marks: Marks = PLAIN

    @cached_property
    def scale(self) -> Scale:
        """How values and bounds are read and written."""
        return scale_of(self.unit, self.date_format, self.marks, bool(self.widths))[0]

    @property
    def height(self) -> int:
        """Number of levels above the values."""
        return len(self.widths or self.cuts or self.ranges) + 1

    def over(
        self,
        texts: Sequence[str],
        *,
        column: str = "",
        unknown: str = "error",
        missing: Collection[str] = (),
        rows_of: RowsOf | None = None,
    ) -> Hierarchy:
        """Return the hierarchy over exactly these values; the arguments are those of `Hierarchy.bind`."""

        def lacking(which: Sequence[int]) -> str:
            misfits = [i for i in which if self.scale.place(texts[i]) is None]
            if misfits:
                what, cure = f"not {self.scale.allowed}", "Mend them, or declare them missing"
                return lacking_text(column, what, cure, texts, misfits, rows_of)
            outer = self._label((self.ranges[0][0][0], self.ranges[0][-1][1]))
            what = f"outside the intervals, which cover {outer}"
            return lacking_text(column, what, "Widen them", texts, which, rows_of)

        rows = settle(texts, self.labels, lacking, height=self.height, unknown=unknown, missing=missing)
        return Hierarchy(rows, source="intervals")

    def labels(self, text: str) -> tuple[str, ...] | None:
        """Return the labels of one value from level 1 up; None if it is none or lies outside."""
        place = self.scale.place(text)
        if place is None:
            return None
        found = [self._find(place, level) for level in range(self.height - 1)]
        if any(bounds is None for bounds in found):
            return None
        return (*(self._label(bounds) for bounds in found if bounds is not None), TOP)

    def _find(self, place: Fraction, level: int) -> Bounds | None:
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
    """Return a rule that makes intervals of numbers or dates, one level for each width or list of cuts, finest first.

    widths: of each level; every width a multiple of the one before. origin: where one interval begins.
    cuts: of each level, rising; every cut also a cut of the level before. All values are covered: below the first cut
    by `<18`, from the last one on by `>=65`.
    ranges: of each level, (low, high) pairs one after the other without gap; a value outside them is an error. None as
    the first low or the last high leaves that side open.
    unit: for dates: "day", "week", "month", "quarter" or "year", in which widths count; "date" for cuts and ranges.

    >>> intervals([5, 10]).over(["23", "-1"]).rows
    {'23': ('[20, 25)', '[20, 30)', '*'), '-1': ('[-5, 0)', '[-10, 0)', '*')}
    >>> intervals(cuts=[[18, 40, 65], [40]]).over(["17", "65"]).rows
    {'17': ('<18', '<40', '*'), '65': ('>=65', '>=40', '*')}
    """
    given = [form for form in (widths, cuts, ranges) if form is not None]
    if len(given) != 1 or not given[0]:
        raise UsageError("intervals: give one of widths, cuts or ranges, with at least one level.")
    scale, length = scale_of(unit, date_format, marks, widths is not None)
    form = {"unit": unit, "date_format": date_format, "marks": marks}
    if widths is not None:
        sizes = tuple(_width(width, unit) * length for width in widths)
        start = Fraction(0) if origin == 0 else scale.bound(origin)
        rule = IntervalHierarchy(widths=sizes, origin=start, **form)  # type: ignore[arg-type]
        problems = _check_widths(rule)
    elif cuts is not None:
        places = tuple(tuple(scale.bound(cut) for cut in level) for level in cuts)
        rule = IntervalHierarchy(cuts=places, **form)  # type: ignore[arg-type]
        problems = _check_cuts(rule)
    else:
        assert ranges is not None
        levels = tuple(tuple((_bound(scale, low), _bound(scale, high)) for low, high in level) for level in ranges)
        rule = IntervalHierarchy(ranges=levels, **form)  # type: ignore[arg-type]
        problems = _check_ranges(rule)
    if problems:
        raise InputError(join_problems([f"interval hierarchy, {problem}" for problem in problems]))
    return rule


def _bound(scale: Scale, given: Any) -> Fraction | None:
    return None if given is None else scale.bound(given)


def _width(given: Any, unit: str | None) -> Fraction:
    from shoal.hierarchy.scale import Numbers

    width = Numbers().bound(given)
    if width <= 0 or (unit is not None and width.denominator != 1):
        raise UsageError(f"interval hierarchy: width {given!r} is not a positive {'whole ' * bool(unit)}number.")
    return width


def _check_widths(rule: IntervalHierarchy) -> list[str]:
    problems = []
    for level, (fine, coarse) in enumerate(pairwise(rule.widths), start=2):
        if coarse % fine:
            cut = rule.origin + coarse
            inside = rule._find(cut, level - 2)
            assert inside is not None
            problems.append(_torn(rule, level, cut, inside))
        elif coarse == fine:
            both = rule._label((rule.origin, rule.origin + fine))
            problems.append(f"level {level}: {both} is an interval of level {level - 1} too. Use a larger width.")
    return problems


def _torn(rule: IntervalHierarchy, level: int, cut: Fraction, inside: Bounds) -> str:
    return (
        f"level {level}: a cut at {rule.scale.text(cut)} lies inside {rule._label(inside)} of level {level - 1}. "
        "Cut a level only where the level before is cut."
    )


def _check_cuts(rule: IntervalHierarchy) -> list[str]:
    problems = []
    for level, cuts in enumerate(rule.cuts, start=1):
        if not cuts:
            problems.append(f"level {level}: no cuts. Leave the level out.")
        for low, high in pairwise(cuts):
            if low >= high:
                problems.append(f"level {level}: {_two(rule, low, high)} are reversed or equal. Give rising cuts.")
    for level, (fine, coarse) in enumerate(pairwise(rule.cuts), start=2):
        if not problems:
            for cut in sorted(set(coarse).difference(fine)):
                inside = rule._find(cut, level - 2)
                assert inside is not None
                problems.append(_torn(rule, level, cut, inside))
    return problems


def _two(rule: IntervalHierarchy, low: Fraction | None, high: Fraction | None) -> str:
    shown = ["an open end" if bound is None else str(rule.scale.text(bound)) for bound in (low, high)]
    return f"the bounds {shown[0]} and {shown[1]}"


def _check_ranges(rule: IntervalHierarchy) -> list[str]:
    problems = []
    for level, ranges in enumerate(rule.ranges, start=1):
        if not ranges:
            problems.append(f"level {level}: no ranges. Leave the level out.")
        problems += [f"level {level}: {text}" for text in _check_row(rule, ranges)]
    if problems:
        return problems
    for level, (fine, coarse) in enumerate(pairwise(rule.ranges), start=2):
        ends = [(fine[0][0], coarse[0][0]), (fine[-1][1], coarse[-1][1])]
        for below, above in ends:
            if below != above:
                problems.append(f"level {level}: {_two(rule, above, below)} are the ends of levels {level} and "
                                f"{level - 1}. Let every level cover the same values.")  # fmt: skip
        if not problems:
            for cut in sorted(_inner(coarse).difference(_inner(fine))):
                inside = rule._find(cut, level - 2)
                assert inside is not None
                problems.append(_torn(rule, level, cut, inside))
    return problems


def _inner(ranges: Sequence[Bounds]) -> set[Fraction]:
    return {low for low, _ in ranges[1:] if low is not None}


def _check_row(rule: IntervalHierarchy, ranges: Sequence[Bounds]) -> Iterable[str]:
    for low, high in ranges:
        if low is not None and high is not None and low >= high:
            yield f"{_two(rule, low, high)} are reversed or equal. Put the lower one first."
    for (_, high), (low, _) in pairwise(ranges):
        if high is None or low is None:
            yield f"an open end inside: {_two(rule, high, low)} meet. Only the first and last range may be open."
        elif high < low:
            yield f"a gap between {_two(rule, high, low)}. Let each range begin where the one before ends."
        elif high > low:
            yield f"an overlap: {_two(rule, high, low)}. Let each range begin where the one before ends."
