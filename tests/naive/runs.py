"""Runs of integers in a Parquet page, bit by bit; the twin of `read_runs`."""

from __future__ import annotations

__all__ = ["read_runs"]


def read_runs(content: bytes, width: int, count: int) -> tuple[list[int], list[int]]:
    """Return `count` integers, and those that only fill up the last run; a ValueError if anything else is there."""
    if not 0 <= width <= 32:
        raise ValueError("width")
    numbers: list[int] = []
    filling: list[int] = []
    at = 0
    while len(numbers) < count:
        ends = [place for place in range(at, min(at + 6, len(content))) if content[place] < 128]
        if not ends:
            raise ValueError("head")
        head = sum((byte & 127) << 7 * place for place, byte in enumerate(content[at : ends[0] + 1]))
        at = ends[0] + 1
        missing = count - len(numbers)
        if head & 1 and width:
            packed = content[at : at + (head >> 1) * width]
            at += len(packed)
            bits = int.from_bytes(packed, "little")
            found = [bits >> width * place & (1 << width) - 1 for place in range(len(packed) * 8 // width)]
            if bits >> width * len(found) or not found or len(found) > missing + 7:
                raise ValueError("bits")
            numbers += found[:missing]
            filling = found[missing:]
        else:
            number = content[at : at + (width + 7) // 8]
            length = min((head >> 1) * 8, missing) if head & 1 else head >> 1
            if len(number) < (width + 7) // 8 or not 0 < length <= missing:
                raise ValueError("run")
            at += len(number)
            numbers += [int.from_bytes(number, "little")] * length
    if at != len(content):
        raise ValueError("rest")
    return numbers, filling
