"""Limits of cells in the search: which groups keep to them, which may merge, and how a group that does not is split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from shoal.methods.shoaling.grouping import Grouping
    from shoal.methods.shoaling.problem import Problem

__all__ = ["Windows", "part_wide"]


@dataclass(frozen=True)
class Windows:
    """What each group contains of each limited attribute; kept up to date while groups merge.

    Attributes:
        problem: The problem.
        low: The least rank of each group in each limit.
        high: The greatest rank of each group in each limit.
        held: For each limit on the number of values, which values each group has.
    """

    problem: Problem
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    held: dict[int, NDArray[np.bool_]]

    @classmethod
    def of(cls, problem: Problem, grouping: Grouping) -> Windows:
        """Return the windows of some groups."""
        ranks, starts = problem.windows[grouping.tuples], grouping.starts[:-1]
        low, high = (reduce.reduceat(ranks, starts, axis=0) for reduce in (np.minimum, np.maximum))
        held = {}
        for c, limit in enumerate(problem.limits):
            if limit.most:
                held[c] = np.zeros((len(starts), len(limit.ranks)), dtype=bool)
                held[c][grouping.groups, ranks[:, c]] = True
        return cls(problem, low, high, held)

    def closed_to(self, group: int) -> NDArray[np.bool_]:
        """Say of each group whether it may not merge with one group."""
        closed = np.zeros(len(self.low), dtype=bool)
        for c, limit in enumerate(self.problem.limits):
            low, high = np.minimum(self.low[:, c], self.low[group, c]), np.maximum(self.high[:, c], self.high[group, c])
            closed |= high > limit.reach[low]
            if limit.most:
                closed |= (self.held[c] | self.held[c][group]).sum(axis=1) > limit.most
        return closed

    @property
    def broken(self) -> NDArray[np.bool_]:
        """Whether each group breaks a limit itself."""
        broken = np.zeros(len(self.low), dtype=bool)
        for c, limit in enumerate(self.problem.limits):
            broken |= self.high[:, c] > limit.reach[self.low[:, c]]
            if limit.most:
                broken |= self.held[c].sum(axis=1) > limit.most
        return broken

    def merge(self, group: int, other: int) -> None:
        """Add what one group contains to another."""
        self.low[other] = np.minimum(self.low[other], self.low[group])
        self.high[other] = np.maximum(self.high[other], self.high[group])
        for held in self.held.values():
            held[other] |= held[group]

    def admits(self, group: int, tuple_: int) -> bool:
        """Say whether a tuple may join a group."""
        for c, limit in enumerate(self.problem.limits):
            rank = int(self.problem.windows[tuple_, c])
            low, high = min(int(self.low[group, c]), rank), max(int(self.high[group, c]), rank)
            if high > limit.reach[low]:
                return False
            if limit.most and not self.held[c][group, rank] and int(self.held[c][group].sum()) >= limit.most:
                return False
        return True

    def open_to(self, group: int, tuples: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of each tuple whether it may join a group."""
        is_open = np.ones(len(tuples), dtype=bool)
        for c, limit in enumerate(self.problem.limits):
            ranks = self.problem.windows[tuples, c]
            low, high = np.minimum(ranks, self.low[group, c]), np.maximum(ranks, self.high[group, c])
            is_open &= high <= limit.reach[low]
            if limit.most and int(self.held[c][group].sum()) >= limit.most:
                is_open &= self.held[c][group, ranks]
        return is_open

    def add(self, group: int, tuple_: int) -> None:
        """Add a tuple to a group."""
        ranks = self.problem.windows[tuple_]
        self.low[group] = np.minimum(self.low[group], ranks)
        self.high[group] = np.maximum(self.high[group], ranks)
        for c, held in self.held.items():
            held[group, ranks[c]] = True


def part_wide(problem: Problem, grouping: Grouping) -> Grouping:
    """Split each group that breaks a limit into runs of ranks, or few values, that keep to it."""
    if not problem.limits:
        return grouping
    broken = Windows.of(problem, grouping).broken
    if not broken.any():
        return grouping
    labels = grouping.groups.astype(np.int64)
    chosen = np.flatnonzero(broken[grouping.groups])
    for c, limit in enumerate(problem.limits):
        ranks = problem.windows[grouping.tuples[chosen], c]
        order = np.lexsort((ranks, labels[chosen]))
        run, first, last, n_values, group = -1, 0, -1, 0, -1
        parts = np.empty(len(chosen), dtype=np.int64)
        for i in order.tolist():
            rank = int(ranks[i])
            n_values += rank != last
            if labels[chosen[i]] != group or rank > limit.reach[first] or (limit.most and n_values > limit.most):
                run, first, n_values, group = run + 1, rank, 1, int(labels[chosen[i]])
            last = rank
            parts[i] = run
        labels[chosen] = len(grouping.members) + parts
    _, dense = np.unique(labels, return_inverse=True)
    return grouping.joined([(grouping.tuples, grouping.rows, dense.astype(np.int32))])
