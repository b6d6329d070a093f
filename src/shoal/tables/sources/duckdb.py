"""A file counted by DuckDB, which keeps to a limit of memory and puts what is more on the disk.

Our own readers read the file once, block by block, and lay its cells down as text in a private folder, so that every
engine sees the same cells; DuckDB counts, recodes and sorts what lies there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shoal.errors import FileError, InputError, Note
from shoal.tables.formats.blocks import Blocks, open_blocks
from shoal.tables.formats.writers import create
from shoal.tables.sources.base import SAMPLE, DistinctRows, Facts, Recoding
from shoal.tables.table import Stamp

if TYPE_CHECKING:
    import duckdb
    import polars as pl

__all__ = ["DuckSource"]

SHARE = 0.7  # of the memory that is allowed; the rest is for our own work
LEAST_MEMORY = 200_000_000  # with less, DuckDB cannot even begin


class DuckSource:
    """One file, laid down as text in a private folder and counted there; a context manager."""

    def __init__(
        self,
        path: Path,
        folder: Path,
        *,
        memory: int | None = None,
        threads: int = 1,
        delimiter: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
    ) -> None:
        """folder: private, on a disk with room for the table; who made it removes it. memory: in bytes."""
        self.path = path
        self._folder = folder
        self._memory = memory
        self._threads = threads
        self._options: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "header": header}
        self.blocks: Blocks
        self._duck: duckdb.DuckDBPyConnection
        self._n_parts = 0

    def __enter__(self) -> Self:
        """Read the file and lay its cells down."""
        import duckdb

        config: dict[str, Any] = {
            "temp_directory": str(self._folder),
            "threads": self._threads,
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        if self._memory is not None:
            config["memory_limit"] = f"{max(LEAST_MEMORY, int(self._memory * SHARE))}B"
        self.blocks = open_blocks(self.path, **self._options)
        self._duck = duckdb.connect(config=config)
        try:
            with self.guarded():
                self._lay_down()
        except BaseException:
            self._duck.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close DuckDB and remove what was laid down."""
        self._duck.close()
        for path in self._parts():
            path.unlink(missing_ok=True)

    @property
    def place(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self.blocks.names

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was guessed or noticed on reading."""
        return self.blocks.notes

    def check(self, names: Sequence[str]) -> None:
        """All was read as text already."""

    def count(self, names: Sequence[str]) -> DistinctRows:
        """Count the table by these columns, in one query."""
        columns = ", ".join(f"c{self.names.index(name)} as k{i}" for i, name in enumerate(names))
        frame = self._fetch(f"select {columns}, count(*)::bigint as n from cells group by all")
        counts = frame["n"].to_numpy().astype(np.int64)
        cells = frame.drop("n")
        return DistinctRows(cells.rename(dict(zip(cells.columns, names, strict=True))), counts)

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return what is known of one column; rare values are those in fewer than k rows."""
        grouped = f"(select c{self.names.index(name)} as c, count(*) as n from cells group by 1)"
        told = f"select count(*), count(*) filter (n < ?), sum(n) filter (list_contains(?, c)) from {grouped}"
        with self.guarded():
            distinct, rare, absent = self._ask(told, [k, list(missing)])[0]
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
        with self._laid_down(rows) as laid:
            scanned = pl.scan_parquet(laid, glob=False)
            if len(recoding.names) > 1:  # alone in its row, a bare empty cell would be a blank line
                scanned = scanned.with_columns(pl.all().replace("", None))
            renamed = scanned.select(pl.col(f"r{i}").alias(name) for i, name in enumerate(recoding.names))
            with create(path) as file:
                renamed.sink_csv(file, quote_style="necessary", maintain_order=True)

    def check_unchanged(self) -> None:
        """Raise an InputError if the file is no longer the one that was read."""
        try:
            now = Stamp.of(self.path)
        except OSError:
            raise InputError(f"{self.path}: the file went away after it was read. Run again when it is back.") from None
        if now != self.blocks.stamp:
            raise InputError(f"{self.path}: the file changed after it was read. Run again when nothing writes to it.")

    def _lay_down(self) -> None:
        rows = 0
        for frame in self.blocks.frames:
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
            raise InputError(f"{self.path}: no data rows.")
        listed = ", ".join(_literal(path) for path in self._parts())
        self._ask(f"create view cells as select * from read_parquet([{listed}], hive_partitioning=false)")

    def _refuse_nul(self, frame: pl.DataFrame) -> None:
        for name in frame.columns:
            if frame[name].str.contains("\0", literal=True).any():
                raise InputError(
                    f"{self.path}: column {name!r} holds a NUL character. Remove it; no text file can hold one."
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
        """Return the rows of a query, which runs in a thread of its own, so that a signal ends it at once."""
        rows: list[tuple[Any, ...]] = []
        errors: list[BaseException] = []
        # Not is_alive(): a signal that comes while a thread is started or joined can make it look dead.
        begun, given_up, ended = Event(), Event(), Event()

        def run() -> None:
            begun.set()
            try:
                if not given_up.is_set():
                    rows.extend(self._duck.execute(query, list(values)).fetchall())
            except BaseException as error:
                errors.append(error)
            finally:
                ended.set()

        try:
            Thread(target=run, daemon=True).start()
            while not ended.wait(0.1):  # in short steps: not every handler of signals wakes a thread that waits
                pass
        except BaseException:
            given_up.set()
            while begun.wait(0.5) and not ended.wait(0.05):  # what has not begun yet does not hear the first call
                self._duck.interrupt()
            raise
        if errors:
            raise errors[0]
        return rows

    def _fetch(self, query: str) -> pl.DataFrame:
        """Return the result of a query; it goes through a file, for which no further library is needed."""
        import polars as pl

        with self._laid_down(query) as laid:
            return pl.read_parquet(laid, glob=False)

    @contextmanager
    def _laid_down(self, query: str) -> Iterator[Path]:
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
        """Turn what DuckDB refuses into a FileError; its own text may hold cells."""
        import duckdb
        import polars as pl

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise FileError(
                f"{self.path}: needs more than the memory or disk that it may use. Raise --memory, or free the disk "
                f"that {self._folder.parent} is on."
            ) from None
        except (duckdb.Error, pl.exceptions.ComputeError):
            raise FileError(
                f"{self.path}: cannot be counted: the disk under {self._folder.parent} may be full."
            ) from None
        except OSError as error:
            reason = error.strerror or os.strerror(error.errno or 0)
            raise FileError(f"{self._folder.parent}: cannot be written: {reason}.") from None


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
