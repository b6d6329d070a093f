"""A session of DuckDB over a private folder: queries that can be cancelled, and errors without cells."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, setting
from shoal.tables.formats.memory_limit import size_in_words
from shoal.tables.formats.writers import create
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.sources.numbering import NumberedCells

__all__ = [
    "CELL_BYTES",
    "DISK_OF_CELL",
    "DISK_OF_TEXT",
    "GROUP_BYTES",
    "LEAST_MEMORY",
    "ROW_BYTES",
    "TUPLE_BYTES",
    "DuckSession",
    "check_dictionaries",
    "check_disk",
    "check_room",
    "check_sections",
    "literal",
    "most_cells",
]

SHARE = 0.6  # DuckDB's share of the memory limit; our own code uses the rest
LEAST_MEMORY = 200_000_000  # DuckDB cannot start with less


# Measured on Adult grown to 1 and 5 million rows and on two million rows with continuous ages.
DISK_OF_TEXT = 2  # times the size of a text file: numbers of cells, rows dealt and sorted, and the release
DISK_OF_CELL = 16  # bytes for each cell of a file that is not text
TUPLE_BYTES = 55  # memory of our own for each column of a distinct tuple, and as much once more
ROW_BYTES = 64  # the same for each row, if a search tells the rows of a tuple apart
CELL_BYTES = 600  # the same for each distinct cell of a column, if tuples and groups are on disk
VALUE_BYTES = 1_500  # and for each distinct cell of a column that models count
GROUP_BYTES = 400  # and for each group then, whose cells are distinct texts in the worst case
ALLOWANCE = 50_000_000
APPROXIMATE = 1.1  # an approximate count is at most a little too low
ROUND = 10_000  # to which it is rounded


def check_disk(place: str, folder: Path, needed: int) -> None:
    """Raise a FileError if a disk has less free space than a run needs."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise FileError(
            f"{place}: needs about {size_in_words(needed)} on the disk of {folder.parent}, but only "
            f"{size_in_words(free)} are free. Free some space, or write to another disk."
        )


def check_room(place: str, memory: int | None, n_tuples: int, n_columns: int, n_rows: int) -> None:
    """Raise a FileError if tuples need more memory than DuckDB leaves of the limit.

    Args:
        place: The table, for the message.
        memory: The limit in bytes; None for no limit.
        n_tuples: The number of distinct tuples.
        n_columns: The number of columns of a tuple.
        n_rows: The number of rows, if they are searched one by one; otherwise 0.
    """
    needed = n_tuples * TUPLE_BYTES * (n_columns + 1) + n_rows * ROW_BYTES
    _check_memory(place, memory, needed, f"{n_tuples:,} distinct combinations")


def check_sections(place: str, memory: int | None, n_cells: int, n_groups: int, n_values: int = 0) -> None:
    """Raise a FileError if a search whose tuples are on disk needs more memory than DuckDB leaves of the limit.

    Args:
        place: The table, for the message.
        memory: The limit in bytes; None for no limit.
        n_cells: The number of distinct cells of all quasi-identifiers.
        n_groups: The largest number of groups.
        n_values: The number of distinct cells of all columns that models count.
    """
    needed = n_cells * CELL_BYTES + n_values * VALUE_BYTES + n_groups * GROUP_BYTES
    values = f", {n_values:,} values that models count" if n_values else ""
    groups = f" and up to {n_groups:,} groups" if n_groups else ""
    _check_memory(place, memory, needed, f"{n_cells:,} distinct cells{values}{groups}")


def most_cells(memory: int | None) -> int | None:
    """Return how many distinct cells a memory limit in bytes leaves room for; None for no limit."""
    return None if memory is None else int(((1 - SHARE) * memory + ALLOWANCE) / CELL_BYTES)


