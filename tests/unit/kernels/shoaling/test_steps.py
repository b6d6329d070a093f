"""The kernels of shoaling, held against their plain twins and against what every step has to keep."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.encoding.partition import tight_partition
from shoal.hierarchy import Rule as Hierarchy
from shoal.kernels.shoaling.agglomerate import agglomerate
from shoal.kernels.shoaling.anneal import anneal
from shoal.kernels.shoaling.cut_blocks import cut_blocks
from shoal.kernels.shoaling.dissolve import eject
from shoal.kernels.shoaling.k_member import gather_members
from shoal.kernels.shoaling.rebuild import rebuild
from shoal.methods import Run
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.pricing import FULL_PRICE, Recoding
from shoal.methods.shoaling.problem import Problem, prepare
from shoal.rules import Rule
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.losses import total_loss
from tests.naive import shoaling as naive

N_TABLES = 60


def table(number: int, n_rows: int) -> Encoded:
    """A random table whose first attribute has hardly any ties, so that no two merges are equally good."""
    draw = np.random.default_rng(number)
    columns = {"x": draw.integers(0, 10**6, n_rows).astype(str)}
    for name in ("y", "z"):
        column = draw.integers(0, 8, n_rows).astype(str)
        column[draw.random(n_rows) < 0.1] = ""
        columns[name] = column
    columns["wide"] = draw.integers(0, 200, n_rows).astype(str)
    columns["few"] = draw.choice(["a", "b", "c"], n_rows, p=[0.7, 0.2, 0.1])
    copies = np.repeat(np.arange(n_rows), draw.integers(1, 4, n_rows))
    frame = pl.DataFrame({name: column[copies] for name, column in columns.items()})
    names, numbers = list(columns), ("x", "y")
    kinds = {name: Kind.NUMERIC if name in numbers else Kind.CATEGORICAL for name in names}
    hierarchies: dict[str, Hierarchy] = {}
    if number % 2:  # one hierarchy of few values, one of many
        few = {text: ("ab" if text in "ab" else "other", "*") for text in "abc"}
        many = {str(v): (f"f{v // 5}", f"g{v // 40}", "*") for v in range(200)}
        hierarchies = {"few": hierarchy.from_dict(few), "wide": hierarchy.from_dict(many)}
    schema = Schema.build(names, {Role.QI: names}, kinds=kinds)
    return encode(from_frame(frame), schema, hierarchies)


def problem(number: int, n_rows: int = 40) -> Problem:
    rules = (Rule("x", inflection=(500_000, 500_001)), Rule("x", inflection=(300_000, 600_000), importance=2))
    return prepare(table(number, n_rows), number % 8 + 1, run=Run(rules=rules if number % 3 == 0 else ()))


def twin(made: Problem) -> naive.Block:
    attributes: list[naive.Number | naive.Category | naive.Leaves | naive.Sides] = []
    for a, unit in enumerate(made.prices.units.tolist()):
        places = made.prices.places[made.prices.offsets[a] : made.prices.offsets[a + 1]].tolist()
        twins = {
            Recoding.SET: naive.Category(unit),
            Recoding.RANGE: naive.Number(places, unit),
            Recoding.TREE: naive.Leaves(places),
            Recoding.RULE: naive.Sides(unit),
        }
        attributes.append(twins[Recoding(made.prices.kinds[a])])
    return naive.Block(made.codes.tolist(), made.counts.tolist(), attributes, made.k)


def grown(made: Problem) -> tuple[NDArray[np.int32], int]:
    labels = np.empty(len(made.codes), dtype=np.int32)
    every = np.arange(len(made.codes), dtype=np.int32)
    n_groups = agglomerate(made.codes, every, made.counts, *made.prices, *made.required, labels)
    return labels, n_groups


def as_sets(labels: NDArray[np.int32]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for entry, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(entry)
    return sorted(groups.values())


def check_kept(made: Problem, before: int, tuples: NDArray[np.int32], rows: NDArray[np.int64], labels: object) -> None:
    """Every row still has its group, every group is ripe, and nothing costs more than before."""
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
    grouping = Grouping.of_labels(made, labels)
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
def test_groups_grow_as_those_of_the_twin(number: int) -> None:
    made = problem(number)
    labels, n_groups = grown(made)
    assert sorted(set(labels.tolist())) == list(range(n_groups))
    assert as_sets(labels) == sorted(sorted(group) for group in naive.agglomerate(twin(made)))


@pytest.mark.parametrize("number", range(N_TABLES))
def test_groups_are_given_up_as_those_of_the_twin(number: int) -> None:
    made = problem(number)
    draw = np.random.default_rng(number)
    n_groups = max(1, len(made.codes) // 5)
    labels = np.sort(draw.integers(0, n_groups, len(made.codes))).astype(np.int32)
    _, labels = np.unique(labels, return_inverse=True)
    labels = labels.astype(np.int32)
    expected = naive.eject(twin(made), [np.flatnonzero(labels == g).tolist() for g in range(int(labels.max()) + 1)])
    every = np.arange(len(made.codes), dtype=np.int32)
    n_groups = int(labels.max()) + 1
    given_up = eject(made.codes, every, made.counts, *made.prices, *made.required, n_groups, labels)
    assert as_sets(labels) == sorted(sorted(group) for group in expected if group)
    assert given_up == sum(not group for group in expected)


@pytest.mark.parametrize("number", range(N_TABLES))
def test_members_are_gathered_in_ripe_groups(number: int) -> None:
    made = problem(number)
    n, room = len(made.codes), 2 * len(made.codes)
    picks, rows = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64)
    picks[:n], rows[:n] = np.arange(n), made.counts
    labels = np.zeros(room, dtype=np.int32)
    n = gather_members(made.codes, picks, rows, *made.prices, *made.required, n, labels)
    check_kept(made, 2**62, picks[:n], rows[:n], labels[:n])


@pytest.mark.parametrize("room", [0, 100])
@pytest.mark.parametrize("heat", [0.0, 0.3])
@pytest.mark.parametrize("number", range(N_TABLES // 2))
def test_exchanges_keep_rows_and_never_cost_more(number: int, heat: float, room: int) -> None:
    made = problem(number)
    labels, n_groups = grown(made)
    n = len(labels)
    before = Grouping.joined([(np.arange(n, dtype=np.int32), made.counts, labels)]).cost(made)
    picks, rows = np.zeros(n + room, dtype=np.int32), np.zeros(n + room, dtype=np.int64)
    groups = np.zeros(n + room, dtype=np.int32)
    picks[:n], rows[:n], groups[:n] = np.arange(n), made.counts, labels
    n = anneal(made.codes, picks, rows, *made.prices, *made.required, n, n_groups, 200, heat, number, groups)
    check_kept(made, before, picks[:n], rows[:n], groups[:n])


@pytest.mark.parametrize("number", range(N_TABLES // 2))
def test_rebuilt_groups_keep_rows_and_never_cost_more(number: int) -> None:
    made = problem(number)
    every = np.arange(len(made.codes), dtype=np.int32)
    # Groups of like first codes, far from good.
    cuts = np.cumsum(made.counts) // max(2 * made.k, 12)
    _, labels = np.unique(np.minimum(cuts, cuts[-1] - 1 if cuts[-1] > 0 else 0), return_inverse=True)
    labels = labels.astype(np.int32)
    start = Grouping.joined([(every, made.counts, labels)])
    if start.sizes().min() < made.k:
        pytest.skip("no ripe groups to begin with")
    rebuild(made.codes, every, made.counts, *made.prices, *made.required, int(labels.max()) + 1, 3, labels)
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
