"""Suppress the rows that cost their group most, within the suppression limit."""

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
LEAST_GAIN = 1e-9  # smaller gains are rounding errors
SOME = 4  # another trial suppresses this fraction of the limit
SHARE_OF_BEST = 0.5  # a round also takes slices that gain this share of the best gain


def leave_out_greedy(encoded: Encoded, models: tuple[PrivacyModel, ...], most: int) -> NDArray[np.bool_]:
    """Suppress the rows whose personal k exceeds the number of rows, if the limit allows it.

    Args:
        encoded: The table.
        models: The models; nothing is suppressed unless one depends on personal k.
        most: The largest number of rows to suppress.

    Returns:
        For each canonical row, whether it stays.
    """
    every = np.ones(len(encoded.order), dtype=bool)
    stay = every
    if encoded.personal_k is None or not most or not any(model.basis is Basis.PERSONAL_K for model in models):
        return stay
    while True:
        fewer = encoded.personal_k <= int(stay.sum())
        if (fewer == stay).all() or len(stay) - int(fewer.sum()) > most:
            break
        stay = fewer
    return stay if (encoded.personal_k[stay] <= int(stay.sum())).all() else every


def spread(labels: NDArray[np.int32], stays: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return labels of all rows from those of the rows that stay; the others are suppressed."""
    if stays.all():
        return labels
    all_labels = np.full(len(stays), -1, dtype=np.int32)
    all_labels[stays] = labels
    return all_labels


def leave_out(
    encoded: Encoded,
    models: tuple[PrivacyModel, ...],
    labels: NDArray[np.int32],
    k: int,
    most: int,
    regroup: Callable[[Encoded], NDArray[np.int32] | None],
) -> NDArray[np.int32]:
    """Suppress at most `most` rows; try several strategies and keep the cheapest.

    Outliers leave groups that can spare them, or any group, and the remaining rows are grouped again.

    Args:
        encoded: The table.
        models: What every group must pass.
        labels: The group of each canonical row.
        k: The least group size.
        most: The largest number of rows to suppress.
        regroup: Groups a part of the table; None if that is not possible.

    Returns:
        The group of each canonical row, -1 for a suppressed row.
    """
    if most <= 0:
        return labels
    candidates = [labels, leave_out_outliers(encoded, models, labels, k, most)]
    for fewer in (candidates[1], *(leave_out_outliers(encoded, (), labels, 1, n) for n in (most, most // SOME))):
        stays = fewer >= 0
        if stays.all() or int(stays.sum()) < k:
            continue
        labels_left = regroup(encoded.part(stays))
        if labels_left is None:
            continue
        regrouped = spread(labels_left, stays)
        if not failing_groups(encoded, models, regrouped).any():
            candidates.append(leave_out_outliers(encoded, models, regrouped, k, most - int((~stays).sum())))
    return min(candidates, key=lambda candidate: loss_with_suppressed(encoded, candidate))


def loss_with_suppressed(encoded: Encoded, labels: NDArray[np.int32]) -> float:
    """Return the NCP of all rows and attributes; a suppressed row loses all of it."""
    members = _Members.of(encoded, labels)
    suppressed = int(encoded.row_weights[labels < 0].sum()) * len(encoded.attributes)
    return float((members.losses(members.group, members.tuple) * members.sizes()).sum() + suppressed)


def leave_out_outliers(
    encoded: Encoded, models: tuple[PrivacyModel, ...], labels: NDArray[np.int32], k: int, most: int
) -> NDArray[np.int32]:
    """Suppress at most `most` rows: those whose absence lowers the total loss most.

    A slice of a group may leave: its rows with the least or the greatest number, or with one category. At least k rows
    must stay and pass the models. A suppressed row loses everything itself, so it must save its group more than that.
    Each round takes the best slice of each group, those that save most for each row first.
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
        if spoilt.any():  # these groups would fail a model
            chosen = chosen.take(~spoilt[chosen.group])
            trial = members.without(chosen)
            failing = failing_groups(encoded, models, trial.labels())
        if failing.any():
            break  # the distribution of the release would change too much for another group
        members = trial
        most -= int(chosen.rows.sum())
        slices = slices.take(~changed[slices.group]).joined(_candidates(members, k, changed & ~spoilt))
    return members.labels()


@dataclass(frozen=True)
class _Slices:
    """Rows that may leave: those of a group with one code of an attribute; gain: the loss saved for each of them."""

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
        """Return the best slice of each group, the best first, up to `most` rows in all."""
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
    """The pairs of group and tuple that occur, sorted by group; group -1 is suppressed."""

    encoded: Encoded
    first_group: NDArray[np.int64]  # before any row left
    group: NDArray[np.int64]
    tuple: NDArray[np.int64]
    rows: NDArray[np.int64]
    of_row: NDArray[np.int64]  # the member of each canonical row, -1 if it was suppressed before

    @classmethod
    def of(cls, encoded: Encoded, labels: NDArray[np.int32]) -> _Members:
        kept = np.flatnonzero(labels >= 0)
        n_tuples = len(encoded.tuples)
        keys, place = np.unique(labels[kept].astype(np.int64) * n_tuples + encoded.row_tuple[kept], return_inverse=True)
        rows = np.bincount(place, weights=None if encoded.weights is None else encoded.weights[kept])
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
    """Return the slices of some groups whose absence lowers the loss."""
    tuples, q = members.encoded.tuples, len(members.encoded.attributes)
    inside = np.flatnonzero((members.group >= 0) & among[members.group])
    groups, group = np.unique(members.group[inside], return_inverse=True)  # numbered without gaps from here on
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
        # At most the whole loss of the others is saved; the rows that leave lose the rest of their q attributes.
        pays = (of_pair * q < sizes[owner] * before[owner]) & (sizes[owner] - of_pair >= k)
        if attribute.ordered:
            pays[1:-1] &= (owner[1:-1] != owner[:-2]) | (owner[1:-1] != owner[2:])  # the first or last code
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
    saved = size * before[slices.group] - (size - slices.rows) * after - slices.rows * q
    slices = _Slices(groups[slices.group], slices.attribute, slices.code, slices.rows, saved / slices.rows)
    return slices.take(slices.gain > LEAST_GAIN)
