"""The verifier's own estimators of how many people are unique in a population.

Sums of digamma functions and the like are computed with 28 decimal digits, so that nothing cancels even for large
populations. An estimate that does not exist counts as one above any limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

__all__ = ["ESTIMATORS", "estimate_uniques"]

ESTIMATORS = ("dankar", "zayatz", "pitman", "snb")
DIGITS = 28
HALVINGS = 100
CLOSE = "1e-13"  # relative; roots are halved until they are known this well
# Bernoulli numbers B_2, B_4, ... for the asymptotic series of the digamma and log-gamma functions.
BERNOULLI = tuple(map(Fraction, ("1/6", "-1/30", "1/42", "-1/30", "5/66", "-691/2730", "7/6", "-3617/510")))
DIGAMMA_SERIES = [Decimal(b.numerator) / (b.denominator * 2 * i) for i, b in enumerate(BERNOULLI, 1)]
LOG_GAMMA_SERIES = [factor / (2 * i - 1) for i, factor in enumerate(DIGAMMA_SERIES, 1)]
LARGE = 20  # from here on the series is exact to more digits than matter
LONG_GAP = 50  # sizes with a larger gap are bridged by digamma functions
ODDS, POINTS = (-25, 12), 60  # where the equation of the shifted negative binomial is searched for its first root
SMALL_SHARE = Fraction(1, 10)

N = TypeVar("N", float, Decimal)


def estimate_uniques(sizes: Counter[int], population: int, estimator: str) -> float | None:
    """Estimate how many people are unique in a population.

    Args:
        sizes: The number of groups of each size.
        population: The number of people in the population, at least that of the groups.
        estimator: One of `ESTIMATORS`.

    Returns:
        The estimate; None if the equations of the estimator have no solution.
    """
    people = sum(size * n for size, n in sizes.items())
    if not sizes[1]:
        return 0.0
    if people == population:
        return float(sizes[1])
    if estimator != "dankar":
        return SOLVERS[estimator](sizes, people, population)
    zayatz = _zayatz(sizes, people, population)
    if Fraction(people, population) <= SMALL_SHARE:
        pitman = _pitman(sizes, people, population)
        return zayatz if pitman is None else pitman
    snb = _negative_binomial(sizes, people, population)
    return snb if snb is not None and zayatz is not None and snb < zayatz else zayatz


def _zayatz(sizes: Mapping[int, int], people: int, population: int) -> float | None:
    """Zayatz 1991: the share of groups of one that come from classes of one, if classes are as large as the groups."""
    with localcontext() as context:
        context.prec = DIGITS
        chance = Decimal(people) / population  # that a class of the size yields one row, divided by the size
        expected, size = Decimal(0), 1
        for known in sorted(sizes):
            while size < known and chance:
                chance *= Decimal(max(0, population - people - size + 1)) / (population - size)
                size += 1
            expected += sizes[known] * known * chance
        if not expected:
            return None
        ones = sizes[1] * Decimal(people) / population
        return float(sizes[1] * ones / expected * population / people)


def _pitman(sizes: Mapping[int, int], people: int, population: int) -> float | None:
    """Pitman's sampling formula at its greatest likelihood, with 0 < alpha < 1 and theta > -alpha (Hoshino 2001)."""
    groups = sum(sizes.values())
    if groups in (1, people):
        return None
    with localcontext() as context:
        context.prec = DIGITS

        def steps(theta: Decimal, alpha: Decimal) -> Decimal:
            """Return the sum of 1 / (theta + i alpha), i from 1 to groups - 1."""
            return _digamma_rise(theta / alpha + 1, theta / alpha + groups) / alpha

        def best_theta(alpha: Decimal) -> Decimal | None:
            def slope(excess: Decimal) -> Decimal:
                theta = excess - alpha
                return steps(theta, alpha) - _digamma_rise(theta + 1, theta + people)

            excess = _zero(slope, Decimal("1e-9"), Decimal("1e12"), geometric=True)
            return None if excess is None else excess - alpha

        def slope(alpha: Decimal) -> Decimal | None:
            theta = best_theta(alpha)
            if theta is None:
                return None
            spread = (groups - 1 - theta * steps(theta, alpha)) / alpha
            return spread - _inside(sizes, alpha)

        alpha = _zero(slope, Decimal("1e-6"), 1 - Decimal("1e-6"))
        theta = None if alpha is None else best_theta(alpha)
        if alpha is None or theta is None:
            return None
        logs = _log_gamma(theta + 1) - _log_gamma(theta + alpha)
        logs += _log_gamma(theta + population + alpha - 1) - _log_gamma(theta + population)
        return _possible(float(population * logs.exp()), population)


