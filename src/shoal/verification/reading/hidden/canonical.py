"""Whether XML is written in the one way in which releases are: no byte could be another one."""

from __future__ import annotations

import hashlib
import re
from typing import IO

from shoal.verification.reading.archive import parse_xml

__all__ = ["is_canonical", "is_plain_sheet"]

DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# The sheet of a release: rows of cells, each with its text. Nothing in it can be written in another way.
HEAD = (
    DECLARATION + '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
).encode()
TAIL = b"</sheetData></worksheet>"
NUMBER = rb"[1-9][0-9]{0,6}"
# An escape stands for what XML cannot contain, or for an underscore that would begin an escape.
HEX = rb"[0-9A-Fa-f]{4}_"
ESCAPE = rb"_x(?:(?:000[0-8BCDEF]|001[0-9A-F]|FFF[EF])_|005F_(?=x%s))" % HEX
TEXT = rb"(?:[^<>&\r_]++|_(?!x%s)|%s|&amp;|&lt;|&gt;)++" % (HEX, ESCAPE)
CELL = rb'<c r="[A-Z]{1,3}%s" t="inlineStr"><is><t(?: xml:space="preserve")?>%s</t></is></c>' % (NUMBER, TEXT)
TEXTS = re.compile(rb'<t( xml:space="preserve")?>([^<]+)</t>')
ESCAPES = re.compile("_x([0-9A-F]{4})_")
ROWS = re.compile(rb'(?:<row r="%s"(?:/>|>(?:%s)++</row>))*+' % (NUMBER, CELL))
BLOCK_BYTES = 1 << 20
MOST_BYTES = 1 << 28  # of a row
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def is_canonical(file: IO[bytes]) -> bool:
    """Return whether the bytes of a part are those that its elements, attributes and texts have in a release."""
    source, writer = _Source(file), _Writer()
    parse_xml(source, writer.start, writer.end, writer.text)  # type: ignore[arg-type]
    return source.digest.digest() == writer.digest.digest()


def is_plain_sheet(file: IO[bytes]) -> bool:
    """Return whether the bytes of a sheet are rows of cells as a release has them, from the first to the last."""
    if file.read(len(HEAD)) != HEAD:
        return False
    rest, size = b"", BLOCK_BYTES
    while block := file.read(size):
        rest += block
        end = ROWS.match(rest).end()  # type: ignore[union-attr]
        if not _are_marked(rest[:end]):
            return False
        size = BLOCK_BYTES if end else min(2 * size, MOST_BYTES)  # a long row is not looked at again and again
        rest = rest[end:]
        if len(rest) > MOST_BYTES:
            return False
    return rest == TAIL


def _are_marked(rows: bytes) -> bool:
    """Return whether those cells are marked whose blanks a reader may remove otherwise, and no others."""
    for mark, raw in set(TEXTS.findall(rows)):
        text = raw.decode("utf-8", "replace")
        if "_x" in text:
            text = ESCAPES.sub(lambda match: chr(int(match[1], 16)), text)
        if bool(mark) != (text[0].isspace() or text[-1].isspace() or "\n" in text):
            return False
    return True


class _Source:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.blake2b()

    def read(self, size: int) -> bytes:
        """Read at most so many bytes."""
        block = self._file.read(size)
        self.digest.update(block)
        return block


class _Writer:
    """Hashes the canonical form of what a parser sees: an element without content ends at once."""

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(DECLARATION.encode())
        self._is_open = False  # the last tag lacks its end
        self._tag = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """See an element begin."""
        self._close()
        pairs = "".join(f' {name}="{value.translate(ENTITIES)}"' for name, value in attributes.items())
        self.digest.update(f"<{tag}{pairs}".encode())
        self._is_open, self._tag = True, tag

    def end(self, tag: str) -> None:
        """See an element end."""
        self.digest.update(b"/>" if self._is_open else f"</{tag}>".encode())
        self._is_open, self._tag = False, ""

    def text(self, text: str) -> None:
        """See a piece of text; blanks between elements are left out, because a release has none."""
        if self._tag != "t" and text.isspace():
            return
        self._close()
        self.digest.update(text.translate(ENTITIES).encode())

    def _close(self) -> None:
        if self._is_open:
            self.digest.update(b">")
            self._is_open = False
