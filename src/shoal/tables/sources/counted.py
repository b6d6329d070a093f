"""Large files as their distinct rows in some columns, each with the number of rows that are equal to it.

The cells are those of `read_table`. Memory depends on the distinct rows and cells, not on the rows of the file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.tables.bounds import merge_bounds
from shoal.tables.formats import as_table, read_table
from shoal.tables.formats.blocks import Blocks, open_blocks
from shoal.tables.formats.sniff import Format, sniff
from shoal.tables.sorting import pack, sort_keys, starts_of_runs
from shoal.tables.sources.numbering import Numbering
from shoal.tables.sources.url import is_url
from shoal.tables.table import Factor, Table, check_stamp, make_table
from shoal.tables.typed_text import frame_orders

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["as_counted", "read_counted"]

LEAST_BYTES = 1 << 23  # of text; smaller files are read as they are
SQUEEZED = 32  # times as much text is in a compressed file, at least
CELL_BYTES = 8  # of text in a cell of Parquet, which may store it many times smaller
LEAST_PENDING = 500_000  # rows that are counted at once
SUFFIXES = ("", "_min", "_max", "_sd", "_share")  # of the columns that a release may have in the place of one


def read_counted(
    path: str | os.PathLike[str], named: Sequence[str], further: Collection[str] = (), **options: Any
) -> Table:
    """Read a table as `read_table` does; a large CSV or Parquet file as its distinct rows in some columns.

    Bounds and spreads of these columns belong to them.

    Args:
        path: The file.
        named: Columns that the table has. If it lacks one, some rows are returned with all columns, for a message.
        further: Columns that are read, too, if the table has them.
        **options: How to read the file; see `read_table`.

    Raises:
        InputError: The content cannot be used.
        FileError: The file cannot be read.
    """
    if is_url(path) or options.get("sheet") is not None or not _is_large(Path(path)):
        return read_table(path, named=named, **options)
    reading = {name: options.get(name) for name in ("delimiter", "encoding", "header", "duplicate_columns")}
    blocks = open_blocks(Path(path), named=named, **reading)
    kept = _kept(blocks.names, named, further)
    if kept is None:
        return Table(next(blocks.frames), path=Path(path), dialect=blocks.dialect, notes=blocks.notes)
    rows = _DistinctRows(kept)
    for frame in blocks.frames:
        rows.add(frame)
    check_stamp(Path(path), blocks.stamp)
    if not rows.n_rows:
        raise InputError(f"{path}: no data rows.")
    return rows.table(Path(path), blocks)


def as_counted(data: Any, named: Sequence[str], further: Collection[str] = ()) -> Table:
    """Return a table as `as_table` does; a large file as `read_counted` does."""
    if not isinstance(data, str | os.PathLike):
        return as_table(data, named)
    return merge_bounds(read_counted(data, named, further), named)


def _is_large(path: Path) -> bool:
    import polars as pl

    form = sniff(path) if os.path.isfile(path) else None
    if form not in (Format.CSV, Format.GZIP, Format.PARQUET):
        return False
    size = path.stat().st_size * (SQUEEZED if form is Format.GZIP else 1)
    if form is Format.PARQUET:
        try:
            rows = pl.scan_parquet(path, glob=False)
            size = max(size, int(rows.select(pl.len()).collect().item()) * len(rows.collect_schema()) * CELL_BYTES)
        except (OSError, pl.exceptions.PolarsError):  # reading the file says what is wrong
            return False
    return size >= LEAST_BYTES


def _kept(header: Sequence[str], named: Sequence[str], further: Collection[str]) -> list[str] | None:
    """Return the columns to read, also those with the quote of a cell that is safe for spreadsheets; None if one lacks.

    >>> _kept(["age_min", "age_max", "sex", "zip"], ["age", "sex"], ["disease"])
    ['age_min', 'age_max', 'sex']
    """
    wanted = {name + suffix for name in (*named, *further) for suffix in SUFFIXES}
    kept = [name for name in header if name in wanted or name.removeprefix("'") in wanted]
    bare = {*kept, *(name.removeprefix("'") for name in kept)}
    is_complete = all(name in bare or {f"{name}_min", f"{name}_max"} <= bare for name in named)
    return kept if kept and is_complete else None


class _DistinctRows:
    """The distinct rows of blocks in some columns, each with its first row and how often it occurs."""

    def __init__(self, names: Sequence[str]) -> None:
        self.n_rows = 0
        self._names = names
        self._numberings = [Numbering() for _ in names]
        self._codes: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32) for _ in names]
        self._first = self._times = np.zeros(0, dtype=np.int64)
        self._pending: list[list[NDArray[np.int32]]] = []
        self._n_pending = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Count some rows."""
        if not frame.height:
            return
        pairs = zip(self._names, self._numberings, strict=True)
        self._pending.append([numbering.number(frame[name]) for name, numbering in pairs])
        self._n_pending += frame.height
        self.n_rows += frame.height
        if self._n_pending >= max(LEAST_PENDING, len(self._first) // 4):
            self._merge()

    def table(self, path: Path, blocks: Blocks) -> Table:
        """Return the distinct rows in the order of their first occurrence."""
        import polars as pl

        self._merge()
        factors = {}
        for i, (name, numbering) in enumerate(zip(self._names, self._numberings, strict=True)):
            texts, ranks = numbering.ranks()
            factors[name] = Factor(ranks[self._codes[i]], texts)
        columns = {name: factor.texts.gather(factor.ranks).alias(name) for name, factor in factors.items()}
        orders = {}
        if blocks.dialect is None:
            orders = frame_orders(pl.read_parquet(path, n_rows=0, glob=False, hive_partitioning=False), "polars")
        return make_table(
            columns,
            str(path),
            path=path,
            dialect=blocks.dialect,
            stamp=blocks.stamp,
            weights=self._times,
            first_rows=self._first,
            header=blocks.names,
            orders={name: order for name, order in orders.items() if name in columns},
            _factors=factors,
        )

    def _merge(self) -> None:
        if not self._n_pending:
            return
        codes = [np.concatenate(parts) for parts in zip(self._codes, *self._pending, strict=True)]
        first = np.concatenate([self._first, np.arange(self.n_rows - self._n_pending, self.n_rows)])
        times = np.concatenate([self._times, np.ones(self._n_pending, dtype=np.int64)])
        self._pending, self._n_pending = [], 0
        key, n_keys = pack(codes, [len(numbering) for numbering in self._numberings])
        order = sort_keys(key, n_keys)  # stable: the first of equal rows comes first
        starts = np.flatnonzero(starts_of_runs(key[order]))
        kept, counts = order[starts], np.add.reduceat(times[order], starts)
        del key, order
        in_order = np.argsort(kept)
        kept = kept[in_order]
        self._times, self._first = counts[in_order], first[kept]
        self._codes = [column[kept] for column in codes]
