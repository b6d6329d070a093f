"""Suppress the rows that cost their group most, within the suppression limit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.methods.base import failing_groups
from shoal.methods.suppression.slices import Members, slices_of
from shoal.models import Basis, PrivacyModel

__all__ = ["MOST_ROUNDS", "SOME", "leave_out", "leave_out_greedy", "loss_with_suppressed", "spread"]

MOST_ROUNDS = 100
SOME = 4  # another trial suppresses this fraction of the limit


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
    weights = encoded.row_weights
    while True:
        fewer = encoded.personal_k <= int(weights[stay].sum())
        if (fewer == stay).all() or int(weights[~fewer].sum()) > most:
            break
        stay = fewer
    return stay if (encoded.personal_k[stay] <= int(weights[stay].sum())).all() else every


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
    members = Members.of(encoded, labels)
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
    members = Members.of(encoded, labels)
    slices = slices_of(members, k, np.ones(len(members.sizes()), dtype=bool))
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
        slices = slices.take(~changed[slices.group]).joined(slices_of(members, k, changed & ~spoilt))
    return members.labels()
