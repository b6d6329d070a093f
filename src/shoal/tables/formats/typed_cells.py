"""Columns of a release that keep the type of the original: values made from their texts, and only if nothing changes.

The text is what was released and checked. A column whose values would have other texts stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.tables.typed_text import polars_texts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["keeps_type", "typed_column", "typed_frame"]

CLOCK = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{6,9}))?"
MOMENT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(?: {CLOCK})?(?:\+00:00)?")
TICKS = {"ms": 3, "us": 6, "ns": 9}
EPOCH = date(1970, 1, 1).toordinal()


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
