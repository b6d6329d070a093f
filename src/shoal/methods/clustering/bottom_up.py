"""Bottom-up clustering: merge the smallest group with the group that makes the tightest union."""

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
from shoal.methods.clustering.remainder import deal_pieces
from shoal.methods.merge_failing import merge_failing
from shoal.methods.prices import Forms, lay_forms
from shoal.models import PrivacyModel

__all__ = ["BottomUp", "merge_groups", "merge_tuples"]

# Merges between two reports of progress.
BATCH = 128


@dataclass(frozen=True)
class BottomUp:
    """Bottom-up merging of Xu, Wang, Pei, Wang, Shi and Fu 2006.

    While a group has fewer than k rows, merge it with its nearest group: the one whose union with it has the least NCP
    per row. A union of 2 k rows or more is split into groups of k: the tuple farthest from the lowest tuple takes the
    rows nearest to it, repeatedly, until fewer than 2 k rows or one tuple is left.
    Groups that fail another model then merge with their nearest group until they pass.
    Cost: O(q m^2) for m distinct tuples and q attributes; the paper states O(n^2).

    Choices where the paper is silent: equal rows start as one group. The small group with the fewest rows, then with
    the lowest tuple, merges first; the same order breaks ties between nearest groups. The split of a large union is
    ours.

    >>> BottomUp().name
    'bottom-up'
    """

    name: ClassVar[str] = "bottom-up"

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        k = check_models(self, encoded, models)
        forms = lay_forms(encoded, most=2**61 // len(encoded.attributes), weights=run.weights)
        return merge_tuples(encoded, models, forms, k, run, splits=True)


def merge_tuples(
    encoded: Encoded, models: tuple[PrivacyModel, ...], forms: Forms, k: int, run: Run, *, splits: bool
) -> Partition:
    """Merge groups of one tuple each with `merge_groups`, then merge those that fail a model."""
    singles = np.arange(len(encoded.tuples), dtype=np.int32)
    labels = merge_groups(encoded, singles, forms, k, run, splits=splits)
    return tight_partition(encoded, merge_failing(encoded, labels, models, run))


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
    """Merge groups of tuples until each has at least k rows.

    Args:
        encoded: The table.
        labels: The group of each tuple.
        forms: The prices of the attributes.
        k: The size that every group must reach.
        run: The seed, limits and callbacks of the run.
        splits: Whether to split unions of 2 k rows or more.
        progress: Where to report progress instead of `run.progress`.

    Returns:
        The group of each canonical row.
    """
    from shoal.kernels.clustering.merge import Merging

    all_tuples = np.arange(len(encoded.tuples), dtype=np.int32)
    merging = Merging(encoded.tuples, all_tuples, encoded.counts, labels, forms, k, splits)
    report = progress or run.progress
    n_small = n_at_first = max(merging.merge(0), 1)
    while n_small:
        if run.cancelled():
            raise CancelledError
        n_small = merging.merge(BATCH)
        report(1 - n_small / n_at_first)
    empty = np.empty(0, dtype=np.int32)
    n_pieces = merging.pieces(empty, np.empty(0, dtype=np.int64), empty)
    tuples, groups = np.empty(n_pieces, dtype=np.int32), np.empty(n_pieces, dtype=np.int32)
    rows = np.empty(n_pieces, dtype=np.int64)
    merging.pieces(tuples, rows, groups)
    return deal_pieces(tuples, rows, groups)
