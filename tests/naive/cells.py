"""The meaning of the text of a released cell, parsed without shoal's own code."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

SUPPRESSED = "*"
SET_MEMBER = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",{}\r\n]+))\s*(?:,|$)')


def plain(text: str) -> str:
    """Return the normal form of a cell: composed letters, no outer blanks."""
    return unicodedata.normalize("NFC", text.strip())


def number(text: str) -> Fraction:
    """Return the exact number of a text; raise ValueError if it is not a number."""
    try:
        return Fraction(Decimal(text))
    except (ArithmeticError, OverflowError) as error:
        raise ValueError(text) from error


def seconds(text: str, date_format: str = "%Y-%m-%d") -> Fraction:
    """Return the time of a date in seconds; raise ValueError if it is not a date."""
    gone = datetime.strptime(text, date_format).replace(tzinfo=None) - datetime(1, 1, 1)
    return Fraction(gone.days * 86400 + gone.seconds) + Fraction(gone.microseconds, 10**6)


def bounds(cell: str) -> list[tuple[str, str]]:
    """Return the two ends of ``[a, b]`` or ``[a, b)`` in every way it can be read; nothing if it is not a range."""
    if not (cell.startswith("[") and cell.endswith(("]", ")"))):
        return []
    parts = cell[1:-1].split(", ")
    return [(", ".join(parts[:i]), ", ".join(parts[i:])) for i in range(1, len(parts))]


def members(cell: str) -> set[str] | None:
    """Return the members of a set ``{a, "b, c"}``; None if the cell is not a set."""
    if len(cell) < 2 or cell[0] != "{" or cell[-1] != "}":
        return None
    inside, found, position = cell[1:-1], set(), 0
    while position < len(inside):
        member = SET_MEMBER.match(inside, position)
        if member is None:
            return None
        quoted, bare = member.groups()
        found.add(bare.strip() if quoted is None else quoted.replace('""', '"'))
        position = member.end()
    return found
