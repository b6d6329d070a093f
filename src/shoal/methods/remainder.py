"""Rows that no group has taken: put where they add least loss, or suppressed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.errors import InfeasibleError, setting
from shoal.methods.base import Run, check_rows_left
from shoal.methods.prices import lay_forms

__all__ = ["check_suppressed", "deal_rows", "join_nearest"]


def deal_rows(tuples: NDArray[np.int32], rows: NDArray[np.int64], groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the group of each canonical row. A piece is some rows of a tuple; its first piece gets its first rows."""
    order = np.argsort(tuples, kind="stable")
    return np.repeat(groups[order], rows[order])


def check_suppressed(method: str, labels: NDArray[np.int32], run: Run) -> None:
    """Refuse groups that leave out more rows than the run allows, or all of them."""
    n_left_out = int((labels < 0).sum())
    if n_left_out > run.most_suppressed(len(labels)):
        raise InfeasibleError(
            f"method {method!r} would leave out {n_left_out} of {len(labels)} rows, and the suppression limit allows "
            f"{run.most_suppressed(len(labels))}. Raise {setting('suppression_limit')}, or keep every row."
        )
    check_rows_left(method, labels)


def join_nearest(encoded: Encoded, labels: NDArray[np.int32], rest: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return labels in which the rows of the rest, one by one, have joined the group that they add least NCP to.

    Of groups that cost alike the first is taken. Cost: O(q) for each pair of such a row and a group.
    """
    from shoal.kernels.clustering.remainder import join_groups

    labels = labels.copy()
    forms = lay_forms(encoded, most=2**61 // (encoded.n_rows * len(encoded.attributes)))
    join_groups(encoded.tuples, encoded.row_tuple, *forms, rest, int(labels.max()) + 1, labels)
    return labels
