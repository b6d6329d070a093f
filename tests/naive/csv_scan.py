"""The records and faults of a CSV text, cell by cell with one regular expression (RFC 4180)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Scan:
    """Faults are the number of the line where the first of its sort stands, 0 where there is none.

    records: the cells as written, quotes included. width: cells of the first record. ragged: records of another width,
    ragged_line and ragged_fields: where the first one begins and how many cells it has. blank: empty lines.
    """

    records: list[list[bytes]] = field(default_factory=list)
    width: int = 0
    ragged: int = 0
    ragged_line: int = 0
    ragged_fields: int = 0
    blank: int = 0
    open_quote: int = 0
    stray_quote: int = 0
    nul: int = 0
    lone_cr: int = 0

    def plain(self, delimiter: bytes) -> bytes:
        """Return the records as text, each ended by a line feed."""
        return b"".join(delimiter.join(cells) + b"\n" for cells in self.records)

    def cells(self) -> list[list[bytes]]:
        """The records without their quotes."""
        return [
            [cell[1:-1].replace(b'""', b'"') if cell[:1] == b'"' else cell for cell in cells] for cells in self.records
        ]


def scan(text: bytes, delimiter: bytes, initial_space: bool) -> Scan:
    """Read the entire text; after a fault, read the rest as well as possible."""
    found = Scan()
    cell = re.compile(rb'(?P<quoted>"(?:[^"]|"")*+(?P<closed>"?))?(?P<bare>[^' + re.escape(delimiter) + rb"\n]*)")

    def note(fault: str, position: int) -> None:
        if getattr(found, fault) == 0:
            setattr(found, fault, 1 + text.count(b"\n", 0, position))

    if b"\0" in text:
        note("nul", text.index(b"\0"))
    position = 0
    while position < len(text):
        begin = position
        cells: list[bytes] = []
        while True:
            if initial_space and cells:
                while text[position : position + 1] == b" ":
                    position += 1
            match = cell.match(text, position)
            assert match is not None
            bare = match["bare"]
            position = match.end()
            if bare.endswith(b"\r") and text[position : position + 1] == b"\n":
                bare = bare[:-1]
            if b"\r" in bare:
                note("lone_cr", match.start("bare"))
            if match["quoted"] is not None and not match["closed"]:
                note("open_quote", match.start())
                return found
            if b'"' in bare or (match["quoted"] is not None and bare):
                note("stray_quote", match.start("bare"))
            cells.append((match["quoted"] or b"") + bare)
            ended = text[position : position + 1] != delimiter
            position += 1
            if ended:
                break
        _take(found, cells, 1 + text.count(b"\n", 0, begin))
    return found


def _take(found: Scan, cells: list[bytes], line: int) -> None:
    if cells == [b""]:
        found.blank += 1
        return
    found.records.append(cells)
    found.width = found.width or len(cells)
    if len(cells) != found.width:
        found.ragged += 1
        if found.ragged_line == 0:
            found.ragged_line, found.ragged_fields = line, len(cells)
