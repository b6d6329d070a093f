"""One judge for each privacy model: which groups of a release break it. Written apart from the models themselves.

Thresholds are the fractions that their texts say. A missing value (None) adds no diversity: it counts as the most
frequent value of its group; in a comparison of distributions it is a value like others, and the last in an order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

from shoal.errors import UsageError

__all__ = ["JUDGES", "Evidence"]

Group = tuple[str, ...]
CLOSE = 1e-9  # floats nearer than this are not believed
MOST_ROWS = 20_000  # beyond, powers of counts are not worked out
PRECISION = 50


class Evidence(NamedTuple):
    """What a judge may look at.

    values: the rows of each value of the model's column in each group. paths: the labels of each value in the
    column's hierarchy, from level 1 up.
    """

    spec: Mapping[str, Any]
    rows: Mapping[Group, int]
    sizes: Mapping[Group, int]
    fitting: Mapping[Group, int]
    values: Mapping[Group, Counter[Any]]
    kind: str | None
    paths: Mapping[Any, Sequence[str]]

    def fraction(self, name: str) -> Fraction:
        """Return a threshold."""
        return Fraction(str(self.spec[name]))

    def whole(self, name: str, default: int = 1) -> int:
        """Return a whole number."""
        return int(self.spec.get(name, default))

    def everyone(self) -> Counter[Any]:
        """Return the rows of each value in the release."""
        total: Counter[Any] = Counter()
        for counts in self.values.values():
            total.update(counts)
        return total


def _frequencies(counts: Counter[Any]) -> list[int]:
    """Return the rows of each value, most frequent first; those without one belong to the first."""
    known = sorted((n for value, n in counts.items() if value is not None), reverse=True)
    absent = counts[None]
    return [known[0] + absent, *known[1:]] if known else [absent]


def _distinct(case: Evidence) -> list[Group]:
    return [group for group, counts in case.values.items() if len(_frequencies(counts)) < case.whole("l")]


def _entropy(case: Evidence) -> list[Group]:
    least = case.fraction("l")
    return [group for group, counts in case.values.items() if _is_poor(_frequencies(counts), least)]


def _is_poor(counts: list[int], least: Fraction) -> bool:
    """Say whether the entropy is below log(least): n^n < least^n * product of c^c."""
    n = sum(counts)
    entropy = math.log(n) - sum(c * math.log(c) for c in counts) / n
    if abs(entropy - math.log(least)) > CLOSE:
        return entropy < math.log(least)
    common = math.gcd(*counts)
    counts, n = [c // common for c in counts], n // common
    if n <= MOST_ROWS:
        return bool(Fraction(n) ** n < least**n * math.prod(c**c for c in counts))
    with localcontext() as context:
        context.prec = PRECISION
        used = sum((c * Decimal(c).ln() for c in counts), Decimal(0))
        allowed = n * (Decimal(n) * least.denominator / least.numerator).ln()
        return used >= allowed * (1 - Decimal(10) ** (10 - PRECISION))


def _recursive(case: Evidence) -> list[Group]:
    c, l = case.fraction("c"), case.whole("l")
    found = []
    for group, counts in case.values.items():
        ordered = _frequencies(counts)
        if not ordered[0] < c * sum(ordered[l - 1 :]):
            found.append(group)
    return found


def _alpha_k(case: Evidence) -> list[Group]:
    alpha, k = case.fraction("alpha"), case.whole("k")
    return [
        group
        for group, counts in case.values.items()
        if Fraction(_frequencies(counts)[0], case.rows[group]) > alpha or case.sizes[group] < k
    ]


def _p_sensitive(case: Evidence) -> list[Group]:
    p, k = case.whole("p"), case.whole("k")
    return [group for group, counts in case.values.items() if len(_frequencies(counts)) < p or case.sizes[group] < k]


def _closeness(case: Evidence) -> list[Group]:
    distance = case.spec.get("distance") or (
        "hierarchical" if case.paths else "ordered" if case.kind in ("numeric", "date") else "equal"
    )
    t, every = case.fraction("t"), case.everyone()
    total = every.total()
    if distance == "ordered":
        order = _order(case, every)
        work: Callable[[Counter[Any]], int] = lambda counts: _ordered_work(counts, every, order)  # noqa: E731
        unit = max(1, len(order) - 1)
    else:
        height = len(next(iter(case.paths.values()), ())) if distance == "hierarchical" else 1
        if distance == "hierarchical" and any(value not in case.paths for value in every if value is not None):
            raise UsageError(f"column {case.spec['column']!r}: its hierarchy is needed, with all of its values.")
        work = lambda counts: _level_work(counts, every, case.paths, height)  # noqa: E731
        unit = 2 * height
    return [group for group, counts in case.values.items() if Fraction(work(counts), unit * counts.total() * total) > t]


def _order(case: Evidence, every: Counter[Any]) -> list[Any]:
    known = [value for value in every if value is not None]
    given = [("text", text) for text in case.spec.get("order", ())]
    if given:
        if lacking := sum(value not in given for value in known):
            raise UsageError(f"the order of column {case.spec['column']!r} lacks {lacking} of its values.")
        known.sort(key=given.index)
    elif case.kind not in ("numeric", "date"):
        raise UsageError(f"column {case.spec['column']!r} holds categories, which have no order. Give one.")
    else:
        known.sort(key=lambda value: value[1])
    return known + [None] * (None in every)


def _ordered_work(counts: Counter[Any], every: Counter[Any], order: Sequence[Any]) -> int:
    size, total, heap, work = counts.total(), every.total(), 0, 0
    for value in order:
        heap += counts[value] * total - every[value] * size
        work += abs(heap)
    return work


def _level_work(counts: Counter[Any], every: Counter[Any], paths: Mapping[Any, Sequence[str]], height: int) -> int:
    """Add up what has to leave or enter each node below the root; level 0 are the values themselves."""
    size, total, work = counts.total(), every.total(), 0
    for level in range(height):
        excess: Counter[Any] = Counter()
        for value, rows in every.items():
            labels = paths.get(value)
            node = (value,) if level == 0 else labels[level - 1] if labels else "*"
            excess[node] += counts[value] * total - rows * size
        work += sum(map(abs, excess.values()))
    return work


def _disclosure(case: Evidence) -> list[Group]:
    delta, every = case.fraction("delta"), case.everyone()
    total = every.total()

    def is_far(here: int, there: int) -> bool:
        """Say whether one is 2^delta times the other, or more."""
        low, high = sorted((here, there))
        if not low:
            return True
        if abs(math.log2(high / low) - delta) > CLOSE:
            return math.log2(high / low) > delta
        return bool(high**delta.denominator >= 2**delta.numerator * low**delta.denominator)

    return [
        group
        for group, counts in case.values.items()
        if any(is_far(counts[value] * total, rows * counts.total()) for value, rows in every.items())
    ]


def _likeness(case: Evidence) -> list[Group]:
    beta, every = case.fraction("beta"), case.everyone()
    total = every.total()
    most = {}
    for value, rows in every.items():
        gain = beta
        if case.spec.get("enhanced"):
            with localcontext() as context:
                context.prec = PRECISION
                share = Fraction(rows, total)
                gain = min(beta, -Fraction((Decimal(share.numerator) / Decimal(share.denominator)).ln()))
        most[value] = Fraction(rows, total) * (1 + gain)
    return [
        group
        for group, counts in case.values.items()
        if any(Fraction(rows, counts.total()) > most[value] for value, rows in counts.items())
    ]


def _k_map(case: Evidence) -> list[Group]:
    return [group for group in case.rows if case.fitting[group] < case.whole("k")]


def _presence(case: Evidence) -> list[Group]:
    low, high = case.fraction("low"), case.fraction("high")
    return [
        group
        for group, rows in case.rows.items()
        if not low * case.fitting[group] <= rows <= high * case.fitting[group]
    ]


def _maximal_risk(case: Evidence) -> list[Group]:
    return [group for group, size in case.sizes.items() if Fraction(1, size) > case.fraction("limit")]


def _average_risk(case: Evidence) -> list[Group]:
    limit = case.fraction("limit")
    if len(case.sizes) <= limit * sum(case.sizes.values()):
        return []
    return [group for group, size in case.sizes.items() if Fraction(1, size) > limit]


JUDGES: dict[str, Callable[[Evidence], list[Group]]] = {
    "distinct-l": _distinct,
    "entropy-l": _entropy,
    "recursive-l": _recursive,
    "alpha-k": _alpha_k,
    "p-sensitive": _p_sensitive,
    "t-closeness": _closeness,
    "delta-disclosure": _disclosure,
    "beta-likeness": _likeness,
    "k-map": _k_map,
    "delta-presence": _presence,
    "maximal-risk": _maximal_risk,
    "average-risk": _average_risk,
}
