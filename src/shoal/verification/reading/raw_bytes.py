"""Checks of the bytes of a text file before it is read as a table."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

from shoal.verification.reading import files
from shoal.verification.reading.tables import PathName, open_text, unreadable
from shoal.verification.verdict import Violation

__all__ = ["Facts", "has_bare_quote", "scan"]

BLOCK_BYTES = 1 << 20
FIELDS = re.compile(r'(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+)[,\r\n])*+')
BARE_QUOTE = re.compile(r'[^",\r\n]+"')


class Facts(NamedTuple):
    """What the bytes of a text file show.

    Attributes:
        bom: Whether the file begins with a byte order mark.
        nul: Whether it contains a NUL byte.
        carriage_returns: How many carriage returns it contains.
        ended: Whether it ends with a line feed.
    """

    bom: bool
    nul: bool
    carriage_returns: int
    ended: bool

    def violations(self, n_in_cells: int) -> list[Violation]:
        """Return what is wrong with the bytes, given the number of carriage returns inside cells."""
        checks = [
            (self.bom, "it begins with a byte order mark"),
            (self.nul, "it contains a NUL byte"),
            (self.carriage_returns > n_in_cells, "it contains a carriage return outside a quoted cell"),
            (not self.ended, "it does not end with a line feed"),
        ]
        return [Violation("file", text) for fault, text in checks if fault]


def scan(path: PathName) -> Facts:
    """Scan the bytes of a text file, decompressed if necessary."""
    start, last, nul, carriage_returns = b"", b"", False, 0
    try:
        with files.open_bytes(path) as file:
            while block := file.read(BLOCK_BYTES):
                start = start or block[:3]
                last = block[-1:]
                nul = nul or b"\0" in block
                carriage_returns += block.count(b"\r")
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    return Facts(start == b"\xef\xbb\xbf", nul, carriage_returns, last == b"\n")


def has_bare_quote(path: PathName) -> bool:
    """Return whether an unquoted cell contains a quote, which readers treat differently; the file must be valid CSV."""
    rest = ""
    with open_text(path, "utf-8") as file:
        while block := file.read(BLOCK_BYTES):
            rest += block
            end = FIELDS.match(rest).end()  # type: ignore[union-attr]  # it matches even the empty text
            if BARE_QUOTE.match(rest, end):
                return True
            rest = rest[end:]
    return False
