"""Frequency sets with plain dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def rolled(
    rows: Sequence[tuple[int, ...]], counts: Sequence[int], maps: Sequence[Sequence[int] | None]
) -> list[tuple[tuple[int, ...], int]]:
    """Replace each code by what its column's map gives (columns without a map stay), count and sort."""
    sums: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(rows, counts, strict=True):
        level = [*maps, *[None] * (len(row) - len(maps))]
        new = tuple(code if m is None else m[code] for code, m in zip(row, level, strict=True))
        sums[new] += count
    return sorted(sums.items())
