"""Columns of a release that keep the type of the original: values made from their texts, and only if nothing changes.

The text is what was released and checked. A column whose values would have other texts stays text. Excel stores numbers
as 64-bit floats and dates as days since 1900, a year whose 29 February it counts although there was none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import date, time
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.errors import InputError
from shoal.tables.formats.excel_sheet import FLOAT, number_text, serial_text
from shoal.tables.typed_text import polars_texts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SHEET_FORMATS", "SheetColumn", "keeps_type", "sheet_column", "sheet_type", "typed_column", "typed_frame"]

CLOCK = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{6,9}))?"
MOMENT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(?: {CLOCK})?(?:\+00:00)?")
TICKS = {"ms": 3, "us": 6, "ns": 9}
EPOCH = date(1970, 1, 1).toordinal()

# The number formats of a workbook: cell style 1 is the first of them; style 0 is General.
DAY, SECONDS, THOUSANDTHS = "yyyy-mm-dd", "hh:mm:ss", "hh:mm:ss.000"
SPANS = (f"[h]{SECONDS[2:]}", f"[h]{THOUSANDTHS[2:]}")
FIXED = tuple(f"0.{'0' * places};-0.{'0' * places}" for places in range(1, 10))
SHEET_FORMATS = (DAY, f"{DAY} {SECONDS}", f"{DAY} {THOUSANDTHS}", SECONDS, THOUSANDTHS, *SPANS, FLOAT, *FIXED)
WHOLE = re.compile(r"-?[0-9]{1,16}")
FIXED_TEXT = re.compile(r"-?[0-9]{1,15}\.([0-9]{1,9})")
SHEET_TIME = r"(?:([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{3}))?)"
SHEET_MOMENT = re.compile(rf"(?:([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(?: {SHEET_TIME})?|{SHEET_TIME})")
SHEET_SPAN = re.compile(r"P([0-9]{1,6})DT([0-9]{1,2})H([0-9]{1,2})M([0-9]{1,2})(?:\.([0-9]{1,3}))?S")
FIRST_DAY = date(1900, 3, 1)  # before it, programs disagree about the day that a number means
DAY_ZERO = date(1899, 12, 30).toordinal()
MOST_EXACT = 2**53  # above it, not every integer is a 64-bit float
LEAST, MOST = 1e-300, 1e300  # magnitudes that every program can store


def keeps_type(dtype: Any) -> bool:
    """Return whether a release keeps a type of polars: integers, floats, decimals, dates, times and booleans."""
    import polars as pl

    return bool(dtype.is_integer() or dtype.is_float() or dtype.is_decimal()) or dtype in (
        pl.Boolean,
        pl.Date,
        pl.Datetime,
        pl.Time,
    )


def typed_frame(text: pl.DataFrame, types: Mapping[str, Any]) -> pl.DataFrame:
    """Return cells with these types where they fit; an empty cell of a typed column is null."""
    columns = {name: typed_column(text[name], dtype) for name, dtype in types.items() if keeps_type(dtype)}
    return text.with_columns([column for column in columns.values() if column is not None])


def typed_column(texts: pl.Series, dtype: Any) -> pl.Series | None:
    """Return a column of texts as values of a type; None if a value would have another text."""
    import polars as pl

    if isinstance(dtype, pl.Datetime):
        dtype = pl.Datetime(dtype.time_unit, None if dtype.time_zone is None else "UTC")
    distinct = texts.unique()
    known = distinct.filter(distinct != "")
    try:
        values = _values(known, dtype)
        back = polars_texts(pl.DataFrame({"cell": values}))["cell"]
    except (ValueError, OverflowError, ArithmeticError, KeyError, TypeError, InputError, pl.exceptions.PolarsError):
        return None
    if back.to_list() != known.to_list():
        return None
    return texts.replace_strict(known, values, default=None, return_dtype=dtype).alias(texts.name)


def _values(texts: pl.Series, dtype: Any) -> pl.Series:
    import polars as pl

    if dtype.is_integer() or dtype.is_float():
        return texts.cast(dtype)
    if isinstance(dtype, pl.Datetime):
        ticks = [_ticks(text, TICKS[dtype.time_unit]) for text in texts]
        moments = pl.Series(ticks, dtype=pl.Int64).cast(pl.Datetime(dtype.time_unit))
        return moments.dt.replace_time_zone(dtype.time_zone)
    reads: dict[Any, Callable[[str], Any]] = {
        pl.Boolean: {"True": True, "False": False}.__getitem__,
        pl.Date: date.fromisoformat,
        pl.Time: time.fromisoformat,
    }
    read = next((read for kind, read in reads.items() if dtype == kind), Decimal)
    return pl.Series([read(text) for text in texts], dtype=dtype)


def _ticks(text: str, places: int) -> int:
    """Return a datetime as ticks since 1970."""
    match = MOMENT.fullmatch(text)
    if match is None:
        raise ValueError
    day, hours, minutes, seconds, fraction = match.groups(default="0")
    days = date.fromisoformat(day).toordinal() - EPOCH
    total = days * 86_400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    billionths = int(fraction.ljust(9, "0"))
    return int(total * 10**places + billionths // 10 ** (9 - places))


# ---- cells of a sheet


class SheetColumn(NamedTuple):
    """A typed column of a sheet.

    Attributes:
        attributes: The attributes of its cells in XML.
        values: By text, the value that is stored.
    """

    attributes: str
    values: Mapping[str, str]


def sheet_type(kinds: Collection[str], texts: pl.Series) -> Any | None:
    """Return the type of a column of a sheet; None if it is text or has cells of several types.

    Args:
        kinds: What its cells are: "text", "boolean" or a meaning of numbers.
        texts: Its texts.
    """
    import polars as pl

    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind in ("text", "boolean", "span"):
        return {"text": None, "boolean": pl.Boolean, "span": pl.Duration("ms")}[kind]
    known = [text for text in texts.unique() if text]
    if kind != "date":
        return pl.Int64 if all(map(WHOLE.fullmatch, known)) else pl.Float64
    days = [match is not None and match[1] is not None for match in map(SHEET_MOMENT.fullmatch, known)]
    if all(days):
        return pl.Datetime("us") if any(" " in text for text in known) else pl.Date
    return None if any(days) else pl.Time


def sheet_column(texts: pl.Series, dtype: Any) -> SheetColumn | None:
    """Return a column of texts as typed cells of a sheet; None if a cell would be read as another text.

    A missing cell stays empty. Integers beyond 2^53, numbers that are not finite, dates before March 1900, and times
    with a zone or with parts of a thousandth of a second have no exact value in a sheet.
    """
    import polars as pl

    distinct = texts.unique()
    known = distinct.filter(distinct != "").to_list()
    if dtype == pl.Boolean:
        values = {"True": "1", "False": "0"}
        return SheetColumn(' t="b"', values) if known and values.keys() >= set(known) else None
    for code, stored in _sheet_forms(dtype, known):
        pairs = {text: stored(text) for text in known}
        if known and None not in pairs.values():
            style = "" if code is None else f' s="{SHEET_FORMATS.index(code) + 1}"'
            return SheetColumn(style, {text: value for text, value in pairs.items() if value is not None})
    return None


def _sheet_forms(dtype: Any, texts: list[str]) -> list[tuple[str | None, Callable[[str], str | None]]]:
    """Return the number formats that a column may have, the plainest first, and what stores a text in each."""
    import polars as pl

    if dtype.is_integer() or dtype.is_float() or dtype.is_decimal():
        match = FIXED_TEXT.fullmatch(texts[0]) if texts else None
        fixed = [] if match is None else [len(match[1])]
        return [
            (None, partial(_number, style="number")),
            (FLOAT, partial(_number, style="float")),
            *((FIXED[places - 1], partial(_number, style=f"fixed{places}")) for places in fixed),
        ]
    if isinstance(dtype, pl.Duration):
        return [(code, partial(_span, code=code)) for code in SPANS]
    codes = {pl.Date: SHEET_FORMATS[:1], pl.Datetime: SHEET_FORMATS[:3], pl.Time: SHEET_FORMATS[3:5]}
    return [(code, partial(_moment, code=code)) for kind, some in codes.items() if dtype == kind for code in some]


def _number(text: str, style: str) -> str | None:
    """Return the number that a text is read from, which is spelled like the text; None if there is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    is_exact = abs(number) < MOST_EXACT if WHOLE.fullmatch(text) else LEAST < abs(number) < MOST or not number
    if not is_exact or (text[0] == "-" and not number) or (style[:5] == "fixed" and len(text) > 16):
        return None
    return text if number_text(text, style) == text else None


