"""What the kernels of shoaling keep at every step: all rows, passing groups, no greater cost; on many random tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.encoding.partition import tight_partition
from shoal.kernels.shoaling.anneal import anneal
from shoal.kernels.shoaling.dissolve import dissolve
from shoal.kernels.shoaling.rebuild import rebuild
from shoal.kernels.shoaling.starts.cut_blocks import cut_blocks
from shoal.kernels.shoaling.starts.k_member import gather_members
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.pricing import FULL_PRICE
from shoal.methods.shoaling.problem import Problem, prepare
from tests.losses import total_loss
from tests.unit.kernels.shoaling.problems import (
    block_of,
    empty_room,
    grown,
    poor_groups,
    problem,
    table,
    twin,
    with_room,
)

N_TABLES = 60


def check_kept(made: Problem, before: int, tuples: NDArray[np.int32], rows: NDArray[np.int64], labels: object) -> None:
    """Every row still has its group, every group passes, and nothing costs more than before."""
    grouping = Grouping.joined([(tuples, rows, np.asarray(labels, dtype=np.int32))])
    counted: Counter[int] = Counter()
    for entry, count in zip(grouping.tuples.tolist(), grouping.rows.tolist(), strict=True):
        counted[entry] += count
    assert [counted[i] for i in range(len(made.codes))] == made.counts.tolist()
    assert grouping.sizes().min() >= made.k
    assert (grouping.rows > 0).all()
    assert grouping.cost(made) <= before


@pytest.mark.parametrize("number", range(N_TABLES))
def test_prices_are_the_losses_of_the_released_cells(number: int) -> None:
    encoded = table(number, 60)
    made = prepare(encoded, 1)
    labels = np.random.default_rng(number).integers(0, 9, len(encoded.tuples)).astype(np.int32)
    grouping = Grouping.joined([(np.arange(len(labels), dtype=np.int32), made.counts, labels)])
    partition = tight_partition(encoded, grouping.labels(made))
    loss = total_loss(encoded, partition) / len(encoded.attributes)
    assert grouping.cost(made) / FULL_PRICE == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("number", range(N_TABLES))
def test_prices_are_those_of_the_twin(number: int) -> None:
    made = problem(number)
    draw = np.random.default_rng(number)
    labels = draw.integers(0, 6, len(made.codes)).astype(np.int32)
    every = np.arange(len(made.codes), dtype=np.int32)
    grouping = Grouping.joined([(every, made.counts, labels)])
    block = twin(made)
    groups = [np.flatnonzero(labels == g).tolist() for g in sorted(set(labels.tolist()))]
    assert grouping.prices(made).tolist() == [block.price(group) for group in groups]
    assert grouping.cost(made) == sum(block.cost(group) for group in groups)


@pytest.mark.parametrize("number", range(N_TABLES))
def test_grown_groups_pass(number: int) -> None:
    made = problem(number)
    labels, n_groups = grown(made)
    assert sorted(set(labels.tolist())) == list(range(n_groups))
    check_kept(made, 2**62, np.arange(len(labels), dtype=np.int32), made.counts, labels)


@pytest.mark.parametrize("number", range(N_TABLES))
def test_groups_are_given_up_only_where_that_costs_less(number: int) -> None:
    made = problem(number)
    labels = poor_groups(made)
    every, before = np.arange(len(labels), dtype=np.int32), labels.copy()
    start, n_groups = Grouping.joined([(every, made.counts, labels)]), int(labels.max()) + 1
    given_up = dissolve(block_of(made), n_groups, labels)
    check_kept(made, start.cost(made), every, made.counts, np.unique(labels, return_inverse=True)[1])
    remaining = set(labels.tolist())
    assert given_up == n_groups - len(remaining)
    stays = np.isin(before, list(remaining))
    assert labels[stays].tolist() == before[stays].tolist()  # a group that remains keeps its members


@pytest.mark.parametrize("number", range(N_TABLES))
def test_members_are_gathered_in_groups_that_pass(number: int) -> None:
    made = problem(number)
    entries, rows, labels = empty_room(2 * len(made.codes))
    n = gather_members(block_of(made), entries, rows, labels)
    check_kept(made, 2**62, entries[:n], rows[:n], labels[:n])


@pytest.mark.parametrize("room", [0, 100])
@pytest.mark.parametrize("heat", [0.0, 0.3])
@pytest.mark.parametrize("number", range(N_TABLES // 2))
def test_exchanges_keep_rows_and_never_cost_more(number: int, heat: float, room: int) -> None:
    made = problem(number)
    labels, n_groups = grown(made)
    n = len(labels)
    before = Grouping.joined([(np.arange(n, dtype=np.int32), made.counts, labels)]).cost(made)
    entries, rows, groups = with_room(made, labels, n + room)
    n = anneal(block_of(made), n_groups, 200, heat, number, entries, rows, groups)
    check_kept(made, before, entries[:n], rows[:n], groups[:n])


@pytest.mark.parametrize("number", range(N_TABLES // 2))
def test_rebuilt_groups_keep_rows_and_never_cost_more(number: int) -> None:
    made = problem(number)
    every, labels = np.arange(len(made.codes), dtype=np.int32), poor_groups(made)
    start = Grouping.joined([(every, made.counts, labels)])
    rebuild(block_of(made), int(labels.max()) + 1, 3, labels)
    check_kept(made, start.cost(made), every, made.counts, labels)


@pytest.mark.parametrize("limit", [1, 7, 30, 1000])
@pytest.mark.parametrize("number", range(10))
def test_blocks_hold_every_item_once_and_keep_their_limits(number: int, limit: int) -> None:
    made = problem(number, n_rows=120)
    n, least = len(made.codes), 5
    order, marks = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.uint8)
    factors, weights = np.ones(made.codes.shape[1]), np.ones(n, dtype=np.int64)
    cut_blocks(made.codes, weights, made.counts, *made.prices, factors, limit, least, order, marks)
    assert sorted(order.tolist()) == list(range(n))
    begins = np.flatnonzero(marks).tolist()
    assert begins[0] == 0
    for begin, end in zip(begins, [*begins[1:], n], strict=True):
        assert len(begins) == 1 or made.counts[order[begin:end]].sum() >= least
        if end - begin > limit:  # only where every cut leaves too few rows on a side
            assert (
                made.counts[order[begin:end]].sum() < 4 * least or len(np.unique(made.codes[order[begin:end], 0])) < 4
            )
