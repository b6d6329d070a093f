"""Twin of shoal.verification.models.limits: whether one released cell keeps to a limit, said as plainly as possible."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.schema import Column, Limits
from shoal.verification.cells import Cells, normalise, set_members
from shoal.verification.verdict import Violation, plural

WORDS = {
    "max_width": "wider than the limit {0}",
    "finest": "finer than the limit {0}",
    "coarsest": "coarser than the limit {0}",
    "uniform": "not one of the bands or labels of {0}",
}


class NaiveLimits:
    """The cells of one quasi-identifier that break its limits.

    Args:
        column: The column.
        missing: The texts that mean a missing value.
        ladder: The labels of each value in its hierarchy; empty if it has none.
        closed: Whether ranges are written as two bounds.
    """

    def __init__(
        self, column: Column, missing: Sequence[str], ladder: Mapping[str, Sequence[str]], *, closed: bool
    ) -> None:
        assert not ladder, "the twin knows no hierarchies"
        self._column, self._closed = column, closed
        self._cells = Cells.of(column, missing)
        self._rows: dict[str, list[int]] = {limit: [] for limit in Limits._fields if getattr(column.limits, limit)}

    def add(self, text: str, number: int) -> None:
        """Look at the cell of a row."""
        for limit, rows in self._rows.items():
            if not self._keeps(limit, getattr(self._column.limits, limit), text):
                rows.append(number)

    def violations(self) -> list[Violation]:
        found = []
        for limit, rows in self._rows.items():
            if rows:
                verb = "is" if len(rows) == 1 else "are"
                words = WORDS[limit].format(getattr(self._column.limits, limit))
                text = f"{plural(len(rows), 'cell')} {verb} {words}"
                found.append(Violation(f"column {self._column.name!r}", text, rows[0]))
        return found

    def _keeps(self, limit: str, given: str, text: str) -> bool:
        if self._cells.is_missing(text):
            return True
        if normalise(text) == "*":
            return limit == "finest"
        ends = self._ends(text)
        if limit == "max_width":
            if ends is None:
                members = set_members(text.strip())
                places = [self._cells.place(member) for member in members]
                if self._column.kind not in ("numeric", "date"):
                    return max(1, len(set(members))) <= max(1, Fraction(re.sub("[dwmy]", "", given)))
                if not places or "text" in {scale for scale, _ in places}:
                    return not re.fullmatch(r"\[.*, .*[\])]", normalise(text), re.DOTALL)
                values = sorted(value for _, value in places)
                ends = values[0], values[-1], False
            return _width(*ends[:2], given)
        if ends is None:
            return False
        low, high, is_open = ends
        if isinstance(low, Decimal):
            return _in_bands(limit, Fraction(given), Fraction(low), Fraction(high), is_open or self._closed)
        return _in_periods(limit, given, _day(low), _day(high))

    def _ends(self, text: str) -> tuple[Any, Any, bool] | None:
        spans = list(self._cells.read(text).spans.values())
        return (spans[0].low, spans[0].high, spans[0].half_open) if spans else None


def _width(low: Any, high: Any, given: str) -> bool:
    amount, unit = Fraction(given.rstrip("dwmy")), given[-1] if given[-1] in "dwmy" else ""
    if isinstance(low, Decimal):
        return not unit and Fraction(high) - Fraction(low) <= amount
    first, last = _day(low), _day(high)
    if unit in ("m", "y") and unit:
        months = first.year * 12 + first.month - 1 + int(amount) * (12 if unit == "y" else 1)
        year, month = months // 12, months % 12 + 1
        if year > 9999:
            return True
        return last <= date(year, month, min(first.day, calendar.monthrange(year, month)[1]))
    return (last - first).days <= amount * (7 if unit == "w" else 1)


def _in_bands(limit: str, band: Fraction, low: Fraction, high: Fraction, is_open: bool) -> bool:
    """Return whether a range of numbers lies in one band, begins and ends with bands, or is a band."""
    number = low // band
    if limit == "coarsest":
        return high <= (number + 1) * band if is_open else high < (number + 1) * band
    is_whole = is_open and low % band == 0 and high % band == 0 and low < high
    return is_whole and (limit == "finest" or high == low + band)


def _in_periods(limit: str, given: str, low: date, high: date) -> bool:
    keys = [_period(day, given) for day in (low, high)]
    if limit == "coarsest":
        return keys[0] == keys[1]
    begins = low == date.min or _period(low - timedelta(days=1), given) != keys[0]
    ends = high == date.max or _period(high + timedelta(days=1), given) != keys[1]
    return begins and ends and (limit == "finest" or keys[0] == keys[1])


def _period(day: date, given: str) -> Any:
    keys = {
        "day": day,
        "week": (day - date(1, 1, 1)).days // 7,
        "month": (day.year, day.month),
        "quarter": (day.year, (day.month - 1) // 3),
        "year": day.year,
        "decade": day.year // 10,
        "century": day.year // 100,
    }
    return keys[given]


def _day(value: Any) -> date:
    assert type(value) is date or value == datetime.combine(value.date(), datetime.min.time()), (
        "the twin knows no times"
    )
    return value.date() if isinstance(value, datetime) else value


def naive_recoding(column: Column, texts: Sequence[str], missing: Sequence[str]) -> list[str]:
    """Return the cells of an original with their outliers recoded as the column states."""
    cells, recoded = Cells.of(column, missing), list(texts)
    for coding in column.codings:
        for row, text in enumerate(texts):
            if cells.is_missing(text):
                continue
            if coding.form == "rare":
                alike = sum(normalise(other) == normalise(text) for other in texts)
                if alike < int(coding.given):
                    recoded[row] = coding.text
                continue
            (scale, value), (other, bound) = cells.place(normalise(text)), cells.place(normalise(coding.text))
            if scale == other != "text" and (value >= bound if coding.form == "top" else value <= bound):
                recoded[row] = coding.text
    return recoded
