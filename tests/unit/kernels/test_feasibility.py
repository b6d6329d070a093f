"""The kernel that draws tables against its twin: cells counted in place, groups looked up, pools and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import pytest

from shoal.kernels.feasibility import repeat
from tests.naive import feasibility

Attributes = Sequence[int | Sequence[int]]


def drawn(states: list[int], rows: int, k: int, attributes: Attributes, *, counted: bool) -> list[bool]:
    cards = [each if isinstance(each, int) else max(each) + 1 for each in attributes]
    pools = [[] if isinstance(each, int) else list(each) for each in attributes]
    starts = np.cumsum([0, *map(len, pools)])
    succeeded = np.full(len(states), 7, dtype=np.uint8)
    repeat(
        np.array(states, dtype=np.uint64),
        rows,
        k,
        prod(cards) if counted else 0,
        np.array([card if not pool else len(pool) for card, pool in zip(cards, pools, strict=True)], dtype=np.uint64),
        np.array([start if pool else -1 for start, pool in zip(starts, pools, strict=False)], dtype=np.int64),
        np.array([code for pool in pools for code in pool], dtype=np.int32),
        np.array([prod(cards[:a]) for a in range(len(cards))], dtype=np.uint64),
        succeeded,
    )
    return [bool(one) for one in succeeded]


CASES: list[tuple[int, int, Attributes]] = [
    (1, 1, [3]),
    (1, 2, [1]),
    (40, 3, [8]),
    (60, 3, [2, 2, 2]),
    (30, 2, [3, 5]),
    (40, 4, [[0, 0, 0, 0, 1, 2], 2]),
    (25, 2, [[0, 0, 0, 0, 0, 0, 0, 0, 1]]),
    (8, 9, [1]),
    (9, 9, [1]),
]


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(("rows", "k", "attributes"), CASES)
def test_tables_succeed_as_those_of_the_twin(rows: int, k: int, attributes: Attributes, counted: bool) -> None:
    states = [seed * 0x123456789ABCDEF % 2**64 for seed in range(40)]
    expected = [feasibility.succeeds(state, rows, k, attributes) for state in states]
    assert drawn(states, rows, k, attributes, counted=counted) == expected


def test_cases_have_both_outcomes() -> None:
    assert {feasibility.succeeds(state, 40, 3, [8]) for state in range(40)} == {True, False}


@pytest.mark.parametrize("cells", [2**32, 2**32 + 1, 3 * 2**40, 2**62])
def test_grids_beyond_32_bits_are_drawn_as_by_the_twin(cells: int) -> None:
    states = list(range(5))
    assert drawn(states, 6, 1, [cells], counted=False) == [True] * 5
    assert drawn(states, 6, 2, [cells], counted=False) == [feasibility.succeeds(s, 6, 2, [cells]) for s in states]


def test_draws_that_would_favour_some_are_thrown_away_as_by_the_twin() -> None:
    """A quarter of the draws below 3 * 2^30 are; the attribute counts nothing in the key, the one after it does."""
    bound, states = 3 * 2**30, list(range(60))
    expected = []
    for state in states:
        stream = feasibility.Stream(state)
        codes = [(feasibility.draw_evenly(stream, bound), feasibility.draw_evenly(stream, 2))[1] for _ in range(20)]
        expected.append(all(codes.count(code) >= 8 for code in set(codes)))
    assert {True, False} == set(expected)
    succeeded = np.empty(len(states), dtype=np.uint8)
    sizes, none, places = np.array([bound, 2], dtype=np.uint64), np.full(2, -1), np.array([0, 1], dtype=np.uint64)
    repeat(np.array(states, dtype=np.uint64), 20, 8, 2, sizes, none, np.empty(0, dtype=np.int32), places, succeeded)
    assert succeeded.tolist() == expected


def test_draws_are_even_where_the_bound_is_no_power_of_two() -> None:
    """Without throwing draws away, one in three numbers below 3 * 2^30 would come twice as often."""
    stream = feasibility.Stream(1)
    counts = [0, 0, 0]
    for _ in range(3000):
        counts[feasibility.draw_evenly(stream, 3 * 2**30) % 3] += 1
    assert max(abs(count - 1000) for count in counts) < 130  # five standard deviations
