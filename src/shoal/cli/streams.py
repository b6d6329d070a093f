"""Standard output and standard error that may fail: a reader that is gone, or a full disk, must not end a command."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

__all__ = ["TolerantStream", "tolerant_streams"]


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
