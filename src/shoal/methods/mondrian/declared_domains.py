"""Mondrian over declared domains: the width of a segment is that of its region, not of its values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.errors import CancelledError, UsageError
from shoal.methods.base import Run

__all__ = ["read_domains", "split_regions"]

Domains = Mapping[str, tuple[float, float]]


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


def split_regions(encoded: Encoded, k: int, domains: Domains, run: Run) -> NDArray[np.int32]:
    """Return the group of each tuple.

    The first region is the whole domain. A cut at the lower median of the values divides the region there, so both
    halves end at the median. The attribute with the widest region over its domain is tried first, ties in the order of
    the quasi-identifiers.
    """
    numbers, regions = _prepare(encoded, domains)
    spans = [high - low for low, high in regions]
    labels = np.zeros(len(numbers), dtype=np.int32)
    waiting = [(np.arange(len(numbers)), regions)]
    n_groups = 0
    while waiting:
        if run.cancelled():
            raise CancelledError
        inside, region = waiting.pop()
        widths = [(high - low) / span if span else 0.0 for (low, high), span in zip(region, spans, strict=True)]
        for a in sorted(range(len(widths)), key=lambda a: (-widths[a], a)):
            right, middle = _cut(numbers[inside, a], encoded.counts[inside])
            sizes = [int(encoded.counts[inside[side]].sum()) for side in (~right, right)]
            if widths[a] > 0 and min(sizes) >= k:
                low, high = region[a]
                waiting.append((inside[~right], [*region[:a], (low, middle), *region[a + 1 :]]))
                waiting.append((inside[right], [*region[:a], (middle, high), *region[a + 1 :]]))
                break
        else:
            labels[inside] = n_groups
            n_groups += 1
    run.progress(1.0)
    return labels


def _prepare(encoded: Encoded, domains: Domains) -> tuple[NDArray[np.float64], list[tuple[float, float]]]:
    """Return the numbers of each tuple, and the domain of each attribute: as declared, or its own range."""
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
    columns = [attribute.values[encoded.tuples[:, i]] for i, attribute in enumerate(encoded.attributes)]
    return np.column_stack(columns), regions


def _cut(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[NDArray[np.bool_], float]:
    """Return which tuples are above the lower median of their rows, and the median."""
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(counts[order])
    middle = float(numbers[order[np.searchsorted(below, (below[-1] + 1) // 2)]])
    return numbers > middle, middle
