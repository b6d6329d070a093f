"""The verifier's own reading of centres: what the mean, the median or the most frequent value of a group is.

Values are compared, not texts. A number is a multiple of the last decimal that the original has, with at most 15
significant digits; a date has the resolution of the original, from years to microseconds.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from shoal.schema import Column
from shoal.verification.cells import MOST_DIGITS, SUPPRESSED, Cells, normalise

__all__ = ["Bag", "CenterCells", "can_be_deviation", "can_be_share", "is_deviation", "is_share"]

MEAN = "mean"
MOST_FIGURES = 15
DAY = datetime.timedelta(days=1)
RESOLUTIONS = (
    DAY,
    datetime.timedelta(hours=1),
    datetime.timedelta(minutes=1),
    datetime.timedelta(seconds=1),
    datetime.timedelta(microseconds=1),
)
DAY_PARTS = ("%d", "%j", "%x", "%c", "%a", "%A", "%u", "%w")
MONTH_PARTS = ("%m", "%b", "%B", *DAY_PARTS)
ABSENT = "missing"

Bag = Mapping[int, int]  # by distinct cell of the original, the rows of a group


class CenterCells:
    """The centres of one quasi-identifier.

    Args:
        column: The column, with its kind and format.
        missing: The texts that mean a missing value.
        texts: The distinct cells of the original.
        counts: The rows of each of them.
        choice: "mean" or "median".
    """

    def __init__(
        self, column: Column, missing: Iterable[str], texts: Sequence[str], counts: Sequence[int], choice: str
    ) -> None:
        self._column, self._choice = column, choice
        self._cells = Cells.of(column, missing)
        self.is_measured = column.kind in ("numeric", "date")
        self.needs_values = self.is_measured or column.kind == "ordered"
        found = {normalise(text) for text in texts if self._cells.is_missing(text)}
        self._marker = found.pop() if len(found) == 1 else ""
        self._places = [self._place(text) for text in texts]
        self._unit: Any = None  # of dates
        self._scale = self.step = 1  # units of a number, and of the distance of two centres
        if self.is_measured:
            known = [value for value in self._places if value is not None]
            self._set_unit(known)
            self.values: list[Any] = [None if value is None else self._position(value) for value in self._places]
        else:
            self.values = self._places
        self.in_table: Counter[Any] = Counter()
        for value, rows in zip(self.values, counts, strict=True):
            self.in_table[value] += rows

    # ---- values

    def _place(self, text: str) -> Any:
        """Return the value of a cell; None for a missing one of a column that is computed."""
        if self._cells.is_missing(text):
            return None if self.needs_values else (ABSENT, self._marker)
        scale, value = self._cells.place(normalise(text))
        if self.needs_values:
            return None if scale == "text" else value
        return scale, value

    def _set_unit(self, known: Sequence[Any]) -> None:
        """Find how precise the centres of numbers and dates are."""
        if self._column.kind == "numeric":
            digits = max((-_figures(number)[1] for number in known), default=0)
            largest = max((number.adjusted() for number in known if number), default=0)
            self._scale = 10 ** max(0, digits)
            self.step = self._scale // 10 ** max(0, min(digits, MOST_FIGURES - 1 - largest))
            return
        since = [_moment(value) - datetime.datetime.min for value in known]
        self._unit = next(unit for unit in RESOLUTIONS if not any(each % unit for each in since))
        form = self._column.date_format
        if self._unit == DAY and not any(part in form for part in DAY_PARTS):
            self._unit = "month" if any(part in form for part in MONTH_PARTS) else "year"

    def _position(self, value: Any) -> int | Fraction:
        """Return where a number or date lies, in units; a value of the original lies at an integer."""
        if self._unit is None:
            position = Fraction(value) * self._scale
        elif isinstance(self._unit, str):
            return int(value.year) if self._unit == "year" else 12 * int(value.year) + int(value.month) - 1
        else:
            position = Fraction(_ticks(value), self._unit // RESOLUTIONS[-1])
        return int(position) if position.denominator == 1 else position

    # ---- centres

    def read(self, cell: str) -> Any:
        """Return the value that a released cell shows: None for an empty one, "?" for one that no centre has."""
        if self.needs_values and self._cells.is_missing(cell):
            return None if normalise(cell) == "" else "?"
        value = self._place(cell)
        if value is None or normalise(cell) == SUPPRESSED:
            return "?"
        if not self.is_measured:
            return value
        if isinstance(value, Decimal) and value and abs(value.adjusted()) > MOST_DIGITS:
            return "?"
        return self._position(value)

    def expected(self, bag: Bag, n_known: int, k: int) -> Any:
        """Return the centre of a group.

        Args:
            bag: The rows of each distinct cell of the original in the group.
            n_known: How many rows or people have a value.
            k: How many must have one.
        """
        counts: Counter[Any] = Counter()
        for cell, rows in bag.items():
            counts[self.values[cell]] += rows
        if not self.needs_values:
            return min(counts, key=lambda value: (-counts[value], self.in_table[value], self._order(value)))
        has_missing = counts.pop(None, 0)
        if not counts or (has_missing and n_known < k):
            return None
        if self.is_mean:
            return self.rounded(Fraction(sum(value * rows for value, rows in counts.items()), counts.total()))
        in_order = sorted(counts)
        low, high = (_ranked(in_order, counts, rank) for rank in ((counts.total() - 1) // 2, counts.total() // 2))
        return low if not self.is_measured else self.rounded(Fraction(low + high, 2))

    @property
    def is_mean(self) -> bool:
        """Whether centres are means, of numbers or dates."""
        return self.is_measured and self._choice == MEAN

    def is_near(self, shown: Any, bag: Bag) -> bool:
        """Return whether several groups with the same centre can have these values."""
        counts: Counter[Any] = Counter()
        for cell, rows in bag.items():
            counts[self.values[cell]] += rows
        if not self.needs_values:
            return counts[shown] == max(counts.values())
        has_missing = counts.pop(None, 0)
        if shown is None or not counts:
            return shown is None and bool(has_missing)
        n, half = counts.total(), Fraction(self.step, 2) if self.is_measured else 0
        if self.is_mean:
            return bool(abs(Fraction(sum(value * rows for value, rows in counts.items()), n) - shown) <= half)
        low = sum(rows for value, rows in counts.items() if value <= shown + half)
        high = sum(rows for value, rows in counts.items() if value >= shown - half)
        return 2 * low >= n and 2 * high >= n

    def rounded(self, value: Fraction) -> int:
        """Return the nearest value that a centre can have; of two, the even multiple of the step."""
        return round(value / self.step) * self.step

    def _order(self, value: tuple[str, Any]) -> tuple[bool, Any]:
        """Return what sorts equally frequent values: texts by their letters; no before yes, and missing after both."""
        scale, place = value
        return scale == ABSENT and self._column.kind == "boolean", place

    # ---- spread

    def figure(self, bag: Bag, center: Any) -> Fraction | None:
        """Return the variance or the share of a group; None if its centre is missing."""
        if center is None:
            return None
        return self.variance(bag) if self.is_measured else self.share(bag, center)

    def variance(self, bag: Bag) -> Fraction:
        """Return the variance of the known values of a group in the unit of the column, of dates in days."""
        values = [(self._length(cell), rows) for cell, rows in bag.items() if self.values[cell] is not None]
        n = sum(rows for _, rows in values)
        total = sum(value * rows for value, rows in values)
        squares = sum(value**2 * rows for value, rows in values)
        unit = self._scale if self._unit is None else DAY // RESOLUTIONS[-1]
        return Fraction(n * squares - total**2, (n * unit) ** 2)

    def greatest_variance(self) -> Fraction:
        """Return the greatest variance that values of the original can have: half of them least, half greatest."""
        known = sorted((value, cell) for cell, value in enumerate(self.values) if value is not None)
        return self.variance({known[0][1]: 1, known[-1][1]: 1}) if len(known) > 1 else Fraction(0)

    def _length(self, cell: int) -> int:
        return int(self.values[cell]) if self._unit is None else _ticks(self._places[cell])

    def share(self, bag: Bag, shown: Any) -> Fraction:
        """Return the share of the rows of a group that have the value it shows, among those with a value."""
        known = {cell: rows for cell, rows in bag.items() if self.values[cell] is not None}
        return Fraction(sum(rows for cell, rows in known.items() if self.values[cell] == shown), sum(known.values()))


def is_deviation(text: str, variance: Fraction) -> bool:
    """Return whether a text is the root of a variance with two significant digits."""
    number = _number(text)
    if number is None or number < 0:
        return False
    if not variance or not number:
        return not variance and not number
    digits, _ = _figures(number)
    if len(digits) > 2:
        return False
    half = Fraction(10) ** (number.adjusted() - 1) / 2
    below = half / 10 if digits == (1,) else half  # numbers below a power of ten lie closer together
    value = Fraction(number)
    return (value - below) ** 2 <= variance < (value + half) ** 2


def is_share(text: str, share: Fraction) -> bool:
    """Return whether a text is a share with two decimals; one below 1 never reads 1."""
    number = _number(text)
    if number is None or not 0 <= number <= 1:
        return False
    shown = Fraction(number)
    if shown.denominator > 100 or 100 % shown.denominator:
        return False
    hundredth = Fraction(1, 100)
    if share < 1 and shown >= 1 - hundredth:
        return shown == 1 - hundredth and share >= shown - hundredth / 2
    return shown - hundredth / 2 <= share < shown + hundredth / 2 and (share < 1 or shown == 1)


def can_be_deviation(text: str, greatest: Fraction | None = None) -> bool:
    """Return whether a text has the form of a standard deviation, and is not above that of a greatest variance."""
    number = _number(text)
    if number is None or number < 0 or len(_figures(number)[0]) > 2:
        return False
    return greatest is None or Fraction(number) ** 2 <= greatest * Fraction(105, 100) ** 2  # it has two digits


def can_be_share(text: str) -> bool:
    """Return whether a text has the form of a share of at least one row."""
    number = _number(text)
    return number is not None and 0 <= number <= 1 and _figures(number)[1] >= -2


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text) if len(text) < MOST_DIGITS and text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and abs(number.adjusted()) <= MOST_DIGITS else None


def _ranked(in_order: Sequence[Any], counts: Mapping[Any, int], rank: int) -> Any:
    """Return the value of the row with a rank, from 0."""
    for value in in_order:
        rank -= counts[value]
        if rank < 0:
            return value
    raise IndexError


def _moment(value: datetime.date) -> datetime.datetime:
    return value if isinstance(value, datetime.datetime) else datetime.datetime(value.year, value.month, value.day)


def _ticks(value: datetime.date) -> int:
    """Return the microseconds since the year 1."""
    return (_moment(value) - datetime.datetime.min) // RESOLUTIONS[-1]


def _figures(number: Decimal) -> tuple[tuple[int, ...], int]:
    """Return the digits of a number up to the last that is not 0, and the power of ten of that one."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    while digits and digits[-1] == 0:
        digits, exponent = digits[:-1], exponent + 1
    return digits, exponent if digits else 0
