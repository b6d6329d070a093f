"""How far the values of a group are from those of the release, in time that grows with the values of the group."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

__all__ = ["level_work", "ordered_work"]


def ordered_work(totals: Counter[Any], order: Sequence[Any]) -> Callable[[Counter[Any]], int]:
    """Return what sums, over the values in order, how far a group's share of the rows up to there is from the table's.

    Both shares are multiplied by the rows of the group and of the table. Between two of its values, the group's share
    stays and the table's rises, so that one place is found from which on it is the larger one.
    """
    place = {value: i for i, value in enumerate(order)}
    below = list(accumulate(totals[value] for value in order))
    sums, total = [0, *accumulate(below)], totals.total()

    def work(counts: Counter[Any]) -> int:
        size, found, start, here = counts.total(), 0, 0, 0
        own = sorted((place[value], rows) for value, rows in counts.items() if value in place)
        for end, rows in (*own, (len(order), 0)):
            larger = bisect_right(below, here // size, start, end)
            found += here * (larger - start) - size * (sums[larger] - sums[start])
            found += size * (sums[end] - sums[larger]) - here * (end - larger)
            start, here = end, here + rows * total
        return found

    return work


def level_work(totals: Counter[Any], paths: Mapping[Any, Sequence[str]], height: int) -> Callable[[Counter[Any]], int]:
    """Return what sums, for a group, what has to leave or enter each node below the root; level 0 is the values."""

    def node(value: Any, level: int) -> Any:
        labels = paths.get(value)
        return value if level == 0 else labels[level - 1] if labels else "*"

    total, levels = totals.total(), []
    for level in range(height):
        node_of = {value: node(value, level) for value in totals}
        of_node: Counter[Any] = Counter()
        for value, rows in totals.items():
            of_node[node_of[value]] += rows
        levels.append((node_of, of_node))

    def work(counts: Counter[Any]) -> int:
        size, found = counts.total(), 0
        for node_of, of_node in levels:
            own: Counter[Any] = Counter()
            for value, rows in counts.items():
                if value in node_of:
                    own[node_of[value]] += rows
            found += size * total  # what the table has in all nodes, of which the group may have few
            for each, rows in own.items():
                usual = of_node[each] * size
                found += abs(rows * total - usual) - usual
        return found

    return work
