"""Models at, just below and just above their threshold, and on the examples of their papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.encoding.dictionary import Distinct
from shoal.encoding.sensitive import sensitive_dictionary
from shoal.errors import InfeasibleError, UsageError
from shoal.models import Groups, PrivacyModel, model_from, parse_model
from shoal.models.thresholds import entropy_falls_short
from shoal.schema import Column, Kind, Role
from shoal.tables.table import Table

Rows = Sequence[Sequence[str]]


def groups_of(groups: Rows, kind: Kind | None = None, rule: Any = None) -> Groups:
    """Groups of the values of a column x; the empty text is missing."""
    cells = [cell for group in groups for cell in group]
    table = Table(pl.DataFrame({"x": cells}, schema={"x": pl.String}))
    dictionary = sensitive_dictionary(Column("x", Role.SENSITIVE, kind), Distinct.of(table, "x"), ("",), rule)
    column = replace(dictionary.meaning, codes=dictionary.codes(table.factor("x")))
    labels = np.repeat(np.arange(len(groups), dtype=np.int32), [len(group) for group in groups])
    return Groups(labels, np.ones(len(cells), dtype=np.int64), {"x": column})


def failing(model: PrivacyModel, *groups: Sequence[str], **more: Any) -> list[bool]:
    return model.failing(groups_of(groups, **more)).tolist()


# Machanavajjhala et al. 2006, the 3-diverse table of inpatients: twelve rows in three groups.
INPATIENTS = (
    ["heart", "viral", "cancer", "cancer"],
    ["cancer", "heart", "viral", "viral"],
    ["heart", "viral", "cancer", "cancer"],
)


def test_table_of_inpatients_is_3_diverse() -> None:
    assert failing(shoal.LDiversity("x", 3), *INPATIENTS) == [False] * 3
    assert failing(shoal.LDiversity("x", 4), *INPATIENTS) == [True] * 3


def test_table_of_inpatients_has_the_entropy_of_the_root_of_8() -> None:
    """Counts 2, 1, 1: the entropy is log 4 - (2 log 2) / 4 = log 2.8284."""
    assert failing(shoal.EntropyLDiversity("x", "2.8284"), *INPATIENTS) == [False] * 3
    assert failing(shoal.EntropyLDiversity("x", "2.8285"), *INPATIENTS) == [True] * 3


def test_recursive_diversity_fails_at_equality() -> None:
    """r1 < c (r_l + ... + r_m): 2 < c * 2."""
    assert failing(shoal.RecursiveLDiversity("x", "1", 2), *INPATIENTS) == [True] * 3
    assert failing(shoal.RecursiveLDiversity("x", "1.001", 2), *INPATIENTS) == [False] * 3
    assert failing(shoal.RecursiveLDiversity("x", "2", 3), *INPATIENTS) == [True] * 3
    assert failing(shoal.RecursiveLDiversity("x", "2.01", 3), *INPATIENTS) == [False] * 3


# Li et al. 2007: salaries 3K to 11K, of which {3K, 4K, 5K} is 0.375 away and {6K, 8K, 11K} is 0.167.
SALARIES = (["3000", "4000", "5000"], ["6000", "8000", "11000"], ["7000", "9000", "10000"])


@pytest.mark.parametrize(("t", "fails"), [("0.375", [False] * 3), ("0.374999", [True, False, False])])
def test_distance_of_low_salaries_is_that_of_the_paper(t: str, fails: list[bool]) -> None:
    assert failing(shoal.TCloseness("x", t), *SALARIES) == fails


@pytest.mark.parametrize(("t", "fails"), [("1/6", False), ("0.166666", True)])
def test_distance_of_spread_salaries_is_that_of_the_paper(t: str, fails: bool) -> None:
    assert failing(shoal.TCloseness("x", t), *SALARIES)[1] == fails


# The second table of the same paper: diseases of the stomach and of the lung. Worked by hand: 7/27, 8/27, 4/27.
ILLNESSES = (
    ["gastric ulcer", "stomach cancer", "pneumonia"],
    ["gastritis", "flu", "bronchitis"],
    ["gastritis", "bronchitis", "stomach cancer"],
)
STOMACH = dict.fromkeys(("gastric ulcer", "stomach cancer", "gastritis"), ("stomach", "digestive", "*"))
LUNG = dict.fromkeys(("pneumonia", "flu", "bronchitis"), ("infection", "respiratory", "*"))


@pytest.mark.parametrize(
    ("t", "fails"),
    [("8/27", [False] * 3), ("0.2962", [False, True, False]), ("0.2592", [True, True, False]), ("0.148", [True] * 3)],
)
def test_hierarchical_distance_of_illnesses(t: str, fails: list[bool]) -> None:
    rule = shoal.hierarchy.Hierarchy(STOMACH | LUNG)
    assert failing(shoal.TCloseness("x", t, "hierarchical"), *ILLNESSES, rule=rule) == fails
    assert failing(shoal.TCloseness("x", t), *ILLNESSES, rule=rule) == fails


def test_threshold_is_the_decimal_that_was_written() -> None:
    """C24: 0.2 is a fifth, whatever float64 makes of it; a tie passes."""
    mixed, even = ["a"] * 7 + ["b"] * 3, ["a"] * 3 + ["b"] * 7
    for t in (0.2, "0.2", "1/5"):
        assert failing(shoal.TCloseness("x", t), mixed, even) == [False, False]
    assert failing(shoal.TCloseness("x", "0.19999999999999999"), mixed, even) == [True, True]
    assert failing(shoal.AlphaK("x", 0.7), mixed, ["a"] * 71 + ["b"] * 29) == [False, True]
    assert failing(shoal.BetaLikeness("x", 0.4), mixed, even) == [False, False]
    assert failing(shoal.BetaLikeness("x", "0.39999999999999999"), mixed, even) == [True, True]


def test_share_of_twice_the_usual_fails_delta_1() -> None:
    """|log2 ratio| < delta: equality fails, and so does a value that does not occur."""
    every = (["a"] * 4 + ["b"] * 4, ["a"] * 1 + ["b"] * 7, ["a"] * 7 + ["b"])
    assert failing(shoal.DeltaDisclosure("x", 1), *every) == [False, True, True]
    assert failing(shoal.DeltaDisclosure("x", 2), *every) == [False, True, True]
    assert failing(shoal.DeltaDisclosure("x", "2.0001"), *every) == [False, False, False]
    assert failing(shoal.DeltaDisclosure("x", 50), ["a"], ["a", "b"]) == [True, False]


def test_enhanced_likeness_holds_frequent_values_back() -> None:
    """-ln 0.8 = 0.223: a value of 80 % may rise to 0.8 * 1.223 = 0.978, whatever beta."""
    usual = ["a"] * 4 + ["b"]
    assert failing(shoal.BetaLikeness("x", 1), ["a"] * 8, usual, ["b", "b"]) == [False, False, True]
    assert failing(shoal.BetaLikeness("x", 1, enhanced=True), ["a"] * 8, usual, ["b", "b"])[0]


@pytest.mark.parametrize("l", [2, 3, 7])
@pytest.mark.parametrize("times", [1, 10, 1000])
def test_even_group_has_just_the_entropy_of_its_values(l: int, times: int) -> None:
    """C24: the tie that floating point would lose."""
    group = [f"v{i}" for i in range(l)] * times
    assert failing(shoal.EntropyLDiversity("x", l), group) == [False]
    assert failing(shoal.EntropyLDiversity("x", f"{l}.000000001"), group) == [True]


def test_entropy_beyond_the_exact_rows_falls_short_in_doubt() -> None:
    even = [30_000, 30_001]
    assert entropy_falls_short(even, Fraction(2))
    assert not entropy_falls_short(even, Fraction("1.99999"))
    assert not entropy_falls_short([50_000, 50_000], Fraction(2))


def test_missing_value_adds_no_diversity() -> None:
    """C24."""
    assert failing(shoal.LDiversity("x", 2), ["a", ""], ["a", "b"], ["", ""]) == [True, False, True]
    assert failing(shoal.LDiversity("x", 1), ["", ""]) == [False]
    assert failing(shoal.AlphaK("x", "0.5"), ["a", "b", "", ""], ["a", "b", "a", "b"]) == [True, False]
    assert failing(shoal.EntropyLDiversity("x", 2), ["a", "b", ""], ["a", "b"]) == [True, False]


def test_number_is_one_value_however_it_is_spelled() -> None:
    assert failing(shoal.LDiversity("x", 2), ["1", "1.0", "1e0"], ["1", "2"]) == [True, False]


def test_two_sensitive_columns_are_judged_each_by_itself() -> None:
    """C25: each column is held to its model; that both together are unique is not looked at."""
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "x": ["a", "b", "a", "b"], "y": ["c", "d", "d", "c"]})
    made = shoal.anonymize(frame, qi=["age"], sensitive=["x", "y"], k=2, l=2, method="mondrian")
    assert made.measures.ncp == 0
    assert made.request.models[1:] == (
        "distinct l-diversity of x with l = 2",
        "distinct l-diversity of y with l = 2",
    )


SALARY = pl.DataFrame({"age": list(range(20)), "salary": ["low"] * 15 + ["high"] * 5})


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("distinct-l salary l=3", "salary has 2 values, l = 3 cannot be met. Use l <= 2."),
        ("p-sensitive salary p=4", "salary has 2 values, p = 4 cannot be met. Use p <= 2."),
        ("p-sensitive salary p=2 k=30", "k=30 cannot be met: the table has 20 rows. Use k <= 20."),
        (
            "entropy-l salary l=2",
            "salary: the entropy of the whole table is that of 1.75 equally frequent values, l = 2 cannot be met. "
            "Use l <= 1.75.",
        ),
        (
            "recursive-l salary c=3 l=2",
            "salary: the most frequent value has 15 rows, those from place 2 on have 5; c = 3 cannot be met. "
            "Use c > 3.",
        ),
        ("recursive-l salary c=3 l=3", "salary has 2 values, l = 3 cannot be met. Use l <= 2."),
        (
            "alpha-k salary alpha=0.6",
            "salary: the most frequent value has the share 0.75 of the table, alpha = 0.6 cannot be met. "
            "Use alpha >= 0.75.",
        ),
        (
            "maximal-risk limit=0.01",
            "maximal risk: all 20 rows as one group have a risk of 0.05, the limit 0.01 cannot be met. "
            "Use at least 0.05.",
        ),
        (
            "prosecutor-profit cost=3 gain=90",
            "no profit for a prosecutor (cost 3, gain 90), so groups of 30 cannot be met: all rows as one group hide a "
            "person among 20. Use a cost of at least 4.5, a smaller gain or a larger payout.",
        ),
        (
            "average-risk limit=0.01",
            "average risk: all 20 rows as one group have a risk of 0.05, the limit 0.01 cannot be met. "
            "Use at least 0.05.",
        ),
    ],
)
def test_goal_out_of_reach_gives_the_reason_and_the_nearest_one(model: str, reason: str) -> None:
    """B05, B06, B28: before any search."""
    wanted = model_from(parse_model(model))
    with pytest.raises(InfeasibleError) as caught:
        shoal.anonymize(SALARY, qi=["age"], sensitive=["salary"], k=2, models=[wanted], method="mondrian")
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "model",
    [
        "entropy-l salary l=1.75",
        "recursive-l salary c=3.0001 l=2",
        "alpha-k salary alpha=0.75",
        "average-risk limit=0.05",
        "prosecutor-profit cost=4.5 gain=90",
    ],
)
def test_nearest_goal_can_be_reached(model: str) -> None:
    wanted = model_from(parse_model(model))
    made = shoal.anonymize(SALARY, qi=["age"], sensitive=["salary"], k=2, models=[wanted], method="mondrian")
    assert made.measures.groups >= 1


def test_all_goals_out_of_reach_are_told_at_once() -> None:
    models = [shoal.LDiversity("salary", 3), shoal.AlphaK("salary", 0.5)]
    with pytest.raises(InfeasibleError, match=r"(?s)l = 3 cannot be met.*alpha = 0.5 cannot be met"):
        shoal.anonymize(SALARY, qi=["age"], sensitive=["salary"], k=2, models=models, method="mondrian")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("distinct-l salary l=0", "l='0' is not a positive integer"),
        ("distinct-l salary l=2.5", "l='2.5' is not a positive integer"),
        ("entropy-l salary l=0.5", "l='0.5' is not a number from 1 on"),
        ("t-closeness salary t=-0.1", "t='-0.1' is not a number from 0 to 1"),
        ("t-closeness salary t=5", "t='5' is not a number from 0 to 1"),
        ("t-closeness salary t=x", "t='x' is not a number"),
        ("t-closeness salary t=0.1 distance=far", "distance='far' is not known. Use equal, ordered, hierarchical"),
        ("t-closeness salary t=0.1 order=a|b", "order is only used with distance"),
        ("alpha-k salary alpha=0", "alpha=0 allows no value at all"),
        ("delta-disclosure salary delta=0", "delta=0 allows no difference at all"),
        ("beta-likeness salary beta=1 enhanced=yes", "enhanced='yes' is not true or false"),
        ("delta-presence low=0.5 high=0.2", "low=0.5 is above high=0.2"),
        ("sample-uniqueness limit=1.5", "limit='1.5' is not a number from 0 to 1"),
        ("population-uniqueness limit=0.1 population=0", "population='0' is not a positive integer"),
        ("population-uniqueness limit=0.1 population=9 estimator=guess", "Use dankar, zayatz, pitman, snb"),
        ("prosecutor-profit cost=0 gain=9", "every attack pays. Use a cost above 0"),
        ("journalist-profit cost=-1 gain=9", "cost='-1' is not a number from 0 on"),
        ("differential-privacy epsilon=0 delta=0.1", "epsilon='0' is not a number from 1/100 to 5"),
        ("differential-privacy epsilon=1 delta=0", "delta=0 is not between 0 and 1"),
        ("average-risk limit=0", "limit=0 cannot be met by any release"),
        ("k-map k=none", "k='none' is not a positive integer"),
        ("entropi-l salary l=2", "model 'entropi-l' is not known. Did you mean 'entropy-l'"),
        ("zzz", "model 'zzz' is not known. Models: distinct-l"),
        ("entropy-l salary m=2", "model 'entropy-l' has no field 'm'. Its fields: column, l"),
        ("entropy-l salary", "model 'entropy-l' needs l"),
        ("entropy-l salary l", "'l' is not of the form field=value"),
        ("entropy-l 'salary", "cannot be read"),
    ],
)
def test_model_that_is_wrong_is_refused_where_it_is_written(text: str, reason: str) -> None:
    """B05."""
    with pytest.raises(UsageError) as caught:
        model_from(parse_model(text))
    assert reason in str(caught.value)


def test_model_of_a_column_that_is_not_sensitive_is_refused() -> None:
    with pytest.raises(UsageError, match=r"column 'age' is not among the sensitive columns \(salary\)"):
        shoal.anonymize(SALARY, qi=["age"], sensitive=["salary"], k=2, models=[shoal.LDiversity("age", 2)])
    with pytest.raises(UsageError, match="l and t need a sensitive column"):
        shoal.anonymize(SALARY, qi=["age"], others="drop", k=2, l=2)


def test_ordered_distance_needs_an_order() -> None:
    for model, reason in (
        (shoal.TCloseness("salary", 0.1, "ordered"), "categories, which have no order"),
        (shoal.TCloseness("salary", 0.1, "ordered", ("low",)), "the order lacks 1 value "),
        (shoal.TCloseness("salary", 0.1, "hierarchical"), "has no hierarchy"),
    ):
        with pytest.raises(UsageError, match=reason):
            shoal.anonymize(SALARY, qi=["age"], sensitive=["salary"], k=2, models=[model], method="mondrian")


def test_counts_of_a_huge_table_do_not_overflow() -> None:
    """S07: entries stand for billions of rows."""
    groups = groups_of((["1", "2"], ["1", "3"]), Kind.NUMERIC)
    many = Groups(groups.labels, np.full(4, 3_000_000_000, dtype=np.int64), groups.columns)
    for model in (shoal.TCloseness("x", 0.25), shoal.TCloseness("x", "0.2", "equal"), shoal.BetaLikeness("x", 1)):
        assert model.failing(many).tolist() == model.failing(groups).tolist()
    assert shoal.RecursiveLDiversity("x", "1.000000000000001", 2).failing(many).tolist() == [False, False]
