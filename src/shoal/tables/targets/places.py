"""The final paths of a command: checked before the work, locked, and published together or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from shoal.errors import FileError, InputError, UsageError, setting
from shoal.tables.targets import witness
from shoal.tables.targets.folders import WorkFolder, hold_folder
from shoal.tables.targets.moves import Held, Move, publish

__all__ = ["Place", "check_distinct", "publish_together"]

NAME_BYTES = 255  # the limit of most file systems, where the system does not tell


class Place:
    """One output, with the files beside it in the same folder; a context manager.

    Entering checks every path, locks the output against other runs and makes a private folder for what is unfinished.
    Leaving it removes that folder. The folder of the output is held by its descriptor in between, so that nobody can
    redirect the files by exchanging a folder above.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        beside: Sequence[Path] = (),
        *,
        inputs: Iterable[Path] = (),
        force: bool = False,
    ) -> None:
        """Name the output; entering checks it.

        Args:
            path: The file to write, after which the lock is named.
            beside: Further files in the same folder.
            inputs: The files that the command reads, none of which may be replaced.
            force: Whether to replace files that exist.
        """
        self.path = Path(path)
        self.finals = (self.path, *beside)
        self.force = force
        self.held = -1
        self._inputs = tuple(inputs)
        self._work: WorkFolder | None = None

    def __enter__(self) -> Self:
        """Check the paths, take the lock and make the private folder."""
        try:
            self._hold()
            for final in self.finals:
                self._check(final)
            self._work = self._open_work()
        except BaseException as error:
            self._work = None
            self.__exit__(None, None, None)
            if isinstance(error, OSError):
                raise FileError(f"{self.path}: cannot be written: {error.strerror}.") from None
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the private folder and release the lock."""
        if self._work is not None:
            self._work.__exit__(kind, error, trace)
            self._work = None
        if self.held >= 0:
            os.close(self.held)
            self.held = -1

    def _open_work(self) -> WorkFolder:
        """Make the private folder; its name tells which output it belongs to, but not its random part."""
        digest = hashlib.sha256(os.fsencode(self.path.name)).hexdigest()[:16]
        busy = f"{self.path}: another run is writing it. Wait for it, or name another output."
        return WorkFolder(self.path.parent, f".shoal-{digest}-", held=self.held, busy=busy).__enter__()

    @property
    def folder(self) -> Path:
        """A private folder for unfinished files."""
        return self.work.path

    @property
    def work(self) -> WorkFolder:
        """The private folder, open."""
        assert self._work is not None, "the place is not open"
        return self._work

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""
        return self.folder / name

    def move(self, unfinished: Held, final: Path, *, private: bool = False) -> Move:
        """Plan the way of a finished file of the private folder to its place.

        Args:
            unfinished: The file.
            final: One of the paths of this place.
            private: Whether only its owner may read it.
        """
        return Move(unfinished, final, self.held, self.work, self.force, private)

    def _hold(self) -> None:
        """Hold the folder of the output."""
        try:
            self.held = hold_folder(self.path.parent)
        except FileNotFoundError:
            raise FileError(f"{self.path.parent}: no such folder. Make it first.") from None
        except NotADirectoryError:
            raise FileError(f"{self.path.parent}: is not a folder. Name another output.") from None
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=self.held, effective_ids=True):
            raise FileError(f"{self.path.parent}: no files can be made there. Name another folder, or ask its owner.")

    def _check(self, final: Path) -> None:
        """Refuse a path that must not be written."""
        _check_length(final, self.held)
        try:
            entry = os.lstat(final.name, dir_fd=self.held)
        except FileNotFoundError:
            return
        try:
            state = os.stat(final.name, dir_fd=self.held)
        except FileNotFoundError:  # a symbolic link to nothing
            state = entry
        for path in self._inputs:
            try:
                is_same = os.path.samestat(os.stat(path), state)
            except (OSError, ValueError):
                continue
            if is_same:
                raise InputError(f"{final}: input and output are the same file. Name another {setting('output')}.")
        if stat.S_ISDIR(state.st_mode):
            raise FileError(f"{final}: is a folder. Name a file in it.")
        if not (stat.S_ISREG(state.st_mode) or stat.S_ISLNK(state.st_mode)):
            raise FileError(f"{final}: is not a regular file.")
        if not self.force:
            raise FileError(f"{final}: exists already. Name another output, or pass {setting('force', True)}.")
        if state is not entry and not os.access(final.name, os.W_OK, dir_fd=self.held, effective_ids=True):
            raise FileError(f"{final}: is write-protected. Name another output.")
        above = os.fstat(self.held)
        if above.st_mode & stat.S_ISVTX and os.geteuid() not in (0, entry.st_uid, above.st_uid):
            raise FileError(f"{final}: belongs to another user and cannot be replaced there. Name another output.")


def _check_length(final: Path, held: int) -> None:
    """Refuse a name that the file system cannot store."""
    try:
        most = os.fpathconf(held, "PC_NAME_MAX")
    except OSError:
        most = NAME_BYTES
    length = len(os.fsencode(final.name))
    if length > most > 0:
        raise FileError(
            f"{final}: the name is too long: {length} bytes, of which the file system stores {most}. Name a shorter "
            "output."
        )


def check_distinct(places: Iterable[Place]) -> None:
    """Refuse two outputs in the same file, also where the file system ignores case or the form of accents."""
    seen: dict[tuple[int, int, str], Path] = {}
    for place in places:
        above = os.fstat(place.held)
        for final in place.finals:
            name = unicodedata.normalize("NFC", final.name).casefold()
            other = seen.setdefault((above.st_dev, above.st_ino, name), final)
            if other is not final:
                raise UsageError(f"{final}: is a file of another output. Name another.")


def publish_together(moves: Sequence[Move]) -> None:
    """Bring finished files to their places: all of them or none; a failure leaves everything as it was."""
    publish(moves, witness.current())
