"""What the bytes of a written text file say before they are read as a table."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

from shoal.verification.reading import files
from shoal.verification.reading.tables import PathName, open_text

__all__ = ["Facts", "has_bare_quote", "scan"]

BLOCK_BYTES = 1 << 20
FIELDS = re.compile(r'(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+)[,\r\n])*+')
BARE_QUOTE = re.compile(r'[^",\r\n]+"')


class Facts(NamedTuple):
    """What the bytes of a file say before they are read as a table."""

    bom: bool
    nul: bool
    carriage_returns: int
    ended: bool

    def violations(self, in_cells: int) -> list[str]:
        """Return what is wrong; in_cells: the carriage returns that belong to cells."""
        found = [
            (self.bom, "begins with a byte order mark"),
            (self.nul, "holds a NUL byte"),
            (self.carriage_returns > in_cells, "holds a carriage return outside a quoted cell"),
            (not self.ended, "does not end with a line feed"),
        ]
        return [f"the file: {text}." for wrong, text in found if wrong]


def scan(path: PathName) -> Facts:
    """Read the bytes of a text file, unpacked where it is compressed."""
    start, last, nul, carriage_returns = b"", b"", False, 0
    try:
        with files.open_bytes(path) as file:
            while block := file.read(BLOCK_BYTES):
                start = start or block[:3]
                last = block[-1:]
                nul = nul or b"\0" in block
                carriage_returns += block.count(b"\r")
    except (OSError, EOFError, zlib.error) as error:
        raise files.unreadable(path, error) from None
    return Facts(start == b"\xef\xbb\xbf", nul, carriage_returns, last == b"\n")


def has_bare_quote(path: PathName) -> bool:
    """Say whether a quote stands in an unquoted cell, where readers differ; for a file that the csv module can read."""
    rest = ""
    with open_text(path, "utf-8") as file:
        while block := file.read(BLOCK_BYTES):
            rest += block
            end = FIELDS.match(rest).end()  # type: ignore[union-attr]  # it matches the empty text too
            if BARE_QUOTE.match(rest, end):
                return True
            rest = rest[end:]
    return False
