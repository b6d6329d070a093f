"""A table of a PostgreSQL database as the place of a release: staged, checked and named in one transaction.

Whatever ends a run before its commit, an error, a signal or a lost connection, the server undoes the transaction: the
target is as it was, and no staging table is left.
"""

from __future__ import annotations

import csv
import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from shoal.errors import FileError, InputError
from shoal.tables.formats.sniff import Format
from shoal.tables.sources.base import Recoding
from shoal.tables.sources.postgres import select_recoded
from shoal.tables.sources.session import (
    KINDS,
    Relation,
    ask,
    connect,
    find_table,
    guarded,
    identity,
    quote,
    search_path,
)
from shoal.tables.sources.url import TableURL, check_names
from shoal.tables.targets.file import Stream

if TYPE_CHECKING:
    import psycopg

__all__ = ["TableTarget"]

RIGHTS = "select has_schema_privilege(oid, 'CREATE') from pg_namespace where nspname = %s"
OWNER = "select pg_has_role(relowner, 'USAGE') from pg_class where oid = %s"
LOCK = "select pg_try_advisory_lock(hashtextextended(%s, 5015))"
BLOCK_BYTES = 1 << 20
LOCK_SECONDS = 30


class TableTarget:
    """A table to be written once, all or nothing; a context manager.

    On entering, name, rights and lock are checked; files that are not finished have a private folder of their own.
    """

    def __init__(self, url: TableURL, *, force: bool = False) -> None:
        self.url = url
        self.format = Format.CSV
        self.connection: psycopg.Connection[Any]
        self.staging = ("", f"shoal_staging_{secrets.token_hex(8)}")
        self._force = force
        self._files = Stream()
        self._replaced: tuple[object, ...] = ()

    def __enter__(self) -> Self:
        """Connect, check that the table can be written, and lock it against other runs."""
        self._files.__enter__()
        try:
            self.connection = connect(self.url, read_only=False)
        except BaseException:
            self._files.__exit__(None, None, None)
            raise
        try:
            with guarded(self.place, self.connection):
                self._check()
                self.connection.commit()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the session, which undoes what was not committed, and remove the private folder."""
        self.connection.close()
        self._files.__exit__(kind, error, trace)

    @property
    def place(self) -> str:
        """The URL without its password."""
        return self.url.shown

    @property
    def folder(self) -> Path:
        """The private folder."""
        return self._files.folder

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""
        return self._files.temporary(name)

    def guarded(self) -> AbstractContextManager[None]:
        """Turn what the server refuses into a FileError."""
        return guarded(self.place, self.connection)

    def refuse(self, source: tuple[object, ...]) -> None:
        """Raise an InputError if the table to be replaced is this one."""
        if self._replaced == source:
            raise InputError(f"{self.place}: input and output are the same table. Name another output with -o.")

    def begin(self, snapshot: str | None = None, source: int = 0) -> bool:
        """Begin the one transaction; with a snapshot, in the state that it shows.

        Returns whether that can be: it must be of this very database, and the role must be allowed to read the source,
        which is given by its number in the catalog.
        """
        import psycopg

        self.connection.rollback()
        if snapshot is None:
            return True
        try:
            self.connection.execute(b"set transaction snapshot '" + snapshot.encode() + b"'")
        except (
            psycopg.errors.InvalidParameterValue,
            psycopg.errors.FeatureNotSupported,
            psycopg.errors.UndefinedObject,
        ):
            self.connection.rollback()  # another database, or another server
            return False
        with guarded(self.place, self.connection):
            allowed = ask(self.connection, "select has_table_privilege(%s::oid, 'SELECT')", (source,))[0][0]
        if not allowed:
            self.connection.rollback()
        return bool(allowed)

    def stage_recoded(self, source: Relation, recoding: Recoding) -> None:
        """Make the release inside the database: columns that leave as they are keep their type."""
        check_names(recoding.names, self.place)
        body, values = select_recoded(source, recoding, native=True)
        places = range(len(recoding.names))
        cells = ", ".join(
            f"nullif(c{i}, '') as {quote(name)}" if name in recoding.maps else f"c{i} as {quote(name)}"
            for i, name in zip(places, recoding.names, strict=True)
        )
        # Rows lie in the order of their cells, so that their place says nothing about the source.
        order = ", ".join(f'c{i}::text collate "C"' for i in places)
        with guarded(self.place, self.connection):
            ask(
                self.connection,
                f"create table {self._sql()} as select {cells} from ({body}) as r order by {order}",
                values,
            )

    def stage_file(self, path: Path, names: Sequence[str]) -> None:
        """Load a finished CSV file: every column is text, an empty cell is null."""
        check_names(list(names), self.place)
        with guarded(self.place, self.connection):
            columns = ", ".join(f"{quote(name)} text" for name in names)
            ask(self.connection, f"create table {self._sql()} ({columns})")
            statement = f"copy {self._sql()} from stdin".replace("%%", "%")
            if len(names) == 1:  # a line \\. would end the data, and an empty one is quoted
                with open(path, newline="", encoding="utf-8") as lines, self._copy(statement) as copy:
                    for (cell,) in islice(csv.reader(lines), 1, None):
                        copy.write_row((cell or None,))
                return
            with open(path, "rb") as file, self._copy(f"{statement} (format csv, header true)") as copy:
                while block := file.read(BLOCK_BYTES):
                    copy.write(block)

    def _copy(self, statement: str) -> AbstractContextManager[psycopg.Copy]:
        return self.connection.cursor().copy(statement.encode())

    def publish(self, remark: str) -> None:
        """Give the staging table its name, with a remark, and commit."""
        final = f"{quote(self.staging[0])}.{quote(self.url.table)}"
        with guarded(self.place, self.connection):
            ask(self.connection, f"set local lock_timeout = '{LOCK_SECONDS}s'")
            if self._force:
                ask(self.connection, f"drop table if exists {final}")
            ask(self.connection, f"alter table {self._sql()} rename to {quote(self.url.table)}")
            # A remark takes no parameter: the server itself makes a literal of it.
            literal = ask(self.connection, "select quote_literal(%s)", (remark,))[0][0].replace("%", "%%")
            ask(self.connection, f"comment on table {final} is {literal}")
            self.connection.commit()

    def _sql(self) -> str:
        return f"{quote(self.staging[0])}.{quote(self.staging[1])}"

    def _check(self) -> None:
        found = find_table(self.connection, self.url)
        self._replaced = identity(self.connection, found.oid) if found else ()
        schema = self.url.schema or (found.schema if found else self._first_schema())
        self.staging = (schema, self.staging[1])
        rights = ask(self.connection, RIGHTS, (schema,))
        if not rights:
            raise FileError(f"{self.place}: no schema {schema!r}. Make it first.")
        if not rights[0][0]:
            raise FileError(f"{self.place}: the role may not make tables in schema {schema!r}. Ask its owner for it.")
        if found is not None and not self._force:
            raise FileError(f"{self.place}: exists already. Name another output, or say --force to replace it.")
        if found is not None and found.kind != "r":
            raise FileError(f"{self.place}: is a {KINDS[found.kind]}, which is not replaced. Name another output.")
        if found is not None and not ask(self.connection, OWNER, (found.oid,))[0][0]:
            raise FileError(
                f"{self.place}: belongs to another role, so that it cannot be replaced. Name another output."
            )
        if not ask(self.connection, LOCK, (f"{schema}.{self.url.table}",))[0][0]:
            raise FileError(f"{self.place}: another run is writing it. Wait for it, or name another output.")

    def _first_schema(self) -> str:
        """Return the schema that a new table of this role would be made in."""
        schemas = search_path(self.connection)
        if not schemas:
            raise FileError(f"{self.place}: the role has no schema to make tables in. Name one: ?table=schema.name.")
        return schemas[0]
