"""Decompress the blocks of columnar files; each must have exactly the size that its header states."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from shoal.verification.reading.zstd import Frame, open_zstd, walk_frames

__all__ = ["expand", "unlz4_frame", "unzstd"]

GZIP_HEAD = b"\x1f\x8b\x08" + bytes(5)  # no name, comment, extra field or time
GZIP_LEVELS, GZIP_SYSTEMS = (0, 2, 4), (0, 3, 255)
LZ4_MAGIC = 0x184D2204
PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
MASK = 0xFFFFFFFF
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
    """Return the content of one Zstandard frame; nothing may be before, in or after it that a reader skips."""
    if list(walk_frames(raw)) != [Frame(len(raw), False, False, False)]:
        raise ValueError("more than one frame")
    try:
        return bytes(open_zstd(raw).read(size + 1))
    except EOFError as error:
        raise ValueError("damaged") from error


def _gunzip(raw: bytes, size: int) -> bytes:
    """Return the content of one gzip member without name, time and comment."""
    if raw[:8] != GZIP_HEAD or raw[8] not in GZIP_LEVELS or raw[9] not in GZIP_SYSTEMS:
        raise ValueError("a header with more than a reader needs")
    engine = zlib.decompressobj(wbits=31)
    content = engine.decompress(raw, size + 1)
    if not engine.eof or engine.unused_data:
        raise ValueError("bytes after its end")
    return content


def _unsnappy(raw: bytes, size: int) -> bytes:
    """Decode Snappy: a varint with the size, then literals and copies."""
    head = _varint(size)
    at = len(head)
    if raw[:at] != head:
        raise ValueError("another size than its header states")
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
                if length < 60 or (length.bit_length() + 7) // 8 != extra:
                    raise ValueError("a length with more bytes than it needs")
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
    if at != end:
        raise ValueError("bytes after its end")
    return bytes(content)


def _varint(number: int) -> bytes:
    """Return a number with seven bits a byte, in as few bytes as it needs."""
    text = bytearray()
    while number > 127:
        text.append(number & 127 | 128)
        number >>= 7
    return bytes([*text, number])


def _unlz4(raw: bytes, size: int) -> bytes:
    content = bytearray()
    _unlz4_block(raw, size, content)
    return bytes(content)


def unlz4_frame(raw: bytes, size: int) -> bytes:
    """Return the content of one LZ4 frame; its checksums must be right."""
    magic, flags, limits = int.from_bytes(raw[:4], "little"), raw[4], raw[5]
    if magic != LZ4_MAGIC or flags & 0b11 or flags >> 6 != 1 or limits & 0b10001111:
        raise ValueError("no frame without dictionary")
    at = 6 + (8 if flags & 8 else 0)
    if (flags & 8 and int.from_bytes(raw[6:14], "little") != size) or raw[at] != _xxh32(raw[4:at]) >> 8 & 255:
        raise ValueError("a header that does not follow from its content")
    at += 1
    content = bytearray()
    while length := int.from_bytes(raw[at : at + 4], "little"):
        is_plain, length = length >> 31, length & 0x7FFFFFFF
        at += 4
        if at + length > len(raw) or not length:
            raise IndexError
        block = raw[at : at + length]
        if is_plain:
            content += block
        else:
            _unlz4_block(block, size, content)
        if len(content) > size:
            raise ValueError("too large")
        at += length
        if flags & 16:
            _check_sum(raw, at, block)
            at += 4
    at += 4
    if flags & 4:
        _check_sum(raw, at, content)
        at += 4
    if at != len(raw):
        raise ValueError("bytes after its end")
    return bytes(content)


def _check_sum(raw: bytes, at: int, content: bytes | bytearray) -> None:
    if raw[at : at + 4] != _xxh32(content).to_bytes(4, "little"):
        raise ValueError("a checksum that does not follow from its content")


def _xxh32(content: bytes | bytearray) -> int:
    """Return the 32-bit xxHash with seed 0, the checksum of LZ4 frames."""
    end = len(content) // 16 * 16
    total = PRIME_5
    if end:
        lanes = [PRIME_1 + PRIME_2 & MASK, PRIME_2, 0, -PRIME_1 & MASK]
        for words in struct.iter_unpack("<4I", memoryview(content)[:end]):
            lanes = [
                _rotated(lane + word * PRIME_2 & MASK, 13) * PRIME_1 & MASK
                for lane, word in zip(lanes, words, strict=True)
            ]
        total = sum(_rotated(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True))
    total = total + len(content) & MASK
    fours = len(content) // 4 * 4
    for (word,) in struct.iter_unpack("<I", memoryview(content)[end:fours]):
        total = _rotated(total + word * PRIME_3 & MASK, 17) * PRIME_4 & MASK
    for byte in content[fours:]:
        total = _rotated(total + byte * PRIME_5 & MASK, 11) * PRIME_1 & MASK
    total = (total ^ total >> 15) * PRIME_2 & MASK
    total = (total ^ total >> 13) * PRIME_3 & MASK
    return total ^ total >> 16


def _rotated(number: int, turn: int) -> int:
    return (number << turn | number >> 32 - turn) & MASK


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
            if token & 15:
                raise ValueError("bits that stand for nothing")
            return
        distance = raw[at] | raw[at + 1] << 8
        length, at = _lz4_length(raw, at + 2, token & 15)
        _copy(content, distance, min(length + 4, size + 1))
    if at >= end:
        raise IndexError  # a block ends with a literal


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
