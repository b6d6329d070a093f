"""Hierarchies of codes by their first characters: 02139, 0213*, 021**, ... ."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shoal.errors import UsageError
from shoal.hierarchy.base import TOP, LabelRule, Misfit

__all__ = ["PrefixHierarchy", "are_postal_codes", "look_like_codes", "prefixes"]

MASK = "*"
CODE = re.compile(r"(?=.*[0-9])[0-9A-Za-z][0-9A-Za-z ./-]*")
# Names of columns of postal codes; those that are words of their own stand alone or between other characters.
POSTAL = re.compile(
    r"zip_?code|postal|post\w*(code|n[ro]|nummer|zahl)|(code?|kod|c[oó]digo|codice)[ _]?(post|poczt)"
    r"|(?<![a-z])(zip|plz|npa|cep|pc4)(?![a-z])|^cap$",
    re.IGNORECASE,
)
POSTAL_LENGTHS = range(4, 7)


@dataclass(frozen=True)
class PrefixHierarchy(LabelRule):
    """A rule that shows fewer first characters of a code on each level; built by `prefixes`.

    Each hidden character becomes one `*`, so codes of different lengths never share a label below the top. At least
    one character stays visible, so no label consists of `*` only. If codes of different lengths are to meet, one `*`
    stands for all that follows: 02139* covers 02139 and 02139-4307.

    Attributes:
        lengths: How many characters each level shows, or empty.
        mask: How many more characters each level hides, if `lengths` is empty.
        meet: Whether codes of different lengths share labels.
    """

    lengths: tuple[int, ...] = ()
    mask: int = 0
    meet: bool = False

    @property
    def _source_name(self) -> str:
        return "open prefixes" if self.meet else "prefixes"

    def _height_over(self, texts: Sequence[str]) -> int:
        if self.lengths:
            return len(self.lengths) + 1
        longest = max((len(text) for text in texts if MASK not in text), default=1)
        return -(-(longest - 1) // self.mask) + 1

    def _labels_of(self, text: str, height: int) -> tuple[str, ...] | None:
        if not text or MASK in text:
            return None
        if self.meet:
            return (*(self._opened(text, step, height) for step in range(height - 1)), TOP)
        return (*(self._masked(text, step) for step in range(height - 1)), TOP)

    def _misfit(self, texts: Sequence[str], positions: Sequence[int]) -> Misfit:
        reason = f"empty or contain {MASK!r}, which marks a hidden character"
        return Misfit(positions, reason, "Rename them, declare them missing")

    def _opened(self, text: str, step: int, height: int) -> str:
        """Return the label of a level: as many characters for every code; a shorter code is still a value there."""
        n_shown = self.lengths[step] if self.lengths else 1 + self.mask * (height - 2 - step)
        return text if len(text) < n_shown else text[:n_shown] + MASK

    def _masked(self, text: str, step: int) -> str:
        n_shown = self.lengths[step] if self.lengths else max(1, len(text) - self.mask * (step + 1))
        return text[:n_shown] + MASK * max(0, len(text) - n_shown)


def prefixes(lengths: Sequence[int] | None = None, *, mask: int | None = None, meet: bool = False) -> PrefixHierarchy:
    """Return a rule that hides the last characters of codes, more of them on each level.

    Args:
        lengths: How many first characters each level shows, in falling order. A level leaves shorter codes as they are.
        mask: How many more characters each level hides than the level before, until one is left.
        meet: Whether codes of different lengths share labels: 02139* covers 02139 and 02139-4307. Levels then count
            from the first character.

    Raises:
        UsageError: Both or neither are given, or a number does not fit.

    >>> prefixes([4, 2]).over(["02139", "021"]).rows
    {'02139': ('0213*', '02***', '*'), '021': ('021', '02*', '*')}
    >>> prefixes(mask=2).over(["02139"]).rows
    {'02139': ('021**', '0****', '*')}
    >>> prefixes([5, 3], meet=True).over(["02139", "02139-4307"]).rows
    {'02139': ('02139*', '021*', '*'), '02139-4307': ('02139*', '021*', '*')}
    """
    if (lengths is None) == (mask is None):
        raise UsageError("prefixes: give either lengths or mask.")
    if mask is not None:
        if mask < 1:
            raise UsageError(f"prefixes: mask={mask!r} is not a positive integer.")
        return PrefixHierarchy(mask=mask, meet=meet)
    falling = tuple(lengths or ())
    if not falling or falling[-1] < 1 or any(a <= b for a, b in pairwise(falling)):
        raise UsageError(
            f"prefixes: lengths={list(falling)!r} is not a falling list of positive integers. Use one such as "
            "[4, 3, 2]."
        )
    return PrefixHierarchy(lengths=falling, meet=meet)


def look_like_codes(values: Collection[str]) -> bool:
    """Return whether values look like codes: each has a digit, and there are few lengths."""
    lengths = {len(value) for value in values}
    return 0 < len(lengths) <= 3 and min(lengths) >= 3 and all(map(CODE.fullmatch, values))


def are_postal_codes(column: str, values: Collection[str]) -> bool:
    """Return whether a column of whole numbers holds postal codes: by its name, and if all are equally long.

    Codes that lost their leading zeros have several lengths; their first digits mean nothing.

    >>> are_postal_codes("code_postal", ["75011", "69003"]), are_postal_codes("zip", ["2139", "10001"])
    (True, False)
    """
    lengths = {len(value) if value.isdecimal() else 0 for value in values}
    return len(lengths) == 1 and lengths <= set(POSTAL_LENGTHS) and POSTAL.search(column) is not None
