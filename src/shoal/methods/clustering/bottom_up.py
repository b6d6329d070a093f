"""Bottom-up: the smallest group merges with the one that makes the tightest union."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import CancelledError
from shoal.methods.base import Run, check_models
from shoal.methods.merge_failing import mend
from shoal.methods.prices import Forms, lay_forms
from shoal.methods.remainder import deal_rows
from shoal.models import PrivacyModel

__all__ = ["BottomUp", "merge_groups"]

# Merges between two looks at progress and cancellation.
BATCH = 128


@dataclass(frozen=True)
class BottomUp:
    """Xu, Wang, Pei, Wang, Shi, Fu 2006: while a group has fewer than k rows, merge it with the nearest.

    Nearest is the group whose union with it loses least: the NCP of a row of the union. A union of 2 k rows or more is
    split into groups of k: the tuple farthest from the lowest one with the rows nearest to it, again and again, until
    fewer than 2 k rows or one tuple is left.
    Groups that fail a model beside k then merge with the nearest until they pass.
    Cost: O(q m^2) for m distinct tuples and q attributes; the paper says O(n^2).

    Where the paper is silent: equal rows begin as one group; of the small groups the one of fewest rows, then of the
    lowest tuple, is next; of equally near ones the same decides; how a large union is split.

    >>> BottomUp().name
    'bottom-up'
    """

    name: ClassVar[str] = "bottom-up"

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        k = check_models(self.name, encoded, models, counts_people=True)
        singles = np.arange(len(encoded.tuples), dtype=np.int32)
        forms = lay_forms(encoded, most=2**61 // len(encoded.attributes), weights=run.weights)
        labels = merge_groups(encoded, singles, forms, k, run, splits=True)
        return tight_partition(encoded, mend(encoded, labels, models, run))


def merge_groups(
    encoded: Encoded,
    labels: NDArray[np.int32],
    forms: Forms,
    k: int,
    run: Run,
    *,
    splits: bool,
    progress: Callable[[float], None] | None = None,
) -> NDArray[np.int32]:
    """Return the group of each canonical row, once groups of tuples (their labels) have merged to k rows each."""
    from shoal.kernels.clustering.merge import Merging

    every = np.arange(len(encoded.tuples), dtype=np.int32)
    merging = Merging(encoded.tuples, every, encoded.counts, labels, tuple(forms), k, splits)
    tell = progress or run.progress
    n_small = n_at_first = max(merging.merge(0), 1)
    while n_small:
        if run.cancelled():
            raise CancelledError
        n_small = merging.merge(BATCH)
        tell(1 - n_small / n_at_first)
    none = np.empty(0, dtype=np.int32)
    n_pieces = merging.pieces(none, np.empty(0, dtype=np.int64), none)
    tuples, groups = np.empty(n_pieces, dtype=np.int32), np.empty(n_pieces, dtype=np.int32)
    rows = np.empty(n_pieces, dtype=np.int64)
    merging.pieces(tuples, rows, groups)
    return deal_rows(tuples, rows, groups)
