"""Ranges that a file or frame has as two columns, NAME_min and NAME_max, read as one column of ranges."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["in_bounds", "merge_bounds", "merged"]

SUPPRESSED = "*"


def in_bounds(names: Iterable[str], header: Collection[str]) -> list[str]:
    """Return those of these columns that a header lacks, but has as two columns of bounds.

    >>> in_bounds(["age", "sex"], ["age_min", "age_max", "sex"])
    ['age']
    """
    known = set(header)
    return [name for name in names if name not in known and {f"{name}_min", f"{name}_max"} <= known]


def merge_bounds(table: Table, names: Iterable[str]) -> Table:
    """Return a table with one column of ranges for each of these columns that it has as two of bounds.

    Two equal bounds are a single value. A frame whose bounds are typed has two nulls where a cell is suppressed or
    missing; they say nothing, so they become a suppressed cell.
    """
    bounds = in_bounds(dict.fromkeys(names), table.names)
    if not bounds:
        return table
    empty = "" if table.native is None else SUPPRESSED
    return replace(table, frame=merged(table.frame, bounds, empty), native=None, _factors={})


def merged(frame: pl.DataFrame, bounds: Iterable[str], empty: str = "") -> pl.DataFrame:
    """Return a frame of text with one column for each of these columns of bounds, in the place of the lower one.

    Args:
        frame: The frame.
        bounds: The columns that it has as two.
        empty: The cell for two empty bounds.
    """
    import polars as pl

    for name in bounds:
        low, high = pl.col(f"{name}_min"), pl.col(f"{name}_max")
        single = pl.when(low == "").then(pl.lit(empty)).otherwise(low)
        ranges = pl.when(low == high).then(single).otherwise(pl.format("[{}, {}]", low, high))
        frame = frame.with_columns(ranges.alias(f"{name}_min")).rename({f"{name}_min": name}).drop(f"{name}_max")
    return frame
