"""Text files that are not releases: checked before the work begins, written together or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from shoal.errors import FileError, UsageError
from shoal.tables.targets import witness
from shoal.tables.targets.moves import Held
from shoal.tables.targets.places import Place, check_distinct, publish_together
from shoal.tables.targets.witness import Kind

__all__ = ["TextFiles", "check_suffix", "store_text", "write_text"]


def check_suffix(path: Path, suffix: str, what: str) -> None:
    """Refuse a path with another ending.

    Args:
        path: The file to write.
        suffix: The ending that its name must have.
        what: The rule behind the ending, for the message: "the proposal is a TOML file".
    """
    if path.suffix.lower() != suffix:
        raise UsageError(f"{path}: {what}. Name an output that ends in {suffix}.")


class TextFiles:
    """The text files that a command writes; a context manager around its work.

    Entering checks and locks all of them, so that nothing is computed in vain. Leaving it without `write` leaves
    everything as it was.

    Only their owner can read them (mode 0600): hierarchies, proposals and comparisons contain values or figures of the
    original. What may be published is published by a `Target`.
    """

    def __init__(self, paths: Iterable[Path | None], *, inputs: Iterable[Path] = (), force: bool = False) -> None:
        """Name the files; entering checks them.

        Args:
            paths: The files; None stands for one that the user did not name.
            inputs: The files that the command reads, none of which may be replaced.
            force: Whether to replace files that exist.
        """
        read = tuple(inputs)
        self._places = {path: Place(path, inputs=read, force=force) for path in paths if path is not None}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Check and lock all files."""
        with ExitStack() as stack:
            for place in self._places.values():
                stack.enter_context(place)
            check_distinct(self._places.values())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what is unfinished."""
        self._stack.close()

    def write(self, texts: Mapping[Path, str], *, public: Collection[Path] = ()) -> None:
        """Write the files: all of them or none.

        Args:
            texts: The content of each file; line feeds are written as they are.
            public: Those of them that others may read, as far as the umask allows.
        """
        moves = []
        for path, text in texts.items():
            place = self._places[path]
            unfinished = place.temporary("text")
            try:
                _create(unfinished, text)
            except OSError as error:
                raise FileError(f"{path}: cannot be written: {error.strerror}.") from None
            moves.append(place.move(Held(unfinished), path, private=path not in public))
        if moves:
            publish_together(moves)


def write_text(path: Path, text: str) -> None:
    """Write a private text file completely or not at all; a file that exists is replaced.

    Args:
        path: The file to write.
        text: Its content. Line feeds are written as they are.
    """
    with TextFiles([path], force=True) as files:
        files.write({path: text})


def store_text(path: Path, text: str) -> None:
    """Write a private file of a cache completely or not at all; it is no output, so no other run is kept away."""
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    witness.current().opened(Kind.FILE, unfinished)
    try:
        try:
            _create(unfinished, text)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
            witness.current().closed(unfinished)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}.") from None


def _create(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)
