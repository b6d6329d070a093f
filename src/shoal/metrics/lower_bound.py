"""A lower bound on the loss of every k-anonymous release of a table."""

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
# Budgets of steps over all tuples, at 10 to 20 ns each. The steps of the quick bound grow with the table, so that it
# costs at most a fifth of a run. Each tuple gets an equal share of the steps, up to the last number.
BASE_STEPS = 8 * 10**6
STEPS_OF_A_ROW = 400
MOST_QUICK_STEPS = 8 * 10**7
MOST_STEPS = 4 * 10**9
MOST_STEPS_OF_A_TUPLE = 250_000
# If the steps do not suffice for most of this many tuples, the others are not tried.
PROBE = 1000
# Sharing also sorts what it steps over, so it gets fewer steps; it gains most for small k.
QUICK_STEPS_TO_SHARED = 20
MOST_STEPS_SHARING = 10**8
# A tuple is raised to at most CAP times its floor, over LEVELS levels of loss, in ROUNDS rounds. Any values are valid.
CAP = 1.4
LEVELS = 10
ROUNDS = 2
# Relative error of sums of floats; the bound is lowered by it.
ROUNDING = 1e-9


def lower_bound(encoded: Encoded, k: int, *, thorough: bool = True) -> float | None:
    """Return a lower bound on the NCP (weights 1) of every k-anonymous local recoding without suppressed rows.

    Local recoding uses ranges of numbers and dates and sets of categories. docs/concepts/lower-bound.md has the proof.

    Args:
        encoded: The table.
        k: The least group size.
        thorough: Spend more steps.

    Returns:
        The bound, or None if it is not computed: for more than 10 quasi-identifiers or a million rows, with
        hierarchies, for fewer than k rows, or if a fixed number of steps does not suffice.
    """
    attributes, n_rows = encoded.attributes, encoded.n_rows
    if len(attributes) > MOST_ATTRIBUTES or not k <= n_rows <= MOST_ROWS:
        return None
    if any(attribute.tree is not None for attribute in attributes):
        return None
    n_small = int((encoded.counts < k).sum())
    if n_small == 0:
        return 0.0
    counts, tuples = prepare(encoded)
    steps, shared_steps = MOST_STEPS, MOST_STEPS_SHARING
    if not thorough:
        steps = min(MOST_QUICK_STEPS, BASE_STEPS + STEPS_OF_A_ROW * n_rows)
        shared_steps = steps // QUICK_STEPS_TO_SHARED
    floors = np.zeros(len(counts))
    for n in (min(PROBE, len(counts)), len(counts)):
        tuples.find(k, min(MOST_STEPS_OF_A_TUPLE, steps // n_small), floors[:n])
        unknown = (floors[:n] == 0.0) & (counts[:n] < k)
        if 2 * int(unknown.sum()) > n:
            return None  # the steps did not suffice for most tuples
    carried = share(tuples, k, min(MOST_STEPS_OF_A_TUPLE, shared_steps // n_small), floors)
    return float(carried @ counts) / (n_rows * len(attributes)) * (1.0 - ROUNDING)


def share(tuples: Floors, k: int, patience: int, floors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Raise the floors of tuples whose groups all lose more than the sum of the floors of their rows."""
    caps, carried, weights = CAP * floors, floors, np.ones(len(floors))
    for _ in range(ROUNDS):
        raised = np.empty(len(floors))
        tuples.share(k, patience, LEVELS, floors, caps, weights, carried, raised)
        weights = (raised > carried).astype(np.float64)  # a tuple that cannot be raised leaves its share to others
        carried = raised
    return carried


def kernel_order(encoded: Encoded) -> list[int]:
    """Return the order of attributes: the most expensive categories first, to end a search early; numbers last."""
    attributes = encoded.attributes
    return sorted(range(len(attributes)), key=lambda a: (attributes[a].ordered, len(attributes[a].texts)))


def prepare(encoded: Encoded) -> tuple[NDArray[np.int64], Floors]:
    """Return the rows of each tuple in the order of the kernel, and the tuples as the kernel reads them."""
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
