"""Decompress the blocks of columnar files; each must have exactly the size that its header states."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from shoal.verification.reading.zstd import is_complete, open_zstd

__all__ = ["expand", "unlz4_frame", "unzstd"]

LZ4_MAGIC = 0x184D2204
Expand = Callable[[bytes, int], bytes]


def expand(codec: int, raw: bytes, size: int) -> bytes:
    """Return the bytes of a Parquet page.

    Args:
        codec: The number of the codec in Parquet.
        raw: The compressed bytes.
        size: How many bytes they expand to.

    Raises:
        ValueError: They are damaged, expand to another size or have bytes after their end, or the codec is unknown.
    """
    if codec not in CODECS:
        raise ValueError("an unknown codec")
    try:
        content = CODECS[codec](raw, size)
    except (IndexError, zlib.error) as error:
        raise ValueError("damaged") from error
    if len(content) != size:
        raise ValueError("another size than its header states")
    return content


def unzstd(raw: bytes, size: int) -> bytes:
    """Return the content of one Zstandard frame."""
    if not is_complete(raw):
        raise ValueError("bytes after its end")
    try:
        return bytes(open_zstd(raw).read(size + 1))
    except EOFError as error:
        raise ValueError("damaged") from error


def _gunzip(raw: bytes, size: int) -> bytes:
    engine = zlib.decompressobj(wbits=47)
    content = engine.decompress(raw, size + 1)
    if not engine.eof or engine.unused_data:
        raise ValueError("bytes after its end")
    return content


def _unsnappy(raw: bytes, size: int) -> bytes:
    """Decode Snappy: a varint with the size, then literals and copies."""
    at = 0
    while raw[at] & 128:
        at += 1
    at += 1
    content = bytearray()
    end = len(raw)
    while at < end and len(content) <= size:
        tag = raw[at]
        kind = tag & 3
        if kind == 0:
            length = tag >> 2
            extra = length - 59 if length >= 60 else 0
            if extra:
                length = int.from_bytes(raw[at + 1 : at + 1 + extra], "little")
            at += 1 + extra
            if at + length + 1 > end:
                raise IndexError
            content += raw[at : at + length + 1]
            at += length + 1
            continue
        if kind == 1:
            length, distance = 4 + (tag >> 2 & 7), tag >> 5 << 8 | raw[at + 1]
        else:
            length, distance = 1 + (tag >> 2), int.from_bytes(raw[at + 1 : at + 1 + (2, 4)[kind - 2]], "little")
        at += (2, 3, 5)[kind - 1]
        _copy(content, distance, length)
    return bytes(content)


def _unlz4(raw: bytes, size: int) -> bytes:
    content = bytearray()
    _unlz4_block(raw, size, content)
    return bytes(content)


def unlz4_frame(raw: bytes, size: int) -> bytes:
    """Return the content of one LZ4 frame."""
    magic, flags = int.from_bytes(raw[:4], "little"), raw[4]
    if magic != LZ4_MAGIC or flags & 0b11 or flags >> 6 != 1:
        raise ValueError("no frame without dictionary")
    at = 7 + (8 if flags & 8 else 0)
    content = bytearray()
    while length := int.from_bytes(raw[at : at + 4], "little"):
        is_plain, length = length >> 31, length & 0x7FFFFFFF
        at += 4
        if at + length > len(raw):
            raise IndexError
        block = raw[at : at + length]
        if is_plain:
            content += block
        else:
            _unlz4_block(block, size, content)
        if len(content) > size:
            raise ValueError("too large")
        at += length + (4 if flags & 16 else 0)
    if at + 4 + (4 if flags & 4 else 0) != len(raw):
        raise ValueError("bytes after its end")
    return bytes(content)


def _unlz4_block(raw: bytes, size: int, content: bytearray) -> None:
    """Decode one LZ4 block after what was decoded before: literals and copies in turn, a literal last."""
    at, end = 0, len(raw)
    while at < end and len(content) <= size:
        token = raw[at]
        at += 1
        length, at = _lz4_length(raw, at, token >> 4)
        if at + length > end:
            raise IndexError
        content += raw[at : at + length]
        at += length
        if at == end:
            break
        distance = raw[at] | raw[at + 1] << 8
        length, at = _lz4_length(raw, at + 2, token & 15)
        _copy(content, distance, min(length + 4, size + 1))


def _lz4_length(raw: bytes, at: int, length: int) -> tuple[int, int]:
    if length == 15:
        while True:
            length += raw[at]
            at += 1
            if raw[at - 1] != 255:
                break
    return length, at


def _copy(content: bytearray, distance: int, length: int) -> None:
    """Repeat the bytes that begin at a distance before the end."""
    if not 0 < distance <= len(content):
        raise IndexError
    begin = len(content) - distance
    if distance >= length:
        content += content[begin : begin + length]
    else:
        content += (content[begin:] * (length // distance + 1))[:length]


CODECS: dict[int, Expand] = {
    0: lambda raw, size: raw,
    1: _unsnappy,
    2: _gunzip,
    6: unzstd,
    7: _unlz4,
}
