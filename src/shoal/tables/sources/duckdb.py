"""A file counted by DuckDB, which respects a memory limit and spills to disk beyond it.

Our own readers read the file once, block by block, and copy its cells as text to a private folder, so that every engine
sees the same cells. DuckDB counts, recodes and sorts the copy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import FileError, InputError, Note, setting
from shoal.schema import Dialect
from shoal.tables.formats.blocks import Blocks, open_blocks
from shoal.tables.formats.writers import create
from shoal.tables.sources.base import SAMPLE, DistinctRows, Facts, Recoding, Rows, Verifier
from shoal.tables.sources.memory import sign_file
from shoal.tables.table import Stamp, Table, changed_file, check_stamp
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["DuckSource"]

SHARE = 0.7  # DuckDB's share of the memory limit; our own code uses the rest
LEAST_MEMORY = 200_000_000  # DuckDB cannot start with less


class DuckSource:
    """A CSV or Parquet file, copied as text to a private folder and counted there; see `Source` for the methods."""

    in_memory = False

    def __init__(
        self,
        path: Path,
        *,
        memory: int | None = None,
        threads: int = 1,
        delimiter: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
        named: Sequence[str] = (),
        duplicate_columns: str | None = None,
    ) -> None:
        """Describe the source; `opened` reads the file.

        Args:
            path: The file.
            memory: The largest number of bytes of memory to use.
            threads: The number of threads to use.
            delimiter: The delimiter of CSV, detected by default.
            encoding: The encoding of CSV, detected by default.
            header: Whether the first line of CSV names the columns, detected by default.
            named: Columns that the file has; a first line that contains all of them is a header.
            duplicate_columns: "number" numbers columns that share a name.
        """
        self._path = path
        self._memory = memory
        self._threads = threads
        self._options: dict[str, Any] = {
            "delimiter": delimiter,
            "encoding": encoding,
            "header": header,
            "named": tuple(named),
            "duplicate_columns": duplicate_columns,
        }
        self._folder = Path()
        self._watch: Watch = UNWATCHED
        self._duck: duckdb.DuckDBPyConnection | None = None
        self._n_parts = 0
        self._names: tuple[str, ...] = ()
        self._notes: tuple[Note, ...] = ()
        self._dialect: Dialect | None = None
        self._stamp: Stamp | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_folder": Path(), "_watch": UNWATCHED, "_duck": None, "_n_parts": 0}

    @contextmanager
    def opened(self, folder: Path, watch: Watch = UNWATCHED) -> Iterator[DuckSource]:
        """Copy the cells of the file to the folder and open DuckDB over them."""
        if self._duck is not None:
            yield self
            return
        import duckdb

        config: dict[str, Any] = {
            "temp_directory": str(folder),
            "threads": self._threads,
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        if self._memory is not None:
            config["memory_limit"] = f"{max(LEAST_MEMORY, int(self._memory * SHARE))}B"
        blocks = open_blocks(self._path, **self._options)
        if self._stamp is not None and self._stamp != blocks.stamp:
            raise changed_file(self._path)
        self._names, self._notes, self._dialect, self._stamp = blocks.names, blocks.notes, blocks.dialect, blocks.stamp
        self._folder, self._watch, self._n_parts = folder, watch, 0
        self._duck = duckdb.connect(config=config)
        try:
            with self.guarded():
                self._copy_cells(blocks)
            yield self
        finally:
            self._duck.close()
            self._duck, self._watch = None, UNWATCHED
            for path in self._parts():
                path.unlink(missing_ok=True)

    @property
    def place(self) -> str:
        """The path."""
        return str(self._path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._names

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was detected or noticed on reading."""
        return self._notes

    def check(self, names: Sequence[str]) -> None:
        """Do nothing: every cell is text already."""

    def count(self, names: Sequence[str]) -> DistinctRows:
        """Count the table by these columns, in one query."""
        columns = ", ".join(f"c{self.names.index(name)} as k{i}" for i, name in enumerate(names))
        frame = self._fetch(f"select {columns}, count(*)::bigint as n from cells group by all")
        counts = frame["n"].to_numpy().astype(np.int64)
        cells = frame.drop("n")
        return DistinctRows(cells.rename(dict(zip(cells.columns, names, strict=True))), counts)

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return the figures of one column; a rare value occurs in fewer than k rows."""
        grouped = f"(select c{self.names.index(name)} as c, count(*) as n from cells group by 1)"
        query = f"select count(*), count(*) filter (n < ?), sum(n) filter (list_contains(?, c)) from {grouped}"
        with self.guarded():
            distinct, rare, absent = self._ask(query, [k, list(missing)])[0]
            sample = self._ask(f"select c from {grouped} order by c limit {SAMPLE}")
        return Facts(tuple(row[0] for row in sample), distinct, rare, int(absent or 0))

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""
        import polars as pl

        cells, joins = [], []
        for i, name in enumerate(recoding.names):
            column = f"t.c{self.names.index(name)}"
            if name not in recoding.maps:
                cells.append(f"{column} as r{i}")
                continue
            texts = recoding.maps[name]
            self._table(f"m{i}", {"cell": list(texts), "label": list(texts.values())})
            joins.append(f"join m{i} on m{i}.cell = {column}")
            cells.append(f"m{i}.label as r{i}")
        if recoding.kept is not None:
            places = [recoding.names.index(name) for name in recoding.maps]
            columns = list(zip(*recoding.kept, strict=True)) or [()] * len(places)
            self._table("kept", {f"k{i}": list(column) for i, column in zip(places, columns, strict=True)})
            joins.append("join kept on " + " and ".join(f"kept.k{i} = m{i}.label" for i in places))
        rows = f"select {', '.join(cells)} from cells as t {' '.join(joins)} order by all"
        with self._stored(rows) as stored:
            scanned = pl.scan_parquet(stored, glob=False)
            if len(recoding.names) > 1:  # in a table of one column, a bare empty cell would be a blank line
                scanned = scanned.with_columns(pl.all().replace("", None))
            renamed = scanned.select(pl.col(f"r{i}").alias(name) for i, name in enumerate(recoding.names))
            with create(path) as file:
                renamed.sink_csv(file, quote_style="necessary", maintain_order=True)

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""
        import polars as pl

        for path in self._parts():
            frame = pl.read_parquet(path, glob=False)
            yield frame.rename(dict(zip(frame.columns, self.names, strict=True)))

    def read(self) -> Table:
        """Read the table into memory."""
        import polars as pl

        return Table(pl.concat(self.blocks()), self._path, self._dialect, notes=self._notes, stamp=self._stamp)

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Have the verifier read these columns of the file, block by block."""
        return verifier.source_rows(self._path, self._dialect or Dialect(), names)

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Have the verifier read the complete file, by column name."""
        return verifier.read_original(self._path, self._dialect or Dialect(), None, step)

    def check_unchanged(self) -> None:
        """Raise an InputError if the file changed since it was read."""
        check_stamp(self._path, self._stamp)

    def signature(self, key: bytes) -> str:
        """Return the keyed hash of the file."""
        return sign_file(self._path, key)

    def identity(self) -> None:
        """Return None: the table is not in a database."""

    def snapshot(self) -> None:
        """Return None: the table is not in a database."""

    def _copy_cells(self, blocks: Blocks) -> None:
        rows = 0
        for frame in blocks.frames:
            self._watch.check()
            if frame.height == 0:
                continue
            self._refuse_nul(frame)
            short = frame.rename({name: f"c{i}" for i, name in enumerate(frame.columns)})
            with create(self._part(self._n_parts)) as file:
                short.write_parquet(file, compression="lz4", statistics=False)
            self._n_parts += 1
            rows += frame.height
        self.check_unchanged()
        if not rows:
            raise InputError(f"{self._path}: no data rows.")
        paths = ", ".join(_literal(path) for path in self._parts())
        self._ask(f"create view cells as select * from read_parquet([{paths}], hive_partitioning=false)")

    def _refuse_nul(self, frame: pl.DataFrame) -> None:
        for name in frame.columns:
            if frame[name].str.contains("\0", literal=True).any():
                raise InputError(
                    f"{self._path}: column {name!r} contains a NUL character, which text files cannot store. Remove it."
                )

    def _part(self, number: int) -> Path:
        return self._folder / f"cells-{number:05}.parquet"

    def _parts(self) -> list[Path]:
        return [self._part(number) for number in range(self._n_parts)]

    def _table(self, name: str, columns: dict[str, list[str]]) -> None:
        """Make a small table of texts."""
        import polars as pl

        path = self._folder / f"{name}.parquet"
        with create(path) as file:
            pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_parquet(file)
        with self.guarded():
            self._ask(f"create or replace temp table {name} as select * from read_parquet({_literal(path)})")
        path.unlink()

    def _ask(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query. It runs in its own thread, so that a signal or the caller can end it at once."""
        assert self._duck is not None, "the source is closed"
        duck = self._duck
        rows: list[tuple[Any, ...]] = []
        errors: list[BaseException] = []
        # Not is_alive(): a signal during the start or join of a thread can make it look dead.
        begun, given_up, ended = Event(), Event(), Event()

        def run() -> None:
            begun.set()
            try:
                if not given_up.is_set():
                    rows.extend(duck.execute(query, list(values)).fetchall())
            except BaseException as error:
                errors.append(error)
            finally:
                ended.set()

        try:
            Thread(target=run, daemon=True).start()
            while not ended.wait(0.1):  # in short steps: not every signal handler wakes a waiting thread
                self._watch.check()
        except BaseException:
            given_up.set()
            while begun.wait(0.5) and not ended.wait(0.05):  # DuckDB ignores an interrupt before the query begins
                duck.interrupt()
            raise
        if errors:
            raise errors[0]
        return rows

    def _fetch(self, query: str) -> pl.DataFrame:
        """Return the result of a query. It passes through a file, which needs no further library."""
        import polars as pl

        with self._stored(query) as stored:
            return pl.read_parquet(stored, glob=False)

    @contextmanager
    def _stored(self, query: str) -> Iterator[Path]:
        """Store the result of a query in a temporary Parquet file."""
        path = self._folder / "result.parquet"
        create(path).close()
        try:
            with self.guarded():
                self._ask("set preserve_insertion_order = true")
                self._ask(f"copy ({query}) to {_literal(path)} (format parquet, compression lz4)")
            yield path
        finally:
            path.unlink(missing_ok=True)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn errors of DuckDB, whose text may contain cells, into a FileError."""
        import duckdb
        import polars as pl

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise FileError(
                f"{self._path}: needs more memory or disk space than it may use. Raise {setting('memory')}, or free "
                f"space on the disk of {self._folder.parent}."
            ) from None
        except (duckdb.Error, pl.exceptions.ComputeError):
            raise FileError(
                f"{self._path}: cannot be counted: the disk of {self._folder.parent} may be full."
            ) from None
        except OSError as error:
            reason = error.strerror or os.strerror(error.errno or 0)
            raise FileError(f"{self._folder.parent}: cannot be written: {reason}.") from None


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
