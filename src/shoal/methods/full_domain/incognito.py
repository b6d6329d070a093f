"""Incognito: all minimal full-domain vectors, found over increasing subsets of the attributes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from shoal.errors import UsageError
from shoal.methods.full_domain.base import LatticeProblem, Solution
from shoal.methods.full_domain.infeasible import refuse
from shoal.methods.full_domain.lattice import FAILS, MOST_VECTORS, Lattice
from shoal.methods.full_domain.levels import Vector
from shoal.methods.full_domain.optimal import Chosen
from shoal.methods.full_domain.search import Best

__all__ = ["Incognito"]

Subset = tuple[int, ...]


@dataclass(frozen=True)
class Incognito(Chosen):
    """LeFevre, DeWitt, Ramakrishnan 2005: search the lattice of every subset of the attributes, smaller subsets first.

    A vector needs no test if its part over a smaller subset fails, or if a test in its own lattice implies the answer:
    vectors above a passing vector pass, vectors below a failing vector fail. Every frequency set is rolled up from a
    known one. With a suppression limit, a vector passes if its failing groups have at most as many rows as the limit
    allows; both implications still hold.

    Departures: The paper searches each lattice breadth first; here paths are bisected, which finds the same vectors
    with fewer tests. Models that do not allow these implications are refused.
    Cost: the tests. There are 2^q lattices, with the product of (levels + 1) vectors in total.

    Attributes:
        objective: Selects one of the minimal vectors: "height" (default), or any objective of the method optimal. Ties:
            the lower height, then the smaller vector. The search facts of the release list all minimal vectors.
    """

    objective: str = "height"

    name: ClassVar[str] = "incognito"

    def search(self, problem: LatticeProblem) -> Solution:
        """Find all minimal vectors and select one."""
        problem.require_monotone(self.name)
        minimal = minimal_vectors(problem)
        if not minimal:
            raise refuse(problem)
        best = Best(problem, self.priced(problem), self.objective == "rv")
        for vector in minimal:
            best.offer(vector)
        assert best.vector is not None
        facts = {"tests": problem.n_tests, "minimal": [problem.levels(vector) for vector in minimal]}
        return Solution(best.vector, problem.judge(best.vector), facts)


def minimal_vectors(problem: LatticeProblem) -> list[Vector]:
    """Return the passing vectors without a passing vector below them, in lexicographic order."""
    shape = problem.shape
    everything = tuple(range(len(shape)))
    size = int(np.prod([float(n) for n in shape]))
    if size > MOST_VECTORS:
        raise UsageError(
            f"incognito: the lattice has {size:,} vectors, at most {MOST_VECTORS:,} can be searched. Narrow the levels "
            "(minimum, maximum), or use optimal."
        )
    smaller: dict[Subset, Lattice] = {}
    for n in range(1, len(shape) + 1):
        larger = {}
        for subset in combinations(everything, n):
            larger[subset] = _settled(problem, subset, smaller)
        smaller = larger
        problem.run.progress(n / len(shape))
    return smaller[everything].minimal()


def _settled(problem: LatticeProblem, subset: Subset, smaller: dict[Subset, Lattice]) -> Lattice:
    """Return the lattice of a subset with every vector marked; smaller: the lattices with one attribute less."""
    lattice = Lattice([problem.shape[i] for i in subset])
    for axis in range(len(subset)):
        part = smaller.get((*subset[:axis], *subset[axis + 1 :]))
        if part is not None:
            lattice.marks[np.broadcast_to(np.expand_dims(part.marks == FAILS, axis), lattice.shape)] = FAILS
    left_out = problem.sets.absent

    def passes(vector: Vector) -> bool:
        places = list(left_out)
        for i, place in zip(subset, vector, strict=True):
            places[i] = place
        return problem.passes(tuple(places))

    lattice.settle(passes)
    return lattice
