"""Whether XML is written in the one way in which releases are: no byte could be another one."""

from __future__ import annotations

import hashlib
from typing import IO

from shoal.verification.reading.archive import parse_xml

__all__ = ["is_canonical"]

DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def is_canonical(file: IO[bytes]) -> bool:
    """Return whether the bytes of a part are those that its elements, attributes and texts have in a release."""
    source, writer = _Source(file), _Writer()
    parse_xml(source, writer.start, writer.end, writer.text)  # type: ignore[arg-type]
    return source.digest.digest() == writer.digest.digest()


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
