"""MNQIA as in its paper: k-means in each dimension, then MMDCF, row by row [S4 section III]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

Cell = tuple[int, ...]
PARTS = 1024


def spread(values: Sequence[tuple[int, int]]) -> int:
    """Sum of squared distances of (place, rows) from their mean, in parts of a squared step, rounded down."""
    rows = sum(n for _, n in values)
    first = sum(n * x for x, n in values)
    second = sum(n * x * x for x, n in values)
    return (second * rows - first * first) * PARTS // rows


def sub_groups(values: Sequence[tuple[int, int]], n_parts: int) -> list[int]:
    """Sub-group of each of the sorted values: the cuts of least spread, of equals those with the lowest last cut."""

    @cache
    def best(end: int, parts: int) -> tuple[int, tuple[int, ...]]:
        if parts == 1:
            return spread(values[:end]), (0,)
        tried = []
        for cut in range(parts - 1, end):
            before, cuts = best(cut, parts - 1)
            tried.append((before + spread(values[cut:end]), cut, cuts))
        least, cut, cuts = min(tried)
        return least, (*cuts, cut)

    if not values:
        return []
    _, cuts = best(len(values), min(n_parts, len(values)))
    return [sum(cut <= i for cut in cuts) - 1 for i in range(len(values))]


def groups(cells: Sequence[Cell], k: int) -> tuple[list[list[int]], list[int]]:
    """Return the groups of MMDCF over rows with given sub-groups, and the remaining rows."""
    d = len(cells[0])
    left = list(range(len(cells)))
    made = []
    while len(left) >= k:
        bucket_size = Counter(cells[i] for i in left)
        part_size = [Counter(cells[i][a] for i in left) for a in range(d)]
        priority = {b: n + sum(part_size[a][b[a]] for a in range(d)) for b, n in bucket_size.items()}
        group: list[int] = []
        used: set[tuple[int, int]] = set()
        while len(group) < k:
            taken_before = len(group)
            for part in sorted({cell[-1] for cell in cells}):
                admissible = {
                    cells[i]
                    for i in left
                    if cells[i][-1] == part and not used & {(a, cells[i][a]) for a in range(d - 1)}
                }
                if not admissible or len(group) == k:
                    continue
                chosen = min(admissible, key=lambda bucket: (-priority[bucket], bucket))
                row = min(i for i in left if cells[i] == chosen)
                group.append(row)
                left.remove(row)
                used |= {(a, chosen[a]) for a in range(d - 1)}
            if len(group) == taken_before:
                used.clear()
        made.append(group)
    return made, left
