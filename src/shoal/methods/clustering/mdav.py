"""MDAV: groups of k rows around the rows that are farthest out."""

from __future__ import annotations

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
from shoal.metrics.variance import Coordinates, coordinates_of
from shoal.models import PrivacyModel

__all__ = ["MDAV", "gather_groups"]

# Pairs of groups formed between two reports of progress.
BATCH = 64


@dataclass(frozen=True)
class MDAV:
    """Maximum distance to average vector, the usual heuristic of microaggregation.

    Multivariate microaggregation is of Domingo-Ferrer and Mateo-Sanz 2002 (Practical data-oriented microaggregation for
    statistical disclosure control, IEEE TKDE 14(1)); this is the algorithm of Domingo-Ferrer and Torra 2005 (Ordinal,
    continuous and heterogeneous k-anonymity through microaggregation, DMKD 11(2)). While 3 k rows remain: the row
    farthest from the average of all remaining rows and the k - 1 rows nearest to it become a group, and so do the row
    farthest from that one and its k - 1 nearest. Of 2 k to 3 k - 1 rows, one more group is formed around the row
    farthest from the average; the rest is the last group, of k to 2 k - 1 rows.
    Groups that fail another model then merge with their nearest group until they pass.
    Cost: O(q m n / k) for n rows, m distinct tuples and q attributes.

    Choices of our own: distances are Euclidean over columns of variance 1, on a grid of 1/65,536 standard deviation. A
    category counts as the vector of its indicators, scaled so that the column has variance 1, where the paper of 2005
    takes the most frequent value as the average. A missing number lies at the mean and two variances away from every
    known one. Equally far rows are taken in order of their values. Weights multiply squared distances.

    >>> MDAV().name
    'mdav'
    """

    name: ClassVar[str] = "mdav"

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of k rows, the last of them with up to 2 k - 1 rows."""
        k = check_models(self, encoded, models)
        pieces = gather_groups(coordinates_of(encoded, run.weights), encoded.counts, k, run)
        return tight_partition(encoded, merge_failing(encoded, deal_pieces(*pieces), models, run))


def gather_groups(
    points: Coordinates, counts: NDArray[np.int64], k: int, run: Run | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Return the tuple, the rows and the group of each piece: some rows of a tuple in a group.

    Args:
        points: The tuples.
        counts: The number of rows of each tuple.
        k: The least group size.
        run: Asked whether to cancel, and told of the progress, if given.
    """
    from shoal.kernels.clustering.mdav import Remaining

    places, values = np.ascontiguousarray(points.places.T), np.ascontiguousarray(points.values.T)
    remaining = Remaining(places, values, points.units, counts, k)
    n_rows = int(counts.sum())
    most_pieces = len(counts) + n_rows // k + 1
    tuples, rows = np.empty(most_pieces, dtype=np.int32), np.empty(most_pieces, dtype=np.int64)
    groups = np.empty(most_pieces, dtype=np.int32)
    n_pieces, n_groups, n_left = 0, 0, n_rows
    while n_left:
        if run and run.cancelled():
            raise CancelledError
        n_pieces, n_groups, n_left = remaining.gather(BATCH, n_groups, tuples, rows, groups, n_pieces)
        if run:
            run.progress(1 - n_left / n_rows)
    return tuples[:n_pieces], rows[:n_pieces], groups[:n_pieces]
