"""Optimal: the full-domain vector that loses least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import UsageError
from shoal.methods.full_domain.base import Problem, Solution
from shoal.methods.full_domain.infeasible import refuse
from shoal.methods.full_domain.objectives import NAMES, Objective, objective
from shoal.methods.full_domain.research_values import Researched
from shoal.methods.full_domain.search import find_best

__all__ = ["Optimal"]


@dataclass(frozen=True)
class Chosen(Researched):
    """A full-domain method that prices vectors by an objective."""

    objective: str = "ncp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in NAMES:
            raise UsageError(f"{self.name}: objective {self.objective!r} is not known. Use {', '.join(NAMES)}.")

    def priced(self, problem: Problem) -> Objective:
        """Return the objective for a table; rules and weights that it would pass over are refused."""
        if problem.run.rules and self.objective != "rv":
            raise UsageError(f"{self.name}: objective {self.objective!r} heeds no rules. Use rv.")
        if problem.run.weights and self.objective not in ("ncp", "rv"):
            raise UsageError(f"{self.name}: objective {self.objective!r} heeds no weights. Use ncp or rv.")
        values = self.research_values(problem) if self.objective == "rv" else None
        return objective(self.objective, problem, values)


@dataclass(frozen=True)
class Optimal(Chosen):
    """The best of all level vectors that pass, found without testing all of them.

    objective: "ncp" (default), "precision", "entropy", "height", "dm" (discernibility), "aecs" (average group size) or
    "rv" (research value, the highest). Suppressed rows cost all that a row can lose; height and rv do not count them.
    Ties: the lower height, then the smaller vector; with rv, fewest attributes at their root before these.

    A vector that passes makes all more general ones pass, one that fails makes all more specific ones fail, where the
    models are monotone; where they are not, every vector that may be the best is tested. Vectors are taken in order of
    what they cost at least, so that most are never looked at. Up to 4,194,304 vectors each has a mark; beyond,
    attributes are fixed one after the other in bounded memory (not for dm and aecs). The result is exact either way.
    Cost: a roll-up for each test; the finest set is counted once.
    """

    name: ClassVar[str] = "optimal"

    def search(self, problem: Problem) -> Solution:
        """Choose the best vector."""
        vector = find_best(problem, self.priced(problem), roots_first=self.objective == "rv")
        if vector is None:
            raise refuse(problem)
        return Solution(vector, problem.judge(vector), {"tests": problem.n_tests})
