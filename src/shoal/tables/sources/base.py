"""The protocol of a source: a table wherever it is, in memory, in a file or in a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from shoal.errors import Note
from shoal.schema import Dialect
from shoal.tables.table import Factor, factorize
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from shoal.tables.table import Table
    from shoal.tables.values.people import People

__all__ = [
    "LAYOUTS",
    "SAMPLE",
    "CellCounter",
    "Dealer",
    "Dealing",
    "DistinctRows",
    "Facts",
    "FileLayout",
    "Gatherer",
    "GroupCounter",
    "Grouping",
    "Recoding",
    "Rows",
    "SizeCounter",
    "Snapshot",
    "Source",
    "Verifier",
    "Witness",
]

# Settings of the file that a dealer may be able to follow: how cells look, in which order rows are, centres of groups,
# and models that count a population.
LAYOUTS = frozenset(
    {"keep_order", "bounds", "center", "spreadsheet_safe", "output_delimiter", "output_decimal", "population"}
)
SAMPLE = 1000  # distinct values that are examined in a column that is released unchanged

Rows = Iterator[list[list[str]]]  # blocks of rows, each row a list of cells
Change = Callable[[list[str]], list[str]]  # gives texts another form, one by one


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows, and the number of table rows equal to each.

    Attributes:
        cells: The rows: texts, or columns as ranks.
        counts: The number of table rows equal to each.
    """

    cells: pl.DataFrame | Mapping[str, Factor] = field(repr=False)
    counts: NDArray[np.int64]

    @property
    def frame(self) -> pl.DataFrame:
        """The rows as text."""
        import polars as pl

        if isinstance(self.cells, pl.DataFrame):
            return self.cells
        return pl.DataFrame({name: factor.cells() for name, factor in self.cells.items()})

    @property
    def factors(self) -> Mapping[str, Factor]:
        """The columns as ranks."""
        import polars as pl

        if isinstance(self.cells, pl.DataFrame):
            return {name: factorize(self.cells[name]) for name in self.cells.columns}
        return self.cells


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


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of each cell of a column, such as its label on one level of a hierarchy; groups are numbers.

    Attributes:
        name: The column.
        groups: By cell, its group.
    """

    name: str
    groups: Mapping[str, int] = field(repr=False)


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
class FileLayout:
    """How a file shows released columns.

    Attributes:
        columns: By released column, the columns of the file in its place: their names, and the form of their cells. A
            column that is not named here is shown as it is. A column that no group shows has one column in its place.
        delimiter: The separator of cells.
        keep_order: Whether rows have the order of the source; otherwise they are sorted by their cells in the file.
        centers: Whether groups show their centres.
    """

    columns: Mapping[str, Sequence[tuple[str, Change]]] = field(default_factory=dict)
    delimiter: str = ","
    keep_order: bool = False
    centers: bool = False


@dataclass(frozen=True)
class Dealing:
    """A release of a table as groups of its tuples. The rows of a tuple are dealt to its groups.

    They go to the groups in order, sorted by their other released columns, which are taken in the order of their names.

    Attributes:
        names: The released columns in order; after a column of centres, that of its spread.
        codes: By quasi-identifier, and by further column that tells tuples apart, its distinct cells and their codes.
        tuples: The codes of each tuple, in the order of `codes`.
        entries: The tuple, the number of rows and the group of each entry, in the order in which rows are dealt; -1 for
            rows that are not released. Every tuple has an entry.
        cells: By quasi-identifier, and by column of spread, its distinct released cells, sorted; and the place of each
            group's cell among them.
        layout: How the file shows these columns.
        searched: The groups as the engine has them, if it searched the sections itself; there are no tuples, entries
            and places of groups here then.
        people: The column of people, if the engine codes it itself. It tells tuples apart as well, after `codes`.
    """

    names: tuple[str, ...]
    codes: Mapping[str, tuple[pl.Series, NDArray[np.int32]]] = field(repr=False)
    tuples: NDArray[np.int32] = field(repr=False)
    entries: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]] = field(repr=False)
    cells: Mapping[str, tuple[pl.Series, NDArray[np.int32]]] = field(repr=False)
    layout: FileLayout = field(default_factory=FileLayout, repr=False)
    searched: Any = field(default=None, repr=False)
    people: People | None = None

    @property
    def keyed(self) -> list[str]:
        """The columns that tell tuples apart."""
        return [*self.codes, *([] if self.people is None else [self.people.name])]

    @property
    def held_back(self) -> list[str]:
        """Those of them that are not released: people come before the k of rows."""
        return [name for name in self.keyed if name not in self.names][::-1]

    @property
    def leaves_out(self) -> bool:
        """Whether some rows are not released."""
        return bool((self.entries[2] < 0).any() if self.searched is None else self.searched.leaves_out)


class Gatherer(Protocol):
    """The distinct cells of a column that are too many for a list."""

    def gather(self, places: NDArray[np.int64]) -> list[str]:
        """Return the cells at ascending places; none before the first of them is asked for again."""


class Witness(NamedTuple):
    """What released rows were made from, in the order of the file.

    Attributes:
        texts: For each quasi-identifier, in the order of the released columns, the distinct cells of the source. They
            may come as what lists some of them, those of people as what gathers them.
        chunks: Blocks of rows: for each quasi-identifier, the place of each row's cell among them.
        left_out: Blocks of rows that are not released: texts and places for all released columns.

    Columns that are not released but counted, such as that of people, follow both. The numbers of groups follow in the
    chunks if the cells are centres. The numbers of rows in the source, from 0, follow both if rows keep its order.
    """

    texts: list[list[str] | Gatherer]
    chunks: Iterator[list[NDArray[Any]]]
    left_out: Iterator[list[tuple[list[str], NDArray[Any]]]]


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

    def SourceTable(self, table: Any, dialect: Dialect, /) -> Any:  # noqa: N802 - a class of the verifier
        """Return what reads a file, or blocks of text, as codes."""

    def table_rows(self, connection: Any, table: tuple[str, str], names: Sequence[str], /) -> Rows:
        """Read columns of a table in a database, block by block."""


@runtime_checkable
class GroupCounter(Protocol):
    """A source that counts groups of cells by queries, inside the engine that holds the table."""

    def prepare_groups(self, groupings: Sequence[Grouping]) -> None:
        """Get ready to count by any of these groupings."""

    def count_groups(self, groupings: Sequence[Grouping]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the table by these groupings, in one query: distinct rows of groups, and their counts."""

    def rows_below(self, groupings: Sequence[Grouping], least: int) -> int:
        """Return the number of rows in combinations of fewer than `least` rows, in one query."""


