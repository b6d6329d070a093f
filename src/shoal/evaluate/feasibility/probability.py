"""The chance that a random table needs no recoding: every combination of values that it has, it has k times.

Rows are drawn one by one, each combination (a cell of the grid) with its own probability. Numbers of rows in the cells
are multinomial. They are those of independent Poisson variables X_i of mean n p_i, given that their sum is n, hence

    P(success) = P(every X_i is 0 or at least k, and the sum is n) / P(Poisson(n) = n).

The numerator is one coefficient of a product of generating functions, read off by a discrete Fourier transform. That
is exact but for rounding (about 1e-9) and for sums that differ from n by the length of the transform, which have a
chance below 1e-30. Without the condition on the sum the product of the single chances is left: the Poisson answer,
which is close where no cell holds a large share of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Grid", "exact_chance", "least_rows", "poisson_chance", "small_share"]

Floats = NDArray[np.float64]
MOST_PROBABILITIES = 2**16  # more distinct ones are gathered in classes
CLASSES = 2**10  # for each factor e between probabilities
MOST_TERMS = 2 * 10**7  # of the transform: probabilities x points x k; about a second
NOTHING = 1e-12  # chances below this are rounding alone
DEVIATIONS = 12  # half of the transform's length, in standard deviations of the sum
MOST_ROWS = 10**15  # that a search looks at


@dataclass(frozen=True)
class Grid:
    """The cells that a row can fall into: their distinct probabilities, and how many cells have each.

    gathered: probabilities that differ by less than one part in CLASSES stand for each other.
    """

    probabilities: Floats
    cells: Floats
    gathered: bool = False

    @classmethod
    def even(cls, cells: int) -> Grid:
        """Return a grid whose cells are equally likely."""
        return cls(np.array([1 / cells]), np.array([float(cells)]))

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> Grid:
        """Return the grid of the distinct rows of a table, each as likely as it is frequent there."""
        distinct, cells = np.unique(counts[counts > 0], return_counts=True)
        return cls(distinct / counts.sum(), cells.astype(np.float64))

    @classmethod
    def crossed(cls, columns: Sequence[NDArray[np.int64]]) -> Grid:
        """Return the grid of independent columns, given by how often each of their values occurs."""
        grid = cls.even(1)
        for counts in columns:
            column = cls.of_counts(counts)
            probabilities = np.outer(grid.probabilities, column.probabilities).ravel()
            cells = np.outer(grid.cells, column.cells).ravel()
            grid = _gather(probabilities, cells, grid.gathered)
        return grid


def _gather(probabilities: Floats, cells: Floats, gathered: bool) -> Grid:
    """Put equal probabilities together, and near ones too if there are many; their sum stays."""
    classes = probabilities
    if gathered or len(np.unique(probabilities)) > MOST_PROBABILITIES:
        gathered = True
        classes = np.round(np.log(probabilities) * CLASSES)
    _, index = np.unique(classes, return_inverse=True)
    sums = np.asarray(np.bincount(index, weights=cells), dtype=np.float64)
    return Grid(np.bincount(index, weights=cells * probabilities) / sums, sums, gathered)


def _few_chances(means: Floats, k: int) -> Floats:
    """Return the chance of 1 to k - 1 rows in a cell, for each mean: Poisson."""
    terms = _poisson(means, np.arange(1, k))
    return np.asarray(terms.sum(axis=-1))


def _poisson(means: Floats, numbers: NDArray[np.int64]) -> Floats:
    """Return Poisson probabilities, one row a mean."""
    factorials = np.array([math.lgamma(number + 1) for number in numbers.tolist()])
    return np.asarray(np.exp(np.log(means)[:, None] * numbers - means[:, None] - factorials))


def poisson_chance(grid: Grid, rows: int, k: int) -> float:
    """Return the chance of success as if the cells filled independently of each other."""
    if rows < k:
        return float(rows == 0)
    with np.errstate(divide="ignore"):
        return float(np.exp(grid.cells @ np.log1p(-np.minimum(1.0, _few_chances(rows * grid.probabilities, k)))))


def exact_chance(grid: Grid, rows: int, k: int) -> float | None:
    """Return the chance of success; None where that takes too long or the grid is not known exactly."""
    if rows < k or k == 1:
        return float(rows == 0 or k == 1)
    points = math.ceil(DEVIATIONS * math.sqrt(rows)) + 64
    if grid.gathered or len(grid.cells) * points * k > MOST_TERMS:
        return None
    angles = 2 * np.pi / points * np.arange(points // 2 + 1)
    turn = np.exp(1j * angles)
    level, phase = rows * (np.cos(angles) - 1), rows * (np.sin(angles) - angles)
    for probability, cells in zip(grid.probabilities.tolist(), grid.cells.tolist(), strict=True):
        log_size, angle = _factor(probability * rows, k, turn)
        level += cells * log_size
        phase += cells * angle
    values = np.exp(level) * np.cos(phase)
    weights = np.full(len(values), 2.0)  # a point and its mirror image
    weights[0] = 1.0
    if points % 2 == 0:
        weights[-1] = 1.0
    chance = float(weights @ values) / points / _likeliest(rows)
    return 0.0 if chance < NOTHING else min(1.0, chance)


def _factor(mean: float, k: int, turn: NDArray[np.complex128]) -> tuple[Floats, Floats]:
    """Return logarithm of size and angle of a cell's generating function, over that of a Poisson variable.

    Where the mean is small the quotient is close to 1 in many cells and kept as a difference from 1. Where it is large
    the Poisson function nears 0, so that the difference of both is taken before the quotient.
    """
    whole = np.exp(mean * (turn - 1))
    few = np.zeros_like(turn)
    power = np.ones_like(turn)
    for chance in _poisson(np.array([mean]), np.arange(1, k))[0].tolist():
        power = power * turn
        few += chance * power
    with np.errstate(divide="ignore"):
        if mean < 1:
            less = -few / whole
            size = 0.5 * np.log1p(np.maximum(-1.0, 2 * less.real + np.abs(less) ** 2))
            return np.asarray(size), np.asarray(np.angle(1 + less))
        left = whole - few
        return np.log(np.abs(left)) - mean * (turn.real - 1), np.asarray(np.angle(left)) - mean * turn.imag


def _likeliest(rows: int) -> float:
    """Return P(Poisson(n) = n)."""
    if rows < 1000:
        return math.exp(rows * math.log(rows) - rows - math.lgamma(rows + 1))
    return math.exp(-1 / (12 * rows)) / math.sqrt(2 * math.pi * rows)  # Stirling, to 1e-12


def small_share(grid: Grid, rows: int, k: int) -> float:
    """Return the share of the rows that is to be expected in groups of fewer than k: those recoding must help."""
    others = rows - 1
    share = 0.0
    for number in range(min(k - 1, rows)):  # so many others in the cell of a row
        ways = math.lgamma(others + 1) - math.lgamma(number + 1) - math.lgamma(others - number + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            absent = np.where(others == number, 0.0, (others - number) * np.log1p(-grid.probabilities))
            chance = np.exp(ways + number * np.log(grid.probabilities) + absent)
        share += float(grid.cells * grid.probabilities @ chance)
    return min(1.0, share)


def least_rows(grid: Grid, k: int, wanted: float) -> tuple[int, str] | None:
    """Return from how many rows on success has the wanted chance, and whether that is "exact" or "poisson".

    The chance is not monotone: rare combinations come one by one and are few at first. From the number of rows on at
    which the rarest cell has its worst mean it rises; where it is high enough there already, the search goes down in
    steps of two parts in a hundred to the last number that fails. None: not with MOST_ROWS rows.
    """
    worst = math.exp(math.lgamma(k) / (k - 1)) if k > 1 else 0.0  # of x -> P(1 <= Poisson(x) < k)
    start = max(k, math.ceil(worst / float(grid.probabilities.min())))
    low, high = start, start
    while high <= MOST_ROWS and _chance(grid, high, k)[0] < wanted:
        low, high = high, 2 * high
    if high > MOST_ROWS:
        return None
    while low == high and low > k:
        low = max(k, min(low - 1, int(low / 1.02)))
        if _chance(grid, low, k)[0] >= wanted:
            high = low
    if _chance(grid, low, k)[0] >= wanted:
        high = low
    while high - low > 1:
        middle = (low + high) // 2
        if _chance(grid, middle, k)[0] >= wanted:
            high = middle
        else:
            low = middle
    return high, _chance(grid, high, k)[1]


def _chance(grid: Grid, rows: int, k: int) -> tuple[float, str]:
    exact = exact_chance(grid, rows, k)
    return (poisson_chance(grid, rows, k), "poisson") if exact is None else (exact, "exact")
