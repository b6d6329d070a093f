"""Full-domain searches by trying every vector, with dictionaries and fractions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

Vector = tuple[int, ...]


@dataclass(frozen=True)
class Column:
    """One attribute: the label of each value on each level, and the loss of each label."""

    labels: Sequence[dict[str, str]]
    losses: Sequence[dict[str, Fraction]]

    @property
    def height(self) -> int:
        return len(self.labels) - 1


def released(rows: Sequence[tuple[str, ...]], columns: Sequence[Column], vector: Vector) -> list[tuple[str, ...]]:
    return [tuple(c.labels[v][cell] for c, v, cell in zip(columns, vector, row, strict=True)) for row in rows]


def failing_rows(rows: Sequence[tuple[str, ...]], columns: Sequence[Column], vector: Vector, k: int) -> int:
    sizes = Counter(released(rows, columns, vector))
    return sum(size for size in sizes.values() if size < k)


def passing(rows: Sequence[tuple[str, ...]], columns: Sequence[Column], k: int, limit: int) -> list[Vector]:
    every = product(*(range(c.height + 1) for c in columns))
    return [v for v in every if failing_rows(rows, columns, v, k) <= min(limit, len(rows) - 1)]


def minimal(vectors: Sequence[Vector]) -> list[Vector]:
    """Return the vectors that have no other vector below them."""

    def below(v: Vector, w: Vector) -> bool:
        return v != w and all(a <= b for a, b in zip(v, w, strict=True))

    return sorted(w for w in vectors if not any(below(v, w) for v in vectors))


def price(rows: Sequence[tuple[str, ...]], columns: Sequence[Column], vector: Vector, k: int, name: str) -> float:
    """Return the value of an objective for a vector, with groups below k suppressed; lower is better."""
    shown = released(rows, columns, vector)
    sizes = Counter(shown)
    kept = {group: size for group, size in sizes.items() if size >= k}
    gone = len(rows) - sum(kept.values())
    if name == "height":
        return sum(vector)
    if name == "dm":
        return sum(size * size for size in kept.values()) + len(rows) * gone
    if name == "aecs":
        return Fraction(sum(kept.values()), len(kept))
    if name == "precision":
        each = sum(Fraction(v, c.height) for c, v in zip(columns, vector, strict=True))
        return each * sum(kept.values()) + len(columns) * gone
    if name == "ncp":
        cells = (
            sum(c.losses[v][cell] for c, v, cell in zip(columns, vector, group, strict=True)) * size
            for group, size in kept.items()
        )
        return sum(cells, Fraction(0)) + len(columns) * gone
    assert name == "entropy"
    total = 0.0
    for i in range(len(columns)):
        before, after = Counter(row[i] for row in rows), Counter(group[i] for group in shown)
        for row, group in zip(rows, shown, strict=True):
            total -= math.log2(before[row[i]] / (after[group[i]] if group in kept else len(rows)))
    return round(total, 9)


def best(rows: Sequence[tuple[str, ...]], columns: Sequence[Column], k: int, limit: int, name: str) -> Vector:
    """Return the vector with the lowest price; ties by height, then by the vector itself."""
    found = passing(rows, columns, k, limit)
    return min(found, key=lambda v: (price(rows, columns, v, k, name), sum(v), v))
