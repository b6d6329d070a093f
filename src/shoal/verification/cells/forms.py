"""How values are written: the verifier's own reading of numbers with units, dates, booleans, and its own detection."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import cache

from shoal.errors import UsageError
from shoal.schema import DURATION, Column, Kind, check_date_format, check_unit

__all__ = ["MOST_DIGITS", "read_date", "read_number", "read_truth", "with_form"]

MOST_DIGITS = 1_000  # letters of a number or a date, and zeros that are written out
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")  # in linear time
SPAN_OF_TIME = re.compile(r"P(-?[0-9]+)DT([0-9]+)H([0-9]+)M([0-9]+(?:\.[0-9]+)?)S")
WORD = re.compile(r"\d+|[^\W\d_]+")  # a number or a name in a date
TOKEN = re.compile(r"[0-9]+|[A-Za-z]+|[^0-9A-Za-z]+")
CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(:[0-9]{2})?(\.[0-9]{1,6})?( ?)([AaPp][Mm])?")
END_ZONE = re.compile(r" ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})")
AROUND = re.compile(r"([+-]?)([^0-9+-]*)([+-]?[0-9](?:.*[0-9])?)([^0-9]*[2²3³]?)", re.DOTALL)
PARTS = {"Y": "[0-9]{4}", **dict.fromkeys("mdHIMS", "[0-9]{1,2}"), "f": "[0-9]{1,6}", "p": "[AaPp][Mm]"}
# Words for yes and for no. Undeclared, a column is boolean only if all its words stand in one line.
TRUTHS = (
    ("true t", "false f"),
    ("yes y", "no n"),
    ("ja j", "nein n"),
    ("wahr", "falsch"),
    ("oui o", "non n"),
    ("vrai", "faux"),
    ("sí si sì s", "no n"),
    ("verdadero", "falso"),
    ("vero", "falso"),
)
DECLARED = ("1 1.0 on", "0 0.0 off")
YES, NO = (frozenset(" ".join(line[i] for line in (*TRUTHS, DECLARED)).split()) for i in (0, 1))
MARKS = ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (".", "’"), (",", "'"), (".", " "), (",", " "))


def read_number(text: str, decimal: str = ".", thousands: str = "", unit: str = "") -> Decimal | None:
    """Return the number that a text states, with the marks and the unit of its column; None if it states none."""
    if len(text) > MOST_DIGITS:
        return None
    if unit == DURATION:
        match = SPAN_OF_TIME.fullmatch(text)
        if match is None:
            return None
        days, hours, minutes, seconds = map(Decimal, match.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if unit:
        match = _with_unit(unit).fullmatch(text)
        text = match[1] + match[2] if match is not None else text
    if thousands:
        mark = "[ \u00a0\u202f]" if thousands.isspace() else re.escape(thousands)
        if re.fullmatch(rf"[+-]?[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+(?:{re.escape(decimal)}[0-9]*)?", text):
            text = re.sub(mark, "", text)
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    if not NUMBER.fullmatch(text):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:  # the exponent is too large
        return None
    # One with more digits than can be written out would take forever to compute with.
    return number if not number or abs(number.adjusted()) <= MOST_DIGITS else None


@cache
def _with_unit(unit: str) -> re.Pattern[str]:
    """Return what matches a number with its unit: the sign, then the number without the unit."""
    before, mark, after = unit.partition("#")
    first, last = (re.escape(part.strip()) for part in ((before, after) if mark else (unit, unit)))
    return re.compile(rf"([+-]?)\s*(?:{first})?\s*([+-]?[0-9.,].*?)\s*(?:{last})?", re.DOTALL)


def read_date(text: str, form: str) -> datetime.date | None:
    """Return the date that a text states; a column of ISO date-times may leave out the time or the fraction."""
    if len(text) > MOST_DIGITS:
        return None
    if form == "%Y-%m-%d":
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:
            return None
    moment = _moment(text, form)
    if moment is None and form.startswith("%Y-%m-%d"):
        whole = form.replace(".%f", "")
        moment = _moment(text, whole)
        if moment is None and re.fullmatch("%Y-%m-%d[ T]%H:%M(:%S)?", whole):
            moment = _moment(text, "%Y-%m-%d")
    return moment


def _moment(text: str, form: str) -> datetime.datetime | None:
    try:
        if (match := _digits(form).fullmatch(text)) is not None:
            stated = match.groupdict()
            hour = int(stated.get("H") or 0)
            if "I" in stated:
                hour = int(stated["I"]) % 12 + (12 if stated["p"] in ("PM", "pm", "Pm", "pM") else 0)
                if not 0 < int(stated["I"]) < 13:
                    return None
            year, month, day = (int(stated.get(part, first)) for part, first in (("Y", 1900), ("m", 1), ("d", 1)))
            minute, second = (int(stated.get(part, 0)) for part in "MS")
            return datetime.datetime(year, month, day, hour, minute, second, int(f"{stated.get('f', '0'):0<6}"))
        moment = datetime.datetime.strptime(text, form)
        printed = moment.strftime(form)
    except ValueError:
        return None
    return moment if moment.tzinfo is None and _is_same_date(text, printed, "%f" in form) else None


@cache
def _digits(form: str) -> re.Pattern[str]:
    """Return what matches the dates of a format in which signs stand between all numbers; nothing for other formats."""
    pieces = re.split("%(.)", form)
    is_plain = all(piece in PARTS for piece in pieces[1::2]) and all(pieces[2:-1:2])
    if not is_plain or ("%I" in form) != ("%p" in form):
        return re.compile("(?!)")
    texts = [f"(?P<{piece}>{PARTS[piece]})" if i % 2 else re.escape(piece) for i, piece in enumerate(pieces)]
    return re.compile("".join(texts))


def _is_same_date(text: str, printed: str, has_fraction: bool) -> bool:
    """Return whether a date prints as it is written, apart from case, blanks, padding and the zeros of a fraction.

    strptime ignores some parts (the week of %Y-W%W) and carries others over (day 366 of 2023 becomes 1 January 2024).
    """
    words, others = WORD.findall(text.lower()), WORD.findall(printed.lower())
    return len(words) == len(others) and all(
        a == b or ((a + b).isdecimal() and (int(a) == int(b) or (has_fraction and float(f".{a}") == float(f".{b}"))))
        for a, b in zip(words, others, strict=True)
    )


def read_truth(text: str) -> bool | None:
    """Return what a word for yes or no means; None if it is neither."""
    word = text.casefold()
    return True if word in YES else False if word in NO else None


def _are_truths(texts: Sequence[str]) -> bool:
    """Return whether texts are the words for yes and no of one line, both of them."""
    words = {text.casefold() for text in texts}
    lines = [(set(yes.split()), set(no.split())) for yes, no in TRUTHS]
    return any(words <= yes | no and words & yes and words & no for yes, no in lines)


def with_form(column: Column, texts: Sequence[str]) -> Column:
    """Return a column whose cells are neither plain numbers nor ISO dates, with the form in which they are written.

    What is declared stays. A kind that is not declared stays open, since a release may show sets of such values.

    Args:
        column: The column.
        texts: Its distinct values in the original, without missing ones.
    """
    kind = column.kind
    if not texts or kind is Kind.CATEGORICAL:
        return column
    if kind is Kind.ORDERED:
        present = set(texts)
        return replace(column, order=tuple(value for value in column.order if value in present))
    if kind is None and _are_truths(texts):
        return replace(column, kind=Kind.BOOLEAN)
    if kind in (None, Kind.DATE) and column.date_format == Column.date_format:
        form = _date_form(texts)
        if form is not None:
            return replace(column, date_format=form)
    if kind in (None, Kind.NUMERIC):
        return _number_form(column, texts)
    return column


def _number_form(column: Column, texts: Sequence[str]) -> Column:
    """Return a column with the unit and the marks that all its numbers have."""
    if all(map(SPAN_OF_TIME.fullmatch, texts)):
        return replace(column, unit=DURATION)
    own = (column.decimal, column.thousands)
    matches = [AROUND.fullmatch(text) for text in texts]
    around = {(m[2].strip(), m[4].strip()) for m in matches if m is not None}
    unit = column.unit
    if not unit and None not in matches and len(around) == 1:
        before, after = next(iter(around))
        unit = f"{before}#{after}" if before or after else ""
    try:
        if unit:
            check_unit(unit)
    except UsageError:
        return column
    for decimal, thousands in [own, *MARKS] if own == (".", "") else [own]:
        numbers = [read_number(text, decimal, thousands, unit) for text in texts]
        # A comma before three digits of money marks thousands; without a unit it is not told.
        is_odd = decimal == "," and not thousands and all(re.search(",[0-9]{3}(?![0-9])", text) for text in texts)
        if None not in numbers and not is_odd:
            return replace(column, decimal=decimal, thousands=thousands, unit=unit)
    return column


def _date_form(texts: Sequence[str]) -> str | None:
    """Return the format of dates, date-times, months or times of day that all texts have; None if there is none.

    The order of day and month follows from the numbers above 12; without any, there is no format.
    """
    longest = max(texts, key=lambda text: (len(text), text))
    clock = next((m for m in CLOCK.finditer(longest)), None)
    zone = ""
    day = longest
    if clock is not None:
        zone = longest[clock.end() :]
        if zone and not END_ZONE.fullmatch(zone):
            return None
        day = longest[: clock.start()]
    gap = day[-1:] if day[-1:] in (" ", "T") else ""
    time = "" if clock is None else _clock_form(clock)
    days = [_before_clock(text, gap) if time else text for text in texts]
    for form in _day_forms(day.removesuffix(gap) if time else day, days):
        whole = f"{form}{gap}{time}{zone}"
        try:
            check_date_format(whole)
        except UsageError:
            continue
        if all(read_date(text, whole) is not None for text in texts):
            return whole
    return None


def _before_clock(text: str, gap: str) -> str:
    match = CLOCK.search(text)
    return text if match is None else text[: match.start()].removesuffix(gap)


def _clock_form(clock: re.Match[str]) -> str:
    _, _, seconds, fraction, gap, half = clock.groups()
    return (
        f"{'%I' if half else '%H'}:%M{':%S' if seconds else ''}{'.%f' if fraction else ''}{f'{gap}%p' if half else ''}"
    )


def _day_forms(sample: str, days: Sequence[str]) -> list[str]:
    """Return the formats that the part of texts before the time may have."""
    if not sample:
        return [""]
    tokens = TOKEN.findall(sample)
    values = [token for token in tokens if token.isalnum()]
    kinds = ["b" if not token.isdigit() else "Y" if len(token) == 4 else "n" for token in values]
    layouts = {
        ("Y", "n", "n"): ["Ymd"],
        ("n", "n", "Y"): _day_first(days),
        ("n", "b", "Y"): ["dbY", "dBY"],
        ("b", "n", "Y"): ["bdY", "BdY"],
        ("b", "Y"): ["bY", "BY"],
        ("Y", "b"): ["Yb"],
        ("Y", "n"): ["Ym"],
        ("n", "Y"): ["mY"],
    }
    forms = []
    for layout in layouts.get(tuple(kinds), []):
        parts = iter(layout)
        forms.append("".join(f"%{next(parts)}" if token.isalnum() else token for token in tokens))
    return forms


def _day_first(days: Sequence[str]) -> list[str]:
    """Return the orders of day, month and year that numbers allow; none if they allow both."""
    pairs = [[int(n[:9]) for n in re.findall("[0-9]+", text)[:2]] for text in days]  # a cell may have many digits
    first, second = (max((pair[i] for pair in pairs if len(pair) == 2), default=0) for i in (0, 1))
    if any("." in text for text in days):
        return ["dmY"]
    return ["dmY"] if first > 12 else ["mdY"] if second > 12 else []
