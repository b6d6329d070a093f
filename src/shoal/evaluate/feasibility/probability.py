"""The probability that a random table needs no recoding: every combination in it has at least k rows.

Rows are drawn independently; each combination of values (a cell of the grid) has its own probability. The numbers of
rows in the cells are multinomial: independent Poisson variables X_i with means n p_i, conditioned on their sum n. Hence

    P(success) = P(every X_i is 0 or at least k, and the sum is n) / P(Poisson(n) = n).

The numerator is one coefficient of a product of generating functions, computed by a discrete Fourier transform. The
result is exact up to rounding (about 1e-9) and sums that differ from n by the length of the transform, whose
probability is below 1e-30. Dropping the condition on the sum leaves the product of the cells' probabilities: the
Poisson approximation, which is close if no cell has a large share of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Grid", "exact_chance", "least_rows", "poisson_chance", "small_share"]

Floats = NDArray[np.float64]
MOST_PROBABILITIES = 2**16  # if there are more distinct ones, similar ones are merged into classes
CLASSES = 2**10  # classes per factor e between probabilities
MOST_TERMS = 2 * 10**7  # limit of the transform's probabilities x points x k; about a second
NOTHING = 1e-12  # smaller probabilities are rounding errors
DEVIATIONS = 12  # half of the transform's length, in standard deviations of the sum
MOST_ROWS = 10**15  # limit of the search


@dataclass(frozen=True)
class Grid:
    """The cells of a grid, one for each combination of values.

    Attributes:
        probabilities: Distinct probabilities of cells.
        cells: Number of cells with each of these probabilities.
        gathered: True if similar probabilities were merged; they differ by less than one part in `CLASSES`.
    """

    probabilities: Floats
    cells: Floats
    gathered: bool = False

    @classmethod
    def even(cls, cells: int) -> Grid:
        """Return a grid with equally likely cells."""
        return cls(np.array([1 / cells]), np.array([float(cells)]))

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64]) -> Grid:
        """Return the grid of the distinct rows of a table, with their frequencies as probabilities."""
        distinct, cells = np.unique(counts[counts > 0], return_counts=True)
        return cls(distinct / counts.sum(), cells.astype(np.float64))

    @classmethod
    def crossed(cls, columns: Sequence[NDArray[np.int64]]) -> Grid:
        """Return the grid of independent columns, given the counts of the values of each column."""
        grid = cls.even(1)
        for counts in columns:
            column = cls.of_counts(counts)
            probabilities = np.outer(grid.probabilities, column.probabilities).ravel()
            cells = np.outer(grid.cells, column.cells).ravel()
            grid = _gather(probabilities, cells, grid.gathered)
        return grid


def _gather(probabilities: Floats, cells: Floats, gathered: bool) -> Grid:
    """Merge equal probabilities, and similar ones too if there are many; the sum does not change."""
    classes = probabilities
    if gathered or len(np.unique(probabilities)) > MOST_PROBABILITIES:
        gathered = True
        classes = np.round(np.log(probabilities) * CLASSES)
    _, index = np.unique(classes, return_inverse=True)
    sums = np.asarray(np.bincount(index, weights=cells), dtype=np.float64)
    return Grid(np.bincount(index, weights=cells * probabilities) / sums, sums, gathered)


def _few_chances(means: Floats, k: int) -> Floats:
    """Return the Poisson probability of 1 to k - 1 rows in a cell, for each mean."""
    terms = _poisson(means, np.arange(1, k))
    return np.asarray(terms.sum(axis=-1))


def _poisson(means: Floats, numbers: NDArray[np.int64]) -> Floats:
    """Return Poisson probabilities, one row per mean."""
    factorials = np.array([math.lgamma(number + 1) for number in numbers.tolist()])
    return np.asarray(np.exp(np.log(means)[:, None] * numbers - means[:, None] - factorials))


def poisson_chance(grid: Grid, rows: int, k: int) -> float:
    """Return the probability of success if the cells were independent."""
    if rows < k:
        return float(rows == 0)
    with np.errstate(divide="ignore"):
        return float(np.exp(grid.cells @ np.log1p(-np.minimum(1.0, _few_chances(rows * grid.probabilities, k)))))


def exact_chance(grid: Grid, rows: int, k: int) -> float | None:
    """Return the probability of success, or None if that takes too long or the grid is not exact."""
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
    weights = np.full(len(values), 2.0)  # each point and its complex conjugate
    weights[0] = 1.0
    if points % 2 == 0:
        weights[-1] = 1.0
    chance = float(weights @ values) / points / _likeliest(rows)
    return 0.0 if chance < NOTHING else min(1.0, chance)


def _factor(mean: float, k: int, turn: NDArray[np.complex128]) -> tuple[Floats, Floats]:
    """Return log modulus and angle of a cell's generating function, divided by that of a Poisson variable.

    For a small mean the quotient is close to 1 in many cells, so it is computed as a difference from 1. For a large
    mean the Poisson function approaches 0, so the subtraction comes before the division.
    """
    poisson = np.exp(mean * (turn - 1))
    few = np.zeros_like(turn)
    power = np.ones_like(turn)
    for chance in _poisson(np.array([mean]), np.arange(1, k))[0].tolist():
        power = power * turn
        few += chance * power
    with np.errstate(divide="ignore"):
        if mean < 1:
            difference = -few / poisson
            size = 0.5 * np.log1p(np.maximum(-1.0, 2 * difference.real + np.abs(difference) ** 2))
            return np.asarray(size), np.asarray(np.angle(1 + difference))
        cell = poisson - few
        return np.log(np.abs(cell)) - mean * (turn.real - 1), np.asarray(np.angle(cell)) - mean * turn.imag


def _likeliest(rows: int) -> float:
    """Return P(Poisson(n) = n)."""
    if rows < 1000:
        return math.exp(rows * math.log(rows) - rows - math.lgamma(rows + 1))
    return math.exp(-1 / (12 * rows)) / math.sqrt(2 * math.pi * rows)  # Stirling, to 1e-12


def small_share(grid: Grid, rows: int, k: int) -> float:
    """Return the expected share of rows in groups smaller than k, which need recoding."""
    others = rows - 1
    share = 0.0
    for number in range(min(k - 1, rows)):  # the number of other rows in the cell of a row
        ways = math.lgamma(others + 1) - math.lgamma(number + 1) - math.lgamma(others - number + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            absent = np.where(others == number, 0.0, (others - number) * np.log1p(-grid.probabilities))
            chance = np.exp(ways + number * np.log(grid.probabilities) + absent)
        share += float(grid.cells * grid.probabilities @ chance)
    return min(1.0, share)


def least_rows(grid: Grid, k: int, probability: float) -> tuple[int, str] | None:
    """Return the number of rows from which on success is likely enough.

    The probability is not monotone: rare combinations appear one by one, and have few rows at first. It rises from the
    number of rows at which the rarest cell has its worst mean. If it is already high enough there, the search goes down
    in steps of 2 % to the last number that fails.

    Args:
        grid: The cells.
        k: Rows that each combination must have.
        probability: The wanted probability of success.

    Returns:
        The number of rows, and "exact" or "poisson"; None if `MOST_ROWS` rows are not enough.
    """
    worst = math.exp(math.lgamma(k) / (k - 1)) if k > 1 else 0.0  # of x -> P(1 <= Poisson(x) < k)
    start = max(k, math.ceil(worst / float(grid.probabilities.min())))
    low, high = start, start
    while high <= MOST_ROWS and _chance(grid, high, k)[0] < probability:
        low, high = high, 2 * high
    if high > MOST_ROWS:
        return None
    while low == high and low > k:
        low = max(k, min(low - 1, int(low / 1.02)))
        if _chance(grid, low, k)[0] >= probability:
            high = low
    if _chance(grid, low, k)[0] >= probability:
        high = low
    while high - low > 1:
        middle = (low + high) // 2
        if _chance(grid, middle, k)[0] >= probability:
            high = middle
        else:
            low = middle
    return high, _chance(grid, high, k)[1]


def _chance(grid: Grid, rows: int, k: int) -> tuple[float, str]:
    exact = exact_chance(grid, rows, k)
    return (poisson_chance(grid, rows, k), "poisson") if exact is None else (exact, "exact")
