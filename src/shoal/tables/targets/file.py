"""Where a release is written: locked, checked before the work begins, and left as it was unless all goes well."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TextIO

from shoal.errors import FileError, InputError, UsageError
from shoal.tables.formats.sniff import Format, output_format
from shoal.tables.formats.writers import check_extra

__all__ = ["Beside", "Stream", "Target"]

STALE_SECONDS = 60  # a folder this old that nobody has locked belongs to a run that was killed


class Target:
    """A path to be written once, all or nothing; a context manager.

    Inside, a private folder beside the path holds what is not finished. It is locked, so that no second run writes to
    the same path, and it is gone at the end; one that a killed run left behind is taken over and emptied.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        source: Path | None = None,
        committing: Callable[[], None] = lambda: None,
    ) -> None:
        """source: the input of the run, which the path must not name. committing: called before files move."""
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
        """Remove the private folder and give the lock back."""
        self._release()

    @property
    def place(self) -> str:
        """The path, for messages."""
        return str(self.path)

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""
        return self.folder / name

    def publish(self, files: Sequence[tuple[Path, Path]], private: Collection[Path] = ()) -> None:
        """Bring finished files (unfinished path, final path) to their places, in this order, safe on the disk.

        private: final paths of those that their owner alone may read.
        """
        mask = os.umask(0)
        os.umask(mask)
        try:
            for unfinished, final in files:
                os.chmod(unfinished, 0o600 if final in private else 0o666 & ~mask)
                _sync(unfinished)
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
        if self.format is Format.EXCEL:
            check_extra()

    def _check_path(self, path: Path) -> None:
        """Refuse a path that must not be written."""
        named = self._source is not None and self._source.exists() and path.exists()
        if named and os.path.samefile(path, str(self._source)):
            raise InputError(f"{path}: input and output are the same file. Name another output with -o.")
        if path.is_dir():
            raise FileError(f"{path}: is a folder. Name a file in it.")
        if path.exists() and not path.is_file():
            raise FileError(f"{path}: is not a regular file.")
        if not path.parent.is_dir():
            raise FileError(f"{path.parent}: no such folder. Make it first.")
        if os.path.lexists(path) and not self._force:
            raise FileError(f"{path}: exists already. Name another output, or say --force to replace it.")
        if path.exists() and not os.access(path, os.W_OK):
            raise FileError(f"{path}: is write-protected. Name another output.")

    def _acquire(self) -> None:
        """Lock the private folder; try again if another run removed it between making and locking it."""
        while True:
            try:
                self.folder.mkdir(mode=0o700)
            except FileExistsError:
                if self.folder.is_symlink() or not self.folder.is_dir():
                    raise FileError(f"{self.folder}: stands in the way. Remove it.") from None
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
        for left_behind in self.folder.iterdir():
            left_behind.unlink()
        probe = self.folder / "probe"  # a folder may be made where no file can be
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600))
        probe.unlink()

    def _release(self) -> None:
        if self._lock >= 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


class Beside(Target):
    """The report of a release, in its parts: written with the release or not at all; a context manager.

    path: of the public page. Its JSON twin stands beside it, and so does the private part, NAME.private.html and .json.
    """

    @property
    def public(self) -> tuple[Path, Path]:
        """The page and its JSON twin."""
        return self.path, self.path.with_suffix(".json")

    @property
    def private(self) -> tuple[Path, Path]:
        """The same of the private part."""
        return self.path.with_suffix(".private.html"), self.path.with_suffix(".private.json")

    def _check(self) -> None:
        if self.path.suffix.lower() != ".html":
            raise UsageError(f"{self.path}: a report is an HTML file. Name one that ends in .html.")
        for path in (*self.public, *self.private):
            self._check_path(path)


class Stream:
    """A release for standard output: made and verified in a private folder, then copied; a context manager.

    The folder is below TMPDIR, locked while it is in use and gone at the end; those of killed runs are swept.
    """

    def __init__(self, stream: BinaryIO | None = None) -> None:
        """stream: where the release goes; None: standard output."""
        self.path = Path("-")
        self.format = Format.CSV
        self.folder = Path()
        self._stream = stream
        self._lock = -1

    def __enter__(self) -> Self:
        """Make the private folder."""
        prefix = f"shoal-{os.getuid()}-"
        try:
            for stale in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
                _sweep(stale)
            self.folder = Path(tempfile.mkdtemp(prefix=prefix))
            self._lock = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise FileError(f"{tempfile.gettempdir()}: cannot be written: {error.strerror}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the private folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)

    @property
    def place(self) -> str:
        """The stream, for messages."""
        return str(self.path)

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""
        return self.folder / name

    def publish(self, finished: Path) -> None:
        """Copy a finished file to the stream; a reader that goes away is a BrokenPipeError."""
        with open(finished, "rb") as file:
            handle = None if self._stream is not None else _descriptor(sys.stdout)
            if handle is None:
                stream = self._stream or sys.stdout.buffer
                shutil.copyfileobj(file, stream)
                stream.flush()
                return
            # Straight to the descriptor: nothing is left in a buffer for a reader that went away.
            sys.stdout.flush()
            while block := file.read(1 << 20):
                _write_all(handle, block)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # not a file, as under a test
        return None


def _write_all(handle: int, block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[os.write(handle, view) :]


def _sweep(folder: Path) -> None:
    """Remove the private folder of a run that is gone: nobody holds its lock, and it has stood for a minute."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        found = os.fstat(lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if found.st_uid == os.getuid() and time.time() - found.st_mtime > STALE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass
    finally:
        os.close(lock)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
