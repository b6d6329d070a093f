"""One judge for each privacy model: it returns the groups of a release that fail. Written apart from the models.

Thresholds are exact fractions of their texts. A missing value (None) adds no diversity: it counts as the most frequent
value of its group. In a comparison of distributions it is a value like the others, and the last one in an order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from shoal.errors import UsageError
from shoal.verification.models.distances import level_work, ordered_work
from shoal.verification.models.population_uniques import estimate_uniques
from shoal.verification.models.sampling import least_group
from shoal.verification.verdict import Group, exact

__all__ = ["JUDGES", "ORDERED", "Evidence", "TableFacts"]

LOG_DIGITS = 60
CLOSE = 1e-9  # floats closer than this are compared again, exactly
MOST_ROWS = 20_000  # powers of counts are computed exactly up to this many rows
PRECISION = 50
ORDERED = ("numeric", "date", "ordered", "boolean")  # the kinds whose values have an order
EULER = Decimal("0.57721566490153286060651209008240243104215933593992")


class TableFacts(NamedTuple):
    """What is known of all groups where a judge sees only some of them.

    Attributes:
        values: The rows of each value of the model's column.
        sizes: How many groups have each size.
        rows: The number of rows.
        lone_rows: The rows of the groups of one row or person.
    """

    values: Counter[Any]
    sizes: Counter[int]
    rows: int
    lone_rows: int


class Evidence(NamedTuple):
    """What a judge decides on.

    Attributes:
        spec: The model as plain values.
        rows: The rows of each group.
        sizes: The rows or persons of each group, which k counts.
        fitting: The rows of the population that each group covers.
        values: The rows of each value of the model's column in each group.
        kind: The kind of the column.
        paths: The labels of each value in the column's hierarchy, from level 1 up.
        whole: What is known of all groups; None if these groups are all.
    """

    spec: Mapping[str, Any]
    rows: Mapping[Group, int]
    sizes: Mapping[Group, int]
    fitting: Mapping[Group, int]
    values: Mapping[Group, Counter[Any]]
    kind: str | None
    paths: Mapping[Any, Sequence[str]]
    whole: TableFacts | None = None

    def fraction(self, name: str) -> Fraction:
        """Return a threshold of the model."""
        try:
            return exact(self.spec[name])
        except ValueError:
            raise UsageError(f"{name} of model {self.spec['name']!r} is not a number that can be checked.") from None

    def integer(self, name: str, default: int = 1) -> int:
        """Return an integer parameter of the model."""
        return int(self.spec.get(name, default))

    def table(self) -> TableFacts:
        """Return what is known of all groups."""
        if self.whole is not None:
            return self.whole
        total: Counter[Any] = Counter()
        for counts in self.values.values():
            total.update(counts)
        lone_rows = sum(self.rows[group] for group, size in self.sizes.items() if size == 1)
        return TableFacts(total, Counter(self.sizes.values()), sum(self.rows.values()), lone_rows)


def _frequencies(counts: Counter[Any]) -> list[int]:
    """Return the rows of each value, most frequent first; rows without a value count for the first."""
    sorted_counts = sorted((n for value, n in counts.items() if value is not None), reverse=True)
    n_missing = counts[None]
    return [sorted_counts[0] + n_missing, *sorted_counts[1:]] if sorted_counts else [n_missing]


def _distinct(case: Evidence) -> list[Group]:
    """Return the groups with fewer than l distinct values."""
    return [group for group, counts in case.values.items() if len(_frequencies(counts)) < case.integer("l")]


def _entropy(case: Evidence) -> list[Group]:
    """Return the groups whose entropy is below log(l)."""
    least = case.fraction("l")
    return [group for group, counts in case.values.items() if _is_entropy_below(_frequencies(counts), least)]


def _is_entropy_below(counts: list[int], least: Fraction) -> bool:
    """Return whether the entropy is below log(least): n^n < least^n * product of c^c."""
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


def _grassberger(case: Evidence) -> list[Group]:
    """Return the groups whose entropy, estimated by Grassberger, is below log(l), or that have a single value."""
    least = case.fraction("l")
    return [
        group
        for group, counts in case.values.items()
        if (least > 1 and len(_frequencies(counts)) == 1) or _is_estimate_below(_frequencies(counts), least)
    ]


def _is_estimate_below(counts: list[int], least: Fraction) -> bool:
    """Return whether log n - (1/n) sum of c G(c) < log(least); G(c) = -euler - log 2 + 2 (1 + 1/3 + 1/5 + ...)."""
    n = sum(counts)
    with localcontext() as context:
        context.prec = PRECISION
        used, terms, odd_sum = Decimal(0), 0, Decimal(0)
        for c in sorted(counts):  # the odd sum of c has c // 2 terms
            odd_sum += sum((1 / Decimal(2 * j + 1) for j in range(terms, c // 2)), Decimal(0))
            terms = c // 2
            used += c * (2 * odd_sum - EULER - Decimal(2).ln())
        return (Decimal(n) * least.denominator / least.numerator).ln() < used / n


def _recursive(case: Evidence) -> list[Group]:
    """Return the groups in which the most frequent value is not below c times the rows of the l-th and rarer values."""
    c, l = case.fraction("c"), case.integer("l")
    failing = []
    for group, counts in case.values.items():
        frequencies = _frequencies(counts)
        if not frequencies[0] < c * sum(frequencies[l - 1 :]):
            failing.append(group)
    return failing


def _alpha_k(case: Evidence) -> list[Group]:
    """Return the groups in which a value exceeds the share alpha, or that are smaller than k."""
    alpha, k = case.fraction("alpha"), case.integer("k")
    return [
        group
        for group, counts in case.values.items()
        if Fraction(_frequencies(counts)[0], case.rows[group]) > alpha or case.sizes[group] < k
    ]


def _p_sensitive(case: Evidence) -> list[Group]:
    """Return the groups with fewer than p distinct values or fewer than k rows."""
    p, k = case.integer("p"), case.integer("k")
    return [group for group, counts in case.values.items() if len(_frequencies(counts)) < p or case.sizes[group] < k]


def _closeness(case: Evidence) -> list[Group]:
    """Return the groups whose distribution is farther than t from that of the release (earth mover's distance)."""
    distance = case.spec.get("distance") or (
        "hierarchical" if case.paths else "ordered" if case.kind in ORDERED else "equal"
    )
    t, totals = case.fraction("t"), case.table().values
    total = totals.total()
    if distance == "ordered":
        order = _order(case, totals)
        work, unit = ordered_work(totals, order), max(1, len(order) - 1)
    else:
        height = len(next(iter(case.paths.values()), ())) if distance == "hierarchical" else 1
        if distance == "hierarchical" and any(value not in case.paths for value in totals if value is not None):
            raise UsageError(f"column {case.spec['column']!r}: a hierarchy with all of its values is needed.")
        work, unit = level_work(totals, case.paths, height), 2 * height
    return [group for group, counts in case.values.items() if Fraction(work(counts), unit * counts.total() * total) > t]


def _order(case: Evidence, totals: Counter[Any]) -> list[Any]:
    """Return the values in order, a missing one last."""
    values = [value for value in totals if value is not None]
    order = {("text", text): i for i, text in reversed([*enumerate(case.spec.get("order", ()))])}  # the first counts
    name = case.spec["column"]
    if order:
        if n_unordered := sum(value not in order for value in values):
            raise UsageError(f"the order of column {name!r} does not contain {n_unordered} of its values. Add them.")
        values.sort(key=order.__getitem__)
    elif case.kind not in ORDERED:
        raise UsageError(f"column {name!r} is categorical and has no order. Give the model an order.")
    else:
        values.sort(key=lambda value: value[1])
    return values + [None] * (None in totals)


def _disclosure(case: Evidence) -> list[Group]:
    """Return the groups in which the share of a value differs from that in the release by a factor of 2^delta."""
    delta, totals = case.fraction("delta"), case.table().values
    total = totals.total()

    def is_far(group_rows: int, table_rows: int) -> bool:
        """Return whether one is at least 2^delta times the other."""
        low, high = sorted((group_rows, table_rows))
        if not low:
            return True
        if abs(math.log2(high / low) - delta) > CLOSE:
            return math.log2(high / low) > delta
        if delta.denominator == 1:
            return bool(high >= 2**delta.numerator * low)
        with localcontext() as context:  # a root of 2 is irrational, so that digits decide
            context.prec = LOG_DIGITS
            share = (Decimal(high) / Decimal(low)).ln() / Decimal(2).ln()
            return share * delta.denominator >= delta.numerator

    return [
        group
        for group, counts in case.values.items()
        if any(is_far(counts[value] * total, rows * counts.total()) for value, rows in totals.items())
    ]


def _likeness(case: Evidence) -> list[Group]:
    """Return the groups in which the relative gain of a value over the release exceeds beta."""
    beta, totals = case.fraction("beta"), case.table().values
    total = totals.total()

    @cache  # many values are equally frequent
    def largest_share(table_rows: int) -> Fraction:
        gain, share = beta, Fraction(table_rows, total)
        if case.spec.get("enhanced"):
            with localcontext() as context:
                context.prec = PRECISION
                gain = min(beta, -Fraction((Decimal(share.numerator) / Decimal(share.denominator)).ln()))
        return share * (1 + gain)

    return [
        group
        for group, counts in case.values.items()
        if any(Fraction(rows, counts.total()) > largest_share(totals[value]) for value, rows in counts.items())
    ]


def _k_map(case: Evidence) -> list[Group]:
    """Return the groups that cover fewer than k rows of the population."""
    return [group for group in case.rows if case.fitting[group] < case.integer("k")]


def _presence(case: Evidence) -> list[Group]:
    """Return the groups whose share of the rows of the population that they cover is outside [low, high]."""
    low, high = case.fraction("low"), case.fraction("high")
    return [
        group
        for group, rows in case.rows.items()
        if not low * case.fitting[group] <= rows <= high * case.fitting[group]
    ]


def _maximal_risk(case: Evidence) -> list[Group]:
    """Return the groups whose re-identification risk is above the limit."""
    return [group for group, size in case.sizes.items() if Fraction(1, size) > case.fraction("limit")]


def _average_risk(case: Evidence) -> list[Group]:
    """Return the groups above the limit if the average re-identification risk is above it."""
    limit, sizes = case.fraction("limit"), case.table().sizes
    if sizes.total() <= limit * _members(sizes):
        return []
    return [group for group, size in case.sizes.items() if Fraction(1, size) > limit]


def _members(sizes: Counter[int]) -> int:
    """Return the rows or people of all groups."""
    return sum(size * n for size, n in sizes.items())


def _lone(case: Evidence) -> list[Group]:
    """Return the groups of one row or person."""
    return [group for group, size in case.sizes.items() if size == 1]


def _sample_uniqueness(case: Evidence) -> list[Group]:
    """Return the groups of one if their share of the rows is above the limit."""
    table = case.table()
    return [] if table.lone_rows <= case.fraction("limit") * table.rows else _lone(case)


def _population_uniqueness(case: Evidence) -> list[Group]:
    """Return the groups of one if the estimated share of unique people is above the limit, or unknown."""
    population, sizes = case.integer("population"), case.table().sizes
    if population < _members(sizes):
        return list(case.sizes)
    estimator = str(case.spec.get("estimator", "dankar"))
    estimate = estimate_uniques(sizes, population, estimator)
    is_met = estimate is not None and Fraction(estimate) <= case.fraction("limit") * population
    return [] if is_met else _lone(case)


def _pays(case: Evidence, people: int) -> bool:
    """Return whether an attack on a row of a person who hides among some people pays more than is accepted."""
    payout = exact(case.spec.get("payout", 0))
    return case.fraction("gain") > (case.fraction("cost") + payout) * people


def _prosecutor(case: Evidence) -> list[Group]:
    """Return the groups on whose rows an attack pays if the attacker knows who is in the release."""
    return [group for group, size in case.sizes.items() if _pays(case, size)]


def _journalist(case: Evidence) -> list[Group]:
    """Return the groups on whose rows an attack pays if the attacker knows who is in the population."""
    return [group for group in case.rows if _pays(case, case.fitting[group])]


def _differential_privacy(case: Evidence) -> list[Group]:
    """Return the groups with fewer rows than the sample must show."""
    k = least_group(case.fraction("epsilon"), case.fraction("delta"))
    return [group for group, rows in case.rows.items() if k is None or rows < k]


JUDGES: dict[str, Callable[[Evidence], list[Group]]] = {
    "distinct-l": _distinct,
    "entropy-l": _entropy,
    "grassberger-l": _grassberger,
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
    "sample-uniqueness": _sample_uniqueness,
    "population-uniqueness": _population_uniqueness,
    "prosecutor-profit": _prosecutor,
    "journalist-profit": _journalist,
    "differential-privacy": _differential_privacy,
}
