"""Cover by levels, step by step: at each vector, group the remaining rows that are equal there if they are enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


def cover(
    codes: Sequence[Sequence[int]],
    counts: Sequence[int],
    ladders: Sequence[Sequence[Sequence[int]]],
    vectors: Sequence[Sequence[int]],
    k: int,
) -> list[list[int]]:
    """Return the groups in the order of creation; `ladders` contains, by attribute and level, the node of each code."""
    groups: list[list[int]] = []
    left = list(range(len(codes)))
    for vector in vectors:
        alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for t in left:
            alike[tuple(ladders[a][level][codes[t][a]] for a, level in enumerate(vector))].append(t)
        ripe = [tuples for tuples in alike.values() if sum(counts[t] for t in tuples) >= k]
        groups += ripe
        left = [t for t in left if not any(t in tuples for tuples in ripe)]
    return groups