@runtime_checkable
class SizeCounter(Protocol):
    """A source that counts its combinations of cells by their rows."""

    def count_sizes(
        self, names: Sequence[str], people: People | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many rows, or people, combinations of cells have, and how many combinations have as many."""


@runtime_checkable
class CellCounter(Protocol):
    """A dealer that counts cells of the rows that it wrote last, and looks at cells of its source."""

    def judge_cells(self, name: str, judge: Callable[[list[str]], str]) -> set[str]:
        """Return what is said of the distinct cells of a column of the source, some of them at a time."""

    def count_cells(self, name: str, texts: Sequence[str]) -> int:
        """Return the number of written rows whose cell of an unchanged column is one of these texts."""


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

    @property
    def dialect(self) -> Dialect | None:
        """How the text file of the table is written; None if there is none."""

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

    def dealer(self) -> Dealer | None:
        """Return what deals the rows of this open source to groups; None if they must be in memory for that."""


class Dealer(Protocol):
    """Deals the rows of an open source to groups, without a row in memory."""

    @property
    def lays_out(self) -> frozenset[str]:
        """Which of `LAYOUTS` it can follow, and state what the gate asks about them."""

    def deal(self, dealing: Dealing, path: Path) -> None:
        """Write the rows as CSV, sorted by their released cells."""

    def check_room(self, n_tuples: int, n_columns: int, n_rows: int) -> None:
        """Raise a FileError if a search does not fit into memory.

        Args:
            n_tuples: The number of distinct tuples.
            n_columns: The number of their columns.
            n_rows: The number of rows, if they are searched one by one; otherwise 0.
        """

    def original(self, verifier: Verifier) -> Any:
        """Return how the verifier reads the original itself."""

    def witness(self) -> Witness:
        """Return what each row that `deal` wrote last was made from, in the order of the file."""
