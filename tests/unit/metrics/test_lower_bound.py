"""The lower bound: never above the least loss that exists, and not computed where it would take too long."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import shoal.metrics.lower_bound
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.hierarchy import Hierarchy
from shoal.methods import Mondrian, Run, Shoaling
from shoal.metrics.lower_bound import kernel_order, lower_bound
from shoal.models import KAnonymity
from shoal.tables.table import from_frame
from tests.naive import bound as naive
from tests.strategies import Sheet
from tests.unit.kernels.test_bound import random_sheet, twin_input


def optimum(sheet: Sheet, k: int) -> float:
    counts, attributes = twin_input(sheet.encoded)
    return naive.optimum([t for t, n in counts.items() for _ in range(n)], attributes, k)


def loss_of(encoded: Encoded, labels: NDArray[np.int32]) -> float:
    _, attributes = twin_input(encoded)
    rows = encoded.tuples[:, kernel_order(encoded)][encoded.row_tuple]
    groups = [list(map(tuple, rows[labels == label].tolist())) for label in np.unique(labels)]
    lost = sum(len(group) * naive.group_loss(group, attributes) for group in groups)
    return lost / (encoded.n_rows * len(attributes))


def crowd(n_rows: int = 250, seed: int = 0) -> Sheet:
    """A larger table with two numbers and three categories."""
    draw = random.Random(seed)
    columns = {
        "age": [str(int(draw.gauss(40, 12))) for _ in range(n_rows)],
        "income": [str(draw.randint(10, 60) * 100) for _ in range(n_rows)],
        "town": [f"t{int(draw.expovariate(0.3))}" for _ in range(n_rows)],
        "work": [draw.choice("abcde") for _ in range(n_rows)],
        "sex": [draw.choice("mf") for _ in range(n_rows)],
    }
    return Sheet(columns, {name: "numeric" if name in ("age", "income") else "categorical" for name in columns})


@pytest.mark.parametrize("k", [2, 3])
def test_bound_is_never_above_the_optimum(k: int) -> None:
    tight = 0
    for seed in range(200):
        sheet = random_sheet(seed, max_rows=9)
        bound, least = lower_bound(sheet.encoded, k), optimum(sheet, k)
        assert bound is not None
        assert 0.0 <= bound <= least + 1e-12, f"seed {seed}"
        tight += bound > 0.8 * least > 0
    assert tight > 20, "a bound that is never near the optimum tells nothing"


def test_bound_is_never_above_the_optimum_of_many_numbers_and_twelve_rows() -> None:
    for seed in range(8):
        draw = random.Random(seed)
        columns = {f"q{i}": [str(draw.choice([1, 2, 3, 5, 9, 40])) for _ in range(12)] for i in range(4)}
        sheet = Sheet(columns, dict.fromkeys(columns, "numeric") | {"q3": "categorical"})
        for k in (2, 3):
            bound = lower_bound(sheet.encoded, k)
            assert bound is not None
            assert 0.0 < bound <= optimum(sheet, k)


@pytest.mark.parametrize(("cap", "levels", "rounds"), [(1.0, 1, 1), (1.2, 1, 3), (2.0, 4, 3), (5.0, 30, 6)])
def test_bound_is_valid_whatever_the_settings_of_sharing(
    monkeypatch: pytest.MonkeyPatch, cap: float, levels: int, rounds: int
) -> None:
    monkeypatch.setattr(shoal.metrics.lower_bound, "CAP", cap)
    monkeypatch.setattr(shoal.metrics.lower_bound, "LEVELS", levels)
    monkeypatch.setattr(shoal.metrics.lower_bound, "ROUNDS", rounds)
    for seed in range(1000, 1040):
        sheet = random_sheet(seed, max_rows=9)
        for k in (2, 3):
            bound = lower_bound(sheet.encoded, k)
            assert bound is not None
            assert bound <= optimum(sheet, k) + 1e-12, f"seed {seed}"


def test_bound_is_zero_for_a_table_that_is_k_anonymous() -> None:
    sheet = random_sheet(5, max_rows=9)
    doubled = Sheet({name: texts * 3 for name, texts in sheet.columns.items()}, sheet.kinds)
    assert lower_bound(doubled.encoded, 3) == 0.0
    assert lower_bound(sheet.encoded, 1) == 0.0


@pytest.mark.parametrize("k", [2, 3])
def test_bound_from_a_release_is_never_above_the_optimum(monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    higher = 0
    for seed in range(60):
        sheet = random_sheet(seed, max_rows=9)
        groups = Shoaling().partition(sheet.encoded, (KAnonymity(k),), Run()).entries
        least, plain = optimum(sheet, k), lower_bound(sheet.encoded, k)
        assert plain is not None
        for start in (0.5, 1.05, 3.0):
            monkeypatch.setattr(shoal.metrics.lower_bound, "START", start)
            bound = lower_bound(sheet.encoded, k, groups=groups)
            assert bound is not None
            assert plain <= bound <= least + 1e-12, f"seed {seed}"
            higher += bound > plain + 1e-6
    assert higher > 20, "a release must help"


def test_bound_from_a_release_covers_most_of_its_loss() -> None:
    encoded = crowd().encoded
    partition = Shoaling().partition(encoded, (KAnonymity(5),), Run())
    plain, bound = lower_bound(encoded, 5), lower_bound(encoded, 5, groups=partition.entries)
    assert plain is not None
    assert bound is not None
    assert bound > 1.1 * plain
    assert bound < loss_of(encoded, partition.labels)


def test_bound_of_one_group_is_its_loss() -> None:
    sheet = Sheet({"age": ["20", "30", "70"], "sex": ["f", "m", "m"]}, {"age": "numeric", "sex": "categorical"})
    assert lower_bound(sheet.encoded, 3) == pytest.approx(1.0)
    assert optimum(sheet, 3) == 1.0


def test_bound_grows_with_k_and_stays_below_a_release() -> None:
    encoded = crowd().encoded
    bounds = [lower_bound(encoded, k) or 0.0 for k in (1, 2, 3, 5, 10, 20, 50, 100, 250)]
    assert bounds == sorted(bounds)
    assert bounds[1] > 0.0
    for k in (2, 5, 20):
        labels = Mondrian().partition(encoded, (KAnonymity(k),), Run()).labels
        assert (lower_bound(encoded, k) or 0.0) < loss_of(encoded, labels)


def test_sharing_raises_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = crowd().encoded
    shared = lower_bound(encoded, 3)
    monkeypatch.setattr(shoal.metrics.lower_bound, "ROUNDS", 0)
    floors_only = lower_bound(encoded, 3)
    assert shared is not None
    assert floors_only is not None
    assert shared > 1.01 * floors_only


def test_bound_does_not_depend_on_the_order_of_rows_and_columns() -> None:
    sheet = crowd(100)
    names = list(reversed(sheet.names))
    turned = Sheet({name: sheet.columns[name][::-1] for name in names}, {name: sheet.kinds[name] for name in names})
    assert lower_bound(sheet.encoded, 4) == pytest.approx(lower_bound(turned.encoded, 4), rel=1e-12)


def test_bound_is_not_computed_beyond_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = crowd(30)
    assert lower_bound(sheet.encoded, 31) is None
    wide = Sheet({f"q{i}": ["a", "b"] for i in range(11)}, {f"q{i}": "categorical" for i in range(11)})
    assert lower_bound(wide.encoded, 2) is None
    monkeypatch.setattr(shoal.metrics.lower_bound, "MOST_ROWS", 29)
    assert lower_bound(sheet.encoded, 2) is None


def test_bound_is_not_computed_with_a_hierarchy() -> None:
    sheet = Sheet({"sex": ["m", "f", "f"]}, {"sex": "categorical"})
    hierarchy = Hierarchy({"m": ("*",), "f": ("*",)})
    encoded = encode(from_frame(sheet.frame), sheet.schema, {"sex": hierarchy})
    assert lower_bound(encoded, 2) is None
    assert lower_bound(replace(encoded, attributes=sheet.encoded.attributes), 2) is not None


def test_bound_is_not_computed_where_the_steps_are_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = crowd().encoded
    monkeypatch.setattr(shoal.metrics.lower_bound, "MOST_STEPS", 1000)
    assert lower_bound(encoded, 5) is None


def test_bound_leaves_its_input_as_it_was() -> None:
    encoded = crowd(50).encoded
    before = encoded.tuples.copy(), encoded.counts.copy()
    lower_bound(encoded, 5)
    assert np.array_equal(before[0], encoded.tuples)
    assert np.array_equal(before[1], encoded.counts)
