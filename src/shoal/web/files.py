"""Files of a project: uploads with a limit that holds while they arrive, and the only files that settings may name."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, BinaryIO

from shoal.errors import FileError, UsageError
from shoal.hierarchy import is_file
from shoal.schema import unknown_column
from shoal.settings.fields import Form, Place
from shoal.settings.settings import FIELDS, Settings

__all__ = [
    "FILES",
    "MOST_BYTES",
    "MissingError",
    "TooLargeError",
    "Upload",
    "check_paths",
    "display_name",
    "make_private",
    "named_files",
    "receive_file",
    "with_files_in",
    "with_role",
]

FILES = "files"
MOST_BYTES = 20 << 30  # of a table
MOST_SMALL = 64 << 20  # of a hierarchy
LEFT_FREE = 256 << 20  # on the disk
LONGEST_NAME = 200  # bytes
PIECE = 1 << 20


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can enter, and those above it, unless they exist."""
    for each in reversed([folder, *folder.parents]):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


class MissingError(UsageError):
    """There is no project, run or file of this name."""


class TooLargeError(FileError):
    """An upload is larger than allowed, or than the disk has room for."""


def display_name(name: str) -> str:
    """Return the last part of a file name as it may be shown: no folder, no control character, not too long."""
    last = PureWindowsPath(PurePosixPath(name).name).name
    shown = "".join(letter for letter in last if unicodedata.category(letter)[0] != "C").strip()
    shown = shown.lstrip(".").replace(":", "_").encode("utf-8", "replace")[-LONGEST_NAME:].decode("utf-8", "ignore")
    return shown or "table"


class Upload:
    """A file that arrives in pieces; it exists under its final name only once it is complete."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        """Open a new file.

        Args:
            path: Where the file goes.
            most_bytes: The most that it may have.
        """
        make_private(path.parent)
        self.path = path
        self.n_bytes = 0
        self._most = most_bytes
        self._part = path.with_name(path.name + ".part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.fdopen(os.open(self._part, flags, 0o600), "wb", buffering=1 << 20)
        self._checked = 0

    def write(self, piece: bytes) -> None:
        """Take the next piece; costs what writing it costs.

        Raises:
            TooLargeError: There are more bytes than allowed, or the disk is nearly full. The file is gone then.
        """
        self.n_bytes += len(piece)
        if self.n_bytes > self._most:
            self.abort()
            raise TooLargeError(f"the file is larger than {self._most >> 20:,} MB, the limit of this server.")
        if self.n_bytes - self._checked > 1 << 26 or not self._checked:
            self._checked = self.n_bytes
            if shutil.disk_usage(self.path.parent).free < LEFT_FREE:
                self.abort()
                raise TooLargeError("the disk of this server is nearly full. Make room, and send the file again.")
        self._file.write(piece)

    def finish(self, *, may_be_empty: bool = False) -> Path:
        """Give the complete file its name."""
        self._file.close()
        if self.n_bytes == 0 and not may_be_empty:
            self.abort()
            raise UsageError("the file is empty. Send a table.")
        self._part.replace(self.path)
        return self.path

    def abort(self) -> None:
        """Delete what has arrived."""
        self._file.close()
        self._part.unlink(missing_ok=True)


def receive_file(stream: BinaryIO | Iterable[bytes], filename: str, folder: Path) -> str:
    """Store a small file under the last part of its name; return that name."""
    name = display_name(filename)
    if name.startswith("."):
        raise UsageError("the name of a file must not begin with a dot.")
    upload = Upload(folder / name, MOST_SMALL)
    pieces: Any = iter(lambda: stream.read(PIECE), b"") if hasattr(stream, "read") else stream
    try:
        for piece in pieces:
            upload.write(piece)
        upload.finish()
    except BaseException:
        upload.abort()
        raise
    return name


def check_paths(settings: Settings, folder: Path) -> None:
    """Refuse settings that name a file other than those of the project.

    Raises:
        UsageError: A hierarchy or the population lies elsewhere, or does not exist.
    """
    named = [*settings.hierarchies.values(), settings.population]
    for path in (Path(os.fspath(each)) for each in named if is_file(each)):
        if path.parent != folder / FILES or path.is_symlink() or not path.is_file():
            raise UsageError("a setting names a file that the project does not have. Add it to the project first.")


def _with_paths(settings: Settings, change: Any) -> Settings:
    hierarchies = {name: change(rule) if is_file(rule) else rule for name, rule in settings.hierarchies.items()}
    population = change(settings.population) if is_file(settings.population) else settings.population
    return replace(settings, hierarchies=hierarchies, population=population)


def named_files(settings: Settings) -> Settings:
    """Return settings whose paths start from the folder of their shoal.toml, beside which the files are."""
    return _with_paths(settings, lambda path: Path(FILES) / Path(path).name)


def with_files_in(settings: Settings, folder: Path) -> Settings:
    """Return settings whose files are those of a project, whatever folder they named."""
    return _with_paths(settings, lambda path: folder / FILES / Path(path).name)


def with_role(settings: Settings, columns: Sequence[str], role: str, names: Sequence[str]) -> Settings:
    """Return the settings with another role for some columns; whoever had a role of one column alone is dropped.

    Args:
        settings: The settings.
        columns: The columns.
        role: As in shoal.toml: "qi", "sensitive", "insensitive", "identifier", "person" or "k".
        names: The columns of the table.
    """
    roles = {field.key: field for field in FIELDS if field.place is Place.ROLE}
    if role not in roles:
        raise UsageError(f"there is no role {role!r}. Use {', '.join(roles)}.")
    if lost := [name for name in columns if name not in names]:
        raise UsageError(unknown_column(lost[0], names))
    if roles[role].form is not Form.NAMES and len(columns) > 1:
        raise UsageError(f"only one column can have the role {role!r}.")
    given: dict[str, Any] = {roles[role].name: columns if roles[role].form is Form.NAMES else columns[0]}
    return Settings(**given).over(settings) if columns else settings
