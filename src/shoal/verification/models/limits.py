"""Limits of released cells: how wide, how fine and how coarse each of them is."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Column, Kind, Limits
from shoal.verification.cells import SUPPRESSED, Cells, Span, normalise, set_members
from shoal.verification.reading.coded import CodedColumn
from shoal.verification.verdict import Violation, plural

__all__ = ["LimitedCells", "limit_violations"]

WIDTH = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([dwmy]?)")
RANGE = re.compile(r"\[.*, .*[\])]", re.DOTALL)
SECONDS = {"minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
MOMENT, DAY = datetime.timedelta(microseconds=1), datetime.timedelta(days=1)
LONGEST_LEVEL = 9  # digits
WORDS = {
    "max_width": "wider than the limit {0}",
    "finest": "finer than the limit {0}",
    "coarsest": "coarser than the limit {0}",
    "uniform": "not one of the bands or labels of {0}",
}

Ladder = Mapping[str, Sequence[str]]  # the labels of each value from level 1 up


@dataclass(frozen=True)
class LimitedCells:
    """The cells of a quasi-identifier with limits.

    Attributes:
        column: The column, with its kind and format.
        limits: Its limits. Levels are given by their numbers.
        cells: How its cells are read, without the labels of a hierarchy.
        ladder: The labels of each value in its hierarchy; empty if it has none.
        closed: Whether its ranges are written as two bounds, so that an open end looks like a closed one.
    """

    column: Column
    limits: Limits
    cells: Cells
    ladder: Ladder = field(default_factory=dict)
    closed: bool = False

    def keeps(self, limit: str, text: str) -> bool:
        """Return whether a cell keeps to one of the limits."""
        given = getattr(self.limits, limit)
        if self.cells.is_missing(text):
            return True
        if normalise(text) == SUPPRESSED:
            return limit == "finest"
        if self.ladder:
            return self._label_keeps(limit, given, normalise(text))
        is_ranked = self.column.kind in ("boolean", "ordered")
        spans = {} if is_ranked else self.cells.read(text).spans
        if limit == "max_width":
            return self._is_narrow(given, text, next(iter(spans.values()), self._extent(text)))
        return any(self._span_keeps(limit, given, span) for span in spans.values())

    # ---- labels of hierarchies

    def _label_keeps(self, limit: str, given: str, text: str) -> bool:
        if limit == "max_width":
            below = self._values_under.get(text, ())
            spans = self.cells.read(text).spans
            if self.column.kind in ("numeric", "date") and not spans:
                places = [place for value in below if (place := self.cells.place(normalise(value)))[0] != "text"]
                values = sorted(place[1] for place in places)
                return not values or self._is_narrow(given, text, Span(values[0], values[-1], False))
            return self._is_narrow(given, text, next(iter(spans.values()), None), max(1, len(below)))
        level, levels = self._level(given), self._levels_of.get(text, frozenset())
        if limit == "uniform":
            return level in levels
        return any(each <= level if limit == "coarsest" else each >= level for each in levels)

    @cached_property
    def _values_under(self) -> Mapping[str, Sequence[str]]:
        """The values under each value and label of the hierarchy."""
        under: dict[str, list[str]] = {}
        for value, labels in self.ladder.items():
            for label in dict.fromkeys((value, *labels)):
                under.setdefault(label, []).append(value)
        return under

    @cached_property
    def _levels_of(self) -> Mapping[str, Set[int]]:
        """The levels on which each value and label of the hierarchy stands."""
        levels: dict[str, set[int]] = {}
        for value, labels in self.ladder.items():
            for level, label in enumerate((value, *labels)):
                levels.setdefault(label, set()).add(level)
        return levels

    def _level(self, given: str) -> int:
        """Return the number of a level that is given by its number or by one of its labels; -1 if there is none."""
        if given.isascii() and given.isdecimal() and len(given) <= LONGEST_LEVEL:
            return int(given)
        return next((labels.index(given) + 1 for labels in self.ladder.values() if given in labels), -1)

    # ---- widths

    def _extent(self, text: str) -> Span | None:
        """Return the range of the members of a set of numbers or dates, which a wrong kind would only count."""
        members = set_members(text.strip()) if self.column.kind in ("numeric", "date") else []
        places = [self.cells.place(member) for member in members]
        if not places or len({scale for scale, _ in places}) > 1 or places[0][0] == "text":
            return None
        values = sorted(value for _, value in places)
        return Span(values[0], values[-1], False)

    def _is_narrow(self, given: str, text: str, span: Span | None, n_values: int | None = None) -> bool:
        match = WIDTH.fullmatch(given)
        if match is None:
            return False
        number, unit = Fraction(match[1]), match[2]
        if span is None:
            if n_values is None and self.column.kind is not Kind.CATEGORICAL and RANGE.fullmatch(normalise(text)):
                return False  # a range that cannot be read
            return (n_values or len(self.cells.members(text)) or 1) <= max(number, Fraction(1))
        if isinstance(span.low, Decimal):
            return not unit and Fraction(span.high) - Fraction(span.low) <= number
        low, high = _moment(span.low), _moment(span.high)
        if unit in ("m", "y"):
            return high <= _months_after(low, int(number) * (12 if unit == "y" else 1))
        return (high - low) // MOMENT <= number * (7 if unit == "w" else 1) * (DAY // MOMENT)

    # ---- bands

    def _span_keeps(self, limit: str, given: str, span: Span) -> bool:
        if isinstance(span.low, Decimal):
            return self._number_keeps(limit, given, span)
        if given not in (*SECONDS, *MONTHS):
            return False
        low, high = _moment(span.low), _moment(span.high)
        first, last = _period(low, given), _period(high, given)
        if limit == "coarsest":
            return first == last
        is_whole = first[0] == low and self._written(last[1]) == self._written(high)
        return is_whole and (limit == "finest" or first == last)

    def _number_keeps(self, limit: str, given: str, span: Span) -> bool:
        if WIDTH.fullmatch(given) is None or not given[-1].isdecimal() or not Fraction(given):
            return False
        low, high, band = Fraction(span.low), Fraction(span.high), Fraction(given)
        begins = low // band * band
        if limit == "coarsest":
            is_open = span.half_open or self.closed
            return bool(high <= begins + band if is_open else high < begins + band)
        is_whole = low == begins and high % band == 0 and high > low and (span.half_open or self.closed)
        return bool(is_whole and (limit == "finest" or high - low == band))

    def _written(self, moment: datetime.datetime) -> str:
        form = self.column.date_format
        return moment.date().isoformat() if form == Column.date_format else moment.strftime(form)


def limit_violations(column: CodedColumn, limited: LimitedCells, numbers: NDArray[np.int64]) -> list[Violation]:
    """Return the limits that cells of a released column break.

    Args:
        column: The released cells.
        limited: How they are read, and their limits.
        numbers: The number of each row in the file.
    """
    violations = []
    for limit in Limits._fields:
        if not getattr(limited.limits, limit):
            continue
        breaks = np.array([not limited.keeps(limit, text) for text in column.texts] or [False])
        rows = np.flatnonzero(breaks[column.codes])
        if len(rows):
            words = WORDS[limit].format(getattr(limited.limits, limit))
            n_broken = column.count(breaks)
            cells = plural(n_broken, "cell")
            verb = "is" if n_broken == 1 else "are"
            violations.append(
                Violation(f"column {limited.column.name!r}", f"{cells} {verb} {words}", int(numbers[rows[0]]))
            )
    return violations


def _moment(value: datetime.date) -> datetime.datetime:
    return value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)


def _months_after(moment: datetime.datetime, months: int) -> datetime.datetime:
    """Return the same day some months later, or the last day of that month."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if year > 9999:
        return datetime.datetime.max
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return moment.replace(year=year, month=month + 1)


def _period(moment: datetime.datetime, name: str) -> tuple[datetime.datetime, datetime.datetime]:
    """Return the first and the last moment of a period of the calendar; weeks begin on Mondays."""
    if name in SECONDS:
        length = datetime.timedelta(seconds=SECONDS[name])
        first = datetime.datetime.min + (moment - datetime.datetime.min) // length * length
        try:
            return first, first + length - MOMENT
        except OverflowError:
            return first, datetime.datetime.max
    count = (moment.year * 12 + moment.month - 1) // MONTHS[name] * MONTHS[name]
    after = count + MONTHS[name]
    first = datetime.datetime(max(count // 12, 1), count % 12 + 1 if count >= 12 else 1, 1)
    last = datetime.datetime.max if after >= 120_000 else datetime.datetime(after // 12, after % 12 + 1, 1) - MOMENT
    return first, last
