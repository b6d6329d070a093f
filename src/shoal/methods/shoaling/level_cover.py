"""Cover: group rows that are equal at some levels of their hierarchies, the levels with least loss first."""

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
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.problem import Problem

__all__ = ["cover_tuples", "covered"]

# Up to this number, all vectors of levels are tried; beyond it, a search picks some.
MOST_VECTORS = 20_000
VECTORS_AT_ONCE = 500  # between two checks for cancellation
CLIMBS = 3  # restarts of the search for vectors
SHARE = 0.05  # a climb ends at the vector that covers this share of the remaining rows

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Ladder:
    """The levels of an attribute; nodes: the node of each code at each level; losses: the mean loss of a row there."""

    nodes: tuple[NDArray[np.int64], ...]
    losses: tuple[float, ...]


@dataclass(frozen=True)
class Ladders:
    """The levels of all attributes, as the kernel reads them."""

    encoded: Encoded
    ladders: tuple[Ladder, ...]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """What each tuple adds to the size of a group: its rows, or the people whose first tuple it is."""
        encoded = self.encoded
        if encoded.people is None:
            return encoded.counts
        _, first = np.unique(encoded.people, return_index=True)
        return np.bincount(encoded.row_tuple[first], minlength=len(encoded.tuples)).astype(np.int64)

    @property
    def tops(self) -> tuple[int, ...]:
        """The highest level of each attribute."""
        return tuple(len(ladder.nodes) - 1 for ladder in self.ladders)

    def loss(self, vector: Sequence[int]) -> float:
        """Return the mean loss of a row at a vector of levels."""
        return sum(ladder.losses[level] for ladder, level in zip(self.ladders, vector, strict=True))

    def ascending(self) -> Iterator[tuple[int, ...]]:
        """Yield all vectors in order of loss."""
        first = (0,) * len(self.ladders)
        heap = [(self.loss(first), first)]
        while heap:
            _, vector = heapq.heappop(heap)
            yield vector
            # Each vector is reached in one way: the last attribute above its bottom was raised last.
            last = max((a for a, level in enumerate(vector) if level > 0), default=0)
            for a in range(last, len(vector)):
                if vector[a] < self.tops[a]:
                    up = (*vector[:a], vector[a] + 1, *vector[a + 1 :])
                    heapq.heappush(heap, (self.loss(up), up))

    @cached_property
    def marks(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """A random number for each node of each level, listed by code; and where each level begins."""
        begins = np.zeros((len(self.ladders), max(self.tops) + 1), dtype=np.int64)
        marks, n_marks = [], 0
        for a, ladder in enumerate(self.ladders):
            for level, nodes in enumerate(ladder.nodes):
                begins[a, level] = n_marks
                marks.append(draws(mix(a, level), nodes))
                n_marks += len(nodes)
        return np.concatenate(marks), begins


def cover_tuples(encoded: Encoded, k: int, run: Run, *, halvings: int) -> Labels:
    """Return for each tuple a group of at least k rows, or -1 for fewer than k remaining rows.

    If people are counted, each person counts in the first of their tuples only. So a group has at least as many people
    as were counted.

    Args:
        encoded: The table.
        k: The least group size.
        run: Its weights.
        halvings: The number of levels of a number or date without a hierarchy: halves, quarters ... of its range.
    """
    from shoal.kernels.shoaling.starts.cover import cover

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
        n_groups = cover(encoded.tuples, ladders.counts, *ladders.marks, levels, k, n_groups, labels)
    return labels


def _climb(ladders: Ladders, k: int, labels: Labels) -> Iterator[tuple[int, ...]]:
    """Yield vectors that cover rows: climb repeatedly from the bottom, raising one attribute by one level at a time.

    Each step brings rows nearest to k at the least loss. The caller updates `labels` between two vectors.
    """
    from shoal.kernels.shoaling.starts.cover import measure_progress

    counts = ladders.counts
    for climb in range(CLIMBS + 1):
        vector = (0,) * len(ladders.ladders)
        left = int(counts[labels < 0].sum())
        if left < k:
            return
        while vector != ladders.tops:
            ups = [a for a in range(len(vector)) if vector[a] < ladders.tops[a]]
            steps = [(*vector[:a], vector[a] + 1, *vector[a + 1 :]) for a in ups]
            progress = np.empty(len(steps) + 1)
            both = np.array([*steps, vector], dtype=np.int32)
            measure_progress(ladders.encoded.tuples, counts, *ladders.marks, both, k, labels, progress)
            added_loss = np.array([ladders.loss(step) for step in steps]) - ladders.loss(vector)
            vector = steps[int(np.argmax((progress[:-1] - progress[-1]) / np.maximum(added_loss, 1e-12)))]
            before = int(counts[labels < 0].sum())
            yield vector
            after = int(counts[labels < 0].sum())
            if climb < CLIMBS and before - after >= SHARE * left:
                break


def _ladder(attribute: Attribute, rows: NDArray[Any], *, weight: float, halvings: int) -> Ladder:
    """Return the levels of an attribute: of its hierarchy, or halves of its range, or only the suppressed level."""
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
                parts[n_known:] = 2**halving  # a missing value is unlike all others
                nodes.append(parts)
                losses.append(np.full(n_codes, 0.5**halving))
        nodes.append(np.zeros(n_codes, dtype=np.int64))
        losses.append(np.ones(n_codes))
    return Ladder(tuple(nodes), tuple(weight * float(loss @ rows) / float(rows.sum()) for loss in losses))


def covered(encoded: Encoded, problem: Problem, run: Run, halvings: int) -> Grouping:
    """Return the groups of a cover by levels; the remainder joins one group, which may be given up later."""
    labels = cover_tuples(encoded, problem.k, run, halvings=halvings)[encoded.row_tuple]
    left_over = labels < 0
    if left_over.any():
        distances = problem.distances(int(problem.row_tuple[np.argmax(left_over)]))[problem.row_tuple]
        labels[left_over] = labels[np.argmin(np.where(left_over, np.iinfo(np.int64).max, distances))]
    return Grouping.from_rows(problem, labels)
