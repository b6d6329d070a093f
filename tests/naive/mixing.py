"""Top-down cuts into small groups that pass; where the two sides of a cut would not, both get rows of all classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import floor

from tests.naive.blocks import Cut, part
from tests.naive.shoaling import Block

# Weight of the even cut, and the share of the left side if it is not that of the plain cut.
MIXTURES = ((0.0, None), (0.25, None), (0.5, None), (0.75, None), (1.0, None), (1.0, 0.4), (1.0, 0.5), (1.0, 0.6))

Passes = Callable[[Sequence[int]], bool]
Sides = tuple[list[int], list[int]]


def cut_mixed(block: Block, classes: Sequence[int], passes: Passes) -> list[list[int]]:
    """Cut as long as both sides pass; prefer cuts that separate expensive pairs, then those that mix little."""

    def cut(items: list[int]) -> list[list[int]]:
        cuts = [part(block, a, items, 1) for a in range(len(block.attributes))]
        order = sorted(range(len(cuts)), key=lambda a: (-cuts[a].gain, a))
        best, sides = 0.0, None
        for place, a in enumerate(order):
            second = order[1] if place == 0 and len(order) > 1 else order[0]
            for weight, left in MIXTURES:
                score = cuts[a].gain * (1 - weight / 2)
                if score <= best:
                    break
                trial = mixed(block, classes, items, a, second, cuts[a], weight, left)
                if all(side and passes(side) for side in trial):
                    best, sides = score, trial
                    break
        return cut(sides[0]) + cut(sides[1]) if sides else [items]

    return cut(list(range(len(block.rows))))


def mixed(
    block: Block,
    classes: Sequence[int],
    items: Sequence[int],
    a: int,
    second: int,
    plain: Cut,
    weight: float,
    left: float | None,
) -> Sides:
    """Cut each class between its place in the plain cut and the place that gives both sides equal shares."""
    codes = block.codes
    order = sorted(items, key=lambda e: (codes[e][a] not in plain.left, codes[e][a], codes[e][second], e))
    rows, plain_rows, taken = Counter[int](), Counter[int](), Counter[int]()
    for e in order:
        rows[classes[e]] += block.rows[e]
        plain_rows[classes[e]] += block.rows[e] if codes[e][a] in plain.left else 0
    share = plain_rows.total() / rows.total() if left is None else left
    sides: Sides = [], []
    for e in order:
        c = classes[e]
        wanted = (1 - weight) * plain_rows[c] + weight * share * rows[c]
        is_left = taken[c] + block.rows[e] <= floor(wanted + 0.5 * block.rows[e])
        taken[c] += block.rows[e] if is_left else 0
        sides[not is_left].append(e)
    return sides
