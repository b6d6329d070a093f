"""The cells of a table on executors: of files, which tasks read themselves, or of a Spark frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from shoal.errors import InputError, Note
from shoal.spark import reading
from shoal.spark.jobs import Kernel, batches
from shoal.spark.reading import Files, Split, read_split, split_file
from shoal.tables.table import check_names, check_stamp
from shoal.tables.typed_text import arrow_texts

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Cells", "FileCells", "FrameCells"]

Shown = Mapping[str, Mapping[str, str]]  # by column, cells to replace and what is shown in their place


class Cells(Protocol):
    """A table whose cells only executors see."""

    @property
    def place(self) -> str:
        """Where the table is, for messages."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was noticed when the table was opened."""

    @property
    def n_tasks(self) -> int:
        """The number of tasks that read the table; 0 if it is not known."""

    def open(self) -> None:
        """Get ready; runs a job."""

    def close(self) -> None:
        """Forget what was kept on executors."""

    def mapped(self, names: Sequence[str], kernel: Kernel, schema: str) -> DataFrame:
        """Apply a kernel to the cells of these columns, task by task.

        Args:
            names: The columns; the kernel finds them as c0, c1 and so on.
            kernel: What to do with the frames of text of one task.
            schema: The columns of the result, as Spark writes them.
        """

    def check_unchanged(self) -> None:
        """Raise an InputError if the table changed since it was opened."""

    def recode(self, shown: Shown) -> None:
        """Have `mapped` show other cells in the place of some."""


@dataclass
class FileCells:
    """Files that every executor can read by their path."""

    spark: SparkSession
    files: Files
    given: str
    _splits: tuple[Split, ...] = ()
    _shown: Shown = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The path."""
        return self.given

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.files.names

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was detected in the first file."""
        return self.files.notes

    @property
    def n_tasks(self) -> int:
        """The number of parts of the files."""
        return len(self._splits)

    def open(self) -> None:
        """Divide the files into parts, one for each task."""
        files, n_bytes, n_rows = self.files, reading.SPLIT_BYTES, reading.SPLIT_ROWS
        if len(files.paths) == 1 and files.paths[0].stat().st_size <= n_bytes:
            self._splits = tuple(split_file(files, 0, n_bytes, n_rows))
            return

        def divide(given: Iterable[Any]) -> Iterator[Any]:
            import polars as pl

            for batch in given:
                for number in batch.column(0).to_pylist():
                    rows = [(number, s.start, s.length, s.lines) for s in split_file(files, number, n_bytes, n_rows)]
                    yield from batches([pl.DataFrame(rows, ["f", "s", "n", "l"], orient="row")])

        ids = self.spark.range(0, len(files.paths), 1, len(files.paths))
        found = ids.mapInArrow(divide, "f bigint, s bigint, n bigint, l bigint").toArrow().to_pylist()
        found.sort(key=lambda row: (row["f"], row["s"]))
        self._splits = tuple(Split(files.paths[row["f"]], row["s"], row["n"], row["l"]) for row in found)

    def close(self) -> None:
        """Do nothing: the files are read where they are."""

    def mapped(self, names: Sequence[str], kernel: Kernel, schema: str) -> DataFrame:
        """Apply a kernel to the cells of these columns, task by task."""
        files, splits, numbered = self.files, self._splits, _numbered(names, self._shown)

        def read(given: Iterable[Any]) -> Iterator[Any]:
            def frames() -> Iterator[pl.DataFrame]:
                for batch in given:
                    for number in batch.column(0).to_pylist():
                        for frame in read_split(files, splits[number]):
                            yield numbered(frame)

            return batches(kernel(frames()))

        return self.spark.range(0, len(splits), 1, len(splits)).mapInArrow(read, schema)

    def check_unchanged(self) -> None:
        """Raise an InputError if a file changed since it was opened."""
        for path, stamp in zip(self.files.paths, self.files.stamps, strict=True):
            check_stamp(path, stamp)

    def recode(self, shown: Shown) -> None:
        """Have `mapped` show other cells in the place of some; the verifier sees those of the files."""
        self._shown = shown


@dataclass
class FrameCells:
    """A Spark frame. It is kept on the disks of executors: another evaluation might give other rows."""

    frame: DataFrame
    _kept: DataFrame | None = None
    _shown: Shown = field(default_factory=dict)

    @property
    def spark(self) -> SparkSession:
        """The session of the frame."""
        return self.frame.sparkSession

    @property
    def place(self) -> str:
        """What messages call it."""
        return "the Spark frame"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Names that differ only in case."""
        return tuple(check_names(list(self.frame.columns), "the Spark frame"))

    @property
    def n_tasks(self) -> int:
        """Not known: the session of the frame has its own setting."""
        return 0

    def open(self) -> None:
        """Keep the frame."""
        from pyspark import StorageLevel

        if not self.names:
            raise InputError("the Spark frame has no columns.")
        numbered = self.frame.toDF(*(f"n{i}" for i in range(len(self.names))))  # names may differ in case only
        self._kept = numbered.persist(StorageLevel.DISK_ONLY)

    def close(self) -> None:
        """Forget the frame."""
        if self._kept is not None:
            self._kept.unpersist()
            self._kept = None

    def mapped(self, names: Sequence[str], kernel: Kernel, schema: str) -> DataFrame:
        """Apply a kernel to the cells of these columns, task by task."""
        return self.columns(names).mapInArrow(_texts_of(kernel, list(names), _numbered(names, self._shown)), schema)

    def columns(self, names: Sequence[str]) -> DataFrame:
        """Return these columns of the frame, with their own types, as c0, c1 and so on."""
        assert self._kept is not None, "the source is closed"
        places = [self.names.index(name) for name in names]
        return self._kept.select(*(self._kept[f"n{place}"].alias(f"c{i}") for i, place in enumerate(places)))

    def check_unchanged(self) -> None:
        """Do nothing: the frame is kept."""

    def recode(self, shown: Shown) -> None:
        """Have `mapped` show other cells in the place of some; the verifier sees those of the frame."""
        self._shown = shown


def _texts_of(
    kernel: Kernel, names: list[str], numbered: Callable[[pl.DataFrame], pl.DataFrame]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a kernel over text as a function of Arrow batches of any type."""

    def run(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl
        import pyarrow as pa

        def frames() -> Iterator[pl.DataFrame]:
            for batch in given:
                texts = arrow_texts(pa.Table.from_batches([batch]).rename_columns(names))
                yield numbered(pl.DataFrame(texts))

        return batches(kernel(frames()))

    return run


def _numbered(names: Sequence[str], shown: Shown) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return what picks columns as c0, c1 and so on, and shows other cells in the place of some."""
    others = {name: shown[name] for name in names if shown.get(name)}

    def numbered(frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        return frame.select(
            (pl.col(name).replace(others[name]) if name in others else pl.col(name)).alias(f"c{i}")
            for i, name in enumerate(names)
        )

    return numbered


def file_of(cells: Cells) -> Path | None:
    """Return the file of a table, if it is a single file."""
    if isinstance(cells, FileCells) and len(cells.files.paths) == 1:
        return cells.files.paths[0]
    return None
