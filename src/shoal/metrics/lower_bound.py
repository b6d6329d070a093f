"""A lower bound on the loss of every k-anonymous release of a table: how far from the best a result can be at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded

if TYPE_CHECKING:
    from shoal.kernels.bound import Floors

__all__ = ["lower_bound"]

MOST_ATTRIBUTES = 10
MOST_ROWS = 10**6
# Steps over all tuples, at about 10 ns each, where there is little time and where there is enough; a tuple has its
# equal share of them, but no more than the third number.
FEW_STEPS = 10**8
MOST_STEPS = 4 * 10**9
MOST_STEPS_OF_A_TUPLE = 250_000
# Where the steps are too few for most of so many tuples, the others are not tried.
PROBE = 1000
# Sharing sorts what it steps over, so it has fewer; it is worth most where k is small.
MOST_STEPS_SHARING = 10**8
# A tuple is raised to at most this multiple of its floor, over so many levels of loss, so many times. All are valid.
CAP = 1.4
LEVELS = 10
ROUNDS = 2
# Sums of floats may be off by less than this share; the bound gives it away.
ROUNDING = 1e-9


def lower_bound(encoded: Encoded, k: int, *, thorough: bool = True) -> float | None:
    """Return what every k-anonymous local recoding without suppressed rows loses at least: its NCP, weights 1.

    Local recoding: ranges of numbers and dates, sets of categories. None where the bound is not computed: more than 10
    quasi-identifiers or a million rows, hierarchies, fewer than k rows, or more work than a fixed number of steps;
    there are fewer of these where it need not be thorough. The bound and its proof are in docs/concepts/lower-
    bound.md.
    """
    attributes, n_rows = encoded.attributes, encoded.n_rows
    if len(attributes) > MOST_ATTRIBUTES or not k <= n_rows <= MOST_ROWS:
        return None
    if any(attribute.tree is not None for attribute in attributes):
        return None
    needy = int((encoded.counts < k).sum())
    if needy == 0:
        return 0.0
    counts, tuples = prepare(encoded)
    steps = MOST_STEPS if thorough else FEW_STEPS
    floors = np.zeros(len(counts))
    for n in (min(PROBE, len(counts)), len(counts)):
        tuples.find(k, min(MOST_STEPS_OF_A_TUPLE, steps // needy), floors[:n])
        unknown = (floors[:n] == 0.0) & (counts[:n] < k)
        if 2 * int(unknown.sum()) > n:
            return None  # the steps were too few to know anything of most tuples
    carried = share(tuples, k, min(MOST_STEPS_OF_A_TUPLE, MOST_STEPS_SHARING // needy), floors)
    return float(carried @ counts) / (n_rows * len(attributes)) * (1.0 - ROUNDING)


def share(tuples: Floors, k: int, patience: int, floors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the floors, raised where every group with a tuple loses more than the floors of its rows add up to."""
    caps, carried, weights = CAP * floors, floors, np.ones(len(floors))
    for _ in range(ROUNDS):
        raised = np.empty(len(floors))
        tuples.share(k, patience, LEVELS, floors, caps, weights, carried, raised)
        weights = (raised > carried).astype(np.float64)  # a tuple that cannot be raised leaves its share to the others
        carried = raised
    return carried


def kernel_order(encoded: Encoded) -> list[int]:
    """Return the places of the attributes: the dearest categories first, which ends a search early, numbers last."""
    attributes = encoded.attributes
    return sorted(range(len(attributes)), key=lambda a: (attributes[a].ordered, len(attributes[a].texts)))


def prepare(encoded: Encoded) -> tuple[NDArray[np.int64], Floors]:
    """Return the rows of each tuple in the order of the kernel, and the tuples as it takes them."""
    from shoal.kernels.bound import Floors

    places = kernel_order(encoded)
    order = [encoded.attributes[a] for a in places]
    codes = encoded.tuples[:, places]
    ranks = np.lexsort(codes.T[::-1])
    codes, counts = np.ascontiguousarray(codes[ranks]), np.ascontiguousarray(encoded.counts[ranks])
    values = [a.values if a.ordered else np.zeros(len(a.texts)) for a in order]
    skips = np.empty((len(order), len(codes)), dtype=np.int32)
    begins = np.zeros(len(codes), dtype=bool)
    begins[0] = True
    for a in range(len(order)):
        begins[1:] |= codes[1:, a] != codes[:-1, a]
        ends = np.append(np.flatnonzero(begins)[1:], len(codes))
        skips[a] = ends[np.cumsum(begins) - 1]
    return counts, Floors(
        codes,
        counts,
        np.array([a.ordered for a in order], dtype=np.uint8),
        np.array([a.span for a in order]),
        np.array([a.missing for a in order], dtype=np.int32),
        np.concatenate(values),
        np.cumsum([0, *map(len, values)], dtype=np.int64),
        skips,
    )
