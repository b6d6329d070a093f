"""A hierarchy over the codes of one attribute: what methods, recoding and costs see of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree", "plant"]

ROOT = "*"


@dataclass(frozen=True)
class Tree:
    """Levels over the codes: level 0 is the code itself, the last level is one root.

    nodes: the node of each code at each level. labels, sizes: the text of each node, and the number of codes below it.
    Nodes are numbered from the codes up, so that node i below the number of codes is code i; the next is the root.
    """

    nodes: NDArray[np.int32]  # levels x codes
    labels: tuple[str, ...]
    sizes: NDArray[np.int32]

    @property
    def height(self) -> int:
        """Number of levels above the codes."""
        return len(self.nodes) - 1

    def common(self, codes: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lowest node above all codes of each run; a run begins at each start."""
        found = np.full(len(starts), -1, dtype=np.int64)
        for level in self.nodes:
            above = level[codes]
            low, high = np.minimum.reduceat(above, starts), np.maximum.reduceat(above, starts)
            found = np.where((found < 0) & (low == high), low, found)
        return found


def plant(texts: Sequence[str], paths: Sequence[tuple[str, ...]]) -> Tree:
    """Return the tree over codes with these texts; paths: the labels of each code from level 1 up, all equally long."""
    card = len(texts)
    labels = [*texts, ROOT]  # the root is one node, on whatever level a path reaches it
    nodes = [np.arange(card, dtype=np.int32)]
    for level in range(len(paths[0])):
        known = {ROOT: card}
        for path in paths:
            if path[level] not in known:
                known[path[level]] = len(labels)
                labels.append(path[level])
        nodes.append(np.array([known[path[level]] for path in paths], dtype=np.int32))
    table = np.ascontiguousarray(np.vstack(nodes))
    sizes = np.bincount(table.ravel(), minlength=len(labels)).astype(np.int32)
    sizes[card] = card
    return Tree(table, tuple(labels), sizes)
