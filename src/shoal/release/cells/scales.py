"""How precise the centres of a column are, and how the column writes them.

A centre is no finer than the values of its column: it has as many decimals as the value with most of them, at most 15
significant digits, and the resolution of its dates: years, months, days, hours, minutes, seconds or microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.errors import InternalError
from shoal.schema import Column, Kind, shorter_formats
from shoal.tables.values import Marks, parse_dates, print_moment, unpadded_parts

__all__ = ["CenterScale", "scale_of"]

MOST_FIGURES = 15
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
MICROSECOND = timedelta(microseconds=1)
DAY = 86_400 * 10**6  # microseconds
RESOLUTIONS = (DAY, 3600 * 10**6, 60 * 10**6, 10**6, 1)
DAY_PARTS = ("%d", "%j", "%x", "%c", "%a", "%A", "%u", "%w")
MONTH_PARTS = ("%m", "%b", "%B", *DAY_PARTS)


class CenterScale(Protocol):
    """The known values of a number or date as integers."""

    @property
    def units(self) -> NDArray[Any]:
        """Each value as an integer."""

    @property
    def step(self) -> int:
        """The precision of a centre: it is a multiple of this many units."""

    @property
    def fine(self) -> NDArray[Any]:
        """Each value as an integer for the standard deviation; months have different lengths."""

    @property
    def width(self) -> Fraction:
        """What one of the fine units is in the unit of the column; of dates, in days."""

    def text(self, unit: int) -> str:
        """Return a value as the column writes it."""


def scale_of(attribute: Attribute) -> CenterScale:
    """Return the scale of a column of numbers or dates."""
    column, texts = attribute.column, attribute.texts[: len(attribute.known_values)]
    if column is None or not attribute.kind.is_measured:
        raise InternalError(f"column {attribute.name!r} has no scale.")
    return _DateScale.of(column, texts) if attribute.kind is Kind.DATE else _NumberScale.of(column, texts)


@dataclass(frozen=True)
class _NumberScale:
    """Numbers as multiples of a power of ten."""

    column: Column
    units: NDArray[Any]
    digits: int
    step: int
    grouped: bool
    decimals: int

    @classmethod
    def of(cls, column: Column, texts: Sequence[str]) -> _NumberScale:
        marks = Marks(*column.marks)
        numbers = [Decimal(marks.plain(text) or "0") for text in texts]
        digits = max((_decimals(number) for number in numbers), default=0)
        largest = max((number.adjusted() for number in numbers if number), default=0)
        n_shown = max(0, min(digits, MOST_FIGURES - 1 - largest))
        units = [int(number.scaleb(digits, EXACT)) for number in numbers]
        is_small = all(abs(unit) < 2**62 for unit in units)
        grouped = bool(column.thousands) and any(column.thousands in text for text in texts)
        has_point = bool(texts) and all(column.decimal in text for text in texts)
        if column.unit:  # $45.50 has two decimals, and so has $50.00
            figures = {-int(number.as_tuple().exponent) for number in numbers}
            decimals = max(0, *figures) if len(figures) == 1 else 0
        else:
            decimals = int(n_shown > 0 or has_point)
        array = np.array(units, dtype=np.int64 if is_small else object)
        return cls(column, array, digits, 10 ** (digits - n_shown), grouped, decimals)

    @property
    def fine(self) -> NDArray[Any]:
        return self.units

    @property
    def width(self) -> Fraction:
        return Fraction(1, 10**self.digits)

    def text(self, unit: int) -> str:
        """Return a number; one without unit and marks as Python writes floats, so that typed files show the same."""
        number = Decimal(unit).scaleb(-self.digits, EXACT)
        is_plain = self.column.marks[0] == "." and not self.column.unit and not self.grouped
        if is_plain and self.decimals and Decimal(short := repr(float(number))) == number:
            return short
        return Marks(*self.column.marks).text(number, grouped=self.grouped, decimals=self.decimals)


@dataclass(frozen=True)
class _DateScale:
    """Dates as years, months, or multiples of a resolution."""

    column: Column
    units: NDArray[Any]
    resolution: int  # microseconds; 0 for months, -1 for years
    fine: NDArray[Any]
    width: Fraction
    unpadded: frozenset[str]
    short: str  # the format of a midnight; empty if it is that of the column

    step = 1

    @classmethod
    def of(cls, column: Column, texts: Sequence[str]) -> _DateScale:
        form = column.date_format
        ticks = [int(seconds * 10**6) for seconds in parse_dates(texts, form)[0]]
        finest = next(each for each in RESOLUTIONS if all(tick % each == 0 for tick in ticks))
        fine = np.array([tick // finest for tick in ticks], dtype=np.int64)
        width, units = Fraction(finest, DAY), fine
        has_days, has_months = (any(part in form for part in parts) for parts in (DAY_PARTS, MONTH_PARTS))
        if finest == DAY and not has_days:
            moments = [_moment(tick) for tick in ticks]
            months = has_months
            units = np.array([12 * m.year + m.month - 1 if months else m.year for m in moments], dtype=np.int64)
            finest = 0 if has_months else -1
        dates_only = [each for each in shorter_formats(form) if "%H" not in each]
        is_short = bool(dates_only) and any(not parse_dates([text], dates_only[0])[1] for text in texts)
        return cls(column, units, finest, fine, width, unpadded_parts(texts, form), dates_only[0] if is_short else "")

    def text(self, unit: int) -> str:
        """Return a date in the format of the column."""
        if self.resolution > 0:
            moment = _moment(unit * self.resolution)
        else:
            moment = datetime(unit, 1, 1) if self.resolution < 0 else datetime(unit // 12, unit % 12 + 1, 1)
        is_midnight = moment.time() == datetime.min.time()
        form = self.short if self.short and is_midnight else self.column.date_format
        return print_moment(moment, form, self.unpadded)


def _moment(ticks: int) -> datetime:
    return datetime.min + ticks * MICROSECOND


def _decimals(number: Decimal) -> int:
    """Return the decimals that a number needs: 1.50 needs one."""
    return max(0, -int(number.normalize(EXACT).as_tuple().exponent))
