"""Rows that are left without a group: join them where they add least loss, or suppress them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import deal_rows
from shoal.errors import InfeasibleError, setting
from shoal.methods.base import Run, check_rows_left
from shoal.methods.prices import lay_forms

__all__ = ["check_suppressed", "deal_pieces", "join_nearest"]


def deal_pieces(tuples: NDArray[np.int32], rows: NDArray[np.int64], groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the group of each canonical row.

    Args:
        tuples: The tuple of each piece; a piece is some rows of a tuple, and the first piece gets the first rows.
        rows: The number of rows of each piece.
        groups: The group of each piece.
    """
    order = np.argsort(tuples, kind="stable")
    return deal_rows(rows[order], groups[order])


def check_suppressed(method: str, labels: NDArray[np.int32], run: Run) -> None:
    """Refuse groups that suppress more rows than the run allows, or all of them."""
    n_suppressed = int((labels < 0).sum())
    if n_suppressed > run.most_suppressed(len(labels)):
        raise InfeasibleError(
            f"method {method!r} would suppress {n_suppressed} of {len(labels)} rows, but the suppression limit allows "
            f"{run.most_suppressed(len(labels))}. Raise {setting('suppression_limit')}, or keep every row."
        )
    check_rows_left(method, labels)


def join_nearest(encoded: Encoded, labels: NDArray[np.int32], leftover_rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Let the remaining rows, one by one, join the group to which they add least NCP, the first of equals.

    Cost: O(q) for each pair of a remaining row and a group.

    Args:
        encoded: The table.
        labels: The group of each canonical row.
        leftover_rows: The canonical rows that remain.

    Returns:
        The group of each canonical row.
    """
    from shoal.kernels.clustering.remainder import join_groups

    labels = labels.copy()
    forms = lay_forms(encoded, most=2**61 // (encoded.n_rows * len(encoded.attributes)))
    join_groups(encoded.tuples, encoded.row_tuple, forms, leftover_rows, int(labels.max()) + 1, labels)
    return labels
