"""Read and write the small text files that hold hierarchies."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from shoal.errors import FileError, InputError, UsageError

__all__ = ["read_bytes", "read_text", "write_text"]


def read_bytes(path: Path) -> bytes:
    """Return what is in a file."""
    try:
        if not path.exists():
            raise FileError(f"{path}: no such file.")
        if not path.is_file():
            raise FileError(f"{path}: not a regular file. Give the path of a hierarchy.")
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def read_text(path: Path, encoding: str) -> str:
    """Return the text of a file, without byte order mark."""
    raw = read_bytes(path)
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Common ones: utf-8, cp1252, latin-1, utf-16.") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not {encoding} ({error.reason}). Name the encoding; cp1252 is common."
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: beside its place first, then renamed."""
    try:
        mask = os.umask(0)
        os.umask(mask)
        handle, unfinished = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(unfinished, 0o666 & ~mask)
            os.replace(unfinished, path)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}.") from None
