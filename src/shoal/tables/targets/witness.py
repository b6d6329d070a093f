"""What a run has open on the disk and whether it has published: known to whoever must clean up if the run ends at once.

The library tells a witness; the default one removes nothing, since a Python program cleans up by its own `with`
blocks. The command line appoints a witness of its own, because its process may be killed at any moment.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

__all__ = ["Kind", "Witness", "appoint", "current"]


class Kind(Enum):
    """What is open."""

    WORK_FOLDER = "W"  # removed with everything in it
    NEW_FOLDER = "N"  # made for an output: removed if it is still empty
    FILE = "F"  # an unfinished file


class Witness:
    """Hears what a run opens, closes and publishes; this one remembers no more than whether it did publish."""

    is_published = False

    def opened(self, kind: Kind, path: Path) -> None:
        """Hear of something that must not outlive the run; called before it is made."""

    def closed(self, path: Path) -> None:
        """Hear that something is gone, or is there to stay."""

    def committing(self) -> None:
        """Hear that finished files are about to move to their places; may wait, and may never return."""

    def committed(self) -> None:
        """Hear that all files are in their places."""
        self.is_published = True

    def withdrawn(self) -> None:
        """Hear that publishing failed and everything is as it was."""

    def streaming(self) -> None:
        """Hear that a release is about to be copied to a stream, which nobody can take back."""


_appointed = Witness()


def current() -> Witness:
    """Return the witness of this process."""
    return _appointed


def appoint(witness: Witness) -> Witness:
    """Make a witness that of this process; return the one before."""
    global _appointed
    before, _appointed = _appointed, witness
    return before
