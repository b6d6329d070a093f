"""Covering: the kernel against its twin, the order of the vectors, the search among many."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.kernels.shoaling.starts.cover import cover
from shoal.methods import Run, named
from shoal.methods.shoaling import level_cover
from shoal.methods.shoaling.level_cover import Ladder, Ladders, cover_tuples
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.losses import total_loss
from tests.naive import covering as naive


def table(number: int, n_rows: int = 120, n_columns: int = 3) -> Encoded:
    draw = np.random.default_rng(number)
    names = [f"c{i}" for i in range(n_columns)]
    columns = {name: draw.integers(0, 12, n_rows).astype(str) for name in names}
    columns["n"] = draw.integers(0, 90, n_rows).astype(str)
    columns["n"][draw.random(n_rows) < 0.05] = ""
    tree = hierarchy.from_dict({str(v): (f"b{v // 2}", f"d{v // 6}", "*") for v in range(12)})
    kinds = dict.fromkeys(names, Kind.CATEGORICAL) | {"n": Kind.NUMERIC}
    schema = Schema.build([*names, "n"], {Role.QI: [*names, "n"]}, kinds=kinds)
    return encode(from_frame(pl.DataFrame(columns)), schema, dict.fromkeys(names[:-1], tree))


@pytest.mark.parametrize("number", range(20))
def test_groups_are_those_of_the_twin(number: int) -> None:
    encoded = table(number)
    draw = np.random.default_rng(number)
    ladders = Ladders(
        encoded,
        tuple(
            Ladder(tuple(np.sort(draw.integers(0, n, len(a.texts))) for n in (50, 6, 1)), (0.0, 0.5, 1.0))
            for a in encoded.attributes
        ),
    )
    vectors = list(ladders.ascending())
    k = 2 + number % 7
    labels = np.full(len(encoded.tuples), -1, dtype=np.int32)
    n_groups = cover(encoded.tuples, encoded.counts, *ladders.marks, np.array(vectors, dtype=np.int32), k, 0, labels)
    nodes = [[level.tolist() for level in ladder.nodes] for ladder in ladders.ladders]
    expected = naive.cover(encoded.tuples.tolist(), encoded.counts.tolist(), nodes, vectors, k)
    assert [np.flatnonzero(labels == g).tolist() for g in range(n_groups)] == expected


def test_vectors_come_by_loss_and_each_once() -> None:
    ladders = Ladders(
        table(1), tuple(Ladder((np.arange(2),) * n, tuple(float(i * i) for i in range(n))) for n in (3, 1, 4, 2))
    )
    vectors = list(ladders.ascending())
    assert sorted(vectors) == sorted(product(range(3), range(1), range(4), range(2)))
    losses = [ladders.loss(vector) for vector in vectors]
    assert losses == sorted(losses)


@pytest.mark.parametrize("few", [True, False])
def test_fewer_than_k_rows_are_left_over(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not few:  # as if there were too many vectors to list
        monkeypatch.setattr(level_cover, "MOST_VECTORS", 1)
    encoded = table(2)
    labels = cover_tuples(encoded, 5, Run(), halvings=3)
    sizes = np.bincount(labels[labels >= 0], encoded.counts[labels >= 0])
    assert sizes.min() >= 5
    assert encoded.counts[labels < 0].sum() < 5


@pytest.mark.parametrize("k", [2, 5, 30])
@pytest.mark.parametrize("effort", ["fast", "normal"])
def test_hierarchies_steer_shoaling(effort: str, k: int) -> None:
    """With hierarchies, too, shoaling loses no more than Mondrian."""
    encoded = table(3, 600)
    losses = [
        total_loss(encoded, named(name, **options).partition(encoded, (KAnonymity(k),), Run()))
        for name, options in (("shoaling", {"effort": effort}), ("mondrian", {}))
    ]
    assert losses[0] <= losses[1] * (1 + 1e-6)


def test_fifteen_attributes_of_four_levels() -> None:
    encoded = table(4, 300, n_columns=15)
    made = named("shoaling", effort="fast").partition(encoded, (KAnonymity(5),), Run())
    assert np.bincount(made.labels).min() >= 5
