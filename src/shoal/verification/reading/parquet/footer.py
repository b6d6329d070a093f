"""The footer of a Parquet file, and bounds on what its pages expand to."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from shoal.verification.reading.limits import MOST_COLUMNS, PathName, UnreadableError, check_expansion
from shoal.verification.reading.parquet.thrift import BINARY, BOOL, BYTE, INT, LONG, SHORT, Form, Struct, read_struct

__all__ = [
    "COLUMN",
    "FILE",
    "MOST_FOOTER",
    "OFFSET_INDEX",
    "PAGE",
    "check_parquet",
    "first_page",
    "read_footer",
    "read_header",
    "read_page",
    "seek",
]

MAGIC = b"PAR1"
MOST_FOOTER = 1 << 26
HEAD_BYTES = 1 << 10  # of most pages
MOST_HEAD = 1 << 24  # of a page with long statistics
CODE_BYTES = 4  # of a cell in memory, however many rows one run of a page stands for
DICTIONARY = 2

# The fields that a table needs, by number and type; the others carry what no reader needs.
_UNIT: Form = {1: {}, 2: {}, 3: {}}
_LOGICAL: Form = {
    **{number: {} for number in (1, 2, 3, 4, 6, 11, 12, 13, 14, 15)},
    5: {1: INT, 2: INT},
    7: {1: BOOL, 2: _UNIT},
    8: {1: BOOL, 2: _UNIT},
    10: {1: BYTE, 2: BOOL},
}
_ELEMENT: Form = {1: INT, 2: INT, 3: INT, 4: BINARY, 5: INT, 6: INT, 7: INT, 8: INT, 9: INT, 10: _LOGICAL}
_STATISTICS: Form = {1: BINARY, 2: BINARY, 3: LONG, 4: LONG, 5: BINARY, 6: BINARY, 7: BOOL, 8: BOOL}
COLUMN: Form = {
    1: INT,
    2: [INT],
    3: [BINARY],
    4: INT,
    5: LONG,
    6: LONG,
    7: LONG,
    9: LONG,
    11: LONG,
    12: _STATISTICS,
    13: [{1: INT, 2: INT, 3: INT}],
    16: {1: LONG, 2: [LONG], 3: [LONG]},
}
_CHUNK: Form = {2: LONG, 3: COLUMN, 4: LONG, 5: INT, 6: LONG, 7: INT}
_GROUP: Form = {1: [_CHUNK], 2: LONG, 3: LONG, 4: [{1: INT, 2: BOOL, 3: BOOL}], 5: LONG, 6: LONG, 7: SHORT}
FILE: Form = {1: INT, 2: [_ELEMENT], 3: LONG, 4: [_GROUP], 5: [{1: BINARY, 2: BINARY}], 6: BINARY, 7: [{1: {}, 2: {}}]}
PAGE: Form = {
    1: INT,
    2: INT,
    3: INT,
    4: INT,
    5: {1: INT, 2: INT, 3: INT, 4: INT, 5: _STATISTICS},
    7: {1: INT, 2: INT, 3: BOOL},
    8: {1: INT, 2: INT, 3: INT, 4: INT, 5: INT, 6: INT, 7: BOOL, 8: _STATISTICS},
}
OFFSET_INDEX: Form = {1: [{1: LONG, 2: INT, 3: LONG}], 2: [LONG]}


def read_footer(file: BinaryIO) -> tuple[Struct, int, bool]:
    """Return the footer, where it begins, and whether bytes follow its last field.

    Raises:
        ValueError, IndexError: The file does not end as a Parquet file does.
    """
    size = file.seek(0, os.SEEK_END)
    if size < 12:
        raise IndexError
    file.seek(size - 8)
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    start = size - 8 - length
    file.seek(0)
    if tail[4:] != MAGIC or file.read(4) != MAGIC or start < 4 or length > MOST_FOOTER:
        raise ValueError("no footer")
    file.seek(start)
    footer, end = read_struct(file.read(length))
    return footer, start, end != length


def seek(file: BinaryIO, at: int) -> None:
    """Go to a position that a file states."""
    if at < 0:
        raise ValueError("a negative position")
    file.seek(at)


def read_header(file: BinaryIO, at: int) -> tuple[Struct, int]:
    """Return the header of the page at a position, and its length."""
    for size in (HEAD_BYTES, MOST_HEAD):
        seek(file, at)
        try:
            return read_struct(file.read(size))
        except IndexError:
            if size == MOST_HEAD:
                raise
    raise IndexError


def read_page(file: BinaryIO, at: int) -> tuple[Struct, bytes, bytes]:
    """Return the header of the page at a position, the bytes of the header, and those of the page."""
    header, size = read_header(file, at)
    if header[2] < 0 or header[3] < 0:
        raise IndexError
    seek(file, at)
    raw = file.read(size + header[3])
    if len(raw) != size + header[3]:
        raise IndexError
    return header, raw[:size], raw[size:]


def first_page(facts: Struct) -> int:
    """Return where the pages of a column chunk begin."""
    return int(min(facts[9], facts.get(11) or facts[9]))


def check_parquet(path: PathName) -> None:
    """Check a Parquet file before a reader allocates what its headers ask for.

    Raises:
        UnreadableError: It is damaged, has too many columns, or expands more than any table does.
        OSError: It cannot be opened.
    """
    try:
        with open(path, "rb") as file:
            footer, _, _ = read_footer(file)
            if len(footer[2]) > MOST_COLUMNS + 1:
                raise UnreadableError(path, f"it has more than {MOST_COLUMNS:,} columns")
            n_columns = max(1, len(footer[2]) - 1)
            n_rows = max(footer[3], sum(group[3] for group in footer[4]), 0)
            check_expansion(path, n_rows * n_columns * CODE_BYTES)
            expanded = 0
            for chunk in (chunk for group in footer[4] for chunk in group[1]):
                expanded += _chunk_size(file, path, chunk[3], expanded)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error, OverflowError):
        raise UnreadableError(path, "it cannot be read as Parquet: it is damaged, encrypted or cut short") from None


def _chunk_size(file: BinaryIO, path: PathName, facts: Struct, before: int) -> int:
    """Return what the pages of a column chunk expand to; check it page by page."""
    at, expanded, n_values = first_page(facts), 0, 0
    while n_values < facts[5]:
        header, length = read_header(file, at)
        expanded += header[2]
        check_expansion(path, before + expanded)
        content = header.get(5) or header.get(8) or {}
        is_dictionary = header[1] == DICTIONARY
        if header[2] < 0 or header[3] < 0 or (is_dictionary and header[7][1] > header[2]):
            raise ValueError("a page that states what it cannot hold")
        if not is_dictionary and content[1] <= 0:
            raise ValueError("a page without values")
        n_values += 0 if is_dictionary else content[1]
        at += length + header[3]
    return expanded
