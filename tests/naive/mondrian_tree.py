"""Mondrian with hierarchies and with people, by recursion; numbers and categories are those of the plain twin.

A hierarchy is cut into all children of the group's lowest common node at once, each with k rows. Relaxed, the children
with fewer rows stay together; where they are fewer than k in all they borrow the first rows of the largest child, if
it keeps k. With people, every part must have rows of k of them, and an attribute is also cut at its other places before
the next attribute is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.naive import mondrian
from tests.naive.mondrian import Row


@dataclass(frozen=True)
class Tree:
    """paths: of each code, its labels from level 1 up to the root."""

    paths: Sequence[Sequence[str]]

    def level(self, codes: Sequence[int]) -> int:
        """The lowest level on which the codes are one node; 0 where they are one code."""
        if len(set(codes)) == 1:
            return 0
        return next(n for n in range(1, len(self.paths[0]) + 1) if len({self.paths[c][n - 1] for c in codes}) == 1)

    def node(self, code: int, level: int) -> object:
        return code if level == 0 else self.paths[code][level - 1]


Attribute = mondrian.Attribute | Tree


def cut(
    rows: Sequence[Row], attributes: Sequence[Attribute], k: int, relaxed: bool, people: Sequence[int] | None = None
) -> list[list[int]]:
    """Return the groups, each a list of row numbers."""
    who = list(people) if people is not None else list(range(len(rows)))

    def descend(group: list[int]) -> list[list[int]]:
        columns = [{i: rows[i][a] for i in group} for a in range(len(attributes))]
        widths = [width(attribute, list(columns[a].values())) for a, attribute in enumerate(attributes)]
        for a in sorted((a for a in range(len(attributes)) if widths[a] > 0), key=lambda a: -widths[a]):
            places = [allowable(attributes[a], columns[a], k, relaxed)]
            if people is not None:
                places += other_places(attributes[a], columns[a])
            for parts in places:
                if parts and all(len({who[i] for i in part}) >= k for part in parts):
                    return [leaf for part in parts for leaf in descend(part)]
        return [group]

    return descend(list(range(len(rows))))


def width(attribute: Attribute, codes: list[int]) -> Fraction:
    if not isinstance(attribute, Tree):
        return mondrian.width(attribute, codes)
    level = attribute.level(codes)
    node = attribute.node(codes[0], level)
    below = sum(attribute.node(code, level) == node for code in range(len(attribute.paths)))
    return Fraction(below, len(attribute.paths)) if level else Fraction(0)


def other_places(attribute: Attribute, column: dict[int, int]) -> list[list[list[int]]]:
    """Return the parts of each further cut of an attribute, in the order of trying; a hierarchy has none."""
    if isinstance(attribute, Tree):
        return []
    choices = range(1, mondrian.N_CHOICES)
    return [list(halves) for choice in choices for halves in mondrian._other(attribute, column, choice)]


def allowable(attribute: Attribute, column: dict[int, int], k: int, relaxed: bool) -> list[list[int]]:
    """Return the parts of the first cut with k rows in each, or nothing."""
    if not isinstance(attribute, Tree):
        for halves in mondrian._halves(attribute, column, relaxed):
            if min(map(len, halves)) >= k:
                return list(halves)
        return []
    level = attribute.level(list(column.values())) - 1
    children: dict[object, list[int]] = {}
    for i in sorted(column):
        children.setdefault(attribute.node(column[i], level), []).append(i)
    large = [child for child in children.values() if len(child) >= k]
    pool = sorted(i for child in children.values() if len(child) < k for i in child)
    if not pool:
        return large
    if not relaxed or not large or len(column) < 2 * k:
        return []
    if len(pool) < k:
        largest = largest_child(attribute, children, level)
        lent = k - len(pool)
        if len(largest) - lent < k:
            return []
        pool = sorted(pool + largest[:lent])
        large = [child if child is not largest else largest[lent:] for child in large]
    return [pool, *large]


def largest_child(attribute: Tree, children: dict[object, list[int]], level: int) -> list[int]:
    """The child with most rows; of equals the one whose values come first."""
    order = {attribute.node(code, level): code for code in reversed(range(len(attribute.paths)))}
    node = min(children, key=lambda node: (-len(children[node]), order[node]))
    return children[node]
