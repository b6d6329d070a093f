"""A release as a file: the place is locked and checked first, and left as it was unless everything succeeds."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from shoal.errors import FileError, InputError, UsageError, setting
from shoal.tables.formats.sniff import Format, output_format
from shoal.tables.targets.base import StagedFile
from shoal.tables.targets.text_file import new_file_mode

__all__ = ["FileTarget", "ReportTarget"]


class FileTarget(StagedFile):
    """A path that is written once, completely or not at all; see `Target` for the methods.

    A private folder beside the path contains what is unfinished. It is locked, so that no second run writes to the same
    path, and removed at the end. A folder that a killed run left behind is emptied and used again.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        source: Path | None = None,
        committing: Callable[[], None] | None = None,
    ) -> None:
        """Name the path; entering the target checks it.

        Args:
            path: The file to write.
            force: Whether to replace a file that exists.
            source: The input of the run, which must not be the same file.
            committing: Called just before the finished files are moved to their places.
        """
        self.path = Path(path)
        self.folder = self.path.parent / f".{self.path.name}.shoal"
        self.format = Format.CSV  # until the path is checked
        self._force = force
        self._source = source
        self._committing = committing
        self._lock = -1

    def __enter__(self) -> Self:
        """Check the path, take the lock and make the private folder."""
        try:
            self._check()
            self._acquire()
        except OSError as error:
            self._release()
            raise FileError(f"{self.path}: cannot be written: {error.strerror}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the private folder and release the lock."""
        self._release()

    @property
    def place(self) -> str:
        """The path, for messages."""
        return str(self.path)

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""
        return self.folder / name

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def publish(
        self, beside: Sequence[tuple[Path, Path]] = (), private: Collection[Path] = (), remark: str = ""
    ) -> None:
        """Move all finished files to their places, in order, and flush them to the disk."""
        release = [] if self._written is None else [(self._written, self.path)]
        files = [*release, *beside]
        try:
            mode = new_file_mode(self.folder)
            for unfinished, final in files:
                os.chmod(unfinished, 0o600 if final in private else mode)
                _sync(unfinished)
            if self._committing is not None:
                self._committing()
            for unfinished, final in files:
                os.replace(unfinished, final)
            for folder in dict.fromkeys(final.parent for _, final in files):
                _sync(folder)
        except OSError as error:
            raise FileError(f"{self.path}: cannot be written: {error.strerror}.") from None

    def _check(self) -> None:
        self._check_path(self.path)
        self.format = output_format(self.path)

    def _check_path(self, path: Path) -> None:
        """Refuse a path that must not be written."""
        named = self._source is not None and self._source.exists() and path.exists()
        if named and os.path.samefile(path, str(self._source)):
            raise InputError(f"{path}: input and output are the same file. Name another {setting('output')}.")
        if path.is_dir():
            raise FileError(f"{path}: is a folder. Name a file in it.")
        if path.exists() and not path.is_file():
            raise FileError(f"{path}: is not a regular file.")
        if not path.parent.is_dir():
            raise FileError(f"{path.parent}: no such folder. Make it first.")
        if os.path.lexists(path) and not self._force:
            raise FileError(f"{path}: exists already. Name another output, or pass {setting('force', True)}.")
        if path.exists() and not os.access(path, os.W_OK):
            raise FileError(f"{path}: is write-protected. Name another output.")

    def _acquire(self) -> None:
        """Lock the private folder; try again if another run removed it between making and locking it."""
        while True:
            try:
                self.folder.mkdir(mode=0o700)
            except FileExistsError:
                if self.folder.is_symlink() or not self.folder.is_dir():
                    raise FileError(f"{self.folder}: is in the way. Remove it.") from None
            try:
                lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(lock)
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                raise FileError(
                    f"{self.path}: another run is writing it. Wait for it, or name another output."
                ) from None
            try:
                if os.path.samestat(os.fstat(lock), os.stat(self.folder)):
                    self._lock = lock
                    break
            except FileNotFoundError:
                pass
            os.close(lock)
        for leftover in self.folder.iterdir():
            leftover.unlink()
        probe = self.folder / "probe"  # some file systems allow folders but no files
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600))
        probe.unlink()

    def _release(self) -> None:
        if self._lock >= 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


class ReportTarget(FileTarget):
    """The report of a release, published together with the release or not at all.

    The path is that of the public page. Beside it are its JSON version and the private part: NAME.private.html and
    NAME.private.json.
    """

    @property
    def public(self) -> tuple[Path, Path]:
        """The public page and its JSON version."""
        return self.path, self.path.with_suffix(".json")

    @property
    def private(self) -> tuple[Path, Path]:
        """The private page and its JSON version."""
        return self.path.with_suffix(".private.html"), self.path.with_suffix(".private.json")

    def _check(self) -> None:
        if self.path.suffix.lower() != ".html":
            raise UsageError(f"{self.path}: a report is an HTML file. Name a file that ends in .html.")
        for path in (*self.public, *self.private):
            self._check_path(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
