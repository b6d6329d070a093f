"""Interpret the cells of a quasi-identifier: their kind, and the numbers or dates that their texts represent."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, partial
from typing import Any

from shoal.schema import DURATION, Kind, shorter_formats, split_unit

__all__ = [
    "PLAIN",
    "Marks",
    "exact_fraction",
    "guess_kind",
    "member_text",
    "normalise",
    "parse_dates",
    "parse_moment",
    "parse_numbers",
    "print_moment",
    "unpadded_parts",
    "without_unit",
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
DIGITS = dict.fromkeys("mdHIMS", "([0-9]{1,2})") | {"Y": "([0-9]{4})", "f": "([0-9]{1,6})", "p": "([AaPp][Mm])"}
ISO_DURATION = re.compile(r"P(-?[0-9]{1,9})DT([0-9]{1,2})H([0-9]{1,2})M([0-9]{1,2}(?:\.[0-9]{1,9})?)S")
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
        unit: How numbers carry their unit (see `Column`); a number may lack it.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    def plain(self, text: str) -> str | None:
        """Return a number with a decimal point and no other mark; None if the text is not a number."""
        if len(text) > 4 * MOST_DIGITS:
            return None
        if self.unit == DURATION:
            return _seconds(text)
        if self.unit:
            text = without_unit(text, self.unit)
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

    def text(self, number: Decimal, *, grouped: bool = False, decimals: int = 0) -> str:
        """Return a number as the column writes it.

        Args:
            number: The number.
            grouped: Whether to write the thousands mark.
            decimals: The least number of decimals.
        """
        if self.unit == DURATION:
            return _duration(number)
        integer, _, fraction = f"{number.copy_abs():f}".partition(".")
        fraction = fraction.rstrip("0").ljust(decimals, "0")
        if grouped and self.thousands:
            integer = f"{int(integer):,}".replace(",", self.thousands)
        before, after = split_unit(self.unit) if self.unit else ("", "")
        figures = f"{integer}{self.decimal}{fraction}" if fraction else integer
        return f"{'-' if number < 0 else ''}{before}{figures}{after}"


def without_unit(text: str, unit: str) -> str:
    """Remove the unit of a number, with the blanks around it; the sign may stand before it."""
    before, after = (part.strip() for part in split_unit(unit))
    sign = ""
    if before:
        rest = text[1:].lstrip() if text[:1] in ("+", "-") else text
        if rest.startswith(before):
            sign, text = text[: text[:1] in ("+", "-")], rest[len(before) :].lstrip()
    if after and text.endswith(after):
        text = text[: -len(after)].rstrip()
    return sign + text


def _seconds(text: str) -> str | None:
    """Return a duration such as P1DT2H3M4.5S in seconds; None if the text is not one."""
    match = ISO_DURATION.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (Decimal(part) for part in match.groups())
    return f"{days * 86400 + hours * 3600 + minutes * 60 + seconds:f}"


def _duration(number: Decimal) -> str:
    days, rest = divmod(number, 86400)
    if rest < 0:
        days, rest = days - 1, rest + 86400
    minutes, seconds = divmod(rest, 60)
    figures = f"{seconds:f}"
    figures = figures.rstrip("0").rstrip(".") if "." in figures else figures
    return f"P{int(days)}DT{int(minutes) // 60}H{int(minutes) % 60}M{figures}S"


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
        The dates as seconds since the year 1, exact also where they have a fraction; and the indices of the texts that
        do not have the format.
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
        since = moment - datetime.min
        whole = since.days * 86400 + since.seconds
        # A float of this size is off by some microseconds.
        seconds.append(whole + Fraction(since.microseconds, 10**6) if since.microseconds else float(whole))
    return seconds, misfits


def parse_moment(text: str, date_format: str) -> datetime:
    """Return the date and time that a text gives in a format other than the default one.

    Args:
        text: The text. It may lack the fraction of a second, or the time, if the format is one of ISO.
        date_format: A format of `datetime.strptime`.

    Raises:
        ValueError: The text does not have the format, or it denotes another date than it says: strptime takes day 366
            of 2023 for the first day of 2024, 1052024 for 10 May in %d%m%Y, and believes any day of the week.
    """
    pattern, names = _date_pattern(date_format)
    match = pattern.fullmatch(text) if pattern is not None else None
    if match is not None:
        return _moment(dict(zip(names, match.groups(), strict=True)))
    for form in (date_format, *shorter_formats(date_format)):
        try:
            moment = datetime.strptime(text, form)
        except ValueError:
            continue
        stated, printed = (_date_words(words, form) for words in (text, moment.strftime(form)))
        if stated == printed and moment.tzinfo is None:
            return moment
    raise ValueError("the text is not a date of the format")


def print_moment(moment: datetime, date_format: str, unpadded: Collection[str] = ()) -> str:
    """Return a date in a format; a part that is unpadded, such as "d", has no leading zero."""
    parts = re.split("(%.)", date_format, flags=re.DOTALL)
    return "".join(_print_part(moment, part, unpadded) for part in parts)


def _print_part(moment: datetime, part: str, unpadded: Collection[str]) -> str:
    if part == "%Y":  # strftime does not pad years before 1000
        return f"{moment.year:04}"
    text = moment.strftime(part) if part[:1] == "%" else part
    return text.removeprefix("0") if part[1:] in unpadded else text


def unpadded_parts(texts: Iterable[str], date_format: str) -> frozenset[str]:
    """Return the parts of dates that some texts write as a single digit, as in 1/5/2016."""
    pattern, names = _date_pattern(date_format)
    found: set[str] = set()
    for text in texts:
        match = pattern.fullmatch(text) if pattern is not None else None
        if match is not None:
            found.update(name for name, digits in zip(names, match.groups(), strict=True) if len(digits) == 1)
        elif re.search("(?<![0-9])[1-9](?![0-9])", text):  # the day beside the name of a month
            found.add("d")
    return frozenset(found & set("mdHI"))


@cache
def _date_pattern(date_format: str) -> tuple[re.Pattern[str] | None, tuple[str, ...]]:
    """Return what matches the dates of a format whose parts are numbers apart from each other, as most are.

    Reading the parts from a match takes a tenth of the time of strptime, which reads all other texts.
    """
    parts = re.split("%(.)", date_format)
    names = tuple(parts[1::2])
    if (
        not set(names) <= set(DIGITS)
        or ("I" in names) != ("p" in names)
        or any(not between for between in parts[2:-1:2])
    ):
        return None, ()
    pieces = [re.escape(text) if i % 2 == 0 else DIGITS[text] for i, text in enumerate(parts)]
    return re.compile("".join(pieces)), names


def _moment(parts: dict[str, str]) -> datetime:
    """Return the moment that the parts of a date state; a ValueError if there is none."""
    hour = int(parts.get("H", 0))
    if "I" in parts:
        hour = int(parts["I"])
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + 12 * (parts["p"].upper() == "PM")
    return datetime(
        int(parts.get("Y", 1900)),
        int(parts.get("m", 1)),
        int(parts.get("d", 1)),
        hour,
        int(parts.get("M", 0)),
        int(parts.get("S", 0)),
        int(parts.get("f", "0").ljust(6, "0")),
    )


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


def member_text(text: str) -> str:
    """Return a member of a released set; one with a comma, a brace or a quote is written in double quotes."""
    if text and not any(mark in text for mark in ',{}"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


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
