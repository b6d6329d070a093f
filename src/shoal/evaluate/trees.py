"""Recursive partitioning: the buckets of a tree, and what of them a release still shows.

A tree grown on a table cuts it into buckets: ranges of numbers and values of categories in which one class is frequent.
In a release a bucket holds the rows whose cells lie wholly inside it. A row whose cells straddle its border is overlap:
it may belong to the bucket or not, so it is counted apart and left out (Morton's rule).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.evaluate.classify import make_task
from shoal.evaluate.sklearn import sklearn_module
from shoal.metrics.features import Labels, NumericEncoding, fit_encoding
from shoal.schema import Schema
from shoal.tables.formats import as_table

__all__ = ["Bucket", "Held", "Tree", "grow"]

N_BUCKETS = 4
WORTH_HALF = 0.5  # share of a bucket's rows that must be left wholly inside for it to survive
SLACK = 0.05  # by which the share of its class may be lower

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bucket:
    """A leaf of a tree.

    bounds: by feature, the least number inside and the first beyond. told: the class that sets it apart, the one whose
    share exceeds that in the whole table most. rows: of the table that the tree was grown on; share: that of told.
    """

    bounds: Mapping[str, tuple[float, float]]
    told: str
    rows: int
    share: float

    def describe(self) -> str:
        """Say in words what is inside: ``capital-gain < 7298, age >= 28``."""
        words = []
        for feature, (low, high) in self.bounds.items():
            column, equals, value = feature.partition("=")
            if equals:
                words.append(f"{column} is {value}" if low > 0 else f"{column} is not {value}")
                continue
            words += [f"{feature} >= {low:g}"] if low > -math.inf else []
            words += [f"{feature} < {high:g}"] if high < math.inf else []
        return ", ".join(words) or "all rows"


@dataclass(frozen=True)
class Held:
    """What a table shows of a bucket: rows wholly inside, rows of overlap, the share of its class among the first."""

    inside: int
    overlap: int
    share: float

    def survives(self, bucket: Bucket) -> bool:
        """Say whether half of the rows are left, and its class is as frequent, or almost, as it was."""
        return self.inside >= WORTH_HALF * bucket.rows and self.share >= bucket.share - SLACK


@dataclass(frozen=True)
class Tree:
    """The buckets of a tree, and how the cells of a table are read to sort them in."""

    encoding: NumericEncoding
    target: str
    buckets: tuple[Bucket, ...]

    def hold(self, table: Any) -> tuple[Held, ...]:
        """Return what a table, original or released, shows of each bucket; a class that is not one value is wrong."""
        table = as_table(table)
        low, high = self.encoding.bounds(table)
        classes = np.array(table.frame[self.target].to_list(), dtype=object)
        found = []
        for bucket in self.buckets:
            inside, touched = np.ones(len(low), dtype=bool), np.ones(len(low), dtype=bool)
            for feature, (least, beyond) in bucket.bounds.items():
                at = self.encoding.features.index(feature)
                inside &= (low[:, at] >= least) & (high[:, at] < beyond)
                touched &= (high[:, at] >= least) & (low[:, at] < beyond)
            n_inside = int(inside.sum())
            share = float(np.mean(classes[inside] == bucket.told)) if n_inside else 0.0
            found.append(Held(n_inside, int(touched.sum()) - n_inside, share))
        return tuple(found)


def grow(
    table: Any,
    schema: Schema,
    target: str,
    *,
    buckets: int = N_BUCKETS,
    features: Sequence[str] | None = None,
    labels: Labels | None = None,
) -> Tree:
    """Grow a tree by entropy, the best cut first, until it has so many buckets.

    table: original or released; of a released one the middles of the cells are cut, and rows that do not show one class
    are left out. features: the columns to cut, else the quasi-identifiers. labels: by column, the values below each
    label of its hierarchy.
    """
    table = as_table(table)
    task = make_task(table, schema, target, features=features)
    taught = task.taught(table, labels or {})
    encoding = fit_encoding(taught, task.schema, task.features, labels)
    matrix, classes = encoding.matrix(taught), task.classes(taught)
    model = sklearn_module("tree").DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=max(buckets, 2), random_state=0
    )
    fitted = model.fit(matrix, classes).tree_
    found = list(_leaves(fitted, 0, np.arange(len(classes)), matrix, {}, encoding.features))
    return Tree(encoding, target, tuple(_bucket(bounds, classes[rows], classes) for bounds, rows in found))


Bounds = dict[str, tuple[float, float]]


def _leaves(
    tree: Any, node: int, rows: NDArray[np.int64], matrix: Floats, bounds: Bounds, features: Sequence[str]
) -> Any:
    """Give the bounds and rows of each leaf below a node, the side of the greater numbers first."""
    if tree.children_left[node] < 0:
        yield bounds, rows
        return
    at = int(tree.feature[node])
    above = matrix[rows, at] > tree.threshold[node]
    first = float(matrix[rows[above], at].min())  # the cut as a number that is there, not halfway between two
    low, high = bounds.get(features[at], (-math.inf, math.inf))
    for child, side, span in (
        (tree.children_right[node], above, (first, high)),
        (tree.children_left[node], ~above, (low, first)),
    ):
        yield from _leaves(tree, int(child), rows[side], matrix, bounds | {features[at]: span}, features)


def _bucket(bounds: Bounds, inside: NDArray[np.object_], whole: NDArray[np.object_]) -> Bucket:
    gains = {name: float(np.mean(inside == name) - np.mean(whole == name)) for name in sorted(set(whole.tolist()))}
    told = max(gains, key=lambda name: gains[name])
    return Bucket(bounds, told, len(inside), float(np.mean(inside == told)))
