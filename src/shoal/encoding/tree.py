"""A hierarchy over the codes of one attribute, as methods and measures see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree", "plant"]


@dataclass(frozen=True)
class Tree:
    """Levels over the codes: level 0 is the code itself, the last level is the root.

    Nodes are numbered from the codes up: the first nodes are the codes, the next one is the root.

    Attributes:
        nodes: The node of each code at each level (levels x codes).
        labels: The text of each node.
        sizes: The number of codes that the label of each node covers on any level; 1 for a code.
    """

    nodes: NDArray[np.int32]
    labels: tuple[str, ...]
    sizes: NDArray[np.int32]

    @property
    def height(self) -> int:
        """Number of levels above the codes."""
        return len(self.nodes) - 1

    def common(self, codes: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lowest node above all codes of each run; starts: where each run begins."""
        nodes = np.full(len(starts), -1, dtype=np.int64)
        for level in self.nodes:
            above = level[codes]
            low, high = np.minimum.reduceat(above, starts), np.maximum.reduceat(above, starts)
            nodes = np.where((nodes < 0) & (low == high), low, nodes)
        return nodes


def plant(texts: Sequence[str], paths: Sequence[tuple[str, ...]]) -> Tree:
    """Return the tree over codes.

    Args:
        texts: The text of each code.
        paths: The labels of each code from level 1 up, all of the same length and with the same last label.
    """
    card, root = len(texts), paths[0][-1]
    labels = [*texts, root]  # the root is one node, whatever the level on which a path reaches it
    nodes = [np.arange(card, dtype=np.int32)]
    for level in range(len(paths[0])):
        node_of = {root: card}
        for path in paths:
            if path[level] not in node_of:
                node_of[path[level]] = len(labels)
                labels.append(path[level])
        nodes.append(np.array([node_of[path[level]] for path in paths], dtype=np.int32))
    table = np.ascontiguousarray(np.vstack(nodes))
    sizes = np.ones(len(labels), dtype=np.int32)
    covered: dict[str, set[int]] = {}
    for code, path in enumerate(paths):
        for label in set(path):
            covered.setdefault(label, set()).add(code)
    sizes[card:] = [len(covered[label]) for label in labels[card:]]
    return Tree(table, tuple(labels), sizes)
