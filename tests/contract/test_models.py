"""What every privacy model has to hold."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import shoal
from shoal import verification
from shoal.encoding.sensitive import Sensitive
from shoal.encoding.tree import plant
from shoal.errors import UsageError
from shoal.methods import Method
from shoal.models import (
    MODELS,
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    EntropyLDiversity,
    GrassbergerLDiversity,
    Groups,
    KAnonymity,
    LDiversity,
    MaximalRisk,
    PersonalK,
    PrivacyModel,
    ProsecutorProfit,
    PSensitiveK,
    RecursiveLDiversity,
    TCloseness,
    model_from,
    parse_model,
)
from shoal.schema import Kind
from tests.contract.subjects import every_method
from tests.naive import models as naive

DISEASES = ("flu", "cold", "ulcer", "asthma", None)
PATHS = {
    "flu": ("lung", "*"),
    "asthma": ("lung", "*"),
    "cold": ("nose", "*"),
    "ulcer": ("stomach", "*"),
    None: ("*", "*"),
}


class Row(NamedTuple):
    """What the models count of a row."""

    disease: str | None
    cost: int
    own_k: int


@dataclass(frozen=True)
class Case:
    """A model, and the same promise in plain Python: does a group of these rows fail in a release of those?"""

    model: PrivacyModel
    fails: Callable[[list[Row], list[Row]], bool]


def of_disease(check: Callable[..., bool], *fields: Any) -> Callable[[list[Row], list[Row]], bool]:
    return lambda group, every: check([row.disease for row in group], *fields)


def in_release(check: Callable[..., bool], *fields: Any) -> Callable[[list[Row], list[Row]], bool]:
    return lambda group, every: check([row.disease for row in group], [row.disease for row in every], *fields)


def far(distance: Callable[..., Fraction], t: Fraction, name: str, *more: Any) -> Callable[..., bool]:
    def fails(group: list[Row], every: list[Row]) -> bool:
        return distance([getattr(row, name) for row in group], [getattr(row, name) for row in every], *more) > t

    return fails


HALF, THIRD, TENTH = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)
CASES = [
    *(Case(KAnonymity(k), lambda group, every, k=k: len(group) < k) for k in (1, 2, 5, 1000)),
    Case(PersonalK(), lambda group, every: len(group) < max(row.own_k for row in group)),
    Case(MaximalRisk(THIRD), lambda group, every: Fraction(1, len(group)) > THIRD),
    *(
        Case(ProsecutorProfit(cost, gain, payout), lambda group, every, t=(cost, gain, payout): naive.pays(group, *t))
        for cost, gain, payout in ((3, 7, 0), (THIRD, 2, HALF), (2, 1, 0))
    ),
    *(Case(LDiversity("disease", l), of_disease(naive.fails_distinct, l)) for l in (1, 2, 3, 4)),
    *(
        Case(EntropyLDiversity("disease", l), of_disease(naive.fails_entropy, l))
        for l in (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(4))
    ),
    *(
        Case(GrassbergerLDiversity("disease", l), of_disease(naive.fails_grassberger, l))
        for l in (Fraction(1), Fraction(3, 2), Fraction(3))
    ),
    *(
        Case(RecursiveLDiversity("disease", c, l), of_disease(naive.fails_recursive, c, l))
        for c, l in ((Fraction(1), 2), (Fraction(5, 2), 2), (Fraction(2), 3), (Fraction(3), 1))
    ),
    *(
        Case(AlphaK("disease", alpha, k), of_disease(naive.fails_alpha_k, alpha, k))
        for alpha, k in ((HALF, 2), (Fraction(2, 5), 1), (Fraction(1), 3))
    ),
    *(Case(PSensitiveK("disease", p, k), of_disease(naive.fails_p_sensitive, p, k)) for p, k in ((2, 3), (3, 1))),
    *(
        Case(TCloseness("disease", t, "equal"), far(naive.equal_distance, t, "disease"))
        for t in (Fraction(0), Fraction(1, 5), HALF)
    ),
    *(
        Case(TCloseness("cost", t), far(naive.ordered_distance, t, "cost", range(100)))
        for t in (TENTH, Fraction(1, 5), HALF)
    ),
    Case(
        TCloseness("disease", Fraction(1, 5), "ordered", ("ulcer", "flu", "cold", "asthma")),
        far(naive.ordered_distance, Fraction(1, 5), "disease", ("ulcer", "flu", "cold", "asthma", None)),
    ),
    *(
        Case(TCloseness("disease", t, "hierarchical"), far(naive.hierarchical_distance, t, "disease", PATHS))
        for t in (TENTH, Fraction(1, 4))
    ),
    *(
        Case(DeltaDisclosure("disease", delta), in_release(naive.fails_delta_disclosure, delta))
        for delta in (HALF, Fraction(1), Fraction(3))
    ),
    *(
        Case(BetaLikeness("disease", beta, enhanced), in_release(naive.fails_beta_likeness, beta, enhanced))
        for beta in (HALF, Fraction(2))
        for enhanced in (False, True)
    ),
]
every_case = pytest.mark.parametrize("case", [pytest.param(case, id=case.model.describe()) for case in CASES])
every_size_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.model.describe()) for case in CASES if case.model.size_only]
)


def random_rows(seed: int, n_rows: int = 200, n_groups: int = 40) -> tuple[list[Row], list[int]]:
    """Rows in groups of 1 to many, some rows suppressed; every group from 0 on has a row; some are mixed."""
    draw = random.Random(seed)
    labels = [*range(n_groups), *(int(draw.random() ** 2 * n_groups) for _ in range(n_rows - n_groups)), -1, -1]
    favourites = [draw.choices(DISEASES, k=draw.choice((1, 2, 4, 20))) for _ in range(n_groups + 1)]
    rows = [
        Row(draw.choice(favourites[label]), draw.choice((1, 5, 7, 8, 90)) + label % 3, draw.choice((1, 2, 5)))
        for label in labels
    ]
    for label in range(n_groups, n_groups + 6):  # groups in which all shares are those of the table, or nearly
        mixed = [Row(disease, cost, 2) for disease, cost in zip(DISEASES, (1, 5, 7, 8, 90), strict=True)]
        rows += mixed * (label - n_groups + 1)
        labels += [label] * 5 * (label - n_groups + 1)
    order = draw.sample(range(len(rows)), len(rows))
    return [rows[i] for i in order], [labels[i] for i in order]


def groups_of(rows: list[Row], labels: list[int]) -> Groups:
    """Groups of entries: equal rows of a group are one entry."""
    entries = Counter(zip(rows, labels, strict=True))
    found = [row for row, _ in entries]
    diseases = sorted({row.disease for row in rows if row.disease is not None})
    costs = sorted({row.cost for row in rows})
    tree = plant([*diseases, ""], [PATHS[disease] for disease in (*diseases, None)])
    columns = {
        "disease": Sensitive(
            "disease",
            Kind.CATEGORICAL,
            (*diseases, ""),
            np.empty(0),
            len(diseases),
            np.array([(*diseases, None).index(row.disease) for row in found], dtype=np.int32),
            tree,
        ),
        "cost": Sensitive(
            "cost",
            Kind.NUMERIC,
            tuple(map(str, costs)),
            np.array(costs, dtype=float),
            -1,
            np.array([costs.index(row.cost) for row in found], dtype=np.int32),
        ),
    }
    return Groups(
        np.array([label for _, label in entries], dtype=np.int32),
        np.array(list(entries.values()), dtype=np.int64),
        columns,
        personal_k=np.array([row.own_k for row in found], dtype=np.int64),
    )


def by_group(rows: list[Row], labels: list[int]) -> list[list[Row]]:
    groups: dict[int, list[Row]] = {}
    for row, label in zip(rows, labels, strict=True):
        if label >= 0:
            groups.setdefault(label, []).append(row)
    return [groups[label] for label in range(len(groups))]


@every_case
def test_failing_groups_are_those_of_a_plain_count(case: Case, seed: int) -> None:
    """C24: exact, also at the threshold, and a missing value adds no diversity."""
    for more in range(5):
        rows, labels = random_rows(seed * 10 + more)
        groups = by_group(rows, labels)
        every = [row for group in groups for row in group]
        failing = case.model.failing(groups_of(rows, labels))
        assert failing.dtype == bool
        assert failing.tolist() == [case.fails(group, every) for group in groups]


def merged(labels: list[int], kept: int, gone: int) -> tuple[list[int], int]:
    """Give the rows of one group to another; return the labels without a gap, and the other's."""
    union = [kept if label == gone else label for label in labels]
    renumbered = {label: i for i, label in enumerate(sorted({label for label in union if label >= 0}))}
    return [renumbered.get(label, -1) for label in union], renumbered[kept]


