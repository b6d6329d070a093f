"""A table that Spark counts, deals to groups and sorts; the driver sees counts and dictionaries, never rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import FileError, InputError, InternalError, Note, UsageError, setting
from shoal.schema import Dialect
from shoal.spark.cells import Cells, FileCells, FrameCells, file_of
from shoal.spark.counting import column_facts, count_rows, count_values, judge_cells
from shoal.spark.dealing import Dealt, deal_rows, recode_rows
from shoal.spark.jobs import polars_of, run_job
from shoal.spark.parts import Part, Rendering, join_parts, stored_rows, write_parts
from shoal.spark.reading import find_files
from shoal.spark.search.searcher import SparkSearcher
from shoal.spark.session import spark_errors
from shoal.tables.formats.memory_limit import available_memory, size_in_words
from shoal.tables.formats.sniff import Format
from shoal.tables.sources.base import (
    LAYOUTS,
    Dealing,
    DistinctRows,
    Facts,
    Gatherer,
    Recoding,
    Rows,
    Verifier,
    Witness,
)
from shoal.tables.sources.duck.people import MetIds
from shoal.tables.sources.duck_session import CELL_BYTES, ROW_BYTES, TUPLE_BYTES
from shoal.tables.sources.memory import sign_file
from shoal.tables.table import Table
from shoal.tables.values.people import People
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkSource"]

Result = TypeVar("Result")
MOST_FETCHED = 2**31 - 2  # rows; Java has no more
SPLITS_PER_PART = 8  # a part of a release is examined by one task
PARTITIONS = "spark.sql.shuffle.partitions"


class SparkSource(SparkSearcher):
    """Files or a Spark frame; see `Source` for the methods."""

    in_memory = False
    lays_out = LAYOUTS - {"keep_order"}

    def __init__(self, spark: SparkSession, data: Any, options: dict[str, Any] | None = None) -> None:
        """Describe the source; `opened` reads it.

        Args:
            spark: The session.
            data: A Spark frame, or the path of a file, of a folder, or a pattern.
            options: How files are opened; see `open_blocks`.
        """
        self.spark = spark
        super().__init__()
        self._cells: Cells
        if isinstance(data, str | os.PathLike):
            place = os.fspath(data)
            self._cells = FileCells(spark, find_files(place, options or {}), place)
        else:
            self._cells = FrameCells(data)
        self._is_open = False
        self._folder = Path()
        self._watch: Watch = UNWATCHED
        self._released: tuple[str, ...] = ()
        self._values: DataFrame | None = None
        self._facts: dict[tuple[int, tuple[str, ...]], dict[str, Facts]] = {}
        self._dealt: tuple[Dealing, Dealt, list[Part], list[Part]] | None = None

    @property
    def dialect(self) -> Dialect | None:
        """How a text file is written; None for any other source."""
        return self._cells.files.dialect if isinstance(self._cells, FileCells) else None

    @contextmanager
    def opened(self, folder: Path, watch: Watch = UNWATCHED) -> Iterator[SparkSource]:
        """Get ready to run jobs."""
        if self._is_open:
            yield self
            return
        self._folder, self._watch, self._is_open = Path(os.path.realpath(folder)), watch, True
        try:
            self.run(self._cells.open)
            with _spread(self.spark, self._cells.n_tasks // SPLITS_PER_PART):
                yield self
        finally:
            for frame in (*self._kept, *([] if self._values is None else [self._values])):
                frame.unpersist()
            self._cells.recode({})
            self._cells.close()
            self._is_open, self._watch, self._values, self._dealt = False, UNWATCHED, None, None
            self._units, self._people, self._kept = None, None, []
            self._facts = {}

    @property
    def cells(self) -> Cells:
        """The table on executors."""
        return self._cells

    @property
    def place(self) -> str:
        """The path, or what messages call the frame."""
        return self._cells.place

    @property
    def path(self) -> Path | None:
        """The file, if the table is a single one."""
        return file_of(self._cells)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._cells.names

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was detected or noticed."""
        return self._cells.notes

    def run(self, action: Callable[[], Result]) -> Result:
        """Run a job, which the watch may cancel."""
        return run_job(self.spark, self._watch, self.place, action)

    def check(self, names: Sequence[str]) -> None:
        """Remember the released columns; every cell becomes text on executors."""
        self._released = tuple(names)

    def count(self, names: Sequence[str]) -> DistinctRows:
        """Count the table by these columns, in one job."""
        counted = self.run(lambda: polars_of(count_rows(self._cells, names)))
        if not counted.height:
            raise InputError(f"{self.place}: no data rows.")
        counts = counted["n"].to_numpy().astype(np.int64)
        cells = counted.drop("n")
        return DistinctRows(cells.rename(dict(zip(cells.columns, names, strict=True))), counts)

    def count_sizes(
        self, names: Sequence[str], people: People | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many rows, or people, combinations of cells have, and how many combinations have as many."""
        groups = count_rows(self._cells, names)
        if people is not None:
            self.code_people(people)
            assert self._people is not None
            groups = self._people.counted(count_rows(self._cells, [*names, people.name]), len(names))
        sizes = groups.groupBy("n").count().withColumnRenamed("count", "times")
        found = self.run(lambda: polars_of(sizes)).sort("n")
        return found["n"].to_numpy().astype(np.int64), found["times"].to_numpy().astype(np.int64)

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return the figures of one column; those of all released columns are computed together."""
        names = self._released if name in self._released else (name,)
        key = (k, tuple(missing))
        if name not in self._facts.get(key, {}):
            values = self._values_of(names)
            self._facts.setdefault(key, {}).update(self.run(lambda: column_facts(values, names, k, missing)))
        return self._facts[key][name]

    def recode(self, cells: Mapping[str, Mapping[str, str]]) -> None:
        """Count, recode and deal other cells in the place of some; the verifier sees those of the table."""
        self._cells.recode(cells)
        if self._values is not None:
            self._values.unpersist()
        self._values, self._facts = None, {}

    def _values_of(self, names: Sequence[str]) -> DataFrame:
        """Return the counts of the values of columns; those of the released columns are kept."""
        if tuple(names) != self._released:
            return count_values(self._cells, names)
        if self._values is None:
            self._values = count_values(self._cells, names).persist()
        return self._values

    def count_columns(self, names: Sequence[str]) -> dict[str, tuple[pl.Series, NDArray[np.int64]]]:
        """Return the distinct cells of columns, in order, and their counts."""
        import polars as pl

        released = {self._released.index(name): name for name in names if name in self._released}
        held_back = [name for name in names if name not in self._released]
        values = self._values_of(self._released)
        parts = [(values.where(values["column"].isin(list(released))), released)]
        if held_back:
            parts.append((self._values_of(held_back), dict(enumerate(held_back))))
        counted = {}
        for part, places in parts:
            found = self._fetch_dictionaries(part)
            for place, name in places.items():
                own = found.filter(pl.col("column") == place).sort("cell")
                counted[name] = own["cell"], own["n"].to_numpy().astype(np.int64)
        return {name: counted[name] for name in names}

    def _fetch_dictionaries(self, values: DataFrame) -> pl.DataFrame:
        """Fetch the values of columns and their counts, or raise a FileError if the driver has no room for them."""
        free = available_memory()
        if free is None:
            return self.run(lambda: polars_of(values))
        most = min(free // CELL_BYTES, MOST_FETCHED)
        found = self.run(lambda: polars_of(values.limit(most + 1)))
        if found.height > most:
            raise FileError(
                f"{self.place}: more than {most:,} distinct cells need more than {size_in_words(free)} of memory on "
                "the driver. Use a driver with more memory, or make a quasi-identifier coarser before the run."
            )
        return found

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Refuse: rows stay on executors."""
        raise InternalError("rows of a Spark source were asked for.")

    def read(self) -> Table:
        """Refuse: rows stay on executors."""
        raise InternalError("rows of a Spark source were asked for.")

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""
        rows, rendering = recode_rows(self._cells, recoding)
        join_parts(self._folder / "parts", self._parts(rows, rendering, "parts"), path)

    def check_room(self, n_tuples: int, n_columns: int, n_rows: int) -> None:
        """Raise a FileError if distinct tuples, and rows one by one, do not fit into the memory of the driver."""
        needed, free = n_tuples * TUPLE_BYTES * (n_columns + 1) + n_rows * ROW_BYTES, available_memory()
        if free is not None and needed > free:
            raise FileError(
                f"{self.place}: {n_tuples:,} distinct combinations need about {size_in_words(needed)} of memory on the "
                "driver. Use a driver with more memory, or make a quasi-identifier coarser before the run."
            )

    def deal(self, dealing: Dealing, path: Path) -> None:
        """Write the rows as CSV, sorted by their released cells."""
        dealt = deal_rows(self._cells, dealing, self.spark)
        parts = self._parts(dealt.rows, dealt.rendering, "parts")
        join_parts(self._folder / "parts", parts, path)
        left_out = []
        if dealt.left_out is not None:
            left_out = self._parts(dealt.left_out, dealt.originals, "left-out")
        self._dealt = dealing, dealt, parts, left_out

    def _parts(self, rows: DataFrame, rendering: Rendering, name: str) -> list[Part]:
        folder = self._folder / name
        folder.mkdir(mode=0o700, exist_ok=True)
        return self.run(lambda: write_parts(rows, rendering, folder, Format.CSV))

    def judge_cells(self, name: str, judge: Callable[[list[str]], str]) -> set[str]:
        """Return what executors say of the cells of a column, some of them at a time."""
        return self.run(lambda: judge_cells(self._cells, name, judge))

    def count_cells(self, name: str, texts: Sequence[str]) -> int:
        """Return the number of written rows whose cell of an unchanged column is one of these texts."""
        assert self._dealt is not None
        _, dealt, _, left_out = self._dealt
        column = dealt.originals.columns[dealt.originals.names.index(name)]
        gone = (frame[column].is_in(list(texts)).sum() for frame in stored_rows(self._folder / "left-out", left_out))
        return self.facts(name, 0, texts).missing - sum(map(int, gone))

    def witness(self) -> Witness:
        """Return what each written row was made from."""
        if self._dealt is None:
            raise InternalError("no rows were dealt.")
        _, dealt, parts, left_out = self._dealt
        sources, known, met = dealt.rendering.sources, dealt.rendering.texts, MetIds()
        texts = {name: known[name].to_list() for name in sources if name in known}
        stated: list[list[str] | Gatherer] = [texts.get(name, met) for name in sources if name != "g"]

        def chunks() -> Iterator[list[NDArray[Any]]]:
            for frame in stored_rows(self._folder / "parts", parts):
                are_ids = [name not in known and name != "g" for name in sources]
                named = zip(sources, are_ids, strict=True)
                yield [met.places(frame[name]) if are else frame[name].to_numpy() for name, are in named]

        def gone() -> Iterator[list[tuple[list[str], NDArray[np.int32]]]]:
            for frame in stored_rows(self._folder / "left-out", left_out):
                places = np.arange(frame.height, dtype=np.int32)
                yield [
                    (texts[name], frame[name].to_numpy()) if name in texts else (frame[name].to_list(), places)
                    for name in dealt.originals.sources
                ]

        return Witness(stated, chunks(), gone())

    def original(self, verifier: Verifier) -> Any:
        """Return how the verifier reads the files itself."""
        assert self._dealt is not None
        assert isinstance(self._cells, FileCells)
        files = self._cells.files
        if len(files.paths) == 1:
            return verifier.SourceTable(files.paths[0], files.dialect or Dialect())

        def blocks(names: Sequence[str]) -> Iterator[list[tuple[str, ...]]]:
            return (list(zip(*block, strict=True)) for block in self.verify_rows(verifier, names) if block)

        return verifier.SourceTable(blocks, Dialect())

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Have the verifier read these columns of the files, block by block."""
        if not isinstance(self._cells, FileCells):
            raise InternalError("a Spark frame is verified by executors.")
        for path in self._cells.files.paths:
            yield from verifier.source_rows(path, self._cells.files.dialect or Dialect(), names)

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Refuse: rows stay on executors."""
        raise InternalError("rows of a Spark source were asked for.")

    def guarded(self) -> AbstractContextManager[None]:
        """Turn errors of Spark into a FileError without a cell of the table."""
        return spark_errors(self.place)

    def check_unchanged(self) -> None:
        """Raise an InputError if a file changed since it was opened."""
        self._cells.check_unchanged()

    def signature(self, key: bytes) -> str:
        """Return the keyed hash of the file."""
        if self.path is None:
            raise UsageError(f"{self.place}: is not a single file, which {setting('key_file')} needs. Leave it out.")
        return sign_file(self.path, key)

    def identity(self) -> None:
        """Return None: the table is not in a database."""

    def snapshot(self) -> None:
        """Return None: the table is not in a database."""

    def dealer(self) -> SparkSource:
        """Return what deals the rows to groups: the source itself."""
        return self


@contextmanager
def _spread(spark: SparkSession, n_parts: int) -> Iterator[None]:
    """Have Spark divide what it moves into at least so many parts, for the length of a `with` block."""
    before = str(spark.conf.get(PARTITIONS))
    spark.conf.set(PARTITIONS, str(max(n_parts, int(before))))
    try:
        yield
    finally:
        with suppress(Exception):  # the session may be stopped already
            spark.conf.set(PARTITIONS, before)
