"""Euclidean clustering: merge the smallest group with the group that makes the smallest sum of ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition
from shoal.methods.base import Run, check_models
from shoal.methods.clustering.bottom_up import merge_tuples
from shoal.methods.prices import lay_forms
from shoal.models import PrivacyModel

__all__ = ["Euclidean"]


@dataclass(frozen=True)
class Euclidean:
    """The baseline of utility-driven clustering: the merge with the smallest sum of raw ranges.

    The range of a number is the difference of its bounds; of a date, the difference in days; of a category, the number
    of values in the union minus one or, with a hierarchy, the number of leaves below its label minus one. A column of
    large numbers therefore outweighs all others, which is why this method serves only as a baseline. A range with
    missing values counts as the full range of its column.
    Groups that fail another model then merge with their nearest group until they pass.
    Cost: O(q m^2) for m distinct tuples and q attributes.

    Choices where the source is silent: equal rows start as one group. The small group with the fewest rows, then with
    the lowest tuple, merges first; the same order breaks ties between nearest groups.

    >>> Euclidean().name
    'euclidean'
    """

    name: ClassVar[str] = "euclidean"

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        k = check_models(self, encoded, models)
        forms = lay_forms(encoded, most=2**61 // len(encoded.attributes), raw=True)
        return merge_tuples(encoded, models, forms, k, run, splits=False)
