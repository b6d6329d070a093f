"""Groups of distinct tuples under integer prices: what the steps of shoaling take and give back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encoding import Attribute, Encoded
from shoal.partition import NODE, RANGE, SET, SUPPRESSED, Cells, Partition

__all__ = ["Grouping", "Problem", "prepare", "total_loss"]

# Price of a row that has lost everything: twice of it fits 32 bits, and prices times rows 64.
FULL_PRICE = 2**29
# Ripe tuples that are offered to each tuple of a rest that is too small for a group.
N_HOSTS = 8

Ints = NDArray[np.int32]
Part = tuple[Ints, NDArray[np.int64], Ints]


@dataclass(frozen=True)
class Problem:
    """The table as the kernels see it: attributes in order of what a random pair costs, the dearest first.

    places: of each code of a number or date, how much of the price of the whole range lies below it. units: the price
    of a value of a category; of the whole range of a number or date.
    """

    codes: Ints
    counts: NDArray[np.int64]
    places: Ints
    offsets: NDArray[np.int64]
    ordered: NDArray[np.uint8]
    units: Ints
    k: int

    @property
    def prices(self) -> tuple[Ints, NDArray[np.int64], NDArray[np.uint8], Ints]:
        """What every kernel needs to price a set of tuples."""
        return self.places, self.offsets, self.ordered, self.units

    def distances(self, one: int) -> NDArray[np.int64]:
        """Return the price of a row of each tuple together with one."""
        total = np.zeros(len(self.codes), dtype=np.int64)
        for a in range(self.codes.shape[1]):
            column = self.codes[:, a]
            if self.ordered[a]:
                place = self.places[self.offsets[a] + column]
                total += np.minimum(np.abs(place - place[one]), self.units[a])
            else:
                total += np.where(column != column[one], 2 * int(self.units[a]), 0)
        return total

    def near(self, singles: Grouping, rest: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which tuples are the cheapest hosts of those of the rest."""
        hosts = np.zeros(len(rest), dtype=bool)
        for one in np.flatnonzero(rest).tolist():
            added = self.distances(int(singles.tuples[one]))[singles.tuples] * (singles.rows + singles.rows[one])
            added[rest] = np.iinfo(np.int64).max
            hosts[np.argsort(added, kind="stable")[:N_HOSTS]] = True
        return hosts & ~rest

    def cheaper(self, part: Part, other: Part) -> Part:
        """Return the one that costs less, the first where they are equal."""
        costs = [Grouping.joined([each]).cost(self) for each in (part, other)]
        return other if costs[1] < costs[0] else part


def prepare(encoded: Encoded, k: int, weights: Sequence[float] = ()) -> Problem:
    """Price the attributes; weights: one for each, all alike where none are given."""
    shares = np.array(weights or [1.0] * len(encoded.attributes))
    full = np.floor(FULL_PRICE * (shares / shares.sum())).astype(np.int64)
    places, units, dear = [], [], []
    for a, attribute in enumerate(encoded.attributes):
        rows = np.bincount(encoded.tuples[:, a], weights=encoded.counts, minlength=len(attribute.texts))
        place = _places(attribute, int(full[a]))
        if attribute.ordered:
            units.append(int(full[a]))
            below = np.cumsum(rows)[:-1] / rows.sum()
            dear.append(float((np.minimum(np.diff(place), units[a]) * below * (1 - below)).sum()))
        else:
            units.append(int(full[a]) // len(attribute.texts))
            dear.append(float(units[a] * (1 - ((rows / rows.sum()) ** 2).sum())))
        places.append(place)
    order = sorted(range(len(dear)), key=lambda a: (-dear[a], a))
    return Problem(
        codes=np.ascontiguousarray(encoded.tuples[:, order]),
        counts=encoded.counts,
        places=np.concatenate([places[a] for a in order]),
        offsets=np.cumsum([0, *(len(places[a]) for a in order)], dtype=np.int64),
        ordered=np.array([encoded.attributes[a].ordered for a in order], dtype=np.uint8),
        units=np.array([units[a] for a in order], dtype=np.int32),
        k=k,
    )


def _places(attribute: Attribute, full: int) -> Ints:
    """Return where each number lies in the range; a missing one so far out that any range to it costs the whole."""
    place = np.zeros(len(attribute.texts), dtype=np.int32)
    if attribute.ordered:
        n_known = attribute.missing if attribute.missing >= 0 else len(place)
        if attribute.span > 0:
            known = attribute.values[:n_known]
            place[:n_known] = np.floor((known - known[0]) / attribute.span * full)
        place[n_known:] = 2 * full
    return place


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
        from shoal.kernels.prices import price_groups

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

    def labels(self) -> Ints:
        """Return the group of each canonical row: the rows of a tuple go to its groups in their order.

        Groups of one tuple alone that is the same become one, which costs nothing.
        """
        alone = (self.members == 1)[self.groups]
        same = np.where(alone, self.tuples, self.groups + np.int64(self.tuples.max()) + 1)
        _, groups = np.unique(same, return_inverse=True)
        order = np.lexsort((groups, self.tuples))
        return np.repeat(groups[order].astype(np.int32), self.rows[order])


def total_loss(encoded: Encoded, partition: Partition) -> float:
    """Return the NCP of all rows and attributes, with hierarchies as they are."""
    rows = np.bincount(partition.labels, minlength=partition.n_groups)
    losses = (_losses(a, cells)[cells.index] for a, cells in zip(encoded.attributes, partition.cells, strict=True))
    return float(sum((loss * rows).sum() for loss in losses))


def _losses(attribute: Attribute, cells: Cells) -> NDArray[np.float64]:
    """Return the loss of each distinct cell."""
    loss = np.where(cells.form == SUPPRESSED, 1.0, 0.0)
    if attribute.tree is not None:
        sizes = attribute.tree.sizes[cells.low]
        return np.where((cells.form == NODE) & (sizes > 1), sizes / len(attribute.texts), loss)
    if attribute.ordered and attribute.span > 0:
        widths = attribute.values[cells.high] - attribute.values[cells.low]
        return np.where(cells.form == RANGE, widths / attribute.span, loss)
    return np.where(cells.form == SET, np.diff(cells.starts) / len(attribute.texts), loss)
