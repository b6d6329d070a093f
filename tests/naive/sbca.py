"""SBCA as in its paper, row by row with fractions [S0 chapter 3], [S3 sections 5 and 6]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Row = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """card: number of codes of a category. values: the number behind each code, None where it is missing."""

    card: int
    values: tuple[Fraction | None, ...] | None = None


def likeness(rows: Sequence[Row], order: Sequence[int], j: int, k: int, lower: Sequence[int], first: Row) -> list[int]:
    """Values of the j-th category of the order, the one of the first row before the others, by falling likeness.

    lower: the likeness order of the category before it.
    """
    column = order[j]
    everywhere = Counter(row[column] for row in rows)
    counts: Counter[int] = Counter()
    if j == 0:
        counts = everywhere
    else:
        for value in lower:  # the row of the contingency table, and those of the next like values while it is too small
            counts.update(row[column] for row in rows if row[order[j - 1]] == value)
            if counts.total() >= k:
                break
    own = first[column]
    others = sorted(
        everywhere.keys() - {own}, key=lambda value: (abs(counts[value] - counts[own]), -counts[value], value)
    )
    return [own, *others]


def category_distances(rows: Sequence[Row], order: Sequence[int], k: int, first: Row) -> list[dict[int, Fraction]]:
    """Distance of each value of each category of the order from that of the first row."""
    found, lower = [], []
    for j in range(len(order)):
        lower = likeness(rows, order, j, k, lower, first)
        steps = max(len(lower) - 1, 1)
        found.append({value: Fraction(i, steps) for i, value in enumerate(lower)})
    return found


def number_distance(values: Sequence[Fraction | None], one: int, other: int) -> Fraction:
    """Return the difference divided by the range of the table; 1 to a missing value."""
    x, y = values[one], values[other]
    if x is None or y is None:
        return Fraction(one != other)
    known = [value for value in values if value is not None]
    width = max(known) - min(known)
    return abs(x - y) / width if width else Fraction(0)


def groups(rows: Sequence[Row], attributes: Sequence[Attribute], k: int) -> tuple[list[list[int]], list[int]]:
    """Return the groups, as indices of rows in canonical order, and the remaining rows."""
    categories = [a for a, attribute in enumerate(attributes) if attribute.values is None]
    categories.sort(key=lambda a: attributes[a].card)
    numbers = [a for a, attribute in enumerate(attributes) if attribute.values is not None]
    left = sorted(range(len(rows)), key=lambda i: [rows[i][a] for a in (*categories, *numbers)])
    made = []
    while len(left) >= k:
        first = rows[left[0]]
        tables = category_distances([rows[i] for i in left], categories, k, first)
        far = {}
        for i in left:
            far[i] = sum((tables[j][rows[i][a]] for j, a in enumerate(categories)), Fraction(0))
            far[i] += sum(number_distance(attributes[a].values or (), first[a], rows[i][a]) for a in numbers)
        nearest = sorted(left, key=lambda i: far[i])[:k]  # a stable sort: ties stay in sort order
        made.append(nearest)
        left = [i for i in left if i not in set(nearest)]
    return made, left


def with_last(made: list[list[int]], left: list[int]) -> list[list[int]]:
    """Return the groups after the remaining rows have joined the last one."""
    return [*made[:-1], made[-1] + left]
