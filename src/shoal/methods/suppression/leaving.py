"""Suppression in tables of several sections: groups say which of their rows would leave; one limit holds for all.

The slices of a group leave one after another, the best first. What a slice saves for each of its rows counts no more
than what any slice before it saves, so that those which save more than some bound are always the first ones of their
group. Nothing else is decided inside a section. Where the bound lies follows from sums of rows, which every engine can
add up.

First, outliers may leave any group, and the remaining rows of their section are grouped again; a section that gains
nothing by this stays as it was. Mondrian leaves this out: where it cuts depends on no section. Then slices leave groups
that can spare them, as long as the limit allows it.

Where models judge all groups together, each section keeps its share of their limits, whatever the bound is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries
from shoal.errors import InfeasibleError
from shoal.methods.base import failing_groups
from shoal.methods.suppression import MOST_ROUNDS, loss_with_suppressed, spread
from shoal.methods.suppression.all_groups import spare_rows
from shoal.methods.suppression.slices import Members, slices_of
from shoal.models import Basis, KAnonymity, PrivacyModel, Uniqueness

__all__ = [
    "LARGEST",
    "Bound",
    "Leaving",
    "RowSums",
    "SectionRows",
    "allowances",
    "find_bound",
    "join_sections",
    "leave_in_order",
    "leave_sections",
    "outliers_of",
    "without_outliers",
]

LARGEST = np.iinfo(np.int64).max
COARSE = 44  # bits of a worth that the first sums leave out: 256 sums between a number and its double

Labels = NDArray[np.int32]
Grouped = Entries | Labels
Counts = NDArray[np.int64]
Regroup = Callable[[Encoded], Labels]  # may raise an InfeasibleError


class Bound(NamedTuple):
    """Which slices leave.

    Attributes:
        worth: All that are worth more leave.
        allowance: Of those that are worth the same leave the first, as long as they have no more rows than this in all.
    """

    worth: int
    allowance: int


@dataclass(frozen=True)
class Leaving:
    """What may leave the groups of a section, or of a table.

    Attributes:
        worth: For each entry or canonical row, what its slice saves for each row: the bits of a positive float64, which
            compare as the numbers do; 0 if it stays in any case.
        place: The place of its slice among all, by group and by the order in which they leave.
        rows: The number of its rows.
    """

    worth: NDArray[np.int64]
    place: NDArray[np.int32]
    rows: Counts

    @classmethod
    def joined(cls, parts: Sequence[Leaving]) -> Leaving:
        """Join what may leave several sections, in order."""
        ends = np.cumsum([0, *(int(part.place.max(initial=-1)) + 1 for part in parts)])
        places = [part.place + np.int32(first) for part, first in zip(parts, ends[:-1], strict=True)]
        worth, rows = (np.concatenate([getattr(part, name) for part in parts]) for name in ("worth", "rows"))
        return cls(worth, np.concatenate(places), rows)

    def sums(self, shift: int, low: int, high: int) -> tuple[NDArray[np.int64], Counts]:
        """See `RowSums`."""
        chosen = (self.worth >= low) & (self.worth < high)
        worths, place = np.unique(self.worth[chosen] >> shift, return_inverse=True)
        return worths, np.bincount(place, self.rows[chosen], len(worths)).astype(np.int64)

    def leaves(self, bound: Bound) -> NDArray[np.bool_]:
        """Say of each entry or row whether it leaves."""
        at_bound = np.flatnonzero((self.worth == bound.worth) & (self.worth > 0))
        places, of_slice = np.unique(self.place[at_bound], return_inverse=True)
        upto = np.cumsum(np.bincount(of_slice, self.rows[at_bound], len(places)))
        leaves = self.worth > bound.worth
        leaves[at_bound] = (upto <= bound.allowance)[of_slice]
        return leaves

    def within(self, most: int) -> Leaving:
        """Return the first slices that have at most so many rows in all."""
        return replace(self, worth=np.where(self.leaves(find_bound(self.sums, most)), self.worth, 0))


class RowSums(Protocol):
    """Adds up the rows of the slices of all sections."""

    def __call__(self, shift: int, low: int, high: int) -> tuple[NDArray[np.int64], Counts]:
        """Return the rows of slices that are worth from `low` to less than `high`, by worth >> shift, ascending."""


def leave_in_order(encoded: Encoded, models: tuple[PrivacyModel, ...], groups: Grouped, k: int, most: int) -> Leaving:
    """Say which rows would leave their groups, in which order, and what each saves.

    A slice consists of the rows of a group with its least or greatest number, or with one category. At least k rows
    must stay and pass the models; a group whose best slice would leave others that fail keeps all it still has. A
    suppressed row loses everything itself, so a slice must save its group more than that.

    Args:
        encoded: The table, or a section of it; groups are compared with the distribution of the whole table.
        models: What every group must pass.
        groups: Entries, or the group of each canonical row; -1 for rows that were suppressed before.
        k: The least group size.
        most: The largest number of rows that may be suppressed in the whole table.
    """
    spare = spare_rows(encoded, models, groups)
    if any(isinstance(model, Uniqueness) for model in models):  # no slice leaves a row alone
        k, models = max(k, 2), (*models, KAnonymity(2))
    models = tuple(model for model in models if model.basis is not Basis.TABLE)
    members = Members.of(encoded, groups)
    n_groups = len(members.sizes())
    must_ask = encoded.people is not None or not all(model.size_only for model in models)
    worth, steps = np.zeros(len(members.rows)), np.zeros(len(members.rows), dtype=np.int64)
    reached = np.full(n_groups, np.inf)  # the least that a slice of each group saved so far
    changed = np.ones(n_groups, dtype=bool)
    for step in range(MOST_ROUNDS):
        chosen = slices_of(members, k, changed).best(most)
        if len(chosen.group) and must_ask:
            failing = failing_groups(encoded, models, _labelled(groups, members.without(chosen)))
            chosen = chosen.take(~failing[chosen.group])
        if not len(chosen.group):
            break
        trial = members.without(chosen)
        reached[chosen.group] = np.minimum(reached[chosen.group], chosen.gain)
        gone = (trial.group < 0) & (members.group >= 0)
        worth[gone], steps[gone] = reached[members.group[gone]], step
        changed = np.zeros(n_groups, dtype=bool)
        changed[chosen.group] = True
        members = trial
    place = np.unique(members.first_group * MOST_ROUNDS + steps, return_inverse=True)[1]
    rows = groups.rows if isinstance(groups, Entries) else encoded.row_weights
    of_row, bits = members.of_row, worth.view(np.int64)
    leaving = Leaving(np.where(of_row >= 0, bits[of_row], 0), place.astype(np.int32)[of_row], rows)
    return leaving if spare is None else leaving.within(spare)


def _labelled(groups: Grouped, members: Members) -> Grouped:
    """Return the groups that members are left in."""
    return replace(groups, groups=members.labels()) if isinstance(groups, Entries) else members.labels()


def find_bound(sums: RowSums, most: int) -> Bound:
    """Return which slices leave: those that save most for each row, as long as they have at most `most` rows in all.

    The first slice that would exceed the limit ends this, so that less valuable ones never leave in its place.
    """
    low, high, left = 1, LARGEST, most
    for shift in (COARSE, 0):
        worths, rows = sums(shift, low, high)
        upto = np.cumsum(rows[::-1])
        beyond = int(np.searchsorted(upto, left, side="right"))  # the first that exceeds what is left
        if beyond == len(upto):
            return Bound(0, 0)
        left -= int(upto[beyond - 1]) if beyond else 0
        low = int(worths[::-1][beyond]) << shift
        high = low + (1 << shift)
    return Bound(low, left)


def allowances(bound: Bound, rows: Counts) -> list[Bound]:
    """Return the bound of each section; rows: those of its slices that are worth as much as the bound."""
    before = np.cumsum(rows) - rows
    return [Bound(bound.worth, max(0, bound.allowance - int(each))) for each in before]


def outliers_of(encoded: Encoded, groups: Grouped, most: int) -> Leaving:
    """Say which rows would leave their groups if a group could have any rows; arguments as for `leave_in_order`."""
    return leave_in_order(encoded, (), groups, 1, most)


def without_outliers(
    part: Encoded,
    models: tuple[PrivacyModel, ...],
    labels: Labels,
    k: int,
    leaves: NDArray[np.bool_],
    regroup: Regroup,
) -> Labels:
    """Group a section again without some rows, unless this loses more than its groups without as many others.

    Args:
        part: The rows of the section, whose sensitive values are compared with those of the whole table.
        models: What every group must pass.
        labels: The group of each row, -1 for a row that was suppressed before.
        k: The least group size.
        leaves: For each row, whether it leaves.
        regroup: Groups some rows of the section.

    Returns:
        The group of each row, -1 for a suppressed row.
    """
    most, stays = int(part.row_weights[leaves].sum()), (labels >= 0) & ~leaves
    if not most or int(part.row_weights[stays].sum()) < k:
        return labels
    try:
        fewer = spread(regroup(part.part(stays)), stays)
    except InfeasibleError:
        return labels
    if failing_groups(part, models, fewer).any():
        return labels
    leaving = leave_in_order(part, models, labels, k, most)
    others = np.where(leaving.leaves(find_bound(leaving.sums, most)), -1, labels).astype(np.int32)
    return fewer if loss_with_suppressed(part, fewer) < loss_with_suppressed(part, others) else labels


class SectionRows(NamedTuple):
    """A section of a table in memory.

    Attributes:
        rows: Its canonical rows, ascending.
        part: These rows.
        labels: The group of each, -1 for a row that was suppressed before.
        regroup: Groups some of them; None if its outliers do not leave first.
    """

    rows: NDArray[np.int64]
    part: Encoded
    labels: Labels
    regroup: Regroup | None = None


def leave_sections(
    encoded: Encoded, models: tuple[PrivacyModel, ...], parts: Sequence[SectionRows], k: int, most: int
) -> Labels | None:
    """Suppress at most `most` rows of a table of several sections.

    If a group would fail because the distribution of the release changes, no further row is suppressed.

    Args:
        encoded: The table.
        models: What every group must pass.
        parts: Its sections, in order.
        k: The least group size.
        most: The largest number of rows to suppress, beside those that were suppressed before.

    Returns:
        The group of each canonical row, -1 for a suppressed row; None if what was suppressed before changes the
        distribution of the release too much for some group.
    """
    ends = np.cumsum([len(each.rows) for each in parts])[:-1]
    fewer = [each.labels for each in parts]
    regroups = [each.regroup for each in parts if each.regroup is not None]
    if regroups:
        outliers = Leaving.joined([outliers_of(each.part, each.labels, most) for each in parts])
        leaves = np.split(outliers.leaves(find_bound(outliers.sums, most)), ends)
        fewer = [
            without_outliers(each.part, models, each.labels, k, own, regroup)
            for each, own, regroup in zip(parts, leaves, regroups, strict=True)
        ]
    pairs = list(zip(parts, fewer, strict=True))
    left = most - sum(int(each.part.row_weights[(own < 0) & (each.labels >= 0)].sum()) for each, own in pairs)
    others = Leaving.joined([leave_in_order(each.part, models, own, k, most) for each, own in pairs])
    gone = np.split(others.leaves(find_bound(others.sums, left)), ends)
    fewer = [np.where(leaves, -1, own) for own, leaves in zip(fewer, gone, strict=True)]
    for labels in (join_sections(parts, fewer), join_sections(parts, [each.labels for each in parts])):
        if not failing_groups(encoded, models, labels).any():
            return labels
    return None


def join_sections(parts: Sequence[SectionRows], labels: Sequence[NDArray[np.integer[Any]]]) -> Labels:
    """Return the groups of all rows from those of sections."""
    found = np.full(sum(len(each.rows) for each in parts), -1, dtype=np.int32)
    first = 0
    for each, own in zip(parts, labels, strict=True):
        found[each.rows] = np.where(own >= 0, own + first, -1)
        first += int(own.max(initial=-1)) + 1
    return found
