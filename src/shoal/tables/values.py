"""Interpret the cells of a quasi-identifier: their kind, and the numbers or dates that their texts represent."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial
from typing import Any

from shoal.schema import Kind

__all__ = [
    "PLAIN",
    "Marks",
    "exact_fraction",
    "guess_kind",
    "normalise",
    "parse_dates",
    "parse_moment",
    "parse_numbers",
]

# A number has at most 400 digits on either side of its point and at most 4 in its exponent: more than any float64
# needs, and few enough for exact arithmetic. The bounds also keep every match linear in the length of the text.
MOST_DIGITS = 400
NUMBER = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,4})?")
RATIO = re.compile(r"([+-]?[0-9]{1,400})/([0-9]{1,400})")
EXPONENTS = range(-400, 308)  # of the first digit; the range of float64 and a little below it
LONGEST_DATE = 200  # characters
PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}|-?(?=[0-9.]{1,16}$)[0-9]+\.[0-9]+")  # at most 15 digits: exact as float64
PADDED = re.compile(r"[+-]?0[0-9]")
DATE_WORD = re.compile(r"\d+|[^\W\d_]+")
ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
LARGEST = Decimal("8.9e307")  # the difference of any two numbers is still a float64
SHORT = 256  # texts up to this length cannot make Python's normalisation slow
NEARLY_ALL = 0.9  # from this share of numbers (or dates) on, the other values look like typing errors


def normalise(text: str) -> str:
    """Return the normal form of a quasi-identifier's cell: composed Unicode without outer blanks."""
    text = text.strip()
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text if len(text) <= SHORT else _in_canonical_order(text))


def _in_canonical_order(text: str) -> str:
    """Decompose a text and sort each run of combining marks, which Python's normalisation does in quadratic time."""
    marks: list[str] = []
    ordered: list[str] = []
    for sign in "".join(unicodedata.normalize("NFD", sign) for sign in text):
        if unicodedata.combining(sign):
            marks.append(sign)
            continue
        ordered += sorted(marks, key=unicodedata.combining)
        ordered.append(sign)
        marks.clear()
    return "".join([*ordered, *sorted(marks, key=unicodedata.combining)])


@dataclass(frozen=True)
class Marks:
    """The marks in the numbers of a column: German 1.234,5 has the decimal mark ',' and the thousands mark '.'.

    Attributes:
        decimal: The decimal mark.
        thousands: The thousands mark; empty if there is none. A blank also matches non-breaking blanks.
    """

    decimal: str = "."
    thousands: str = ""

    def plain(self, text: str) -> str | None:
        """Return a number with a decimal point and no other mark; None if the text is not a number."""
        if len(text) > 4 * MOST_DIGITS:
            return None
        if self.thousands:
            blank = self.thousands.isspace()
            mark = "[ \u00a0\u202f]" if blank else re.escape(self.thousands)
            integer_part, decimal_mark, fraction = text.partition(self.decimal)
            if re.search(mark, fraction) or (
                re.search(mark, integer_part)
                and not re.fullmatch(rf"[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}})+", integer_part)
            ):
                return None
            text = re.sub(mark, "", integer_part) + decimal_mark + fraction
        if self.decimal != ".":
            if "." in text:
                return None
            text = text.replace(self.decimal, ".")
        return text if NUMBER.fullmatch(text) else None


PLAIN = Marks()


def guess_kind(texts: Sequence[str], marks: Marks = PLAIN) -> tuple[Kind, int | None]:
    """Guess the kind of a column from its distinct values.

    Args:
        texts: The distinct values, without missing ones.
        marks: The decimal and thousands marks of numbers.

    Returns:
        The kind; and the index of the first value that does not fit it, or None if all values fit.
    """
    for kind, fits in ((Kind.NUMERIC, partial(_is_number, marks)), (Kind.DATE, _is_iso_date)):
        misfits = [i for i, text in enumerate(texts) if not fits(text)]
        if texts and not misfits:
            return kind, None
        if len(texts) - len(misfits) >= NEARLY_ALL * len(texts) > 0:
            return kind, misfits[0]
    return Kind.CATEGORICAL, None


