"""A lower bound on the loss of every k-anonymous release of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries

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
# The shares of groups: steps of 40 ns for all tuples, and for one share of one tuple; how many shares are tried, and
# each over the one before. The first is START times the mean of two prices in a release. Any values are valid.
STEPS_OF_SHARES = 15 * 10**8
PATIENCE = 10**6
TRIES, FEWER = 8, 0.8
START = 1.05
MOST_PRICES = 10**10  # groups of a release times tuples
# Relative error of sums of floats, and what a sum of shares may exceed the loss of a group by; the bound is lowered by
# both.
ROUNDING, TOLERANCE = 1e-9, 1e-12


def lower_bound(encoded: Encoded, k: int, *, thorough: bool = True, groups: Entries | None = None) -> float | None:
    """Return a lower bound on the NCP (weights 1) of every k-anonymous local recoding without suppressed rows.

    Local recoding uses ranges of numbers and dates and sets of categories. docs/concepts/lower-bound.md has the proof.

    Args:
        encoded: The table.
        k: The least group size.
        thorough: Spend more steps.
        groups: The groups of a release, to start from. A thorough search then also divides the loss of groups among
            their rows. That takes up to a minute, and gives a higher bound, the better the release.

    Returns:
        The bound, or None if it is not computed: for more than 10 quasi-identifiers or a million rows, with
        hierarchies, for fewer than k rows, or if a fixed number of steps does not suffice.
    """
    from shoal.kernels.bound import Floors

    attributes, n_rows = encoded.attributes, encoded.n_rows
    if len(attributes) > MOST_ATTRIBUTES or not k <= n_rows <= MOST_ROWS:
        return None
    if any(attribute.tree is not None for attribute in attributes):
        return None
    n_small = int((encoded.counts < k).sum())
    if n_small == 0:
        return 0.0
    columns = prepare(encoded)
    counts, tuples = columns.counts, Floors(*columns[:-1])
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
    total = float(carried @ counts)
    if thorough and groups is not None:
        divided = divide(encoded, columns, k, floors, groups)
        total = max(total, 0.0 if divided is None else float(divided @ counts) - TOLERANCE * n_rows)
    return total / (n_rows * len(attributes)) * (1.0 - ROUNDING)


def divide(
    encoded: Encoded, columns: Columns, k: int, floors: NDArray[np.float64], groups: Entries
) -> NDArray[np.float64] | None:
    """Divide the loss of groups among their rows: no k to 2k - 1 rows have a greater sum of shares than they lose.

    Returns:
        The share of a row of each tuple, which may be negative; None if the steps do not suffice.
    """
    from shoal.kernels.shares import Shares

    places = np.empty(len(columns.ranks), dtype=np.int64)
    places[columns.ranks] = np.arange(len(places))
    released = groups.groups >= 0
    pairs = np.unique(groups.groups[released].astype(np.int64) << 32 | places[groups.tuples[released]])
    begins = np.append(np.flatnonzero(np.diff(pairs >> 32, prepend=-1)), len(pairs))
    if not len(pairs) or len(begins) * len(places) > MOST_PRICES:
        return None
    shares = Shares(*columns[:-1])
    own, joined = np.empty(len(places)), np.empty(len(places))
    shares.price_groups((pairs & 0xFFFFFFFF).astype(np.int32), begins, own, joined)
    # A row that another group could take in at a low price is more than its group needs: between the two prices.
    wanted = START * np.sqrt(np.minimum(own, float(len(encoded.attributes))) * joined)
    wanted = np.where(columns.counts < k, np.maximum(wanted, floors), 0.0)
    order = np.argsort(wanted, kind="stable").astype(np.int32)
    divided = np.zeros(len(places))
    suffice = shares.lower(k, STEPS_OF_SHARES, PATIENCE, TRIES, FEWER, order, floors, wanted, divided)
    return divided if suffice else None


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


class Columns(NamedTuple):
    """The distinct tuples of a table as the kernels read them; `ranks` sorts the tuples of the table."""

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    ordered: NDArray[np.uint8]
    spans: NDArray[np.float64]
    missing: NDArray[np.int32]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    skips: NDArray[np.int32]
    ranks: NDArray[np.int64]


def prepare(encoded: Encoded) -> Columns:
    """Return the tuples in the order of the kernels."""
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
    return Columns(
        codes,
        counts,
        np.array([a.ordered for a in order], dtype=np.uint8),
        np.array([a.span for a in order]),
        np.array([a.missing for a in order], dtype=np.int32),
        np.concatenate(values),
        np.cumsum([0, *map(len, values)], dtype=np.int64),
        skips,
        ranks,
    )
