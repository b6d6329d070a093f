"""What the text of a released cell says, read without any of shoal's own code."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

SUPPRESSED = "*"
SET_MEMBER = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",{}\r\n]+))\s*(?:,|$)')


def plain(text: str) -> str:
    """One form of a cell: composed letters, no blanks around it."""
    return unicodedata.normalize("NFC", text.strip())


def number(text: str) -> Fraction:
    """The exact number that a text stands for; a ValueError where it is none."""
    try:
        return Fraction(Decimal(text))
    except (ArithmeticError, OverflowError) as error:
        raise ValueError(text) from error


def seconds(text: str, date_format: str = "%Y-%m-%d") -> Fraction:
    """The moment that a date stands for, in seconds; a ValueError where it is none."""
    gone = datetime.strptime(text, date_format).replace(tzinfo=None) - datetime(1, 1, 1)
    return Fraction(gone.days * 86400 + gone.seconds) + Fraction(gone.microseconds, 10**6)


def bounds(cell: str) -> list[tuple[str, str]]:
    """The two ends of a closed range ``[a, b]``, in every way in which it can be read; none where it is no range."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return []
    parts = cell[1:-1].split(", ")
    return [(", ".join(parts[:i]), ", ".join(parts[i:])) for i in range(1, len(parts))]


def members(cell: str) -> set[str] | None:
    """The members of a set ``{a, "b, c"}``; None where the cell is no set."""
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