def parse_numbers(texts: Sequence[str], marks: Marks = PLAIN) -> tuple[list[Any], list[int]]:
    """Parse texts as numbers that are exact and sortable.

    Args:
        texts: The texts.
        marks: The decimal and thousands marks.

    Returns:
        The numbers, as floats if these are exact (at most 15 digits) and as decimals otherwise; and the indices of the
        texts that are not numbers or exceed the range of float64. If there are any, ignore the numbers.
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
    """Parse texts as dates.

    Args:
        texts: The texts.
        date_format: A format of `datetime.strptime`.

    Returns:
        The dates as seconds since the year 1; and the indices of the texts that do not have the format.
    """
    seconds: list[Any] = []
    misfits = []
    for i, text in enumerate(texts):
        try:
            if len(text) > LONGEST_DATE:
                raise ValueError
            if date_format == "%Y-%m-%d":
                if not ISO_DATE.fullmatch(text):
                    raise ValueError
                moment = datetime.combine(date.fromisoformat(text), datetime.min.time())
            else:
                moment = parse_moment(text, date_format)
        except ValueError:
            misfits.append(i)
            continue
        seconds.append((moment - datetime.min).total_seconds())
    return seconds, misfits


def parse_moment(text: str, date_format: str) -> datetime:
    """Return the date and time that a text gives in a format other than the default one.

    Args:
        text: The text.
        date_format: A format of `datetime.strptime`.

    Raises:
        ValueError: The text does not have the format, or it denotes another date than it says: strptime takes day 366
            of 2023 for the first day of 2024, 1052024 for 10 May in %d%m%Y, and believes any day of the week.
    """
    moment = datetime.strptime(text, date_format)
    stated, printed = (_date_words(form, date_format) for form in (text, moment.strftime(date_format)))
    if stated != printed or moment.tzinfo is not None:
        raise ValueError("the text is not the date that it was read as")
    return moment


def _date_words(text: str, date_format: str) -> list[str]:
    """Return the words and numbers of a date without case and padding."""
    words = [str(int(word)) if word.isdecimal() else word for word in DATE_WORD.findall(text.casefold())]
    # A fraction of a second may be written in fewer digits.
    return [word.rstrip("0") for word in words] if "%f" in date_format else words


def date_text(days: float, date_format: str) -> str:
    """Return the date that is this many days after 1970-01-01; the number of days if there is no such date.

    >>> date_text(18262.4, "%Y-%m-%d")
    '2020-01-01'
    """
    try:
        return (datetime(1970, 1, 1) + timedelta(days=days)).strftime(date_format)
    except OverflowError:
        return f"{days:g}"


def shortest(texts: Iterable[str]) -> str:
    """Choose one of several texts for the same value: the shortest, and among these the first in order."""
    return min(texts, key=lambda text: (len(text), text))


def exact_fraction(value: object) -> Fraction | None:
    """Return a number exactly as its decimal text denotes it: 0.2 is one fifth.

    Args:
        value: A number, or a text such as "0.2", "1e-3" or "1/11".

    Returns:
        The fraction; None if the value is not a number, has more than 400 digits, or is out of the range of float64.
    """
    if isinstance(value, Fraction | int) and not isinstance(value, bool):
        return Fraction(value) if max(value.numerator.bit_length(), value.denominator.bit_length()) < 1024 else None
    text = str(value).strip()
    if ratio := RATIO.fullmatch(text):
        return exact_fraction(Fraction(int(ratio[1]), int(ratio[2]))) if int(ratio[2]) else None
    number = _decimal(text) if NUMBER.fullmatch(text) else None
    return None if number is None else Fraction(number)


def _decimal(text: str) -> Decimal | None:
    """Return a number; None if its magnitude is out of the range of float64."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    exponent = number.adjusted() if number else int(number.as_tuple().exponent)
    return number if exponent in EXPONENTS else None


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
