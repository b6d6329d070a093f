"""Population uniques: how many people of the population are alone with their cells, estimated from a sample.

Each estimate depends on the number of groups of each size (a row of the sample is one person) and on the size of the
population. None means that it is unavailable because the equations of its model have no solution for the sample; it
never means 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError

__all__ = ["ESTIMATORS", "Uniques", "dankar", "estimate_uniques", "pitman", "shifted_negative_binomial", "zayatz"]

ESTIMATORS = ("dankar", "zayatz", "pitman", "snb")
STEPS = 200  # of each bisection; far more than the bits of a float
SMALL_SAMPLE = 0.1  # share of the population up to which Pitman's model is the better one (Dankar et al. 2012)
GRID = 60  # points at which the shifted negative binomial model is checked for a change of sign


@dataclass(frozen=True)
class Uniques:
    """Estimates of the number of people who are unique in a population.

    All are exact if the sample is the whole population.

    Attributes:
        size: The size of the population.
        sampling_fraction: The share of the population in the sample.
        zayatz: By Zayatz (1991).
        pitman: By Pitman's sampling formula (Hoshino 2001).
        snb: By the shifted negative binomial model (Chen and Keller-McNulty 1998).
        dankar: The estimate chosen by the rule of Dankar et al. (2012).
        chosen: Which one that is: "zayatz", "pitman" or "snb".
    """

    size: int
    sampling_fraction: float
    zayatz: float | None
    pitman: float | None
    snb: float | None
    dankar: float | None
    chosen: str | None


def estimate_uniques(sizes: NDArray[np.int64], population: int, which: Collection[str] = ESTIMATORS) -> Uniques:
    """Return estimates of the number of people who are unique in a population.

    Args:
        sizes: The sizes of the groups of the sample.
        population: The size of the population.
        which: The estimators that are needed; the others may be None.
    """
    n_rows = int(sizes.sum())
    if population < n_rows:
        raise UsageError(f"population={population} is smaller than the table, which has {n_rows} rows in groups.")
    if not n_rows:
        return Uniques(population, 0.0, None, None, None, None, None)
    share, n_unique = n_rows / population, float((sizes == 1).sum())
    if population == n_rows:
        return Uniques(population, share, n_unique, n_unique, n_unique, n_unique, None)
    of_size = np.bincount(sizes)
    small = share <= SMALL_SAMPLE
    needed = {"zayatz", "pitman" if small else "snb", *which} if "dankar" in which else {*which}
    functions = {"zayatz": zayatz, "pitman": pitman, "snb": shifted_negative_binomial}
    estimates = {
        name: estimator(of_size, population) if name in needed else None for name, estimator in functions.items()
    }
    chosen = dankar(share, **estimates)
    return Uniques(
        population,
        share,
        estimates["zayatz"],
        estimates["pitman"],
        estimates["snb"],
        estimates[chosen] if chosen else None,
        chosen,
    )


def dankar(share: float, *, zayatz: float | None, pitman: float | None, snb: float | None) -> str | None:
    """Return which estimate to use (Dankar et al. 2012), by the sampling fraction and by what is available."""
    if share <= SMALL_SAMPLE:
        first = "pitman" if pitman is not None else "zayatz"
    else:
        first = "snb" if snb is not None and zayatz is not None and snb < zayatz else "zayatz"
    return None if first == "zayatz" and zayatz is None else first


def zayatz(of_size: NDArray[np.int64], population: int) -> float | None:
    """Estimate by Zayatz (1991): the probability that a group of one is a class of one, with sizes as in the sample.

    The probability that i people yield one row is hypergeometric; it is computed as a product, so that no population is
    too large.

    Args:
        of_size: The number of groups of each size.
        population: The size of the population.
    """
    n_rows = int((of_size * np.arange(len(of_size))).sum())
    sizes = np.arange(1, len(of_size), dtype=np.float64)
    drawn = np.arange(1, len(of_size) - 1, dtype=np.float64)
    others = np.maximum(population - n_rows - drawn + 1, 0.0) / (population - drawn)
    one_row = sizes * (n_rows / population) * np.concatenate([[1.0], np.cumprod(others)])
    expected = float((of_size[1:] * one_row).sum())
    if expected <= 0:
        return None
    share = float(of_size[1] * one_row[0]) / expected
    return float(of_size[1]) * share * population / n_rows


def pitman(of_size: NDArray[np.int64], population: int) -> float | None:
    """Estimate by Pitman's sampling formula at its greatest likelihood (Hoshino 2001).

    Its parameters are limited to 0 < alpha < 1 and theta > -alpha.
    """
    groups, n_rows = int(of_size.sum()), int((of_size * np.arange(len(of_size))).sum())
    if groups == n_rows or groups < 2:
        return None
    kept = np.flatnonzero(of_size)

    def best_theta(alpha: float) -> float | None:
        def slope(step: float) -> float:
            theta = step - alpha
            return _harmonic(theta, alpha, groups) - digamma_rise(theta + 1, n_rows - 1)

        return _root(slope, 1e-9, 1e12, geometric=True)

    def slope(alpha: float) -> float:
        theta = best_theta(alpha)
        if theta is None:
            return math.nan
        theta -= alpha
        spread = (groups - 1 - theta * _harmonic(theta, alpha, groups)) / alpha
        inside = sum(int(of_size[i]) * (digamma(i - alpha) - digamma(1 - alpha)) for i in kept.tolist() if i > 1)
        return spread - inside

    alpha = _root(slope, 1e-6, 1 - 1e-6)
    step = None if alpha is None else best_theta(alpha)
    if alpha is None or step is None:
        return None
    theta = step - alpha
    logs = math.lgamma(theta + 1) - math.lgamma(theta + alpha)
    logs += _log_gamma_ratio(theta + population, alpha - 1)
    return _plausible(population * math.exp(logs), population)


def _harmonic(theta: float, alpha: float, groups: int) -> float:
    """Return the sum of 1 / (theta + i alpha) for i from 1 to groups - 1."""
    return digamma_rise(theta / alpha + 1, groups - 1) / alpha


def _log_gamma_ratio(x: float, increment: float) -> float:
    """Return log(gamma(x + increment) / gamma(x)); for large x by its series, because two logarithms would cancel."""
    if x < 1e6:
        return math.lgamma(x + increment) - math.lgamma(x)
    return increment * math.log(x) + increment * (increment - 1) / (2 * x)


def shifted_negative_binomial(of_size: NDArray[np.int64], population: int) -> float | None:
    """Estimate with class sizes of one plus a negative binomial number (Chen and Keller-McNulty 1998).

    Its two parameters reproduce the sample's number of groups and of groups of one, if each person of the population
    is drawn with the same probability.
    """
    groups, n_rows = int(of_size.sum()), int((of_size * np.arange(len(of_size))).sum())
    n_unique, share = int(of_size[1]), n_rows / population
    if groups == n_rows or not n_unique:
        return None
    unseen = 1 - share

    def classes(p: float, r: float) -> float:
        return population / (1 + r * (1 - p) / p)

    def surplus(p: float, r: float) -> float:
        none = unseen * (p / (1 - (1 - p) * unseen)) ** r
        return float(classes(p, r) * (1 - none) - groups)

    def shape(p: float) -> float | None:
        return _root(lambda r: surplus(p, r), 1e-9, 1e9, geometric=True)

    def excess(odds: float) -> float:
        p = 1 / (1 + math.exp(-odds))
        r = shape(p)
        if r is None:
            return math.nan
        rest = 1 - (1 - p) * unseen
        one = share * (p / rest) ** r * (1 + unseen * r * (1 - p) / rest)
        return float(classes(p, r) * one - n_unique)

    grid = np.linspace(-25, 12, GRID).tolist()
    excesses = [excess(odds) for odds in grid]
    for i in range(len(grid) - 1):
        if excesses[i] * excesses[i + 1] <= 0 and not math.isnan(excesses[i] * excesses[i + 1]):
            odds = _root(excess, grid[i], grid[i + 1])
            p = 1 / (1 + math.exp(-odds)) if odds is not None else math.nan
            r = None if math.isnan(p) else shape(p)
            if r is not None:
                return _plausible(classes(p, r) * p**r, population)
    return None


def _plausible(number: float, population: int) -> float | None:
    return number if math.isfinite(number) and 0 <= number <= population else None


def _root(function: Callable[[float], float], low: float, high: float, *, geometric: bool = False) -> float | None:
    """Return where a function changes its sign between two points, by bisection; None if it does not."""
    at_low, at_high = function(low), function(high)
    if math.isnan(at_low) or math.isnan(at_high) or at_low * at_high > 0:
        return None
    for _ in range(STEPS):
        middle = math.sqrt(low * high) if geometric else (low + high) / 2
        if not low < middle < high:
            break
        at_middle = function(middle)
        if math.isnan(at_middle):
            return None
        if at_low * at_middle <= 0:
            high = middle
        else:
            low, at_low = middle, at_middle
    return low


def digamma_rise(x: float, increment: float) -> float:
    """Return digamma(x + increment) - digamma(x); for large x by the series of the difference, as both would cancel."""
    if x < 1e4:
        return digamma(x + increment) - digamma(x)
    squares = increment * (2 * x + increment) / (x * (x + increment)) ** 2
    return math.log1p(increment / x) + increment / (2 * x * (x + increment)) + squares / 12


def digamma(x: float) -> float:
    """Return the derivative of the logarithm of the gamma function, for x > 0."""
    result = 0.0
    while x < 10:
        result -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return result + math.log(x) - 0.5 / x - series
