"""The standard streams: a private copy of standard input; output that may fail without ending a command."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from shoal.errors import FileError, UsageError
from shoal.tables.formats.writers import create
from shoal.tables.targets.folders import PrivateFolder

__all__ = ["TolerantStream", "spool_input", "spooling", "tolerant_streams"]

BLOCK_BYTES = 1 << 20
_spools: list[contextlib.ExitStack] = []  # that of the command that runs; it holds the copy of standard input


@contextlib.contextmanager
def spooling() -> Iterator[None]:
    """Remove the copy of standard input that `spool_input` makes in the block."""
    with contextlib.ExitStack() as stack:
        _spools[:] = [stack]
        try:
            yield
        finally:
            _spools.clear()


def spool_input() -> Path:
    """Copy standard input to a file that only its owner can read; return its path.

    A file can be read more than once: by the reader, and again by the verifier.
    """
    if not _spools:
        raise UsageError("- is named twice, but standard input can be read only once. Name a file for one of the two.")
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FileError("standard input: cannot be read: it is closed.")
    private = _spools.pop().enter_context(PrivateFolder())
    path = private.path / "standard-input"
    try:
        with create(path) as file:
            shutil.copyfileobj(stream, file, BLOCK_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is closed"
        raise FileError(f"standard input: cannot be copied to {private.path}: {reason}.") from None
    return path


class TolerantStream:
    """A text stream that remembers its first failure and drops what follows.

    Attributes:
        lost: The failure; None if everything was written.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.lost: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or drop the text."""
        if self.lost is None:
            try:
                return self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Flush, unless the stream has failed."""
        if self.lost is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.lost = error
        with contextlib.suppress(OSError, ValueError):  # not a file, as under a test
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # what is still in the buffer goes there
            os.close(nowhere)


@contextlib.contextmanager
def tolerant_streams() -> Iterator[TolerantStream]:
    """Replace the standard streams by tolerant ones; yield that of standard output."""
    before = sys.stdout, sys.stderr
    out, err = TolerantStream(before[0]), TolerantStream(before[1])
    sys.stdout, sys.stderr = out, err
    try:
        yield out
    finally:
        err.flush()
        sys.stdout, sys.stderr = before
