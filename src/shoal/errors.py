"""What shoal tells its users: errors, each with its exit code on the command line, and notes.

Our exception hierarchy:

ShoalError
├── UsageError          2  a wrong argument, option or configuration
├── InputError          3  a table or hierarchy that cannot be used as it is
├── InfeasibleError     4  the goal cannot be reached on this table
├── VerificationError   5  a release that does not meet its claims
├── FileError           6  a file or database table that cannot be read or written
│   └── TooLargeError      a table that does not fit into memory
├── CancelledError    130  the caller cancelled the run
└── InternalError       1  a bug in shoal

Every text says where the problem is, what was found, what is allowed and what to do. No text contains a cell of a
table: it gives the column, the row number and the count instead.

The same text serves Python users and command-line users. Where it mentions a setting, it uses `setting()`:

>>> error = UsageError(f"k is not given. Try {setting('k', 5)}.")
>>> str(error)
'k is not given. Try k=5.'
>>> error.for_command_line()
'k is not given. Try -k 5.'
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

__all__ = [
    "CancelledError",
    "FileError",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "Note",
    "ShoalError",
    "TooLargeError",
    "UsageError",
    "VerificationError",
    "at_row",
    "counted",
    "file_path",
    "first_row",
    "for_command_line",
    "for_python",
    "join_problems",
    "place_of",
    "setting",
    "visible",
    "without_rows",
]

MOST_PROBLEMS = 10

# Parts of a text that depend on its reader. The delimiters are private-use characters, which no message contains
# otherwise. A setting: how Python spells it, then how the command line does.
START, BETWEEN, END = "\ue000", "\ue001", "\ue002"
MENTION = re.compile(f"{START}([^{START}{BETWEEN}]*){BETWEEN}([^{START}{BETWEEN}{END}]*){END}")
# A row number, which means nothing where rows are only counted and must not be published.
ROW_START, ROW_END = "\ue003", "\ue004"
ROW = re.compile(f"{ROW_START}[^{ROW_START}{ROW_END}]*{ROW_END}")
# A path; only its last part may be published.
PATH_START, PATH_END = "\ue005", "\ue006"
PATH = re.compile(f"{PATH_START}([^{PATH_START}{PATH_END}]*){PATH_END}")
# A count in the text of a note: its name, and the words that it governs.
COUNT = re.compile(r"\{(\w+)(?::([^{}|]+)(?:\|([^{}|]+))?)?\}")
PLAIN = dict.fromkeys(map(ord, (ROW_START, ROW_END, PATH_START, PATH_END)))
# Options that are not spelled like their keyword.
SPELLINGS = {
    "dates": "--date",
    "grids": "--grid",
    "hierarchies": "--hierarchy",
    "k": "-k",
    "models": "--model",
    "options": "--option",
    "other_hierarchies": "--hierarchies",
    "output": "-o",
    "trust": "--trust-hierarchies",
    "units": "--unit",
}


def setting(name: str, value: object = None, *, option: str = "") -> str:
    """Mention a setting in a text, spelled as a keyword for Python and as an option for the command line.

    Args:
        name: The keyword, such as "keep_order".
        value: The value to suggest. A bool becomes a flag on the command line; a list becomes comma-separated.
        option: How the command line spells it, if it differs from the usual spelling.

    Returns:
        A marked text for the message of an error or a note; `for_python` and `for_command_line` spell it out.
    """
    option = option or SPELLINGS.get(name, f"--{name.replace('_', '-')}")
    if value is None:
        return f"{START}{name}={BETWEEN}{option}{END}"
    if isinstance(value, bool):
        flag = option if value else option.replace("--", "--no-", 1)
        return f"{START}{name}={value}{BETWEEN}{flag}{END}"
    words = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{START}{name}={value!r}{BETWEEN}{option} {shlex.quote(words)}{END}"


def first_row(number: int, words: str = "first") -> str:
    """Mention the first row that shows a problem, or an example; `without_rows` removes the mention.

    >>> for_python(f"2 values are not numbers{first_row(18)}.")
    '2 values are not numbers (first at row 18).'
    """
    return f"{ROW_START} ({words} at row {number}){ROW_END}"


def at_row(number: int) -> str:
    """Mention the row of a problem; `without_rows` removes the mention.

    >>> for_python(f"the cell{at_row(18)} is not a number.")
    'the cell at row 18 is not a number.'
    """
    return f"{ROW_START} at row {number}{ROW_END}"


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count and the words that it governs.

    Args:
        count: The count.
        one: The words for a count of 1.
        many: The words for any other count; by default, `one` with an s.

    >>> counted(1, "row"), counted(1200, "row"), counted(0, "row is", "rows are")
    ('1 row', '1,200 rows', '0 rows are')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def file_path(path: str | PurePath) -> str:
    """Mention a file. A note that is published names the file without its folder."""
    return f"{PATH_START}{path}{PATH_END}"


def visible(text: str, keep: str = "\n") -> str:
    r"""Escape what a terminal would obey and not show: control and format characters, such as escape sequences.

    Args:
        text: The text, with all mentions spelled out. Its letters of any script stay as they are.
        keep: Further characters that stay as they are.

    >>> print(visible("red \x1b[31m, backwards \u202e, blank \u00a0"))
    red \x1b[31m, backwards \u202e, blank \xa0
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in keep else ascii(letter)[1:-1] for letter in text)


