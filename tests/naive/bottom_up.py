"""Bottom-up clustering with fractions, group by group (Xu et al. 2006), and the Euclidean baseline of [S1].

A group is a list of pairs: the number of a distinct tuple, and how many of its rows are in the group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

Row = tuple[int, ...]
Group = list[tuple[int, int]]
Price = Callable[[Sequence[Row]], Fraction]


def size(group: Group) -> int:
    return sum(rows for _, rows in group)


def joined(one: Group, other: Group) -> Group:
    rows: dict[int, int] = {}
    for number, n in (*one, *other):
        rows[number] = rows.get(number, 0) + n
    return sorted(rows.items())


def peel(group: Group, tuples: Sequence[Row], price: Price, k: int) -> tuple[Group, Group]:
    """Return the k rows nearest to the tuple that lies farthest from the lowest one, and the remaining rows."""
    first = group[0][0]
    far = max((number for number, _ in group), key=lambda number: (price([tuples[first], tuples[number]]), -number))
    by_distance = sorted(group, key=lambda piece: (piece[0] != far, price([tuples[far], tuples[piece[0]]]), piece[0]))
    taken, rest, wanted = [], [], k
    for number, rows in by_distance:
        part = min(wanted, rows)
        wanted -= part
        taken += [(number, part)] if part else []
        rest += [(number, rows - part)] if rows > part else []
    return sorted(taken), sorted(rest)


def merge(groups: Sequence[Group], tuples: Sequence[Row], price: Price, k: int, *, splits: bool) -> list[Group]:
    """Merge until every group has k rows; groups keep the order in which they were created."""
    made = [sorted(group) for group in groups]

    def rank(group: Group) -> tuple[int, int]:
        return size(group), group[0][0]

    while any(size(group) < k for group in made):
        one = min((group for group in made if size(group) < k), key=rank)
        others = [group for group in made if group is not one]
        other = min(others, key=lambda g: (price([tuples[number] for number, _ in (*one, *g)]), *rank(g)))
        union = joined(one, other)
        made = [group for group in made if group is not one and group is not other]
        while splits and len(union) > 1 and size(union) >= 2 * k:
            taken, union = peel(union, tuples, price, k)
            made.append(taken)
        made.append(union)
    return made