@every_case
def test_union_passes_where_the_model_claims_it(case: Case, seed: int) -> None:
    """Monotone: a passing group and any other; closed: two passing groups."""
    draw = random.Random(seed)
    rows, labels = random_rows(seed)
    for _ in range(30):
        passing = ~case.model.failing(groups_of(rows, labels))
        if len(passing) < 2:
            break
        kept, gone = draw.sample(range(len(passing)), 2)
        both, either = passing[kept] and passing[gone], passing[kept] or passing[gone]
        labels, kept = merged(labels, kept, gone)
        still = not case.model.failing(groups_of(rows, labels))[kept]
        assert still or not (case.model.monotone and either)
        assert still or not (case.model.closed and both)


@every_case
def test_monotone_is_claimed_only_where_closed_is(case: Case) -> None:
    assert case.model.closed or not case.model.monotone
    assert not case.model.size_only or case.model.monotone


@every_case
def test_group_below_the_minimum_size_never_passes(case: Case) -> None:
    for size in {1, case.model.minimum_size - 1} - {0}:
        if size < case.model.minimum_size:
            rows = [Row(DISEASES[i % 4], i % 90, 1) for i in range(size)]
            assert case.model.failing(groups_of(rows, [0] * size)).tolist() == [True]


@every_case
def test_group_of_minimum_size_passes_where_size_alone_decides(case: Case) -> None:
    if not case.model.size_only:
        pytest.skip("the model does not claim it")
    for size in (case.model.minimum_size, case.model.minimum_size + 1):
        assert case.model.failing(groups_of([Row("flu", 1, 1)] * size, [0] * size)).tolist() == [False]


