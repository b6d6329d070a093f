"""Top-down cuts of a block into smaller blocks; each cut separates the pairs of rows that would cost the most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.naive.shoaling import Block, Category, Count, Leaves, Number, Reach, Sides


@dataclass(frozen=True)
class Cut:
    """`gain`: decrease of the mean price of a pair of rows (0 without a cut); `left`: the codes on the left."""

    gain: float
    left: frozenset[int] = frozenset()


def cut_blocks(
    block: Block, weights: Sequence[int], factors: Sequence[float], limit: int, least: int
) -> list[list[int]]:
    """Cut blocks that exceed the limit; `factors` weight the attributes, `least` is the minimum of rows per side."""

    def cut(items: list[int]) -> list[list[int]]:
        if sum(weights[i] for i in items) <= limit:
            return [items]
        cuts = [part(block, a, items, least) for a in range(len(block.attributes))]
        gains = [factor * found.gain for factor, found in zip(factors, cuts, strict=True)]
        if max(gains) <= 0:
            return [items]
        a = gains.index(max(gains))
        left = [i for i in items if block.codes[i][a] in cuts[a].left]
        right = [i for i in items if block.codes[i][a] not in cuts[a].left]
        return cut(left) + cut(right)

    return cut(list(range(len(block.rows))))


def part(block: Block, a: int, items: Sequence[int], least: int) -> Cut:
    """Divide the values of an attribute into two sides."""
    rows: Counter[int] = Counter()
    for i in items:
        rows[block.codes[i][a]] += block.rows[i]
    attribute = block.attributes[a]
    if isinstance(attribute, Reach | Count):  # the attribute that it limits is cut instead
        return Cut(0.0, frozenset())
    if isinstance(attribute, Number):
        return halve(attribute, rows, least)
    if isinstance(attribute, Leaves):
        return part_branches(attribute, rows, least)
    return part_set(attribute, rows, least)


def part_set(attribute: Category | Sides, rows: Counter[int], least: int) -> Cut:
    """Divide the values of a set; each value is a branch of its own."""
    codes = sorted(rows)
    gain, left = part_values([rows[code] for code in codes], least)
    pairs = 1.0 if isinstance(attribute, Sides) else 2.0
    return Cut(pairs * attribute.unit * gain, frozenset(codes[n] for n in left))


def part_branches(attribute: Leaves, rows: Counter[int], least: int) -> Cut:
    """Divide the branches below the lowest common node of all values."""
    codes = sorted(rows)
    top = max(attribute.climbs[codes[0] : codes[-1]], default=0)
    branches = [[codes[0]]]
    for before, code in pairwise(codes):
        if max(attribute.climbs[before:code]) == top:
            branches.append([])
        branches[-1].append(code)
    gain, left = part_values([sum(rows[code] for code in branch) for branch in branches], least)
    return Cut(top * gain, frozenset(code for n in left for code in branches[n]))


def part_values(rows: Sequence[int], least: int) -> tuple[float, list[int]]:
    """Return the largest decrease of the Gini index, and the values on the left: the most frequent ones."""
    order = sorted(range(len(rows)), key=lambda n: (-rows[n], n))
    total, squares = float(sum(rows)), float(sum(r * r for r in rows))
    best, middle = 0.0, 0
    for n in range(1, len(rows)):
        left = float(sum(rows[i] for i in order[:n]))
        left_squares = float(sum(rows[i] * rows[i] for i in order[:n]))
        right = total - left
        if min(left, right) < least:
            continue
        gain = (left_squares * right / left + (squares - left_squares) * left / right) / total / total
        if gain > best:
            best, middle = gain, n
    return best, order[:middle]


def halve(attribute: Number, rows: Counter[int], least: int) -> Cut:
    """Cut a range at the median of the rows."""
    codes = sorted(rows)
    total, n = rows.total(), 1
    while n < len(codes) and 2 * sum(rows[code] for code in codes[:n]) + rows[codes[n]] <= total:
        n += 1
    low, high = codes[:n], codes[n:]
    left, right = (sum(rows[code] for code in side) for side in (low, high))
    if min(left, right) < least:
        return Cut(0.0)
    spreads = [spread(attribute, side, rows) for side in (codes, low, high)]
    fall = 2 * (spreads[0] / total - spreads[1] / left - spreads[2] / right) / total
    return Cut(fall, frozenset(low))


def spread(attribute: Number, codes: Sequence[int], rows: Counter[int]) -> int:
    """Return the sum of the distances of all pairs of rows, gap by gap; no gap exceeds the price of the full range."""
    total, below, distances = sum(rows[code] for code in codes), 0, 0
    for before, code in pairwise(codes):
        below += rows[before]
        gap = min(attribute.places[code] - attribute.places[before], attribute.whole)
        distances += gap * below * (total - below)
    return distances
