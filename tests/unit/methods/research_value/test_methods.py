"""Research values and the searches for them, against trying every string."""

from __future__ import annotations

import resource
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal import hierarchy
from shoal.encoding.encode import encode
from shoal.encoding.partition import Partition
from shoal.errors import InfeasibleError, UsageError
from shoal.methods import Run, named
from shoal.methods.full_domain.frequency import MemoryEngine
from shoal.methods.full_domain.research_values import Researched
from shoal.methods.research_value.search import local_steps
from shoal.methods.research_value.subsets import split
from shoal.models import KAnonymity
from shoal.rules import Rule
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.naive import lattice as naive
from tests.unit.methods.full_domain.made import make, plain

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
    """Two levels each: position 1 is tested and fails, then position 0, where every cell is suppressed."""
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "q", "p", "q"]})
    schema = Schema.build(frame.columns, {Role.QI: frame.columns}, kinds=dict.fromkeys(frame.columns, Kind.CATEGORICAL))
    encoded = encode(from_frame(frame), schema)
    with pytest.raises(InfeasibleError, match=r"rv-local found nothing: every string .* fails.*Use rv-hybrid"):
        named("rv-local").partition(encoded, (KAnonymity(2),), Run())
    better = named("rv-hybrid").partition(encoded, (KAnonymity(2),), Run())
    assert better.levels == {"a": 0, "b": 1}


def test_too_many_strings_point_to_subsets() -> None:
    with pytest.raises(UsageError, match=r"there are 64 strings, and option budget allows 10 in memory.*subsets=true"):
        solve(0, 1, "rv-global", values=FALLING, budget=10)


def test_subsets_fit_the_budget() -> None:
    assert split((3, 3, 3, 3, 3), 9) == [(0, 2), (2, 4), (4, 5)]
    assert split((5, 2, 2), 4) == [(0, 1), (1, 3)]
    assert split((3,) * 24, 20_000) == [(0, 9), (9, 18), (18, 24)]


def levels_of(
    cells: dict[str, list[str]], kinds: dict[str, Kind], trees: dict[str, Any], run: Run, **options: Any
) -> Any:
    """The research value of each level, by column."""
    frame = pl.DataFrame(cells)
    schema = Schema.build(frame.columns, {Role.QI: frame.columns}, kinds=kinds)
    encoded = encode(from_frame(frame), schema, {name: hierarchy.from_dict(tree) for name, tree in trees.items()})
    method = named("rv-global", **options)
    assert isinstance(method, Researched)
    return method.research_values(method.problem(MemoryEngine(encoded), (KAnonymity(1),), run))


def test_golden_s1_research_value_of_a_numeric_level() -> None:
    """[S1]: weight 0.2, groups of 25, 45 and 55 rows spanning 10, 15 and 25 values, rules kept 50 of 100: 0.005435."""
    bands = ((0, 10), (10, 25), (25, 50))
    labels = {str(i): (f"[{low}, {high})", "*") for low, high in bands for i in range(low, high)}
    rows = [i % 10 for i in range(25)] + [10 + i % 15 for i in range(45)] + [25 + i % 25 for i in range(55)]
    rules = (Rule("x", inflection=(9, 10), importance=50), Rule("x", inflection=(4, 5), importance=50))
    run = Run(rules=rules, weights={"x": Fraction(1, 5), "y": Fraction(4, 5)})
    cells, kinds = {"x": list(map(str, rows)), "y": ["a"] * 125}, {"x": Kind.NUMERIC, "y": Kind.CATEGORICAL}
    (finest, level, root), _ = levels_of(cells, kinds, {"x": labels}, run)
    assert round(float(level), 6) == 0.005435
    assert finest == Fraction(1, 5)
    assert root == 0


def test_golden_s1_rules_of_race() -> None:
    """[S1] Table 1: a level that mixes Hispanic and Black keeps 30 of 40 of the value that 3 of 4 labels leave."""
    rules = tuple(
        Rule("race", apart=pair, importance=worth)
        for pair, worth in (
            (("White", "Hispanic"), 5),
            (("White", "Black"), 20),
            (("Hispanic", "Black"), 10),
            (("Hispanic", "Asian"), 5),
        )
    )
    races = ["White", "Black", "Hispanic", "Asian"]
    labels = {race: ("mixed" if race in ("Black", "Hispanic") else f"{race} alone", "*") for race in races}
    found = levels_of({"race": races}, {"race": Kind.CATEGORICAL}, {"race": labels}, Run(rules=rules))
    assert found == [[1, Fraction(3, 4) * Fraction(3, 4), 0]]


