"""Refuse a table that would not fit into memory before it is read, and compressed files that would burst it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from shoal.errors import FileError, InputError, UsageError

__all__ = ["available_memory", "check_expansion", "check_memory", "count_cells"]

VARIABLE = "SHOAL_MEMORY_LIMIT"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
# Peak memory of a whole run: so many bytes for each byte of plain text and each cell. Measured: reading takes 3 and
# 22 (tables of 9 and 24 million cells, as CSV and Parquet); a run over 9 million cells, most of them released, took
# 1.35 GB where this says 1.28, and one that released 5 of 60 columns took half of what this says.
TEXT_FACTOR = 8.0
CELL_BYTES = 50
SAMPLE_BYTES = 1 << 16
# A compressed file may always expand to this size; beyond it, to so many times its own.
FREE_EXPANSION = 10**9
MOST_EXPANSION = 200
CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def available_memory() -> int | None:
    """Return the bytes of memory that may be used: SHOAL_MEMORY_LIMIT, else what machine and container leave."""
    if text := os.environ.get(VARIABLE):
        return parse_size(text)
    found = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError):
        pass
    for limit, used in CGROUPS:
        try:
            found.append(int(limit.read_text()) - int(used.read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
    return max(0, min(found)) if found else None


def parse_size(text: str, setting: str = VARIABLE) -> int:
    """Return the bytes of a size such as 500MB or 4GB; setting: what it was given by, for the message."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if match is None:
        raise UsageError(f"{setting}={text!r} is not a size. Write it as 500MB or 4GB.")
    return int(float(match[1]) * UNITS[match[2]])


def count_cells(sample: bytes, size: int) -> int:
    """Tell from the beginning of a CSV file about how many cells a file of this size holds."""
    marks = max(map(sample.count, (b",", b";", b"\t", b"|"))) + sample.count(b"\n")
    return marks * size // max(1, len(sample))


def check_memory(path: Path, text_bytes: int, n_cells: int = 0) -> None:
    """Raise a FileError if a table of so much text in so many cells needs more memory than there is."""
    needed = int(text_bytes * TEXT_FACTOR + n_cells * CELL_BYTES)
    limit = available_memory()
    if limit is not None and needed > limit:
        raise FileError(
            f"{path}: needs about {_shown(needed)} of memory, and {_shown(limit)} are available. Use a machine with "
            "more, --engine duckdb with a full-domain method, or fewer columns or rows; set "
            f"{VARIABLE} if the estimate is wrong."
        )


def check_expansion(path: Path, compressed: int, expanded: int, n_cells: int = 0) -> None:
    """Raise an InputError if a compressed file expands beyond all measure, a FileError if it does so beyond memory."""
    if expanded > FREE_EXPANSION and expanded > MOST_EXPANSION * compressed:
        raise InputError(
            f"{path}: expands to more than {MOST_EXPANSION} times its size and {_shown(FREE_EXPANSION)}. No table "
            "does; if this one should, decompress it first."
        )
    check_memory(path, expanded, n_cells)


def _shown(size: int) -> str:
    return f"{size / 10**9:.1f} GB" if size >= 10**8 else f"{size / 10**6:.1f} MB"
