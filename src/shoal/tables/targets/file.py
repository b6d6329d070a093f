"""A release as a file, and its report: places that are locked and checked first, and left as they were on failure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from shoal.errors import UsageError
from shoal.tables.formats.sniff import Format, output_format
from shoal.tables.targets.base import StagedFile
from shoal.tables.targets.moves import Move
from shoal.tables.targets.places import Place, publish_together

__all__ = ["FileTarget", "ReportTarget"]


class FileTarget(StagedFile, Place):
    """A path that is written once, with the files beside it, or not at all; see `Target` for the methods."""

    path: Path
    format = Format.CSV  # until the path is checked

    def __enter__(self) -> Self:
        """Check the paths, take the lock and make the private folder."""
        super().__enter__()
        try:
            self.format = output_format(self.path)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    @property
    def files(self) -> Place:
        """The place itself."""
        return self

    @property
    def place(self) -> str:
        """The path, for messages."""
        return str(self.path)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def publish(self, beside: Sequence[Move] = (), remark: str = "") -> None:
        """Move all finished files to their places, in order, and flush them to the disk."""
        release = [] if self._written is None else [self.move(self._written, self.path)]
        publish_together([*release, *beside])


class ReportTarget(Place):
    """The report of a release, published together with the release or not at all.

    The path is that of the public page. Beside it are its JSON version and the private part: NAME.private.html and
    NAME.private.json.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False, inputs: Iterable[Path] = ()) -> None:
        """Name the public page; entering the target checks all paths.

        Args:
            path: The page to write.
            force: Whether to replace files that exist.
            inputs: The files that the run reads, none of which may be replaced.
        """
        page = Path(path)
        if page.suffix.lower() != ".html":
            raise UsageError(f"{page}: a report is an HTML file. Name a file that ends in .html.")
        self.public = (page, page.with_suffix(".json"))
        self.private = (page.with_suffix(".private.html"), page.with_suffix(".private.json"))
        super().__init__(page, [self.public[1], *self.private], inputs=inputs, force=force)
