"""Small text files beside a release, such as a proposal or a chart: written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.errors import FileError, InputError, UsageError

__all__ = ["check_output", "write_output"]


def check_output(path: Path, suffix: str, what: str, *, source: Path | None = None, force: bool) -> None:
    """Refuse a path that must not be written, before the work begins; what: the sort of file, for the message."""
    if path.suffix.lower() != suffix:
        raise UsageError(f"{path}: the {what} file. Name an output that ends in {suffix}.")
    if source is not None and path.exists() and source.exists() and os.path.samefile(path, source):
        raise InputError(f"{path}: input and output are the same file. Name another output.")
    if path.is_dir():
        raise FileError(f"{path}: is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise FileError(f"{path.parent}: no such folder. Make it first.")
    if os.path.lexists(path) and not force:
        raise FileError(f"{path}: exists already. Name another output, or say --force to replace it.")


def write_output(path: Path, text: str) -> None:
    """Write a text under another name and rename it, so that the path holds all of it or what it held before."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        try:
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}.") from None
