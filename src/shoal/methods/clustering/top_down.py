"""Top-down: groups split in two around far tuples; what became too small merges again."""

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
from shoal.methods.merge_failing import mend
from shoal.methods.prices import lay_forms
from shoal.models import PrivacyModel

__all__ = ["TopDown"]

# Tuples gone through between two looks at progress and cancellation.
BATCH = 100_000


@dataclass(frozen=True)
class TopDown:
    """Xu, Wang, Pei, Wang, Shi, Fu 2006: split the table around two far tuples, and each part again.

    The two seeds are far apart: from the lowest tuple the farthest, from that one the farthest, three looks at most as
    long as they get farther. The other tuples, in an order drawn by lot, go to the side whose NCP they leave the lower.
    A group of fewer than 2 k rows, or of equal ones, is not split. In the end groups of fewer than k rows are merged
    with the nearest, as bottom-up does it.
    Groups that fail a model beside k then merge with the nearest until they pass.
    Cost: O(q m) for each level of splits over m distinct tuples and q attributes, as a rule about log(n / k) levels;
    the paper says O(n^2).

    Where the paper is silent: equal rows stay together while groups are split; equal NCP goes to the side of fewer
    rows, then to the first. Departure: the paper repairs a small group by taking rows from a large one or by a merge,
    whichever loses less; here it is a merge, after which a union of 2 k rows or more is split.

    >>> TopDown().name
    'top-down'
    """

    name: ClassVar[str] = "top-down"

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        from shoal.kernels.clustering.split import Splitting

        k = check_models(self.name, encoded, models, counts_people=True)
        m = len(encoded.tuples)
        forms = lay_forms(encoded, most=2**61 // len(encoded.attributes), weights=run.weights)
        lots = draws(mix(run.seed), np.arange(m))
        splitting = Splitting(encoded.tuples, encoded.counts, lots, tuple(forms), k)
        waiting, done = m, 0.0
        while waiting:
            if run.cancelled():
                raise CancelledError
            waiting = splitting.split(BATCH)
            done = max(done, 1 - waiting / m)
            run.progress(done / 2)
        labels = np.empty(m, dtype=np.int32)
        splitting.fill(labels)
        made = merge_groups(
            encoded, labels, forms, k, run, splits=True, progress=lambda share: run.progress((1 + share) / 2)
        )
        return tight_partition(encoded, mend(encoded, made, models, run))
