"""Safe ends of ranges, value by value: twin of shoal.encoding.ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from datetime import date, timedelta
from fractions import Fraction

DAY = timedelta(days=1)
PERIODS: tuple[Callable[[date], tuple[date, date]], ...]  # the first and the last day, from fine to coarse


def _months(count: int) -> Callable[[date], tuple[date, date]]:
    def period(day: date) -> tuple[date, date]:
        first = (day.year * 12 + day.month - 1) // count * count
        start, after = (date(month // 12, month % 12 + 1, 1) for month in (first, first + count))
        return start, after - DAY

    return period


def _week(day: date) -> tuple[date, date]:
    monday = day - DAY * day.weekday()
    return monday, monday + 6 * DAY


PERIODS = (_week, *(_months(count) for count in (1, 3, 12, 120, 1200)))

Rows = Sequence[tuple[Fraction, Hashable]]  # the value of each row, and whom it counts for
DateRows = Sequence[tuple[date, Hashable]]


def count_holders(rows: Sequence[tuple[object, Hashable]], inside: Callable[..., bool]) -> int:
    """Count the people who have a row with such a value."""
    return len({person for value, person in rows if inside(value)})


def safe_number(rows: Rows, value: Fraction, k: int, decimals: int, *, upper: bool) -> Fraction:
    """Move a number that fewer than k hold to the next multiple of 1, 2, 5, 10, ... that at least k move to."""
    if count_holders(rows, lambda other: other == value) >= k:
        return value
    sign = 1 if upper else -1
    span = max(value for value, _ in rows) - min(value for value, _ in rows)
    power = -decimals
    while True:
        for factor in (1, 2, 5):
            step = factor * Fraction(10) ** power
            end = (math.floor(sign * value / step) + 1) * step  # on an axis that points outwards
            n_holders = count_holders(rows, lambda other, end=end, step=step: end - step <= sign * other < end)
            if n_holders >= k or step >= span:
                return sign * end
        power += 1


def safe_date(rows: DateRows, value: date, k: int, *, upper: bool) -> date:
    """Move a date that fewer than k hold to the next end of a period that at least k move to."""
    if count_holders(rows, lambda other: other == value) >= k:
        return value
    ends = []
    for period in PERIODS:

        def end_of(day: date, period: Callable[[date], tuple[date, date]] = period) -> date:
            return period(day + DAY)[1] if upper else period(day - DAY)[0]

        ends.append(end_of(value))
        if count_holders(rows, lambda other, end_of=end_of: end_of(other) == end_of(value)) >= k:
            break
    return ends[-1]
