"""Research values and the searches for them, against trying every string."""

from __future__ import annotations

import resource
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal import hierarchy
from shoal.encoding import encode
from shoal.errors import UsageError
from shoal.frequency import MemoryEngine
from shoal.methods import Run, named
from shoal.methods.research_value import Researched
from shoal.methods.rules import kept_share, parse_rules
from shoal.methods.strings import local_steps
from shoal.methods.subsets import split
from shoal.models import KAnonymity
from shoal.partition import Partition
from shoal.schema import Kind, Role, Schema
from shoal.table import from_frame
from tests.naive import lattice as naive
from tests.unit.methods.full_domain import make, plain

FALLING = {"zip": [0.95, 0.72, 0.2], "age": [1.5, 0.9, 0.4], "sex": [0.85], "job": [0.3]}
RISING = FALLING | {"zip": [0.2, 0.9, 0.1]}


def solve(seed: int, k: int, name: str, **options: Any) -> Partition:
    _, encoded, _ = make(seed)
    return named(name, **options).partition(encoded, (KAnonymity(k),), Run())


def value(vector: tuple[int, ...], values: dict[str, list[float]]) -> Fraction:
    lists = [[*map(str, levels), "0"] for levels in values.values()]
    return sum((Fraction(levels[v]) for levels, v in zip(lists, vector, strict=True)), Fraction(0))


def best(rows: list[tuple[str, ...]], k: int, values: dict[str, list[float]]) -> tuple[int, ...]:
    columns = plain(rows)

    def rank(v: tuple[int, ...]) -> tuple[Any, ...]:
        roots = sum(place == c.height for place, c in zip(v, columns, strict=True))
        return (-value(v, values), roots, sum(v), v)

    return min(naive.passing(rows, columns, k, 0), key=rank)


@pytest.mark.parametrize("name", ["rv-global", "rv-hybrid"])
@pytest.mark.parametrize("k", [2, 4, 9])
def test_global_and_hybrid_find_the_best_where_values_fall(name: str, k: int, seed: int) -> None:
    rows, _, _ = make(seed)
    made = solve(seed, k, name, values=FALLING)
    assert made.levels is not None
    assert tuple(made.levels.values()) == best(rows, k, FALLING)
    assert made.facts["rising"] == []
    assert made.facts["successful"][0]["levels"] == made.levels


@pytest.mark.parametrize("values", [FALLING, RISING])
@pytest.mark.parametrize("name", ["rv-global", "rv-hybrid"])
@pytest.mark.parametrize("budget", [1, 4, 12, 100])
def test_subsets_find_the_best_whatever_the_values(
    name: str, budget: int, values: dict[str, list[float]], seed: int
) -> None:
    rows, _, _ = make(seed)
    for k in (2, 5):
        made = solve(seed, k, name, values=values, subsets=True, budget=budget)
        assert made.levels is not None
        assert tuple(made.levels.values()) == best(rows, k, values)


def test_optimal_finds_the_best_research_value(seed: int) -> None:
    rows, _, _ = make(seed)
    for values in (FALLING, RISING):
        made = solve(seed, 3, "optimal", objective="rv", values=values)
        assert made.levels is not None
        assert tuple(made.levels.values()) == best(rows, 3, values)


def test_global_says_where_values_do_not_fall() -> None:
    assert solve(0, 2, "rv-global", values=RISING).facts["rising"] == ["zip"]


def test_owner_may_choose_another_string() -> None:
    first = solve(0, 2, "rv-global", values=FALLING)
    found = first.facts["successful"]
    assert len(found) > 1
    assert [string["rv"] for string in found] == sorted((string["rv"] for string in found), reverse=True)
    second = solve(0, 2, "rv-global", values=FALLING, choose=2)
    assert second.levels == found[1]["levels"] != first.levels
    with pytest.raises(UsageError, match="choose=99, but"):
        solve(0, 2, "rv-global", values=FALLING, choose=99)


def test_facts_count_strings_and_name_what_was_pruned() -> None:
    """Level 0 of age fails alone with k = 9 and goes, with it nothing else."""
    rows, _, _ = make(0)
    made = solve(0, 9, "rv-global", values=FALLING)
    facts = made.facts
    columns = plain(rows)
    alone = {
        "age": [v for v in range(4) if naive.failing_rows(rows, columns, (3, v, 1, 1), 9)],
        "zip": [v for v in range(4) if naive.failing_rows(rows, columns, (v, 3, 1, 1), 9)],
    }
    assert facts["pruned_levels"] == {name: levels for name, levels in sorted(alone.items(), reverse=True) if levels}
    assert facts["strings"] == (4 - len(alone["age"])) * (4 - len(alone["zip"])) * 4
    assert 0 < facts["tested"] <= facts["strings"]
    assert facts["minimum_rv"] == 0
    assert facts["dropped"] == []