def check_dictionaries(session: DuckSession, cells: NumberedCells, place: str, memory: int | None) -> None:
    """Raise a FileError if quasi-identifiers had more distinct cells than fit into memory as they were read.

    Args:
        session: An open DuckDB.
        cells: The cells of the table.
        place: The table, for the message.
        memory: The limit in bytes; None for no limit.
    """
    most = most_cells(memory)
    if cells.beyond and most is not None:
        counted = ", ".join(f"approx_count_distinct(c{i})" for i in cells.beyond)
        found = sum(session.ask(f"select {counted} from ({cells.query()})")[0])
        n_cells = cells.n_numbered + max(most + 1, int(APPROXIMATE * found))
        check_sections(place, memory, -(-n_cells // ROUND) * ROUND, 0)


def _check_memory(place: str, memory: int | None, needed: int, what: str) -> None:
    if memory is not None and needed > (1 - SHARE) * memory + ALLOWANCE:
        enough = ceil((needed - ALLOWANCE) / (1 - SHARE) / 10**8) * 10**8  # the message rounds it
        raise FileError(
            f"{place}: {what} need about {size_in_words(needed)} of memory beside DuckDB. Use "
            f"{setting('memory', size_in_words(enough))}, or make their columns coarser before the run."
        )


class DuckSession:
    """An open DuckDB.

    Args:
        place: The table that is worked on, for messages.
        folder: A private folder for temporary files.
        watch: Asked whether the run was cancelled.
        memory: The largest number of bytes of memory for the whole process; None for no limit.
        threads: The number of threads to use.
    """

    def __init__(
        self, place: str, folder: Path, watch: Watch = UNWATCHED, *, memory: int | None = None, threads: int = 1
    ) -> None:
        import duckdb

        self.folder = folder
        self.kept: dict[str, tuple[object, int]] = {}  # by table that is kept, what it was made for, and a figure
        self._place, self.watch = place, watch
        config: dict[str, Any] = {
            "temp_directory": str(folder),
            "threads": threads,
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        if memory is not None:
            config["memory_limit"] = f"{max(LEAST_MEMORY, int(memory * SHARE))}B"
        self._duck = duckdb.connect(config=config)

    def close(self) -> None:
        """Close DuckDB, which removes what it spilled."""
        self._duck.close()

    def ask(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query. It runs in its own thread, so that a signal or the caller can end it at once."""
        with self.guarded():
            return self._ask(query, values)

    def _ask(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
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
                self.watch.check()
        except BaseException:
            given_up.set()
            while begun.wait(0.5) and not ended.wait(0.05):  # DuckDB ignores an interrupt before the query begins
                duck.interrupt()
            raise
        if errors:
            raise errors[0]
        return rows

    def load(self, name: str, frame: pl.DataFrame) -> None:
        """Make a table of a frame."""
        path = self.folder / f"{name}.parquet"
        with self.guarded():
            with create(path) as file:
                frame.write_parquet(file)
            self._ask(f"create or replace temp table {name} as select * from read_parquet({literal(path)})")
        path.unlink()

    def drop_tables(self) -> None:
        """Drop all tables that were made; views stay."""
        self.kept.clear()
        for (name,) in self.ask("select table_name from duckdb_tables() where temporary"):
            self.ask(f"drop table {name}")

    def save(self, frame: pl.DataFrame, path: Path) -> None:
        """Write a frame to a file of the private folder."""
        with self.guarded(), create(path) as file:
            frame.write_parquet(file, compression="lz4", statistics=False)

    def store(self, query: str, name: str, *, in_order: bool = True) -> Path:
        """Store the result of a query in a Parquet file of the private folder; in order if the query has one."""
        path = self.folder / f"{name}.parquet"
        create(path).close()
        with self.guarded():
            self._ask(f"set preserve_insertion_order = {str(in_order).lower()}")
            self._ask(f"copy ({query}) to {literal(path)} (format parquet, compression lz4)")
            self._ask("set preserve_insertion_order = false")
        return path

    @contextmanager
    def stored(self, query: str, *, in_order: bool = True) -> Iterator[Path]:
        """Store the result of a query in a temporary Parquet file."""
        try:
            yield self.store(query, "result", in_order=in_order)
        finally:
            (self.folder / "result.parquet").unlink(missing_ok=True)

    def fetch(self, query: str) -> pl.DataFrame:
        """Return the result of a query. It passes through a file, which needs no further library."""
        import polars as pl

        with self.stored(query, in_order=False) as stored:
            return pl.read_parquet(stored, glob=False)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn errors of DuckDB, whose text may contain cells, into a FileError."""
        import duckdb
        import polars as pl

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise FileError(
                f"{self._place}: needs more memory or disk space than it may use. Raise {setting('memory')}, or free "
                f"space on the disk of {self.folder.parent}."
            ) from None
        except (duckdb.Error, pl.exceptions.ComputeError):
            raise FileError(
                f"{self._place}: cannot be counted: the disk of {self.folder.parent} may be full."
            ) from None
        except OSError as error:
            reason = error.strerror or os.strerror(error.errno or 0)
            raise FileError(f"{self.folder.parent}: cannot be written: {reason}.") from None


def literal(path: Path) -> str:
    """Return a path as a text of SQL."""
    return "'" + str(path).replace("'", "''") + "'"