def _inside(sizes: Mapping[int, int], alpha: Decimal) -> Decimal:
    """Return the sum over all groups of 1 / (1 - alpha) + ... + 1 / (size - 1 - alpha)."""
    total, reached, sum_so_far = Decimal(0), 1, Decimal(0)
    for size in sorted(sizes):
        if size - reached < LONG_GAP:
            sum_so_far += sum((1 / (i - alpha) for i in range(reached, size)), Decimal(0))
        else:
            sum_so_far += _digamma_rise(reached - alpha, size - alpha)
        reached = size
        total += sizes[size] * sum_so_far
    return total


def _negative_binomial(sizes: Mapping[int, int], people: int, population: int) -> float | None:
    """Classes of one plus a negative binomial number that repeat the groups and the groups of one of the sample."""
    groups, share = sum(sizes.values()), people / population
    if groups == people:
        return None

    def logs(odds: float) -> tuple[float, float]:
        """Return log p and log(p / (1 - (1 - p)(1 - share))) for the log of p / (1 - p)."""
        rest = 1 / (1 + math.exp(odds))  # 1 - p
        return -math.log1p(math.exp(-odds)), -math.log1p(math.exp(-odds)) - math.log1p(-rest * (1 - share))

    def n_classes(odds: float, r: float) -> float:
        return population / (1 + r * math.exp(-odds))

    def shape(odds: float) -> float | None:
        _, seen = logs(odds)
        return _zero(
            lambda r: n_classes(odds, r) * (1 - (1 - share) * math.exp(r * seen)) - groups, 1e-9, 1e9, geometric=True
        )

    def excess(odds: float) -> float | None:
        r = shape(odds)
        if r is None:
            return None
        rest = 1 / (1 + math.exp(odds))
        unseen = 1 - share
        once = share * math.exp(r * logs(odds)[1]) * (1 + unseen * r * rest / (1 - rest * unseen))
        return n_classes(odds, r) * once - sizes[1]

    grid = [ODDS[0] + (ODDS[1] - ODDS[0]) * i / (POINTS - 1) for i in range(POINTS)]
    values = [excess(odds) for odds in grid]
    for i, (left, right) in enumerate(pairwise(values)):
        if left is not None and right is not None and left * right <= 0:
            odds = _zero(excess, grid[i], grid[i + 1])
            r = None if odds is None else shape(odds)
            if odds is not None and r is not None:
                return _possible(n_classes(odds, r) * math.exp(r * logs(odds)[0]), population)
    return None


SOLVERS: dict[str, Callable[[Mapping[int, int], int, int], float | None]] = {
    "zayatz": _zayatz,
    "pitman": _pitman,
    "snb": _negative_binomial,
}


def _possible(number: float, population: int) -> float | None:
    return number if 0 <= number <= population else None


def _zero(function: Callable[[N], N | None], low: N, high: N, *, geometric: bool = False) -> N | None:
    """Return where a function changes its sign, by halving; None if its signs agree or a value does not exist."""
    first, last = function(low), function(high)
    if first is None or last is None or first * last > 0:
        return None
    for _ in range(HALVINGS):
        if high - low <= abs(low) * type(low)(CLOSE):
            break
        middle = _root(low * high) if geometric else (low + high) / 2
        value = function(middle)
        if value is None:
            return None
        if first * value <= 0:
            high = middle
        else:
            low, first = middle, value
    return low


def _root(square: N) -> N:
    return square.sqrt() if isinstance(square, Decimal) else math.sqrt(square)


def _digamma_rise(x: Decimal, y: Decimal) -> Decimal:
    """Return digamma(y) - digamma(x), for x and y > 0; digamma is the derivative of the log-gamma function."""
    (small, from_small), (large, from_large) = _large_enough(x), _large_enough(y)
    return (large / small).ln() + from_large - from_small


def _large_enough(x: Decimal) -> tuple[Decimal, Decimal]:
    """Return a larger argument z, x plus an integer, and digamma(x) - log z."""
    shift = Decimal(0)
    while x < LARGE:
        shift -= 1 / x
        x += 1
    return x, shift - 1 / (2 * x) - _series(x, DIGAMMA_SERIES) / (x * x)


def _log_gamma(x: Decimal) -> Decimal:
    """Return the log-gamma function up to a constant, for x > 0."""
    shift = Decimal(0)
    while x < LARGE:
        shift -= x.ln()
        x += 1
    return shift + (x - Decimal("0.5")) * x.ln() - x + _series(x, LOG_GAMMA_SERIES) / x


def _series(x: Decimal, factors: Sequence[Decimal]) -> Decimal:
    """Return the sum of factor / x^(2 i), i from 0 on."""
    square, total = 1 / (x * x), Decimal(0)
    for factor in reversed(factors):
        total = total * square + factor
    return total
