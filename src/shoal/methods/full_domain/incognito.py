"""Incognito: all minimal full-domain vectors, found over ever larger sets of attributes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from shoal.errors import UsageError
from shoal.methods.full_domain.base import Problem, Solution
from shoal.methods.full_domain.infeasible import refuse
from shoal.methods.full_domain.lattice import FAILS, MOST_VECTORS, Lattice
from shoal.methods.full_domain.levels import Vector
from shoal.methods.full_domain.optimal import Chosen
from shoal.methods.full_domain.search import Best

__all__ = ["Incognito"]

Subset = tuple[int, ...]


@dataclass(frozen=True)
class Incognito(Chosen):
    """LeFevre, DeWitt, Ramakrishnan 2005: search the lattice of every subset of the attributes, smaller ones first.

    objective: what chooses among the minimal vectors: "height" (default), or any objective of the method optimal. Ties:
    the lower height, then the smaller vector. All minimal vectors are in the release's search facts.

    A vector is left untested if its part over a smaller subset fails, or if a vector of its own subset tells: one that
    passes makes all more general ones pass, one that fails makes all more specific ones fail. Every set is rolled up
    from one that is known. With a suppression limit a vector passes if the groups that fail have no more rows than it
    allows; both properties still hold.

    Departures: the paper goes through each lattice breadth first; here paths through it are halved, which finds the
    same vectors with fewer tests. Models for which a vector tells nothing about another are refused.
    Cost: the tests; there are as many subset lattices as subsets, 2^q, and their vectors number the product of
    (levels + 1) in all.
    """

    objective: str = "height"

    name: ClassVar[str] = "incognito"

    def search(self, problem: Problem) -> Solution:
        """Find all minimal vectors and choose one."""
        problem.require_monotone(self.name)
        minimal = minimal_vectors(problem)
        if not minimal:
            raise refuse(problem)
        best = Best(problem, self.priced(problem), self.objective == "rv")
        for vector in minimal:
            best.offer(vector)
        assert best.vector is not None
        told = {"tests": problem.n_tests, "minimal": [problem.levels(vector) for vector in minimal]}
        return Solution(best.vector, problem.judge(best.vector), told)


def minimal_vectors(problem: Problem) -> list[Vector]:
    """Return every vector that passes and has none below it that passes, in lexicographic order."""
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


def _settled(problem: Problem, subset: Subset, smaller: dict[Subset, Lattice]) -> Lattice:
    """Return the lattice of a subset with every vector marked; smaller: those with one attribute less."""
    lattice = Lattice([problem.shape[i] for i in subset])
    for axis in range(len(subset)):
        part = smaller.get((*subset[:axis], *subset[axis + 1 :]))
        if part is not None:
            lattice.marks[np.broadcast_to(np.expand_dims(part.marks == FAILS, axis), lattice.shape)] = FAILS
    left_out = problem.sets.absent

    def passes(vector: Vector) -> bool:
        whole = list(left_out)
        for i, place in zip(subset, vector, strict=True):
            whole[i] = place
        return problem.passes(tuple(whole))

    lattice.settle(passes)
    return lattice
