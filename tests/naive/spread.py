"""The sum of squares inside groups in plain Python, and the least one; twin of kernels/variance/exchange.pyx."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["least_squares", "squares"]

Point = tuple[tuple[float, ...], tuple[int, ...]]  # coordinates and categories


def squares(points: Sequence[Point], units: Sequence[float], groups: Sequence[Sequence[int]]) -> float:
    """Return the sum of squares inside groups of rows; units: half the squared distance of two values of a category."""
    return sum(_pairs(points, units, group) / len(group) for group in groups if group)


def _pairs(points: Sequence[Point], units: Sequence[float], group: Sequence[int]) -> float:
    """Return the sum of the squared distances of all pairs."""
    total = 0.0
    for i, one in enumerate(group):
        for other in group[:i]:
            total += sum((x - y) ** 2 for x, y in zip(points[one][0], points[other][0], strict=True))
            pairs = zip(points[one][1], points[other][1], units, strict=True)
            total += sum(2 * unit for v, w, unit in pairs if v != w)
    return total


def least_squares(points: Sequence[Point], units: Sequence[float], k: int) -> float:
    """Return the least sum of squares of all ways to form groups of at least k rows."""
    return min(squares(points, units, groups) for groups in _partitions(list(range(len(points))), k))


def _partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    def deal(row: int, groups: list[list[int]]) -> Iterator[list[list[int]]]:
        if row == len(rows):
            if all(len(group) >= k for group in groups):
                yield [list(group) for group in groups]
            return
        for group in groups:
            group.append(row)
            yield from deal(row + 1, groups)
            group.pop()
        groups.append([row])
        yield from deal(row + 1, groups)
        groups.pop()

    yield from deal(0, [])
