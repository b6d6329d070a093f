"""What every privacy model has to hold."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import UsageError
from shoal.methods import Method
from shoal.models import Groups, KAnonymity, PrivacyModel
from tests.contract.subjects import every_method


@dataclass(frozen=True)
class Case:
    """A model, and the same promise in plain Python: does a group of so many rows fail?"""

    model: PrivacyModel
    fails: Callable[[int], bool]


CASES = [
    *(Case(KAnonymity(k), lambda size, k=k: size < k) for k in (1, 2, 5, 1000)),
]
every_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.model.describe()) for case in CASES])


def random_labels(seed: int, n_rows: int = 200, n_groups: int = 40) -> list[int]:
    """Labels of groups of 1 to many rows, some rows suppressed; every group from 0 on has a row."""
    draw = random.Random(seed)
    labels = [*range(n_groups), *(int(draw.random() ** 2 * n_groups) for _ in range(n_rows - n_groups)), -1, -1]
    draw.shuffle(labels)
    return labels


def groups_of(labels: list[int]) -> Groups:
    return Groups.from_labels(np.array(labels, dtype=np.int32))


@every_case
def test_failing_groups_are_those_of_a_plain_count(case: Case, seed: int) -> None:
    labels = random_labels(seed)
    sizes = Counter(label for label in labels if label >= 0)
    failing = case.model.failing(groups_of(labels))
    assert failing.dtype == bool
    assert failing.tolist() == [case.fails(sizes[group]) for group in range(len(sizes))]


@every_case
def test_monotone_model_passes_after_any_merge(case: Case, seed: int) -> None:
    if not case.model.monotone:
        pytest.skip("the model does not claim it")
    draw = random.Random(seed)
    labels = random_labels(seed)
    for _ in range(30):
        passing = ~case.model.failing(groups_of(labels))
        if len(passing) < 2:
            break
        kept, merged = draw.sample(range(len(passing)), 2)
        union = [kept if label == merged else label for label in labels]
        renumbered = {label: i for i, label in enumerate(sorted({label for label in union if label >= 0}))}
        labels = [renumbered.get(label, -1) for label in union]
        still_passing = ~case.model.failing(groups_of(labels))
        assert still_passing[renumbered[kept]] or not (passing[kept] or passing[merged])


@every_case
def test_group_below_the_minimum_size_never_passes(case: Case) -> None:
    for size in {1, case.model.minimum_size - 1} - {0}:
        if size < case.model.minimum_size:
            assert case.model.failing(groups_of([0] * size)).tolist() == [True]


@every_case
def test_group_of_minimum_size_passes_where_size_alone_decides(case: Case) -> None:
    if not case.model.size_only:
        pytest.skip("the model does not claim it")
    for size in (case.model.minimum_size, case.model.minimum_size + 1):
        assert case.model.failing(groups_of([0] * size)).tolist() == [False]


@every_case
def test_model_describes_itself(case: Case) -> None:
    assert isinstance(case.model, PrivacyModel)
    assert case.model.describe().strip()
    assert str(case.model.minimum_size) in case.model.describe()


@every_case
@every_method
def test_methods_honour_the_model_beside_k(case: Case, method: Method) -> None:
    """C01: also where the table meets k, but not the other model, as it is."""
    ages = [str(i // 2) for i in range(1200)]
    made = shoal.anonymize(pl.DataFrame({"age": ages}), qi=["age"], k=2, models=[case.model], method=method)
    assert not any(case.fails(size) for size in Counter(made.text["age"].to_list()).values())


@pytest.mark.parametrize("k", [0, -1, 1.5, 2.0, "five", "5", None, float("nan"), float("inf"), True, False, [5]])
def test_k_that_is_no_positive_whole_number_is_refused(k: Any) -> None:
    """B04."""
    with pytest.raises(UsageError, match=r"is not a positive whole number\. Use k >= 2"):
        KAnonymity(k)
    if k is not None:
        with pytest.raises(UsageError, match=r"is not a positive whole number\. Use k >= 2"):
            shoal.anonymize(pl.DataFrame({"age": [1, 2]}), qi=["age"], k=k)


def test_k_that_is_left_out_is_asked_for() -> None:
    """B04."""
    with pytest.raises(UsageError, match=r"k is not given.*k=5 \(command line: -k 5\) is common"):
        shoal.anonymize(pl.DataFrame({"age": [1, 2]}), qi=["age"])


def test_whole_number_of_any_library_is_taken() -> None:
    assert KAnonymity(np.int64(5)).k == 5
    assert type(KAnonymity(np.int64(5)).k) is int
    assert KAnonymity(10**30).minimum_size == 10**30
