"""What an Arrow (Feather) file holds besides its cells: every byte belongs to a cell that a row shows."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from shoal.verification.reading.hidden.arrow_schema import DICTIONARY, TYPE, TYPE_KIND, Type, fields_of, has_metadata
from shoal.verification.reading.hidden.flatbuffer import Flatbuffer, Table
from shoal.verification.reading.limits import PathName, check_expansion
from shoal.verification.reading.parquet.expand import unlz4_frame, unzstd

__all__ = ["arrow_faults"]

METADATA = "it contains metadata that no reader needs"
DICTIONARIES = "it contains dictionaries, which can hold values that no row has; convert them to text"
UNSHOWN = "it contains values that no row shows"
STRAY = "it contains bytes that belong to no cell"
DAMAGED = "its structure is damaged or unusual, so that not every byte of it can be accounted for"
MAGIC = b"ARROW1"
MARK = b"\xff\xff\xff\xff"
END = MARK + b"\0\0\0\0"
SCHEMA, DICTIONARY_BATCH, RECORD_BATCH = 1, 2, 3
MOST_HEAD = 1 << 26
TEXTS = {Type.TEXT: "<i4", Type.BINARY: "<i4", Type.LARGE_TEXT: "<i8", Type.LARGE_BINARY: "<i8"}  # their offsets
FIXED_WIDTHS = {Type.BOOL: 1, Type.TIMESTAMP: 64, Type.DURATION: 64}  # in bits
WIDTHS = {Type.INT: (0, "i", 0), Type.DECIMAL: (2, "i", 128), Type.TIME: (1, "i", 32)}  # parameter, form, default
INLINE = 12  # bytes of a text that is stored in its view


@dataclass
class _Arrow:
    """The columns of a file and what was found in it."""

    path: PathName
    columns: list[tuple[int, int]] = field(default_factory=list)  # the type of each, and the bits of a value
    texts: dict[str, None] = field(default_factory=dict)
    expanded: int = 0

    def add(self, is_fault: Any, text: str) -> None:
        if is_fault:
            self.texts[text] = None


def arrow_faults(path: PathName) -> list[str]:
    """Return what an Arrow file or stream contains besides its cells.

    Raises:
        UnreadableError: It expands more than any table does.
    """
    found = _Arrow(path)
    try:
        with open(path, "rb") as file:
            _inspect(file, found)
    except (ValueError, IndexError, KeyError, StopIteration, struct.error, OverflowError):
        found.add(True, DAMAGED)
    return list(found.texts)


def _inspect(file: BinaryIO, found: _Arrow) -> None:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(8) == MAGIC + b"\0\0":
        _inspect_file(file, size, found)
        return
    file.seek(0)
    while _next_message(file, size, found):
        pass
    found.add(file.tell() != size, STRAY)


def _inspect_file(file: BinaryIO, size: int, found: _Arrow) -> None:
    """Go through the blocks that the footer lists; there must be nothing between them."""
    file.seek(size - 10)
    length, mark = struct.unpack("<i6s", file.read(10))
    start = size - 10 - length
    if mark != MAGIC or not 8 <= start < size - 10 or length > MOST_HEAD:
        raise ValueError("no footer")
    file.seek(start)
    buffer = Flatbuffer(_read(file, length))
    footer = buffer.root()
    footer.scalar(0, "h")
    found.add(4 in footer or has_metadata(footer.table(1)), METADATA)
    columns = [_column(each) for each in fields_of(footer.table(1))]
    blocks = sorted((*footer.structs(2, "qixxxxq"), *footer.structs(3, "qixxxxq")))
    found.add(buffer.hides_bytes(), STRAY)
    at = blocks[0][0] if blocks else start
    file.seek(8)
    _schema(file, _read(file, min(at, start) - 8), size, found)
    found.add(found.columns != columns, STRAY)
    for begin, n_head, n_body in blocks:
        found.add(begin != at, STRAY)
        file.seek(begin)
        _next_message(file, size, found)
        at = file.tell()
        if at != begin + n_head + n_body:
            raise ValueError("a block of another length than the footer states")
    file.seek(at)
    found.add(_read(file, start - at) not in (b"", END), STRAY)


def _schema(file: BinaryIO, raw: bytes, size: int, found: _Arrow) -> None:
    """Read the first message of a file, which polars writes without its length."""
    if raw[:4] == MARK:
        file.seek(8)
        _next_message(file, size, found)
        found.add(file.tell() != 8 + len(raw) and raw[file.tell() - 8 :] != END, STRAY)
    else:
        buffer = Flatbuffer(raw)
        _message(file, buffer, found, size)
        found.add(buffer.hides_bytes(), STRAY)


def _next_message(file: BinaryIO, size: int, found: _Arrow) -> bool:
    """Read a message and its body; return False at the end of the stream."""
    mark, length = struct.unpack("<4si", file.read(8))
    if mark != MARK or length < 0 or length > MOST_HEAD:
        raise ValueError("no message")
    if length == 0:
        return False
    buffer = Flatbuffer(_read(file, length))
    _message(file, buffer, found, size)
    found.add(DICTIONARIES not in found.texts and buffer.hides_bytes(), STRAY)
    return True


def _read(file: BinaryIO, size: int) -> bytes:
    raw = file.read(size)
    if len(raw) != size:
        raise IndexError
    return raw


def _message(file: BinaryIO, buffer: Flatbuffer, found: _Arrow, size: int) -> None:
    """Read the head of a message, and its body from the file."""
    message = buffer.root()
    message.scalar(0, "h")
    kind, n_body = message.scalar(1, "B"), message.scalar(3, "q")
    found.add(4 in message, METADATA)
    if not 0 <= n_body <= size - file.tell():
        raise IndexError
    if kind == SCHEMA:
        found.add(has_metadata(message.table(2)), METADATA)
        found.columns = [_column(each) for each in fields_of(message.table(2))]
        found.add(any(DICTIONARY in each for each in fields_of(message.table(2))), DICTIONARIES)
        found.add(any(_read(file, n_body)), STRAY)
    elif kind == RECORD_BATCH and DICTIONARIES not in found.texts:
        _batch(message.table(2), _read(file, n_body), found)
    elif kind in (RECORD_BATCH, DICTIONARY_BATCH):
        message.table(2)
        file.seek(n_body, os.SEEK_CUR)
    else:
        raise ValueError("an unknown message")


def _column(column: Table) -> tuple[int, int]:
    """Return the type of a column and, for types of fixed width, the bits of a value."""
    kind = column.scalar(TYPE_KIND, "B")
    parameters = column.table(TYPE) if TYPE in column else None

    def scalar(number: int, form: str, default: int = 0) -> int:
        return parameters.scalar(number, form) if parameters is not None and number in parameters else default

    if kind in FIXED_WIDTHS:
        return kind, FIXED_WIDTHS[kind]
    if kind in WIDTHS:
        return kind, scalar(*WIDTHS[kind])
    if kind == Type.FLOAT:  # half, single, double
        return kind, 16 << scalar(0, "h")
    return kind, 32 << scalar(0, "h", 1) if kind == Type.DATE else 0  # days, milliseconds


def _batch(batch: Table, body: bytes, found: _Arrow) -> None:
    """Account for every byte of a record batch."""
    n_rows = batch.scalar(0, "q")
    nodes = batch.structs(1, "qq")
    places = batch.structs(2, "qq")
    codec = None
    if 3 in batch:
        codec = batch.table(3).scalar(0, "B")
        batch.table(3).scalar(1, "B")
    n_views = iter([count for (count,) in batch.structs(4, "q")])
    if len(nodes) != len(found.columns):
        raise ValueError("another number of columns")
    at = 0
    for start, length in sorted(place for place in places if place[1]):
        if start < at or length < 0 or start + length > len(body):
            raise IndexError
        found.add(any(body[at:start]), STRAY)
        at = start + length
    found.add(any(body[at:]), STRAY)
    buffers = iter([_buffer(body[start : start + length], codec, found) for start, length in places])
    for (kind, bits), (length, n_null) in zip(found.columns, nodes, strict=True):
        if length != n_rows:
            raise ValueError("columns of different length")
        if kind == Type.NULL:
            continue
        known = _bits(next(buffers), n_rows)
        _cells(kind, bits, n_rows, known, buffers, n_views, found)
        found.add(known is not None and n_rows - int(known.sum()) != n_null, STRAY)
    if any(True for _ in buffers):
        raise ValueError("buffers of no column")


def _buffer(raw: bytes, codec: int | None, found: _Arrow) -> bytes:
    """Return the content of a buffer."""
    if codec is None or not raw:
        return raw
    (size,) = struct.unpack_from("<q", raw)
    if size == -1:
        return raw[8:]
    if size < 0:
        raise ValueError("a negative size")
    found.expanded += size
    check_expansion(found.path, found.expanded)
    content = (unlz4_frame, unzstd)[codec](raw[8:], size)
    if len(content) != size:
        raise ValueError("another size than its header states")
    return content


def _bits(raw: bytes, n_rows: int) -> NDArray[np.bool_] | None:
    """Return the bit of each row; None if there are none."""
    if not raw:
        return None
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    if len(bits) < n_rows:
        raise IndexError
    return bits[:n_rows].astype(np.bool_)


def _cells(
    kind: int, bits: int, n_rows: int, known: NDArray[np.bool_] | None, buffers: Any, n_views: Any, found: _Arrow
) -> None:
    """Check that the buffers of a column hold the values of its rows and nothing else; a null has no value."""
    is_null = np.zeros(n_rows, dtype=np.bool_) if known is None else ~known
    if kind in TEXTS:
        offsets = np.frombuffer(next(buffers), dtype=TEXTS[kind])
        content = next(buffers)
        if n_rows == 0 and not len(offsets):
            found.add(content, UNSHOWN)
            return
        lengths = np.diff(offsets[: n_rows + 1])
        if len(lengths) != n_rows or (lengths < 0).any():
            raise IndexError
        found.add(offsets[0] != 0 or any(content[int(offsets[n_rows]) :]), UNSHOWN)
        found.add((lengths[is_null] != 0).any() or offsets[n_rows + 1 :].any(), UNSHOWN)
    elif kind == Type.TEXT_VIEW:
        _views(next(buffers), [next(buffers) for _ in range(next(n_views))], n_rows, is_null, found)
    elif kind == Type.BOOL:
        raw = next(buffers)
        values = _bits(raw, n_rows)
        found.add(values is not None and values[is_null].any(), UNSHOWN)
        found.add(any(raw[(n_rows + 7) // 8 :]), UNSHOWN)
    else:
        raw, width = next(buffers), bits // 8
        if width == 0 or len(raw) < n_rows * width:
            raise IndexError
        cells = np.frombuffer(raw, dtype=np.uint8, count=n_rows * width).reshape(n_rows, width)
        found.add(cells[is_null].any() or any(raw[n_rows * width :]), UNSHOWN)


def _views(raw: bytes, contents: list[bytes], n_rows: int, is_null: NDArray[np.bool_], found: _Arrow) -> None:
    """Check texts that are stored as views: short ones in the view, long ones in a buffer that views share."""
    if len(raw) < n_rows * 16:
        raise IndexError
    views = np.frombuffer(raw, dtype="<i4", count=n_rows * 4).reshape(n_rows, 4)
    bytes_of_views = np.frombuffer(raw, dtype=np.uint8, count=n_rows * 16).reshape(n_rows, 16)
    found.add(bytes_of_views[is_null].any() or any(raw[n_rows * 16 :]), UNSHOWN)
    is_long = ~is_null & (views[:, 0] > INLINE)
    is_short = ~is_null & ~is_long
    beyond = np.arange(INLINE) >= views[is_short][:, :1]
    found.add((bytes_of_views[is_short][:, 4:] * beyond).any(), UNSHOWN)
    long_views = views[is_long]
    for number, content in enumerate(contents):
        own = long_views[long_views[:, 2] == number]
        edges = np.zeros(len(content) + 1, dtype=np.int64)
        ends = own[:, 3].astype(np.int64) + own[:, 0]
        if (own[:, 3] < 0).any() or (ends > len(content)).any():
            raise IndexError
        np.add.at(edges, own[:, 3], 1)
        np.subtract.at(edges, ends, 1)
        is_shown = np.cumsum(edges[:-1]) > 0
        found.add((np.frombuffer(content, dtype=np.uint8)[~is_shown] != 0).any(), UNSHOWN)
