"""Sessions with a PostgreSQL server: opening, settings, queries and errors.

A server's error may contain cells, and a connection error may contain secrets; neither text is passed on.
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

# Each value has one text, whatever the server, the role or the environment prefers. With row_security off, the server
# reports an error where a policy would silently hide rows.
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
    "42P01": "the table does not exist. Name it with ?table=schema.name",
    "42501": "the role may not do this, or row-level security would hide rows from it. Ask the owner for access",
    "25006": "the server is read-only. Use another server",
    "3D000": "the database does not exist. Check its name",
    "28P01": "the login was refused. Check user and password",
    "28000": "the login was refused. Check user and password",
    "53100": "the server's disk is full. Free some space",
    "53200": "the server is out of memory. Try again later",
    "53300": "the server has too many connections. Try again later",
    "57014": "the server cancelled the query. Raise its statement_timeout",
    "2BP01": "other objects (views, foreign keys) depend on it. Drop them first, or name another table",
    "40001": "someone else changed the table meanwhile. Run again",
    "55P03": "someone else has locked the table. Try again later",
}
KINDS = {"r": "table", "p": "partitioned table", "v": "view", "m": "materialised view", "f": "foreign table"}


def require_psycopg() -> None:
    """Raise a UsageError if psycopg, the client library of PostgreSQL, is not installed."""
    if importlib.util.find_spec("psycopg") is None:
        raise UsageError("PostgreSQL needs psycopg, which is not installed. Install it with: pip install 'shoal[sql]'")


def connect(url: TableURL, *, read_only: bool) -> psycopg.Connection[Any]:
    """Open a session in which every transaction sees one state of the database.

    Args:
        url: The server, the database and the table.
        read_only: Whether the server refuses changes in this session.

    Raises:
        UsageError: If psycopg is not installed, or the URL is malformed.
        FileError: If the server cannot be reached.
        InputError: If the database has no encoding.
    """
    require_psycopg()
    import psycopg

    try:
        parameters = psycopg.conninfo.conninfo_to_dict(url.uri)
    except psycopg.ProgrammingError:  # its text may contain a part of the URL
        raise UsageError(
            f"{url.shown}: is not a valid PostgreSQL URL. Escape : / ? # @ & in names and passwords, such as : as %3A."
        ) from None
    defaults = {"application_name": "shoal", "connect_timeout": CONNECT_SECONDS}
    missing_defaults: dict[str, Any] = {key: value for key, value in defaults.items() if key not in parameters}
    try:
        connection = psycopg.connect(url.uri, prepare_threshold=None, **missing_defaults)
    except psycopg.Error as error:
        raise FileError(f"{url.shown}: cannot be reached: {_reason(error, parameters.get('password'))}.") from None
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = read_only
    with guarded(url.shown, connection):
        for name, value in SETTINGS.items():
            connection.execute("select set_config(%s, %s, false)", (name, value))
        encoding = connection.info.parameter_status("server_encoding")
        connection.commit()
    if encoding == "SQL_ASCII":
        connection.close()
        raise InputError(
            f"{url.shown}: the database has no encoding (SQL_ASCII). Load the table into a database with encoding UTF8."
        )
    return connection


def _reason(error: psycopg.Error, password: Any) -> str:
    if error.sqlstate in REASONS:
        return REASONS[str(error.sqlstate)]
    lines = [line for line in str(error).splitlines() if "failed: " in line] or str(error).splitlines() or [""]
    reason = lines[-1].rpartition("failed: ")[2].strip().rstrip(".")
    return (reason.replace(str(password), "***") if password else reason) or "no reason was given"


@contextmanager
def guarded(place: str, connection: psycopg.Connection[Any] | None = None, watch: Watch = UNWATCHED) -> Iterator[None]:
    """Replace errors of the server by a FileError, whose text contains no cell.

    Args:
        place: The table, for messages.
        connection: The session.
        watch: Whom to ask whether the run was cancelled; if so, the running query ends.
    """
    import psycopg

    try:
        with _cancelling(connection, watch):
            yield
    except UnicodeError:
        raise InputError(
            f"{place}: contains text that is not valid in the encoding of its database. Correct it there."
        ) from None
    except psycopg.Error as error:
        watch.check()
        if (connection is not None and connection.closed) or (error.sqlstate or "").startswith(("08", "57P")):
            raise FileError(f"{place}: the connection was lost; nothing was written. Run again.") from None
        reason = REASONS.get(error.sqlstate or "", f"the server refused a query (SQLSTATE {error.sqlstate or 'none'})")
        raise FileError(f"{place}: {reason}.") from None


@contextmanager
def _cancelling(connection: psycopg.Connection[Any] | None, watch: Watch) -> Iterator[None]:
    """Check several times a second whether the run was cancelled; if so, end the running query."""
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
    """Return a name quoted for a query with parameters."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def ask(connection: psycopg.Connection[Any], query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Return the rows of a query. Names in the query must come from `quote`; values are passed as parameters."""
    cursor = connection.execute(query.encode(), tuple(values))
    return cursor.fetchall() if cursor.description else []


@dataclass(frozen=True)
class Relation:
    """A table of a database.

    Attributes:
        oid: Its number in the catalog.
        schema: Its schema.
        name: Its name.
        kind: The catalog's letter for it; a key of KINDS.
        columns: The names of its columns.
        types: The types of its columns; a domain appears as its base type.
    """

    oid: int
    schema: str
    name: str
    kind: str
    columns: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def sql(self) -> str:
        """The table's quoted name for a query with parameters."""
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
    """Return the table that a URL names, or None; without a schema, the first match on the role's search path."""
    schemas = [url.schema] if url.schema is not None else search_path(connection)
    tables = ask(connection, FIND, (url.table, schemas, schemas))
    if not tables:
        return None
    oid, schema, name, kind = tables[0]
    columns = ask(connection, COLUMNS, (oid,))
    return Relation(oid, schema, name, kind, tuple(row[0] for row in columns), tuple(row[1] for row in columns))


def identity(connection: psycopg.Connection[Any], oid: int) -> tuple[object, ...]:
    """Return a key that identifies a table among all servers, however its URL is written."""
    query = "select pg_postmaster_start_time(), d.oid, %s from pg_database d where d.datname = current_database()"
    return ask(connection, query, (oid,))[0]


def search_path(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the schemas that the role searches by default; this session itself searches none."""
    saved_paths = ask(connection, "select reset_val from pg_settings where name = 'search_path'")
    ask(connection, "select set_config('search_path', %s, true)", (saved_paths[0][0],))
    schemas = ask(connection, "select current_schemas(false)::text[]")[0][0]
    ask(connection, "select set_config('search_path', 'pg_catalog', true)")
    return [str(schema) for schema in schemas]
