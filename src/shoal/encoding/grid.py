"""Widen the ends of released ranges to a grid, so that they do not reveal the value of a person."""

from __future__ import annotations

import calendar
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from shoal.errors import UsageError
from shoal.schema import Column, Kind
from shoal.tables.values import Marks, exact_fraction

__all__ = ["DATE_GRIDS", "check_grid", "default_grid", "snap"]

DATE_GRIDS = ("day", "month", "year", "decade")
STEPS_ACROSS = 20  # a default grid has at least this many steps over the column's range


def check_grid(name: str, grid: str) -> None:
    """Refuse a grid that is neither a positive number nor a calendar period."""
    step = exact_fraction(Marks().plain(grid))
    if grid not in DATE_GRIDS and (step is None or step <= 0):
        raise UsageError(f"grid {grid!r} of column {name!r}: use a positive number, or {', '.join(DATE_GRIDS)}.")


def default_grid(kind: Kind | None, span: float) -> str:
    """Return a round grid for a range: 1, 2 or 5 times a power of ten for numbers, a calendar period for dates.

    >>> default_grid(Kind.NUMERIC, 73.0), default_grid(Kind.NUMERIC, 0.9), default_grid(Kind.DATE, 86400.0 * 365 * 60)
    ('2', '0.02', 'year')
    """
    if kind is Kind.DATE:
        years = span / 86400 / 365
        return "year" if years > STEPS_ACROSS else "month" if years * 12 > STEPS_ACROSS else "day"
    if span <= 0:
        return "1"
    finest = Decimal(repr(span)) / STEPS_ACROSS
    power = Decimal(10) ** finest.adjusted()
    step = max(factor * power for factor in (1, 2, 5) if factor * power <= finest)
    return f"{step.normalize():f}"


def snap(column: Column, low: str, high: str, grid: str) -> tuple[str, str]:
    """Return the ends of a range, the lower one moved down and the upper one moved up to the grid."""
    if column.kind is Kind.DATE:
        if grid not in DATE_GRIDS:
            raise UsageError(f"grid {grid!r} of the dates in column {column.name!r}: use {', '.join(DATE_GRIDS)}.")
        form = column.date_format
        first, last = _period(datetime.strptime(low, form), grid)[0], _period(datetime.strptime(high, form), grid)[1]
        if form == Column.date_format:  # strftime does not pad years before 1000
            return first.date().isoformat(), last.date().isoformat()
        return first.strftime(form), last.strftime(form)
    if grid in DATE_GRIDS:
        raise UsageError(f"grid {grid!r} of the numbers in column {column.name!r}: use a positive number.")
    marks, step = Marks(column.decimal, column.thousands), Decimal(grid)
    ends = []
    for text, rounding in ((low, ROUND_FLOOR), (high, ROUND_CEILING)):
        steps = (Decimal(marks.plain(text) or "0") / step).to_integral_value(rounding)
        ends.append(f"{(steps * step).normalize():f}".replace(".", column.decimal))
    return ends[0], ends[1]


def _period(moment: datetime, grid: str) -> tuple[datetime, datetime]:
    """Return the first and the last moment of the calendar period that contains a moment."""
    if grid == "day":
        return moment.replace(hour=0, minute=0, second=0), moment.replace(hour=23, minute=59, second=59)
    if grid == "month":
        last = calendar.monthrange(moment.year, moment.month)[1]
        return datetime(moment.year, moment.month, 1), datetime(moment.year, moment.month, last, 23, 59, 59)
    first = moment.year - moment.year % 10 if grid == "decade" else moment.year
    end = datetime(min(first + (10 if grid == "decade" else 1), 9999), 1, 1) - timedelta(seconds=1)
    return datetime(max(first, 1), 1, 1), end if end > moment else datetime(9999, 12, 31)
