"""Models beside k in the methods that form groups by size: what fails merges until it passes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import KAnonymity, LDiversity, TCloseness
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.errors import InfeasibleError
from shoal.methods import SBCA, Run, named
from shoal.methods.base import failing_groups
from shoal.methods.merge_failing import merge_failing
from shoal.models import PrivacyModel
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

METHODS = ("sbca", "kaca", "bottom-up", "top-down", "euclidean")


def patients(seed: int, n_rows: int = 300) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(0, 90, n_rows).astype(str),
            "sex": draw.choice(["f", "m"], n_rows),
            "disease": draw.choice(["flu", "cold", "ulcer", "asthma"], n_rows, p=[0.7, 0.2, 0.05, 0.05]),
            "own": draw.choice(["1", "3", "12"], n_rows, p=[0.8, 0.15, 0.05]),
            "who": draw.integers(0, n_rows // 2, n_rows).astype(str),
        }
    )


def encoded_of(frame: pl.DataFrame, **roles: Any) -> Encoded:
    given = {Role.QI: ["age", "sex"], Role.SENSITIVE: ["disease"], **{Role(r): names for r, names in roles.items()}}
    kinds = {"age": Kind.NUMERIC, "sex": Kind.CATEGORICAL, "disease": Kind.CATEGORICAL}
    return encode(from_frame(frame), Schema.build(frame.columns, given, kinds=kinds, others="drop"))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("model", [LDiversity("disease", 3), TCloseness("disease", Fraction(3, 10))], ids=["l", "t"])
def test_sensitive_values_are_as_the_model_asks(name: str, model: PrivacyModel, seed: int) -> None:
    encoded = encoded_of(patients(seed))
    models = (KAnonymity(5), model)
    made = named(name).partition(encoded, models, Run(seed=seed))
    assert not failing_groups(encoded, models, made.labels).any()
    assert made.n_groups > 1


@pytest.mark.parametrize("name", METHODS)
def test_each_row_gets_its_own_k(name: str, seed: int) -> None:
    made = shoal.anonymize(
        patients(seed), qi=["age", "sex"], k_column="own", k=2, others="drop", method=name, keep_order=True
    )
    cells = made.text.rows()
    for row, own in zip(cells, patients(seed)["own"].to_list(), strict=True):
        assert cells.count(row) >= int(own)


@pytest.mark.parametrize("name", METHODS)
def test_people_are_counted_not_rows(name: str, seed: int) -> None:
    made = shoal.anonymize(
        patients(seed), qi=["age", "sex"], person="who", k=6, others="drop", method=name, keep_order=True
    )
    people: dict[tuple[str, ...], set[str]] = {}
    for row, who in zip(made.text.rows(), patients(seed)["who"].to_list(), strict=True):
        people.setdefault(row, set()).add(who)
    assert min(map(len, people.values())) >= 6


def test_failing_group_joins_the_one_of_tightest_union() -> None:
    """Ages 1 2 | 5 6 | 20 21: the pair in the middle has one disease, and the first is the nearer one."""
    frame = pl.DataFrame(
        {"age": ["1", "2", "5", "6", "20", "21"], "sex": ["f"] * 6, "disease": ["a", "b", "a", "a", "a", "b"]}
    )
    encoded = encoded_of(frame)
    labels = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    made = merge_failing(encoded, labels, (KAnonymity(2), LDiversity("disease", 2)), Run())
    assert made.tolist() == [1, 1, 1, 1, 0, 0]
    assert merge_failing(encoded, labels, (KAnonymity(2),), Run()) is labels


def test_goal_that_all_rows_together_miss_is_told() -> None:
    with pytest.raises(InfeasibleError):
        SBCA().partition(encoded_of(patients(0, 40)), (KAnonymity(5), LDiversity("disease", 9)), Run())


@pytest.mark.parametrize("name", METHODS)
def test_release_under_models_passes_the_gate(name: str, tmp_path: Any) -> None:
    made = shoal.anonymize(patients(3), qi=["age", "sex"], sensitive=["disease"], l=2, k=4, others="drop", method=name)
    made.write(tmp_path / "out.csv")
    assert shoal.verify(tmp_path / "out.csv", qi=["age", "sex"], k=4).ok
