"""Merge groups that were formed by size only until they pass all models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import distinct_members
from shoal.errors import CancelledError, InfeasibleError, setting
from shoal.methods.base import Run, failing_groups
from shoal.methods.prices import lay_forms
from shoal.models import PrivacyModel

__all__ = ["merge_failing"]


def merge_failing(
    encoded: Encoded, labels: NDArray[np.int32], models: tuple[PrivacyModel, ...], run: Run
) -> NDArray[np.int32]:
    """Merge each failing group with the group that makes the tightest union, until all groups pass.

    In each round, all failing groups merge once, the smallest first; then all groups are judged again. If only the
    number of rows decides, groups of k rows already pass and nothing is done. Cost of a round: O(q) for each pair of a
    failing group and a group, and one judgement of all rows.

    Args:
        encoded: The table.
        labels: The group of each canonical row, -1 for a suppressed row.
        models: What every group must pass.
        run: Asked whether to cancel.

    Returns:
        The group of each canonical row.

    Raises:
        InfeasibleError: All rows as one group fail.
    """
    if encoded.people is None and all(model.size_only for model in models):
        return labels
    from shoal.kernels.clustering.merge import Merging

    tuples, groups = distinct_members(encoded, labels)
    rows = np.ones(len(tuples), dtype=np.int64)  # the price of a union does not depend on numbers of rows
    forms = lay_forms(encoded, most=2**61 // len(encoded.attributes))
    merging = Merging(encoded.tuples, tuples, rows, groups, forms, 1, False)
    n_groups = int(labels.max()) + 1
    number = np.arange(n_groups, dtype=np.int32)  # the kernel's number of each group; it never reuses one
    while (failing := failing_groups(encoded, models, labels)).any():
        if run.cancelled():
            raise CancelledError
        if n_groups == 1:
            raise InfeasibleError(
                f"no groups satisfy {' and '.join(model.describe() for model in models)}: not even all rows as one "
                f"group do. Weaken the goal, or use a method that heeds {setting('suppression_limit')}."
            )
        sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
        chosen = np.flatnonzero(failing)
        chosen = chosen[np.lexsort((chosen, sizes[chosen]))]
        parents = np.arange(number.max() + 1 + len(chosen), dtype=np.int32)
        n_groups = merging.merge_each(number[chosen], parents)
        while (parents[parents] != parents).any():
            parents = parents[parents]
        number, dense = np.unique(parents[number], return_inverse=True)
        labels = np.where(labels >= 0, dense[labels], -1).astype(np.int32)
    return labels
