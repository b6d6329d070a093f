"""Groups of tuples: what the steps of shoaling take and return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries, deal_rows
from shoal.errors import InfeasibleError
from shoal.methods.base import failing_groups
from shoal.methods.shoaling.block import Part
from shoal.methods.shoaling.limits.bans import borrow, clashing, part_banned, sides_held
from shoal.methods.shoaling.limits.windows import Windows, part_wide
from shoal.methods.shoaling.problem import Problem
from shoal.models import PrivacyModel

__all__ = ["Grouping", "count_people", "in_parts", "near_hosts", "no_groups", "repair", "spread_out"]

# Large enough tuples that are offered to each tuple of a remainder that is too small for a group.
N_HOSTS = 8
MOST_LOANS = 50  # under limits; more rarely end

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Grouping:
    """Entries, each some rows of a tuple in a group, sorted by group and tuple; groups are numbered without gaps.

    Attributes:
        tuples: The tuple of each entry.
        rows: The number of its rows.
        groups: Its group.
    """

    tuples: Ints
    rows: NDArray[np.int64]
    groups: Ints

    @classmethod
    def of_tuples(cls, problem: Problem) -> Grouping:
        """Make each tuple a group of its own, or one of all tuples of k people that have the same codes."""
        every = np.arange(len(problem.codes), dtype=np.int32)
        if not problem.by_person or not problem.requirement.plain:
            return cls(every, problem.counts, every)
        # A tuple of codes has a tuple for each of its people.
        n_people = np.bincount(problem.of_codes)
        together = n_people[problem.of_codes] >= problem.k
        labels = np.where(together, problem.of_codes, every + np.int32(len(n_people)))
        return cls.joined([(every, problem.counts, labels)])

    @classmethod
    def from_rows(cls, problem: Problem, labels: Ints) -> Grouping:
        """Count the rows of each tuple in each group; labels: the group of each canonical row."""
        weights = np.ones(len(labels), dtype=np.int64) if problem.row_weights is None else problem.row_weights
        return cls.joined([(problem.row_tuple, weights, labels)])

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> Grouping:
        """Join parts, each with groups of its own; entries of one tuple in one group become one entry."""
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

    def people(self, problem: Problem) -> NDArray[np.int64]:
        """Return the size of each group: its number of rows or, if people are counted, of different people."""
        if not problem.by_person:
            return self.sizes()
        pairs = np.unique(self.groups.astype(np.int64) << 32 | problem.people[self.tuples])
        return np.bincount(pairs >> 32, minlength=len(self.members)).astype(np.int64)

    def prices(self, problem: Problem) -> NDArray[np.int64]:
        """Return the price of a row of each group."""
        from shoal.kernels.shoaling.prices import price_groups

        prices = np.empty(len(self.starts) - 1, dtype=np.int64)
        price_groups(problem.codes, self.tuples, self.starts, *problem.prices, prices)
        return prices

    def cost(self, problem: Problem) -> float:
        """Return the price of all rows, or the sum of squares inside groups if the search lowers that."""
        if problem.space is not None:
            return problem.space.squares(self.tuples, self.rows, self.groups)
        return int((self.prices(problem) * self.sizes()).sum())

    def entries_of(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], Ints]:
        """Return the entries of some groups, group after group, and for each the position of its group among them."""
        members = self.members[groups]
        first = np.cumsum(members) - members
        entries = np.repeat(self.starts[groups] - first, members) + np.arange(members.sum())
        return entries, np.repeat(np.arange(len(groups), dtype=np.int32), members)

    def condensed(self, problem: Problem) -> Grouping:
        """Return the same groups, but groups that consist of the same single tuple become one, at no cost."""
        tuples = self.tuples
        single = (self.members == 1)[self.groups]
        if problem.by_person:  # models may still tell rows of equal codes apart
            tuples = problem.of_codes[tuples] * np.int64(len(problem.requirement.positions)) + problem.classes[tuples]
            low, high = (reduce.reduceat(tuples, self.starts[:-1]) for reduce in (np.minimum, np.maximum))
            single = (low == high)[self.groups]
        key = np.where(single, tuples, self.groups + np.int64(tuples.max()) + 1)
        _, groups = np.unique(key, return_inverse=True)
        return Grouping.joined([(self.tuples, self.rows, groups.astype(np.int32))])

    def entries(self, problem: Problem) -> Entries | Ints:
        """Return the groups as entries of tuples of codes; or, if models tell rows of a tuple apart, as labels of rows.

        The rows of a tuple go to its groups in order.
        """
        if not problem.by_codes:
            return self.labels(problem)
        order = np.lexsort((self.groups, self.tuples))
        return Entries(self.tuples[order], self.rows[order], self.groups[order])

    def labels(self, problem: Problem) -> Ints:
        """Return the group of each canonical row: the rows of a tuple go to its groups in order."""
        order = np.lexsort((self.groups, self.tuples))
        by_tuple = np.argsort(problem.row_tuple, kind="stable")
        weights = None if problem.row_weights is None else problem.row_weights[by_tuple]
        labels = np.empty(len(problem.row_tuple), dtype=np.int32)
        labels[by_tuple] = deal_rows(self.rows[order], self.groups[order], weights)
        return labels


def near_hosts(problem: Problem, singles: Grouping, remainder: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each group whether it is one of the cheapest to join with some group of the remainder.

    Each group consists of tuples with equal codes.
    """
    hosts = np.zeros(len(remainder), dtype=bool)
    tuples, rows = singles.tuples[singles.starts[:-1]], singles.sizes()
    for one in np.flatnonzero(remainder).tolist():
        added = problem.distances(int(tuples[one]))[tuples] * (rows + rows[one])
        added[remainder] = np.iinfo(np.int64).max
        hosts[np.argsort(added, kind="stable")[:N_HOSTS]] = True
    return hosts & ~remainder


