"""Slices: rows of a group that may leave it together, and what that saves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries, cell_losses, recode

__all__ = ["Members", "Slices", "slices_of"]

LEAST_GAIN = 1e-9  # smaller gains are rounding errors
SHARE_OF_BEST = 0.5  # a round also takes slices that gain this share of the best gain


@dataclass(frozen=True)
class Slices:
    """Rows that may leave: those of a group with one code of an attribute; gain: the loss saved for each of them."""

    group: NDArray[np.int64]
    attribute: NDArray[np.int64]
    code: NDArray[np.int64]
    rows: NDArray[np.int64]
    gain: NDArray[np.float64]

    def take(self, chosen: NDArray[Any]) -> Slices:
        """Return some of the slices."""
        return Slices(
            self.group[chosen], self.attribute[chosen], self.code[chosen], self.rows[chosen], self.gain[chosen]
        )

    def joined(self, *others: Slices) -> Slices:
        """Return these slices and others."""
        parts = (self, *others)
        return Slices(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(self)))

    def best(self, most: int) -> Slices:
        """Return the best slice of at most so many rows of each group, the best first."""
        slices = self.take(self.rows <= most)
        slices = slices.take(np.lexsort((slices.code, slices.attribute, slices.group, -slices.gain)))
        _, first = np.unique(slices.group, return_index=True)
        return slices.take(np.sort(first))

    def choose(self, most: int) -> Slices:
        """Return the best slice of each group, the best first, up to `most` rows in all."""
        slices = self.best(most)
        if not len(slices.group):
            return slices
        slices = slices.take(slices.gain >= SHARE_OF_BEST * slices.gain[0])
        kept = []
        for i, rows in enumerate(slices.rows.tolist()):
            if rows <= most:
                kept.append(i)
                most -= rows
        return slices.take(np.array(kept, dtype=np.int64))


@dataclass(frozen=True)
class Members:
    """The pairs of group and tuple that occur, sorted by group; group -1 is suppressed."""

    encoded: Encoded
    first_group: NDArray[np.int64]  # before any row left
    group: NDArray[np.int64]
    tuple: NDArray[np.int64]
    rows: NDArray[np.int64]
    of_row: NDArray[np.int64]  # the member of each canonical row or entry, -1 if it was suppressed before

    @classmethod
    def of(cls, encoded: Encoded, groups: Entries | NDArray[np.int32]) -> Members:
        """Return the members of groups, which are entries or the group of each canonical row."""
        if isinstance(groups, Entries):
            labels, tuples, weights = groups.groups, groups.tuples, groups.rows
        else:
            labels, tuples, weights = groups, encoded.row_tuple, encoded.row_weights
        kept = np.flatnonzero(labels >= 0)
        n_tuples = len(encoded.tuples)
        keys, place = np.unique(labels[kept].astype(np.int64) * n_tuples + tuples[kept], return_inverse=True)
        rows = np.bincount(place, weights=weights[kept])
        group, of_tuple = np.divmod(keys, n_tuples)
        of_row = np.full(len(labels), -1, dtype=np.int64)
        of_row[kept] = place
        return cls(encoded, group, group, of_tuple, rows.astype(np.int64), of_row)

    def sizes(self) -> NDArray[np.int64]:
        """Return the rows of each group."""
        kept = self.group >= 0
        n_groups = int(self.first_group[-1]) + 1
        return np.bincount(self.group[kept], weights=self.rows[kept], minlength=n_groups).astype(np.int64)

    def labels(self) -> NDArray[np.int32]:
        """Return the group of each canonical row or entry."""
        return np.where(self.of_row >= 0, self.group[self.of_row], -1).astype(np.int32)

    def losses(self, regions: NDArray[np.int64], tuples: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the loss of a row in each region over all attributes."""
        kept = regions >= 0
        regions, tuples = regions[kept], tuples[kept]
        n_regions = int(regions.max()) + 1
        lost = np.zeros(n_regions)
        for i, attribute in enumerate(self.encoded.attributes):
            cells = recode(attribute, self.encoded.tuples[tuples, i], regions.astype(np.int32), n_regions)
            lost += cell_losses(attribute, cells)[cells.index]
        return lost

    def without(self, slices: Slices) -> Members:
        """Return the members without those of slices, at most one of each group."""
        attribute = np.full(len(self.sizes()), -1, dtype=np.int64)
        code = attribute.copy()
        attribute[slices.group], code[slices.group] = slices.attribute, slices.code
        column, wanted = attribute[self.first_group], code[self.first_group]
        leaves = (column >= 0) & (self.encoded.tuples[self.tuple, np.maximum(column, 0)] == wanted)
        group = np.where(leaves, -1, self.group)
        return Members(self.encoded, self.first_group, group, self.tuple, self.rows, self.of_row)


def slices_of(members: Members, k: int, among: NDArray[np.bool_]) -> Slices:
    """Return the slices of some groups whose absence lowers the loss; at least k rows stay."""
    tuples, q = members.encoded.tuples, len(members.encoded.attributes)
    inside = np.flatnonzero((members.group >= 0) & among[members.group])
    groups, group = np.unique(members.group[inside], return_inverse=True)  # numbered without gaps from here on
    none = np.empty(0, dtype=np.int64)
    slices = Slices(none, none, none, none, np.empty(0))
    if not len(groups):
        return slices
    rows, sizes = members.rows[inside], members.sizes()[groups]
    before = members.losses(group, members.tuple[inside])
    for i, attribute in enumerate(members.encoded.attributes):
        card = len(attribute.texts)
        pairs, place = np.unique(group * card + tuples[members.tuple[inside], i], return_inverse=True)
        of_pair = np.bincount(place, weights=rows).astype(np.int64)
        owner, code = np.divmod(pairs, card)
        # At most the whole loss of the others is saved; the rows that leave lose the rest of their q attributes.
        pays = (of_pair * q < sizes[owner] * before[owner]) & (sizes[owner] - of_pair >= k)
        if attribute.ordered:
            pays[1:-1] &= (owner[1:-1] != owner[:-2]) | (owner[1:-1] != owner[2:])  # the first or last code
        at = np.flatnonzero(pays)
        slices = slices.joined(Slices(owner[at], np.full(len(at), i), code[at], of_pair[at], np.zeros(len(at))))
    if not len(slices.group):
        return slices
    starts = np.searchsorted(group, slices.group)
    lengths = np.searchsorted(group, slices.group, side="right") - starts
    region = np.repeat(np.arange(len(lengths)), lengths)
    entry = inside[np.arange(len(region)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[region]]
    stays = tuples[members.tuple[entry], slices.attribute[region]] != slices.code[region]
    after = members.losses(region[stays], members.tuple[entry[stays]])
    size = sizes[slices.group]
    saved = size * before[slices.group] - (size - slices.rows) * after - slices.rows * q
    slices = Slices(groups[slices.group], slices.attribute, slices.code, slices.rows, saved / slices.rows)
    return slices.take(slices.gain > LEAST_GAIN)