@every_case
def test_model_describes_itself(case: Case) -> None:
    assert isinstance(case.model, PrivacyModel)
    assert case.model.describe().strip()
    if case.model.size_only:
        assert str(case.model.minimum_size) in case.model.describe()


@every_case
def test_model_can_be_written_and_read(case: Case) -> None:
    spec = case.model.spec()
    if spec["name"] in MODELS:
        assert model_from(spec) == case.model
        words = [f"{name}={'|'.join(v) if name == 'order' else v}" for name, v in spec.items() if name != "name"]
        assert model_from(parse_model(" ".join([spec["name"], *words]).replace("True", "true"))) == case.model


@every_case
def test_obstacle_is_told_just_where_all_rows_as_one_group_fail(case: Case, seed: int) -> None:
    rows, labels = random_rows(seed)
    whole = groups_of(rows, labels).merged()
    told = case.model.obstacle(whole)
    assert bool(told) == bool(case.model.failing(whole)[0])
    if told:
        assert "cannot" in told
        assert told.count("Use ") == 1 or "Ask for" in told


@every_case
def test_verifier_agrees_with_the_model(case: Case, seed: int) -> None:
    """C24: the verifier, which shares no code with the models, counts the same groups on the released text."""
    rows, labels = random_rows(seed)
    kept = [(row, label) for row, label in zip(rows, labels, strict=True) if label >= 0]
    released = pl.DataFrame(
        {
            "g": [f"g{label}" for _, label in kept],
            "disease": [row.disease or "" for row, _ in kept],
            "cost": [f"{row.cost}.0" if i % 2 else str(row.cost) for i, (row, _) in enumerate(kept)],
        }
    )
    failing = int(case.model.failing(groups_of(rows, labels)).sum())
    spec = case.model.spec()
    told = {"k": spec["k"]} if spec["name"] == "k-anonymity" else {"k": 1, "models": [case.model]}
    if spec["name"] == "personal-k":
        asked = released.with_columns(own=pl.Series([str(row.own_k) for row, _ in kept]))
        told |= {"original": asked, "k_column": "own"}
    paths = {"disease": {disease or "": labels for disease, labels in PATHS.items()}}
    verdict = verification.check(
        released, qi=["g"], **told, paths=paths if spec.get("distance") == "hierarchical" else {}
    )
    assert verdict.ok == (failing == 0)
    if failing and spec["name"] != "personal-k":
        assert re.search(rf"\b{failing} of {len(by_group(rows, labels))} groups", verdict.violations[0])


