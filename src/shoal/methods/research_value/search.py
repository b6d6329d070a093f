"""Generalisation strings under research values: pre-pruning, and searches over a list of strings."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.methods.full_domain.base import LatticeProblem
from shoal.methods.full_domain.lattice import FAILS, OPEN, PASSES, Lattice
from shoal.methods.full_domain.levels import Ladder, Vector, ladders
from shoal.methods.full_domain.objectives import ByLevels, by_vector
from shoal.methods.full_domain.research_values import Values, rising_levels
from shoal.methods.full_domain.search import Rank, rank_of

__all__ = ["StringSearch", "search_listed", "search_local"]


@dataclass
class StringSearch:
    """A lattice with the research value of each level, and the passing strings found so far.

    Attributes:
        problem: The lattice.
        values: The research value of each level of each attribute.
        pruned: By attribute, the levels that fail by themselves.
        dropped: The attributes that fail by themselves at every level; they are released as "*".
        successes: The passing strings found so far.
        began: When the search started.
    """

    problem: LatticeProblem
    values: Values
    pruned: dict[str, list[int]] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    successes: set[Vector] = field(default_factory=set)
    began: float = field(default_factory=time.perf_counter)

    @property
    def generated(self) -> int:
        """The number of strings after pre-pruning."""
        return math.prod(self.problem.shape)

    def objective(self) -> ByLevels:
        """Return the negative research values as prices."""
        return by_vector([[-value for value in levels] for levels in self.values])

    def value(self, vector: Vector) -> Fraction:
        """Return the research value of a string."""
        return sum((levels[place] for levels, place in zip(self.values, vector, strict=True)), Fraction(0))

    def rank(self, vector: Vector) -> Rank:
        """Return the sort key of a string: value, roots, height, vector."""
        return rank_of(self.problem, vector, -self.value(vector), roots_first=True)

    def passes(self, vector: Vector) -> bool:
        """Test a string and record it if it passes."""
        passed = self.problem.passes(vector)
        if passed:
            self.successes.add(vector)
        return passed

    def ranked(self) -> list[Vector]:
        """Return the passing strings, best first."""
        return sorted(self.successes, key=self.rank)

    def pre_pruned(self) -> StringSearch:
        """Drop levels that fail by themselves, with all more specific ones, and attributes with no other level."""
        problem, absent = self.problem, self.problem.sets.absent
        kept, values, lowest = [], [], []
        pruned: dict[str, list[int]] = {}
        dropped = []
        for i, ladder in enumerate(problem.ladders):
            alone = [problem.passes((*absent[:i], place, *absent[i + 1 :])) for place in range(ladder.n_levels)]
            first = next((place for place, passed in enumerate(alone) if passed), ladder.n_levels)
            if first:
                pruned[ladder.name] = [ladder.first + place for place in range(first)]
            lowest.append(first)
            if first == ladder.n_levels:
                dropped.append(ladder.name)
                kept.append(_root(ladder))
                values.append([Fraction(0)])
            else:
                kept.append(ladder.trimmed(ladder.first + first, ladder.first + ladder.n_levels - 1))
                values.append(self.values[i][first:])
        narrowed = replace(problem, sets=problem.sets.narrowed(tuple(lowest), kept), judged_vectors={}, rows_below={})
        return replace(self, problem=narrowed, values=values, pruned=pruned, dropped=dropped, successes=set())

    def facts(self) -> dict[str, Any]:
        """Return what a data owner needs to choose a string, ready for JSON."""
        lists = [[float(value) for value in levels] for levels in self.values]
        facts: dict[str, Any] = {
            "strings": self.generated,
            "tested": self.problem.n_tests,
            "successful": [
                {
                    "levels": self.problem.levels(vector),
                    "rv": float(self.value(vector)),
                    "roots": self.problem.n_roots(vector),
                }
                for vector in self.ranked()
            ],
            "minimum_rv": float(sum(min(levels) for levels in self.values)),
            "maximum_rv": float(sum(max(levels) for levels in self.values)),
            "values": {ladder.name: levels for ladder, levels in zip(self.problem.ladders, lists, strict=True)},
            "pruned_levels": self.pruned,
            "dropped": self.dropped,
            "rising": rising_levels(self.problem, self.values),
            "seconds": round(time.perf_counter() - self.began, 3),
        }
        return facts


def _root(ladder: Ladder) -> Ladder:
    (whole,) = ladders([ladder.attribute])
    return whole.trimmed(whole.height, whole.height)


def local_steps(shape: tuple[int, ...]) -> Iterator[tuple[Vector, list[bool]]]:
    """Yield the strings that the local search tests; the caller appends to the list whether each passed.

    Each attribute is bisected between its root (position 0) and its most specific level; all move together.
    """
    low, high = [0] * len(shape), list(shape)
    middle = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
    while True:
        answer: list[bool] = []
        yield tuple(n - 1 - place for n, place in zip(shape, middle, strict=True)), answer
        if answer[0]:
            low = middle
        else:
            high = middle
        following = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
        if following == middle:
            return
        middle = following


def search_local(search: StringSearch, lattice: Lattice | None = None) -> None:
    """Bisect every attribute between root and most specific level, all at once; the tests prune the lattice."""
    for vector, answer in local_steps(search.problem.shape):
        answer.append(search.passes(vector))
        if lattice is not None:
            _prune(lattice, vector, answer[0])


def search_listed(search: StringSearch, lattice: Lattice) -> None:
    """Test the middle of the remaining strings, in order of research value, until none remains.

    A passing string removes those of lower value and the more general ones, a failing string the more specific ones.
    """
    prices = _prices(search)
    order = np.argsort(-prices, kind="stable")  # ascending value, then the smaller vector
    flat = lattice.marks.reshape(-1)
    for vector in sorted(search.successes, key=search.rank)[:1]:
        flat[prices > prices[lattice.index(vector)]] = FAILS
    order = order[flat[order] == OPEN]
    while len(order):
        index = int(order[len(order) // 2])
        vector = lattice.vector(index)
        passed = search.passes(vector)
        _prune(lattice, vector, passed)
        if passed:
            order = order[prices[order] <= prices[index]]
        order = order[flat[order] == OPEN]


def _prices(search: StringSearch) -> np.ndarray[Any, np.dtype[np.int64]]:
    prices = np.zeros(search.problem.shape, dtype=np.int64)
    for axis, costs in enumerate(search.objective().levels):
        along = [1] * len(search.problem.shape)
        along[axis] = len(costs)
        prices += costs.reshape(along)
    return prices.reshape(-1)


def _prune(lattice: Lattice, vector: Vector, passed: bool) -> None:
    """Mark what follows from a test; marked strings are not tested again."""
    if passed:
        lattice.above(vector)[...] = PASSES
    else:
        lattice.below(vector)[...] = FAILS
