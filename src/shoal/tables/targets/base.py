"""The protocol of a target: where a release goes, completely or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, Self

from shoal.tables.formats.sniff import Format
from shoal.tables.sources.base import Recoding, Source
from shoal.tables.targets.moves import Held, Move
from shoal.tables.targets.places import Place

__all__ = ["Judge", "StagedFile", "Target"]


class Judge(Protocol):
    """Has the verifier examine a staging table; raises a VerificationError if the table fails."""

    def check_recoded(self, connection: Any, staging: tuple[str, str], source: tuple[str, str]) -> None:
        """Compare a staging table with the table of the same database that it was made from."""

    def check_copy(self, connection: Any, staging: tuple[str, str], written: Path) -> None:
        """Compare a staging table with the verified file that was loaded into it."""


class Target(AbstractContextManager["Target"], Protocol):
    """A place for one release, used as a context manager.

    Entering checks and locks the place. Leaving it without `publish` rolls everything back: the place is as it was.
    """

    @property
    def place(self) -> str:
        """The place, for messages: a path, "-" or a URL without its password."""

    @property
    def files(self) -> Place | None:
        """The place of the release and of the files beside it; None if the release is not a file."""

    @property
    def name(self) -> str:
        """The name of the release in its manifest."""

    @property
    def format(self) -> Format:
        """The format of the file that `write` expects."""

    @property
    def folder(self) -> Path:
        """A private folder for unfinished files."""

    def __enter__(self) -> Self: ...

    def temporary(self, name: str) -> Path:
        """Return the path of an unfinished file in the private folder."""

    def refuse(self, source: Source) -> None:
        """Raise an InputError if publishing would replace the source, which is open."""

    def check_layout(self, *, plain: bool) -> None:
        """Raise a UsageError if the target cannot store the layout.

        Args:
            plain: Whether rows are sorted, ranges are text and formulas are left as they are.
        """

    def begin(self, source: Source, recoding: Recoding) -> bool:
        """Make the release here from the source, if that is possible.

        Returns:
            Whether the release was made and staged. If not, `write` must follow with a file.
        """

    def write(self, written: Held, names: Sequence[str]) -> None:
        """Stage a file that passed the gate.

        Args:
            written: The unfinished file in the format of the target, held since before the gate read it.
            names: Names of its columns.
        """

    def check(self, judge: Judge) -> None:
        """Have what was staged verified, unless it is the very file that passed the gate."""

    def publish(self, beside: Sequence[Move] = (), remark: str = "") -> None:
        """Bring what was staged, and the files beside it, to their places: all of them or none.

        The bytes of a file must still be those that were checked.

        Args:
            beside: The ways of the files that go with the release, in order.
            remark: The manifest as text, for a target that cannot have files beside it.
        """


class StagedFile:
    """The methods of a target that publishes one file, after the gate has read it."""

    _written: Held | None = None  # the file that passed the gate

    def refuse(self, source: Source) -> None:
        """Do nothing: publishing does not replace an open source, or entering has compared the two."""

    def check_layout(self, *, plain: bool) -> None:
        """Do nothing: a file stores every layout."""

    def begin(self, source: Source, recoding: Recoding) -> bool:
        """Return False: the file is written first."""
        return False

    def write(self, written: Held, names: Sequence[str]) -> None:
        """Remember the file that passed the gate."""
        self._written = written

    def check(self, judge: Judge) -> None:
        """Do nothing: the gate has read the file."""
