"""Ranges that never partly overlap: numbers and dates are released as halves, quarters and so on of their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import NODE, RANGE, SUPPRESSED, VALUE, Cells, Entries, Partition, tight_partition
from shoal.encoding.tree import Tree

__all__ = ["in_halves", "nested_partition"]

MOST_HALVINGS = 24  # smaller parts rarely contain several values


def in_halves(encoded: Encoded) -> Encoded:
    """Return the table with a tree of halves, quarters ... of the rows over each number or date without hierarchy."""
    attributes = []
    for a, attribute in enumerate(encoded.attributes):
        if attribute.ordered:
            rows = np.bincount(encoded.tuples[:, a], encoded.counts, len(attribute.texts)).astype(np.float64)
            attribute = replace(attribute, tree=_halves(attribute, rows))
        attributes.append(attribute)
    return replace(encoded, attributes=tuple(attributes))


def _halves(attribute: Attribute, rows: NDArray[np.float64]) -> Tree:
    """Return the tree over the codes of an attribute; a missing value is directly below the root."""
    card = len(attribute.texts)
    n_known = attribute.missing if attribute.missing >= 0 else card
    middle = (np.cumsum(rows[:n_known]) - rows[:n_known] / 2) / max(rows[:n_known].sum(), 1)
    levels = [np.full(card, card, dtype=np.int64)]  # from the root down
    n_nodes = card + 1
    for halving in range(int(n_known == card), MOST_HALVINGS + 1):
        parts, nodes = np.unique(np.floor(middle * 2**halving), return_inverse=True)
        level = np.full(card, card, dtype=np.int64)
        level[:n_known] = n_nodes + nodes
        levels.append(level)
        n_nodes += len(parts)
        if len(parts) == n_known:
            break
    table = np.array([np.arange(card), *levels[::-1]], dtype=np.int32)
    sizes = np.bincount(table.ravel(), minlength=n_nodes).astype(np.int32)
    sizes[card] = card
    return Tree(table, ("",) * n_nodes, sizes)


def nested_partition(encoded: Encoded, halved: Encoded, groups: Entries | NDArray[np.int32]) -> Partition:
    """Generalise each group to the smallest part that contains its values, as a range of values of the table.

    Other attributes are generalised as tightly as usual.

    Args:
        encoded: The table.
        halved: The same table with trees, from `in_halves`.
        groups: Entries, or the group of each canonical row, -1 for a suppressed row.
    """
    partition = tight_partition(halved, groups)
    cells = (
        _as_ranges(attribute, part.tree, tight) if attribute.ordered and part.tree is not None else tight
        for attribute, part, tight in zip(encoded.attributes, halved.attributes, partition.cells, strict=True)
    )
    return replace(partition, cells=tuple(cells))


def _as_ranges(attribute: Attribute, tree: Tree, cells: Cells) -> Cells:
    """Turn nodes into the range of the codes below them; a root above missing values is suppressed."""
    card = len(attribute.texts)
    low, high = np.full(len(tree.sizes), card), np.full(len(tree.sizes), -1)
    for level in tree.nodes:
        np.minimum.at(low, level, np.arange(card))
        np.maximum.at(high, level, np.arange(card))
    at = cells.low
    form = np.where(cells.form == NODE, RANGE, cells.form)
    form[(cells.form == NODE) & (at == card) & (attribute.missing >= 0)] = SUPPRESSED
    form[(form == RANGE) & (low[at] == high[at])] = VALUE
    return replace(cells, form=form.astype(np.int8), low=low[at].astype(np.int32), high=high[at].astype(np.int32))
