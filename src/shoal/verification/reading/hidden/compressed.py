"""What a compressed file holds besides its content."""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import BinaryIO

from shoal.verification.reading.limits import PathName, check_expansion
from shoal.verification.reading.zstd import walk_frames

__all__ = ["Recompression", "gzip_faults", "zstd_faults"]

BLOCK_BYTES = 1 << 20
NAMED = "its gzip header contains a name, a time or a comment"
MEMBERS = "it consists of several compressed parts"
STRAY = "there are bytes after the compressed content"
BLOCKS = "its content is compressed in another way than that of a release"
GZIP_LEVEL = 9  # of releases
HEAD_BYTES, TAIL_BYTES = 10, 8
EMPTY_BLOCK = b"\0\0\xff\xff"  # its size, and the same inverted; the bits before it are free
MOST_GROWTH = 8  # another build of zlib may need this part of a size more


class Recompression:
    """Compresses content again as a release is, and compares the result with a file.

    Two builds of zlib may compress the same content differently. Other bytes are therefore accepted if they contain no
    empty blocks and are about as few.
    """

    def __init__(self, level: int) -> None:
        self._engine = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._digest, self._size = hashlib.blake2b(), 0

    def add(self, content: bytes) -> None:
        """Compress some more content."""
        self._note(self._engine.compress(content))

    def is_like(self, file: BinaryIO, begin: int, size: int) -> bool:
        """Return whether a part of a file is the content, compressed as releases are."""
        self._note(self._engine.flush())
        digest, last, has_empty_block = hashlib.blake2b(), b"", False
        file.seek(begin)
        remaining = size
        while remaining > 0 and (block := file.read(min(BLOCK_BYTES, remaining))):
            remaining -= len(block)
            digest.update(block)
            has_empty_block |= EMPTY_BLOCK in last + block
            last = block[-3:]
        if digest.digest() == self._digest.digest():
            return True
        return not has_empty_block and size <= self._size + self._size // MOST_GROWTH + HEAD_BYTES

    def _note(self, raw: bytes) -> None:
        self._digest.update(raw)
        self._size += len(raw)


def gzip_faults(path: PathName, *, strict: bool) -> list[str]:
    """Return what a gzip file contains besides one compressed content: a name, a time, a comment, other bytes.

    Args:
        path: The file.
        strict: Whether the header must be the one of a release, byte by byte.
    """
    with open(path, "rb") as file:
        head = file.read(10)
        is_named = any(head[3:8]) or (strict and head[8:10] not in (b"\2\xff", b"\0\xff"))
        texts = [NAMED] if is_named else []
        file.seek(0)
        engine = zlib.decompressobj(wbits=31)
        again = Recompression(GZIP_LEVEL) if strict else None
        n_expanded = 0
        try:
            while not engine.eof and (block := file.read(BLOCK_BYTES)):
                while block and not engine.eof:
                    content = engine.decompress(block, BLOCK_BYTES)
                    n_expanded += len(content)
                    if again is not None:
                        again.add(content)
                    check_expansion(path, n_expanded)
                    block = engine.unconsumed_tail
        except zlib.error:
            return texts  # the reader reports it
        rest = engine.unused_data + file.read(2)
        size = file.seek(0, os.SEEK_END) - HEAD_BYTES - TAIL_BYTES
        if again is not None and not texts and not rest and not again.is_like(file, HEAD_BYTES, size):
            texts.append(BLOCKS)
    if rest:
        texts.append(MEMBERS if rest[:2] == b"\x1f\x8b" else STRAY)
    return texts


def zstd_faults(path: PathName) -> list[str]:
    """Return what a Zstandard file contains besides one frame: skippable frames, further frames, a dictionary."""
    with open(path, "rb") as file:
        raw = file.read()
    frames = list(walk_frames(raw))
    checks = [
        (any(frame.is_skippable for frame in frames), "it contains frames that a reader skips"),
        (sum(not frame.is_skippable for frame in frames) > 1, MEMBERS),
        (any(frame.has_dictionary for frame in frames), "it refers to a dictionary"),
        (any(frame.has_idle_bits for frame in frames), "it contains empty blocks"),
        (frames[-1].end != len(raw), STRAY),
    ]
    return [text for fault, text in checks if fault]
