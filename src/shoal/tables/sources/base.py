"""What can be asked of a table that is not in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import Note

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DistinctRows", "Facts", "Recoding", "Source"]

SAMPLE = 1000  # distinct values that are looked at, of a column that leaves as it is


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows of text with the number of table rows that show each."""

    frame: pl.DataFrame
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Facts:
    """What is known of one column: its first distinct values in order, how many there are, how many in few rows.

    missing: the rows whose cell is one of the markers that were asked for.
    """

    sample: tuple[str, ...]
    distinct: int
    rare: int
    missing: int


@dataclass(frozen=True)
class Recoding:
    """What a full-domain release does to a table: the released text of each quasi-identifier cell.

    names: the released columns in order. maps: by quasi-identifier, from the text of a cell to its released text; a
    row with a cell that has none is left out. kept: the combinations of released texts that leave, in the order of
    maps; None where all do.
    """

    names: tuple[str, ...]
    maps: Mapping[str, Mapping[str, str]]
    kept: tuple[tuple[str, ...], ...] | None = field(default=None, repr=False)


class Source(Protocol):
    """A table that is counted where it lies; every cell is the text that our own readers give it."""

    @property
    def place(self) -> str:
        """Where the table is, for messages: a path, or a URL without its password."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was guessed or noticed, for the user to see."""

    def check(self, names: Sequence[str]) -> None:
        """Raise an InputError if columns hold what has no text; all of them are named together."""

    def count(self, names: Sequence[str]) -> DistinctRows:
        """Count the table by these columns, in one query."""

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return what is known of one column; rare values are those in fewer than k rows."""

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""

    def guarded(self) -> AbstractContextManager[None]:
        """Turn what the engine refuses into a FileError without a cell of the table."""

    def check_unchanged(self) -> None:
        """Raise an InputError if the table is no longer the one that was counted."""
