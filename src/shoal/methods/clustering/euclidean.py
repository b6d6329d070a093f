"""Euclidean clustering: the smallest group merges with the one that makes the smallest sum of ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.methods.base import Run, check_models
from shoal.methods.clustering.bottom_up import merge_groups
from shoal.methods.merge_failing import mend
from shoal.methods.prices import lay_forms
from shoal.models import PrivacyModel

__all__ = ["Euclidean"]


@dataclass(frozen=True)
class Euclidean:
    """The plain baseline of utility-driven clustering: the merge with the least sum of raw ranges.

    A number counts as it is, a date in days, a category the values of the union beyond one, or with a hierarchy the
    leaves of its label beyond one. So a column of large numbers outweighs all others, which is why the method is a
    baseline and no more. A range with missing values counts as the whole range of its column.
    Groups that fail a model beside k then merge with the nearest until they pass.
    Cost: O(q m^2) for m distinct tuples and q attributes.

    Where the source is silent: equal rows begin as one group; of the groups with fewer than k rows the one of fewest
    rows, then of the lowest tuple, is next; of equally near ones the same decides.

    >>> Euclidean().name
    'euclidean'
    """

    name: ClassVar[str] = "euclidean"

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        k = check_models(self.name, encoded, models, counts_people=True)
        singles = np.arange(len(encoded.tuples), dtype=np.int32)
        forms = lay_forms(encoded, most=2**61 // len(encoded.attributes), raw=True)
        labels = merge_groups(encoded, singles, forms, k, run, splits=False)
        return tight_partition(encoded, mend(encoded, labels, models, run))
