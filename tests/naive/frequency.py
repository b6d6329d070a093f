"""Frequency sets with plain dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def rolled(
    rows: Sequence[tuple[int, ...]], counts: Sequence[int], maps: Sequence[Sequence[int] | None]
) -> list[tuple[tuple[int, ...], int]]:
    """Map the codes of each column that has a map, then count and sort."""
    sums: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(rows, counts, strict=True):
        level = [*maps, *[None] * (len(row) - len(maps))]
        new = tuple(code if m is None else m[code] for code, m in zip(row, level, strict=True))
        sums[new] += count
    return sorted(sums.items())
