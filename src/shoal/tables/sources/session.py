"""A session with a PostgreSQL server: how it is opened, what it is told, and what its errors become.

The text of a server's error may hold cells, and that of a connection its secrets; neither is passed on.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, InputError, UsageError
from shoal.tables.sources.url import TableURL
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import psycopg

__all__ = ["Relation", "ask", "connect", "find_table", "guarded", "identity", "quote", "require_psycopg", "search_path"]

# One text for one value, whatever the server, the role or the environment would choose; and no row that a policy
# hides without a word.
SETTINGS = {
    "client_encoding": "UTF8",
    "datestyle": "ISO, YMD",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "row_security": "off",
    "search_path": "pg_catalog",
}
CONNECT_SECONDS = 10
POLL_SECONDS = 0.2
REASONS = {
    "42P01": "no such table. Name it with ?table=schema.name",
    "42501": "the role may not do this, or row-level security would hide rows from it. Ask its owner for the right",
    "25006": "the server takes no changes (read-only)",
    "3D000": "no such database",
    "28P01": "the login was refused. Check user and password",
    "28000": "the login was refused. Check user and password",
    "53100": "the server's disk is full",
    "53200": "the server is out of memory",
    "53300": "the server takes no more connections. Try again later",
    "57014": "the query was cancelled by the server. Raise statement_timeout",
    "2BP01": "other objects (views, foreign keys) depend on it. Drop them first, or name another table",
    "40001": "the table was changed by somebody else meanwhile. Run again",
    "55P03": "the table is locked by somebody else. Try again later",
}
KINDS = {"r": "table", "p": "partitioned table", "v": "view", "m": "materialised view", "f": "foreign table"}


def require_psycopg() -> None:
    """Raise a UsageError if the library that talks to PostgreSQL is not installed."""
    if importlib.util.find_spec("psycopg") is None:
        raise UsageError("PostgreSQL needs psycopg, which is not installed: pip install 'shoal[sql]'")


def connect(url: TableURL, *, read_only: bool) -> psycopg.Connection[Any]:
    """Open a session; every transaction in it sees one state of the database, and a read-only one changes nothing."""
    require_psycopg()
    import psycopg

    try:
        given = psycopg.conninfo.conninfo_to_dict(url.uri)
    except psycopg.ProgrammingError:  # its text may hold a part of the URL
        raise UsageError(
            f"{url.shown}: is not a URL that PostgreSQL knows. Escape : / ? # @ & in names and passwords as %3A ..."
        ) from None
    defaults = {"application_name": "shoal", "connect_timeout": CONNECT_SECONDS}
    more: dict[str, Any] = {key: value for key, value in defaults.items() if key not in given}
    try:
        connection = psycopg.connect(url.uri, prepare_threshold=None, **more)
    except psycopg.Error as error:
        raise FileError(f"{url.shown}: cannot be reached: {_reason(error, given.get('password'))}.") from None
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = read_only
    with guarded(url.shown, connection):
        for name, value in SETTINGS.items():
            connection.execute("select set_config(%s, %s, false)", (name, value))
        encoding = connection.info.parameter_status("server_encoding")
        connection.commit()
    if encoding == "SQL_ASCII":
        connection.close()
        raise InputError(f"{url.shown}: the database has no encoding (SQL_ASCII). Load it into one with UTF8.")
    return connection


def _reason(error: psycopg.Error, password: Any) -> str:
    if error.sqlstate in REASONS:
        return REASONS[str(error.sqlstate)]
    lines = [line for line in str(error).splitlines() if "failed: " in line] or str(error).splitlines() or [""]
    reason = lines[-1].rpartition("failed: ")[2].strip().rstrip(".")
    return (reason.replace(str(password), "***") if password else reason) or "no reason was given"


@contextmanager
def guarded(place: str, connection: psycopg.Connection[Any] | None = None, watch: Watch = UNWATCHED) -> Iterator[None]:
    """Turn errors of the server into a FileError without a cell of the table.

    Args:
        place: The table, for messages.
        connection: The session.
        watch: If its caller cancels the run, a running query is ended.
    """
    import psycopg

    try:
        with _cancelling(connection, watch):
            yield
    except UnicodeError:
        raise InputError(f"{place}: contains text that is not valid in the encoding of its database.") from None
    except psycopg.Error as error:
        watch.check()
        if (connection is not None and connection.closed) or (error.sqlstate or "").startswith(("08", "57P")):
            raise FileError(f"{place}: the connection was lost; nothing was written. Run again.") from None
        reason = REASONS.get(error.sqlstate or "", f"the server refused a query (SQLSTATE {error.sqlstate or 'none'})")
        raise FileError(f"{place}: {reason}.") from None


@contextmanager
def _cancelling(connection: psycopg.Connection[Any] | None, watch: Watch) -> Iterator[None]:
    """Ask several times a second whether the run was cancelled, and end the running query if so."""
    if connection is None or not watch.can_cancel:
        yield
        return
    done = Event()

    def poll() -> None:
        while not done.wait(POLL_SECONDS):
            if watch.cancelled():
                connection.cancel()
                return

    Thread(target=poll, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def quote(name: str) -> str:
    """Return a name as it stands in a query with parameters."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def ask(connection: psycopg.Connection[Any], query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Return the rows of a query; names in it come from quote, values are parameters."""
    cursor = connection.execute(query.encode(), tuple(values))
    return cursor.fetchall() if cursor.description else []


