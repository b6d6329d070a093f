"""Grids: the round numbers and calendar periods at which ranges may end, in exact arithmetic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.schema import Column, Kind
from shoal.tables.values import Marks, exact_fraction, print_moment, unpadded_parts

__all__ = ["DATE_GRIDS", "DateScale", "NumberScale", "Scale", "check_grid", "default_grid"]

# Seconds of a period, or its months if its length varies.
FIXED = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}  # the year 1 began on a Monday
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
DATE_GRIDS = (*FIXED, *MONTHS)
NAMES = "|".join(DATE_GRIDS)
PERIOD = re.compile(rf"({NAMES})|([1-9][0-9]{{0,3}}) (?:({NAMES})s?|centuries)")
PERIODS = f"{', '.join(DATE_GRIDS)}, or several of them, such as 15 minutes"
# The grids for safe ends, from fine to coarse.
LADDER = ("minute", "5 minutes", "15 minutes", "hour", "6 hours", "day", "week", *MONTHS)
MONTH_SECONDS = 30 * 86400  # to compare the lengths of periods
STEPS_ACROSS = 20  # a default grid has at least this many steps over the column's range
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
FIRST_DAY = np.datetime64("0001-01-01", "D")
LAST_SECOND = (datetime.max - datetime.min) // timedelta(seconds=1)
EPOCH_MONTHS = 12 * 1970  # NumPy counts months from 1970

Units = NDArray[Any]  # int64, or Python's integers where these are too small


def check_grid(name: str, grid: str) -> None:
    """Refuse a grid that is neither a positive number nor a calendar period."""
    step = exact_fraction(Marks().plain(grid))
    if _period(grid) is None and (step is None or step <= 0):
        raise UsageError(f"grid {grid!r} of column {name!r}: use a positive number, or {PERIODS}.")


def _period(grid: str) -> tuple[int, int] | None:
    """Return the seconds of a period, or its months; None if it is not one.

    >>> _period("15 minutes"), _period("quarter"), _period("5")
    ((900, 0), (0, 3), None)
    """
    match = PERIOD.fullmatch(grid)
    if match is None:
        return None
    times, name = int(match[2] or 1), match[1] or match[3] or "century"
    return (times * FIXED[name], 0) if name in FIXED else (0, times * MONTHS[name])


def _length(grid: str) -> int:
    seconds, months = _period(grid) or (0, 0)
    return seconds + months * MONTH_SECONDS


def default_grid(kind: Kind | None, span: float, column: Column | None = None, texts: Sequence[str] = ()) -> str:
    """Return a round grid for a range: 1, 2 or 5 times a power of ten for numbers, a calendar period for dates.

    Args:
        kind: Numbers or dates.
        span: The width of the range.
        column: How the numbers of the range are read.
        texts: These numbers; the grid is not finer than their last digit.

    >>> default_grid(Kind.NUMERIC, 73.0), default_grid(Kind.NUMERIC, 0.9), default_grid(Kind.DATE, 86400.0 * 365 * 60)
    ('2', '0.02', 'year')
    """
    if kind is Kind.DATE:
        lengths = {"year": 365 * 86400, "month": 365 * 86400 / 12, "day": 86400, "hour": 3600, "15 minutes": 900}
        return next((grid for grid, length in lengths.items() if span > STEPS_ACROSS * length), "minute")
    if span <= 0:
        return "1"
    finest = Decimal(repr(span)) / STEPS_ACROSS
    power = Decimal(10) ** finest.adjusted()
    step = max(factor * power for factor in (1, 2, 5) if factor * power <= finest)
    if column is not None:
        step = max(step, Decimal(1).scaleb(-_most_decimals(_exact_numbers(column, texts))))
    return f"{step.normalize():f}"


class Scale(Protocol):
    """The known values of a number or date in order, as integers, and the grids over them."""

    @property
    def units(self) -> Units:
        """Each value as an integer; the fraction of a second is dropped."""

    @property
    def before(self) -> Units:
        """The last place before each value that another value can have."""

    @property
    def after(self) -> Units:
        """The first place after each value that another value can have."""

    def steps(self, grid: str = "") -> Sequence[Any]:
        """Return the steps of grids from fine to coarse; the first is the given one, if any."""

    def below(self, values: Units, step: Any) -> Units:
        """Return for each value the nearest grid point that does not exceed it."""

    def above(self, values: Units, step: Any) -> Units:
        """Return for each value the nearest grid point that is not less than it."""

    def text(self, end: int, *, upper: bool) -> str:
        """Return a grid point as the column writes it."""


@dataclass(frozen=True)
class NumberScale:
    """Numbers as integers: multiples of a power of ten. A step is 1, 2 or 5 times a power of ten, or the grid's."""

    column: Column
    units: Units
    digits: int
    grouped: bool = False
    decimals: int = 0

    @property
    def before(self) -> Units:
        """The number before each value."""
        return self.units - 1

    @property
    def after(self) -> Units:
        """The number after each value."""
        return self.units + 1

    @classmethod
    def of(cls, column: Column, texts: Sequence[str], values: NDArray[np.float64], grid: str) -> NumberScale:
        """Return the scale of a column.

        Args:
            column: How its cells are read.
            texts: Its known values in order.
            values: The same as numbers.
            grid: The grid whose points must be integers too.
        """
        if _period(column.grid) is not None:
            raise UsageError(f"grid {column.grid!r} of the numbers in column {column.name!r}: use a positive number.")
        exact = _exact_numbers(column, texts)
        grouped = bool(column.thousands) and any(column.thousands in text for text in texts)
        figures = {_decimals(number) for number in exact} if column.unit else set()
        decimals = figures.pop() if len(figures) == 1 else 0  # $45.50 has two decimals, and so has $50.00
        digits = max(_decimals(Decimal(grid)), _most_decimals(exact))
        if digits <= 15 and np.abs(values).max(initial=0.0) * 10**digits < 2**50:  # a product is off by less than 1/2
            return cls(column, np.rint(values * 10**digits).astype(np.int64), digits, grouped, decimals)
        units = np.array([int(number.scaleb(digits, EXACT)) for number in exact], dtype=object)
        return cls(column, units, digits, grouped, decimals)

    def steps(self, grid: str = "") -> list[int]:
        """Return steps up to one that is at least as wide as the range of the values."""
        first = int(Decimal(grid).scaleb(self.digits, EXACT)) if grid else 1
        span = int(self.units[-1]) - int(self.units[0])
        steps, power = [first], first
        while steps[-1] < span:
            factor = steps[-1] // power
            power, factor = (power * 10, 1) if factor == 5 else (power, 2 if factor == 1 else 5)
            steps.append(factor * power)
        return steps

    def below(self, values: Units, step: int) -> Units:
        """Return for each value the largest multiple of the step that does not exceed it."""
        values = values if step < 2**60 else values.astype(object)
        return values // step * step

    def above(self, values: Units, step: int) -> Units:
        """Return for each value the smallest multiple of the step that is not less than it."""
        return -self.below(-values, step)

    def text(self, end: int, *, upper: bool) -> str:
        """Return a multiple with the marks and the unit of the column."""
        number = Decimal(end).scaleb(-self.digits, EXACT)
        return Marks(*self.column.marks).text(number, grouped=self.grouped, decimals=self.decimals)