def test_attribute_that_fails_at_its_highest_level_is_dropped_and_named() -> None:
    made = solve(0, 9, "rv-global", values=FALLING, maximum={"age": 0})
    assert made.facts["dropped"] == ["age"]
    assert made.levels is not None
    assert made.levels["age"] == 3


def test_local_moves_all_attributes_together() -> None:
    """Worked by hand: heights 4 and 2 (positions 0..3 and 0..1), the second test passes."""
    answers = iter([False, True, False])
    asked = []
    for vector, answer in local_steps((4, 2)):
        asked.append(vector)
        answer.append(next(answers))
    # Mid (2, 1); failing: Hi = Mid, Mid (1, 0); passing: Lo = Mid, Mid (1, 0) does not change.
    assert asked == [(1, 0), (2, 1)]


def test_local_finds_a_string_that_passes(seed: int) -> None:
    rows, _, _ = make(seed)
    made = solve(seed, 2, "rv-local", values=FALLING)
    assert made.levels is not None
    assert tuple(made.levels.values()) in naive.passing(rows, plain(rows), 2, 0)


def test_local_that_finds_nothing_points_to_hybrid() -> None:
    """Two levels each: position 1 is tested, then position 0, which is the root and passes; with one level none is."""
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]})
    schema = Schema.build(frame.columns, {Role.QI: frame.columns}, kinds=dict.fromkeys(frame.columns, Kind.CATEGORICAL))
    encoded = encode(from_frame(frame), schema)
    made = named("rv-local").partition(encoded, (KAnonymity(2),), Run())
    assert made.levels == {"a": 1, "b": 1}
    better = named("rv-hybrid").partition(encoded, (KAnonymity(2),), Run())
    assert better.levels == {"a": 0, "b": 1}


def test_too_many_strings_point_to_subsets() -> None:
    with pytest.raises(UsageError, match=r"64 strings are more than the 10 that fit in memory.*--subsets"):
        solve(0, 1, "rv-global", values=FALLING, budget=10)


def test_subsets_fit_the_budget() -> None:
    assert split((3, 3, 3, 3, 3), 9) == [(0, 2), (2, 4), (4, 5)]
    assert split((5, 2, 2), 4) == [(0, 1), (1, 3)]
    assert split((3,) * 24, 20_000) == [(0, 9), (9, 18), (18, 24)]


def numeric_ladder(values: list[int], labels: dict[str, tuple[str, ...]], **options: Any) -> list[list[Fraction]]:
    frame = pl.DataFrame({"x": list(map(str, values))})
    schema = Schema.build(["x"], {Role.QI: ["x"]}, kinds={"x": Kind.NUMERIC})
    encoded = encode(from_frame(frame), schema, {"x": hierarchy.from_dict(labels)})
    method = named("rv-global", **options)
    assert isinstance(method, Researched)
    return method.research_values(method.problem(MemoryEngine(encoded), (KAnonymity(1),), Run()))


def test_golden_s1_research_value_of_a_numeric_level() -> None:
    """[S1]: weight 0.2, groups of 25, 45 and 55 rows spanning 10, 15 and 25 values, rules kept 50 of 100: 0.005435."""
    labels = {
        str(i): (f"[{low}, {high})", "*") for low, high in ((0, 10), (10, 25), (25, 50)) for i in range(low, high)
    }
    rows = [i % 10 for i in range(25)] + [10 + i % 15 for i in range(45)] + [25 + i % 25 for i in range(55)]
    rules = ["x:9-10=50", "x:4-5=50"]
    ((finest, level, root),) = numeric_ladder(rows, labels, weights={"x": 0.2}, rules=rules)
    assert round(float(level), 6) == 0.005435
    assert finest == Fraction(1, 5)
    assert root == 0


def test_golden_s1_rules_of_race() -> None:
    """[S1] Table 1: a level that mixes Hispanic and Black keeps 30 of 40."""
    rules = parse_rules(
        ["race:White|Hispanic=5", "race:White|Black=20", "race:Hispanic|Black=10", "race:Hispanic|Asian=5"]
    )
    groups = [({"White"}, None), ({"Hispanic", "Black"}, None), ({"Asian"}, None)]
    assert kept_share(rules, groups, Fraction(0)) == Fraction(3, 4)
    assert kept_share(rules, groups, Fraction(40)) == Fraction(70, 80)
    assert kept_share((), groups, Fraction(0)) == 1


