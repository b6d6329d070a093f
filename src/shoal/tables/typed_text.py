"""The text of a cell that came with a type: one text for one value, the same from a frame and from a typed file.

Whole numbers as digits, floats as Python prints them (the shortest text that gives the number back, -0.0 as 0.0),
decimals with all their places, dates as 2020-01-31, moments as 2020-01-31 12:30:00 (midnight as the date alone),
moments with a time zone in UTC as 2020-01-31 11:30:00+00:00, durations as P1DT2H3M4S, booleans as True and False,
categories as their text, a missing value of any sort as the empty text.
"""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, join_problems
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["arrow_texts", "cell_text", "pandas_text", "polars_texts"]

TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
REFUSED = (list, tuple, dict, set, frozenset, bytes, bytearray, complex)
ADVICE = "Turn it into text, numbers or dates first, or leave the column out."


def cell_text(value: Any) -> str:
    """Return the text of one cell of a frame; see the top of this module."""
    if value is None or type(value).__name__ == "NAType" or value != value:  # NaN and NaT are not equal to themselves
        return ""
    if isinstance(value, str):
        return str(value)
    kind = getattr(value, "dtype", None)
    if isinstance(value, float) or (kind is not None and kind.kind == "f"):
        return _float_text(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, timedelta):
        return _duration_text(value)
    if hasattr(value, "isoformat"):
        return _moment_text(value)
    if isinstance(value, REFUSED) or (hasattr(value, "__array__") and (kind is None or kind.kind not in "biu")):
        raise _UnfitError(f"a cell of type {type(value).__name__} cannot be released. {ADVICE}")
    return str(value)


class _UnfitError(InputError):
    """A cell of a type that has no text."""


def _float_text(value: Any) -> str:
    number = float(value) + 0.0  # -0.0 becomes 0.0
    if not math.isfinite(number):
        return str(number)
    width = getattr(getattr(value, "dtype", None), "itemsize", 8)
    return single_text(number) if width == 4 else repr(number)


def single_text(number: float) -> str:
    """Return the shortest text that gives back a number of 32 bits."""
    for digits in (6, 7, 8):
        near = float(f"{number:.{digits}g}")
        try:
            if struct.unpack("f", struct.pack("f", near))[0] == number:
                return repr(near + 0.0)
        except OverflowError:
            continue
    return repr(float(f"{number:.9g}") + 0.0)


def _moment_text(value: Any) -> str:
    if getattr(value, "tzinfo", None) is not None and hasattr(value, "astimezone"):
        value = value.astimezone(UTC)
    text: str = value.isoformat()
    return text.removesuffix("T00:00:00").replace("T", " ") if "T" in text else text


def _duration_text(value: Any) -> str:
    """Return P1DT2H3M4S; a negative one has negative days, as Python and pandas keep it."""
    billionths = value.microseconds * 1000 + getattr(value, "nanoseconds", 0)
    minutes, seconds = divmod(value.seconds, 60)
    fraction = f".{billionths:09d}".rstrip("0") if billionths else ""
    return f"P{value.days}DT{minutes // 60}H{minutes % 60}M{seconds}{fraction}S"


def polars_texts(frame: pl.DataFrame, watch: Watch = UNWATCHED) -> dict[str, pl.Series]:
    """Return the columns of a polars frame as text; the error lists all columns whose type has no text."""
    import polars as pl

    refused = {
        name: str(dtype).partition("(")[0]
        for name, dtype in frame.schema.items()
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Unknown)
    }
    if refused:
        raise InputError(join_problems([f"column {n!r} has type {kind}. {ADVICE}" for n, kind in refused.items()]))
    texts = {}
    for number, name in enumerate(frame.columns, 1):
        texts[name] = _polars_text(frame[name])
        watch.step(number / frame.width)
    return texts


def _polars_text(series: pl.Series) -> pl.Series:
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String:
        return series.fill_null("")
    if dtype == pl.Null:
        return pl.Series(series.name, [""], dtype=pl.String).new_from_index(0, len(series))
    if dtype.is_integer() or dtype in (pl.Categorical, pl.Enum):
        return series.cast(pl.String).fill_null("")
    known = series.unique().drop_nulls()
    try:
        new = pl.Series(_distinct_texts(known), dtype=pl.String)
    except (OverflowError, ValueError):
        raise InputError(
            f"column {series.name!r} holds a date outside the years 1 to 9999. Mend it, or turn the column into text."
        ) from None
    # NaN counts as missing; replace_strict would not find it
    return series.replace_strict(known, new, default="", return_dtype=pl.String).fill_null("")


