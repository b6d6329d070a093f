"""The steps of shoaling that part entries, cut blocks, exchange rows or grow groups again, held against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.kernels.shoaling.anneal import anneal
from shoal.kernels.shoaling.cut_blocks import cut_blocks
from shoal.kernels.shoaling.k_member import gather_members
from shoal.kernels.shoaling.rebuild import rebuild
from shoal.methods.shoaling.problem import Problem
from tests.naive import blocks as naive_blocks
from tests.naive import exchanges as naive_exchanges
from tests.naive import gathering as naive_gathering
from tests.naive import rebuilding as naive_rebuilding
from tests.unit.kernels.shoaling.test_steps import grown, problem, twin

N_TABLES = 12


def poor_groups(made: Problem) -> NDArray[np.int32]:
    """Groups of tuples that follow on each other, far from good, and each with k rows."""
    cuts = np.cumsum(made.counts) // (2 * made.k + 2)
    _, labels = np.unique(np.minimum(cuts, max(cuts[-1] - 1, 0)), return_inverse=True)
    return labels.astype(np.int32)


@pytest.mark.parametrize("spare", [0, 3, 100])
@pytest.mark.parametrize("number", range(N_TABLES))
def test_members_are_gathered_as_by_the_twin(number: int, spare: int) -> None:
    made = problem(number)
    n = len(made.codes)
    room = n + spare
    picks, rows = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64)
    picks[:n], rows[:n] = np.arange(n), made.counts
    labels = np.zeros(room, dtype=np.int32)
    n = gather_members(made.codes, picks, rows, *made.prices, *made.required, n, labels)
    expected = naive_gathering.gather_members(twin(made), room)
    assert picks[:n].tolist() == expected.picks
    assert rows[:n].tolist() == expected.rows
    assert labels[:n].tolist() == expected.groups


@pytest.mark.parametrize("limit", [20, 70, 300])
@pytest.mark.parametrize("number", range(N_TABLES))
def test_blocks_are_cut_as_by_the_twin(number: int, limit: int) -> None:
    made = problem(number, n_rows=120)
    draw = np.random.default_rng(number)
    n, least = len(made.codes), number + 1
    order, marks = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.uint8)
    factors = np.array([0.1, 0.3, 0.5, 0.8, 1.1, 0.2, 0.6])[draw.permutation(made.codes.shape[1])]
    weights = draw.integers(1, 6, n)
    cut_blocks(made.codes, weights, made.counts, *made.prices, factors, limit, least, order, marks)
    expected = naive_blocks.cut_blocks(twin(made), weights.tolist(), factors.tolist(), limit, least)
    assert [part.tolist() for part in np.split(order, np.flatnonzero(marks)[1:])] == expected


@pytest.mark.parametrize("start", ["grown", "poor"])
@pytest.mark.parametrize(("heat", "spare"), [(0.0, 100), (0.3, 0), (0.3, 3), (0.3, 100)])
@pytest.mark.parametrize("number", range(N_TABLES))
def test_rows_are_exchanged_as_by_the_twin(number: int, heat: float, spare: int, start: str) -> None:
    made = problem(number, n_rows=24)
    labels = grown(made)[0] if start == "grown" else poor_groups(made)
    n, n_groups = len(labels), int(labels.max()) + 1
    room = n + spare
    picks, rows = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64)
    groups = np.zeros(room, dtype=np.int32)
    picks[:n], rows[:n], groups[:n] = np.arange(n), made.counts, labels
    n = anneal(made.codes, picks, rows, *made.prices, *made.required, n, n_groups, 40, heat, number, groups)
    expected = naive_exchanges.anneal(twin(made), labels.tolist(), room, 40, heat, number)
    assert picks[:n].tolist() == expected.picks
    assert rows[:n].tolist() == expected.rows
    assert groups[:n].tolist() == expected.group


@pytest.mark.parametrize("partners", [1, 3])
@pytest.mark.parametrize("number", range(N_TABLES))
def test_groups_are_rebuilt_as_by_the_twin(number: int, partners: int) -> None:
    made = problem(number)
    labels = poor_groups(made)
    expected = naive_rebuilding.rebuild(twin(made), labels.tolist(), partners)
    every = np.arange(len(made.codes), dtype=np.int32)
    n_groups = int(labels.max()) + 1
    n_groups = rebuild(made.codes, every, made.counts, *made.prices, *made.required, n_groups, partners, labels)
    assert [np.flatnonzero(labels == g).tolist() for g in range(n_groups)] == [sorted(group) for group in expected]
