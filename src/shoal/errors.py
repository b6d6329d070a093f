"""The exceptions of shoal, and the exit code that each one has on the command line.

Our exception hierarchy:

ShoalError
├── UsageError          2  a wrong argument, option or configuration
├── InputError          3  a table or hierarchy that cannot be taken as it is
├── InfeasibleError     4  the goal cannot be reached on this table
├── VerificationError   5  a release that does not hold what it claims
├── FileError           6  a file, or a table of a database, that cannot be read or written
└── InternalError       1  a bug in shoal

Every text says where, what was found, what is allowed and what to do. None holds a cell of a table: column, row number
and count stand in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "FileError",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "ShoalError",
    "UsageError",
    "VerificationError",
    "join_problems",
    "place_of",
]

MOST_PROBLEMS = 10


class ShoalError(Exception):
    """Anything that shoal raises on purpose."""

    exit_code = 1


class UsageError(ShoalError):
    """A wrong argument, option or configuration."""

    exit_code = 2


class InputError(ShoalError):
    """A table or hierarchy that cannot be taken as it is."""

    exit_code = 3


class InfeasibleError(ShoalError):
    """The goal cannot be reached on this table."""

    exit_code = 4


class VerificationError(ShoalError):
    """A release that does not hold what it claims."""

    exit_code = 5


class FileError(ShoalError):
    """A file, or a table of a database, that cannot be read or written."""

    exit_code = 6


class InternalError(ShoalError):
    """A bug in shoal."""

    exit_code = 1

    def __init__(self, text: str) -> None:
        super().__init__(f"{text} This is a bug in shoal; please report it with the command that led here.")


def join_problems(problems: Sequence[str]) -> str:
    """Give all problems of one input as one text: at most ten, then how many more."""
    shown = list(problems[:MOST_PROBLEMS])
    if len(problems) > MOST_PROBLEMS:
        shown.append(f"... and {len(problems) - MOST_PROBLEMS} more.")
    return "\n".join(shown)


def place_of(error: BaseException) -> str:
    """Return where an exception arose, without its text, which may hold cells."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}" if trace else "?"
