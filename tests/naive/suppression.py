"""Which rows leave a group, one slice after another, and which slices a limit allows; in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.naive.leftovers import Attribute, Row, group_ncp

Slice = tuple[Fraction, list[int]]  # what it saves for each of its rows, at most as much as those before it; its rows


def chain(rows: Sequence[Row], attributes: Sequence[Attribute], group: Sequence[int], k: int, most: int) -> list[Slice]:
    """Return the slices that leave a group, the best first."""
    left, found, bound = list(group), [], None
    while best := _best(rows, attributes, left, k, most):
        gain, leaving = best
        bound = gain if bound is None else min(bound, gain)
        found.append((bound, leaving))
        left = [row for row in left if row not in leaving]
    return found


def _best(
    rows: Sequence[Row], attributes: Sequence[Attribute], group: Sequence[int], k: int, most: int
) -> tuple[Fraction, list[int]] | None:
    def cost(members: Sequence[int]) -> Fraction:
        return len(members) * group_ncp([rows[i] for i in members], attributes)

    best = None
    for a, attribute in enumerate(attributes):
        codes = sorted({rows[i][a] for i in group})
        if attribute.values is not None:
            codes = sorted({codes[0], codes[-1]})
        for code in codes:
            leaving = [i for i in group if rows[i][a] == code]
            staying = [i for i in group if rows[i][a] != code]
            if len(staying) < k or len(leaving) > most or not staying:
                continue
            gain = (cost(group) - cost(staying) - len(leaving) * len(attributes)) / len(leaving)
            if gain > Fraction(1, 10**9) and (best is None or gain > best[0]):
                best = gain, leaving
    return best


def choose(slices: Sequence[tuple[float, int]], most: int) -> list[bool]:
    """Say of each slice (what it saves, its rows) whether it leaves: the best first, until one exceeds the limit."""
    leaves = [False] * len(slices)
    for i in sorted(range(len(slices)), key=lambda i: -slices[i][0]):
        most -= slices[i][1]
        if most < 0:
            break
        leaves[i] = True
    return leaves
