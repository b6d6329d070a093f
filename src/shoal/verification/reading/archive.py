"""Open workbooks, which are zip archives, and read their XML within bounds."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO
from xml.parsers import expat

from shoal.verification.reading.limits import MOST_MEMBERS, PathName, UnreadableError, check_expansion

__all__ = ["bare", "opened_archive", "parse_xml"]

BROKEN = (
    zipfile.BadZipFile,
    KeyError,
    ValueError,
    IndexError,
    OSError,
    EOFError,
    zlib.error,
    RuntimeError,
    OverflowError,
    struct.error,
    expat.ExpatError,
)
END_BYTES = 22 + 65_535  # of the record at the end of an archive, with its comment
MEMBER_BYTES = 1_000  # of one member in the directory of an archive
BLOCK_BYTES = 1 << 16
MOST_TAG_BYTES = 1 << 22
DEEPEST = 64
Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]


@contextmanager
def opened_archive(path: PathName) -> Iterator[zipfile.ZipFile]:
    """Open a workbook.

    Raises:
        UnreadableError: It is damaged, has too many parts, or expands more than any table does.
    """
    try:
        _check_directory(path)
        with zipfile.ZipFile(path) as archive:
            check_expansion(path, sum(entry.file_size for entry in archive.infolist()))
            yield archive
    except BROKEN:
        raise UnreadableError(
            path, "it cannot be read as an Excel workbook: it is damaged or of another kind"
        ) from None


def _check_directory(path: PathName) -> None:
    """Raise an UnreadableError if the directory of an archive is too large to be read into memory."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END_BYTES))
        tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0:
        raise ValueError("no end")
    count, length = struct.unpack_from("<HI", tail, at + 10)
    if count > MOST_MEMBERS or length > MOST_MEMBERS * MEMBER_BYTES:
        raise UnreadableError(path, f"it has more than {MOST_MEMBERS:,} parts, as no workbook does")


def parse_xml(file: IO[bytes], start: Start, end: End, text: Text, other: Callable[[], None] | None = None) -> None:
    """Parse XML block by block.

    Args:
        file: The XML.
        start: Called with the tag, as it is written, and the attributes of each element.
        end: Called with the tag when an element ends.
        text: Called with pieces of text.
        other: Called for a comment or a processing instruction.

    Raises:
        ValueError: There is a document type, which could define entities; elements are nested too deep; or a tag is
            too long.
        ExpatError: It is not XML.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError("nested too deep")
        start(tag, attributes)

    def finish(tag: str) -> None:
        nonlocal depth
        depth -= 1
        end(tag)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, finish, text
    parser.StartDoctypeDeclHandler = _refuse
    if other is not None:
        parser.CommentHandler = lambda _: other()
        parser.ProcessingInstructionHandler = lambda *_: other()
    n_fed = 0
    while block := file.read(BLOCK_BYTES):
        parser.Parse(block, False)
        n_fed += len(block)
        if n_fed - max(0, parser.CurrentByteIndex) > MOST_TAG_BYTES:
            raise ValueError("a tag is too long")
    parser.Parse(b"", True)


def _refuse(*_: object) -> None:
    raise ValueError("a document type")


def bare(name: str) -> str:
    """Return a tag or the name of an attribute without its prefix."""
    return name.rpartition(":")[2]
