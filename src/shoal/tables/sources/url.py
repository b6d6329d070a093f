"""A table in a database by its URL: postgresql://user@host/database?table=schema.name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from shoal.errors import UsageError

__all__ = ["TableURL", "check_names", "hide", "is_url", "mask", "parse_url"]

SCHEMES = ("postgresql", "postgres")
ANY_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")
SETTING = re.compile(r"([?&])([^&=]*)=([^&]*)")
SHOWN = ("table", "host", "hostaddr", "port", "user", "dbname", "sslmode")  # what else a setting holds may be secret
NAME = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
LONGEST_NAME = 63  # bytes; PostgreSQL cuts a longer name short without a word
EXAMPLE = "postgresql://user@host/database?table=patients"


@dataclass(frozen=True)
class TableURL:
    """What a URL says. uri: what to connect with, which may hold a password; shown: the URL without it."""

    uri: str = field(repr=False)
    schema: str | None
    table: str
    shown: str


def is_url(text: object) -> bool:
    """Say whether this is a URL and not a path; one of a database that is not known is a UsageError."""
    found = ANY_SCHEME.match(str(text))
    if found is None:
        return False
    if found[1].lower() not in SCHEMES:
        raise UsageError(
            f"{found[1]}://...: tables are read from files and from PostgreSQL. Give a path, or a URL like {EXAMPLE}."
        )
    return True


# The URLs of the words that a command was given, by the text that stands in their place.
_HIDDEN: dict[str, str] = {}


def hide(word: str) -> str:
    """Return a word of a command with the secrets of a URL in it masked; parse_url finds them again.

    So no library that complains about a word of the command line can show a password.
    """
    found = ANY_SCHEME.search(word)
    if found is None or found[1].lower() not in SCHEMES:
        return word
    masked = mask(word[found.start() :])
    _HIDDEN[masked] = word[found.start() :]
    return word[: found.start()] + masked


def parse_url(text: str) -> TableURL:
    """Take a URL apart; what is wrong with it is told without showing its password.

    >>> parse_url("postgresql://ann:secret@db.example/clinic?table=ward.patients").shown
    'postgresql://ann:***@db.example/clinic?table=ward.patients'
    """
    text = _HIDDEN.get(text, text)
    shown = mask(text)
    base, _, query = text.partition("?")
    pairs = [part.partition("=") for part in query.split("&") if part]
    tables = [unquote(value) for key, _, value in pairs if key == "table"]
    if len(tables) != 1 or not tables[0]:
        found = "names no table" if not tables or not tables[0] else f"names {len(tables)} tables"
        raise UsageError(f"{shown}: {found}. Name one with ?table=: {EXAMPLE}.")
    schema, table = _names(tables[0], shown)
    rest = "&".join(f"{key}={value}" for key, _, value in pairs if key != "table")
    return TableURL(f"{base}?{rest}" if rest else base, schema, table, shown)


def mask(text: str) -> str:
    """Return a URL without its secrets; an @ in a password that was not escaped does not show the rest of it."""
    start = text.find("://") + 3
    end = text.rfind("@")
    if end >= start:
        user, colon, _ = text[start:end].partition(":")
        text = f"{text[:start]}{user}{':***' if colon else ''}{text[end:]}"
    return SETTING.sub(lambda found: found[0] if found[2] in SHOWN else f"{found[1]}{found[2]}=***", text)


def _names(text: str, shown: str) -> tuple[str | None, str]:
    """Return schema and table; a name with a point or a quote in it stands in double quotes, as in SQL."""
    parts, position = [], 0
    while found := NAME.match(text, position):
        parts.append(found[1].replace('""', '"') if found[1] else found[2])
        position = found.end()
        if position == len(text):
            break
        if text[position] != "." or len(parts) == 2:
            parts = []
            break
        position += 1
    if not parts or position != len(text):
        raise UsageError(
            f"{shown}: the table is not a name or schema.name. Put a name with a point in double quotes (%22)."
        )
    check_names(parts, shown)
    return (parts[0] if len(parts) == 2 else None), parts[-1]


def check_names(names: list[str] | tuple[str, ...], shown: str) -> None:
    """Refuse names that PostgreSQL would cut short."""
    for name in names:
        if len(name.encode()) > LONGEST_NAME or "\0" in name:
            raise UsageError(
                f"{shown}: the name {name[:20]!r}... has {len(name.encode())} bytes; PostgreSQL knows names of at most "
                f"{LONGEST_NAME}. Use a shorter one."
            )
