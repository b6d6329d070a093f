"""A private temporary folder that is locked while in use and removed afterwards, even after a kill."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from shoal.errors import FileError

__all__ = ["PrivateFolder"]

STALE_SECONDS = 60  # an unlocked folder of this age belongs to a run that was killed


class PrivateFolder:
    """A folder below TMPDIR that only its owner can read; a context manager.

    Entering also removes the folders that killed runs left behind.
    """

    def __init__(self) -> None:
        self.path = Path()
        self._lock = -1

    def __enter__(self) -> Self:
        """Make the folder and lock it."""
        prefix = f"shoal-{os.getuid()}-"
        try:
            for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
                _sweep(folder)
            self.path = Path(tempfile.mkdtemp(prefix=prefix))
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        except OSError as error:
            raise FileError(f"{tempfile.gettempdir()}: cannot be written: {error.strerror}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the folder and release the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _sweep(folder: Path) -> None:
    """Remove the folder of a run that was killed: unlocked, and older than STALE_SECONDS."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        state = os.fstat(lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if state.st_uid == os.getuid() and time.time() - state.st_mtime > STALE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass
    finally:
        os.close(lock)
