"""How many people of the population are alone with their cells, told from a sample of it alone.

Each estimate takes how many groups have each size (a row of the sample is one person) and the size of the population.
None says that it is not available: the equations of the model have no answer for this sample. It never stands for 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError

__all__ = ["Uniques", "dankar", "estimate_uniques", "pitman", "shifted_negative_binomial", "zayatz"]

STEPS = 200  # of each bisection; far more than a float has bits
SMALL_SAMPLE = 0.1  # share of the population up to which Pitman's model is the better one (Dankar et al. 2012)
GRID = 60  # places where the model of the shifted negative binomial is tried for a change of sign


@dataclass(frozen=True)
class Uniques:
    """Estimates of the number of people alone with their cells in a population of this size.

    chosen: the one that the rule of Dankar et al. takes, "zayatz", "pitman" or "snb"; all are exact where the sample is
    the whole population.
    """

    size: int
    sampling_fraction: float
    zayatz: float | None
    pitman: float | None
    snb: float | None
    dankar: float | None
    chosen: str | None


def estimate_uniques(sizes: NDArray[np.int64], population: int) -> Uniques:
    """Return all estimates; sizes: of the groups of the sample."""
    n_rows = int(sizes.sum())
    if population < n_rows:
        raise UsageError(f"population={population} is smaller than the table, which has {n_rows} rows in groups.")
    if not n_rows:
        return Uniques(population, 0.0, None, None, None, None, None)
    share, alone = n_rows / population, float((sizes == 1).sum())
    if population == n_rows:
        return Uniques(population, share, alone, alone, alone, alone, None)
    of_size = np.bincount(sizes)
    found = {
        "zayatz": zayatz(of_size, population),
        "pitman": pitman(of_size, population),
        "snb": shifted_negative_binomial(of_size, population),
    }
    chosen = dankar(share, **found)
    return Uniques(
        population, share, found["zayatz"], found["pitman"], found["snb"], found[chosen] if chosen else None, chosen
    )


def dankar(share: float, *, zayatz: float | None, pitman: float | None, snb: float | None) -> str | None:
    """Return which estimate to take (Dankar et al. 2012): by the share of the population, and by what is available."""
    if share <= SMALL_SAMPLE:
        first = "pitman" if pitman is not None else "zayatz"
    else:
        first = "snb" if snb is not None and zayatz is not None and snb < zayatz else "zayatz"
    return None if first == "zayatz" and zayatz is None else first


def zayatz(of_size: NDArray[np.int64], population: int) -> float | None:
    """Estimate as Zayatz (1991): how likely a group of one comes from a class of one, all sizes as in the sample.

    of_size[i]: groups of i rows. The chance that i people give one row is hypergeometric; worked out as a product, so
    that no population is too large.
    """
    n_rows = int((of_size * np.arange(len(of_size))).sum())
    sizes = np.arange(1, len(of_size), dtype=np.float64)
    taken = np.arange(1, len(of_size) - 1, dtype=np.float64)
    others = np.maximum(population - n_rows - taken + 1, 0.0) / (population - taken)
    one_row = sizes * (n_rows / population) * np.concatenate([[1.0], np.cumprod(others)])
    expected = float((of_size[1:] * one_row).sum())
    if expected <= 0:
        return None
    share = float(of_size[1] * one_row[0]) / expected
    return float(of_size[1]) * share * population / n_rows


def pitman(of_size: NDArray[np.int64], population: int) -> float | None:
    """Estimate by Pitman's sampling formula where its likelihood is greatest (Hoshino 2001).

    Its parameters keep to 0 < alpha < 1 and theta > -alpha.
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


def _log_gamma_ratio(x: float, more: float) -> float:
    """Return log(gamma(x + more) / gamma(x)); for large x by its series, where two logarithms would cancel out."""
    if x < 1e6:
        return math.lgamma(x + more) - math.lgamma(x)
    return more * math.log(x) + more * (more - 1) / (2 * x)


def shifted_negative_binomial(of_size: NDArray[np.int64], population: int) -> float | None:
    """Estimate with class sizes of one plus a negative binomial number (Chen and Keller-McNulty 1998).

    Its two parameters are those that give the sample's number of groups and of groups of one, where each person of the
    population is drawn with the same chance.
    """
    groups, n_rows = int(of_size.sum()), int((of_size * np.arange(len(of_size))).sum())
    alone, share = int(of_size[1]), n_rows / population
    if groups == n_rows or not alone:
        return None
    unseen = 1 - share

    def classes(p: float, r: float) -> float:
        return population / (1 + r * (1 - p) / p)

    def seen(p: float, r: float) -> float:
        none = unseen * (p / (1 - (1 - p) * unseen)) ** r
        return float(classes(p, r) * (1 - none) - groups)

    def shape(p: float) -> float | None:
        return _root(lambda r: seen(p, r), 1e-9, 1e9, geometric=True)

    def excess(odds: float) -> float:
        p = 1 / (1 + math.exp(-odds))
        r = shape(p)
        if r is None:
            return math.nan
        rest = 1 - (1 - p) * unseen
        one = share * (p / rest) ** r * (1 + unseen * r * (1 - p) / rest)
        return float(classes(p, r) * one - alone)

    grid = np.linspace(-25, 12, GRID).tolist()
    tried = [excess(odds) for odds in grid]
    for i in range(len(grid) - 1):
        if tried[i] * tried[i + 1] <= 0 and not math.isnan(tried[i] * tried[i + 1]):
            odds = _root(excess, grid[i], grid[i + 1])
            p = 1 / (1 + math.exp(-odds)) if odds is not None else math.nan
            r = None if math.isnan(p) else shape(p)
            if r is not None:
                return _plausible(classes(p, r) * p**r, population)
    return None


def _plausible(number: float, population: int) -> float | None:
    return number if math.isfinite(number) and 0 <= number <= population else None


def _root(function: Callable[[float], float], low: float, high: float, *, geometric: bool = False) -> float | None:
    """Return where a function changes its sign between two places, by bisection; None where it does not."""
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


def digamma_rise(x: float, more: float) -> float:
    """Return digamma(x + more) - digamma(x); for large x by the series of the difference, as both would cancel out."""
    if x < 1e4:
        return digamma(x + more) - digamma(x)
    squares = more * (2 * x + more) / (x * (x + more)) ** 2
    return math.log1p(more / x) + more / (2 * x * (x + more)) + squares / 12


def digamma(x: float) -> float:
    """Return the derivative of the logarithm of the gamma function, for x > 0."""
    result = 0.0
    while x < 10:
        result -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return result + math.log(x) - 0.5 / x - series
