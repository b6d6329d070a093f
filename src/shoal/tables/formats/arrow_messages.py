"""Check the sizes that an Arrow file or stream claims before a reader reserves memory for them.

The number of rows, the position of every buffer and its size after decompression are numbers in the file, so a few
bytes can claim any size. We read the messages (FlatBuffers) and compare the claims with the size of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

__all__ = ["ArrowClaims", "DamagedArrowError", "check_messages"]

MAGIC = b"ARROW1"
CONTINUATION = b"\xff\xff\xff\xff"
MOST_METADATA = 1 << 26
DICTIONARY_BATCH, RECORD_BATCH = 2, 3


class DamagedArrowError(ValueError):
    """Claims of an Arrow file that contradict each other or its size."""


class ArrowClaims(NamedTuple):
    """What an Arrow file claims.

    Attributes:
        expanded: The size of all buffers after decompression, in bytes.
        cells: The number of cells.
        columns: The number of columns, with those inside nested ones.
    """

    expanded: int
    cells: int
    columns: int


def check_messages(path: Path, *, stream: bool) -> ArrowClaims:
    """Return the sizes that an Arrow file claims.

    Args:
        path: The file.
        stream: Whether it is a stream, without footer.

    Raises:
        DamagedArrowError: If a message is damaged, or claims more bytes than the file has.
    """
    size = path.stat().st_size
    expanded = cells = columns = 0
    with open(path, "rb") as file:
        try:
            for at in _stream(file, size) if stream else _blocks(file, size):
                claims = _message(file, at, size)
                expanded += claims.expanded
                cells += claims.cells
                columns = max(columns, claims.columns)
        except (struct.error, IndexError, OverflowError):
            raise DamagedArrowError from None
    return ArrowClaims(expanded, cells, columns)


def _blocks(file: IO[bytes], size: int) -> Iterator[int]:
    """Yield the positions of the batches of a file, from its footer."""
    file.seek(max(0, size - 10))
    end = file.read(10)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > min(size - 16, MOST_METADATA):
        raise DamagedArrowError
    file.seek(size - 10 - length)
    footer = _Table.root(file.read(length))
    for field in (2, 3):  # dictionaries, record batches: structures of offset, length of metadata, length of body
        for at in footer.structs(field, 24):
            yield footer.number(at, "<q")


def _stream(file: IO[bytes], size: int) -> Iterator[int]:
    """Yield the positions of the messages of a stream."""
    at = 0
    while at + 8 <= size:
        yield at
        length = _metadata(file, at, size)[1]
        if length == 0:
            return
        body = _Table.root(_read(file, at, size)).scalar(3, "<q")
        at += 8 + length + max(0, body)


def _metadata(file: IO[bytes], at: int, size: int) -> tuple[int, int]:
    """Return where the metadata of a message begin, and their length."""
    if not 0 <= at <= size - 8:
        raise DamagedArrowError
    file.seek(at)
    head = file.read(8)
    start, raw = (at + 8, head[4:]) if head[:4] == CONTINUATION else (at + 4, head[:4])
    length = int.from_bytes(raw, "little", signed=True)
    if not 0 <= length <= min(size - start, MOST_METADATA):
        raise DamagedArrowError
    return start, length


def _read(file: IO[bytes], at: int, size: int) -> bytes:
    """Return the metadata of the message at a position."""
    start, length = _metadata(file, at, size)
    file.seek(start)
    return file.read(length)


def _message(file: IO[bytes], at: int, size: int) -> ArrowClaims:
    """Return the claims of one message."""
    start, length = _metadata(file, at, size)
    if length == 0:  # the end of a stream
        return ArrowClaims(0, 0, 0)
    message = _Table.root(_read(file, at, size))
    body, n_bytes = start + length, message.scalar(3, "<q")
    if not 0 <= n_bytes <= size - body:
        raise DamagedArrowError
    kind = message.scalar(1, "<B")
    if kind not in (DICTIONARY_BATCH, RECORD_BATCH):
        return ArrowClaims(0, 0, 0)
    batch = message.table(2) if kind == RECORD_BATCH else message.table(2).table(1)
    n_rows, nodes = batch.scalar(0, "<q"), [batch.number(node, "<q") for node in batch.structs(1, 16)]
    if n_rows < 0 or any(count < 0 for count in nodes):
        raise DamagedArrowError
    packed = batch.has(3)
    expanded = 0
    for place in batch.structs(2, 16):
        offset, held = batch.number(place, "<q"), batch.number(place + 8, "<q")
        if offset < 0 or held < 0 or offset + held > n_bytes:
            raise DamagedArrowError
        expanded += _expanded(file, body + offset, held) if packed and held else held
    return ArrowClaims(expanded, max(n_rows * len(nodes), sum(nodes)), len(nodes))


def _expanded(file: IO[bytes], at: int, held: int) -> int:
    """Return the size of a compressed buffer after decompression, which stands before it; -1 means not compressed."""
    file.seek(at)
    length = int(struct.unpack("<q", file.read(8))[0])
    if length < -1:
        raise DamagedArrowError
    return held if length == -1 else length


class _Table:
    """A table of a FlatBuffer."""

    def __init__(self, raw: bytes, at: int) -> None:
        self._raw, self._at = raw, at
        self._fields = at - self.number(at, "<i")
        self._n_bytes = self.number(self._fields, "<H")

    @classmethod
    def root(cls, raw: bytes) -> _Table:
        """Return the outermost table."""
        return cls(raw, int(struct.unpack_from("<I", raw, 0)[0]))

    def number(self, at: int, form: str) -> int:
        """Return the number at a position."""
        if at < 0:
            raise IndexError
        return int(struct.unpack_from(form, self._raw, at)[0])

    def _place(self, field: int) -> int:
        """Return where the value of a field is; 0 if the table does not have it."""
        slot = 4 + 2 * field
        offset = self.number(self._fields + slot, "<H") if slot < self._n_bytes else 0
        return self._at + offset if offset else 0

    def has(self, field: int) -> bool:
        """Return whether the table has a field."""
        return self._place(field) > 0

    def scalar(self, field: int, form: str) -> int:
        """Return a number, by default 0."""
        place = self._place(field)
        return self.number(place, form) if place else 0

    def table(self, field: int) -> _Table:
        """Return a table that the table contains."""
        place = self._place(field)
        if not place:
            raise IndexError
        return _Table(self._raw, place + self.number(place, "<I"))

    def structs(self, field: int, size: int) -> list[int]:
        """Return the positions of the structures of a vector, each of a size."""
        place = self._place(field)
        if not place:
            return []
        at = place + self.number(place, "<I")
        count = self.number(at, "<I")
        if count * size > len(self._raw):
            raise IndexError
        return [at + 4 + size * i for i in range(count)]
