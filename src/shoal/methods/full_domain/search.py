"""Exact searches for the best passing vector that judge few vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.methods.full_domain.base import LatticeProblem
from shoal.methods.full_domain.lattice import FAILS, MOST_VECTORS, OPEN, PASSES, Lattice
from shoal.methods.full_domain.levels import Vector
from shoal.methods.full_domain.objectives import ByLevels, Objective, Price

__all__ = ["Best", "find_best", "rank_of"]

Rank = tuple[Any, ...]


def rank_of(problem: LatticeProblem, vector: Vector, price: Price, *, roots_first: bool = False) -> Rank:
    """Return the sort key of a vector: price, then height, then the vector itself.

    Args:
        problem: The lattice.
        vector: The vector.
        price: Its price.
        roots_first: After the price, prefer fewer attributes at their root, as the research-value methods do.
    """
    return (price, problem.n_roots(vector) if roots_first else 0, sum(vector), vector)


@dataclass
class Best:
    """The best vector so far."""

    problem: LatticeProblem
    objective: Objective
    roots_first: bool = False
    rank: Rank | None = None

    @property
    def vector(self) -> Vector | None:
        """The vector, or None if none has passed yet."""
        return self.rank[-1] if self.rank else None

    def offer(self, vector: Vector) -> Price:
        """Record a passing vector if it is better; return its price."""
        price = self.objective.price(vector, self.problem.judge(vector))
        rank = rank_of(self.problem, vector, price, roots_first=self.roots_first)
        if self.rank is None or rank < self.rank:
            self.rank = rank
        return price

    def beats(self, floor: Price) -> bool:
        """Say whether the best is better than everything with this minimum price."""
        return self.rank is not None and self.rank[0] < floor

    def passes(self, vector: Vector) -> bool:
        """Test a vector and record it if it passes."""
        passed = self.problem.passes(vector)
        if passed:
            self.offer(vector)
        return passed


def find_best(problem: LatticeProblem, objective: Objective, *, roots_first: bool = False) -> Vector | None:
    """Return the best passing vector, or None."""
    best = Best(problem, objective, roots_first)
    if problem.monotone and not problem.passes(problem.top):
        return None
    size = math.prod(problem.shape)
    if isinstance(objective, ByLevels):
        if size > MOST_VECTORS:
            _require_monotone(problem, size)
            _branch(best, objective)
        else:
            _walk(best, objective)
        return best.vector
    if size > MOST_VECTORS:
        raise UsageError(
            f"the lattice has {size:,} vectors, too many for an objective that depends on the sizes of groups. Use "
            "objective ncp, precision, entropy, height or rv, or narrow the levels (minimum, maximum)."
        )
    _climb(best)
    return best.vector


def _require_monotone(problem: LatticeProblem, size: int) -> None:
    if not problem.monotone:
        promise = next(model.describe() for model in problem.models if not model.monotone)
        raise UsageError(
            f"the lattice has {size:,} vectors, too many to test each, and {promise} is not monotone, so no vector "
            f"implies anything about others. Narrow the levels (minimum, maximum) to at most {MOST_VECTORS:,} vectors."
        )


def _walk(best: Best, objective: ByLevels) -> None:
    """Visit the vectors by their minimum price until the best is better than all that follow.

    If suppressed rows have no price, or there are none, that is the first passing vector.
    """
    problem = best.problem
    lattice = Lattice(problem.shape)
    base, order = sorted_vectors(objective, problem, roots_first=best.roots_first)
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order))
    exact = not objective.counts_rows or not problem.most_suppressed
    tested = np.zeros(len(base), dtype=bool)

    def passes(vector: Vector) -> bool:
        tested[lattice.index(vector)] = True
        return best.passes(vector)

    def too_late(index: int) -> bool:
        if exact:
            return best.vector is not None and bool(turn[index] >= turn[lattice.index(best.vector)])
        return best.beats(int(base[index]))

    position = _next(order, 0, lattice, tested)
    while position < len(order) and not too_late(int(order[position])):
        index = int(order[position])
        vector = lattice.vector(index)
        if lattice.mark(vector) == PASSES:
            tested[index] = True
            best.offer(vector)
        elif problem.monotone:
            _refute(lattice, vector, passes, turn, too_late if problem.most_suppressed else lambda index: False)
        elif not passes(vector) and problem.surely_fails(vector):
            lattice.below(vector)[...] = FAILS
        position = _next(order, position, lattice, tested)


def _next(order: NDArray[np.int64], position: int, lattice: Lattice, tested: NDArray[np.bool_]) -> int:
    """Return the next position of a vector that may pass and is not tested."""
    flat = lattice.marks.reshape(-1)
    while position < len(order):
        ahead = order[position : position + 256]
        useful = np.flatnonzero((flat[ahead] != FAILS) & ~tested[ahead])
        if len(useful):
            return position + int(useful[0])
        position += len(ahead)
    return position


def _refute(
    lattice: Lattice,
    vector: Vector,
    passes: Callable[[Vector], bool],
    turn: NDArray[np.int64],
    too_late: Callable[[int], bool],
) -> None:
    """Decide an open vector by a path above it, each step to the vector that is visited first.

    The path ends before vectors that cannot be better than the best. If it ends there, its end most likely fails and is
    tested first; otherwise the path is bisected.
    """
    path, ended = [vector], False
    while True:
        parents = [lattice.index(parent) for parent in lattice.parents(path[-1]) if lattice.mark(parent) == OPEN]
        following = min(parents, key=lambda index: int(turn[index]), default=None)
        if following is None:
            break
        if too_late(following):
            ended = True
            break
        path.append(lattice.vector(following))
    if ended and not passes(path[-1]):
        lattice.below(path[-1])[...] = FAILS
    else:
        lattice.halve(path, passes)


def sorted_vectors(
    objective: ByLevels, problem: LatticeProblem, *, roots_first: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the minimum price of each vector, and the numbers of the vectors, best first."""
    shape = problem.shape
    sums = np.zeros(shape, dtype=np.int64)
    heights = np.zeros(shape, dtype=np.int64)
    roots = np.zeros(shape, dtype=np.int64)
    for axis, (ladder, costs) in enumerate(zip(problem.ladders, objective.levels, strict=True)):
        along = [1] * len(shape)
        along[axis] = shape[axis]
        places = np.arange(shape[axis], dtype=np.int64)
        sums += costs.reshape(along)
        heights += places.reshape(along)
        roots += (places + ladder.first == ladder.height).astype(np.int64).reshape(along)
    base = sums.reshape(-1)
    keys = [heights.reshape(-1), roots.reshape(-1)] if roots_first else [heights.reshape(-1)]
    return base, np.lexsort([*keys, base]).astype(np.int64)


