"""A table in a database by its URL.

On a server: postgresql://user@host/database?table=schema.name. In a file: sqlite:///clinic.db?table=patients or
duckdb:///clinic.duckdb?table=ward.patients; four slashes begin an absolute path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from shoal.errors import UsageError

__all__ = [
    "ANY_SCHEME",
    "SCHEMES",
    "FileTable",
    "TableURL",
    "check_names",
    "hide",
    "is_file_url",
    "is_url",
    "mask",
    "parse_file_url",
    "parse_url",
    "reveal",
]

# The URL behind each masked text of the command line.
_HIDDEN: dict[str, str] = {}

SCHEMES = ("postgresql", "postgres")
FILE_SCHEMES = ("sqlite", "duckdb")
ANY_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,40})://")  # bounded: it is searched for in arguments of any length
SETTING = re.compile(r"([?&])([^?&=]*)=([^&]*)")
SHOWN = ("table", "host", "hostaddr", "port", "user", "dbname", "sslmode")  # other settings may be secret
NAME = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
LONGEST_NAME = 63  # bytes; PostgreSQL truncates a longer name silently
FILE_EXAMPLE = "sqlite:///clinic.db?table=patients"
EXAMPLE = "postgresql://user@host/database?table=patients"


@dataclass(frozen=True)
class TableURL:
    """The parts of a URL.

    Attributes:
        uri: What to connect with; it may contain a password.
        schema: The schema of the table; None to search for it.
        table: The name of the table.
        shown: The URL without its password.
    """

    uri: str = field(repr=False)
    schema: str | None
    table: str
    shown: str


@dataclass(frozen=True)
class FileTable:
    """A table in a file of SQLite or DuckDB.

    Attributes:
        engine: "sqlite" or "duckdb".
        path: The file.
        schema: The schema of the table; None for the default one.
        table: The name of the table or view.
        shown: The URL, for messages.
    """

    engine: str
    path: Path
    schema: str | None
    table: str
    shown: str


def is_url(text: object) -> bool:
    """Return whether a text is the URL of a table on a server; raise a UsageError for an unsupported database."""
    scheme = ANY_SCHEME.match(str(text))
    if scheme is None or scheme[1].lower() in FILE_SCHEMES:
        return False
    if scheme[1].lower() not in SCHEMES:
        raise UsageError(
            f"{scheme[1]}://...: tables are read from files and from PostgreSQL. Use a path, or a URL like {EXAMPLE}, "
            f"{FILE_EXAMPLE} or duckdb:///clinic.duckdb?table=patients."
        )
    return True


def is_file_url(text: object) -> bool:
    """Return whether a text is the URL of a table in a file of SQLite or DuckDB."""
    scheme = ANY_SCHEME.match(text) if isinstance(text, str) else None
    return scheme is not None and scheme[1].lower() in FILE_SCHEMES


def parse_file_url(text: str) -> FileTable:
    """Split the URL of a table in a file into its parts.

    >>> found = parse_file_url("sqlite:///data/clinic.db?table=patients")
    >>> found.engine, str(found.path), found.table
    ('sqlite', 'data/clinic.db', 'patients')
    """
    scheme, _, rest = text.partition("://")
    base, _, query = rest.partition("?")
    example = FILE_EXAMPLE.replace("sqlite", scheme.lower())
    tables = [unquote(value) for key, _, value in (part.partition("=") for part in query.split("&")) if key == "table"]
    others = [part.partition("=")[0] for part in query.split("&") if part and part.partition("=")[0] != "table"]
    if not base.startswith("/") or len(base) == 1:
        raise UsageError(f"{text}: names no file. Write three slashes and a path: {example}.")
    if len(tables) != 1 or not tables[0] or others:
        problem = (
            f"has the parameter {others[0]!r}, which is not known"
            if others
            else "names no table"
            if not tables or not tables[0]
            else f"names {len(tables)} tables"
        )
        raise UsageError(f"{text}: {problem}. Name one table with ?table=: {example}.")
    parts = _split(tables[0], text)
    return FileTable(scheme.lower(), Path(unquote(base[1:])), parts[0] if len(parts) == 2 else None, parts[-1], text)


def parse_url(text: str) -> TableURL:
    """Split a URL into its parts; errors do not show its password.

    >>> parse_url("postgresql://ann:secret@db.example/clinic?table=ward.patients").shown
    'postgresql://ann:***@db.example/clinic?table=ward.patients'
    """
    shown = mask(text)
    base, _, query = text.partition("?")
    pairs = [part.partition("=") for part in query.split("&") if part]
    tables = [unquote(value) for key, _, value in pairs if key == "table"]
    if len(tables) != 1 or not tables[0]:
        problem = "names no table" if not tables or not tables[0] else f"names {len(tables)} tables"
        raise UsageError(f"{shown}: {problem}. Name one with ?table=: {EXAMPLE}.")
    schema, table = _names(tables[0], shown)
    other_parameters = "&".join(f"{key}={value}" for key, _, value in pairs if key != "table")
    return TableURL(f"{base}?{other_parameters}" if other_parameters else base, schema, table, shown)


def mask(text: str) -> str:
    """Return a URL without its secrets, even if the password contains an unescaped @."""
    start = text.find("://") + 3
    end = text.rfind("@")
    if end >= start:
        user, colon, _ = text[start:end].partition(":")
        text = f"{text[:start]}{user}{':***' if colon else ''}{text[end:]}"
    return SETTING.sub(lambda match: match[0] if match[2] in SHOWN else f"{match[1]}{match[2]}=***", text)


def _names(text: str, shown: str) -> tuple[str | None, str]:
    """Return schema and table of a PostgreSQL database."""
    parts = _split(text, shown)
    check_names(parts, shown)
    return (parts[0] if len(parts) == 2 else None), parts[-1]


def _split(text: str, shown: str) -> list[str]:
    """Return a table, or a schema and a table; a name with a dot or a quote is in double quotes, as in SQL."""
    parts, position = [], 0
    while name := NAME.match(text, position):
        parts.append(name[1].replace('""', '"') if name[1] else name[2])
        position = name.end()
        if position == len(text):
            break
        if text[position] != "." or len(parts) == 2:
            parts = []
            break
        position += 1
    if not parts or position != len(text):
        raise UsageError(
            f"{shown}: the table is not a name or schema.name. Put a name with a dot in double quotes (%22)."
        )
    return parts


def check_names(names: list[str] | tuple[str, ...], shown: str) -> None:
    """Refuse names that PostgreSQL would truncate."""
    for name in names:
        if len(name.encode()) > LONGEST_NAME or "\0" in name:
            raise UsageError(
                f"{shown}: the name {name[:20]!r}... has {len(name.encode())} bytes; PostgreSQL allows at most "
                f"{LONGEST_NAME}. Use a shorter name."
            )


def hide(word: str) -> str:
    """Mask the secrets of a URL in an argument, so that no error of a library can show a password.

    `reveal` finds the URL again.
    """
    scheme = ANY_SCHEME.search(word)
    if scheme is None or scheme[1].lower() not in SCHEMES:
        return word
    url = word[scheme.start() :]
    _HIDDEN[mask(url)] = url
    return word[: scheme.start()] + mask(url)


def reveal(word: str) -> str:
    """Return the URL that `hide` masked; any other argument as it is."""
    return _HIDDEN.get(word, word)
