"""Leave out the rows that cost their group most, as far as a suppression limit allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import cell_losses, recode
from shoal.methods.base import failing_groups
from shoal.models import Basis, PrivacyModel

__all__ = ["leave_out", "leave_out_greedy", "spread"]

MOST_ROUNDS = 100
LEAST_GAIN = 1e-9  # below is what rounding makes of nothing
SOME = 4  # a part of what may leave is tried, too: all over this
SHARE_OF_BEST = 0.5  # in a round, what pays at least this share of the best is done too


def leave_out_greedy(encoded: Encoded, models: tuple[PrivacyModel, ...], most: int) -> NDArray[np.bool_]:
    """Say which rows stay when those leave that ask for more rows than there are; all stay if these are too many."""
    stay = np.ones(encoded.n_rows, dtype=bool)
    if encoded.personal_k is None or not most or not any(model.basis is Basis.PERSONAL_K for model in models):
        return stay
    while True:
        fewer = encoded.personal_k <= int(stay.sum())
        if (fewer == stay).all() or len(stay) - int(fewer.sum()) > most:
            break
        stay = fewer
    return stay if (encoded.personal_k[stay] <= int(stay.sum())).all() else np.ones(encoded.n_rows, dtype=bool)


def spread(labels: NDArray[np.int32], stays: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return labels of all rows from those of the rows that stay."""
    if stays.all():
        return labels
    spread = np.full(len(stays), -1, dtype=np.int32)
    spread[stays] = labels
    return spread


