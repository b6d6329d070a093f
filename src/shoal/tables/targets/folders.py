"""Folders that nobody else can put anything into: unpredictable, private, locked, and held by their descriptors."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from shoal.errors import FileError
from shoal.tables.targets import witness
from shoal.tables.targets.witness import Kind

__all__ = ["PrivateFolder", "WorkFolder", "hold_folder", "new_folder", "remove_leftover"]

LOCK = "lock"
STALE_SECONDS = 60  # an empty folder of this age, without a lock, belongs to a run that was killed
# Milliseconds between attempts to be the only run: two that begin at once both step back, each for a random time.
PAUSES = (10, 30, 60, 100, 200)
MOST_LINKS = 40
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A folder that may be passed through but not listed can still be held.
STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def hold_folder(path: Path) -> int:
    """Open a folder and return its descriptor.

    Each part of the path is opened by itself. A symbolic link that another user made in a folder that everyone can
    write to is refused, as the Linux kernel does where it is told to (fs.protected_symlinks).
    """
    parts = deque(path.parts or (".",))
    held = os.open(os.sep if path.is_absolute() else ".", STEP)
    n_links = 0
    try:
        while parts:
            part = parts.popleft()
            try:
                deeper = os.open(part, STEP, dir_fd=held)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                    raise
                target = _read_link(part, held, path)
                n_links += 1
                if target is None or n_links > MOST_LINKS:
                    raise OSError(errno.ENOTDIR if target is None else errno.ELOOP, "not a folder") from None
                if target.is_absolute():
                    os.close(held)
                    held = os.open(os.sep, STEP)
                parts.extendleft(reversed(target.parts))
                continue
            os.close(held)
            held = deeper
        try:
            readable = os.open(".", FOLDER, dir_fd=held)
        except PermissionError:
            return os.dup(held)
        return readable
    finally:
        os.close(held)


def _read_link(part: str, held: int, path: Path) -> Path | None:
    """Return where a symbolic link points to, None if it is none; refuse one that was planted."""
    link, folder = os.lstat(part, dir_fd=held), os.fstat(held)
    if not stat.S_ISLNK(link.st_mode):
        return None
    is_open_to_all = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if is_open_to_all and link.st_uid not in (os.geteuid(), folder.st_uid):
        raise FileError(
            f"{path}: {part} is a symbolic link that another user made in a folder that everyone can write to. Name "
            "the folder it points to, if you trust it."
        )
    return Path(os.readlink(part, dir_fd=held))


@contextmanager
def new_folder(path: Path) -> Iterator[None]:
    """Make a private folder and those above it, unless they exist; remove those that stay empty in the block.

    A folder that another user made in advance, where everyone can make folders, is refused: its owner could exchange
    every file in it.
    """
    missing = []
    for folder in (path, *path.parents):
        if os.path.lexists(folder):
            break
        missing.append(folder)
    try:
        for folder in reversed(missing):
            witness.current().opened(Kind.NEW_FOLDER, folder)
            try:
                folder.mkdir(mode=0o700, exist_ok=True)
            except OSError as error:
                raise FileError(f"{folder}: cannot be created: {error.strerror}.") from None
        _check_owner(path)
        yield
    finally:
        for folder in missing:
            with suppress(OSError):  # it has files, or was never made
                folder.rmdir()
            witness.current().closed(folder)


def _check_owner(path: Path) -> None:
    try:
        state, above = os.stat(path), os.stat(path.parent)
    except OSError as error:
        raise FileError(f"{path}: cannot be used: {error.strerror}.") from None
    if not stat.S_ISDIR(state.st_mode):
        raise FileError(f"{path}: is not a folder. Name another.")
    if above.st_mode & stat.S_IWOTH and state.st_uid not in (os.geteuid(), above.st_uid):
        raise FileError(f"{path}: belongs to another user, who could exchange its files. Name another folder.")


class WorkFolder:
    """A private folder for unfinished files; a context manager.

    Its name is unpredictable, it belongs to us and only we can enter it, or the run is refused. It is locked while in
    use. Entering removes what killed runs of the same prefix left. Folders of other users are not looked at: they can
    neither pass for ours nor keep us out.

    Attributes:
        path: The folder, by its descriptor where the system allows: it leads there even if a folder above is exchanged.
    """

    def __init__(self, parent: Path, prefix: str, *, held: int | None = None, busy: str = "") -> None:
        """Name the folder.

        Args:
            parent: The folder to make it in.
            prefix: How its name begins.
            held: The descriptor of the parent, if it is held already.
            busy: The message if another run has such a folder in use; empty if any number may be in use.
        """
        self.path = Path()
        self.descriptor = -1
        self._parent = parent
        self._prefix = prefix
        self._held = held
        self._busy = busy
        self._above = -1
        self._name = ""
        self._lock = -1

    def __enter__(self) -> Self:
        """Make the folder and lock it; clean up after killed runs."""
        self._above = hold_folder(self._parent) if self._held is None else os.dup(self._held)
        try:
            for pause in (*PAUSES, 0):
                self._make()
                if not self._sweep() or not self._busy:
                    return self
                self._remove()
                time.sleep((pause + secrets.randbelow(pause + 1)) / 1000)
            raise FileError(self._busy)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the folder and release the lock."""
        self._remove()
        if self._above >= 0:
            os.close(self._above)
            self._above = -1

    @property
    def location(self) -> Path:
        """The folder by its name, which another process can use too."""
        return self._parent / self._name

    def keep(self) -> Path:
        """Leave the folder where it is, for its owner to look into; return its path."""
        if self._name:
            os.unlink(LOCK, dir_fd=self.descriptor)  # without its lock, no later run removes it
            witness.current().closed(self._parent / self._name)
        kept, self._name = self._parent / self._name, ""
        return kept

    def _make(self) -> None:
        """Make a new folder and lock it; try again if another run took it for that of a killed one."""
        while True:
            self._name = self._prefix + secrets.token_hex(8)
            witness.current().opened(Kind.WORK_FOLDER, self._parent / self._name)
            os.mkdir(self._name, 0o700, dir_fd=self._above)
            try:
                self.descriptor = os.open(self._name, FOLDER, dir_fd=self._above)
                self._lock = self._lock_folder()
                state = os.lstat(self._name, dir_fd=self._above)
                if os.path.samestat(state, os.fstat(self.descriptor)) and os.fstat(self._lock).st_nlink:
                    break
            except (FileNotFoundError, BlockingIOError):
                pass
            self._remove()
        anchored = Path(f"/proc/self/fd/{self.descriptor}")
        try:
            is_anchored = os.path.samestat(os.stat(anchored), os.fstat(self.descriptor))
        except OSError:
            is_anchored = False
        self.path = anchored if is_anchored else self._parent / self._name

    def _lock_folder(self) -> int:
        state = os.fstat(self.descriptor)
        if state.st_uid != os.geteuid() or state.st_mode & 0o777 != 0o700:
            raise FileError(
                f"{self._parent}: a folder made there is not private: its file system does not keep owners and "
                "permissions. Write to another disk and copy the finished files."
            )
        lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=self.descriptor)
        try:
            os.write(lock, os.fsencode(self._name))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(lock)
            raise
        return lock

    def _sweep(self) -> bool:
        """Remove what killed runs left; return whether another run is at work."""
        try:
            names = [name for name in os.listdir(self._above) if name.startswith(self._prefix) and name != self._name]
        except OSError:  # a folder that may be written to but not listed
            return False
        in_use = [_in_use(name, self._above) for name in names]  # all of them: each is cleaned up
        return any(in_use)

    def _remove(self) -> None:
        if self._name:
            if self.descriptor >= 0:
                _empty(self.descriptor)
            _remove_same(self._name, self._above, self.descriptor)
            witness.current().closed(self._parent / self._name)
        for descriptor in (self._lock, self.descriptor):
            if descriptor >= 0:
                os.close(descriptor)
        self._name, self._lock, self.descriptor = "", -1, -1


