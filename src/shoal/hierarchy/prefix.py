"""Hierarchies of codes by their first characters: 02139, 0213*, 021**, ... ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shoal.errors import UsageError
from shoal.hierarchy.base import TOP, Hierarchy, RowsOf, lacking_text, settle

__all__ = ["PrefixHierarchy", "prefixes"]

MASK = "*"


@dataclass(frozen=True)
class PrefixHierarchy:
    """Codes of which fewer and fewer first characters are shown; made by `prefixes`.

    Each hidden character is one `*`, so codes of unequal length never share a label below the top, and at least one
    character is shown, so no label is `*` alone.
    """

    lengths: tuple[int, ...] = ()
    mask: int = 0

    def over(
        self,
        texts: Sequence[str],
        *,
        column: str = "",
        unknown: str = "error",
        missing: Collection[str] = (),
        rows_of: RowsOf | None = None,
    ) -> Hierarchy:
        """Return the hierarchy over exactly these values; the arguments are those of `Hierarchy.bind`."""
        longest = max((len(text) for text in texts if text not in missing and MASK not in text), default=1)
        steps = len(self.lengths) if self.lengths else -(-(longest - 1) // self.mask)

        def row(text: str) -> tuple[str, ...] | None:
            if not text or MASK in text:
                return None
            return (*(self._masked(text, step) for step in range(steps)), TOP)

        def lacking(which: Sequence[int]) -> str:
            what = f"empty or hold {MASK!r}, which hides a character"
            return lacking_text(column, what, "Rename them, or declare them missing", texts, which, rows_of)

        rows = settle(texts, row, lacking, height=steps + 1, unknown=unknown, missing=missing)
        return Hierarchy(rows, source="prefixes")

    def _masked(self, text: str, step: int) -> str:
        shown = self.lengths[step] if self.lengths else max(1, len(text) - self.mask * (step + 1))
        return text[:shown] + MASK * max(0, len(text) - shown)


def prefixes(lengths: Sequence[int] | None = None, *, mask: int | None = None) -> PrefixHierarchy:
    """Return a rule that hides the last characters of codes, more on each level.

    lengths: how many first characters each level shows, falling; a code that is not longer stays as it is there.
    mask: how many characters each level hides more than the one before, until one is left.

    >>> prefixes([4, 2]).over(["02139", "021"]).rows
    {'02139': ('0213*', '02***', '*'), '021': ('021', '02*', '*')}
    >>> prefixes(mask=2).over(["02139"]).rows
    {'02139': ('021**', '0****', '*')}
    """
    if (lengths is None) == (mask is None):
        raise UsageError("prefixes: give lengths or mask, one of the two.")
    if mask is not None:
        if mask < 1:
            raise UsageError(f"prefixes: mask={mask!r} is not a positive whole number.")
        return PrefixHierarchy(mask=mask)
    kept = tuple(lengths or ())
    if not kept or kept[-1] < 1 or any(a <= b for a, b in pairwise(kept)):
        raise UsageError(f"prefixes: lengths={list(kept)!r} do not fall to 1 or more. Give them as in [4, 3, 2].")
    return PrefixHierarchy(lengths=kept)