def _distinct_texts(known: pl.Series) -> list[str]:
    import polars as pl

    dtype = known.dtype
    if dtype == pl.Float32:
        return ["" if value != value else _single(value) for value in known.to_list()]
    if isinstance(dtype, pl.Datetime):
        unit = TICKS[dtype.time_unit]
        return [_ticks_text(ticks, unit, dtype.time_zone is not None) for ticks in known.to_physical().to_list()]
    if isinstance(dtype, pl.Duration):
        unit = TICKS[dtype.time_unit]
        return [_span_text(ticks, unit) for ticks in known.to_physical().to_list()]
    return [cell_text(value) for value in known.to_list()]


def _single(value: float) -> str:
    return single_text(value + 0.0) if math.isfinite(value) else str(value)


def _ticks_text(ticks: int, per_second: int, zoned: bool) -> str:
    """Return the text of a moment given in ticks since 1970, to the nanosecond."""
    seconds, rest = divmod(ticks, per_second)
    text = (datetime(1970, 1, 1) + timedelta(seconds=seconds)).isoformat(" ")
    billionths = rest * (10**9 // per_second)
    if billionths:
        text += f".{billionths:09d}" if billionths % 1000 else f".{billionths // 1000:06d}"
    return text + "+00:00" if zoned else text.removesuffix(" 00:00:00")


def _span_text(ticks: int, per_second: int) -> str:
    seconds, rest = divmod(ticks, per_second)
    days, seconds = divmod(seconds, 86_400)
    billionths = rest * (10**9 // per_second)
    fraction = f".{billionths:09d}".rstrip("0") if billionths else ""
    minutes, seconds = divmod(seconds, 60)
    return f"P{days}DT{minutes // 60}H{minutes % 60}M{seconds}{fraction}S"


def pandas_text(series: Any, name: str) -> pl.Series:
    """Return a pandas column as text."""
    import pandas as pd
    import polars as pl

    if series.dtype.kind in "cV":
        raise InputError(f"column {name!r} has type {series.dtype}. {ADVICE}")
    if series.dtype.kind == "O" and str(series.dtype) == "object":
        cells = []
        for row, (value, gone) in enumerate(zip(series.tolist(), series.isna().to_numpy(), strict=True), 1):
            try:
                cells.append("" if gone else cell_text(value))
            except (_UnfitError, ValueError, TypeError):
                raise InputError(
                    f"column {name!r}, row {row}: a cell of type {type(value).__name__} cannot be released. {ADVICE}"
                ) from None
        return _checked(name, cells)
    try:
        codes, values = pd.factorize(series, use_na_sentinel=True)
        if str(series.dtype).lower() in ("float32", "float[pyarrow]"):  # else they come as floats of 64 bits
            values = values.to_numpy(dtype="float32")
        texts = _checked(name, [*map(cell_text, list(values)), ""])
    except (TypeError, NotImplementedError, _UnfitError):  # an extension type whose cells are lists, bytes, ...
        raise InputError(f"column {name!r} has type {series.dtype}. {ADVICE}") from None
    return texts.gather(pl.Series(codes).cast(pl.Int64).replace(-1, len(texts) - 1))


def _checked(name: str, cells: list[str]) -> pl.Series:
    import polars as pl

    try:
        return pl.Series(name, cells, dtype=pl.String)
    except UnicodeEncodeError:
        raise InputError(f"column {name!r} holds a text that is not Unicode (half of a surrogate pair).") from None


def arrow_texts(table: Any) -> dict[str, pl.Series]:
    """Return the columns of a pyarrow table as text."""
    import polars as pl

    try:
        taken = pl.from_arrow(table)
    except (pl.exceptions.PolarsError, TypeError, ValueError):
        types = ", ".join(f"{field.name!r} ({field.type})" for field in table.schema)
        raise InputError(f"a column has a type that cannot be taken. The columns are {types}. {ADVICE}") from None
    if not isinstance(taken, pl.DataFrame):
        raise InputError("a pyarrow column cannot be taken alone. Give a pyarrow Table.")
    return polars_texts(taken)
