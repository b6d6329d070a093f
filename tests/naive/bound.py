"""The lower bound tuple by tuple, and the optimum by trying every division into groups.

A tuple is a row of codes with its number of rows. Where the kernel bounds or skips a step, the twin computes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

NARROWEST, WIDER = 1e-6, 1.2


@dataclass(frozen=True)
class Number:
    """`values` of the codes, in ascending order; `missing` is the code of the missing value (the largest), or None."""

    values: Sequence[float]
    missing: int | None = None

    @property
    def span(self) -> float:
        known = [value for code, value in enumerate(self.values) if code != self.missing]
        return max(known) - min(known) if known else 0.0

    def loss(self, codes: Sequence[int]) -> float:
        if len(set(codes)) == 1:
            return 0.0
        if self.missing in codes:
            return 1.0
        return (self.values[max(codes)] - self.values[min(codes)]) / self.span


@dataclass(frozen=True)
class Category:
    """`n_values` is the number of values in the table."""

    n_values: int

    def loss(self, codes: Sequence[int]) -> float:
        return 0.0 if len(set(codes)) == 1 else len(set(codes)) / self.n_values


Attribute = Number | Category
Tuple = tuple[int, ...]


def group_loss(tuples: Sequence[Tuple], attributes: Sequence[Attribute]) -> float:
    """Return the loss of each row of a group, summed over the attributes."""
    return sum(attribute.loss([t[a] for t in tuples]) for a, attribute in enumerate(attributes))


def floor(centre: Tuple, counts: dict[Tuple, int], attributes: Sequence[Attribute], k: int) -> float:
    """Return the minimum loss of any group that contains this tuple."""
    if counts[centre] >= k:
        return 0.0
    distance = {t: group_loss([centre, t], attributes) for t in counts}
    rows = sorted(distance[t] for t in counts for _ in range(counts[t]))
    least, radius = rows[k - 1], NARROWEST
    while True:
        while radius <= least:
            radius *= WIDER
        ball = {t: counts[t] for t in counts if distance[t] < radius}
        inside = cheapest(centre, ball, attributes, k)
        if inside < radius:
            return max(least, inside)
        least = radius


def cheapest(centre: Tuple, ball: dict[Tuple, int], attributes: Sequence[Attribute], k: int) -> float:
    """Return the minimum cost over every set of varying categories and every window of the first number."""
    categories = [a for a, attribute in enumerate(attributes) if isinstance(attribute, Category)]
    numbers = [a for a, attribute in enumerate(attributes) if isinstance(attribute, Number)]
    best = float("inf")
    for size in range(len(categories) + 1):
        for varying in combinations(categories, size):
            fixed = set(categories).difference(varying)
            box = {t: n for t, n in ball.items() if all(t[a] == centre[a] for a in fixed)}
            for width, window in windows(centre, box, attributes, numbers[0] if numbers else None):
                if sum(window.values()) >= k:
                    cost = sum(values_needed(centre, window, a, k) / attributes[a].n_values for a in varying)  # type: ignore[union-attr]
                    cost += sum(width_needed(centre, window, attributes[a], a, k) for a in numbers[1:])
                    best = min(best, width + cost)
    return best


def windows(
    centre: Tuple, box: dict[Tuple, int], attributes: Sequence[Attribute], a: int | None
) -> list[tuple[float, dict[Tuple, int]]]:
    """Return the windows of attribute `a` around the centre's value, with their costs; without `a`, the box itself."""
    if a is None:
        return [(0.0, box)]
    attribute = attributes[a]
    found = []
    codes = sorted({t[a] for t in box})
    for low in codes:
        for high in codes:
            ends = [low, centre[a], high]
            if low <= centre[a] <= high and (low == high or attribute.missing not in ends):  # type: ignore[union-attr]
                found.append((attribute.loss(ends), {t: n for t, n in box.items() if low <= t[a] <= high}))
    if attribute.missing is not None:  # type: ignore[union-attr]
        found.append((1.0, box))
    return found


def values_needed(centre: Tuple, box: dict[Tuple, int], a: int, k: int) -> float:
    """Return how many values of `a` (at least 2) contain k rows: the centre's value, then the most frequent ones."""
    rows = Counter[int]()
    for t, n in box.items():
        rows[t[a]] += n
    total = rows.pop(centre[a])
    for i, (_, n) in enumerate(rows.most_common()):
        total += n
        if total >= k:
            return 2 + i
    return float("inf")


