"""Groups of distinct tuples: what the steps of shoaling take and give back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.errors import InfeasibleError
from shoal.methods.base import failing_groups
from shoal.methods.shoaling.bans import borrow, clashing, part_banned, sides_held
from shoal.methods.shoaling.problem import Problem
from shoal.models import PrivacyModel

__all__ = ["Grouping", "cheaper", "near_hosts", "repair"]

# Ripe tuples that are offered to each tuple of a rest that is too small for a group.
N_HOSTS = 8

Ints = NDArray[np.int32]
Part = tuple[Ints, NDArray[np.int64], Ints]


@dataclass(frozen=True)
class Grouping:
    """Entries, each some rows of a tuple, sorted by group and tuple; groups are numbered without gaps."""

    tuples: Ints
    rows: NDArray[np.int64]
    groups: Ints

    @classmethod
    def of_tuples(cls, problem: Problem) -> Grouping:
        """Make each tuple a group of its own."""
        every = np.arange(len(problem.codes), dtype=np.int32)
        return cls(every, problem.counts, every)

    @classmethod
    def from_rows(cls, row_tuple: Ints, labels: Ints) -> Grouping:
        """Count the rows of each tuple in each group."""
        return cls.joined([(row_tuple, np.ones(len(labels), dtype=np.int64), labels)])

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> Grouping:
        """Put parts together, each with groups of its own; entries of one tuple in one group become one."""
        ends = np.cumsum([0, *(int(groups.max()) + 1 if len(groups) else 0 for _, _, groups in parts)])
        groups = np.concatenate([groups + first for (_, _, groups), first in zip(parts, ends[:-1], strict=True)])
        tuples = np.concatenate([tuples for tuples, _, _ in parts])
        key = groups.astype(np.int64) << 32 | tuples
        order = np.argsort(key, kind="stable")
        new = np.ones(len(key), dtype=bool)
        new[1:] = np.diff(key[order]) != 0
        starts = np.flatnonzero(new)
        rows = np.concatenate([rows for _, rows, _ in parts])[order]
        groups = groups[order][starts]
        dense = np.cumsum(np.diff(groups, prepend=groups[:1]) != 0)
        return cls(tuples[order][starts].astype(np.int32), np.add.reduceat(rows, starts), dense.astype(np.int32))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the entries of each group begin, and one more at the end."""
        return np.append(np.flatnonzero(np.diff(self.groups, prepend=-1)), len(self.groups)).astype(np.int64)

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The number of entries of each group."""
        return np.diff(self.starts)

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of rows of each group."""
        return np.add.reduceat(self.rows, self.starts[:-1])

    def prices(self, problem: Problem) -> NDArray[np.int64]:
        """Return what a row of each group costs."""
        from shoal.kernels.shoaling.prices import price_groups

        prices = np.empty(len(self.starts) - 1, dtype=np.int64)
        price_groups(problem.codes, self.tuples, self.starts, *problem.prices, prices)
        return prices

    def cost(self, problem: Problem) -> int:
        """Return what all rows cost."""
        return int((self.prices(problem) * self.sizes()).sum())

    def entries_of(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], Ints]:
        """Return the entries of some groups, group after group, and for each the place of its group among them."""
        members = self.members[groups]
        first = np.cumsum(members) - members
        entries = np.repeat(self.starts[groups] - first, members) + np.arange(members.sum())
        return entries, np.repeat(np.arange(len(groups), dtype=np.int32), members)

    def labels(self, problem: Problem) -> Ints:
        """Return the group of each canonical row: the rows of a tuple go to its groups in their order.

        Groups of one tuple alone that is the same become one, which costs nothing.
        """
        alone = (self.members == 1)[self.groups]
        same = np.where(alone, self.tuples, self.groups + np.int64(self.tuples.max()) + 1)
        _, groups = np.unique(same, return_inverse=True)
        return self.spread(problem, groups.astype(np.int32))

    def spread(self, problem: Problem, groups: Ints) -> Ints:
        """Return for each canonical row the group of its entry; groups: one for each entry."""
        order = np.lexsort((groups, self.tuples))
        labels = np.empty(len(problem.row_tuple), dtype=np.int32)
        labels[np.argsort(problem.row_tuple, kind="stable")] = np.repeat(groups[order], self.rows[order])
        return labels


def near_hosts(problem: Problem, singles: Grouping, rest: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say which tuples are the cheapest hosts of those of the rest."""
    hosts = np.zeros(len(rest), dtype=bool)
    for one in np.flatnonzero(rest).tolist():
        added = problem.distances(int(singles.tuples[one]))[singles.tuples] * (singles.rows + singles.rows[one])
        added[rest] = np.iinfo(np.int64).max
        hosts[np.argsort(added, kind="stable")[:N_HOSTS]] = True
    return hosts & ~rest


def repair(encoded: Encoded, problem: Problem, models: tuple[PrivacyModel, ...], grouping: Grouping) -> Grouping:
    """Part groups that break a ban, and merge each that fails a model with the nearest that it may join.

    Until none fails. A group that may join no other takes rows of others instead.
    """
    for _ in range(len(grouping.tuples) + 1):
        grouping = part_banned(problem, grouping)
        failing = np.flatnonzero(failing_groups(encoded, models, grouping.spread(problem, grouping.groups)))
        if not len(failing):
            return grouping
        merged = _join(problem, grouping, failing)
        if merged is None and problem.requirement.plain:
            merged = borrow(problem, grouping, int(failing[0]))
        if merged is None:
            break
        grouping = merged
    told = " and ".join(model.describe() for model in models)
    bans = " and keep the bans" if problem.bans.shape[1] else ""
    raise InfeasibleError(f"no groups were found that pass {told}{bans}. Weaken the goal.")


def _join(problem: Problem, grouping: Grouping, failing: NDArray[np.int64]) -> Grouping | None:
    """Merge each of some groups with the group of the nearest tuple that it may join; None where none may join any."""
    merged = np.arange(len(grouping.members), dtype=np.int32)
    held = sides_held(problem, grouping)
    for group in failing.tolist():
        own = merged[group]
        closed = clashing(held, int(own))[merged]
        closed[group] = True
        if closed.all():
            continue
        first = int(grouping.tuples[grouping.starts[group]])
        distances = np.where(closed[grouping.groups], np.iinfo(np.int64).max, problem.distances(first)[grouping.tuples])
        other = merged[grouping.groups[np.argmin(distances)]]
        held[:, other] |= held[:, own]
        merged[merged == own] = other
    groups, dense = np.unique(merged, return_inverse=True)
    if len(groups) == len(merged):
        return None
    return Grouping.joined([(grouping.tuples, grouping.rows, dense.astype(np.int32)[grouping.groups])])


def cheaper(problem: Problem, part: Part, other: Part) -> Part:
    """Return the one that costs less, the first where they are equal."""
    costs = [Grouping.joined([each]).cost(problem) for each in (part, other)]
    return other if costs[1] < costs[0] else part
