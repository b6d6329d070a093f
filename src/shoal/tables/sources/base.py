"""The protocol of a source: a table wherever it is, in memory, in a file or in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shoal.errors import Note
from shoal.schema import Dialect
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from shoal.tables.table import Table

__all__ = ["SAMPLE", "DistinctRows", "Facts", "Recoding", "Rows", "Snapshot", "Source", "Verifier"]

SAMPLE = 1000  # distinct values that are examined in a column that is released unchanged

Rows = Iterator[list[list[str]]]  # blocks of rows, each row a list of cells


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows of text, and the number of table rows equal to each."""

    frame: pl.DataFrame
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class Facts:
    """Figures of one column.

    Attributes:
        sample: The first distinct values in order, at most SAMPLE.
        distinct: Number of distinct values.
        rare: Number of values that occur in fewer than k rows.
        missing: Number of rows whose cell is one of the missing-value markers.
    """

    sample: tuple[str, ...]
    distinct: int
    rare: int
    missing: int


@dataclass(frozen=True)
class Recoding:
    """A full-domain release of a table as a rule: the released text of each quasi-identifier cell.

    Attributes:
        names: The released columns in order.
        maps: By quasi-identifier, the released text of each cell. A row with an unmapped cell is suppressed.
        kept: The combinations of released texts that are released, in the order of maps; None means all of them.
    """

    names: tuple[str, ...]
    maps: Mapping[str, Mapping[str, str]]
    kept: tuple[tuple[str, ...], ...] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Snapshot:
    """One state of a table in a database, which another session of that database can see.

    Attributes:
        name: The name that the server gave the exported snapshot.
        relation: The table as the catalog describes it (a `session.Relation`).
    """

    name: str
    relation: Any


class Verifier(Protocol):
    """The readers of `shoal.verification`, which a source calls to have the verifier read the original itself."""

    def can_read(self, path: Path, /) -> bool:
        """Return whether the verifier has its own reader for a file."""

    def read_original(self, path: Path, dialect: Dialect, sheet: str | None, step: Callable[[int], None], /) -> Any:
        """Read a file in the verifier's own form; step is called with the number of rows read so far."""

    def source_rows(self, path: Path, dialect: Dialect, names: Sequence[str], /) -> Rows:
        """Read columns of a file, block by block."""

    def table_rows(self, connection: Any, table: tuple[str, str], names: Sequence[str], /) -> Rows:
        """Read columns of a table in a database, block by block."""


class Source(Protocol):
    """A table that can be counted, recoded and read again. Every cell is the text that our own readers give it.

    A source is opened for the length of a `with` block and can be opened again; a copy made by pickle is closed.
    """

    @property
    def in_memory(self) -> bool:
        """Whether the rows are in memory once the source is open."""

    @property
    def place(self) -> str:
        """Where the table is, for messages: a path, or a URL without its password."""

    @property
    def path(self) -> Path | None:
        """The file of the table; None if the table is not a file."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was detected or noticed on reading, for the user to see."""

    def opened(self, folder: Path, watch: Watch = UNWATCHED) -> AbstractContextManager[Source]:
        """Open the source; one that is open already stays open.

        Args:
            folder: A private folder for temporary files, on a disk with room for the table.
            watch: Hears of progress and may cancel.
        """

    def check(self, names: Sequence[str]) -> None:
        """Raise an InputError that lists all of these columns whose type has no text."""

    def count(self, names: Sequence[str]) -> DistinctRows:
        """Count the table by these columns, in one query."""

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return the figures of one column; a rare value occurs in fewer than k rows."""

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""

    def read(self) -> Table:
        """Read the table into memory."""

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Have the verifier read these columns of the original, block by block."""

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Have the verifier read the complete original, by column name.

        Args:
            verifier: The readers of the verifier.
            step: Called with the number of rows read so far; it may raise.
        """

    def guarded(self) -> AbstractContextManager[None]:
        """Turn errors of the engine into a FileError without a cell of the table."""

    def check_unchanged(self) -> None:
        """Raise an InputError if the table changed since it was read or counted."""

    def signature(self, key: bytes) -> str:
        """Return the keyed hash of the input; raise a UsageError if the source has no bytes to hash."""

    def identity(self) -> tuple[object, ...] | None:
        """Return what distinguishes a table of a database from all others; None for other sources."""

    def snapshot(self) -> Snapshot | None:
        """Export the state of a table for another session of its database; None for other sources."""
