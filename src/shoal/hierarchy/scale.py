"""Numbers and days of the calendar as exact places on a line, and back to text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from shoal.errors import UsageError
from shoal.tables.values import ISO_DATE, LARGEST, NUMBER, PLAIN, Marks

__all__ = ["Dates", "Months", "Numbers", "Scale"]

MOST_PLACES = 1100  # decimals of the smallest float64 are fewer
MICROSECOND = timedelta(microseconds=1)
DAY = 86_400_000_000  # microseconds


class Scale(Protocol):
    """How the values of a column lie on a line."""

    @property
    def allowed(self) -> str:
        """What a value has to be."""

    def place(self, text: str) -> Fraction | None:
        """Return where a value lies; None if the text is not one."""

    def bound(self, given: object) -> Fraction:
        """Return where a bound that the user gave lies."""

    def text(self, place: Fraction) -> str | None:
        """Return a place as text; None beyond the end of the calendar."""


@dataclass(frozen=True)
class Numbers:
    """Numbers as they are."""

    marks: Marks = PLAIN
    allowed = "a number"

    def place(self, text: str) -> Fraction | None:
        """Return the number that a text spells."""
        plain = text if self.marks == PLAIN else self.marks.plain(text)
        if plain is None or not NUMBER.fullmatch(plain):
            return None
        number = Decimal(plain)
        if abs(number) > LARGEST or -int(number.as_tuple().exponent) > MOST_PLACES:
            return None
        return Fraction(number)

    def bound(self, given: object) -> Fraction:
        """Return a bound: a number, or its text with a plain point."""
        found = None if isinstance(given, bool) else Numbers().place(str(given).strip())
        if found is None:
            raise UsageError(f"interval hierarchy: {given!r} is not a number.")
        return found

    def text(self, place: Fraction) -> str:
        """Return a number in full, without exponent or idle zeros."""
        digits = _decimals(place)
        whole = abs(place.numerator) * (10**digits // place.denominator)
        before, after = divmod(whole, 10**digits)
        sign = "-" if place < 0 else ""
        return f"{sign}{before}" + (f"{self.marks.decimal}{after:0{digits}}" if digits else "")


def _decimals(place: Fraction) -> int:
    """Return how many decimals a number with a denominator of twos and fives has."""
    denominator, twos, fives = place.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    return max(twos, fives)


@dataclass(frozen=True)
class Dates:
    """Days and times as microseconds since the beginning of year 1, which was a Monday."""

    date_format: str = "%Y-%m-%d"

    @property
    def allowed(self) -> str:
        """What a value has to be."""
        return f"a date in the format {self.date_format}"

    def moment(self, text: str) -> datetime | None:
        """Return the moment that a text names."""
        try:
            if self.date_format == "%Y-%m-%d":
                return datetime.fromisoformat(text) if ISO_DATE.fullmatch(text) else None
            return datetime.strptime(text, self.date_format).replace(tzinfo=None)
        except ValueError:
            return None

    def place(self, text: str) -> Fraction | None:
        """Return the moment that a text names, as microseconds."""
        moment = self.moment(text)
        return None if moment is None else Fraction((moment - datetime.min) // MICROSECOND)

    def bound(self, given: object) -> Fraction:
        """Return a bound: a date or datetime, or its text in the column's format or as ISO."""
        if isinstance(given, str):
            found = self.place(given)
            found = Dates().place(given) if found is None else found
        elif isinstance(given, datetime):
            found = Fraction((given.replace(tzinfo=None) - datetime.min) // MICROSECOND)
        elif isinstance(given, date):
            found = Fraction((given - date.min) // MICROSECOND)
        else:
            found = None
        if found is None:
            raise UsageError(f"interval hierarchy: {given!r} is not a date. Write it as 2024-01-31.")
        return found

    def text(self, place: Fraction) -> str | None:
        """Return a moment in the column's format, or as ISO where that format cannot show it."""
        if place < 0 or place > Fraction((datetime.max - datetime.min) // MICROSECOND):
            return None
        moment = datetime.min + int(place) * MICROSECOND
        if self.date_format != "%Y-%m-%d":
            shown = moment.strftime(self.date_format)
            if self.moment(shown) == moment:
                return shown
        return moment.date().isoformat() if int(place) % DAY == 0 else moment.isoformat(sep=" ")


@dataclass(frozen=True)
class Months:
    """Days as months since year 0, so that tens of years begin in years that end in 0."""

    days: Dates

    @property
    def allowed(self) -> str:
        """What a value has to be."""
        return self.days.allowed

    def place(self, text: str) -> Fraction | None:
        """Return the month that a day lies in."""
        moment = self.days.moment(text)
        return None if moment is None else Fraction(moment.year * 12 + moment.month - 1)

    def bound(self, given: object) -> Fraction:
        """Return the month that begins with this day."""
        moment = datetime.min + int(self.days.bound(given)) * MICROSECOND
        if moment != datetime(moment.year, moment.month, 1):
            raise UsageError(f"interval hierarchy: {given!r} is not the first day of a month.")
        return Fraction(moment.year * 12 + moment.month - 1)

    def text(self, place: Fraction) -> str | None:
        """Return the first day of a month."""
        year, month = divmod(int(place), 12)
        if not 1 <= year <= 9999:
            return None
        return self.days.text(Fraction((datetime(year, month + 1, 1) - datetime.min) // MICROSECOND))


UNITS: dict[str, tuple[bool, int]] = {  # whether it is counted in months, and how many of them (or microseconds)
    "day": (False, DAY),
    "week": (False, 7 * DAY),
    "month": (True, 1),
    "quarter": (True, 3),
    "year": (True, 12),
}


def scale_of(unit: str | None, date_format: str, marks: Marks, by_width: bool) -> tuple[Scale, int]:
    """Return the scale for a unit, and the length of the unit on it; no unit says numbers, "date" cuts at dates."""
    if unit is None:
        return Numbers(marks), 1
    if by_width and unit in UNITS:
        in_months, length = UNITS[unit]
        days = Dates(date_format)
        return (Months(days) if in_months else days), length
    if not by_width and unit in (*UNITS, "date"):
        return Dates(date_format), 1
    raise UsageError(f"unit {unit!r} is not known. Use {', '.join(_names(by_width))}, or none for numbers.")


def _names(by_width: bool) -> Sequence[str]:
    return tuple(UNITS) if by_width else ("date",)
