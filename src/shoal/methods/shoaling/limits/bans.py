"""Bans: rules that no group may break, whatever the loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.errors import InfeasibleError, join_problems, setting
from shoal.methods.shoaling.limits.windows import Windows
from shoal.rules import CompiledRules, Pair

if TYPE_CHECKING:
    from shoal.methods.shoaling.grouping import Grouping
    from shoal.methods.shoaling.problem import Problem

__all__ = ["banned_pairs", "borrow", "check_bans", "clashing", "part_banned", "side_of", "sides_held"]

ONE, OTHER, NEITHER = range(3)  # the side of a pair that a tuple belongs to; the kernels use the same numbers

Ints = NDArray[np.int32]


def side_of(pair: Pair, codes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the side of a pair that each code of its attribute belongs to."""
    sides: NDArray[np.int64] = np.where(pair.one, ONE, np.where(pair.other, OTHER, NEITHER))[codes]
    return sides


def banned_pairs(rules: CompiledRules) -> list[Pair]:
    """Return the pairs of sides that no group may mix."""
    return [pair for pair in rules.pairs if rules.bans[pair.rule]]


def check_bans(
    attributes: Sequence[Attribute], pairs: Sequence[Pair], histograms: Sequence[NDArray[Any]], k: int
) -> None:
    """Refuse bans that leave some rows too few others to share a group with.

    Args:
        attributes: The quasi-identifiers.
        pairs: The pairs of sides that no group may mix.
        histograms: The number of rows of each code of each attribute.
        k: The least group size.
    """
    problems = []
    for pair in pairs:
        histogram = histograms[pair.attribute]
        rows = np.bincount(side_of(pair, np.arange(len(histogram))), histogram, 3).astype(np.int64)
        largest_group = int(min(rows[ONE], rows[OTHER]) + rows[NEITHER])
        if rows[ONE] and rows[OTHER] and largest_group < k:
            problems.append(
                f"column {attributes[pair.attribute].name!r}: because of its ban, some rows may share a group with at "
                f"most {largest_group:,} rows, but k={k} needs {k}. Use {setting('k', largest_group)} or less, or "
                "give the rule an importance instead of the ban."
            )
    if problems:
        raise InfeasibleError(join_problems(sorted(set(problems))))


def sides_held(problem: Problem, grouping: Grouping) -> NDArray[np.bool_]:
    """Return which sides each group contains: 2 x groups x bans."""
    sides, starts = problem.bans[grouping.tuples], grouping.starts[:-1]
    return np.stack([np.logical_or.reduceat(sides == side, starts, axis=0) for side in (ONE, OTHER)])


def clashing(held: NDArray[np.bool_], group: int) -> NDArray[np.bool_]:
    """Return which groups may not merge with one group; held: the sides of each group."""
    both = (held[ONE] & held[OTHER, group]) | (held[OTHER] & held[ONE, group])
    clash: NDArray[np.bool_] = np.logical_or.reduce(both, axis=1)
    return clash


def part_banned(problem: Problem, grouping: Grouping) -> Grouping:
    """Split each group that breaks a ban; rows of neither side go with the smaller side."""
    while True:
        held = sides_held(problem, grouping)
        broken = held[ONE] & held[OTHER]
        groups = np.flatnonzero(np.any(broken, axis=1))
        if not len(groups):
            return grouping
        entries, places = grouping.entries_of(groups)
        side = problem.bans[grouping.tuples[entries], np.argmax(broken[groups], axis=1)[places]]
        rows = np.stack([np.bincount(places, grouping.rows[entries] * (side == s), len(groups)) for s in (ONE, OTHER)])
        fewer = np.where(rows[OTHER] < rows[ONE], OTHER, ONE)[places]
        labels = grouping.groups.copy()
        moved = np.where(side == NEITHER, fewer, side) == OTHER
        labels[entries[moved]] = len(grouping.members) + places[moved]
        grouping = grouping.joined([(grouping.tuples, grouping.rows, labels)])


def borrow(problem: Problem, grouping: Grouping, group: int) -> Grouping | None:
    """Fill a group that may not join any other with the nearest rows, preferably from groups that can spare them.

    What remains of another group may have to join a third.

    Returns:
        The new groups, or None if there are not enough rows.
    """
    held, sizes = sides_held(problem, grouping)[:, group], grouping.sizes()
    sides = problem.bans[grouping.tuples]
    clash = ((sides == ONE) & held[OTHER] | (sides == OTHER) & held[ONE]).any(axis=1)
    near = problem.distances(int(grouping.tuples[grouping.starts[group]]))[grouping.tuples]
    windows = Windows.of(problem, grouping)
    usable = ~clash & (grouping.groups != group) & windows.open_to(group, grouping.tuples)
    spare = sizes[grouping.groups] > problem.k
    order = np.lexsort((near, ~spare, ~usable))[: int(usable.sum())]
    rows, labels = grouping.rows.copy(), grouping.groups
    left, missing = sizes.copy(), problem.k - int(sizes[group])
    loans: list[tuple[int, int]] = []
    for strict in (True, False):
        for entry in order.tolist():
            if missing <= 0:
                break
            available = int(min(rows[entry], left[labels[entry]] - problem.k)) if strict else int(rows[entry])
            if (take := min(available, missing)) > 0 and windows.admits(group, int(grouping.tuples[entry])):
                windows.add(group, int(grouping.tuples[entry]))
                rows[entry] -= take
                left[labels[entry]] -= take
                missing -= take
                loans.append((entry, take))
    if missing > 0:
        return None
    entries = np.array([entry for entry, _ in loans], dtype=np.int64)
    lent = np.array([take for _, take in loans], dtype=np.int64)
    stays = rows > 0
    return grouping.joined(
        [
            (
                np.concatenate([grouping.tuples[stays], grouping.tuples[entries]]),
                np.concatenate([rows[stays], lent]),
                np.concatenate([labels[stays], np.full(len(entries), group, dtype=np.int32)]),
            )
        ]
    )
