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
            r"rule 1, column 'zip'.*not a quasi-identifier\. They are: 'race', 'age', 'born'",
        ),
        (Rule("race", apart=("White", "Green")), r"'Green': not among the values of the column"),
        (Rule("race", apart=("White", ["White", "Black"])), r"a value stands on both sides"),
        (Rule("race", groupings=(["White"], ["White", "Black"])), r"a value stands in two groupings"),
        (Rule("race", inflection=(1, 2)), r"the column is categorical\. Use apart or groupings"),
        (Rule("age", apart=("5", "12")), r"the column is numeric\. Use inflection or range"),
        (Rule("age", inflection=(65, 64)), r"give the lower value first"),
        (Rule("age", inflection=("a", "b")), r"'a' is not a number"),
        (Rule("born", range=("x", "y")), r"'x' is not a date such as 2020-12-31"),
    ],
)
def test_rule_that_does_not_fit_the_table_is_refused(rule: Rule, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        compile_rules([rule], SHEET.encoded.attributes)


def test_all_problems_are_told_at_once() -> None:
    rules = [Rule("zip", apart=("a", "b")), Rule("race", apart=("Blue", "Green"))]
    with pytest.raises(UsageError) as caught:
        compile_rules(rules, SHEET.encoded.attributes)
    assert "rule 1" in str(caught.value)
    assert "rule 2" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, r"0 forms are given\. Give one of apart, groupings, inflection, range, base"),
        ({"apart": ("a", "b"), "base": 1}, r"2 forms are given"),
        ({"apart": ("a", "b", "c")}, r"apart takes two sides"),
        ({"inflection": "64"}, r"inflection takes two sides, as in \[64, 65\]"),
        ({"apart": ("a", "b"), "importance": -1}, r"importance=-1 is not a number from 0 on"),
        ({"base": float("nan")}, r"base=nan is not a number from 0 on"),
    ],
)
def test_rule_that_says_too_little_or_too_much_is_refused(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Rule("age", **fields)


def test_rules_of_a_file_are_plain_values() -> None:
    assert rule_from({"column": "age", "inflection": [64, 65], "importance": 25}) == Rule(
        "age", inflection=(64, 65), importance=25
    )
    with pytest.raises(UsageError, match=r"key 'inflexion' is not known"):
        rule_from({"column": "age", "inflexion": [64, 65]})
    with pytest.raises(UsageError, match=r"its column is not named"):
        rule_from({"base": 1})
