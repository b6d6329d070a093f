"""Text files that are not releases: checked before the work begins, written completely or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from shoal.errors import FileError, InputError, UsageError, setting

__all__ = ["check_text_target", "new_file_mode", "write_text"]


def check_text_target(path: Path, *, suffix: str, what: str, source: Path | None = None, force: bool = False) -> None:
    """Refuse a path that must not be written.

    Args:
        path: The file to write.
        suffix: The ending that its name must have.
        what: The rule behind the ending, for the message: "the proposal is a TOML file".
        source: The input of the run, which must not be the same file.
        force: Whether to replace a file that exists.
    """
    if path.suffix.lower() != suffix:
        raise UsageError(f"{path}: {what}. Name an output that ends in {suffix}.")
    if source is not None and path.exists() and source.exists() and os.path.samefile(path, source):
        raise InputError(f"{path}: input and output are the same file. Name another output.")
    if path.is_dir():
        raise FileError(f"{path}: is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise FileError(f"{path.parent}: no such folder. Make it first.")
    if os.path.lexists(path) and not force:
        raise FileError(f"{path}: exists already. Name another, or pass {setting('force', True)} to replace it.")


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all; a file that exists is replaced.

    Only its owner can read it (mode 0600): hierarchies, proposals and comparisons contain values or figures of the
    original. What may be published is published by a `Target`.

    Args:
        path: The file to write.
        text: Its content. Line feeds are written as they are.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        try:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}.") from None


def new_file_mode(folder: Path) -> int:
    """Return the permissions of a new file in a folder: what the umask of the process leaves.

    The umask itself can only be read by changing it, which other threads would notice.
    """
    probe = folder / f"mode-{secrets.token_hex(4)}"
    descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        return os.fstat(descriptor).st_mode & 0o777
    finally:
        os.close(descriptor)
        probe.unlink()
