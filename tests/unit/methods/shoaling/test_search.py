"""Shoaling as a whole: never beyond the optimum, near to it, never behind Mondrian, the same with any threads."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.errors import UsageError
from shoal.methods import Mondrian, Run, Shoaling
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.losses import total_loss
from tests.naive.optimum import columns_of, least_total

EFFORTS = ("fast", "normal", "high")
# How far above the optimum a table of two dozen rows may end with high effort; the mean is far below.
ALLOWED_GAP = 0.15


def table(seed: int, n_rows: int, *, spread: int = 30, wide: int = 40) -> Encoded:
    """A table of a number with missing values, a date-like number and three categories, one of them of many values."""
    draw = np.random.default_rng(seed)
    ages = (20 + draw.gamma(2, spread / 4, n_rows)).astype(int).astype(str)
    ages[draw.random(n_rows) < 0.05] = ""
    columns = {
        "age": ages,
        "day": draw.integers(0, 365, n_rows).astype(str),
        "sex": draw.choice(["f", "m"], n_rows),
        "job": draw.choice([f"j{i}" for i in range(9)], n_rows, p=np.arange(1, 10) / 45),
        "zip": (draw.exponential(wide / 3, n_rows).astype(int) % wide).astype(str),
    }
    names = list(columns)
    kinds = {name: Kind.NUMERIC if name in ("age", "day") else Kind.CATEGORICAL for name in names}
    return encode(from_frame(pl.DataFrame(columns)), Schema.build(names, {Role.QI: names}, kinds=kinds))


def loss(encoded: Encoded, k: int, effort: str, **run: int) -> float:
    made = Shoaling(effort).partition(encoded, (KAnonymity(k),), Run(**run))
    assert np.bincount(made.labels).min() >= k
    return total_loss(encoded, made)


@pytest.mark.parametrize(("n_rows", "k"), [(12, 2), (26, 2), (14, 3), (20, 3)])
def test_loss_lies_between_the_optimum_and_a_little_more(n_rows: int, k: int, seed: int) -> None:
    encoded = table(seed, n_rows)
    least = least_total(columns_of(encoded), n_rows, k)
    for effort in EFFORTS:
        assert loss(encoded, k, effort) >= least * (1 - 1e-6)
    assert loss(encoded, k, "high") <= least * (1 + ALLOWED_GAP)


@pytest.mark.parametrize("k", [2, 3, 10, 60])
@pytest.mark.parametrize("effort", EFFORTS[:2])
def test_loses_no_more_than_mondrian(effort: str, k: int, seed: int) -> None:
    for spread, wide in ((1, 2), (30, 40), (200, 500)):
        encoded = table(seed, 300, spread=spread, wide=wide)
        cuts = total_loss(encoded, Mondrian().partition(encoded, (KAnonymity(k),), Run()))
        assert loss(encoded, k, effort) <= cuts * (1 + 1e-6)


def test_more_effort_loses_less() -> None:
    encoded = table(1, 1500)
    fast, normal, high = (loss(encoded, 5, effort) for effort in EFFORTS)
    assert high < normal < fast


@pytest.mark.parametrize("effort", EFFORTS[:2])
def test_number_of_threads_does_not_matter(effort: str, seed: int) -> None:
    encoded = table(seed, 4000)
    made = [
        Shoaling(effort).partition(encoded, (KAnonymity(5),), Run(seed=seed, threads=threads)) for threads in (1, 2, 8)
    ]
    assert (made[0].labels == made[1].labels).all()
    assert (made[0].labels == made[2].labels).all()


def test_seed_matters() -> None:
    encoded = table(3, 500)
    made = [Shoaling().partition(encoded, (KAnonymity(3),), Run(seed=seed)).labels for seed in (1, 2)]
    assert (made[0] != made[1]).any()


def test_rest_too_small_for_a_group_joins_ripe_tuples() -> None:
    frame = pl.DataFrame({"x": ["1"] * 40 + ["2"] * 30 + ["7"], "y": ["a"] * 40 + ["b"] * 31})
    kinds = {"x": Kind.NUMERIC, "y": Kind.CATEGORICAL}
    encoded = encode(from_frame(frame), Schema.build(["x", "y"], {Role.QI: ["x", "y"]}, kinds=kinds))
    for effort in EFFORTS:
        made = Shoaling(effort).partition(encoded, (KAnonymity(10),), Run())
        assert np.bincount(made.labels).min() >= 10
    # Nine rows of the nearer tuple keep the stray company; the other twenty-one of its rows stay as they are.
    assert sorted(np.bincount(made.labels).tolist()) == [10, 21, 40]


def test_categories_of_more_values_than_a_word_has_bits() -> None:
    draw = np.random.default_rng(5)
    frame = pl.DataFrame({name: draw.integers(0, 12_000, 3000).astype(str) for name in ("a", "b")})
    encoded = encode(from_frame(frame), Schema.build(["a", "b"], {Role.QI: ["a", "b"]}))
    made = Shoaling("fast").partition(encoded, (KAnonymity(4),), Run())
    cuts = Mondrian().partition(encoded, (KAnonymity(4),), Run())
    assert np.bincount(made.labels).min() >= 4
    assert total_loss(encoded, made) <= total_loss(encoded, cuts)


def test_thirty_attributes() -> None:
    draw = np.random.default_rng(6)
    names = [f"c{i}" for i in range(30)]
    frame = pl.DataFrame({name: draw.integers(0, 2 + i, 200).astype(str) for i, name in enumerate(names)})
    encoded = encode(from_frame(frame), Schema.build(names, {Role.QI: names}))
    assert loss(encoded, 5, "normal") < 200 * 30


def test_unknown_effort_is_refused() -> None:
    with pytest.raises(UsageError, match=r"effort='most' is not known\. Use fast, normal, high"):
        Shoaling("most")
