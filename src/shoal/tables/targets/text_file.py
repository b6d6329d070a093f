"""Text files that are not releases: checked before the work begins, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.errors import FileError, InputError, UsageError

__all__ = ["check_text_target", "write_text"]


def check_text_target(path: Path, *, suffix: str, what: str, source: Path | None = None, force: bool = False) -> None:
    """Refuse a path that must not be written; source: the input of the run; what: "the proposal is a TOML file"."""
    if path.suffix.lower() != suffix:
        raise UsageError(f"{path}: {what}. Name an output that ends in {suffix}.")
    if source is not None and path.exists() and source.exists() and os.path.samefile(path, source):
        raise InputError(f"{path}: input and output are the same file. Name another output.")
    if path.is_dir():
        raise FileError(f"{path}: is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise FileError(f"{path.parent}: no such folder. Make it first.")
    if os.path.lexists(path) and not force:
        raise FileError(f"{path}: exists already. Name another, or say --force to replace it.")


def write_text(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Write a text file whole or not at all; one that exists is replaced."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        try:
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}.") from None
