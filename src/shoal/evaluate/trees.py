"""Recursive partitioning: the buckets of a decision tree, and how much of each bucket a release preserves.

A tree divides a table into buckets: ranges of numbers and values of categories in which one class is frequent. A
released row is inside a bucket if its cells lie entirely inside. A row whose cells straddle the border may or may not
belong to the bucket; it is counted as overlap and left out (Morton's rule, [S1]).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.evaluate.extra import extra_module
from shoal.evaluate.task import make_task
from shoal.metrics.features import Labels, NumericEncoding, fit_encoding
from shoal.schema import Kind, Role, Schema
from shoal.tables.formats import as_table
from shoal.tables.values import date_text

__all__ = ["Bucket", "Held", "Tree", "grow"]

N_BUCKETS = 4
LEAST_INSIDE = 0.5  # share of a bucket's rows that must stay inside for it to survive
SLACK = 0.05  # by which the share of its class may fall

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bucket:
    """A leaf of a tree.

    Attributes:
        bounds: For each feature, the smallest number inside and the first number beyond.
        class_name: The class that characterises the bucket: its share exceeds its share of the table the most.
        rows: Number of rows, of the table on which the tree was grown.
        share: Share of these rows that have the class.
        date_formats: How the dates of features that are dates are written.
    """

    bounds: Mapping[str, tuple[float, float]]
    class_name: str
    rows: int
    share: float
    date_formats: Mapping[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        """Return the conditions as text, such as "capital-gain < 7298, age >= 28"."""
        words = []
        for feature, (low, high) in self.bounds.items():
            column, equals, value = feature.partition("=")
            if equals:
                words.append(f"{column} is {value}" if low > 0 else f"{column} is not {value}")
                continue
            words += [f"{feature} >= {self._text(feature, low)}"] if low > -math.inf else []
            words += [f"{feature} < {self._text(feature, high)}"] if high < math.inf else []
        return ", ".join(words) or "all rows"

    def _text(self, feature: str, number: float) -> str:
        form = self.date_formats.get(feature)
        return f"{number:g}" if form is None else date_text(number, form)


@dataclass(frozen=True)
class Held:
    """What a table preserves of a bucket.

    Attributes:
        inside: Rows entirely inside the bucket.
        overlap: Rows that straddle its border.
        share: Share of the bucket's class among the rows inside.
    """

    inside: int
    overlap: int
    share: float

    def survives(self, bucket: Bucket) -> bool:
        """Return whether at least half of the rows stay inside, and the share of the class falls by at most 0.05."""
        return self.inside >= LEAST_INSIDE * bucket.rows and self.share >= bucket.share - SLACK


@dataclass(frozen=True)
class Tree:
    """The buckets of a tree, and the encoding that assigns rows to them."""

    encoding: NumericEncoding
    target: str
    buckets: tuple[Bucket, ...]

    def hold(self, table: Any) -> tuple[Held, ...]:
        """Return what a table, original or released, preserves of each bucket.

        A row whose class is not a single value does not count for the share of the class.
        """
        table = as_table(table, (self.target,))
        low, high = self.encoding.bounds(table)
        classes = np.array(table.frame[self.target].to_list(), dtype=object)
        results = []
        for bucket in self.buckets:
            inside, touched = np.ones(len(low), dtype=bool), np.ones(len(low), dtype=bool)
            for feature, (least, beyond) in bucket.bounds.items():
                at = self.encoding.features.index(feature)
                inside &= (low[:, at] >= least) & (high[:, at] < beyond)
                touched &= (high[:, at] >= least) & (low[:, at] < beyond)
            n_inside = int(inside.sum())
            share = float(np.mean(classes[inside] == bucket.class_name)) if n_inside else 0.0
            results.append(Held(n_inside, int(touched.sum()) - n_inside, share))
        return tuple(results)


def grow(
    table: Any,
    schema: Schema,
    target: str,
    *,
    buckets: int = N_BUCKETS,
    features: Sequence[str] | None = None,
    labels: Labels | None = None,
) -> Tree:
    """Grow a decision tree by entropy, best split first.

    Args:
        table: The original or a release: a table, a frame or the path of a file. In a release, the midpoints of cells
            are split, and rows whose class is not a single value are left out.
        schema: Schema of the original.
        target: The column of classes.
        buckets: Number of leaves at which the tree stops growing.
        features: Columns to split on; the quasi-identifiers by default.
        labels: For each column with a hierarchy, the values under each label.

    Returns:
        The tree.
    """
    table = as_table(table, (*schema.names(Role.QI), target))
    task = make_task(table, schema, target, features=features)
    rows = task.training_rows(table, labels or {})
    encoding = fit_encoding(rows, task.schema, task.features, labels)
    matrix, classes = encoding.matrix(rows), task.classes(rows)
    model = extra_module("sklearn.tree").DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=max(buckets, 2), random_state=0
    )
    nodes = model.fit(matrix, classes).tree_
    leaves = list(_leaves(nodes, 0, np.arange(len(classes)), matrix, {}, encoding.features))
    columns = (scale.column for scale in encoding.scales)
    formats = {column.name: column.date_format for column in columns if column.kind is Kind.DATE}
    found = (_bucket(bounds, classes[members], classes) for bounds, members in leaves)
    return Tree(encoding, target, tuple(replace(bucket, date_formats=formats) for bucket in found))


Bounds = dict[str, tuple[float, float]]


def _leaves(
    tree: Any, node: int, rows: NDArray[np.int64], matrix: Floats, bounds: Bounds, features: Sequence[str]
) -> Any:
    """Yield the bounds and rows of each leaf below a node; the side with the greater numbers comes first."""
    if tree.children_left[node] < 0:
        yield bounds, rows
        return
    at = int(tree.feature[node])
    above = matrix[rows, at] > tree.threshold[node]
    first = float(matrix[rows[above], at].min())  # split at a number of the table, not halfway between two
    low, high = bounds.get(features[at], (-math.inf, math.inf))
    for child, side, span in (
        (tree.children_right[node], above, (first, high)),
        (tree.children_left[node], ~above, (low, first)),
    ):
        yield from _leaves(tree, int(child), rows[side], matrix, bounds | {features[at]: span}, features)


def _bucket(bounds: Bounds, inside: NDArray[np.object_], classes: NDArray[np.object_]) -> Bucket:
    gains = {name: float(np.mean(inside == name) - np.mean(classes == name)) for name in sorted(set(classes.tolist()))}
    class_name = max(gains, key=lambda name: gains[name])
    return Bucket(bounds, class_name, len(inside), float(np.mean(inside == class_name)))
