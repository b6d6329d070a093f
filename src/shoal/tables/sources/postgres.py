"""A table of a PostgreSQL database, counted there: until the release is made, distinct rows and counts come over."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shoal.errors import FileError, InputError, Note, join_problems
from shoal.tables.formats.writers import create
from shoal.tables.sources.base import SAMPLE, DistinctRows, Facts, Recoding
from shoal.tables.sources.session import KINDS, Relation, ask, connect, find_table, guarded, identity, quote
from shoal.tables.sources.sql_text import check_types, out_of_range, text_of
from shoal.tables.sources.url import TableURL
from shoal.tables.table import Table, check_names, make_table

if TYPE_CHECKING:
    import polars as pl
    import psycopg

__all__ = ["PostgresSource", "select_recoded"]


class PostgresSource:
    """One table in one read-only session that sees one state of it from beginning to end; a context manager."""

    def __init__(self, url: TableURL) -> None:
        self.url = url
        self.relation: Relation
        self.connection: psycopg.Connection[Any]
        self._checked: set[str] = set()

    def __enter__(self) -> Self:
        """Connect, find the table and begin the one transaction."""
        self.connection = connect(self.url, read_only=True)
        try:
            with self.guarded():
                found = find_table(self.connection, self.url)
            if found is None:
                raise FileError(f"{self.place}: no such table, or the role may not see it.")
            self.relation = found
            check_names(list(found.columns), self.place)
        except BaseException:
            self.connection.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session; a transaction that only read has nothing to undo."""
        self.connection.close()

    @property
    def place(self) -> str:
        """The URL without its password."""
        return self.url.shown

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self.relation.columns

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was found."""
        kind = KINDS[self.relation.kind]
        return (
            Note(self.place, f"{kind} {self.relation.schema}.{self.relation.name}, {len(self.names)} columns"),
            *check_names(list(self.names), self.place),
        )

    def check(self, names: Sequence[str]) -> None:
        """Refuse types and dates that have no text; each column is looked at once."""
        new = [name for name in names if name not in self._checked]
        check_types(self.relation, new, self.place)
        types = dict(zip(self.names, self.relation.types, strict=True))
        dated = {name: condition for name in new if (condition := out_of_range(name, types[name]))}
        if dated:
            tests = ", ".join(f"bool_or({condition})" for condition in dated.values())
            with self.guarded():
                found = ask(self.connection, f"select {tests} from {self.relation.sql}")[0]
            wrong = [name for name, is_wrong in zip(dated, found, strict=True) if is_wrong]
            text = "holds a date outside the years 1 to 9999. Mend it, or turn the column into text."
            if wrong:
                raise InputError(join_problems([f"{self.place}: column {name!r} {text}" for name in wrong]))
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

    def facts(self, name: str, k: int, missing: Sequence[str]) -> Facts:
        """Return what is known of one column; rare values are those in fewer than k rows."""
        self.check([name])
        grouped = f"(select {self.text(name)} as c, count(*) as n from {self.relation.sql} group by 1) as g"
        told = f"select count(*), count(*) filter (where n < %s), sum(n) filter (where c = any(%s)) from {grouped}"
        with self.guarded():
            distinct, rare, absent = ask(self.connection, told, (k, list(missing)))[0]
            sample = ask(self.connection, f"select c from {grouped} order by c limit {SAMPLE}")
        return Facts(tuple(row[0] for row in sample), distinct, rare, int(absent or 0))

    def write(self, recoding: Recoding, path: Path) -> None:
        """Write the recoded rows as CSV, sorted by their cells."""
        self.check(recoding.names)
        body, values = select_recoded(self.relation, recoding)
        # Alone in its row, a bare empty cell would be a blank line.
        bare = len(recoding.names) > 1
        cells = ", ".join(f"nullif(c{i}, '')" if bare else f"c{i}" for i in range(len(recoding.names)))
        order = ", ".join(self.sort_key(f"c{i}") for i in range(len(recoding.names)))
        with create(path) as file, self.guarded():
            file.write(header_line(recoding.names))
            for line in self._copy(f"select {cells} from ({body}) as r order by {order}", values):
                # Alone in its row, the server quotes its old end mark; a block is one row.
                file.write(line if bare or line != b'"\\."\n' else b"\\.\n")

    def read(self) -> Table:
        """Read the whole table into memory, every cell as text."""
        self.check(self.names)
        names = [f"c{i}" for i in range(len(self.names))]
        frame = self._fetch(f"select {', '.join(map(self.text, self.names))} from {self.relation.sql}", names)
        if frame.height == 0:
            raise InputError(f"{self.place}: no data rows.")
        columns = {name: frame[short] for name, short in zip(self.names, names, strict=True)}
        return make_table(columns, self.place, notes=self.notes[:1])

    def check_unchanged(self) -> None:
        """The transaction sees one state of the table for as long as it lasts; whether it does is asked here."""
        with self.guarded():
            ask(self.connection, "select 1")

    def identity(self) -> tuple[object, ...]:
        """Return what tells the table from all others."""
        with self.guarded():
            return identity(self.connection, self.relation.oid)

    def snapshot(self) -> str:
        """Return what lets another session of this database see the same state."""
        with self.guarded():
            return str(ask(self.connection, "select pg_export_snapshot()")[0][0])

    def guarded(self) -> AbstractContextManager[None]:
        """Turn what the server refuses into a FileError."""
        return guarded(self.place, self.connection)

    def text(self, name: str) -> str:
        """Return the SQL that gives the text of a column's cells."""
        return text_of(name, self.relation.types[self.names.index(name)])

    def sort_key(self, column: str) -> str:
        """Return what sorts a column of text as its UTF-8 bytes."""
        if self.connection.info.parameter_status("server_encoding") == "UTF8":
            return f'{column} collate "C"'
        return f"convert_to({column}, 'UTF8')"

    def _fetch(self, query: str, names: Sequence[str]) -> pl.DataFrame:
        """Return the result of a query as columns of text."""
        import polars as pl

        raw = io.BytesIO()
        with self.guarded():
            for block in self._copy(query, (), "force_quote *"):
                raw.write(block)
        if not raw.tell():
            return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        frame = pl.read_csv(raw.getvalue(), has_header=False, infer_schema=False, new_columns=list(names))
        return frame.select(pl.all().fill_null(""))

    def _copy(self, query: str, values: Sequence[object], more: str = "") -> Iterator[bytes]:
        options = f"format csv{', ' * bool(more)}{more}"
        statement = f"copy ({query}) to stdout ({options})"
        if not values:  # then the percent signs of names are taken as they stand
            statement = statement.replace("%%", "%")
        with self.connection.cursor().copy(statement.encode(), tuple(values) or None) as copy:
            yield from map(bytes, copy)


def select_recoded(relation: Relation, recoding: Recoding, *, native: bool = False) -> tuple[str, list[object]]:
    """Return the query that recodes a table (columns c0, c1, ...) and its values: maps joined, groups left out.

    native: columns that leave as they are keep their type.
    """
    types = dict(zip(relation.columns, relation.types, strict=True))
    cells: list[str] = []
    joins: list[str] = []
    values: list[object] = []
    for i, name in enumerate(recoding.names):
        if name not in recoding.maps:
            cells.append(f"t.{quote(name)} as c{i}" if native else f"{text_of(name, types[name])} as c{i}")
            continue
        texts = recoding.maps[name]
        cell = text_of(name, types[name])
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
