"""Data constraint rules: what they say, how they are checked, and what they become over codes."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from shoal.errors import UsageError
from shoal.rules import Rule, compile_rules, rule_from
from tests.strategies import Sheet

RACES = ["White", "Black", "Hispanic", "Asian"]
SHEET = Sheet(
    {
        "race": [*RACES, "White", ""],
        "age": ["5", "12", "18", "64", "65", ""],
        "born": ["2000-01-01", "2010-01-01", "1990-05-06", "1980-01-01", "", "1970-01-01"],
    },
    {"race": "categorical", "age": "numeric", "born": "date"},
)
RACE_RULES = [
    Rule("race", apart=("White", "Hispanic"), importance=5),
    Rule("race", apart=("White", "Black"), importance=20),
    Rule("race", apart=("Hispanic", "Black"), importance=10),
    Rule("race", apart=("Hispanic", "Asian"), importance=5),
]


def broken(rules: list[Rule], cells: list[tuple[str, str, str]]) -> set[int]:
    """The rules, by number, that a group of these rows breaks."""
    encoded = SHEET.encoded
    compiled = compile_rules(rules, encoded.attributes)
    codes = [[a.texts.index(cell) for a, cell in zip(encoded.attributes, row, strict=True)] for row in cells]
    one, other = (np.bitwise_or.reduce(side) for side in compiled.sides(np.array(codes, dtype=np.int32)))
    both = one & other
    return {pair.rule for p, pair in enumerate(compiled.pairs) if int(both[p // 64]) >> (p % 64) & 1}


def rows(races: str = "White", ages: str = "5", born: str = "2000-01-01") -> list[tuple[str, str, str]]:
    """Rows with these values, comma separated, in turn."""
    columns = [text.split(",") for text in (races, ages, born)]
    n = max(map(len, columns))
    return list(zip(*((column * n)[:n] for column in columns), strict=True))


def test_mixing_hispanic_and_black_keeps_three_quarters() -> None:
    """[S1] Table 8: 30 of 40."""
    compiled = compile_rules(RACE_RULES, SHEET.encoded.attributes)
    lost = broken(RACE_RULES, rows("Hispanic,Black"))
    assert lost == {2}
    assert compiled.kept(lost, 0) == Fraction(3, 4)
    assert compiled.kept(set(), 0) == 1
    assert compiled.kept({0, 1, 2, 3}, 0) == 0
    assert compiled.kept({0}, 1) == 1  # a column without rules keeps all


def test_base_value_is_left_when_all_rules_are_broken() -> None:
    compiled = compile_rules([*RACE_RULES, Rule("race", base=10)], SHEET.encoded.attributes)
    assert compiled.kept({0, 1, 2, 3}, 0) == Fraction(10, 50)
    assert compiled.kept({2}, 0) == Fraction(40, 50)


def test_sides_may_be_sets() -> None:
    rule = [Rule("race", apart=(["White", "Asian"], ["Black"]))]
    assert broken(rule, rows("White,Asian")) == set()
    assert broken(rule, rows("Asian,Black")) == {0}
    assert broken(rule, rows("Hispanic,Black")) == set()


def test_groupings_allow_nothing_else() -> None:
    rule = [Rule("race", groupings=(["White", "Asian"], ["Black", "Hispanic"]))]
    assert broken(rule, rows("White,Asian")) == set()
    assert broken(rule, rows("White,Black")) == {0}
    assert broken(rule, rows("White,")) == {0}  # the missing value stands in no grouping
    assert broken(rule, rows("White")) == set()


def test_inflection_is_broken_by_values_up_to_it_and_from_it_on() -> None:
    """[S1] Table 9: 64-65."""
    rule = [Rule("age", inflection=(64, 65), importance=25)]
    assert broken(rule, rows(ages="5,64")) == set()
    assert broken(rule, rows(ages="65")) == set()
    assert broken(rule, rows(ages="5,65")) == {0}
    assert broken(rule, rows(ages="65,")) == set()  # a missing number stands on no side


def test_range_is_the_inflections_at_its_ends() -> None:
    rule = [Rule("age", range=(12, 18), importance=3)]
    assert broken(rule, rows(ages="12,18")) == set()
    assert broken(rule, rows(ages="5,12")) == {0}
    assert broken(rule, rows(ages="18,64")) == {1}
    assert broken(rule, rows(ages="5,64")) == {0, 1}
    assert compile_rules(rule, SHEET.encoded.attributes).importances == (3, 3)


def test_dates_have_inflections_too() -> None:
    for bounds in (("1999-12-31", "2000-01-01"), (date(1999, 12, 31), date(2000, 1, 1))):
        rule = [Rule("born", inflection=bounds)]
        assert broken(rule, rows(born="1990-05-06,1980-01-01")) == set()
        assert broken(rule, rows(born="1990-05-06,2000-01-01")) == {0}


def test_more_than_sixty_four_pairs_have_their_bits() -> None:
    rules = [Rule("age", inflection=(12, 18), importance=i) for i in range(70)]
    assert broken(rules, rows(ages="12,18")) == set(range(70))
    assert broken(rules, rows(ages="18,64")) == set()


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            Rule("zip", apart=("a", "b")),
            r"rule 1, column 'zip'.*not a quasi-identifier\. The quasi-identifiers: 'race', 'age', 'born'",
        ),
        (Rule("race", apart=("White", "Green")), r"'Green': not a value of the column"),
        (Rule("race", apart=("White", ["White", "Black"])), r"a value is on both sides"),
        (Rule("race", groupings=(["White"], ["White", "Black"])), r"a value is in two groupings"),
        (Rule("race", inflection=(1, 2)), r"the column is categorical\. Use apart or groupings"),
        (Rule("age", apart=("5", "12")), r"the column is numeric\. Use inflection or range"),
        (Rule("age", inflection=(65, 64)), r"Put the lower value first"),
        (Rule("age", inflection=("a", "b")), r"'a' is not a number"),
        (Rule("born", range=("x", "y")), r"'x' is not a date such as 2020-12-31"),
    ],
)
def test_rule_that_does_not_fit_the_table_is_refused(rule: Rule, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        compile_rules([rule], SHEET.encoded.attributes)


def test_all_problems_are_told_at_once() -> None:
    """B22."""
    rules = [Rule("zip", apart=("a", "b")), Rule("race", apart=("Blue", "Green"))]
    with pytest.raises(UsageError) as caught:
        compile_rules(rules, SHEET.encoded.attributes)
    assert "rule 1" in str(caught.value)
    assert "rule 2" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, r"0 forms instead of one\. Use one of apart, groupings, inflection, range, base"),
        ({"apart": ("a", "b"), "base": 1}, r"2 forms instead of one"),
        ({"apart": ("a", "b", "c")}, r"apart needs two sides"),
        ({"inflection": "64"}, r"inflection needs two sides, such as \[64, 65\]"),
        ({"apart": ("a", "b"), "importance": -1}, r"importance=-1 is not a number of at least 0"),
        ({"base": float("nan")}, r"base=nan is not a number of at least 0"),
    ],
)
def test_rule_that_says_too_little_or_too_much_is_refused(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Rule("age", **fields)


def test_rules_of_a_file_are_plain_values() -> None:
    assert rule_from({"column": "age", "inflection": [64, 65], "importance": 25}) == Rule(
        "age", inflection=(64, 65), importance=25
    )
    with pytest.raises(UsageError, match=r"key 'inflexion' is unknown"):
        rule_from({"column": "age", "inflexion": [64, 65]})
    with pytest.raises(UsageError, match=r"the column is missing"):
        rule_from({"base": 1})


def test_research_value_is_measured_on_any_release() -> None:
    """[S1]: weight x rows / spans x share of the rules kept; from the released cells alone."""
    import polars as pl

    import shoal

    before = pl.DataFrame({"age": ["20", "22", "64", "70"], "race": ["?", "White", "Black", "White"]})
    after = pl.DataFrame(
        {"age": ["[20, 22]", "[20, 22]", "[64, 70]", "[64, 70]"], "race": ["{?, White}"] * 2 + ["{Black, White}"] * 2}
    )
    rules = [
        Rule("age", inflection=(64, 65), importance=3),
        Rule("age", inflection=(22, 64), importance=1),
        Rule("race", apart=("White", "Black"), importance=1),
        Rule("race", apart=("?", "White"), importance=1),
        Rule("race", apart=("?", "Black"), importance=1),
        Rule("race", base=1),
    ]
    measures = shoal.measure(
        before, after, qi=["age", "race"], rules=rules, weights={"age": 3, "race": 1}, missing=["?"]
    )
    assert measures.research_value["age"] == pytest.approx(0.75 * 4 / (3 + 3 + 7 + 7) * 1 / 4)
    assert measures.research_value["race"] == pytest.approx(0.25 * 4 / 8 * 2 / 4)
    assert measures.research_value_total == pytest.approx(sum(measures.research_value.values()))
    untouched = shoal.measure(before, before, qi=["age", "race"], rules=rules, missing=["?"])
    assert untouched.research_value == {"age": 0.5, "race": 0.5}
    stars = pl.DataFrame({"age": ["*"] * 4, "race": ["*"] * 4})
    assert shoal.measure(before, stars, qi=["age", "race"]).research_value_total == 0


def test_measured_research_value_is_that_of_the_clustering(seed: int) -> None:
    """The cells of a release tell what the method worked out from its groups."""
    import polars as pl

    import shoal
    from tests.naive import utility

    draw = np.random.default_rng(seed)
    frame = pl.DataFrame({"age": draw.integers(10, 90, 60).astype(str), "race": draw.choice(RACES, 60)})
    rules = [*RACE_RULES, Rule("age", inflection=(40, 41), importance=2), Rule("age", base=1)]
    made = shoal.anonymize(
        frame, qi=["age", "race"], numeric=["age"], k=4, method="utility-driven", rules=rules, keep_order=True
    )
    encoded = Sheet(frame.to_dict(as_series=False), {"age": "numeric", "race": "categorical"}).encoded
    compiled = compile_rules(rules, encoded.attributes)
    groups: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    tuple_of = dict(zip(encoded.order.tolist(), encoded.row_tuple.tolist(), strict=True))
    for row, cells in enumerate(made.text.rows()):
        groups.setdefault(cells, []).append((tuple_of[row], 1))
    attributes = []
    for a, attribute in enumerate(encoded.attributes):
        own = []
        for r, importance in enumerate(compiled.importances):
            pairs = tuple(
                (frozenset(np.flatnonzero(p.one).tolist()), frozenset(np.flatnonzero(p.other).tolist()))
                for p in compiled.pairs
                if p.rule == r
            )
            own += [(importance, pairs)] if compiled.attributes[r] == a else []
        values = tuple(map(Fraction, attribute.values.tolist())) or None
        attributes.append(
            utility.Attribute(
                len(attribute.texts), values, weight=Fraction(1, 2), rules=tuple(own), base=compiled.bases[a]
            )
        )
    tuples = [tuple(row) for row in encoded.tuples.tolist()]
    expected = utility.research_value([utility.Group(g) for g in groups.values()], 0, tuples, attributes)
    assert list(made.measures.research_value.values()) == pytest.approx([float(value) for value in expected])
