"""Mondrian over declared domains: the width of a segment is that of its region, not of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.errors import CancelledError, UsageError
from shoal.methods.base import Run
from shoal.methods.sections import Cut

__all__ = ["Region", "read_domains", "split_regions"]

Domains = Mapping[str, tuple[float, float]]
Ends = list[tuple[float, float]]


@dataclass
class Region:
    """What cuts left of the domains around a segment and, if it was cut by counts, around its sides.

    Attributes:
        ends: The region of each attribute.
        spans: The width of each domain.
        cut: The cut.
        sides: The regions of its sides.
    """

    ends: Ends
    spans: list[float]
    cut: Cut | None = None
    sides: tuple[Region, ...] = ()

    @classmethod
    def whole(cls, encoded: Encoded, domains: Domains) -> Region:
        """Return the region of a whole table.

        Raises:
            UsageError: An attribute has no numbers or dates, or lacks some, or its domain is too narrow.
        """
        ends = _find_domains(encoded, domains)
        return cls(ends, [high - low for low, high in ends])

    def widest_first(self) -> list[int]:
        """Return the attributes whose region has a width, widest first over the domain."""
        widths = [(high - low) / span if span else 0.0 for (low, high), span in zip(self.ends, self.spans, strict=True)]
        return sorted((a for a, width in enumerate(widths) if width > 0), key=lambda a: (-widths[a], a))

    def around(self, histograms: Sequence[NDArray[np.int64]]) -> Region:
        """Return the region of a segment inside this one; histograms: the rows of each code, by attribute."""
        if self.cut is None:
            return self
        sides = np.unique(self.cut.parts[np.flatnonzero(histograms[self.cut.column])]).tolist()
        return self if len(sides) > 1 else self.sides[sides[0]].around(histograms)

    def divide(self, histograms: Sequence[NDArray[np.int64]], attributes: Sequence[Attribute], k: int) -> Cut | None:
        """Cut a segment that has this region at a median; None if no cut leaves k rows on each side."""
        for a in self.widest_first():
            rows, numbers = histograms[a], attributes[a].values
            below = np.cumsum(rows)
            middle = float(numbers[np.searchsorted(below, (below[-1] + 1) // 2)])
            goes_right = numbers > middle
            if min(int(rows[side].sum()) for side in (~goes_right, goes_right)) >= k:
                self.cut = Cut(a, goes_right.astype(np.int32))
                self.sides = self.halves(a, middle)
                return self.cut
        return None

    def halves(self, a: int, middle: float) -> tuple[Region, Region]:
        """Return the regions on both sides of a cut."""
        low, high = self.ends[a]
        left, right = ([*self.ends[:a], own, *self.ends[a + 1 :]] for own in ((low, middle), (middle, high)))
        return Region(left, self.spans), Region(right, self.spans)


def read_domains(domains: Mapping[str, tuple[float, float]] | str) -> dict[str, tuple[float, float]]:
    """Read declared ranges by attribute.

    Args:
        domains: A mapping, or a text such as age=0:100,sex=0:1.

    Raises:
        UsageError: The ranges cannot be read.

    >>> read_domains("age=0:100,sex=0:1")
    {'age': (0.0, 100.0), 'sex': (0.0, 1.0)}
    """
    if isinstance(domains, str):
        parts = (part.rpartition("=") for part in domains.split(",") if part.strip())
        domains = {name.strip(): tuple(ends.split(":")) for name, _, ends in parts}  # type: ignore[misc]
    try:
        ranges = {str(name): (float(low), float(high)) for name, (low, high) in domains.items()}
    except (TypeError, ValueError):
        raise UsageError("domains: write name=low:high for each attribute, as in age=0:100,sex=0:1.") from None
    for name, (low, high) in ranges.items():
        if low > high:
            raise UsageError(f"domain of {name!r}: the first number is above the second. Write low:high.")
    return ranges


def split_regions(encoded: Encoded, k: int, whole: Region, run: Run) -> NDArray[np.int32]:
    """Return the group of each tuple; whole: the region of all of them.

    The first region of a table is the whole domain. A cut at the lower median of the values divides the region there,
    so both halves end at the median. The attribute with the widest region over its domain is tried first, ties in the
    order of the quasi-identifiers.
    """
    columns = [attribute.values[encoded.tuples[:, i]] for i, attribute in enumerate(encoded.attributes)]
    numbers = np.column_stack(columns)
    labels = np.zeros(len(numbers), dtype=np.int32)
    waiting = [(np.arange(len(numbers)), whole)]
    n_groups = 0
    while waiting:
        if run.cancelled():
            raise CancelledError
        inside, region = waiting.pop()
        for a in region.widest_first():
            right, middle = _cut(numbers[inside, a], encoded.counts[inside])
            sides = inside[~right], inside[right]
            if min(int(encoded.counts[side].sum()) for side in sides) >= k:
                waiting += zip(sides, region.halves(a, middle), strict=True)
                break
        else:
            labels[inside] = n_groups
            n_groups += 1
    run.progress(1.0)
    return labels


def _find_domains(encoded: Encoded, domains: Domains) -> Ends:
    """Return the domain of each attribute: as declared, or its own range."""
    regions = []
    for attribute in encoded.attributes:
        if not attribute.ordered or attribute.missing >= 0:
            raise UsageError(
                f"mondrian over domains needs numbers or dates without missing values; column {attribute.name!r} has "
                "others. Recode it, or leave out domains."
            )
        own = float(attribute.values[0]), float(attribute.values[-1])
        low, high = domains.get(attribute.name, own)
        if not low <= own[0] <= own[1] <= high:
            raise UsageError(f"domain of {attribute.name!r}: some values are outside. Widen it.")
        regions.append((low, high))
    unknown_names = sorted(set(domains) - {attribute.name for attribute in encoded.attributes})
    if unknown_names:
        raise UsageError(f"domain of {unknown_names[0]!r}: not a quasi-identifier.")
    return regions


def _cut(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[NDArray[np.bool_], float]:
    """Return which tuples are above the lower median of their rows, and the median."""
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(counts[order])
    middle = float(numbers[order[np.searchsorted(below, (below[-1] + 1) // 2)]])
    return numbers > middle, middle