def without_rows(text: str) -> str:
    """Remove the row numbers that a text mentions."""
    return ROW.sub("", text)


def for_python(text: str) -> str:
    """Spell the settings that a text mentions as keywords."""
    return MENTION.sub(r"\1", text).translate(PLAIN)


def for_command_line(text: str) -> str:
    """Spell the settings that a text or a note mentions as options."""
    if isinstance(text, Note):
        return text.for_command_line()
    return MENTION.sub(r"\2", text).translate(PLAIN)


def _publishable(text: str) -> str:
    """Return a text for a public document: without row numbers and folders."""
    return PATH.sub(lambda mention: PurePath(mention[1]).name, without_rows(text))


class ShoalError(Exception):
    """Base class of every error that shoal raises on purpose.

    Args:
        text: The message; mentions of settings are marked by `setting`.
    """

    exit_code = 1

    def __init__(self, text: str = "") -> None:
        super().__init__(for_python(text))
        self.text = text

    def __reduce__(self) -> tuple[Callable[..., ShoalError], tuple[type[ShoalError], str]]:
        return _rebuild, (type(self), self.text)

    def for_command_line(self) -> str:
        """Return the message with settings spelled as options."""
        return for_command_line(self.text)

    def without_rows(self) -> ShoalError:
        """Return the same error without row numbers, for a table whose rows were only counted."""
        return _rebuild(type(self), without_rows(self.text))


def _rebuild(kind: type[ShoalError], text: str) -> ShoalError:
    error = kind.__new__(kind, for_python(text))
    ShoalError.__init__(error, text)
    return error


class UsageError(ShoalError):
    """A wrong argument, option or configuration."""

    exit_code = 2


class InputError(ShoalError):
    """A table or hierarchy that cannot be used as it is."""

    exit_code = 3


class InfeasibleError(ShoalError):
    """The goal cannot be reached on this table."""

    exit_code = 4


class VerificationError(ShoalError):
    """A release that does not meet its claims."""

    exit_code = 5


class FileError(ShoalError):
    """A file or database table that cannot be read or written."""

    exit_code = 6


class TooLargeError(FileError):
    """A table that does not fit into memory."""


class CancelledError(ShoalError):
    """The caller cancelled the run; nothing was written."""

    exit_code = 130

    def __init__(self, text: str = "the run was cancelled; nothing was written.") -> None:
        super().__init__(text)


class InternalError(ShoalError):
    """A bug in shoal."""

    exit_code = 1

    def __init__(self, text: str) -> None:
        super().__init__(f"{text} This is a bug in shoal; please report it with the command that led here.")


