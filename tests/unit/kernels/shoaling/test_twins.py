"""The kernels of shoaling follow their plain twins step by step, on a few tables.

The steps are heuristics: what counts is what they keep, which test_steps.py checks on many tables. The twins show that
the kernels do what they are described to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.kernels.shoaling.anneal import anneal
from shoal.kernels.shoaling.dissolve import dissolve
from shoal.kernels.shoaling.prices import TERM_KINDS
from shoal.kernels.shoaling.rebuild import rebuild
from shoal.kernels.shoaling.starts.cut_blocks import cut_blocks
from shoal.kernels.shoaling.starts.k_member import gather_members
from shoal.kernels.shoaling.starts.mixed_cuts import cut_mixed
from shoal.methods.shoaling.pricing import Recoding
from tests.naive import blocks as naive_blocks
from tests.naive import exchanges as naive_exchanges
from tests.naive import gathering as naive_gathering
from tests.naive import mixing as naive_mixing
from tests.naive import rebuilding as naive_rebuilding
from tests.naive import shoaling as naive
from tests.unit.kernels.shoaling.problems import block_of, empty_room, grown, poor_groups, problem, twin, with_room

# With and without hierarchies (odd numbers), rules (multiples of 3) and limits (from 7 on), k = 2, 4, 5 and 7.
FEW_TABLES = (1, 3, 4, 6, 8, 9)
# Growth may leave several clusters that share a person; that happens in few tables, so these are many and small.
MANY_TABLES, SMALL = range(1, 13), 28


def as_sets(labels: NDArray[np.int32]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for entry, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(entry)
    return sorted(groups.values())


@pytest.mark.parametrize("spare", [0, 3, 100])
@pytest.mark.parametrize("number", FEW_TABLES)
def test_members_are_gathered_as_by_the_twin(number: int, spare: int) -> None:
    made = problem(number)
    room = len(made.codes) + spare
    entries, rows, labels = empty_room(room)
    n = gather_members(block_of(made), entries, rows, labels)
    expected = naive_gathering.gather_members(twin(made), room)
    assert entries[:n].tolist() == expected.picks
    assert rows[:n].tolist() == expected.rows
    assert labels[:n].tolist() == expected.groups


@pytest.mark.parametrize("limit", [20, 70, 300])
@pytest.mark.parametrize("number", FEW_TABLES)
def test_blocks_are_cut_as_by_the_twin(number: int, limit: int) -> None:
    made = problem(number, n_rows=120)
    draw = np.random.default_rng(number)
    n, least = len(made.codes), number + 1
    order, marks = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.uint8)
    factors = np.array([0.1, 0.3, 0.5, 0.8, 1.1, 0.2, 0.6, 0.4, 0.9])[draw.permutation(made.codes.shape[1])]
    weights = draw.integers(1, 6, n)
    cut_blocks(made.codes, weights, made.counts, *made.prices, factors, limit, least, order, marks)
    expected = naive_blocks.cut_blocks(twin(made), weights.tolist(), factors.tolist(), limit, least)
    assert [part.tolist() for part in np.split(order, np.flatnonzero(marks)[1:])] == expected


@pytest.mark.parametrize("start", ["grown", "poor"])
@pytest.mark.parametrize(("heat", "spare"), [(0.0, 100), (0.3, 0), (0.3, 3), (0.3, 100)])
@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("number", FEW_TABLES)
def test_rows_are_exchanged_as_by_the_twin(
    number: int, heat: float, spare: int, start: str, *, with_people: bool
) -> None:
    made = problem(number, n_rows=24, with_people=with_people)
    labels = grown(made)[0] if start == "grown" else poor_groups(made)
    room, n_groups = len(labels) + spare, int(labels.max()) + 1
    entries, rows, groups = with_room(made, labels, room)
    n = anneal(block_of(made), n_groups, 40, heat, number, entries, rows, groups)
    expected = naive_exchanges.anneal(twin(made), labels.tolist(), room, 40, heat, number)
    assert entries[:n].tolist() == expected.picks
    assert rows[:n].tolist() == expected.rows
    assert groups[:n].tolist() == expected.group


@pytest.mark.parametrize("partners", [1, 3])
@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("number", MANY_TABLES)
def test_groups_are_rebuilt_as_by_the_twin(number: int, partners: int, *, with_people: bool) -> None:
    made = problem(number, n_rows=SMALL, with_people=with_people)
    labels = poor_groups(made)
    expected = naive_rebuilding.rebuild(twin(made), labels.tolist(), partners)
    n_groups = rebuild(block_of(made), int(labels.max()) + 1, partners, labels)
    assert [np.flatnonzero(labels == g).tolist() for g in range(n_groups)] == [sorted(group) for group in expected]


@pytest.mark.parametrize("spare", [0, 100])
@pytest.mark.parametrize("number", FEW_TABLES)
def test_a_population_decides_as_for_the_twin(number: int, spare: int) -> None:
    """Groups grow, are given up and exchange rows; their cells must cover enough rows of a population."""
    made = problem(number, n_rows=24, with_population=True)
    assert twin(made).least_covered
    labels, _ = grown(made)
    assert as_sets(labels) == sorted(sorted(group) for group in naive.agglomerate(twin(made)))
    _, dense = np.unique(labels, return_inverse=True)
    labels = dense.astype(np.int32)
    room, n_groups = len(labels) + spare, int(labels.max()) + 1
    entries, rows, groups = with_room(made, labels, room)
    n = anneal(block_of(made), n_groups, 40, 0.3, number, entries, rows, groups)
    expected = naive_exchanges.anneal(twin(made), labels.tolist(), room, 40, 0.3, number)
    assert entries[:n].tolist() == expected.picks
    assert rows[:n].tolist() == expected.rows
    assert groups[:n].tolist() == expected.group


@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("number", [*FEW_TABLES, 9])
def test_mixed_cuts_are_those_of_the_twin(number: int, *, with_people: bool) -> None:
    """The first value of three may have half of the rows of a group, though it has more than half where x is small."""
    made = problem(number, n_rows=90, with_people=with_people)
    block, draw = twin(made), np.random.default_rng(number)
    x = next(a for a, kind in enumerate(made.prices.kinds) if kind == Recoding.RANGE)
    small = made.codes[:, x] < np.median(made.codes[:, x])
    classes = np.where(draw.random(len(small)) < np.where(small, 0.7, 0.1), 0, draw.integers(1, 3, len(small)))
    most = max(0.5, float(made.counts[classes == 0].sum() / made.counts.sum()))
    terms = np.array([[TERM_KINDS["largest"], 0, 3, -1, most, 1]])
    facts, positions = np.zeros((3, 2)), np.arange(3, dtype=np.int32).reshape(-1, 1)
    order, marks = np.arange(len(classes), dtype=np.int32), np.zeros(len(classes), dtype=np.uint8)
    classes = classes.astype(np.int32)
    sizes = made.k, positions, terms, facts, np.zeros((0, 2), dtype=np.int64)
    cut_mixed(made.codes, made.counts, classes, made.people, *made.prices, *sizes, order, marks)

    def passes(entries: Sequence[int]) -> bool:
        rows = [sum(block.rows[e] for e in entries if classes[e] == c) for c in range(3)]
        return block.passes(entries) and max(rows) <= most * sum(rows)

    groups = [part.tolist() for part in np.split(order, np.flatnonzero(marks)[1:])]
    assert len(groups) > 1
    assert [sorted(group) for group in groups] == [
        sorted(group) for group in naive_mixing.cut_mixed(block, classes.tolist(), passes)
    ]


@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("number", MANY_TABLES)
def test_groups_grow_as_those_of_the_twin(number: int, *, with_people: bool) -> None:
    made = problem(number, n_rows=SMALL, with_people=with_people)
    labels, n_groups = grown(made)
    assert sorted(set(labels.tolist())) == list(range(n_groups))
    assert as_sets(labels) == sorted(sorted(group) for group in naive.agglomerate(twin(made)))


@pytest.mark.parametrize("charge", [0, 1 << 30])
@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("number", MANY_TABLES)
def test_groups_are_given_up_as_those_of_the_twin(number: int, charge: int, *, with_people: bool) -> None:
    made = problem(number, n_rows=SMALL, with_people=with_people)
    draw = np.random.default_rng(number)
    n_groups = max(1, len(made.codes) // 5)
    labels = np.sort(draw.integers(0, n_groups, len(made.codes))).astype(np.int32)
    _, labels = np.unique(labels, return_inverse=True)
    labels = labels.astype(np.int32)
    expected = naive.dissolve(
        replace(twin(made), charge=charge), [np.flatnonzero(labels == g).tolist() for g in range(int(labels.max()) + 1)]
    )
    given_up = dissolve(replace(block_of(made), charge=charge), int(labels.max()) + 1, labels)
    assert as_sets(labels) == sorted(sorted(group) for group in expected if group)
    assert given_up == sum(not group for group in expected)
