"""Zstandard: the frames of a file, and their content."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Frame", "is_complete", "open_zstd", "walk_frames"]

MAGIC = 0xFD2FB528
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
MOST_WINDOW = 1 << 27  # bytes that a decoder keeps; as the tool zstd limits it


class Frame(NamedTuple):
    """A frame: where it ends, whether readers skip it, names a dictionary, or has bits that stand for no content."""

    end: int
    is_skippable: bool
    has_dictionary: bool
    has_idle_bits: bool


def walk_frames(raw: bytes) -> Iterator[Frame]:
    """Yield the frames of a file; a frame that is cut short ends after the file, and what is no frame ends the walk."""
    at = 0
    while at + 4 <= len(raw):
        magic = int.from_bytes(raw[at : at + 4], "little")
        if magic in SKIPPABLE:
            at += 8 + int.from_bytes(raw[at + 4 : at + 8], "little")
            yield Frame(at, True, False, False)
        elif magic == MAGIC:
            at, has_dictionary, has_idle_bits = _frame_end(raw, at)
            yield Frame(at, False, has_dictionary, has_idle_bits)
        else:
            return


def is_complete(raw: bytes) -> bool:
    """Return whether the last frame ends with the file."""
    end = 0
    for frame in walk_frames(raw):
        end = frame.end
    return end == len(raw)


def open_zstd(raw: bytes) -> Any:
    """Return a reader of the content of complete frames; it raises an EOFError if they are damaged."""
    import zstandard

    class Reader(io.RawIOBase):
        """Reads the content of frames."""

        def __init__(self) -> None:
            engine = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW)
            self._stream = engine.stream_reader(raw, read_across_frames=True)

        def read(self, size: int = -1) -> bytes:
            try:
                return bytes(self._stream.read(size))
            except zstandard.ZstdError as error:
                raise EOFError from error

    return Reader()


def _frame_end(raw: bytes, at: int) -> tuple[int, bool, bool]:
    """Return where a frame ends, from the heads of its blocks, whether it names a dictionary, and idle bits."""
    try:
        descriptor = raw[at + 4]
        is_single = descriptor >> 5 & 1
        has_idle_bits = bool(descriptor >> 3 & 3)
        at += 5 + (1 - is_single) + (0, 1, 2, 4)[descriptor & 3]
        at += (is_single, 2, 4, 8)[descriptor >> 6]
        is_last = False
        while not is_last:
            head = raw[at] | raw[at + 1] << 8 | raw[at + 2] << 16
            is_last, kind, length = bool(head & 1), head >> 1 & 3, head >> 3
            has_idle_bits |= length == 0 and not (is_last and kind == 0)  # only the last block may be empty
            at += 3 + (1 if kind == 1 else length)
    except IndexError:
        return len(raw) + 1, False, False
    return at + 4 * (descriptor >> 2 & 1), descriptor & 3 != 0, has_idle_bits
