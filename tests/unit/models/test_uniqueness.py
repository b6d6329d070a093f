"""Limits on lone rows: against a plain count, with people, and in every method that honours them."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import verification
from shoal.errors import UsageError
from shoal.models import Groups, PopulationUniqueness, SampleUniqueness
from shoal.models.uniques import ESTIMATORS, estimate_uniques
from tests.naive import models as naive
from tests.naive.risk import zayatz


def random_labels(seed: int, n_rows: int = 120) -> list[int]:
    draw = random.Random(seed)
    n_groups = draw.choice((10, 60, 100))
    return [*range(n_groups), *(int(draw.random() ** 2 * n_groups) for _ in range(n_rows - n_groups))]


def groups_of(labels: list[int], people: list[int] | None = None) -> Groups:
    numbers = None if people is None else np.array(people, dtype=np.int32)
    return Groups(np.array(labels, dtype=np.int32), np.ones(len(labels), dtype=np.int64), people=numbers)


@pytest.mark.parametrize("limit", ["0", "0.05", "1/3", "1"])
def test_sample_uniqueness_is_that_of_a_plain_count(limit: str, seed: int) -> None:
    """C24: exact at the limit."""
    model = SampleUniqueness(Fraction(limit))
    for i in range(10):
        labels = random_labels(seed * 10 + i)
        sizes = Counter(labels)
        expected = naive.too_many_alone([[0] * sizes[label] for label in sorted(sizes)], Fraction(limit))
        failing = model.failing(groups_of(labels))
        assert failing.tolist() == [expected and sizes[label] == 1 for label in sorted(sizes)]
        exact = SampleUniqueness(Fraction(sum(n == 1 for n in sizes.values()), len(labels)))
        assert not exact.failing(groups_of(labels)).any(), "the limit itself is allowed"


def test_rows_of_one_person_are_alone_however_many_they_are() -> None:
    groups = groups_of([0, 0, 0, 1, 1, 2], people=[7, 7, 7, 7, 8, 9])
    assert SampleUniqueness("0.5").failing(groups).tolist() == [True, False, True], "4 of 6 rows"
    assert not SampleUniqueness("2/3").failing(groups).any()


def test_population_uniqueness_by_zayatz_is_that_of_a_plain_count(seed: int) -> None:
    for i in range(10):
        labels = random_labels(seed * 10 + i)
        sizes = Counter(labels)
        share = zayatz(list(sizes.values()), 1000) / 1000
        for factor, fails in ((Fraction(99, 100), True), (Fraction(101, 100), False)):
            limit = (share * factor).limit_denominator(10**12)
            model = PopulationUniqueness(limit, population=1000, estimator="zayatz")
            failing = model.failing(groups_of(labels)).tolist()
            assert failing == [fails and sizes[label] == 1 for label in sorted(sizes)]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_verifier_agrees_on_both_sides_of_the_limit(estimator: str, seed: int) -> None:
    """C24: the verifier estimates with its own code."""
    labels = random_labels(seed)
    estimate = getattr(estimate_uniques(np.bincount(labels), 900), estimator)
    released = pl.DataFrame({"g": [f"g{label}" for label in labels]})
    n_alone = sum(n == 1 for n in Counter(labels).values())
    for factor in (0.999, 1.001):
        limit = 1.0 if estimate is None else min(1.0, round(estimate / 900 * factor, 12))
        model = PopulationUniqueness(limit, population=900, estimator=estimator)
        failing = int(model.failing(groups_of(labels)).sum())
        assert failing == (n_alone if factor < 1 or estimate is None else 0)
        verdict = verification.check(released, qi=["g"], k=1, models=[model])
        assert verdict.ok == (failing == 0)
        assert verdict.ok or f"{failing} of {len(set(labels))} groups" in verdict.violations[0]


def test_no_lone_row_means_no_estimate() -> None:
    """Nobody who is unique in the population shares cells with another row."""
    model = PopulationUniqueness(0, population=10**9, estimator="pitman")
    assert not model.failing(groups_of([0, 0, 1, 1, 1])).any()


def test_population_smaller_than_the_table_is_refused() -> None:
    with pytest.raises(UsageError, match="population=3 is smaller than the table, which has 4 rows"):
        PopulationUniqueness(0.5, population=3).failing(groups_of([0, 1, 1, 2]))
    verdict = verification.check(
        pl.DataFrame({"g": list("abbc")}), qi=["g"], k=1, models=[PopulationUniqueness(1, population=3)]
    )
    assert not verdict.ok


def table(seed: int, n_rows: int = 150) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [str(int(draw.gauss(45, 18))) for _ in range(n_rows)],
            "sex": [draw.choice("fm") for _ in range(n_rows)],
            "who": [f"p{draw.randrange(n_rows // 2)}" for _ in range(n_rows)],
        }
    )


@pytest.mark.parametrize("people", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("method", ["shoaling", "mondrian", "optimal", "incognito"])
def test_methods_leave_no_more_rows_alone_than_allowed(method: str, people: bool, seed: int) -> None:
    """A limit of 0 is that of k = 2; a higher one costs less."""
    options: dict[str, Any] = {"qi": ["age", "sex"], "k": 1, "method": method, "numeric": ["age"]}
    options |= {"person": "who"} if people else {"drop": ["who"]}
    losses = []
    for limit in ("0", "0.1", "0.2"):
        made = shoal.anonymize(table(seed), models=[SampleUniqueness(limit)], **options)
        losses.append(made.measures.ncp)
        if not people:
            sizes = Counter(made.text.select("age", "sex").rows()).values()
            assert Fraction(sum(n == 1 for n in sizes), 150) <= Fraction(limit)
    assert losses == sorted(losses, reverse=True)


def test_shoaling_uses_the_whole_limit(seed: int) -> None:
    options: dict[str, Any] = {"qi": ["age", "sex"], "drop": ["who"], "numeric": ["age"]}
    made = shoal.anonymize(table(seed), k=1, models=[SampleUniqueness("0.1")], **options)
    sizes = Counter(made.text.select("age", "sex").rows()).values()
    assert sum(n == 1 for n in sizes) > 0.05 * 150
    assert made.measures.ncp < shoal.anonymize(table(seed), k=2, **options).measures.ncp


def test_method_that_cannot_honour_a_limit_refuses_it() -> None:
    with pytest.raises(UsageError, match=r"cannot honour sample uniqueness.*Methods that can: shoaling"):
        shoal.anonymize(table(1), qi=["age"], others="drop", k=1, models=[SampleUniqueness(0.1)], method="sbca")