def test_golden_s1_table_4_values_by_hand() -> None:
    """[S1] Table 4: values of race and gender as the expert gave them, 0 at the root."""
    merged = [("A", "O"), ("L", "A", "O"), ("B", "L", "A", "O")]  # what each level calls other
    race = {v: (*(f"other {i}" if v in held else f"{v} {i}" for i, held in enumerate(merged)), "*") for v in "WBLAO"}
    frame = pl.DataFrame({"race": list("WWWWBBBLLAO"), "gender": list("MFMFMFMFMFM")})
    kinds = dict.fromkeys(frame.columns, Kind.CATEGORICAL)
    schema = Schema.build(frame.columns, {Role.QI: frame.columns}, kinds=kinds)
    encoded = encode(from_frame(frame), schema, {"race": hierarchy.from_dict(race)})
    values = {"race": [0.95, 0.72, 0.58, 0.10], "gender": [0.85]}
    made = named("rv-global", values=values).partition(encoded, (KAnonymity(3),), Run())
    assert made.facts["values"]["gender"] == [0.85, 0.0]
    # Alone, races L, A and O have fewer than 3 rows: the first two levels of race go.
    assert made.facts["pruned_levels"] == {"race": [0, 1]}
    # Gender alone is worth more than race on the levels that are left, and both together fail.
    assert made.levels == {"race": 4, "gender": 0}
    assert made.facts["successful"][0] == {"levels": made.levels, "rv": 0.85, "roots": 1}


def test_range_rule_is_the_inflections_at_its_ends() -> None:
    (low, high) = parse_rules([{"column": "age", "range": [12, 18], "importance": 30}])
    assert (low.inflection, high.inflection) == ((11, 12), (18, 19))
    assert low.is_broken((), (10, 14))
    assert not low.is_broken((), (12, 14))
    assert high.is_broken((), (18, 19))


def test_allowed_groupings() -> None:
    (rule,) = parse_rules([{"column": "race", "allowed": [["a", "b"], ["c", "d"]]}])
    assert not rule.is_broken({"a", "b"})
    assert not rule.is_broken({"e"})
    assert rule.is_broken({"a", "c"})


@pytest.mark.parametrize(
    "rule", ["age", {"column": "age"}, {"column": "a", "apart": [["x"]], "range": [1, 2]}, "a:x-y=3"]
)
def test_rules_that_cannot_be_read_are_refused(rule: Any) -> None:
    with pytest.raises(UsageError, match="rule"):
        parse_rules([rule])


def test_alpha_balances_granularity_and_rules() -> None:
    labels = {str(i): ("[0, 4)", "*") for i in range(4)}
    rules = ["x:1-2=1", "x:5-6=1"]
    by_alpha = {a: numeric_ladder([0, 1, 2, 3], labels, rules=rules, alpha=a)[0][1] for a in (0, 0.5, 1)}
    assert by_alpha[0.5] == Fraction(1, 4) * Fraction(1, 2)
    assert float(by_alpha[0]) == pytest.approx((1 / 2) ** 2)
    assert float(by_alpha[1]) == pytest.approx((1 / 4) ** 2)


def test_24_attributes_with_3_levels_stay_in_bounded_memory() -> None:
    """3^24 strings are never listed: the search ends, its string passes, and memory grows by less than 300 MB."""
    draw = np.random.default_rng(3)
    frame = pl.DataFrame({f"a{i:02}": [f"{x}" for x in draw.integers(0, 4, 200)] for i in range(24)})
    kinds = dict.fromkeys(frame.columns, Kind.CATEGORICAL)
    schema = Schema.build(frame.columns, {Role.QI: frame.columns}, kinds=kinds)
    halves = hierarchy.from_dict({str(i): ("low" if i < 2 else "high", "*") for i in range(4)})
    encoded = encode(from_frame(frame), schema, dict.fromkeys(frame.columns, halves))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    weights = {name: 1 + i / 7 for i, name in enumerate(frame.columns)}
    method = named("rv-hybrid", subsets=True, budget=2000, weights=weights)
    made = method.partition(encoded, (KAnonymity(20),), Run())
    assert made.facts["strings"] == 3**24
    assert np.bincount(made.labels).min() >= 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