@dataclass(frozen=True)
class DateScale:
    """Dates as seconds since the year 1. A step is a calendar period, which begins and ends with a released date."""

    column: Column
    units: Units
    unit: int
    unpadded: frozenset[str] = frozenset()

    @classmethod
    def of(cls, column: Column, texts: Sequence[str], values: NDArray[np.float64]) -> DateScale:
        """Return the scale of a column; texts and values: its known dates in order, as written and in seconds."""
        if column.grid and _period(column.grid) is None:
            raise UsageError(f"grid {column.grid!r} of the dates in column {column.name!r}: use {PERIODS}.")
        seconds = np.floor(values).astype(np.int64)
        unit = next((unit for unit in (86400, 3600, 60) if not (values % unit).any()), 1)
        return cls(column, seconds, unit, unpadded_parts(texts, column.date_format))

    @property
    def before(self) -> Units:
        """The moment before each value."""
        return self.units - self.unit

    @property
    def after(self) -> Units:
        """The moment after each value; a format without days counts months."""
        has_days = any(part in self.column.date_format for part in ("%d", "%j", "%x", "%c", "%a", "%A", "%u", "%w"))
        if not has_days and self.unit == 86400:
            return _month_starts(_months(self.units) + 1)
        return self.units + self.unit

    def steps(self, grid: str = "") -> tuple[str, ...]:
        """Return the periods, from the grid on."""
        return (grid, *(step for step in LADDER if _length(step) > _length(grid))) if grid else LADDER

    def below(self, values: Units, step: str) -> Units:
        """Return the first second of the period of each date."""
        values, (seconds, months) = np.maximum(values, 0), _period(step) or (0, 1)
        if seconds:
            return values // seconds * seconds
        return _month_starts(_months(values) // months * months)

    def above(self, values: Units, step: str) -> Units:
        """Return the last second of the period of each date."""
        values, (seconds, months) = np.minimum(values, LAST_SECOND), _period(step) or (0, 1)
        if seconds:
            ends: Units = np.minimum((values // seconds + 1) * seconds, LAST_SECOND + 1)
        else:
            ends = _month_starts((_months(values) // months + 1) * months)
        return ends - 1

    def text(self, end: int, *, upper: bool) -> str:
        """Return a second, or the last moment of it, in the date format of the column."""
        moment = datetime.min + timedelta(seconds=end, microseconds=999_999 if upper else 0)
        return print_moment(moment, self.column.date_format, self.unpadded)


def _exact_numbers(column: Column, texts: Sequence[str]) -> list[Decimal]:
    marks = Marks(*column.marks)
    return [Decimal(marks.plain(text) or "0") for text in texts]


def _most_decimals(numbers: Sequence[Decimal]) -> int:
    return max(0, *map(_decimals, numbers)) if numbers else 0


def _decimals(number: Decimal) -> int:
    return -int(number.as_tuple().exponent)


def _months(seconds: Units) -> Units:
    """Return the number of the month of each second; month 12 is January of the year 1."""
    months: Units = (FIRST_DAY + seconds // 86400).astype("datetime64[M]").astype(np.int64) + EPOCH_MONTHS
    return months


def _month_starts(months: Units) -> Units:
    """Return the first second of each month; before the year 1, and after 9999, the limit of dates."""
    days = (months - EPOCH_MONTHS).astype("datetime64[M]").astype("datetime64[D]") - FIRST_DAY
    starts: Units = np.clip(days.astype(np.int64) * 86400, 0, LAST_SECOND + 1)
    return starts