def _climb(best: Best) -> None:
    """Visit the vectors from the bottom up; skip everything above a vector that nothing above can beat."""
    problem = best.problem
    lattice = Lattice(problem.shape)
    heights = np.indices(problem.shape, dtype=np.int16).sum(axis=0, dtype=np.int64).reshape(-1)
    closed = Lattice(problem.shape)  # marks vectors to skip
    for index in np.argsort(heights, kind="stable").tolist():
        vector = lattice.vector(index)
        if closed.mark(vector) != OPEN or lattice.mark(vector) == FAILS:
            continue
        if lattice.mark(vector) == OPEN and problem.monotone:
            lattice.halve(lattice.path(vector), problem.passes)
        if lattice.mark(vector) == FAILS:
            continue
        if problem.monotone or problem.passes(vector):
            best.offer(vector)
        floor = best.objective.floor(vector, problem.judge(vector))
        if best.beats(floor) or (best.rank and best.rank[:3] < (floor, 0, sum(vector) + 1)):
            closed.above(vector)[...] = PASSES


def _branch(best: Best, objective: ByLevels) -> None:
    """Branch and bound: fix one attribute after another, cheapest level first; skip what fails or cannot win.

    A partial vector fails if it fails with all other attributes at their top. Memory: one path.
    """
    problem = best.problem
    shape, top = problem.shape, problem.top
    rest = np.cumsum([0, *(int(costs.min()) for costs in reversed(objective.levels))])[::-1].tolist()

    def descend(vector: Vector, fixed: int, cost: int) -> None:
        if fixed == len(shape):
            best.offer(vector)
            return
        costs = objective.levels[fixed].tolist()
        for place in sorted(range(shape[fixed]), key=lambda place: (costs[place], place)):
            if best.beats(cost + costs[place] + rest[fixed + 1]):
                return
            narrowed = (*vector[:fixed], place, *vector[fixed + 1 :])
            if place == top[fixed] or problem.passes(narrowed):
                descend(narrowed, fixed + 1, cost + costs[place])

    descend(top, 0, 0)