def test_weights_sum_to_1_and_are_equal_where_none_are_given() -> None:
    kinds = dict.fromkeys(("a", "b"), Kind.CATEGORICAL)
    cells = {"a": ["x", "y"], "b": ["x", "x"]}
    assert levels_of(cells, kinds, {}, Run()) == [[Fraction(1, 2), 0], [Fraction(1, 2), 0]]
    assert levels_of(cells, kinds, {}, Run(weights={"a": Fraction(3)})) == [[Fraction(3, 4), 0], [Fraction(1, 4), 0]]


def test_dates_and_broken_numbers_span_in_their_own_steps() -> None:
    """A month of 31 days spans 31; numbers a quarter apart span five from 0 to 1."""
    days = ["2020-01-01", "2020-01-31", "2020-02-01"]
    months = {day: (f"[{day[:8]}01, 2020-0{int(day[6]) + 1}-01)", "*") for day in days}
    quarters = {"0": ("[0, 1]", "*"), "0.25": ("[0, 1]", "*"), "1": ("[0, 1]", "*")}
    cells = {"day": days, "x": list(quarters)}
    found = levels_of(cells, {"day": Kind.DATE, "x": Kind.NUMERIC}, {"day": months, "x": quarters}, Run())
    assert found[0][1] == Fraction(1, 2) * Fraction(3, 31 + 31 + 29)
    assert found[1][1] == Fraction(1, 2) * Fraction(1, 5)


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


def test_alpha_balances_granularity_and_rules() -> None:
    labels = {str(i): ("[0, 4)", "*") for i in range(4)}
    run = Run(rules=(Rule("x", inflection=(1, 2)), Rule("x", inflection=(5, 6))))
    cells, kinds = {"x": ["0", "1", "2", "3"]}, {"x": Kind.NUMERIC}
    by_alpha = {a: levels_of(cells, kinds, {"x": labels}, run, alpha=a)[0][1] for a in (0, 0.5, 1)}
    assert by_alpha[0.5] == Fraction(1, 4) * Fraction(1, 2)
    assert float(by_alpha[0]) == pytest.approx((1 / 2) ** 2)
    assert float(by_alpha[1]) == pytest.approx((1 / 4) ** 2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"values": {"zip": [1]}}, "found 1 value for 4 levels"),
        ({"values": {"town": [1]}}, "'town': not a quasi-identifier"),
        ({"alpha": 2}, "must be from 0 to 1"),
        ({"choose": 0}, "must be at least 1"),
        ({"budget": "many"}, "must be integers"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        solve(0, 2, "rv-global", **options)


def test_objectives_refuse_what_they_would_pass_over() -> None:
    _, encoded, _ = make(0)
    run = Run(weights={"age": Fraction(2)}, rules=(Rule("age", inflection=(29, 30)),))
    with pytest.raises(UsageError, match="ignores rules"):
        named("optimal").partition(encoded, (KAnonymity(2),), run)
    with pytest.raises(UsageError, match="ignores weights"):
        named("incognito").partition(encoded, (KAnonymity(2),), Run(weights=run.weights))
    assert named("optimal", objective="rv").partition(encoded, (KAnonymity(2),), run).levels


def test_weights_change_what_is_best_by_loss() -> None:
    """A column that weighs nearly all keeps its values where k allows it."""
    _, encoded, _ = make(0)
    for name in ("zip", "sex", "job"):
        run = Run(weights={name: Fraction(1000)})
        made = named("optimal", objective="ncp").partition(encoded, (KAnonymity(2),), run)
        assert made.levels is not None
        assert made.levels[name] == 0


def test_24_attributes_with_3_levels_stay_in_bounded_memory() -> None:
    """3^24 strings are never listed: the search ends, its string passes, and memory grows by less than 300 MB."""
    draw = np.random.default_rng(3)
    frame = pl.DataFrame({f"a{i:02}": [f"{x}" for x in draw.integers(0, 4, 200)] for i in range(24)})
    kinds = dict.fromkeys(frame.columns, Kind.CATEGORICAL)
    schema = Schema.build(frame.columns, {Role.QI: frame.columns}, kinds=kinds)
    halves = hierarchy.from_dict({str(i): ("low" if i < 2 else "high", "*") for i in range(4)})
    encoded = encode(from_frame(frame), schema, dict.fromkeys(frame.columns, halves))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    weights = {name: 1 + Fraction(i, 7) for i, name in enumerate(frame.columns)}
    method = named("rv-hybrid", subsets=True, budget=2000)
    made = method.partition(encoded, (KAnonymity(20),), Run(weights=weights))
    assert made.facts["strings"] == 3**24
    assert np.bincount(made.labels).min() >= 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
