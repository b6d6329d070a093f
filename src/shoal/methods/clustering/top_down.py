"""Top-down clustering: split groups around two distant tuples, then merge what became too small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import CancelledError
from shoal.methods.base import Run, check_models
from shoal.methods.clustering.bottom_up import merge_groups
from shoal.methods.counter_random import draws, mix
from shoal.methods.merge_failing import merge_failing
from shoal.methods.prices import lay_forms
from shoal.models import PrivacyModel

__all__ = ["TopDown"]

# Tuples processed between two reports of progress.
BATCH = 100_000


@dataclass(frozen=True)
class TopDown:
    """Top-down splitting of Xu, Wang, Pei, Wang, Shi and Fu 2006.

    Split the table around two distant tuples, then split each part again. To find the two seeds, start at the lowest
    tuple and move to the farthest one, at most three times while the distance grows. Each other tuple, in random
    order, joins the side whose NCP stays lower. A group of fewer than 2 k rows, or of equal rows, is not split. At the
    end, groups of fewer than k rows merge with their nearest group as in bottom-up.
    Groups that fail another model then merge with their nearest group until they pass.
    Cost: O(q m) for each level of splits over m distinct tuples and q attributes, usually about log(n / k) levels; the
    paper states O(n^2).

    Choices where the paper is silent: equal rows stay together during splits. At equal NCP a tuple joins the side with
    fewer rows, then the first side. Departure: the paper repairs a small group either by taking rows from a large one
    or by a merge, whichever loses less; here it always merges, and a union of 2 k rows or more is split.

    >>> TopDown().name
    'top-down'
    """

    name: ClassVar[str] = "top-down"

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        from shoal.kernels.clustering.split import Splitting

        k = check_models(self, encoded, models)
        m = len(encoded.tuples)
        forms = lay_forms(encoded, most=2**61 // len(encoded.attributes), weights=run.weights)
        random_order = draws(mix(run.seed), np.arange(m))
        splitting = Splitting(encoded.tuples, encoded.counts, random_order, forms, k)
        n_waiting, share_done = m, 0.0
        while n_waiting:
            if run.cancelled():
                raise CancelledError
            n_waiting = splitting.split(BATCH)
            share_done = max(share_done, 1 - n_waiting / m)
            run.progress(share_done / 2)
        labels = np.empty(m, dtype=np.int32)
        splitting.fill(labels)
        merged = merge_groups(
            encoded, labels, forms, k, run, splits=True, progress=lambda share: run.progress((1 + share) / 2)
        )
        return tight_partition(encoded, merge_failing(encoded, merged, models, run))