def leave_out(
    encoded: Encoded,
    models: tuple[PrivacyModel, ...],
    labels: NDArray[np.int32],
    k: int,
    most: int,
    regroup: Callable[[Encoded], NDArray[np.int32]],
) -> NDArray[np.int32]:
    """Leave out at most so many rows: the best of some ways is kept.

    Outliers leave groups that can spare them, or any group, and the other rows are then grouped anew.
    """
    if most <= 0:
        return labels
    ways = [labels, leave_out_outliers(encoded, models, labels, k, most)]
    for fewer in (ways[1], *(leave_out_outliers(encoded, (), labels, 1, n) for n in (most, most // SOME))):
        stays = fewer >= 0
        if stays.all() or int(stays.sum()) < k:
            continue
        again = spread(regroup(encoded.part(stays)), stays)
        if not failing_groups(encoded, models, again).any():
            ways.append(leave_out_outliers(encoded, models, again, k, most - int((~stays).sum())))
    return min(ways, key=lambda way: loss_with_suppressed(encoded, way))


def loss_with_suppressed(encoded: Encoded, labels: NDArray[np.int32]) -> float:
    """Return the NCP of all rows and attributes; a row that is left out has lost all of it."""
    members = _Members.of(encoded, labels)
    suppressed = int((labels < 0).sum()) * len(encoded.attributes)
    return float((members.losses(members.group, members.tuple) * members.sizes()).sum() + suppressed)


def leave_out_outliers(
    encoded: Encoded, models: tuple[PrivacyModel, ...], labels: NDArray[np.int32], k: int, most: int
) -> NDArray[np.int32]:
    """Return labels with -1 for at most so many rows: those whose absence lowers the loss of all rows most.

    What may leave a group are its rows with the least or the greatest number, or those of one category; the others have
    to be k rows still that pass the models. A row that is left out has itself lost everything, so that it must spare
    its group more. In each round the best of each group are taken, those that spare most for each row first.
    """
    members = _Members.of(encoded, labels)
    slices = _candidates(members, k, np.ones(len(members.sizes()), dtype=bool))
    for _ in range(MOST_ROUNDS):
        chosen = slices.choose(most)
        if not len(chosen.group):
            break
        changed = np.zeros(len(members.sizes()), dtype=bool)
        changed[chosen.group] = True
        trial = members.without(chosen)
        failing = failing_groups(encoded, models, trial.labels())
        spoilt = failing & changed
        if spoilt.any():  # a model keeps these groups as they are
            chosen = chosen.take(~spoilt[chosen.group])
            trial = members.without(chosen)
            failing = failing_groups(encoded, models, trial.labels())
        if failing.any():
            break  # the distribution of all rows would change too much for another group
        members = trial
        most -= int(chosen.rows.sum())
        slices = slices.take(~changed[slices.group]).joined(_candidates(members, k, changed & ~spoilt))
    return members.labels()


@dataclass(frozen=True)
class _Slices:
    """Rows that may leave: those of a group with one code of an attribute; gain: what is spared for each of them."""

    group: NDArray[np.int64]
    attribute: NDArray[np.int64]
    code: NDArray[np.int64]
    rows: NDArray[np.int64]
    gain: NDArray[np.float64]

    def take(self, chosen: NDArray[Any]) -> _Slices:
        return _Slices(
            self.group[chosen], self.attribute[chosen], self.code[chosen], self.rows[chosen], self.gain[chosen]
        )

    def joined(self, *others: _Slices) -> _Slices:
        parts = (self, *others)
        return _Slices(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(self)))

    def choose(self, most: int) -> _Slices:
        """Return the best slice of each group, the best ones first, as many as may leave."""
        slices = self.take(self.rows <= most)
        if not len(slices.group):
            return slices
        slices = slices.take(np.lexsort((slices.code, slices.attribute, slices.group, -slices.gain)))
        _, first = np.unique(slices.group, return_index=True)
        slices = slices.take(np.sort(first))
        slices = slices.take(slices.gain >= SHARE_OF_BEST * slices.gain[0])
        kept = []
        for i, rows in enumerate(slices.rows.tolist()):
            if rows <= most:
                kept.append(i)
                most -= rows
        return slices.take(np.array(kept, dtype=np.int64))


@dataclass(frozen=True)
class _Members:
    """The pairs of group and tuple that occur, sorted by group; group -1: left out."""

    encoded: Encoded
    first_group: NDArray[np.int64]  # as it was
    group: NDArray[np.int64]
    tuple: NDArray[np.int64]
    rows: NDArray[np.int64]
    of_row: NDArray[np.int64]  # the member of each canonical row, -1 where it was left out before

    @classmethod
    def of(cls, encoded: Encoded, labels: NDArray[np.int32]) -> _Members:
        kept = np.flatnonzero(labels >= 0)
        n_tuples = len(encoded.tuples)
        keys, place, rows = np.unique(
            labels[kept].astype(np.int64) * n_tuples + encoded.row_tuple[kept], return_inverse=True, return_counts=True
        )
        group, of_tuple = np.divmod(keys, n_tuples)
        of_row = np.full(len(labels), -1, dtype=np.int64)
        of_row[kept] = place
        return cls(encoded, group, group, of_tuple, rows.astype(np.int64), of_row)

    def sizes(self) -> NDArray[np.int64]:
        kept = self.group >= 0
        n_groups = int(self.first_group[-1]) + 1
        return np.bincount(self.group[kept], weights=self.rows[kept], minlength=n_groups).astype(np.int64)

    def labels(self) -> NDArray[np.int32]:
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

    def without(self, slices: _Slices) -> _Members:
        attribute = np.full(len(self.sizes()), -1, dtype=np.int64)
        code = attribute.copy()
        attribute[slices.group], code[slices.group] = slices.attribute, slices.code
        column, wanted = attribute[self.first_group], code[self.first_group]
        leaves = (column >= 0) & (self.encoded.tuples[self.tuple, np.maximum(column, 0)] == wanted)
        group = np.where(leaves, -1, self.group)
        return _Members(self.encoded, self.first_group, group, self.tuple, self.rows, self.of_row)


def _candidates(members: _Members, k: int, among: NDArray[np.bool_]) -> _Slices:
    """Return the slices of some groups whose absence pays."""
    tuples, q = members.encoded.tuples, len(members.encoded.attributes)
    inside = np.flatnonzero((members.group >= 0) & among[members.group])
    groups, group = np.unique(members.group[inside], return_inverse=True)  # from here on numbered without a gap
    none = np.empty(0, dtype=np.int64)
    slices = _Slices(none, none, none, none, np.empty(0))
    if not len(groups):
        return slices
    rows, sizes = members.rows[inside], members.sizes()[groups]
    before = members.losses(group, members.tuple[inside])
    for i, attribute in enumerate(members.encoded.attributes):
        card = len(attribute.texts)
        pairs, place = np.unique(group * card + tuples[members.tuple[inside], i], return_inverse=True)
        of_pair = np.bincount(place, weights=rows).astype(np.int64)
        owner, code = np.divmod(pairs, card)
        # What is spared is at most all that the others lose now; what leaves loses the rest of its q.
        pays = (of_pair * q < sizes[owner] * before[owner]) & (sizes[owner] - of_pair >= k)
        if attribute.ordered:
            pays[1:-1] &= (owner[1:-1] != owner[:-2]) | (owner[1:-1] != owner[2:])  # its least or its greatest
        at = np.flatnonzero(pays)
        slices = slices.joined(_Slices(owner[at], np.full(len(at), i), code[at], of_pair[at], np.zeros(len(at))))
    if not len(slices.group):
        return slices
    starts = np.searchsorted(group, slices.group)
    lengths = np.searchsorted(group, slices.group, side="right") - starts
    region = np.repeat(np.arange(len(lengths)), lengths)
    entry = inside[np.arange(len(region)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[region]]
    stays = tuples[members.tuple[entry], slices.attribute[region]] != slices.code[region]
    after = members.losses(region[stays], members.tuple[entry[stays]])
    size = sizes[slices.group]
    spared = size * before[slices.group] - (size - slices.rows) * after - slices.rows * q
    slices = _Slices(groups[slices.group], slices.attribute, slices.code, slices.rows, spared / slices.rows)
    return slices.take(slices.gain > LEAST_GAIN)
