"""SBCA: form groups of the k nearest rows, with distances between categories derived from the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import CancelledError, UsageError
from shoal.methods.base import Run, check_models
from shoal.methods.clustering.remainder import check_suppressed, deal_pieces, join_nearest
from shoal.methods.merge_failing import merge_failing
from shoal.methods.prices import is_number, whole_places
from shoal.models import PrivacyModel

__all__ = ["SBCA"]

REMAINDERS = ("last", "nearest", "suppress")
# Groups formed between two reports of progress.
BATCH = 64


@dataclass(frozen=True)
class SBCA:
    """Similarity-based clustering of Sarrafi Aghdam and Sonehara 2016.

    Take the first remaining row and the k - 1 rows nearest to it as a group, and repeat. Rows are sorted by the
    categories, the one with the fewest values first, then by the numbers. The distance of two numbers or dates is
    their difference divided by the range of the column. The distance of two categories is their rank in the similarity
    order of the first row's category: two categories are similar if their counts are close among the rows that share
    the first row's value of the next smaller category (if these are fewer than k rows, the rows of the next similar
    value count too). No hierarchy is needed; if there is one, groups show its labels.
    Groups that fail another model then merge with their nearest group until they pass.
    Cost: O(q m n / k) for n rows, m distinct tuples and q attributes; the paper states O(n^2 / k).

    Attributes:
        remainder: What happens to the fewer than k rows at the end. "last": they join the last group. "nearest": each
            joins the group to which it adds the least NCP. "suppress": they are suppressed, within the suppression
            limit.

    Choices where the paper is silent: counts and numbers of values refer to the remaining rows. There is one
    contingency table, against the next smaller category. Equal differences of counts are ordered by the larger count,
    then by value; categories with the same number of values keep their given order; equally near rows keep the sort
    order. A missing number has the largest possible distance to all others. Distances are exact as long as their common
    denominator has at most 60 bits, else they are rounded down to 60 bits.

    >>> SBCA(remainder="nearest").name
    'sbca'
    """

    remainder: str = "last"

    name: ClassVar[str] = "sbca"

    def __post_init__(self) -> None:
        if self.remainder not in REMAINDERS:
            raise UsageError(f"sbca: remainder {self.remainder!r} is not known. Use {', '.join(REMAINDERS)}.")

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of k rows, the last of them with up to 2 k - 1 rows."""
        k = check_models(self, encoded, models)
        order, tuples, rows, groups = _gather(encoded, k, run)
        n_groups = int(groups.max()) + 1
        groups[groups < 0] = n_groups - 1 if self.remainder == "last" else -1
        labels = deal_pieces(order[tuples].astype(np.int32), rows, groups)
        if self.remainder == "nearest":
            by_sort_order = np.argsort(order)[encoded.row_tuple[labels < 0]]
            leftover_rows = np.flatnonzero(labels < 0)[np.argsort(by_sort_order, kind="stable")]
            labels = join_nearest(encoded, labels, leftover_rows)
        check_suppressed(self.name, labels, run)
        return tight_partition(encoded, merge_failing(encoded, labels, models, run))


def _gather(
    encoded: Encoded, k: int, run: Run
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Return the tuples in sort order, and the tuple, rows and group of each piece; the remainder has group -1."""
    from shoal.kernels.clustering.sbca import Remaining

    attributes = encoded.attributes
    categories = [a for a, attribute in enumerate(attributes) if not is_number(attribute)]
    categories.sort(key=lambda a: len(attributes[a].texts))
    numbers = [a for a, attribute in enumerate(attributes) if is_number(attribute)]
    ranked = [*categories, *numbers]
    order = np.lexsort([encoded.tuples[:, a] for a in reversed(ranked)])
    scales = [whole_places(attributes[a]) for a in numbers]
    remaining = Remaining(
        np.ascontiguousarray(encoded.tuples[order][:, ranked]),
        encoded.counts[order],
        np.array([len(attributes[a].texts) for a in ranked], dtype=np.int64),
        len(categories),
        np.concatenate([np.empty(0, dtype=np.int64), *(places for places, _ in scales)]),
        np.array([width for _, width in scales], dtype=np.int64),
        k,
        2**60 // len(ranked),
    )
    most_pieces = len(order) + encoded.n_rows // k + len(order)
    tuples, rows = np.empty(most_pieces, dtype=np.int32), np.empty(most_pieces, dtype=np.int64)
    groups = np.full(most_pieces, -1, dtype=np.int32)
    n_pieces, n_left, n_groups = 0, encoded.n_rows, 0
    while n_left >= k:
        if run.cancelled():
            raise CancelledError
        n_pieces, n_left = remaining.gather(BATCH, n_groups, tuples, rows, groups, n_pieces)
        n_groups += BATCH
        run.progress(1 - n_left / encoded.n_rows)
    run.progress(1.0)
    rows_left = np.empty(len(order), dtype=np.int64)
    remaining.rest(rows_left)
    tuples_left = np.flatnonzero(rows_left)
    end = n_pieces + len(tuples_left)
    tuples[n_pieces:end], rows[n_pieces:end] = tuples_left, rows_left[tuples_left]
    return order, tuples[:end], rows[:end], groups[:end]
