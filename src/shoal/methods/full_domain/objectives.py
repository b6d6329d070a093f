"""Objectives: the price of a vector that a search minimises, exact in integers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.methods.full_domain.base import Judged, LatticeProblem
from shoal.methods.full_domain.frequency import FrequencySet
from shoal.methods.full_domain.levels import Ladder, Vector

__all__ = ["NAMES", "ByGroups", "ByLevels", "Objective", "objective", "vector_loss"]

NAMES = ("height", "precision", "ncp", "aecs", "dm", "entropy", "rv")
# Sums of prices over all rows and attributes stay below this.
SUM_BITS = 62
# Fractional bits of a price; more would exceed the precision of its terms.
PRICE_BITS = 40

Price = int | Fraction


class Objective(Protocol):
    """Prices vectors; lower is better."""

    def price(self, vector: Vector, judged: Judged) -> Price:
        """Return the price of a vector after its failing groups are suppressed."""

    def floor(self, vector: Vector, judged: Judged) -> Price:
        """Return a lower bound on the price of the vector and of every more general one."""


@dataclass(frozen=True)
class ByLevels:
    """A price that is the sum of prices of cells, which depend only on attribute, level and group at that level.

    Attributes:
        cells: By attribute and level, the price of a cell of each group.
        levels: The same, summed over all rows.
        full: The price of a suppressed row.
        counts_rows: Whether suppressed rows have a price; otherwise only the levels count.
    """

    cells: tuple[tuple[NDArray[np.int64], ...], ...]
    levels: tuple[NDArray[np.int64], ...]
    full: int
    counts_rows: bool = True

    def base(self, vector: Vector) -> int:
        """Return the price without suppression, which is the minimum for the vector."""
        return sum(int(costs[place]) for costs, place in zip(self.levels, vector, strict=True))

    def price(self, vector: Vector, judged: Judged) -> int:
        """Return the price of a vector after its failing groups are suppressed."""
        base = self.base(vector)
        if not self.counts_rows or not judged.failing_rows:
            return base
        groups, gone = judged.groups, judged.failing
        first = groups.codes[groups.starts[gone]]
        each = sum(prices[place][first[:, i]] for i, (prices, place) in enumerate(zip(self.cells, vector, strict=True)))
        return base + self.full * judged.failing_rows - int((each * groups.sizes[gone]).sum())

    def floor(self, vector: Vector, judged: Judged) -> int:
        """Return a lower bound on the price of the vector and of every more general one."""
        return self.base(vector)


@dataclass(frozen=True)
class ByGroups:
    """A price that depends on the sizes of the groups: "dm" or "aecs".

    Discernibility is the sum of squared sizes, plus n for each suppressed row; without suppression it is lower and
    never decreases as levels rise. The average group size is kept rows / kept groups; no more general vector has more
    groups.
    """

    measure: str
    n_rows: int
    most_suppressed: int

    def price(self, vector: Vector, judged: Judged) -> Price:
        """Return the price of a vector after its failing groups are suppressed."""
        kept = judged.groups.sizes[~judged.failing]
        if self.measure == "aecs":
            return Fraction(int(kept.sum()), len(kept))
        return int((kept * kept).sum()) + self.n_rows * judged.failing_rows

    def floor(self, vector: Vector, judged: Judged) -> Price:
        """Return a lower bound on the price of the vector and of every more general one."""
        sizes = judged.groups.sizes
        if self.measure == "aecs":
            return Fraction(self.n_rows - self.most_suppressed, len(sizes))
        return int((sizes * sizes).sum())


def objective(name: str, problem: LatticeProblem, values: Sequence[Sequence[Fraction]] | None = None) -> Objective:
    """Return an objective by name.

    Args:
        name: One of NAMES.
        problem: The lattice.
        values: The research value of each level, for "rv".

    Raises:
        UsageError: The name is unknown.
    """
    n_rows, ladders = problem.sets.n_rows, problem.ladders
    if name in ("dm", "aecs"):
        return ByGroups(name, n_rows, problem.most_suppressed)
    if name == "height":
        return by_vector([[Fraction(ladder.first + i) for i in range(ladder.n_levels)] for ladder in ladders])
    if name == "rv" and values is not None:
        return by_vector([[-value for value in levels] for levels in values])
    rows = row_counts(problem)
    if name == "precision":
        scale = math.lcm(*(ladder.height for ladder in ladders))
        prices = [
            [
                np.full(len(nodes), (ladder.first + i) * scale // ladder.height, dtype=np.int64)
                for i, nodes in enumerate(ladder.nodes)
            ]
            for ladder in ladders
        ]
        return _by_cells(prices, rows, scale * len(ladders))
    if name == "ncp":
        bits = min(PRICE_BITS, SUM_BITS - (n_rows * len(ladders)).bit_length())
        losses = [[level_losses(ladder, i) for i in range(ladder.n_levels)] for ladder in ladders]
        weights = _weights(ladders, problem.run.weights)
        prices = [
            [np.rint(np.ldexp(loss * weight, bits)).astype(np.int64) for loss in levels]
            for levels, weight in zip(losses, weights, strict=True)
        ]
        return _by_cells(prices, rows, sum(round(math.ldexp(weight, bits)) for weight in weights))
    if name == "entropy":
        bits = min(PRICE_BITS, SUM_BITS - (n_rows * len(ladders)).bit_length() - n_rows.bit_length().bit_length())
        logs = [[np.array([_log(n, bits) for n in level.tolist()]) for level in levels] for levels in rows]
        return _by_cells(logs, rows, len(ladders) * _log(n_rows, bits))
    raise UsageError(f"objective {name!r} is not known. Use {', '.join(NAMES)}.")


def by_vector(values: Sequence[Sequence[Fraction]]) -> ByLevels:
    """Return an objective that depends only on the levels, such as height; exact if the values have few digits."""
    scale = math.lcm(*(value.denominator for levels in values for value in levels))
    most = max((abs(value) for levels in values for value in levels), default=Fraction(1)) * max(len(values), 1)
    if most * scale >= 1 << SUM_BITS:
        scale = 1 << max(0, min(PRICE_BITS, SUM_BITS - math.ceil(most).bit_length()))
    levels = tuple(np.array([round(value * scale) for value in levels], dtype=np.int64) for levels in values)
    return ByLevels(tuple(() for _ in levels), levels, 0, counts_rows=False)


def _weights(ladders: Sequence[Ladder], weights: Mapping[str, Fraction]) -> list[float]:
    """Return the weight of each attribute, scaled to a mean of 1."""
    chosen = [Fraction(weights.get(ladder.name, 1)) for ladder in ladders]
    return [float(weight * len(chosen) / sum(chosen)) for weight in chosen]


def _by_cells(
    prices: Sequence[Sequence[NDArray[np.int64]]], rows: Sequence[Sequence[NDArray[np.int64]]], full: int
) -> ByLevels:
    sums = [
        np.array([int((p * n).sum()) for p, n in zip(levels, counts, strict=True)], dtype=np.int64)
        for levels, counts in zip(prices, rows, strict=True)
    ]
    return ByLevels(tuple(map(tuple, prices)), tuple(sums), full)


def _log(count: int, bits: int) -> int:
    """Return the binary logarithm with a number of fractional bits."""
    return round(math.ldexp(math.log2(count), bits)) if count else 0


def row_counts(problem: LatticeProblem) -> list[list[NDArray[np.int64]]]:
    """Return the rows of each group at each level of each attribute."""
    finest = problem.sets.at((0,) * len(problem.ladders))
    return [
        [_rows_at(ladder, place, finest, i) for place in range(ladder.n_levels)]
        for i, ladder in enumerate(problem.ladders)
    ]


def _rows_at(ladder: Ladder, place: int, finest: FrequencySet, column: int) -> NDArray[np.int64]:
    groups = ladder.step(0, place)[finest.codes[:, column]]
    rows = np.zeros(len(ladder.nodes[place]), dtype=np.int64)
    np.add.at(rows, groups, finest.counts)
    return rows


def level_losses(ladder: Ladder, place: int) -> NDArray[np.float64]:
    """Return the loss (NCP) of the cells of a level, as the measures read their labels."""
    attribute = ladder.attribute
    nodes = ladder.nodes[place]
    if ladder.first + place == 0:
        return np.zeros(len(nodes))
    if attribute.tree is None:
        return np.ones(len(nodes))
    return ladder.figures.losses[nodes]


def vector_loss(problem: LatticeProblem, vector: Vector) -> float:
    """Return the NCP of a vector in [0, 1], after its failing groups are suppressed."""
    by_cells = objective("ncp", replace(problem, run=replace(problem.run, weights={})))
    assert isinstance(by_cells, ByLevels)
    return by_cells.price(vector, problem.judge(vector)) / (by_cells.full * problem.sets.n_rows)
