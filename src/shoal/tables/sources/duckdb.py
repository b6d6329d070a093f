"""A file counted by DuckDB, which respects a memory limit and spills to disk beyond it.

Our own readers read the file once, block by block, and copy its cells as numbers to a private folder, so that every
engine sees the same cells. DuckDB counts, recodes and sorts the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, Note
from shoal.schema import Dialect
from shoal.tables.formats.blocks import Blocks, open_blocks
from shoal.tables.formats.writers import create
from shoal.tables.sources.base import SAMPLE, DistinctRows, Facts, Grouping, Recoding, Rows, Verifier
from shoal.tables.sources.dealing import DuckDealer
from shoal.tables.sources.duck.drawing import numbered_blocks
from shoal.tables.sources.duck.people import count_sizes
from shoal.tables.sources.duck_session import (
    DISK_OF_CELL,
    DISK_OF_TEXT,
    DuckSession,
    check_dictionaries,
    check_disk,
    check_room,
    check_sections,
    most_cells,
)
from shoal.tables.sources.memory import sign_file
from shoal.tables.sources.numbering import NumberedCells, Numbering
from shoal.tables.table import Factor, Stamp, Table, changed_file, check_stamp, factorize
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.values.people import People

__all__ = ["DuckSource"]


class DuckSource:
    """A CSV or Parquet file, copied to a private folder and counted there; see `Source` for the methods."""

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
        numbered: Sequence[str] = (),
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
            numbered: Columns whose distinct cells are kept in memory, however many they are.
        """
        self._path, self._memory, self._threads = path, memory, threads
        self._options: dict[str, Any] = {
            "delimiter": delimiter,
            "encoding": encoding,
            "header": header,
            "named": tuple(named),
            "duplicate_columns": duplicate_columns,
        }
        self._numbered = tuple(numbered)
        self._open: tuple[DuckSession, NumberedCells] | None = None
        self._recoded: dict[str, Mapping[str, str]] = {}  # by column, cells and what is shown in their place
        self._shown: dict[str, Numbering] = {}  # what the numbers of these columns mean
        self.drawn: NDArray[np.bool_] | None = None  # for each row, whether it belongs to the table; None for all
        self._columns: dict[Grouping, str] = {}
        self._names: tuple[str, ...] = ()
        self._notes: tuple[Note, ...] = ()
        self._dialect: Dialect | None = None
        self._stamp: Stamp | None = None
        self._dealer = DuckDealer(self)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_open": None, "_shown": {}, "_columns": {}, "_dealer": DuckDealer(self)}

    @property
    def dialect(self) -> Dialect | None:
        """How a text file is written; None for any other source."""
        return self._dialect

    @contextmanager
    def opened(self, folder: Path, watch: Watch = UNWATCHED) -> Iterator[DuckSource]:
        """Copy the cells of the file to the folder and open DuckDB over them."""
        if self._open is not None:
            yield self
            return
        blocks = self._open_blocks(watch)
        if self._stamp is not None and self._stamp != blocks.stamp:
            raise changed_file(self._path)
        self._names, self._notes, self._dialect, self._stamp = blocks.names, blocks.notes, blocks.dialect, blocks.stamp
        watch.stage("reading")
        check_disk(self.place, folder, self._disk_needed())
        session = DuckSession(self.place, folder, watch, memory=self._memory, threads=self._threads)
        cells = NumberedCells(folder, self._names, self._numbered, most_cells(self._memory))
        try:
            with session.guarded():
                self._copy_cells(blocks, cells, watch)
                check_dictionaries(session, cells, self.place, self._memory)
            self._open = session, cells
            self.recode(self._recoded)
            yield self
        finally:
            session.close()
            self._open, self._shown, self._columns = None, {}, {}
            self._dealer.forget()
            cells.remove()

    def _open_blocks(self, watch: Watch) -> Blocks:
        """Open the table to read it once."""
        return open_blocks(self._path, **self._options)

    @property
    def session(self) -> DuckSession:
        """The open DuckDB. Its view `cells` has the columns c0, c1 and so on, numbers or texts, and `line`."""
        assert self._open is not None, "the source is closed"
        return self._open[0]

    @property
    def threads(self) -> int:
        """The number of threads to use."""
        return self._threads

    def numbering(self, name: str) -> Numbering | None:
        """Return what the numbers of a column mean; None if it is stored as text."""
        assert self._open is not None, "the source is closed"
        return self._shown[name] if name in self._shown else self._open[1].columns[self.names.index(name)]

    def recode(self, cells: Mapping[str, Mapping[str, str]]) -> None:
        """Count, recode and deal other cells in the place of some; `blocks` and the verifier see those of the table.

        Args:
            cells: By column, the cells to replace and what is shown in their place; nothing to show all as they are.
        """
        import polars as pl

        assert self._open is not None, "the source is closed"
        session, numbered = self._open
        self._recoded, self._shown = dict(cells), {}
        changes, joins = [], []
        for name, shown in cells.items():
            i = self.names.index(name)
            before, self._shown[name] = numbered.columns[i], Numbering()
            assert before is not None, "a column of texts cannot be recoded"
            texts = [shown.get(text, text) for text in before.texts.to_list()]
            numbers = self._shown[name].number(pl.Series(texts, dtype=pl.String))
            session.load(f"recoded{i}", pl.DataFrame({"cell": np.arange(len(texts), dtype=np.int32), "shown": numbers}))
            changes.append(f"recoded{i}.shown as c{i}")
            joins.append(f"join recoded{i} on recoded{i}.cell = t.c{i}")
        if self.drawn is not None:
            session.load("drawn", pl.DataFrame({"line": np.flatnonzero(self.drawn)}))
            joins.append("semi join drawn on drawn.line = t.line")
        chosen = f"t.* replace ({', '.join(changes)})" if changes else "t.*"
        session.ask(
            f"create or replace temp view cells as select {chosen} from ({numbered.query()}) as t {' '.join(joins)}"
        )

    def take(self, rows: NDArray[np.bool_]) -> None:
        """Go on with some rows; `blocks` and the verifier see all of them."""
        self.drawn = rows
        self.recode(self._recoded)

    def numbered_blocks(self) -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
        """Yield all rows as text, one block at a time, and how many equal rows come before each."""
        return numbered_blocks(self)

    @property
    def place(self) -> str:
        """The path."""
        return str(self._path)

    @property
    def path(self) -> Path | None:
        """The file; None for a table of a server."""
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
        frame = self.session.fetch(f"select {columns}, count(*)::bigint as n from cells group by all")
        counts, factors = frame["n"].to_numpy().astype(np.int64), {}
        for i, name in enumerate(names):
            numbering, cells = self.numbering(name), frame.drop_in_place(f"k{i}")
            if numbering is None:
                factors[name] = factorize(cells)
            else:
                texts, ranks = numbering.ranks()
                factor = Factor(ranks[cells.to_numpy()], texts)
                factors[name] = factor if self.drawn is None else factorize(factor.cells())
        return DistinctRows(factors, counts)

    def count_sizes(
        self, names: Sequence[str], people: People | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many rows, or people, combinations of cells have, and how many combinations have as many."""
        return count_sizes(self, names, people)

    def prepare_groups(self, groupings: Sequence[Grouping]) -> None:
        """Make a table of numbers with a column for each grouping."""
        self._columns = {grouping: f"g{i}" for i, grouping in enumerate(groupings)}
        joins = []
        for i, name in enumerate(dict.fromkeys(grouping.name for grouping in groupings)):
            own = [grouping for grouping in groupings if grouping.name == name]
            self._table(f"level{i}", name, {self._columns[each]: each.groups for each in own})
            joins.append(f"join level{i} on level{i}.cell = t.c{self.names.index(name)}")
        selected = ", ".join(self._columns.values()) or "1 as g"
        self.session.ask(f"create or replace temp table grouped as select {selected} from cells as t {' '.join(joins)}")

    def count_groups(self, groupings: Sequence[Grouping]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the table by these groupings, in one query."""
        columns = [self._columns[grouping] for grouping in groupings]
        frame = self.session.fetch(f"select {', '.join([*columns, 'count(*)::bigint as n'])} from grouped group by all")
        codes = frame.select(columns).to_numpy().astype(np.int32) if columns else np.empty((1, 0), dtype=np.int32)
        return codes, frame["n"].to_numpy().astype(np.int64)

    def rows_below(self, groupings: Sequence[Grouping], least: int) -> int:
        """Return the number of rows in combinations of fewer than `least` rows, in one query."""
        columns = ", ".join([*(self._columns[grouping] for grouping in groupings), "count(*) as n"])
        query = f"select coalesce(sum(n) filter (n < ?), 0) from (select {columns} from grouped group by all)"
        return int(self.session.ask(query, [least])[0][0])

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return the figures of one column; a rare value occurs in fewer than k rows."""
        grouped = f"(select c{self.names.index(name)} as c, count(*) as n from cells group by 1)"
        if numbering := self.numbering(name):
            texts, ranks = numbering.ranks()
            frame = self.session.fetch(f"select c, n::bigint as n from {grouped}")
            rows = np.zeros(len(texts), dtype=np.int64)
            rows[ranks[frame["c"].to_numpy()]] = frame["n"].to_numpy()
            absent = int(rows[texts.is_in(list(missing)).to_numpy()].sum())
            return Facts(tuple(texts.head(SAMPLE)), len(texts), int((rows < k).sum()), absent)
        query = f"select count(*), count(*) filter (n < ?), sum(n) filter (list_contains(?, c)) from {grouped}"
        distinct, rare, of_missing = self.session.ask(query, [k, list(missing)])[0]
        sample = self.session.ask(f"select c from {grouped} order by c limit {SAMPLE}")
        return Facts(tuple(row[0] for row in sample), distinct, rare, int(of_missing or 0))

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""
        import polars as pl

        cells, joins = [], []
        for i, name in enumerate(recoding.names):
            labels, numbering = recoding.maps.get(name), self.numbering(name)
            column = f"t.c{self.names.index(name)}"
            if labels is None and numbering is None:
                cells.append(f"{column} as r{i}")
                continue
            if labels is None and numbering is not None:
                labels = {text: text for text in numbering.texts.to_list()}
            self._table(f"m{i}", name, {"label": labels or {}})
            joins.append(f"join m{i} on m{i}.cell = {column}")
            cells.append(f"m{i}.label as r{i}")
        if recoding.kept is not None:
            places = [recoding.names.index(name) for name in recoding.maps]
            columns = list(zip(*recoding.kept, strict=True)) or [()] * len(places)
            kept = {f"k{i}": list(column) for i, column in zip(places, columns, strict=True)}
            self.session.load("kept", pl.DataFrame(kept, schema=dict.fromkeys(kept, pl.String)))
            joins.append("join kept on " + " and ".join(f"kept.k{i} = m{i}.label" for i in places))
        rows = f"select {', '.join(cells)} from cells as t {' '.join(joins)} order by all"
        with self.session.stored(rows) as stored:
            scanned = pl.scan_parquet(stored, glob=False)
            if len(recoding.names) > 1:  # in a table of one column, a bare empty cell would be a blank line
                scanned = scanned.with_columns(pl.all().replace("", None))
            renamed = scanned.select(pl.col(f"r{i}").alias(name) for i, name in enumerate(recoding.names))
            with create(path) as file:
                renamed.sink_csv(file, quote_style="necessary", maintain_order=True)

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""
        assert self._open is not None, "the source is closed"
        return self._open[1].blocks()

    def read(self) -> Table:
        """Read the table into memory."""
        import polars as pl

        return Table(pl.concat(self.blocks()), self.path, self._dialect, notes=self._notes, stamp=self._stamp)

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Have the verifier read these columns of the file, block by block."""
        return verifier.source_rows(self._path, self._dialect or Dialect(), names)

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Have the verifier read the complete file, by column name."""
        return verifier.read_original(self._path, self._dialect or Dialect(), None, step)

    def verify_table(self, verifier: Verifier) -> Any:
        """Have the verifier read the file block by block, as codes."""
        return verifier.SourceTable(self._path, self._dialect or Dialect())

    def check_unchanged(self) -> None:
        """Raise an InputError if the file changed since it was read."""
        check_stamp(self._path, self._stamp)

    def signature(self, key: bytes) -> str:
        """Return the keyed hash of the file."""
        return sign_file(self._path, key)

    def identity(self) -> tuple[object, ...] | None:
        """Return what distinguishes a table of a server from all others; None for any other."""
        return None

    def snapshot(self) -> None:
        """Return None: the table is not in a database."""

    def dealer(self) -> DuckDealer:
        """Return what deals the rows to groups."""
        return self._dealer

    def guarded(self) -> AbstractContextManager[None]:
        """Turn errors of DuckDB, whose text may contain cells, into a FileError."""
        return self.session.guarded()

    def _copy_cells(self, blocks: Blocks, cells: NumberedCells, watch: Watch) -> None:
        for frame in blocks.frames:
            watch.check()
            if frame.height:
                self._refuse_nul(frame)
                cells.add(frame)
        self.check_unchanged()
        if not cells.n_rows:
            raise InputError(f"{self.place}: no data rows.")

    def _disk_needed(self) -> int:
        """Estimate the bytes that a run needs on disk."""
        import polars as pl

        if self._dialect is not None:
            return DISK_OF_TEXT * self._path.stat().st_size
        rows = int(pl.scan_parquet(self._path, glob=False).select(pl.len()).collect().item())
        return DISK_OF_CELL * rows * len(self._names)

    def check_room(self, n_tuples: int, n_columns: int, n_rows: int) -> None:
        """Raise a FileError if distinct tuples, and rows one by one, do not fit into memory."""
        check_room(self.place, self._memory, n_tuples, n_columns, n_rows)

    def check_sections(self, n_cells: int, n_groups: int, n_values: int) -> None:
        """Raise a FileError if distinct cells, groups and values do not fit into memory; tuples are on disk."""
        check_sections(self.place, self._memory, n_cells, n_groups, n_values)

    def _refuse_nul(self, frame: pl.DataFrame) -> None:
        for name in frame.columns:
            if frame[name].str.contains("\0", literal=True).any():
                raise InputError(
                    f"{self.place}: column {name!r} contains a NUL character, which text files cannot store. Remove it."
                )

    def _table(self, name: str, column: str, columns: Mapping[str, Mapping[str, Any]]) -> None:
        """Make a small table by the cells of a column: of texts or numbers, by cell."""
        import polars as pl

        texts = list(next(iter(columns.values())))
        frame = {key: [values[text] for text in texts] for key, values in columns.items()}
        kinds: dict[str, Any] = {
            key: pl.Int32 if cells and isinstance(cells[0], int) else pl.String for key, cells in frame.items()
        }
        loaded = pl.DataFrame(frame, schema=kinds)
        keys = pl.Series("cell", texts, dtype=pl.String)
        if numbering := self.numbering(column):
            keys = numbering.numbers_of(keys).alias("cell")
        self.session.load(name, loaded.with_columns(keys))
