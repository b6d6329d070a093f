"""Groups that a method formed by size alone, merged until they pass all models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import distinct_members
from shoal.errors import CancelledError, InfeasibleError
from shoal.methods.base import Run, failing_groups
from shoal.methods.prices import lay_forms
from shoal.models import PrivacyModel

__all__ = ["mend"]


def mend(encoded: Encoded, labels: NDArray[np.int32], models: tuple[PrivacyModel, ...], run: Run) -> NDArray[np.int32]:
    """Return labels whose groups pass: one that fails merges with the group that makes the tightest union.

    In rounds: all that fail merge once, those of fewest rows first, then all groups are judged again. Where sizes of
    rows decide alone, groups of k rows pass already and nothing is done. Cost of a round: O(q) for each pair of a
    failing group and a group, and a judgement of all rows.
    """
    if encoded.people is None and all(model.size_only for model in models):
        return labels
    from shoal.kernels.clustering.merge import Merging

    tuples, groups = distinct_members(encoded, labels)
    rows = np.ones(len(tuples), dtype=np.int64)  # which rows they are does not matter to the price of a union
    forms = lay_forms(encoded, most=2**61 // len(encoded.attributes))
    merging = Merging(encoded.tuples, tuples, rows, groups, tuple(forms), 1, False)
    n_groups = int(labels.max()) + 1
    number = np.arange(n_groups, dtype=np.int32)  # of each group in the kernel, which never uses one twice
    while (failing := failing_groups(encoded, models, labels)).any():
        if run.cancelled():
            raise CancelledError
        if n_groups == 1:
            raise InfeasibleError(
                f"no groups were found that pass {' and '.join(model.describe() for model in models)}: all rows "
                "together do not. Ask for less, or allow rows to be left out with another method."
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
