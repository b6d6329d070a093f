"""Optimal: the full-domain vector with the least loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import UsageError
from shoal.methods.full_domain.base import LatticeProblem, Solution
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

    def priced(self, problem: LatticeProblem) -> Objective:
        """Return the objective for a table; refuse rules and weights that it would ignore."""
        if problem.run.rules and self.objective != "rv":
            raise UsageError(f"{self.name}: objective {self.objective!r} ignores rules. Use rv.")
        if problem.run.weights and self.objective not in ("ncp", "rv"):
            raise UsageError(f"{self.name}: objective {self.objective!r} ignores weights. Use ncp or rv.")
        values = self.research_values(problem) if self.objective == "rv" else None
        return objective(self.objective, problem, values)


@dataclass(frozen=True)
class Optimal(Chosen):
    """The best feasible level vector, found without testing all vectors.

    If the models are monotone, vectors above a passing vector pass and vectors below a failing vector fail; otherwise
    every vector that may be the best is tested. Vectors are visited in order of their minimum price, so most are never
    judged. Up to 4,194,304 vectors have a mark each; beyond, attributes are fixed one by one in bounded memory (not for
    dm and aecs). The result is exact either way.
    Cost: a roll-up for each test; the finest set is counted once.

    Attributes:
        objective: "ncp" (default), "precision", "entropy", "height", "dm" (discernibility), "aecs" (average group
            size) or "rv" (highest research value). A suppressed row counts as fully lost; height and rv ignore
            suppressed rows. Ties: the lower height, then the smaller vector; with rv, fewest attributes at their root
            before these.
    """

    name: ClassVar[str] = "optimal"

    def search(self, problem: LatticeProblem) -> Solution:
        """Find the best vector."""
        vector = find_best(problem, self.priced(problem), roots_first=self.objective == "rv")
        if vector is None:
            raise refuse(problem)
        return Solution(vector, problem.judge(vector), {"tests": problem.n_tests})
