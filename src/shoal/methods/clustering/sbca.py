"""SBCA: groups of the k nearest rows, with distances between categories that the table itself tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import CancelledError, UsageError
from shoal.methods.base import Run, check_models
from shoal.methods.merge_failing import mend
from shoal.methods.prices import is_number, whole_places
from shoal.methods.remainder import check_suppressed, deal_rows, join_nearest
from shoal.models import PrivacyModel

__all__ = ["SBCA"]

REMAINDERS = ("last", "nearest", "suppress")
# Groups formed between two looks at progress and cancellation.
BATCH = 64


@dataclass(frozen=True)
class SBCA:
    """Sarrafi Aghdam, Sonehara 2016: the first row that is left and the k - 1 nearest to it, again and again.

    remainder: what becomes of the fewer than k rows at the end: "last" (they join the last group), "nearest" (each
    joins the group to which it adds least NCP) or "suppress" (they are left out, as far as the suppression limit
    allows). Groups that fail a model beside k then merge with the nearest until they pass.

    Rows are sorted by the categories, that of fewest values first, then by the numbers. Numbers and dates are as far
    apart as their difference is large beside the range of the table. Two values of a category are as far apart as they
    stand in the likeness order of the first row's value: the nearer their counts among the rows that share its value of
    the next smaller category, the more alike (fewer than k such rows: those of the next like value are counted too).
    No hierarchy is needed; where there is one, groups show its labels.
    Cost: O(q m n / k) for n rows, m distinct tuples and q attributes; the paper says O(n^2 / k).

    Where the paper is silent: counts and numbers of values are those of the rows that are left; one contingency table,
    against the next smaller category; equal differences of counts by the larger count, then by value; categories of
    equally many values in the order given; equally near rows in sort order. A missing number is as far from all others
    as can be. Distances are exact as long as their common denominator has 60 bits, and rounded to parts of it beyond.

    >>> SBCA(remainder="nearest").name
    'sbca'
    """

    remainder: str = "last"

    name: ClassVar[str] = "sbca"

    def __post_init__(self) -> None:
        if self.remainder not in REMAINDERS:
            raise UsageError(f"sbca: remainder {self.remainder!r} is not known. Use {', '.join(REMAINDERS)}.")

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of k rows, the last of up to 2 k - 1."""
        k = check_models(self.name, encoded, models, counts_people=True)
        order, tuples, rows, groups = _gather(encoded, k, run)
        n_groups = int(groups.max()) + 1
        unplaced = groups < 0
        groups[unplaced] = n_groups - 1 if self.remainder == "last" else -1
        labels = deal_rows(order[tuples].astype(np.int32), rows, groups)
        if self.remainder == "nearest":
            by_sort_order = np.argsort(order)[encoded.row_tuple[labels < 0]]
            rest = np.flatnonzero(labels < 0)[np.argsort(by_sort_order, kind="stable")]
            labels = join_nearest(encoded, labels, rest)
        check_suppressed(self.name, labels, run)
        return tight_partition(encoded, mend(encoded, labels, models, run))


def _gather(
    encoded: Encoded, k: int, run: Run
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Return the tuples in sort order, and the pieces of the groups by place in it; what is left has group -1."""
    from shoal.kernels.clustering.sbca import Remaining

    attributes = encoded.attributes
    categories = [a for a, attribute in enumerate(attributes) if not is_number(attribute)]
    categories.sort(key=lambda a: len(attributes[a].texts))
    numbers = [a for a, attribute in enumerate(attributes) if is_number(attribute)]
    ranked = [*categories, *numbers]
    order = np.lexsort([encoded.tuples[:, a] for a in reversed(ranked)])
    located = [whole_places(attributes[a]) for a in numbers]
    remaining = Remaining(
        np.ascontiguousarray(encoded.tuples[order][:, ranked]),
        encoded.counts[order],
        np.array([len(attributes[a].texts) for a in ranked], dtype=np.int64),
        len(categories),
        np.concatenate([np.empty(0, dtype=np.int64), *(places for places, _ in located)]),
        np.array([width for _, width in located], dtype=np.int64),
        k,
        2**60 // len(ranked),
    )
    room = len(order) + encoded.n_rows // k + len(order)
    tuples, rows = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
    groups = np.full(room, -1, dtype=np.int32)
    n_pieces, n_left, n_groups = 0, encoded.n_rows, 0
    while n_left >= k:
        if run.cancelled():
            raise CancelledError
        n_pieces, n_left = remaining.gather(BATCH, n_groups, tuples, rows, groups, n_pieces)
        n_groups += BATCH
        run.progress(1 - n_left / encoded.n_rows)
    run.progress(1.0)
    left = np.empty(len(order), dtype=np.int64)
    remaining.rest(left)
    unplaced = np.flatnonzero(left)
    end = n_pieces + len(unplaced)
    tuples[n_pieces:end], rows[n_pieces:end] = unplaced, left[unplaced]
    return order, tuples[:end], rows[:end], groups[:end]
