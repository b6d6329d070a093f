"""Datafly: raise the attribute with most values, again and again, and suppress the few rows that are left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.methods.full_domain.base import FullDomain, Judged, Problem, Solution
from shoal.methods.full_domain.infeasible import refuse, refuse_suppression
from shoal.methods.full_domain.levels import Vector

__all__ = ["Datafly"]


@dataclass(frozen=True)
class Datafly(FullDomain):
    """Sweeney 1998: raise the attribute with most distinct values level by level, until few rows are left over.

    Few means at most k rows in groups that fail. They are suppressed. So that they hide among each other too, they must
    be none or at least k: where they are fewer, the smallest of the other groups goes with them (ties: the first in
    order of codes), and so on. Where that would leave no row at all, the next attribute is raised first.

    Ties: the first attribute in the order of the quasi-identifiers; one at its highest level is passed over. The
    suppression limit must allow what the method suppresses; where it does not, the run ends and says what would do.
    Cost: one roll-up for each level that is climbed.
    """

    name: ClassVar[str] = "datafly"

    def search(self, problem: Problem) -> Solution:
        """Climb, then suppress."""
        k = max((model.minimum_size for model in problem.models), default=1)
        vector: Vector = (0,) * len(problem.shape)
        while (judged := problem.judge(vector)).failing_rows > k or _complemented(judged, k).kept_rows == 0:
            values = [
                len(ladder.nodes[place]) if place + 1 < ladder.n_levels else 0
                for ladder, place in zip(problem.ladders, vector, strict=True)
            ]
            if not any(values):
                raise refuse(problem)
            widest = int(np.argmax(values))  # the first of equals
            vector = (*vector[:widest], vector[widest] + 1, *vector[widest + 1 :])
            problem.run.progress(sum(vector) / max(1, sum(problem.top)) / 2)
        judged = _complemented(judged, k)
        if judged.failing_rows > problem.most_suppressed:
            raise refuse_suppression(problem, self.name, judged.failing_rows)
        return Solution(vector, judged)


def _complemented(judged: Judged, k: int) -> Judged:
    """Suppress further groups, the smallest first, until none or at least k rows are suppressed."""
    sizes, failing = judged.found.sizes, judged.failing.copy()
    while 0 < int(sizes[failing].sum()) < k and not failing.all():
        failing[np.flatnonzero(~failing)[np.argmin(sizes[~failing])]] = True
    return replace(judged, failing=failing, failing_rows=int(sizes[failing].sum()))
