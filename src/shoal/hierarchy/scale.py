"""Conversion of numbers and dates between text and exact positions on a scale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from shoal.errors import UsageError
from shoal.schema import check_date_format
from shoal.tables.values import ISO_DATE, LARGEST, NUMBER, PLAIN, Marks, parse_moment, print_moment

__all__ = ["Dates", "Months", "Numbers", "Scale"]

MOST_PLACES = 1100  # more decimals than the smallest float64 has
MICROSECOND = timedelta(microseconds=1)
DAY = 86_400_000_000  # microseconds
MIDNIGHT = datetime(1900, 1, 2)  # the end of the day of times without a date


class Scale(Protocol):
    """How the values of a column map to positions."""

    @property
    def allowed(self) -> str:
        """What a value must be; completes "is not ..." in a message."""

    def place(self, text: str) -> Fraction | None:
        """Return the position of a value; None if the text is not a value of this scale."""

    def bound(self, value: object) -> Fraction:
        """Return the position of a bound that the user gave; raise a UsageError if it is not one."""

    def text(self, place: Fraction) -> str | None:
        """Return a position as text; None outside the calendar."""


@dataclass(frozen=True)
class Numbers:
    """Numbers, each at its own value."""

    marks: Marks = PLAIN
    allowed = "a number"

    def place(self, text: str) -> Fraction | None:
        """Return the number that a text spells; None if it does not spell one."""
        plain = text if self.marks == PLAIN else self.marks.plain(text)
        if plain is None or not NUMBER.fullmatch(plain):
            return None
        number = Decimal(plain)
        if abs(number) > LARGEST or -int(number.as_tuple().exponent) > MOST_PLACES:
            return None
        return Fraction(number)

    def bound(self, value: object) -> Fraction:
        """Return the position of a bound: a number, or its text with a decimal point."""
        place = None if isinstance(value, bool) else Numbers().place(str(value).strip())
        if place is None:
            raise UsageError(f"interval hierarchy: {value!r} is not a number.")
        return place

    def text(self, place: Fraction) -> str:
        """Return a number in full, without an exponent or trailing zeros."""
        digits = _decimals(place)
        scaled = abs(place.numerator) * (10**digits // place.denominator)
        integer, decimals = divmod(scaled, 10**digits)
        sign = "-" if place < 0 else ""
        if self.marks.thousands or self.marks.unit:
            return self.marks.text(Decimal(f"{sign}{integer}.{decimals:0{digits}}"), grouped=True)
        return f"{sign}{integer}" + (f"{self.marks.decimal}{decimals:0{digits}}" if digits else "")


def _decimals(place: Fraction) -> int:
    """Return the number of decimals of a fraction whose denominator has no prime factors but 2 and 5."""
    denominator, twos, fives = place.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    return max(twos, fives)


@dataclass(frozen=True)
class Dates:
    """Dates and times as microseconds since the beginning of year 1, which was a Monday."""

    date_format: str = "%Y-%m-%d"

    def __post_init__(self) -> None:
        check_date_format(self.date_format)

    @property
    def allowed(self) -> str:
        """What a value must be; completes "is not ..." in a message."""
        return f"a date in the format {self.date_format}"

    def moment(self, text: str) -> datetime | None:
        """Return the date and time that a text gives; None if it does not give one."""
        try:
            if self.date_format == "%Y-%m-%d":
                return datetime.fromisoformat(text) if ISO_DATE.fullmatch(text) else None
            return parse_moment(text, self.date_format)
        except ValueError:
            return None

    def place(self, text: str) -> Fraction | None:
        """Return the date and time that a text gives, in microseconds; None if it does not give one."""
        moment = self.moment(text)
        return None if moment is None else Fraction((moment - datetime.min) // MICROSECOND)

    def bound(self, value: object) -> Fraction:
        """Return the position of a bound: a date or datetime, or its text in the column's format or in ISO format."""
        if isinstance(value, str):
            place = self.place(value)
            place = Dates().place(value) if place is None else place
        elif isinstance(value, datetime):
            place = Fraction((value.replace(tzinfo=None) - datetime.min) // MICROSECOND)
        elif isinstance(value, date):
            place = Fraction((value - date.min) // MICROSECOND)
        else:
            place = None
        if place is None:
            raise UsageError(f"interval hierarchy: {value!r} is not a date. Write it like 2024-01-31.")
        return place

    def text(self, place: Fraction) -> str | None:
        """Return a date in the column's format, or in ISO format if the column's format cannot express it."""
        if place < 0 or place > Fraction((datetime.max - datetime.min) // MICROSECOND):
            return None
        moment = datetime.min + int(place) * MICROSECOND
        if self.date_format != "%Y-%m-%d":
            text = print_moment(moment, self.date_format)
            if self.moment(text) == moment:
                return text
            if moment == MIDNIGHT and not re.search("%[YymdbBjcx]", self.date_format):
                return "24:00"
        return moment.date().isoformat() if int(place) % DAY == 0 else moment.isoformat(sep=" ")


@dataclass(frozen=True)
class Months:
    """Dates as months since year 0, so that decades begin in years that end in 0."""

    days: Dates

    @property
    def allowed(self) -> str:
        """What a value must be; completes "is not ..." in a message."""
        return self.days.allowed

    def place(self, text: str) -> Fraction | None:
        """Return the month of a date; None if the text is not a date."""
        moment = self.days.moment(text)
        return None if moment is None else Fraction(moment.year * 12 + moment.month - 1)

    def bound(self, value: object) -> Fraction:
        """Return the month that begins on this date."""
        moment = datetime.min + int(self.days.bound(value)) * MICROSECOND
        if moment != datetime(moment.year, moment.month, 1):
            raise UsageError(f"interval hierarchy: {value!r} is not the first day of a month.")
        return Fraction(moment.year * 12 + moment.month - 1)

    def text(self, place: Fraction) -> str | None:
        """Return the first day of a month."""
        year, month = divmod(int(place), 12)
        if not 1 <= year <= 9999:
            return None
        return self.days.text(Fraction((datetime(year, month + 1, 1) - datetime.min) // MICROSECOND))


UNITS: dict[str, tuple[bool, int]] = {  # whether it counts months; its length in months or microseconds
    "minute": (False, DAY // 1440),
    "hour": (False, DAY // 24),
    "day": (False, DAY),
    "week": (False, 7 * DAY),
    "month": (True, 1),
    "quarter": (True, 3),
    "year": (True, 12),
}


def scale_of(unit: str | None, date_format: str, marks: Marks, by_width: bool) -> tuple[Scale, int]:
    """Return the scale of a unit, and the length of the unit on that scale.

    Args:
        unit: A unit of the calendar, "date" for bounds that are dates, or None for numbers.
        date_format: How dates are written in the column.
        marks: The decimal and thousands marks of numbers in the column.
        by_width: Whether intervals are given by their width.

    Raises:
        UsageError: The unit is not known or does not fit.
    """
    if unit is None:
        return Numbers(marks), 1
    if by_width and unit in UNITS:
        in_months, length = UNITS[unit]
        days = Dates(date_format)
        return (Months(days) if in_months else days), length
    if not by_width and unit in (*UNITS, "date"):
        return Dates(date_format), 1
    raise UsageError(f"unit {unit!r} is not known. Use {', '.join(_names(by_width))}, or leave it out for numbers.")


def _names(by_width: bool) -> Sequence[str]:
    return tuple(UNITS) if by_width else ("date",)
