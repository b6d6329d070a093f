"""KACA: merge classes of equal rows with the nearest class, by distance in the hierarchies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.encoding.tree import Tree, plant
from shoal.errors import CancelledError, UsageError
from shoal.hierarchy.level_weights import Climb
from shoal.methods.base import Run, check_models
from shoal.methods.clustering.remainder import check_suppressed
from shoal.methods.counter_random import draws, mix
from shoal.methods.merge_failing import merge_failing
from shoal.methods.options import read_number
from shoal.methods.prices import common_scale
from shoal.models import PrivacyModel

if TYPE_CHECKING:
    from shoal.kernels.clustering.kaca import Classes

__all__ = ["KACA"]

# Merges between two reports of progress.
BATCH = 128


@dataclass(frozen=True)
class KACA:
    """K-anonymisation by clustering in attribute hierarchies, of Li, Wong, Fu and Pei 2006.

    A class of fewer than k equal rows, drawn at random, merges with its nearest class. The distance of two classes is
    how far their rows climb in the hierarchies until both show the same labels. If both together have 2 k rows or
    more, only as many rows of the larger class (the stub) join as k needs, and only these count for the distance; the
    other rows (the trunk) stay as they are.
    Groups that fail another model then merge with their nearest group (by NCP) until they pass.
    Cost: O(q m^2) for m distinct tuples and q attributes; the paper states O(n log n + m^2).

    Attributes:
        weighting: How the levels of the hierarchies weigh, see `shoal.Climb`.
        beta: The exponent of weighting "height".
        level_weights: Explicit weights of the levels by attribute.
        threshold: Suppress a class whose nearest class is farther away, within the suppression limit.

    Choices where the paper is silent: all small classes are equally likely to be drawn. A merge that yields the labels
    of another class joins that class. Of equally near classes the one with the lowest label is taken. The stub is the
    lowest rows in canonical order. A quasi-identifier without a hierarchy has two levels, the value and *. A short
    branch of a tree is padded at the value. Departure: a group shows the lowest common label of its own rows or,
    without a hierarchy, their range or set, which is never wider than the label used for distances.

    >>> KACA(weighting="height", beta=2).name
    'kaca'
    """

    weighting: str = "uniform"
    beta: float = 1.0
    level_weights: Mapping[str, Sequence[float]] = field(default_factory=dict)
    threshold: float | None = None

    name: ClassVar[str] = "kaca"

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", read_number(self.name, "beta", self.beta))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", read_number(self.name, "threshold", self.threshold))
        self._climb()

    def _climb(self) -> Climb:
        return Climb(self.weighting, self.beta, self.level_weights)

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        k = check_models(self, encoded, models)
        names = [attribute.name for attribute in encoded.attributes]
        unknown_names = [name for name in self.level_weights if name not in names]
        if unknown_names:
            raise UsageError(
                f"kaca: level_weights contains {unknown_names[0]!r}, which is not a quasi-identifier. "
                f"The quasi-identifiers are: {', '.join(names)}."
            )
        classes = self._classes(encoded, k)
        n_small = n_at_first = int((encoded.counts < k).sum())
        key, step = mix(run.seed), 0
        while n_small:
            if run.cancelled():
                raise CancelledError
            n_small = classes.merge(draws(key, np.arange(step, step + BATCH)))
            step += BATCH
            run.progress(1 - n_small / n_at_first)
        if run.cancelled():
            raise CancelledError
        run.progress(1.0)
        labels = np.empty(encoded.n_rows, dtype=np.int32)
        classes.fill(labels)
        check_suppressed(self.name, labels, run)
        return tight_partition(encoded, merge_failing(encoded, labels, models, run))

    def _classes(self, encoded: Encoded, k: int) -> Classes:
        from shoal.kernels.clustering.kaca import Classes

        trees = [attribute.tree or _two_levels(attribute) for attribute in encoded.attributes]
        climb = self._climb()
        shares = [climb.to_levels(a.name, tree.height) for a, tree in zip(encoded.attributes, trees, strict=True)]
        most = 2**61 // (len(trees) * encoded.n_rows)
        scale = common_scale((share.denominator for levels in shares for share in levels), most)
        costs = [math.floor(share * scale) for levels in shares for share in levels]
        return Classes(
            encoded.tuples,
            encoded.counts,
            np.array([len(attribute.texts) for attribute in encoded.attributes], dtype=np.int64),
            np.array([tree.height for tree in trees], dtype=np.int64),
            np.concatenate([tree.nodes.ravel() for tree in trees]),
            np.array(costs, dtype=np.int64),
            k,
            -1 if self.threshold is None else math.floor(min(self.threshold * scale, 2**62)),
        )


def _two_levels(attribute: Attribute) -> Tree:
    """Return the tree of an attribute without a hierarchy: its values, and * above them."""
    return plant(attribute.texts, [("*",)] * len(attribute.texts))