def _moment(text: str, code: str) -> str | None:
    """Return the days that a date or a time is read from; None if it has more than the format shows."""
    match = SHEET_MOMENT.fullmatch(text)
    if match is None or (match[1] is None) != (code in (SECONDS, THOUSANDTHS)):
        return None
    parts = [int(part or 0) for part in (match.groups()[1:5] if match[1] else match.groups()[5:])]
    try:
        day = date.fromisoformat(match[1]) if match[1] else None
    except ValueError:
        return None
    is_shown = (not any(parts) or code != DAY) and (not parts[3] or code.endswith(THOUSANDTHS))
    if not is_shown or (day is not None and day < FIRST_DAY):
        return None
    return _days(0 if day is None else day.toordinal() - DAY_ZERO, parts, text, "date")


def _span(text: str, code: str) -> str | None:
    match = SHEET_SPAN.fullmatch(text)
    if match is None or (match[5] and code != SPANS[1]):
        return None
    days, *clock = (int(part) for part in match.groups()[:4])
    return _days(days, [*clock, int((match[5] or "0").ljust(3, "0"))], text, "span")


def _days(days: int, clock: list[int], text: str, style: str) -> str | None:
    hours, minutes, seconds, thousandths = clock
    total = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + thousandths
    value = repr(total / 86_400_000).removesuffix(".0")
    return value if serial_text(value, style, False) == text else None
