"""Covering: rows that are equal at some levels of their hierarchies make groups, the levels that lose least first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import node_losses
from shoal.errors import CancelledError
from shoal.methods.base import Run
from shoal.methods.counter_random import draws, mix

__all__ = ["cover_tuples"]

# So many vectors of levels are gone through one by one; of more, some are searched for.
MOST_VECTORS = 20_000
VECTORS_AT_ONCE = 500  # between two looks at whether to go on
CLIMBS = 3  # how often the search for vectors begins anew
SHARE = 0.05  # a climb ends at the vector that covers this share of the rows that are left

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Ladder:
    """The levels of an attribute. nodes: the node of each code at each level; losses: the mean loss of a row there."""

    nodes: tuple[NDArray[np.int64], ...]
    losses: tuple[float, ...]


@dataclass(frozen=True)
class Ladders:
    """The levels of all attributes, as the kernel takes them."""

    encoded: Encoded
    ladders: tuple[Ladder, ...]

    @property
    def tops(self) -> tuple[int, ...]:
        """The highest level of each attribute."""
        return tuple(len(ladder.nodes) - 1 for ladder in self.ladders)

    def loss(self, vector: Sequence[int]) -> float:
        """Return the mean loss of a row at these levels."""
        return sum(ladder.losses[level] for ladder, level in zip(self.ladders, vector, strict=True))

    def ascending(self) -> Iterator[tuple[int, ...]]:
        """Yield all vectors, those that lose less first."""
        first = (0,) * len(self.ladders)
        heap = [(self.loss(first), first)]
        while heap:
            _, vector = heapq.heappop(heap)
            yield vector
            # Each vector has one way that leads to it: the last attribute that is not at its bottom went up last.
            last = max((a for a, level in enumerate(vector) if level > 0), default=0)
            for a in range(last, len(vector)):
                if vector[a] < self.tops[a]:
                    up = (*vector[:a], vector[a] + 1, *vector[a + 1 :])
                    heapq.heappush(heap, (self.loss(up), up))

    @cached_property
    def marks(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """A random number for each node of each level, given for each code; and where each level begins."""
        begins = np.zeros((len(self.ladders), max(self.tops) + 1), dtype=np.int64)
        marks, n_marks = [], 0
        for a, ladder in enumerate(self.ladders):
            for level, nodes in enumerate(ladder.nodes):
                begins[a, level] = n_marks
                marks.append(draws(mix(a, level), nodes))
                n_marks += len(nodes)
        return np.concatenate(marks), begins


def cover_tuples(encoded: Encoded, k: int, run: Run, *, halvings: int) -> Labels:
    """Return for each tuple a group of at least k rows, -1 for fewer than k rows that are left over.

    halvings: levels of a number or date without a hierarchy, which are halves, quarters ... of its range.
    """
    from shoal.kernels.shoaling.cover import cover

    ladders = Ladders(
        encoded,
        tuple(
            _ladder(
                attribute,
                np.bincount(encoded.tuples[:, a], encoded.counts, len(attribute.texts)),
                weight=float(run.weights.get(attribute.name, 1)),
                halvings=halvings,
            )
            for a, attribute in enumerate(encoded.attributes)
        ),
    )
    labels = np.full(len(encoded.tuples), -1, dtype=np.int32)
    n_groups = 0
    few = prod(top + 1 for top in ladders.tops) <= MOST_VECTORS
    vectors = ladders.ascending() if few else _climb(ladders, k, labels)
    while chunk := list(islice(vectors, VECTORS_AT_ONCE if few else 1)):
        if run.cancelled():
            raise CancelledError
        levels = np.array(chunk, dtype=np.int32)
        n_groups = cover(encoded.tuples, encoded.counts, *ladders.marks, levels, k, n_groups, labels)
    return labels


def _climb(ladders: Ladders, k: int, labels: Labels) -> Iterator[tuple[int, ...]]:
    """Yield vectors that cover something: again and again up from the bottom, each time one attribute one level.

    The step taken is the one that makes rows riper at the least loss. labels: looked at between two vectors.
    """
    from shoal.kernels.shoaling.cover import measure_progress

    counts = ladders.encoded.counts
    for climb in range(CLIMBS + 1):
        vector = (0,) * len(ladders.ladders)
        left = int(counts[labels < 0].sum())
        if left < k:
            return
        while vector != ladders.tops:
            ups = [a for a in range(len(vector)) if vector[a] < ladders.tops[a]]
            steps = [(*vector[:a], vector[a] + 1, *vector[a + 1 :]) for a in ups]
            ripe = np.empty(len(steps) + 1)
            both = np.array([*steps, vector], dtype=np.int32)
            measure_progress(ladders.encoded.tuples, counts, *ladders.marks, both, k, labels, ripe)
            dear = np.array([ladders.loss(step) for step in steps]) - ladders.loss(vector)
            vector = steps[int(np.argmax((ripe[:-1] - ripe[-1]) / np.maximum(dear, 1e-12)))]
            before = int(counts[labels < 0].sum())
            yield vector
            after = int(counts[labels < 0].sum())
            if climb < CLIMBS and before - after >= SHARE * left:
                break


def _ladder(attribute: Attribute, rows: NDArray[Any], *, weight: float, halvings: int) -> Ladder:
    """Return the levels of an attribute: of its hierarchy, or halves of its range, or all its values at once."""
    n_codes = len(attribute.texts)
    nodes = [np.arange(n_codes)]
    losses = [np.zeros(n_codes)]
    if attribute.tree is not None:
        nodes += [level.astype(np.int64) for level in attribute.tree.nodes[1:]]
        losses += [node_losses(attribute)[level] for level in attribute.tree.nodes[1:]]
    else:
        if attribute.ordered and attribute.span > 0:
            n_known = attribute.missing if attribute.missing >= 0 else n_codes
            shares = np.zeros(n_codes)
            shares[:n_known] = (attribute.values[:n_known] - attribute.values[0]) / attribute.span
            for halving in range(halvings, 0, -1):
                parts = np.minimum(np.floor(shares * 2**halving), 2**halving - 1).astype(np.int64)
                parts[n_known:] = 2**halving  # a missing value is like no other
                nodes.append(parts)
                losses.append(np.full(n_codes, 0.5**halving))
        nodes.append(np.zeros(n_codes, dtype=np.int64))
        losses.append(np.ones(n_codes))
    return Ladder(tuple(nodes), tuple(weight * float(loss @ rows) / float(rows.sum()) for loss in losses))