@every_method
@every_size_case
def test_methods_honour_the_model_beside_k(case: Case, method: Method) -> None:
    """C01: also where the table meets k, but not the other model, as it is."""
    ages = [str(i // 2) for i in range(1200)]
    made = shoal.anonymize(pl.DataFrame({"age": ages}), qi=["age"], k=2, models=[case.model], method=method)
    sizes = Counter(made.text["age"].to_list()).values()
    assert not any(case.fails([Row("flu", 1, 1)] * size, []) for size in sizes)


@pytest.mark.parametrize("k", [0, -1, 1.5, 2.0, "five", "5", None, float("nan"), float("inf"), True, False, [5]])
def test_k_that_is_no_positive_whole_number_is_refused(k: Any) -> None:
    """B04."""
    with pytest.raises(UsageError, match=r"is not a positive integer\. Use k >= 2"):
        KAnonymity(k)
    if k is not None:
        with pytest.raises(UsageError, match=r"is not a positive integer\. Use k >= 2"):
            shoal.anonymize(pl.DataFrame({"age": [1, 2]}), qi=["age"], k=k)


def test_k_that_is_left_out_is_asked_for() -> None:
    """B04."""
    with pytest.raises(UsageError, match=r"k is not given.*k=5 is common"):
        shoal.anonymize(pl.DataFrame({"age": [1, 2]}), qi=["age"])


ALONE = pl.DataFrame({"age": [1, 2, 3, 4], "own": [2, 2, 2, 2]})


def test_k_of_one_is_refused_as_the_only_promise() -> None:
    """B04: it promises nothing; compare and advise refuse it among other k too."""
    with pytest.raises(UsageError, match=r"k=1 promises nothing.*k >= 2"):
        shoal.anonymize(ALONE, qi=["age"], drop=["own"], k=1)
    for command in (shoal.compare, shoal.advise):
        with pytest.raises(UsageError, match="k=1 promises nothing"):
            command(ALONE, qi=["age"], drop=["own"], k=[2, 1], methods=["mondrian"], jobs=1)


def test_k_of_one_is_taken_beside_another_promise() -> None:
    """B04: a model or a personal k."""
    made = shoal.anonymize(ALONE, qi=["age"], drop=["own"], k=1, models=[MaximalRisk(THIRD)])
    assert made.measures.smallest_group >= 3
    assert shoal.anonymize(ALONE, qi=["age"], k_column="own", k=1).measures.smallest_group >= 2
    found = shoal.compare(
        ALONE, qi=["age"], drop=["own"], k=[1, 2], models=[MaximalRisk(HALF)], methods=["mondrian"], jobs=1
    )
    assert found.frame["failed"].null_count() == 2


def test_whole_number_of_any_library_is_taken() -> None:
    assert KAnonymity(np.int64(5)).k == 5
    assert type(KAnonymity(np.int64(5)).k) is int
    assert KAnonymity(10**30).minimum_size == 10**30
