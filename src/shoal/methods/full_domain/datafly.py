"""Datafly: generalise the attribute with most distinct values until few rows remain, and suppress these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.methods.full_domain.base import FullDomain, Judged, LatticeProblem, Solution
from shoal.methods.full_domain.infeasible import refuse, refuse_suppression
from shoal.methods.full_domain.levels import Vector

__all__ = ["Datafly"]


@dataclass(frozen=True)
class Datafly(FullDomain):
    """Sweeney 1998: generalise the attribute with most distinct values by one level until few rows remain.

    Few means at most k rows in failing groups, which are suppressed. To hide among each other, suppressed rows must be
    none or at least k: if there are fewer, the smallest passing group is suppressed too (ties: the first in order of
    codes), and so on. If that would leave no row at all, the next attribute is generalised first.

    Ties: the first attribute in the order of the quasi-identifiers; attributes at their highest level are skipped. If
    the suppression limit is too low, the run ends with an error that says what would suffice.
    Cost: one roll-up for each level.
    """

    name: ClassVar[str] = "datafly"

    def search(self, problem: LatticeProblem) -> Solution:
        """Generalise, then suppress."""
        k = max((model.minimum_size for model in problem.models), default=1)
        vector: Vector = (0,) * len(problem.shape)
        while (judged := problem.judge(vector)).failing_rows > k or _complemented(judged, k).released_rows == 0:
            values = [
                len(ladder.nodes[place]) if place + 1 < ladder.n_levels else 0
                for ladder, place in zip(problem.ladders, vector, strict=True)
            ]
            if not any(values):
                raise refuse(problem)
            widest = int(np.argmax(values))  # ties: the first
            vector = (*vector[:widest], vector[widest] + 1, *vector[widest + 1 :])
            problem.run.progress(sum(vector) / max(1, sum(problem.top)) / 2)
        judged = _complemented(judged, k)
        if judged.failing_rows > problem.most_suppressed:
            raise refuse_suppression(problem, self.name, judged.failing_rows)
        return Solution(vector, judged)


def _complemented(judged: Judged, k: int) -> Judged:
    """Suppress further groups, the smallest first, until none or at least k rows are suppressed."""
    sizes, failing = judged.groups.sizes, judged.failing.copy()
    while 0 < int(sizes[failing].sum()) < k and not failing.all():
        failing[np.flatnonzero(~failing)[np.argmin(sizes[~failing])]] = True
    return replace(judged, failing=failing, failing_rows=int(sizes[failing].sum()))
