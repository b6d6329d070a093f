"""A table of a PostgreSQL database, counted there: only distinct rows and counts are fetched before the release."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import FileError, InputError, Note, UsageError, join_problems, setting
from shoal.tables.formats.memory_limit import available_memory, check_memory
from shoal.tables.formats.writers import create
from shoal.tables.sources.base import SAMPLE, DistinctRows, Facts, Grouping, Recoding, Rows, Snapshot, Verifier
from shoal.tables.sources.session import KINDS, Relation, ask, connect, find_table, guarded, identity, quote
from shoal.tables.sources.sql_text import check_types, out_of_range, text_of
from shoal.tables.sources.url import TableURL
from shoal.tables.table import Table, check_names, make_table
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl
    import psycopg

__all__ = ["PostgresSource", "select_recoded"]

BLOCK_BYTES = 1 << 25
CHECKED_ROWS = 10_000  # rows between two looks at whether the run was cancelled


class PostgresSource:
    """A table read in one read-only transaction, which sees one state of it; see `Source` for the methods."""

    in_memory = False

    def __init__(self, url: TableURL) -> None:
        self.url = url
        self.relation: Relation
        self._connection: psycopg.Connection[Any] | None = None
        self._watch: Watch = UNWATCHED
        self._checked: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_connection": None, "_watch": UNWATCHED, "_checked": set()}

    @property
    def dialect(self) -> None:
        """None: the table is not a text file."""
        return None

    @contextmanager
    def opened(self, folder: Path, watch: Watch = UNWATCHED) -> Iterator[PostgresSource]:
        """Connect, find the table and begin the transaction."""
        if self._connection is not None:
            yield self
            return
        self._connection = connect(self.url, read_only=True)
        self._watch = watch
        try:
            with self.guarded():
                relation = find_table(self.connection, self.url)
            if relation is None:
                raise FileError(
                    f"{self.place}: the table does not exist, or the role may not see it. Check its schema and name."
                )
            self.relation = relation
            check_names(list(relation.columns), self.place)
            yield self
        finally:
            self._connection.close()  # a transaction that only read has nothing to roll back
            self._connection, self._watch, self._checked = None, UNWATCHED, set()

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """The session."""
        assert self._connection is not None, "the source is closed"
        return self._connection

    @property
    def place(self) -> str:
        """The URL without its password."""
        return self.url.shown

    @property
    def path(self) -> None:
        """None: the table is not a file."""
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self.relation.columns

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was detected."""
        kind = KINDS[self.relation.kind]
        return (
            Note(self.place, f"{kind} {self.relation.schema}.{self.relation.name}, {len(self.names)} columns"),
            *check_names(list(self.names), self.place),
        )

    def check(self, names: Sequence[str]) -> None:
        """Refuse types and dates that have no text; each column is checked once."""
        new = [name for name in names if name not in self._checked]
        check_types(self.relation, new, self.place)
        types = dict(zip(self.names, self.relation.types, strict=True))
        dated = {name: condition for name in new if (condition := out_of_range(name, types[name]))}
        if dated:
            tests = ", ".join(f"bool_or({condition})" for condition in dated.values())
            with self.guarded():
                answers = ask(self.connection, f"select {tests} from {self.relation.sql}")[0]
            wrong_columns = [name for name, is_wrong in zip(dated, answers, strict=True) if is_wrong]
            text = "contains a date outside the years 1 to 9999. Correct it, or turn the column into text."
            if wrong_columns:
                raise InputError(join_problems([f"{self.place}: column {name!r} {text}" for name in wrong_columns]))
        self._checked.update(new)

    def count(self, names: Sequence[str]) -> DistinctRows:
        """Count the table by these columns, in one query."""
        import polars as pl

        self.check(names)
        texts = ", ".join(f"{self.text(name)} as c{i}" for i, name in enumerate(names))
        columns = ", ".join(f"c{i}" for i in range(len(names)))
        query = f"select {columns}, count(*) from (select {texts} from {self.relation.sql}) as t group by {columns}"
        frame = self._fetch(query, [*(f"c{i}" for i in range(len(names))), "n"])
        if frame.height == 0:
            raise InputError(f"{self.place}: no data rows.")
        counts = frame["n"].cast(pl.Int64).to_numpy().astype(np.int64)
        cells = frame.drop("n")
        return DistinctRows(cells.rename(dict(zip(cells.columns, names, strict=True))), counts)

    def prepare_groups(self, groupings: Sequence[Grouping]) -> None:
        """Check the columns; a session that only reads makes no table, so each query joins its groups."""
        self.check(list(dict.fromkeys(grouping.name for grouping in groupings)))

    def count_groups(self, groupings: Sequence[Grouping]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the table by these groupings, in one query."""
        query, values = self._grouped(groupings)
        with self.guarded():
            rows = ask(self.connection, query, values)
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(groupings) + 1)
        return table[:, :-1].astype(np.int32), table[:, -1].copy()

    def rows_below(self, groupings: Sequence[Grouping], least: int) -> int:
        """Return the number of rows in combinations of fewer than `least` rows, in one query."""
        query, values = self._grouped(groupings)
        with self.guarded():
            below = f"select coalesce(sum(n) filter (where n < %s), 0) from ({query}) as g"
            return int(ask(self.connection, below, (least, *values))[0][0])

    def _grouped(self, groupings: Sequence[Grouping]) -> tuple[str, list[object]]:
        """Return the query that counts by groupings, and the values of its parameters."""
        places = range(len(groupings))
        values: list[object] = []
        for grouping in groupings:
            values += [list(grouping.groups), list(grouping.groups.values())]
        cells = ", ".join(f"{self.text(groupings[i].name)} as c{i}" for i in places) or "1"
        joins = " ".join(f"join unnest(%s::text[], %s::int[]) as m{i}(cell, g) on m{i}.cell = t.c{i}" for i in places)
        columns = ", ".join(f"m{i}.g as g{i}" for i in places)
        by = f"group by {', '.join(f'm{i}.g' for i in places)}" if groupings else ""
        counted = f"{columns}{', ' * bool(groupings)}count(*) as n"
        return f"select {counted} from (select {cells} from {self.relation.sql}) as t {joins} {by}", values

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return the figures of one column; a rare value occurs in fewer than k rows."""
        self.check([name])
        grouped = f"(select {self.text(name)} as c, count(*) as n from {self.relation.sql} group by 1) as g"
        query = f"select count(*), count(*) filter (where n < %s), sum(n) filter (where c = any(%s)) from {grouped}"
        with self.guarded():
            distinct, rare, absent = ask(self.connection, query, (k, list(missing)))[0]
            sample = ask(self.connection, f"select c from {grouped} order by c limit {SAMPLE}")
        return Facts(tuple(row[0] for row in sample), distinct, rare, int(absent or 0))

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""
        self.check(recoding.names)
        body, values = select_recoded(self.relation, recoding)
        # In a table of one column, a bare empty cell would be a blank line.
        bare = len(recoding.names) > 1
        cells = ", ".join(f"nullif(c{i}, '')" if bare else f"c{i}" for i in range(len(recoding.names)))
        order = ", ".join(self.sort_key(f"c{i}") for i in range(len(recoding.names)))
        with create(path) as file, self.guarded():
            file.write(header_line(recoding.names))
            for line in self._copy(f"select {cells} from ({body}) as r order by {order}", values):
                # The server quotes its old end mark in a table of one column; a block is one row.
                file.write(line if bare or line != b'"\\."\n' else b"\\.\n")

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""
        self.check(self.names)
        query = f"select {', '.join(map(self.text, self.names))} from {self.relation.sql}"
        return self._fetch_blocks(query, self.names)

    def read(self) -> Table:
        """Read the table into memory."""
        import polars as pl

        frames, n_bytes, n_rows, available = [], 0, 0, available_memory()
        for block in self.blocks():
            frames.append(block)
            n_bytes += sum(int(block[name].str.len_bytes().sum()) for name in self.names)
            n_rows += block.height
            check_memory(self.place, n_bytes, n_rows * len(self.names), available)
        if not frames:
            raise InputError(f"{self.place}: no data rows.")
        frame = pl.concat(frames)
        return make_table({name: frame[name] for name in self.names}, self.place, notes=self.notes[:1])

    def verify_rows(self, verifier: Verifier, names: Sequence[str]) -> Rows:
        """Have the verifier read these columns of the table, block by block."""
        return verifier.table_rows(self.connection, (self.relation.schema, self.relation.name), names)

    def verify_columns(self, verifier: Verifier, step: Callable[[int], None]) -> Any:
        """Have the verifier read the complete table, by column name."""
        rows: list[list[str]] = []
        for block in self.verify_rows(verifier, self.names):
            rows += block
            step(len(rows))
        return dict(zip(self.names, zip(*rows, strict=True), strict=True))

    def signature(self, key: bytes) -> str:
        """Refuse: a table of a database has no bytes to hash."""
        raise UsageError(f"{self.place}: {setting('key_file')} signs the hash of a file. Leave it out for a table.")

    def check_unchanged(self) -> None:
        """Check that the transaction, which sees one state of the table, is still open."""
        with self.guarded():
            ask(self.connection, "select 1")

    def identity(self) -> tuple[object, ...]:
        """Return what distinguishes the table from all others."""
        with self.guarded():
            return identity(self.connection, self.relation.oid)

    def dealer(self) -> None:
        """Return None: a database only counts."""

    def snapshot(self) -> Snapshot:
        """Export the state of the table for another session of its database."""
        with self.guarded():
            return Snapshot(str(ask(self.connection, "select pg_export_snapshot()")[0][0]), self.relation)

    def guarded(self) -> AbstractContextManager[None]:
        """Turn errors of the server into a FileError; end a running query if the caller cancels."""
        return guarded(self.place, self.connection, self._watch)

    def text(self, name: str) -> str:
        """Return the SQL that gives the text of a column's cells."""
        return text_of(name, self.relation.types[self.names.index(name)])

    def sort_key(self, column: str) -> str:
        """Return the SQL that sorts a column of text by its UTF-8 bytes."""
        if self.connection.info.parameter_status("server_encoding") == "UTF8":
            return f'{column} collate "C"'
        return f"convert_to({column}, 'UTF8')"

    def _fetch(self, query: str, names: Sequence[str]) -> pl.DataFrame:
        """Return the result of a query as columns of text."""
        import polars as pl

        empty = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        return pl.concat([empty, *self._fetch_blocks(query, names)])

    def _fetch_blocks(self, query: str, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield the result of a query as columns of text, one block at a time."""
        rows = io.BytesIO()
        with self.guarded():
            for row in self._copy(query, (), "force_quote *"):
                rows.write(row)
                if rows.tell() >= BLOCK_BYTES:
                    self._watch.check()
                    yield _parse(rows, names)
                    rows = io.BytesIO()
        if rows.tell():
            yield _parse(rows, names)

    def _copy(self, query: str, values: Sequence[object], extra_options: str = "") -> Iterator[bytes]:
        options = f"format csv{', ' * bool(extra_options)}{extra_options}"
        statement = f"copy ({query}) to stdout ({options})"
        if not values:  # then a percent sign in a name must not be doubled
            statement = statement.replace("%%", "%")
        with self.connection.cursor().copy(statement.encode(), tuple(values) or None) as copy:
            for number, row in enumerate(copy):
                if number % CHECKED_ROWS == 0:
                    self._watch.check()
                yield bytes(row)


def _parse(rows: io.BytesIO, names: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    short = [f"c{i}" for i in range(len(names))]
    frame = pl.read_csv(rows.getvalue(), has_header=False, infer_schema=False, new_columns=short)
    return frame.select(pl.col(column).fill_null("").alias(name) for column, name in zip(short, names, strict=True))


def select_recoded(relation: Relation, recoding: Recoding, *, native: bool = False) -> tuple[str, list[object]]:
    """Return the query that recodes a table, with columns c0, c1, ..., and the values of its parameters.

    Args:
        relation: The table.
        recoding: The released text of each cell, and the groups that are released.
        native: Whether columns that are released unchanged keep their type instead of becoming text.
    """
    types = dict(zip(relation.columns, relation.types, strict=True))
    cells: list[str] = []
    joins: list[str] = []
    values: list[object] = []
    for i, name in enumerate(recoding.names):
        if name not in recoding.maps:
            cells.append(f"t.{quote(name)} as c{i}" if native else f"{text_of(name, types[name], 't')} as c{i}")
            continue
        texts = recoding.maps[name]
        cell = text_of(name, types[name], "t")
        joins.append(f"join unnest(%s::text[], %s::text[]) as m{i}(cell, label) on m{i}.cell = {cell}")
        values += [list(texts), list(texts.values())]
        cells.append(f"m{i}.label as c{i}")
    if recoding.kept is not None:
        places = [recoding.names.index(name) for name in recoding.maps]
        columns = ", ".join(f"k{i}" for i in places)
        arrays = ", ".join(["%s::text[]"] * len(places))
        matches = " and ".join(f"k.k{i} = m{i}.label" for i in places)
        joins.append(f"join unnest({arrays}) as k({columns}) on {matches}")
        values += [list(column) for column in zip(*recoding.kept, strict=True)] or [[] for _ in places]
    return f"select {', '.join(cells)} from {relation.sql} as t {' '.join(joins)}", values


def header_line(names: Sequence[str]) -> bytes:
    """Return the first line of a CSV file with these columns."""
    import polars as pl

    return pl.DataFrame(schema=dict.fromkeys(names, pl.String)).write_csv(quote_style="necessary").encode()
