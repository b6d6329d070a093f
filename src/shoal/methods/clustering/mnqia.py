"""MNQIA: rows in buckets of like values, from which groups are dealt so that they mix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.encoding.sensitive import Sensitive
from shoal.errors import CancelledError, UsageError
from shoal.methods.base import Run, check_models
from shoal.methods.merge_failing import mend
from shoal.methods.prices import whole_places
from shoal.methods.remainder import join_nearest
from shoal.models import PrivacyModel
from shoal.schema import Kind

__all__ = ["MNQIA"]

VARIANTS = ("quasi-identifiers", "sensitive")
# Groups formed between two looks at progress and cancellation.
BATCH = 64


@dataclass(frozen=True)
class MNQIA:
    """The multiple numerical quasi-identifier anonymisation of IJARTET 2017: bucketization, then MMDCF.

    variant: "quasi-identifiers" or "sensitive": the columns whose buckets are crossed. The second one deals rows of
    unlike sensitive values to each group, which aims at l-diversity on all of them; the l that was reached is told
    with the release.

    Each column alone is cut into sub-groups, which are crossed into a grid of buckets. A group goes through the
    sub-groups of the last column and takes, in each, a row from the bucket whose sub-groups hold most rows, but from no
    bucket that shares a sub-group of another column with a row taken before (it is shielded). So a group mixes what is
    unlike: the method spreads values and does not keep loss low.
    Groups that fail a model beside k then merge with the nearest until they pass.
    Cost: O(d b n / k) for b buckets that are not empty and d columns, times a few passes; the paper calls it linear.

    Where the paper is silent: numbers and dates are cut by optimal k-means over their distinct values and rows, into
    k + 1 sub-groups (its example has 4 for k = 3), spreads rounded down to 1/1024 of a squared step; each value of a
    category is a sub-group, and so is the missing number; priorities are those at the start of a group; ties by the
    lowest sub-groups, then by the lowest row; when a whole pass adds nothing the shield is lifted; fewer than k rows
    at the end each join the group to which they add least NCP.

    >>> MNQIA(variant="sensitive").name
    'mnqia'
    """

    variant: str = "quasi-identifiers"

    name: ClassVar[str] = "mnqia"

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise UsageError(f"mnqia: variant {self.variant!r} is not known. Use {', '.join(VARIANTS)}.")

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of k rows, some of them with a few rows more."""
        k = check_models(self.name, encoded, models, counts_people=True)
        labels = _deal(self._sub_groups(encoded, k), k, run)
        labels = join_nearest(encoded, labels, np.flatnonzero(labels < 0))
        return tight_partition(encoded, mend(encoded, labels, models, run))

    def _sub_groups(self, encoded: Encoded, k: int) -> NDArray[np.int32]:
        """Return the sub-group of each canonical row in each dimension."""
        if self.variant == "sensitive":
            if not encoded.sensitive:
                raise UsageError("mnqia: the sensitive variant needs a sensitive column. Name one with --sensitive.")
            columns = sorted(encoded.sensitive, key=lambda column: column.name)  # where they stand must not matter
            return np.column_stack([_cut(column, column.codes, k + 1)[column.codes] for column in columns])
        rows = encoded.tuples[encoded.row_tuple]
        return np.column_stack([_cut(a, rows[:, i], k + 1)[rows[:, i]] for i, a in enumerate(encoded.attributes)])


def _cut(column: Attribute | Sensitive, codes: NDArray[np.int32], n_parts: int) -> NDArray[np.int32]:
    """Return the sub-group of each code."""
    from shoal.kernels.clustering.mnqia import cut_numbers

    card = len(column.texts)
    parts = np.arange(card, dtype=np.int32)
    if column.kind is Kind.CATEGORICAL:
        return parts
    n_known = column.missing if column.missing >= 0 else card
    if n_known:
        rows = np.bincount(codes, minlength=card)[:n_known]
        n_parts = min(n_parts, n_known)
        known = np.empty(n_known, dtype=np.int32)
        cut_numbers(np.ascontiguousarray(whole_places(column)[0][:n_known]), rows, n_parts, known)
        parts[:n_known], parts[n_known:] = known, n_parts
    return parts


def _deal(sub_groups: NDArray[np.int32], k: int, run: Run) -> NDArray[np.int32]:
    """Return the group of each canonical row, -1 where it is left over."""
    from shoal.kernels.clustering.mnqia import Buckets

    order = np.lexsort([np.arange(len(sub_groups)), *sub_groups.T[::-1]])
    arranged = sub_groups[order]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (arranged[1:] != arranged[:-1]).any(axis=1)
    starts = np.append(np.flatnonzero(begins), len(order)).astype(np.int64)
    buckets = Buckets(np.ascontiguousarray(arranged[starts[:-1]]), starts)
    dealt = np.full(len(order), -1, dtype=np.int32)
    n_left, n_groups = len(order), 0
    while n_left >= k:
        if run.cancelled():
            raise CancelledError
        n_left = buckets.deal(k, n_groups, BATCH, dealt)
        n_groups += BATCH
        run.progress(1 - n_left / len(order))
    run.progress(1.0)
    labels = np.empty(len(order), dtype=np.int32)
    labels[order] = dealt
    return labels
