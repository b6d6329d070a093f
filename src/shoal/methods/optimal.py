"""Optimal: the full-domain vector that loses least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import UsageError
from shoal.methods.best import find_best
from shoal.methods.full_domain import FullDomain, Problem, Solution
from shoal.methods.infeasible import refuse
from shoal.methods.objectives import NAMES, objective

__all__ = ["Optimal"]


@dataclass(frozen=True)
class Optimal(FullDomain):
    """The best of all level vectors that pass."""

    objective: str = "ncp"

    name: ClassVar[str] = "optimal"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in NAMES:
            raise UsageError(f"optimal: objective {self.objective!r} is not known. Use {', '.join(NAMES)}.")

    def search(self, problem: Problem) -> Solution:
        """Choose the vector of the lowest price, then height, then the smallest."""
        vector = find_best(problem, objective(self.objective, problem))
        if vector is None:
            raise refuse(problem)
        return Solution(vector, problem.judge(vector))
