"""Detect the format of a column of dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shoal.tables.values import parse_dates

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DateFormat", "find_date_format"]

# Formats and their patterns. If two fit, the first is used and the second reported: 03/04/2024 may be April or March.
FORMATS = (
    ("%Y-%m-%d", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    ("%d.%m.%Y", r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}"),
    ("%d/%m/%Y", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}"),
    ("%m/%d/%Y", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}"),
    ("%d-%m-%Y", r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}"),
    ("%m-%d-%Y", r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}"),
    ("%Y/%m/%d", r"[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}"),
    ("%Y.%m.%d", r"[0-9]{4}\.[0-9]{1,2}\.[0-9]{1,2}"),
    ("%Y%m%d", r"(1[89]|20)[0-9]{6}"),
    ("%d.%m.%y", r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2}"),
    ("%d/%m/%y", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}"),
    ("%m/%d/%y", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}"),
    ("%Y-%m-%d %H:%M", r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}"),
    ("%Y-%m-%d %H:%M:%S", r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"),
    ("%Y-%m-%dT%H:%M:%S", r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"),
    ("%Y-%m-%dT%H:%M:%SZ", r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"),
    ("%Y-%m-%d %H:%M:%S.%f", r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{1,6}"),
    ("%d.%m.%Y %H:%M", r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4} [0-9]{2}:[0-9]{2}"),
    ("%d.%m.%Y %H:%M:%S", r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}"),
    ("%d/%m/%Y %H:%M", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} [0-9]{1,2}:[0-9]{2}"),
    ("%m/%d/%Y %H:%M", r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} [0-9]{1,2}:[0-9]{2}"),
    ("%d %b %Y", r"[0-9]{1,2} [A-Za-z]{3} [0-9]{4}"),
    ("%d-%b-%Y", r"[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}"),
    ("%d-%b-%y", r"[0-9]{1,2}-[A-Za-z]{3}-[0-9]{2}"),
    ("%d %B %Y", r"[0-9]{1,2} [A-Za-z]{3,9} [0-9]{4}"),
    ("%b %d, %Y", r"[A-Za-z]{3} [0-9]{1,2}, [0-9]{4}"),
    ("%B %d, %Y", r"[A-Za-z]{3,9} [0-9]{1,2}, [0-9]{4}"),
    ("%Y-%m", r"[0-9]{4}-[0-9]{2}"),
    ("%m/%Y", r"[0-9]{1,2}/[0-9]{4}"),
)
SWAPPED = {"%d/%m": "%m/%d", "%d-%m": "%m-%d"}
PARSED_EXACTLY = 20_000  # polars parses more distinct values than this, which is faster
SAMPLED = 200


class DateFormat(NamedTuple):
    """A strptime format, another one that fits too, and the number of distinct values that do not fit."""

    form: str
    other: str | None
    misfits: int


def find_date_format(texts: pl.Series) -> DateFormat | None:
    """Return the format that at least nine in ten distinct values have, with the number of misfits."""
    if not len(texts):
        return None
    sample = texts.gather_every(max(1, len(texts) // SAMPLED))
    best: DateFormat | None = None
    for form, pattern in FORMATS:
        if sample.str.contains(f"^(?:{pattern})$").mean() < 0.9:  # type: ignore[operator]
            continue
        misfits = _misfits(texts, form, pattern)
        if misfits == 0:
            other = next((form.replace(day, month) for day, month in SWAPPED.items() if day in form), None)
            both = other is not None and _misfits(texts, other, pattern) == 0
            return DateFormat(form, other if both else None, 0)
        if misfits <= 0.1 * len(texts) and (best is None or misfits < best.misfits):
            best = DateFormat(form, None, misfits)
    return best


def _misfits(texts: pl.Series, form: str, pattern: str) -> int:
    fits = texts.str.contains(f"^(?:{pattern})$")
    candidates = texts.filter(fits)
    outside = len(texts) - len(candidates)
    if len(candidates) <= PARSED_EXACTLY:
        return outside + len(parse_dates(candidates.to_list(), form)[1])
    return outside + candidates.str.to_datetime(form, strict=False).null_count()
