"""A release for standard output, and the target of a dry run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TextIO

from shoal.tables.formats.sniff import Format
from shoal.tables.targets import witness
from shoal.tables.targets.base import StagedFile
from shoal.tables.targets.folders import PrivateFolder
from shoal.tables.targets.moves import Move

__all__ = ["StreamTarget"]

BLOCK_BYTES = 1 << 20


class StreamTarget(StagedFile):
    """A release made and verified in a private folder, then copied to a stream; see `Target` for the methods."""

    files = None
    name = place = "-"
    format = Format.CSV

    def __init__(self, stream: BinaryIO | None = None) -> None:
        """Name the stream; None means standard output."""
        self._stream = stream
        self._private = PrivateFolder()

    def __enter__(self) -> Self:
        """Make the private folder."""
        self._private.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the private folder."""
        self._private.__exit__(kind, error, trace)

    @property
    def folder(self) -> Path:
        """The private folder."""
        return self._private.path

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""
        return self.folder / name

    def publish(self, beside: Sequence[Move] = (), remark: str = "") -> None:
        """Copy the file to the stream; raise a BrokenPipeError if its reader is gone."""
        assert self._written is not None, "nothing was written"
        self._written.check()
        witness.current().streaming()
        with open(self._written.descriptor, "rb", closefd=False) as file:
            file.seek(0)
            descriptor = None if self._stream is not None else _descriptor(sys.stdout)
            if descriptor is None:
                stream = self._stream or sys.stdout.buffer
                shutil.copyfileobj(file, stream)
                stream.flush()
                return
            # Straight to the descriptor, so that no buffer keeps data for a reader that is gone.
            sys.stdout.flush()
            while block := file.read(BLOCK_BYTES):
                _write_all(descriptor, block)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # not a file, as under a test
        return None


def _write_all(descriptor: int, block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[os.write(descriptor, view) :]
