"""Whether a table fits into memory, how far a compressed file may expand, and memory that is given back."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from shoal.errors import InputError, TooLargeError, UsageError

__all__ = [
    "available_memory",
    "check_expansion",
    "check_memory",
    "count_cells",
    "fits_memory",
    "give_back",
    "refuse_expansion",
    "size_in_words",
]

VARIABLE = "SHOAL_MEMORY_LIMIT"
MOST_BYTES = 10**15
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
# Estimated peak memory of a run: bytes for each byte of text, and bytes for each cell. Measured: reading alone needs 3
# and 22 (tables of 9 and 24 million cells, CSV and Parquet). A run over 9 million cells, most of them released, needed
# 1.35 GB; the estimate is 1.28 GB. A run that released 5 of 60 columns needed half of the estimate.
TEXT_FACTOR = 8.0
CELL_BYTES = 50
SAMPLE_BYTES = 1 << 16
# A compressed file may expand to the first size, or to the second number times its own size, whichever is larger.
FREE_EXPANSION = 10**9
MOST_EXPANSION = 200
CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def available_memory() -> int | None:
    """Return the bytes of memory that a run may use, or None if they are unknown.

    SHOAL_MEMORY_LIMIT decides; without it, the memory that is free on the machine and in its container.
    """
    if text := os.environ.get(VARIABLE):
        return parse_size(text)
    sizes = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                sizes.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError):
        pass
    for limit, used in CGROUPS:
        try:
            sizes.append(int(limit.read_text()) - int(used.read_text()))
        except (OSError, ValueError):  # there is no such file, or it says "max"
            continue
    if (room := _address_space()) is not None:
        sizes.append(room)
    return max(0, min(sizes)) if sizes else None


def _address_space() -> int | None:
    """Return what a limit of the process (RLIMIT_AS, `ulimit -v`) leaves; None if there is no limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):  # not on every system
        return None
    return None if limit == resource.RLIM_INFINITY else limit - used


def parse_size(text: str, mention: str = "") -> int:
    """Return the bytes of a size such as 500MB or 4GB.

    Args:
        text: The size.
        mention: The setting that contains it, with its value, for the message; by default SHOAL_MEMORY_LIMIT.

    Raises:
        UsageError: If the text is not a size.
    """
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,15})?) *([kmgt]?)i?b?", text.strip().lower())
    if match is None:
        raise UsageError(f"{mention or f'{VARIABLE}={text!r}'} is not a size. Write it as 500MB or 4GB.")
    size = int(float(match[1]) * UNITS[match[2]])
    if size > MOST_BYTES:
        raise UsageError(f"{mention or f'{VARIABLE}={text!r}'} is more than any machine has. Write it as 500MB or 4GB.")
    return size


def count_cells(sample: bytes, size: int) -> int:
    """Estimate the number of cells of a CSV file from its first bytes and its size."""
    marks = max(map(sample.count, (b",", b";", b"\t", b"|"))) + sample.count(b"\n")
    return marks * size // max(1, len(sample))


def _needed(text_bytes: int, n_cells: int) -> int:
    return int(text_bytes * TEXT_FACTOR + n_cells * CELL_BYTES)


def fits_memory(text_bytes: int, n_cells: int) -> bool:
    """Return whether a table fits into the available memory."""
    limit = available_memory()
    return limit is None or _needed(text_bytes, n_cells) <= limit


def check_memory(place: object, text_bytes: int, n_cells: int = 0, limit: int | None = None) -> None:
    """Raise a TooLargeError if a table needs more memory than is available.

    Args:
        place: The file or the URL of the table, for the message.
        text_bytes: The size of its cells as text.
        n_cells: The number of its cells.
        limit: The memory that was available before any of it was read; by default what is available now.
    """
    needed, limit = _needed(text_bytes, n_cells), available_memory() if limit is None else limit
    if limit is not None and needed > limit:
        raise TooLargeError(
            f"{place}: needs about {size_in_words(needed)} of memory, but only {size_in_words(limit)} is available. "
            f"Use a machine with more memory, or fewer columns or rows. If the estimate is wrong, set {VARIABLE}."
        )


def check_expansion(path: Path, compressed: int, expanded: int, n_cells: int = 0) -> None:
    """Check the expanded size of a compressed file.

    Args:
        path: The file, for the message.
        compressed: Its size in bytes.
        expanded: Its expanded size in bytes, or the part that is known.
        n_cells: The number of its cells.

    Raises:
        InputError: If the file expands more than any table does.
        TooLargeError: If the table needs more memory than is available.
    """
    refuse_expansion(path, compressed, expanded + n_cells)
    check_memory(path, expanded, n_cells)


def refuse_expansion(path: Path, compressed: int, expanded: int) -> None:
    """Raise an InputError if a file expands more than any table does; a cell counts as at least one byte."""
    if expanded > FREE_EXPANSION and expanded > MOST_EXPANSION * compressed:
        raise InputError(
            f"{path}: expands to more than {MOST_EXPANSION} times its size and {size_in_words(FREE_EXPANSION)}, as no "
            "ordinary table does. If you trust the file, decompress it first."
        )


def size_in_words(size: int) -> str:
    """Return a number of bytes in words, such as 1.5 GB."""
    return f"{size / 10**9:.1f} GB" if size >= 10**8 else f"{size / 10**6:.1f} MB"


def give_back() -> None:
    """Give the system the memory that was freed; glibc keeps much of it, and the next stage needs other sizes."""
    import ctypes

    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
