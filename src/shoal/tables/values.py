"""What the cells of a quasi-identifier mean: their kind, and the values behind their texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

from shoal.schema import Kind

__all__ = ["PLAIN", "Marks", "guess_kind", "normalise", "parse_dates", "parse_numbers"]

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}|-?(?=[0-9.]{1,16}$)[0-9]+\.[0-9]+")  # at most 15 digits: exact as float64
PADDED = re.compile(r"[+-]?0[0-9]")
ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
LARGEST = Decimal("8.9e307")  # so that the difference of any two is a float64 too
NEARLY_ALL = 0.9  # share of the values that must be numbers (or dates) before the others look like slips


def normalise(text: str) -> str:
    """Return the one form of a quasi-identifier's cell: composed Unicode, no outer blanks."""
    text = text.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@dataclass(frozen=True)
class Marks:
    """The marks in the numbers of a column: German 1.234,5 has the decimal mark ',' and the thousands mark '.'.

    A blank as thousands mark stands for any blank, also one that does not break.
    """

    decimal: str = "."
    thousands: str = ""

    def plain(self, text: str) -> str | None:
        """Return a number with a plain point and no other mark; None where the marks do not fit."""
        if self.thousands:
            blank = self.thousands.isspace()
            mark = "[ \u00a0\u202f]" if blank else re.escape(self.thousands)
            whole, decimal, rest = text.partition(self.decimal)
            if re.search(mark, rest) or (
                re.search(mark, whole) and not re.fullmatch(rf"[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}})+", whole)
            ):
                return None
            text = re.sub(mark, "", whole) + decimal + rest
        if self.decimal != ".":
            if "." in text:
                return None
            text = text.replace(self.decimal, ".")
        return text if NUMBER.fullmatch(text) else None


PLAIN = Marks()


def guess_kind(texts: Sequence[str], marks: Marks = PLAIN) -> tuple[Kind, int | None]:
    """Tell the kind of a column from its distinct values, missing ones left out.

    The second value is None, or the index of a value that spoils a column which is otherwise numbers or dates.
    """
    for kind, fits in ((Kind.NUMERIC, partial(_is_number, marks)), (Kind.DATE, _is_iso_date)):
        misfits = [i for i, text in enumerate(texts) if not fits(text)]
        if texts and not misfits:
            return kind, None
        if len(texts) - len(misfits) >= NEARLY_ALL * len(texts) > 0:
            return kind, misfits[0]
    return Kind.CATEGORICAL, None


def parse_numbers(texts: Sequence[str], marks: Marks = PLAIN) -> tuple[list[Any], list[int]]:
    """Return a sortable, exact number for each text, and the indices of the texts that are none.

    Floats where they tell all values apart (up to 15 digits), decimals otherwise; a number beyond float64 is refused.
    """
    if marks != PLAIN:
        texts = [marks.plain(text) or "" for text in texts]
    misfits = [i for i, text in enumerate(texts) if not NUMBER.fullmatch(text)]
    if misfits:
        return [], misfits
    if all(map(PLAIN_NUMBER.fullmatch, texts)):
        return [float(text) + 0.0 for text in texts], []
    numbers = [_decimal(text) for text in texts]
    return numbers, [i for i, number in enumerate(numbers) if number is None or abs(number) > LARGEST]


def parse_dates(texts: Sequence[str], date_format: str) -> tuple[list[Any], list[int]]:
    """Return a sortable number of seconds for each text in this format, and the indices of the texts that are not."""
    seconds: list[Any] = []
    misfits = []
    for i, text in enumerate(texts):
        try:
            if date_format == "%Y-%m-%d":
                if not ISO_DATE.fullmatch(text):
                    raise ValueError
                moment = datetime.combine(date.fromisoformat(text), datetime.min.time())
            else:
                moment = datetime.strptime(text, date_format).replace(tzinfo=None)
        except ValueError:
            misfits.append(i)
            continue
        seconds.append((moment - datetime.min).total_seconds())
    return seconds, misfits


def shortest(texts: Iterable[str]) -> str:
    """Choose one of several texts for the same value: the shortest, then the first in order."""
    return min(texts, key=lambda text: (len(text), text))


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond all limits
        return None


def _is_number(marks: Marks, text: str) -> bool:
    plain = marks.plain(text)
    return plain is not None and PADDED.match(plain) is None


def _is_iso_date(text: str) -> bool:
    if not ISO_DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
