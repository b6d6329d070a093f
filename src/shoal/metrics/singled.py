"""What released cells show of single rows: ends of ranges that few rows have, members of sets that one row has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.decode import cell_texts
from shoal.encoding.ends import Holders, RangeEnds
from shoal.encoding.partition import RANGE, SET, Cells, Partition, deal_rows
from shoal.metrics.released_cells import open_step
from shoal.tables.sorting import number_rows, number_texts

__all__ = ["Singled", "SingledColumn", "added_figures", "look_for_singled"]


@dataclass(frozen=True)
class SingledColumn:
    """What the cells of one column, or of all columns, show of single rows.

    Attributes:
        moved_ends: Ends of ranges that were moved, two for a group whose range moved on both sides.
        rows_at_rare_ends: Rows whose own value is an end of their range and is shared by fewer than k rows of the
            table, or people.
        rows_at_lone_ends: Those of them whose value nobody shares.
        rows_alone_in_sets: Rows that alone in their group have a value of its set.
        cost: The loss (NCP) that the moved ends add.
    """

    moved_ends: int = 0
    rows_at_rare_ends: int = 0
    rows_at_lone_ends: int = 0
    rows_alone_in_sets: int = 0
    cost: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "moved_ends": self.moved_ends,
            "rows_at_rare_ends": self.rows_at_rare_ends,
            "rows_at_lone_ends": self.rows_at_lone_ends,
            "rows_alone_in_sets": self.rows_alone_in_sets,
            "cost": self.cost,
        }


@dataclass(frozen=True)
class Singled(SingledColumn):
    """What the cells of a release show of single rows. A row counts once, however many of its cells show it.

    Attributes:
        columns: The figures of each quasi-identifier without a hierarchy.
    """

    columns: Mapping[str, SingledColumn] = field(default_factory=dict)


def look_for_singled(
    encoded: Encoded,
    partition: Partition,
    ends: Sequence[RangeEnds],
    k: int,
    weights: Mapping[str, float] | None = None,
    whole: Encoded | None = None,
) -> Singled:
    """Count the rows that the cells of a partition single out.

    Args:
        encoded: The table as codes.
        partition: Its groups and their cells.
        ends: The released ends of its ranges.
        k: How many rows must share a value.
        weights: Of the attributes in the loss; 1 by default.
        whole: The whole table, if `encoded` is a section of it: figures of sections add up.
    """
    whole = whole or encoded
    entries = partition.entries
    kept = entries.groups >= 0
    members = Members(encoded, partition, entries.tuples[kept], entries.rows[kept], entries.groups[kept])
    shown = _shown_groups(encoded, partition, ends)
    weight_of = {a.name: (weights or {}).get(a.name, 1.0) for a in encoded.attributes}
    rare, lone, alone = np.zeros((3, len(members.rows)), dtype=bool)
    columns, moved, cost = {}, 0, 0.0
    for a, (attribute, cells) in enumerate(zip(encoded.attributes, partition.cells, strict=True)):
        if attribute.tree is not None:
            continue
        if attribute.ordered:
            few, one = members.at_ends(a, ends[a], Holders.of(whole, a, k))
            rare, lone = rare | few, lone | one
            n_moved, added = _cost(attribute, cells, ends[a], entries.sizes(partition.n_groups), whole.n_rows)
            columns[attribute.name] = SingledColumn(n_moved, members.count(few), members.count(one), cost=added)
            moved, cost = moved + n_moved, cost + added * weight_of[attribute.name]
        else:
            single = members.alone(a, shown)
            alone |= single
            columns[attribute.name] = SingledColumn(rows_alone_in_sets=members.count(single))
    cost /= sum(weight_of.values()) or 1.0
    return Singled(moved, members.count(rare), members.count(lone), members.count(alone), cost, columns)


@dataclass(frozen=True)
class Members:
    """The entries of groups: rows of one tuple in one group."""

    encoded: Encoded
    partition: Partition
    tuples: NDArray[np.int32]
    rows: NDArray[np.int64]
    groups: NDArray[np.int32]

    def count(self, chosen: NDArray[np.bool_]) -> int:
        """Count the rows of some entries."""
        return int(self.rows[chosen].sum())

    def at_ends(self, a: int, ends: RangeEnds, holders: Holders) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say of each entry whether its value is an end of its range that too few have, and that one has."""
        attribute, cells = self.encoded.attributes[a], self.partition.cells[a]
        codes, cell = self.encoded.tuples[self.tuples, a], cells.index[self.groups]
        own = attribute.values[codes]
        at_end = (own == ends.low[cell]) | ((own == ends.high[cell]) & ~ends.half_open[cell])
        at_end &= cells.form[cell] == RANGE
        is_rare, is_lone = np.zeros((2, len(attribute.texts)), dtype=bool)  # a missing value is neither
        is_rare[: len(holders.rows)] = holders.of_codes < holders.needed
        is_lone[: len(holders.rows)] = is_rare[: len(holders.rows)] & (holders.of_codes == 1)
        return at_end & is_rare[codes], at_end & is_lone[codes]

    def alone(self, a: int, shown: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each entry whether one row, or person, of its released group has its value, inside a set."""
        card, cells = len(self.encoded.attributes[a].texts), self.partition.cells[a]
        keys = shown[self.groups] * card + self.encoded.tuples[self.tuples, a]
        distinct, places = np.unique(keys, return_inverse=True)
        people = self.encoded.people
        if people is None:
            holders = np.bincount(places, weights=self.rows, minlength=len(distinct))
        else:
            entries = self.partition.entries
            kept = entries.groups >= 0
            number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)  # of each entry among those here
            of_rows = deal_rows(entries.rows, number, self.partition.weights)
            n_people = int(people.max(initial=0)) + 1
            pairs = np.unique(places[of_rows[of_rows >= 0]] * n_people + people[of_rows >= 0])
            holders = np.bincount(pairs // n_people, minlength=len(distinct)).astype(np.float64)
        single: NDArray[np.bool_] = (holders[places] == 1) & (cells.form[cells.index[self.groups]] == SET)
        return single


def _shown_groups(encoded: Encoded, partition: Partition, ends: Sequence[RangeEnds]) -> NDArray[np.int64]:
    """Return the released group of each group: groups that show the same cells are one."""
    ranks, cards = [], []
    for attribute, cells, range_ends in zip(encoded.attributes, partition.cells, ends, strict=True):
        rank = np.arange(len(cells.form), dtype=np.int64)
        if attribute.ordered or attribute.tree is not None:  # different cells may have one text
            rank = number_texts(cell_texts(attribute, cells, range_ends))
        ranks.append(rank[cells.index])
        cards.append(len(cells.form))
    return number_rows(ranks, cards)


def _cost(
    attribute: Attribute, cells: Cells, ends: RangeEnds, sizes: NDArray[np.int64], n_rows: int
) -> tuple[int, float]:
    """Return how many ends were moved, and the loss that this adds to the column."""
    is_range = cells.form == RANGE
    low, high = np.where(is_range, cells.low, 0), np.where(is_range, cells.high, 0)
    own_low, own_high = attribute.values[low], attribute.values[high]
    moved = (is_range & (ends.low != own_low)).astype(np.int64) + (is_range & (ends.high != own_high))
    span = attribute.span
    if span <= 0:
        return 0, 0.0
    domain = attribute.known_values[0], attribute.known_values[-1]
    covered = ends.high - open_step(attribute.kind, attribute.known_values) * ends.half_open
    wider = np.clip(covered, *domain) - np.clip(ends.low, *domain) - (own_high - own_low)
    rows = np.bincount(cells.index, weights=sizes, minlength=len(cells.form))
    n_groups = np.bincount(cells.index, minlength=len(cells.form))
    return int((moved * n_groups).sum()), float((rows * np.where(is_range, wider, 0.0)).sum()) / span / n_rows


def added_figures(parts: Sequence[Singled]) -> Singled:
    """Add up what the cells of sections show of single rows."""

    def total(own: Sequence[SingledColumn]) -> dict[str, Any]:
        figures = [each.as_dict() for each in own]
        return {name: sum(each[name] for each in figures) for name in figures[0]}

    names = parts[0].columns
    columns = {name: SingledColumn(**total([part.columns[name] for part in parts])) for name in names}
    return Singled(**total(parts), columns=columns)
