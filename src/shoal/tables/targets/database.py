"""A release as a table of a PostgreSQL database: staged, checked and named in one transaction.

If a run ends before its commit, by an error, a signal or a lost connection, the server rolls the transaction back: the
target is as it was, and no staging table remains.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from shoal.errors import FileError, InputError, UsageError, setting
from shoal.tables.formats.blocks import open_blocks
from shoal.tables.formats.sniff import Format
from shoal.tables.sources.base import Recoding, Snapshot, Source
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
from shoal.tables.targets import witness
from shoal.tables.targets.base import Judge
from shoal.tables.targets.folders import PrivateFolder
from shoal.tables.targets.moves import Held, Move

if TYPE_CHECKING:
    import psycopg

__all__ = ["TableTarget"]

RIGHTS = "select has_schema_privilege(oid, 'CREATE') from pg_namespace where nspname = %s"
OWNER = "select pg_has_role(relowner, 'USAGE') from pg_class where oid = %s"
LOCK = "select pg_try_advisory_lock(hashtextextended(%s, 5015))"
BLOCK_BYTES = 1 << 20
LOCK_SECONDS = 30


class TableTarget:
    """A table that is written once, completely or not at all; see `Target` for the methods.

    Entering checks the name and the privileges, and locks the table against other runs.
    """

    files = None
    format = Format.CSV

    def __init__(self, url: TableURL, *, force: bool = False) -> None:
        """Name the table; force: whether to replace a table that exists."""
        self.url = url
        self.connection: psycopg.Connection[Any]
        self.staging = ("", f"shoal_staging_{secrets.token_hex(8)}")
        self._force = force
        self._private = PrivateFolder()
        self._replaced: tuple[object, ...] = ()
        self._made_from: Relation | None = None
        self._loaded: Path | None = None

    def __enter__(self) -> Self:
        """Connect, check that the table can be written, and lock it against other runs."""
        self._private.__enter__()
        try:
            self.connection = connect(self.url, read_only=False)
        except BaseException:
            self._private.__exit__(None, None, None)
            raise
        try:
            with self.guarded():
                self._check()
                self.connection.commit()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the session, which rolls back what was not committed, and remove the private folder."""
        self.connection.close()
        self._private.__exit__(kind, error, trace)

    @property
    def place(self) -> str:
        """The URL without its password."""
        return self.url.shown

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.url.table

    @property
    def folder(self) -> Path:
        """The private folder."""
        return self._private.path

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""
        return self.folder / name

    def guarded(self) -> AbstractContextManager[None]:
        """Turn errors of the server into a FileError."""
        return guarded(self.place, self.connection)

    def refuse(self, source: Source) -> None:
        """Raise an InputError if the table to be replaced is the source."""
        if self._replaced and self._replaced == source.identity():
            raise InputError(f"{self.place}: input and output are the same table. Name another {setting('output')}.")

    def check_layout(self, *, plain: bool) -> None:
        """Refuse a layout that only files have."""
        if not plain:
            options = [setting("keep_order", True), setting("cells"), setting("spreadsheet_safe", True)]
            options += [setting("output_delimiter"), setting("output_decimal")]
            raise UsageError(
                f"{self.place}: {', '.join(options[:-1])} and {options[-1]} are for files. Leave them out."
            )

    def begin(self, source: Source, recoding: Recoding) -> bool:
        """Make the release inside the database, if the source is in it and the role may read it."""
        snapshot = source.snapshot()
        if snapshot is None or not self._adopt(snapshot):
            return False
        self.stage_recoded(snapshot.relation, recoding)
        self._made_from = snapshot.relation
        return True

    def _adopt(self, snapshot: Snapshot) -> bool:
        """Begin the transaction in the state of a snapshot; return False if this session cannot see it."""
        import psycopg

        self.connection.rollback()
        try:
            self.connection.execute(b"set transaction snapshot '" + snapshot.name.encode() + b"'")
        except (
            psycopg.errors.InvalidParameterValue,
            psycopg.errors.FeatureNotSupported,
            psycopg.errors.UndefinedObject,
        ):
            self.connection.rollback()  # another database, or another server
            return False
        with self.guarded():
            query = "select has_table_privilege(%s::oid, 'SELECT')"
            allowed = ask(self.connection, query, (snapshot.relation.oid,))[0][0]
        if not allowed:
            self.connection.rollback()
        return bool(allowed)

    def write(self, written: Held, names: Sequence[str]) -> None:
        """Load a verified CSV file into the staging table."""
        self.connection.rollback()
        self.stage_file(written.path, names)
        written.check()
        self._loaded = written.path

    def check(self, judge: Judge) -> None:
        """Have the staging table verified."""
        with self.guarded():
            if self._made_from is not None:
                source = (self._made_from.schema, self._made_from.name)
                judge.check_recoded(self.connection, self.staging, source)
            elif self._loaded is not None:
                judge.check_copy(self.connection, self.staging, self._loaded)

    def stage_recoded(self, source: Relation, recoding: Recoding) -> None:
        """Make the release inside the database; columns that are released unchanged keep their type."""
        check_names(recoding.names, self.place)
        body, values = select_recoded(source, recoding, native=True)
        places = range(len(recoding.names))
        cells = ", ".join(
            f"nullif(c{i}, '') as {quote(name)}" if name in recoding.maps else f"c{i} as {quote(name)}"
            for i, name in zip(places, recoding.names, strict=True)
        )
        # Rows are stored in the order of their cells, so that their position reveals nothing about the source.
        order = ", ".join(f'c{i}::text collate "C"' for i in places)
        with self.guarded():
            ask(
                self.connection,
                f"create table {self._sql()} as select {cells} from ({body}) as r order by {order}",
                values,
            )

    def stage_file(self, path: Path, names: Sequence[str]) -> None:
        """Load a CSV file: every column is text, an empty cell is null."""
        check_names(list(names), self.place)
        with self.guarded():
            columns = ", ".join(f"{quote(name)} text" for name in names)
            ask(self.connection, f"create table {self._sql()} ({columns})")
            statement = f"copy {self._sql()} from stdin".replace("%%", "%")
            if len(names) == 1:  # a line \\. would end the data, and an empty line is quoted
                blocks = open_blocks(path, delimiter=",", encoding="utf-8", header=True)
                with self._copy(statement) as copy:
                    for (cell,) in chain.from_iterable(frame.iter_rows() for frame in blocks.frames):
                        copy.write_row((cell or None,))
                return
            with open(path, "rb") as file, self._copy(f"{statement} (format csv, header true)") as copy:
                while block := file.read(BLOCK_BYTES):
                    copy.write(block)

    def _copy(self, statement: str) -> AbstractContextManager[psycopg.Copy]:
        return self.connection.cursor().copy(statement.encode())

    def publish(self, beside: Sequence[Move] = (), remark: str = "") -> None:
        """Give the staging table its name, with the manifest as its comment, and commit."""
        final = f"{quote(self.staging[0])}.{quote(self.url.table)}"
        with self.guarded():
            ask(self.connection, f"set local lock_timeout = '{LOCK_SECONDS}s'")
            if self._force:
                ask(self.connection, f"drop table if exists {final}")
            ask(self.connection, f"alter table {self._sql()} rename to {quote(self.url.table)}")
            # A comment accepts no parameter: the server itself makes a literal of it.
            literal = ask(self.connection, "select quote_literal(%s)", (remark,))[0][0].replace("%", "%%")
            ask(self.connection, f"comment on table {final} is {literal}")
            witness.current().committing()
            try:
                self.connection.commit()
            except BaseException:
                witness.current().withdrawn()
                raise
            witness.current().committed()

    def _sql(self) -> str:
        return f"{quote(self.staging[0])}.{quote(self.staging[1])}"

    def _check(self) -> None:
        relation = find_table(self.connection, self.url)
        self._replaced = identity(self.connection, relation.oid) if relation else ()
        schema = self.url.schema or (relation.schema if relation else self._first_schema())
        self.staging = (schema, self.staging[1])
        rights = ask(self.connection, RIGHTS, (schema,))
        if not rights:
            raise FileError(f"{self.place}: no schema {schema!r}. Make it first.")
        if not rights[0][0]:
            raise FileError(f"{self.place}: the role may not create tables in schema {schema!r}. Ask its owner.")
        if relation is not None and not self._force:
            raise FileError(f"{self.place}: exists already. Name another output, or pass {setting('force', True)}.")
        if relation is not None and relation.kind != "r":
            raise FileError(f"{self.place}: is a {KINDS[relation.kind]}, which is not replaced. Name another output.")
        if relation is not None and not ask(self.connection, OWNER, (relation.oid,))[0][0]:
            raise FileError(f"{self.place}: belongs to another role and cannot be replaced. Name another output.")
        if not ask(self.connection, LOCK, (f"{schema}.{self.url.table}",))[0][0]:
            raise FileError(f"{self.place}: another run is writing it. Wait for it, or name another output.")

    def _first_schema(self) -> str:
        """Return the schema in which a new table of this role would be created."""
        schemas = search_path(self.connection)
        if not schemas:
            raise FileError(f"{self.place}: the role has no schema to create tables in. Name one: ?table=schema.name.")
        return schemas[0]
