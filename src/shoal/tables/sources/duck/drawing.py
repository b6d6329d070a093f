"""Rows of a source that DuckDB has, numbered among those that are equal to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.tables.sources.duck_session import DuckSession

if TYPE_CHECKING:
    import polars as pl

__all__ = ["numbered_blocks"]


class Copied(Protocol):
    """A source whose cells DuckDB has, as they are."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def session(self) -> DuckSession:
        """The open DuckDB."""

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""


def numbered_blocks(source: Copied) -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
    """Yield all rows as text, one block at a time, and how many equal rows come before each."""
    import polars as pl

    columns = ", ".join(f"c{i}" for i in range(len(source.names)))
    equal = f"row_number() over (partition by {columns} order by line) - 1 as before"
    with source.session.stored(f"select before from (select line, {equal} from cells) order by line") as path:
        rows, first = pl.scan_parquet(path, glob=False), 0
        for frame in source.blocks():
            before = rows.slice(first, frame.height).collect()["before"]
            first += frame.height
            yield frame, before.to_numpy().astype(np.int64)
