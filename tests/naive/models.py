"""The privacy models in plain Python: a group is the list of its sensitive values (None where one is missing).

Each function says whether a group fails, with fractions and integers alone; `everyone` is the list of all values of the
release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import comb, exp, log, prod

Values = Sequence[object]


def diverse_counts(group: Values) -> list[int]:
    """Rows of each value, most frequent first; missing ones count as the most frequent value."""
    known = sorted(Counter(value for value in group if value is not None).values(), reverse=True)
    absent = sum(value is None for value in group)
    if not known:
        return [absent]
    return [known[0] + absent, *known[1:]]


def fails_distinct(group: Values, l: int) -> bool:
    return len(diverse_counts(group)) < l


def fails_entropy(group: Values, l: Fraction) -> bool:
    """n log n - sum c log c < n log l, as a statement about integers."""
    counts, n = diverse_counts(group), len(group)
    return Fraction(n**n, prod(c**c for c in counts)) < l**n


def digamma(x: float) -> float:
    """The derivative of log gamma, by its recurrence and the first terms of its series for large arguments."""
    total = 0.0
    while x < 1000:
        total -= 1 / x
        x += 1
    return total + log(x) - 1 / (2 * x) - 1 / (12 * x * x)


def fails_grassberger(group: Values, l: Fraction) -> bool:
    """Grassberger 2003: G(n) = psi(n) + (-1)^n / 2 (psi((n + 1) / 2) - psi(n / 2)); one value fails."""
    counts, n = diverse_counts(group), len(group)
    estimate = log(n)
    for c in counts:
        estimate -= c / n * (digamma(c) + (-1) ** c / 2 * (digamma((c + 1) / 2) - digamma(c / 2)))
    return estimate < log(l) or (len(counts) == 1 and l > 1)


def pays(group: Values, cost: Fraction, gain: Fraction, payout: Fraction) -> bool:
    """The expected payout of an attack on a row is above what is accepted."""
    return Fraction(gain) / len(group) - cost > payout


def too_many_alone(groups: Sequence[Values], limit: Fraction) -> bool:
    """The share of rows whose group is all they are."""
    return Fraction(sum(len(group) == 1 for group in groups), sum(map(len, groups))) > limit


def least_delta(epsilon: float, beta: float, k: int, most: int) -> float:
    """The least delta of a sampled count that is shown from k on, over all tables of at most `most` equal rows.

    Rows with other values do not matter, as groups are counted apart. Two tables differ in one row: delta is the
    largest sum of what the probabilities of one exceed exp(epsilon) times those of the other.
    """

    def outcomes(n: int) -> dict[int, float]:
        chances = [comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)]
        return {0: sum(chances[:k]), **{j: chances[j] for j in range(k, n + 1)}}

    def excess(one: dict[int, float], other: dict[int, float]) -> float:
        return sum(max(0.0, chance - exp(epsilon) * other.get(j, 0.0)) for j, chance in one.items())

    pairs = [(outcomes(n), outcomes(n - 1)) for n in range(1, most + 1)]
    return max(max(excess(one, other), excess(other, one)) for one, other in pairs)


def fails_recursive(group: Values, c: Fraction, l: int) -> bool:
    counts = diverse_counts(group)
    return not counts[0] < c * sum(counts[l - 1 :])


def fails_alpha_k(group: Values, alpha: Fraction, k: int) -> bool:
    return Fraction(diverse_counts(group)[0], len(group)) > alpha or len(group) < k


def fails_p_sensitive(group: Values, p: int, k: int) -> bool:
    return fails_distinct(group, p) or len(group) < k


def shares(group: Values, values: Sequence[object]) -> list[Fraction]:
    return [Fraction(sum(other == value for other in group), len(group)) for value in values]


def equal_distance(group: Values, everyone: Values) -> Fraction:
    values = list(dict.fromkeys(everyone))
    return (
        sum((abs(p - q) for p, q in zip(shares(group, values), shares(everyone, values), strict=True)), Fraction(0)) / 2
    )


def ordered_distance(group: Values, everyone: Values, order: Sequence[object]) -> Fraction:
    """order: all values that may occur, in their order."""
    values = [value for value in order if value in everyone]
    if len(values) == 1:
        return Fraction(0)
    gaps = [p - q for p, q in zip(shares(group, values), shares(everyone, values), strict=True)]
    return sum((abs(gap) for gap in accumulate(gaps)), Fraction(0)) / (len(values) - 1)


def hierarchical_distance(group: Values, everyone: Values, paths: dict[object, Sequence[str]]) -> Fraction:
    """Li et al. 2007: each node pays its height for what its children must exchange; paths: labels from level 1 up."""
    values = list(dict.fromkeys(everyone))
    gaps = {v: p - q for v, p, q in zip(values, shares(group, values), shares(everyone, values), strict=True)}
    height = len(next(iter(paths.values())))
    cost = Fraction(0)
    below = {(value,): gap for value, gap in gaps.items()}
    places = {(value,): value for value in values}
    for level in range(height):
        children: dict[object, list[Fraction]] = {}
        nodes, leaves = {}, {}
        for key, gap in below.items():
            label = (paths[places[key]][level],)
            children.setdefault(label, []).append(gap)
            nodes[label] = nodes.get(label, Fraction(0)) + gap
            leaves[label] = places[key]
        for exchanged in children.values():
            more = sum((gap for gap in exchanged if gap > 0), Fraction(0))
            less = -sum((gap for gap in exchanged if gap < 0), Fraction(0))
            cost += Fraction(level + 1, height) * min(more, less)
        below, places = nodes, leaves
    return cost


def fails_delta_disclosure(group: Values, everyone: Values, delta: Fraction) -> bool:
    values = list(dict.fromkeys(everyone))
    for here, there in zip(shares(group, values), shares(everyone, values), strict=True):
        if not here:
            return True
        ratio = max(here / there, there / here)
        if ratio**delta.denominator >= 2**delta.numerator:
            return True
    return False


def fails_beta_likeness(group: Values, everyone: Values, beta: Fraction, enhanced: bool) -> bool:
    values = list(dict.fromkeys(everyone))
    for here, there in zip(shares(group, values), shares(everyone, values), strict=True):
        most = min(float(beta), -log(there)) if enhanced else beta
        if (here - there) / there > most:
            return True
    return False