@dataclass(frozen=True)
class Relation:
    """A table that was found. kind: what the catalog calls it; types: of its columns, domains as their base type."""

    oid: int
    schema: str
    name: str
    kind: str
    columns: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def sql(self) -> str:
        """The table as it stands in a query with parameters."""
        return f"{quote(self.schema)}.{quote(self.name)}"


FIND = """
select c.oid, n.nspname, c.relname, c.relkind::text
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relname = %s and n.nspname = any(%s) and c.relkind = any('{r,p,v,m,f}')
order by array_position(%s, n.nspname::text) limit 1
"""
COLUMNS = """
with recursive base as (
    select a.attnum, a.attname::text, t.oid, t.typtype, t.typbasetype, t.typname::text, t.typcategory
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    where a.attrelid = %s and a.attnum > 0 and not a.attisdropped
    union all
    select b.attnum, b.attname, t.oid, t.typtype, t.typbasetype, t.typname::text, t.typcategory
    from base b join pg_type t on t.oid = b.typbasetype where b.typtype = 'd'
)
select attname, case when typtype = 'e' then 'enum' else typname end from base where typtype <> 'd' order by attnum
"""


def find_table(connection: psycopg.Connection[Any], url: TableURL) -> Relation | None:
    """Return the table that a URL names; without a schema, the first one on the role's search path."""
    schemas = [url.schema] if url.schema is not None else search_path(connection)
    found = ask(connection, FIND, (url.table, schemas, schemas))
    if not found:
        return None
    oid, schema, name, kind = found[0]
    columns = ask(connection, COLUMNS, (oid,))
    return Relation(oid, schema, name, kind, tuple(row[0] for row in columns), tuple(row[1] for row in columns))


def identity(connection: psycopg.Connection[Any], oid: int) -> tuple[object, ...]:
    """Return what no other table of any server has in common, however its URL is written."""
    query = "select pg_postmaster_start_time(), d.oid, %s from pg_database d where d.datname = current_database()"
    return ask(connection, query, (oid,))[0]


def search_path(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the schemas that the role would search, although this session itself searches none."""
    found = ask(connection, "select reset_val from pg_settings where name = 'search_path'")
    ask(connection, "select set_config('search_path', %s, true)", (found[0][0],))
    schemas = ask(connection, "select current_schemas(false)::text[]")[0][0]
    ask(connection, "select set_config('search_path', 'pg_catalog', true)")
    return [str(schema) for schema in schemas]