class PrivateFolder(WorkFolder):
    """A work folder below TMPDIR, for what is not published as a file."""

    def __init__(self) -> None:
        super().__init__(Path(tempfile.gettempdir()), f"shoal-{os.geteuid()}-")

    def __enter__(self) -> Self:
        """Make the folder and lock it; clean up after killed runs."""
        try:
            return super().__enter__()
        except OSError as error:
            raise FileError(f"{self._parent}: cannot be written: {error.strerror}.") from None


def _in_use(name: str, above: int) -> bool:
    """Return whether a run holds this folder; if it is ours and a killed run left it, remove it."""
    try:
        folder = os.open(name, FOLDER, dir_fd=above)
    except OSError:  # not a folder, gone, or that of another user
        return False
    lock = -1
    try:
        if (state := os.fstat(folder)).st_uid != os.geteuid():
            return False
        lock = os.open(LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The lock names its folder, so that nobody can have us empty another folder of ours by renaming it.
        if os.read(lock, 4096) == os.fsencode(name):
            _empty(folder)
            _remove_same(name, above, folder)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        if time.time() - state.st_mtime > STALE_SECONDS:
            _remove_same(name, above, folder)  # only if it is empty
    except OSError:
        pass
    finally:
        os.close(folder)
        if lock >= 0:
            os.close(lock)
    return False


def _empty(folder: int) -> None:
    """Remove everything in a folder, the lock last; what cannot be removed stays."""
    try:
        names = sorted(os.listdir(folder), key=lambda name: name == LOCK)
    except OSError:
        return
    for name in names:
        try:
            if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
                inside = os.open(name, FOLDER, dir_fd=folder)
                try:
                    _empty(inside)
                finally:
                    os.close(inside)
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)
        except OSError:
            continue


def _remove_same(name: str, above: int, folder: int) -> None:
    """Remove an empty folder, unless another has taken its name."""
    try:
        if folder < 0 or os.path.samestat(os.lstat(name, dir_fd=above), os.fstat(folder)):
            os.rmdir(name, dir_fd=above)
    except OSError:
        pass


def remove_leftover(kind: Kind, path: Path) -> None:
    """Remove what a run had open when it ended at once."""
    try:
        if kind is Kind.FILE:
            path.unlink(missing_ok=True)
            return
        above = hold_folder(path.parent)
    except (OSError, FileError):
        return
    try:
        folder = os.open(path.name, FOLDER, dir_fd=above)
        try:
            if kind is Kind.WORK_FOLDER and os.fstat(folder).st_uid == os.geteuid():
                _empty(folder)
            _remove_same(path.name, above, folder)
        finally:
            os.close(folder)
    except OSError:
        pass
    finally:
        os.close(above)
