"""Finished files on their way to their places: the bytes that were checked, all files or none."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from shoal.errors import FileError, VerificationError, setting
from shoal.tables.targets.folders import WorkFolder
from shoal.tables.targets.witness import Witness

__all__ = ["Held", "Move", "new_file_mode", "publish"]


class Held:
    """An unfinished file, held by its descriptor from the moment that its bytes are checked.

    Attributes:
        path: Where it is.
        descriptor: The open file.
        sha256: The hash of its bytes.
    """

    def __init__(self, path: Path) -> None:
        """Open the file and hash it; refuse one that we did not make ourselves."""
        self.path = path
        self.descriptor = -1
        self.descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        state = os.fstat(self.descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid() or state.st_nlink != 1:
            raise _exchanged()
        self.sha256 = self._digest()

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)

    def check(self) -> None:
        """Raise a VerificationError if the bytes are not those that were checked."""
        if self._digest() != self.sha256:
            raise _exchanged()

    def is_at(self, name: str, folder: int) -> bool:
        """Return whether a name in a folder stands for this very file."""
        try:
            return os.path.samestat(os.lstat(name, dir_fd=folder), os.fstat(self.descriptor))
        except FileNotFoundError:
            return False

    def _digest(self) -> str:
        with open(self.descriptor, "rb", closefd=False) as file:
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()


def _exchanged() -> VerificationError:
    return VerificationError(
        "an unfinished file was exchanged or changed while it was checked; nothing was written. Write to a folder that "
        "only you can change."
    )


class Move:
    """The way of one file to its place, and back."""

    def __init__(self, held: Held, final: Path, above: int, work: WorkFolder, force: bool, private: bool) -> None:
        """Plan the way.

        Args:
            held: The unfinished file, in the work folder.
            final: Its place.
            above: The descriptor of the folder of its place.
            work: The work folder.
            force: Whether to replace a file that exists.
            private: Whether only its owner may read it.
        """
        self.held = held
        self.final = final
        self.above = above
        self.work = work
        self._force = force
        self._private = private
        self._old = ""  # the name in the work folder of the file that was replaced
        self._changed = 0

    def prepare(self) -> None:
        """Flush the file to the disk and compare its bytes with those that were checked."""
        os.fchmod(self.held.descriptor, 0o600 if self._private else new_file_mode(self.work.descriptor))
        os.fsync(self.held.descriptor)
        self._changed = os.fstat(self.held.descriptor).st_ctime_ns
        self.held.check()

    def go(self) -> None:
        """Move the file to its place."""
        source, name = self.held.path.name, self.final.name
        state = os.fstat(self.held.descriptor)
        if not self.held.is_at(source, self.work.descriptor) or state.st_ctime_ns != self._changed:
            raise _exchanged()
        if self._force:
            self._save_old()
            os.rename(source, name, src_dir_fd=self.work.descriptor, dst_dir_fd=self.above)
        else:
            self._go_where_nothing_is(source, name)
        if not self.held.is_at(name, self.above):
            raise _exchanged()

    def _go_where_nothing_is(self, source: str, name: str) -> None:
        """Move the file; refuse a place that was taken since it was checked."""
        folders = {"src_dir_fd": self.work.descriptor, "dst_dir_fd": self.above}
        try:
            os.link(source, name, **folders, follow_symlinks=False)  # unlike a rename, never replaces a file
            os.unlink(source, dir_fd=self.work.descriptor)
            return
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            if not _exists(name, self.above):
                os.rename(source, name, **folders)
                return
        raise FileError(
            f"{self.final}: was made by someone else in the meantime. Name another output, or pass "
            f"{setting('force', True)}."
        )

    def _save_old(self) -> None:
        """Save the file that is about to be replaced."""
        if not _exists(self.final.name, self.above):
            return
        old = f"old-{secrets.token_hex(4)}"
        try:
            os.link(self.final.name, old, src_dir_fd=self.above, dst_dir_fd=self.work.descriptor, follow_symlinks=False)
        except OSError:  # a file system without links
            _copy(self.final.name, self.above, old, self.work.descriptor)
        self._old = old

    def undo(self) -> bool:
        """Take the file back and restore the one before; return whether that succeeded."""
        try:
            if not self.held.is_at(self.final.name, self.above):
                return True
            if self._old:
                os.rename(self._old, self.final.name, src_dir_fd=self.work.descriptor, dst_dir_fd=self.above)
            else:
                os.unlink(self.final.name, dir_fd=self.above)
        except OSError:
            return False
        return True


def publish(moves: Sequence[Move], witness: Witness) -> None:
    """Bring finished files to their places: all of them or none; a failure leaves everything as it was."""
    failed = moves[0].final
    try:
        for move in moves:
            failed = move.final
            move.prepare()
        witness.committing()
        begun: list[Move] = []
        try:
            for move in moves:
                failed = move.final
                begun.append(move)
                move.go()
            for above in {move.above for move in moves}:
                _flush(above)
        except BaseException:
            _undo(begun)
            witness.withdrawn()
            raise
    except OSError as error:
        raise FileError(f"{failed}: cannot be written: {error.strerror}.") from None
    witness.committed()


def _undo(moves: Sequence[Move]) -> None:
    """Take back what was moved; if even that fails, say what is where."""
    lost = [move for move in reversed(moves) if not move.undo()]
    if lost:
        places = ", ".join(str(move.final) for move in lost)
        kept = ", ".join(dict.fromkeys(str(move.work.keep()) for move in lost))
        raise FileError(
            f"{places}: cannot be written, and cannot be put back either. What was there before, and what is "
            f"unfinished, is in {kept}."
        )


def new_file_mode(folder: int) -> int:
    """Return the permissions of a new file in a folder, by its descriptor: what the umask of the process leaves.

    The umask itself can only be read by changing it, which other threads would notice.
    """
    probe = f"mode-{secrets.token_hex(4)}"
    descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        return os.fstat(descriptor).st_mode & 0o777
    finally:
        os.close(descriptor)
        os.unlink(probe, dir_fd=folder)


def _exists(name: str, folder: int) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def _copy(name: str, above: int, copy: str, folder: int) -> None:
    """Copy a file with its permissions and times, where a link cannot be made."""
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    with open(source, "rb") as original:
        state = os.fstat(source)
        target = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
        with open(target, "wb") as copied:
            shutil.copyfileobj(original, copied)
            os.fchmod(target, stat.S_IMODE(state.st_mode))
            copied.flush()
            os.utime(target, ns=(state.st_atime_ns, state.st_mtime_ns))


def _flush(folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in (errno.EBADF, errno.EINVAL):  # a folder that cannot be read, or that is never flushed
            raise