def width_needed(centre: Tuple, box: dict[Tuple, int], attribute: Attribute, a: int, k: int) -> float:
    """Return the narrowest range of `a` around the centre's value that contains k rows; 1 if there is none."""
    codes = sorted({t[a] for t in box})
    ranges = [
        attribute.loss([low, high])
        for low in codes
        for high in codes
        if low <= centre[a] <= high and sum(n for t, n in box.items() if low <= t[a] <= high) >= k
    ]
    return min([1.0, *ranges])


def shared(
    centre: Tuple,
    counts: dict[Tuple, int],
    attributes: Sequence[Attribute],
    k: int,
    levels: int,
    floors: dict[Tuple, float],
    caps: dict[Tuple, float],
    weights: dict[Tuple, float],
    carried: dict[Tuple, float],
) -> float:
    """Return the centre's claim after one more round, with its part of the slack of the worst group below its cap."""
    if weights[centre] == 0 or caps[centre] <= carried[centre]:
        return carried[centre]
    bottom, cap = floors[centre], caps[centre]
    rate = (cap - carried[centre]) / weights[centre]
    high = bottom
    for level in range(levels):
        low, high = high, bottom + (cap - bottom) * (level + 1) / levels
        others = [
            t
            for t in counts
            for _ in range(counts[t] - (t == centre))
            if max(group_loss([centre, t], attributes), floors[t], bottom) < high
        ]
        if len(others) + 1 < k:
            continue
        # The greatest rate at which no group of k to 2k - 1 rows has less slack than is claimed, by halving.
        if least_worth(centre, others, k, low, high, rate, caps, weights, carried) < -1e-15:
            good, bad = 0.0, rate
            for _ in range(60):
                middle = (good + bad) / 2
                if least_worth(centre, others, k, low, high, middle, caps, weights, carried) >= 0:
                    good = middle
                else:
                    bad = middle
            rate = good
    return carried[centre] + rate * weights[centre]


def least_worth(
    centre: Tuple,
    others: Sequence[Tuple],
    k: int,
    low: float,
    high: float,
    rate: float,
    caps: dict[Tuple, float],
    weights: dict[Tuple, float],
    carried: dict[Tuple, float],
) -> float:
    """Return slack minus claims of the worst group with the centre whose loss lies between `low` and `high`."""

    def worth(t: Tuple) -> float:
        near = low - carried[t] - rate * weights[t]
        if caps[t] <= low:
            return low - caps[t]
        return min(near, 0.0) if caps[t] < high else near

    worths = sorted(map(worth, others))
    sums = [sum(worths[: size - 1]) for size in range(k, min(2 * k - 1, len(others) + 1) + 1)]
    return low - carried[centre] - rate * weights[centre] + min(sums)


def divided(
    wanted: dict[Tuple, float], counts: dict[Tuple, int], attributes: Sequence[Attribute], k: int
) -> dict[Tuple, float]:
    """Return the share of a row of each tuple: as wanted, lowered by groups with tuples that wanted no more."""
    shares: dict[Tuple, float] = {}
    for centre in sorted(wanted, key=lambda t: wanted[t]):
        share = wanted[centre]
        others = [t for t in [*shares, centre] for _ in range(counts[t] - (t == centre))]
        for size in range(k, 2 * k):
            for group in combinations(others, size - 1):
                own = 1 + group.count(centre)
                rest = sum(shares[t] for t in group if t != centre)
                share = min(share, (size * group_loss([centre, *group], attributes) - rest) / own)
        shares[centre] = share
    return shares


def optimum(rows: Sequence[Tuple], attributes: Sequence[Attribute], k: int) -> float:
    """Return the minimum mean loss of a cell over all divisions of the rows into groups of at least k rows."""
    n = len(rows)
    best = [0.0] + [float("inf")] * (2**n - 1)
    groups: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for size in range(k, min(2 * k, n + 1)):
        for group in combinations(range(n), size):
            cost = size * group_loss([rows[i] for i in group], attributes)
            groups[group[0]].append((sum(1 << i for i in group), cost))
    for left in range(1, 2**n):
        first = (left & -left).bit_length() - 1
        for group_bits, cost in groups[first]:
            if group_bits & ~left == 0:
                best[left] = min(best[left], best[left & ~group_bits] + cost)
    return best[-1] / (n * len(attributes))