def count_people(problem: Problem, grouping: Grouping, chosen: NDArray[np.bool_]) -> int:
    """Return the size of some groups together: their rows or, if people are counted, their different people."""
    entries, _ = grouping.entries_of(np.flatnonzero(chosen))
    if not problem.by_person:
        return int(grouping.rows[entries].sum())
    return len(np.unique(problem.people[grouping.tuples[entries]]))


def in_parts(counts: NDArray[np.int64], most: int) -> tuple[Ints, NDArray[np.int64]]:
    """Split tuples of many rows into parts of at most so many; return the tuple and the rows of each part."""
    parts = -(-counts // most)
    tuples = np.repeat(np.arange(len(counts), dtype=np.int32), parts)
    number = np.arange(len(tuples)) - np.repeat(np.cumsum(parts) - parts, parts)
    rows = np.minimum(most, counts[tuples] - number * most)
    return tuples, rows


def no_groups(models: tuple[PrivacyModel, ...]) -> str:
    """Return the message that the search found no groups."""
    goal = " and ".join(model.describe() for model in models)
    return f"shoaling found no groups that pass {goal}. Weaken the goal."


def repair(
    encoded: Encoded,
    problem: Problem,
    models: tuple[PrivacyModel, ...],
    grouping: Grouping,
    planned: Grouping | None = None,
) -> Grouping | None:
    """Split groups that break a ban or a limit, and merge each that fails a model with the nearest that it may join.

    Repeat until no group fails. A group that may not join any other borrows rows instead. If that does not end, or
    limits leave nobody to borrow from, planned groups replace those of the classes that fail.

    Args:
        encoded: The table.
        problem: The problem.
        models: What every group must pass.
        grouping: The groups.
        planned: Groups that keep to all limits.

    Returns:
        The groups; None if merging does not lead to groups that pass, which a model that is not closed may cause.

    Raises:
        InfeasibleError: Some group still fails when nothing can be merged or borrowed, under closed models.
    """
    loans = 0
    for _ in range(len(grouping.tuples) + 1):
        grouping = part_wide(problem, part_banned(problem, grouping))
        failing = np.flatnonzero(failing_groups(encoded, models, grouping.entries(problem)))
        if not len(failing):
            return grouping
        merged = _join(problem, grouping, failing)
        if merged is None and problem.requirement.plain and not problem.by_person and not _is_idle(problem, loans):
            merged = borrow(problem, grouping, int(failing[0]))
            loans += 1
        if merged is None and planned is not None:
            merged, planned = _replanned(problem, grouping, failing, planned), None
        if merged is None:
            break
        grouping = merged
    if not all(model.closed for model in models):
        return None
    goal = " and ".join(model.describe() for model in models)
    broken = [words for words, given in (("a ban", problem.bans.shape[1]), ("a limit", problem.limits)) if given]
    bans = f" without breaking {' or '.join(broken)}" if broken else ""
    raise InfeasibleError(f"the search found no groups that satisfy {goal}{bans}. Weaken the requirement.")


def _is_idle(problem: Problem, loans: int) -> bool:
    """Say whether borrowing rows goes on in circles, as it may between the windows of limits."""
    return bool(problem.limits) and loans >= MOST_LOANS


def _replanned(problem: Problem, grouping: Grouping, failing: NDArray[np.int64], planned: Grouping) -> Grouping:
    """Return planned groups in the classes of failing groups, and the groups as they are in all others."""
    classes = np.unique(problem.walls[grouping.tuples[grouping.starts[failing]]])
    parts: list[Part] = []
    for each, is_planned in ((grouping, False), (planned, True)):
        chosen = np.isin(problem.walls[each.tuples], classes) == is_planned
        parts.append((each.tuples[chosen], each.rows[chosen], each.groups[chosen]))
    return Grouping.joined(parts)


def _join(problem: Problem, grouping: Grouping, failing: NDArray[np.int64]) -> Grouping | None:
    """Merge each failing group with the group of the nearest tuple that it may join; None if none may join any."""
    merged = np.arange(len(grouping.members), dtype=np.int32)
    sides, windows = sides_held(problem, grouping), Windows.of(problem, grouping)
    for group in failing.tolist():
        own = merged[group]
        closed = (clashing(sides, int(own)) | windows.closed_to(int(own)))[merged]
        closed[group] = True
        if closed.all():
            continue
        first = int(grouping.tuples[grouping.starts[group]])
        distances = np.where(closed[grouping.groups], np.iinfo(np.int64).max, problem.distances(first)[grouping.tuples])
        other = merged[grouping.groups[np.argmin(distances)]]
        sides[:, other] |= sides[:, own]
        windows.merge(int(own), int(other))
        merged[merged == own] = other
    groups, dense = np.unique(merged, return_inverse=True)
    if len(groups) == len(merged):
        return None
    return Grouping.joined([(grouping.tuples, grouping.rows, dense.astype(np.int32)[grouping.groups])])


def spread_out(problem: Problem, singles: Grouping) -> Grouping:
    """Order tuples with the same codes so that the first few already cover the range of what models count.

    They come in the order of their classes, and of tuples equally near, the first are merged first: groups of
    neighbours would be too much alike. So they follow van der Corput 1935: by the bits of their places, reversed.
    """
    codes = problem.of_codes[singles.tuples]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    place = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    key = np.zeros(len(codes), dtype=np.int64)
    for bit in range(int(place.max(initial=0)).bit_length()):
        key = key << 1 | place >> bit & 1
    order = np.lexsort((key, codes))
    return Grouping(singles.tuples[order], singles.rows[order], singles.groups)