class Note(str):
    """Something the user should know about a table or a release.

    A note is a string, so callers can print it as it is; its parts stay available to callers that render it
    differently. The numbers it mentions are fields, so a public report can hide small counts without reading English.

    Args:
        about: What the note concerns, such as "column 'zip'"; may be empty.
        text: What was noticed. "{rows}" is replaced by `counts["rows"]`; "{rows:row}" by "1 row" or "2 rows", and
            "{rows:row is|rows are}" by "1 row is" or "2 rows are".
        cure: What to do about it; may be empty.
        counts: The numbers of rows, values or groups that the text mentions.

    Attributes:
        about, text, cure, counts: The arguments. The texts may contain marks of `setting`, `first_row` and `file_path`.

    >>> text = "{cells:cell looks|cells look} like a missing value"
    >>> print(Note("column 'zip'", text, setting("missing", ["?"]), {"cells": 1}))
    column 'zip': 1 cell looks like a missing value; missing=['?']
    >>> Note("column 'zip'", text, counts={"cells": 1200}).public(2000)
    "column 'zip': fewer than 2,000 cells look like a missing value"
    """

    __slots__ = ("about", "counts", "cure", "text")

    about: str
    text: str
    cure: str
    counts: Mapping[str, int]

    def __new__(cls, about: str, text: str, cure: str = "", counts: Mapping[str, int] | None = None) -> Note:
        """Render the note for Python users and keep its parts."""
        note = super().__new__(cls, for_python(_words(about, text, cure, counts or {})))
        note.about, note.text, note.cure = about, text, cure
        note.counts = MappingProxyType(dict(counts or {}))
        return note

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.about, self.text, self.cure, dict(self.counts)

    def __reduce__(self) -> tuple[type[Note], tuple[Any, ...]]:
        return Note, self.__getnewargs__()

    @property
    def marked(self) -> str:
        """The note with its marks of settings, for `for_python` or `shoal.errors.for_command_line`."""
        return _words(self.about, self.text, self.cure, self.counts)

    def for_command_line(self) -> str:
        """Return the note with settings spelled as options."""
        return for_command_line(self.marked)

    def sentences(self, k: int | None = None, spell: Callable[[str], str] = for_python) -> tuple[str, str]:
        """Return what was noticed and what to do about it, as two sentences; the second may be empty.

        Args:
            k: Hide smaller counts, as in `public`; None for a private text.
            spell: How to spell the settings that it mentions: `for_python` or `for_command_line`.
        """
        parts = _words(self.about, self.text, "", self.counts, k or 0), self.cure
        noticed, cure = (spell(_sentence(part) if k is None else _publishable(_sentence(part))) for part in parts)
        return noticed, cure

    def public(self, k: int) -> str:
        """Return the note as it may be published.

        Counts below k read "fewer than k", row numbers are left out, and files lose their folders.
        """
        return for_python(_publishable(_words(self.about, self.text, self.cure, self.counts, k)))


def _words(about: str, text: str, cure: str, counts: Mapping[str, int], k: int = 0) -> str:
    """Join the parts of a note and fill in its counts; a count below k reads "fewer than k"."""

    def fill(field: re.Match[str]) -> str:
        name, one, many = field.groups()
        if name not in counts:
            return field[0]
        hidden = counts[name] < k
        number = f"fewer than {k:,}" if hidden else f"{counts[name]:,}"
        if one is None:
            return number
        return f"{number} {one if counts[name] == 1 and not hidden else many or one + 's'}"

    text = COUNT.sub(fill, text)
    return "; ".join(part for part in (f"{about}: {text}" if about else text, cure) if part)


def _sentence(text: str) -> str:
    """Begin a text with a capital, unless it begins with a mention, and end it with a full stop."""
    return text and text[0].upper() + text[1:] + "." * (text[-1] not in ".?!")


def join_problems(problems: Sequence[str]) -> str:
    """Join all problems of one input into one text: at most ten, then the number of the others."""
    lines = list(problems[:MOST_PROBLEMS])
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"... and {len(problems) - MOST_PROBLEMS} more.")
    return "\n".join(lines)


def place_of(error: BaseException) -> str:
    """Return where an exception was raised, without its text, which may contain cells."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}" if trace else "?"
