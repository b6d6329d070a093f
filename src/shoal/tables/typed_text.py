"""The texts of typed cells. Each value has one text, whether it comes from a frame or from a typed file.

=================  ====================================================================================
type               text
=================  ====================================================================================
integer            its digits
float              the shortest text that Python reads as the same number; -0.0 becomes 0.0
decimal            all its decimal places
date               2020-01-31
datetime           2020-01-31 12:30:00; only the date at midnight
zoned datetime     in UTC: 2020-01-31 11:30:00+00:00
duration           P1DT2H3M4S
boolean            True or False
category           its text
missing value      the empty text
=================  ====================================================================================
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

__all__ = [
    "ADVICE",
    "arrow_texts",
    "cell_text",
    "float32_text",
    "frame_orders",
    "frame_types",
    "pandas_text",
    "polars_texts",
    "ticks_text",
]

TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
REFUSED = (list, tuple, dict, set, frozenset, bytes, bytearray, complex)
ADVICE = "Convert it to text, numbers or dates first, or leave the column out."


def cell_text(value: Any) -> str:
    """Return the text of one cell; the table at the top of this module defines it."""
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
    """A cell has a type without a text."""


def _float_text(value: Any) -> str:
    number = float(value) + 0.0  # -0.0 becomes 0.0
    if not math.isfinite(number):
        return str(number)
    width = getattr(getattr(value, "dtype", None), "itemsize", 8)
    return single_text(number) if width == 4 else repr(number)


def single_text(number: float) -> str:
    """Return the shortest text that reads as the same 32-bit number."""
    for digits in (6, 7, 8):
        rounded = float(f"{number:.{digits}g}")
        try:
            if struct.unpack("f", struct.pack("f", rounded))[0] == number:
                return repr(rounded + 0.0)
        except OverflowError:
            continue
    return repr(float(f"{number:.9g}") + 0.0)


def _moment_text(value: Any) -> str:
    if getattr(value, "tzinfo", None) is not None and hasattr(value, "astimezone"):
        value = value.astimezone(UTC)
    text: str = value.isoformat()
    return text.removesuffix("T00:00:00").replace("T", " ") if "T" in text else text


def _duration_text(value: Any) -> str:
    """Return a text such as P1DT2H3M4S; a negative duration has negative days, as in Python and pandas."""
    billionths = value.microseconds * 1000 + getattr(value, "nanoseconds", 0)
    minutes, seconds = divmod(value.seconds, 60)
    fraction = f".{billionths:09d}".rstrip("0") if billionths else ""
    return f"P{value.days}DT{minutes // 60}H{minutes % 60}M{seconds}{fraction}S"


def polars_texts(frame: pl.DataFrame, watch: Watch = UNWATCHED) -> dict[str, pl.Series]:
    """Return the columns of a polars frame as text.

    Raises:
        InputError: If columns have a type without a text; it lists all of them.
    """
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


def frame_orders(frame: Any, library: str) -> dict[str, tuple[str, ...]]:
    """Return the order of each column of ordered categories, lowest first: pandas and Arrow by their flag, any Enum."""
    if library == "pandas":
        dtypes = {str(name): frame.iloc[:, i].dtype for i, name in enumerate(frame.columns)}
        orders = {name: dtype.categories for name, dtype in dtypes.items() if getattr(dtype, "ordered", False)}
    elif library == "pyarrow":
        import pyarrow as pa

        flagged = [f.name for f in frame.schema if pa.types.is_dictionary(f.type) and f.type.ordered]
        chunks = {name: frame.column(name).unify_dictionaries().chunks for name in flagged}
        orders = {name: parts[0].dictionary.to_pylist() for name, parts in chunks.items() if parts}
    else:
        import polars as pl

        orders = {name: list(dtype.categories) for name, dtype in frame.schema.items() if isinstance(dtype, pl.Enum)}
    texts = {name: tuple(cell_text(value) for value in order) for name, order in orders.items()}
    return {name: order for name, order in texts.items() if "" not in order and len(set(order)) == len(order) > 1}


def _polars_text(series: pl.Series) -> pl.Series:
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String:
        return series.fill_null("")
    if dtype == pl.Null:
        return pl.Series(series.name, [""], dtype=pl.String).new_from_index(0, len(series))
    if dtype.is_integer() or dtype in (pl.Categorical, pl.Enum):
        return series.cast(pl.String).fill_null("")
    distinct = series.unique().drop_nulls()
    try:
        distinct_texts = pl.Series(_distinct_texts(distinct), dtype=pl.String)
    except (OverflowError, ValueError):
        raise InputError(
            f"column {series.name!r} contains a date outside the years 1 to 9999. Correct it, or convert the column to "
            "text."
        ) from None
    # NaN counts as missing; replace_strict does not match it
    return series.replace_strict(distinct, distinct_texts, default="", return_dtype=pl.String).fill_null("")


def _distinct_texts(distinct: pl.Series) -> list[str]:
    import polars as pl

    dtype = distinct.dtype
    if dtype == pl.Float32:
        return ["" if value != value else float32_text(value) for value in distinct.to_list()]
    if isinstance(dtype, pl.Datetime):
        unit = TICKS[dtype.time_unit]
        return [ticks_text(ticks, unit, dtype.time_zone is not None) for ticks in distinct.to_physical().to_list()]
    if isinstance(dtype, pl.Duration):
        unit = TICKS[dtype.time_unit]
        return [_span_text(ticks, unit) for ticks in distinct.to_physical().to_list()]
    return [cell_text(value) for value in distinct.to_list()]


def float32_text(value: float) -> str:
    """Return the text of a 32-bit number that is not NaN."""
    return single_text(value + 0.0) if math.isfinite(value) else str(value)


def ticks_text(ticks: int, per_second: int, zoned: bool) -> str:
    """Return the text of a datetime that is given in ticks since 1970."""
    seconds, remainder = divmod(ticks, per_second)
    text = (datetime(1970, 1, 1) + timedelta(seconds=seconds)).isoformat(" ")
    billionths = remainder * (10**9 // per_second)
    if billionths:
        text += f".{billionths:09d}" if billionths % 1000 else f".{billionths // 1000:06d}"
    return text + "+00:00" if zoned else text.removesuffix(" 00:00:00")


def _span_text(ticks: int, per_second: int) -> str:
    seconds, remainder = divmod(ticks, per_second)
    days, seconds = divmod(seconds, 86_400)
    billionths = remainder * (10**9 // per_second)
    fraction = f".{billionths:09d}".rstrip("0") if billionths else ""
    minutes, seconds = divmod(seconds, 60)
    return f"P{days}DT{minutes // 60}H{minutes % 60}M{seconds}{fraction}S"


def pandas_text(series: Any, name: str) -> pl.Series:
    """Return a pandas column as text.

    Raises:
        InputError: If the column has a type without a text.
    """
    import pandas as pd
    import polars as pl

    if series.dtype.kind in "cV":
        raise InputError(f"column {name!r} has type {series.dtype}. {ADVICE}")
    if series.dtype.kind == "O" and str(series.dtype) == "object":
        cells = []
        for row, (value, is_missing) in enumerate(zip(series.tolist(), series.isna().to_numpy(), strict=True), 1):
            try:
                cells.append("" if is_missing else cell_text(value))
            except (_UnfitError, ValueError, TypeError):
                raise InputError(
                    f"column {name!r}, row {row}: a cell of type {type(value).__name__} cannot be released. {ADVICE}"
                ) from None
        return _checked(name, cells)
    try:
        codes, values = pd.factorize(series, use_na_sentinel=True)
        if str(series.dtype).lower() in ("float32", "float[pyarrow]"):  # otherwise they become 64-bit floats
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
        raise InputError(
            f"column {name!r} contains text that is not Unicode (half of a surrogate pair). Correct it first."
        ) from None


def arrow_texts(table: Any) -> dict[str, pl.Series]:
    """Return the columns of a pyarrow table as text.

    Raises:
        InputError: If a column has a type without a text.
    """
    import polars as pl

    try:
        frame = pl.from_arrow(table)
    except (pl.exceptions.PolarsError, TypeError, ValueError):
        types = ", ".join(f"{field.name!r} ({field.type})" for field in table.schema)
        raise InputError(f"a column has a type that is not supported. The columns are {types}. {ADVICE}") from None
    if not isinstance(frame, pl.DataFrame):
        raise InputError("a single pyarrow column is not supported. Pass a pyarrow Table.")
    return polars_texts(frame)


def frame_types(frame: Any, library: str) -> dict[str, Any]:
    """Return the types of a frame's columns in polars, as far as they have one.

    Not every reader of Parquet knows nanoseconds with a time zone, so these become microseconds.
    """
    import polars as pl

    if library == "pyarrow":
        empty = pl.from_arrow(frame.schema.empty_table())
        frame = empty if isinstance(empty, pl.DataFrame) else pl.DataFrame()
    if library != "pandas":
        return {name: _stored(dtype) for name, dtype in frame.schema.items()}
    types: dict[str, Any] = {}
    for name, dtype in zip(map(str, frame.columns), frame.dtypes, strict=True):
        kind, size = getattr(dtype, "kind", ""), 8 * getattr(dtype, "itemsize", 8)
        if kind in ("i", "u", "f"):
            types[name] = getattr(pl, {"i": "Int", "u": "UInt", "f": "Float"}[kind] + str(size), None)
        elif kind == "b":
            types[name] = pl.Boolean
        elif kind == "M":
            unit: Any = getattr(dtype, "unit", "us")
            zone = None if getattr(dtype, "tz", None) is None else "UTC"
            types[name] = _stored(pl.Datetime(unit if unit in TICKS else "us", zone))
    return {name: dtype for name, dtype in types.items() if dtype is not None}


def _stored(dtype: Any) -> Any:
    """Return the type that a release has for a type."""
    import polars as pl

    return pl.Datetime("us", "UTC") if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None else dtype
