"""MDAV in plain Python, row by row; twin of kernels/clustering/mdav.pyx."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["groups"]

Point = tuple[float, ...]


def groups(places: Sequence[Point], values: Sequence[Sequence[int]], units: Sequence[float], k: int) -> list[list[int]]:
    """Return the rows of each group.

    Args:
        places: The coordinates of each row.
        values: The categories of each row.
        units: Half the squared distance of two values of each category.
        k: The least group size.
    """

    def distance(one: int, other: int) -> float:
        total = 0.0
        for x, y in zip(places[one], places[other], strict=True):
            total += (x - y) * (x - y)
        for v, w, unit in zip(values[one], values[other], units, strict=True):
            total += 2 * unit if v != w else 0
        return total

    def outermost(rows: Sequence[int]) -> int:
        """Return the row farthest from the average of all rows."""
        n = float(len(rows))
        average = [math.floor(sum(column) / n + 0.5) for column in zip(*(places[row] for row in rows), strict=True)]

        def from_average(row: int) -> float:
            total = 0.0
            for x, y in zip(places[row], average, strict=True):
                total += (x - y) * (x - y)
            for a, unit in enumerate(units):
                alike = sum(values[other][a] == values[row][a] for other in rows)
                total += unit * (n - 2 * alike) / n
            return total

        return max(rows, key=lambda row: (from_average(row), -row))

    def nearest(one: int, rows: Sequence[int]) -> list[int]:
        return sorted(rows, key=lambda row: (distance(one, row), row))[:k]

    left = list(range(len(places)))
    found = []
    while len(left) >= 2 * k:
        many = len(left) >= 3 * k
        end = outermost(left)
        group = nearest(end, left)
        found.append(group)
        left = [row for row in left if row not in group]
        if many:
            other = max(left, key=lambda row: (distance(end, row), -row))
            group = nearest(other, left)
            found.append(group)
            left = [row for row in left if row not in group]
    if left:
        found.append(left)
    return found
