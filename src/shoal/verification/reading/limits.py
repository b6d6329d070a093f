"""Bounds on what the verifier reads, checked before memory is taken.

The limits are those of the readers of a table, stated a second time: the verifier shares no code with them.
"""

from __future__ import annotations

import os

from shoal.errors import InputError

__all__ = [
    "FREE_CELLS",
    "MOST_BLANKS",
    "MOST_BYTES",
    "MOST_COLUMNS",
    "MOST_MEMBERS",
    "MOST_SHEET_COLUMNS",
    "MOST_SHEET_ROWS",
    "MOST_STRINGS",
    "PathName",
    "UnreadableError",
    "check_expansion",
    "most_expanded",
]

PathName = str | os.PathLike[str]

# A compressed file may expand to the first size, or to the second number times its own size, whichever is larger.
FREE_EXPANSION = 10**9
MOST_EXPANSION = 200
MOST_BYTES = 1 << 24  # of a cell
MOST_COLUMNS = 100_000  # of a table
MOST_SHEET_ROWS, MOST_SHEET_COLUMNS = 1_048_576, 16_384  # of Excel
MOST_MEMBERS = 10_000  # parts of a workbook
MOST_STRINGS = 10_000_000  # shared strings of a workbook
# Almost every cell of a sheet may be blank up to the first number of cells, or up to the second per cell with a text.
FREE_CELLS = 10_000_000
MOST_BLANKS = 100


class UnreadableError(InputError):
    """A file that the verifier cannot read as a table.

    Args:
        path: The file.
        reason: Why it cannot be read.
    """

    reason = ""

    def __init__(self, path: PathName, reason: str) -> None:
        super().__init__(f"{os.fspath(path)}: {reason}.")
        self.reason = reason


def most_expanded(path: PathName) -> int:
    """Return how many bytes a file may expand to."""
    return max(FREE_EXPANSION, MOST_EXPANSION * os.path.getsize(path))


def check_expansion(path: PathName, expanded: int) -> None:
    """Raise an UnreadableError if a file expands more than any table does.

    Args:
        path: The file.
        expanded: Its expanded size in bytes, or the part that is known.
    """
    if expanded > most_expanded(path):
        raise UnreadableError(
            path,
            f"it expands to more than {MOST_EXPANSION} times its size and {FREE_EXPANSION / 10**9:.1f} GB, as no "
            "ordinary table does. If you trust it, decompress it first",
        )
