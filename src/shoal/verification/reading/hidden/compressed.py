"""What a compressed file holds besides its content."""

from __future__ import annotations

import zlib

from shoal.verification.reading.limits import PathName, check_expansion
from shoal.verification.reading.zstd import walk_frames

__all__ = ["gzip_faults", "zstd_faults"]

BLOCK_BYTES = 1 << 20
NAMED = "its gzip header contains a name, a time or a comment"
MEMBERS = "it consists of several compressed parts"
STRAY = "there are bytes after the compressed content"


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
        n_expanded = 0
        try:
            while not engine.eof and (block := file.read(BLOCK_BYTES)):
                while block and not engine.eof:
                    n_expanded += len(engine.decompress(block, BLOCK_BYTES))
                    check_expansion(path, n_expanded)
                    block = engine.unconsumed_tail
        except zlib.error:
            return texts  # the reader reports it
        rest = engine.unused_data + file.read(2)
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
