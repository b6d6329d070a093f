"""MNQIA: sort rows into buckets of similar values, then draw groups from different buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.encoding.sensitive import Sensitive
from shoal.errors import CancelledError, UsageError, setting
from shoal.methods.base import Run, check_models
from shoal.methods.clustering.remainder import join_nearest
from shoal.methods.merge_failing import merge_failing
from shoal.methods.prices import whole_places
from shoal.models import PrivacyModel
from shoal.schema import Kind

__all__ = ["MNQIA"]

VARIANTS = ("quasi-identifiers", "sensitive")
# Groups formed between two reports of progress.
BATCH = 64


@dataclass(frozen=True)
class MNQIA:
    """Multiple numerical quasi-identifier anonymisation of IJARTET 2017: bucketisation, then MMDCF.

    Each column is cut into sub-groups on its own, and the sub-groups of all columns are crossed into a grid of buckets.
    To form a group, go through the sub-groups of the last column. In each, take a row from the bucket whose sub-groups
    have the most rows, but shield every bucket that shares a sub-group of another column with a row already taken. A
    group thus mixes dissimilar rows: the method spreads values and does not minimise loss.
    Groups that fail another model then merge with their nearest group until they pass.
    Cost: O(d b n / k) for b non-empty buckets and d columns, times a few passes; the paper calls it linear.

    Attributes:
        variant: The columns whose buckets are crossed: "quasi-identifiers" or "sensitive". The second variant puts
            rows with different sensitive values into each group, which aims at l-diversity on all sensitive columns;
            the release reports the l that was reached.

    Choices where the paper is silent: numbers and dates are cut by optimal k-means over their distinct values and rows,
    into k + 1 sub-groups (its example has 4 for k = 3), with spreads rounded down to 1/1024 of a squared step. Each
    category is a sub-group, and so is the missing number. Priorities are those at the start of a group. Ties go to the
    lowest sub-groups, then to the lowest row. If a full pass adds nothing, the shield is lifted. Fewer than k rows at
    the end each join the group to which they add the least NCP.

    >>> MNQIA(variant="sensitive").name
    'mnqia'
    """

    variant: str = "quasi-identifiers"

    name: ClassVar[str] = "mnqia"

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise UsageError(f"mnqia: variant {self.variant!r} is not known. Use {', '.join(VARIANTS)}.")

    def check_table(self, encoded: Encoded) -> None:
        """Refuse a table without sensitive columns in the variant that crosses them."""
        if self.variant == "sensitive" and not encoded.sensitive:
            raise UsageError(
                f"mnqia: variant 'sensitive' needs a sensitive column. Use {setting('sensitive')} to name one."
            )

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of k rows, some of them with a few rows more."""
        k = check_models(self, encoded, models)
        labels = _deal(self._sub_groups(encoded, k), k, run)
        labels = join_nearest(encoded, labels, np.flatnonzero(labels < 0))
        return tight_partition(encoded, merge_failing(encoded, labels, models, run))

    def _sub_groups(self, encoded: Encoded, k: int) -> NDArray[np.int32]:
        """Return the sub-group of each canonical row in each dimension."""
        if self.variant == "sensitive":
            columns = sorted(encoded.sensitive, key=lambda column: column.name)  # their order must not matter
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
    n_present = column.missing if column.missing >= 0 else card
    if n_present:
        rows = np.bincount(codes, minlength=card)[:n_present]
        n_parts = min(n_parts, n_present)
        present_parts = np.empty(n_present, dtype=np.int32)
        cut_numbers(np.ascontiguousarray(whole_places(column)[0][:n_present]), rows, n_parts, present_parts)
        parts[:n_present], parts[n_present:] = present_parts, n_parts
    return parts


def _deal(sub_groups: NDArray[np.int32], k: int, run: Run) -> NDArray[np.int32]:
    """Return the group of each canonical row; -1 for a row that is left over."""
    from shoal.kernels.clustering.mnqia import Buckets

    order = np.lexsort([np.arange(len(sub_groups)), *sub_groups.T[::-1]])
    sorted_sub_groups = sub_groups[order]
    is_start = np.ones(len(order), dtype=bool)
    is_start[1:] = (sorted_sub_groups[1:] != sorted_sub_groups[:-1]).any(axis=1)
    starts = np.append(np.flatnonzero(is_start), len(order)).astype(np.int64)
    buckets = Buckets(np.ascontiguousarray(sorted_sub_groups[starts[:-1]]), starts)
    sorted_labels = np.full(len(order), -1, dtype=np.int32)
    n_left, n_groups = len(order), 0
    while n_left >= k:
        if run.cancelled():
            raise CancelledError
        n_left = buckets.deal(k, n_groups, BATCH, sorted_labels)
        n_groups += BATCH
        run.progress(1 - n_left / len(order))
    run.progress(1.0)
    labels = np.empty(len(order), dtype=np.int32)
    labels[order] = sorted_labels
    return labels
