"""Hierarchies as values: levels, labels, and binding to the values of a column."""

from __future__ import annotations

import pickle

import pytest

from shoal.errors import InputError, UsageError
from shoal.hierarchy import Hierarchy, Rule, for_columns, from_dict, intervals, prefixes

CITIES = Hierarchy({"Oslo": ("North", "*"), "Rome": ("South", "*"), "Bari": ("South", "*")}, source="city.csv")


def test_labels_by_level() -> None:
    assert CITIES.height == 2
    assert [CITIES.label("Rome", level) for level in range(3)] == ["Rome", "South", "*"]
    assert [len(CITIES.labels(level)) for level in range(3)] == [3, 2, 1]


def test_values_under_labels_of_all_levels() -> None:
    under = CITIES.values_under()
    assert under["South"] == {"Rome", "Bari"}
    assert under["*"] == {"Oslo", "Rome", "Bari"}
    assert under["Oslo"] == {"Oslo"}


def test_bind_keeps_exactly_the_given_values_and_all_levels() -> None:
    bound = CITIES.bind(["Rome"], column="city")
    assert dict(bound.rows) == {"Rome": ("South", "*")}
    assert bound.source == "city.csv"


def test_value_outside_the_hierarchy_is_refused_with_column_count_and_first_row() -> None:
    """B18: also if it is in the first row."""
    rows = {0: 7, 1: 3, 2: 1}
    with pytest.raises(
        InputError, match=r"column 'city': 2 values are not in hierarchy city.csv \(first at row 1\)"
    ) as e:
        CITIES.bind(["Rome", "Secret1", "Secret2"], column="city", rows_of=rows.__getitem__)
    assert "Secret" not in str(e.value)
    assert "unknown='top'" in str(e.value)
    assert "--unknown top" in e.value.for_command_line()


def test_unknown_top_releases_other_values_as_star() -> None:
    """B18: only on request."""
    bound = CITIES.bind(["Rome", "Lima"], column="city", unknown="top")
    assert bound.rows["Lima"] == ("*", "*")
    with pytest.raises(UsageError, match="unknown='bottom' is not known"):
        CITIES.bind(["Rome"], unknown="bottom")


def test_missing_values_go_to_the_top_unless_listed() -> None:
    assert CITIES.bind(["Rome", ""], missing=["", "?"]).rows[""] == ("*", "*")
    listed = Hierarchy({"Rome": ("South", "*"), "?": ("South", "*")})
    assert listed.bind(["?"], missing=["?"]).rows["?"] == ("South", "*")


def test_numbers_are_compared_by_value_on_request() -> None:
    ages = Hierarchy({"20": ("[20, 30)", "*")})
    assert ages.bind(["20.0"], numbers=True).rows["20.0"] == ("[20, 30)", "*")
    with pytest.raises(InputError):
        ages.bind(["20.0"])


@pytest.mark.parametrize("rows", [{}, {"a": ()}, {"a": ("X",), "b": ("Y",)}, {"a": ("*",), "b": ("X", "*")}])
def test_rows_that_do_not_form_a_hierarchy_are_refused(rows: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(InputError, match="every value needs the same number of labels"):
        Hierarchy(rows)


def test_every_rule_can_be_pickled() -> None:
    for rule in (CITIES, intervals([5]), intervals(["1"], unit="year"), prefixes(mask=1)):
        assert isinstance(rule, Rule)
        assert pickle.loads(pickle.dumps(rule)) == rule


def test_two_different_hierarchies_and_unknown_columns_are_refused() -> None:
    """B20."""
    other = from_dict({"Oslo": ["*"], "Rome": ["*"], "Bari": ["*"]})
    with pytest.raises(UsageError) as e:
        for_columns([("city", CITIES), ("city", other), ("town", CITIES)], ["city", "age"])
    assert str(e.value).splitlines() == [
        "column 'city' has two different hierarchies. Give it one.",
        "hierarchy for column 'town': no quasi-identifier or sensitive column has this name.",
    ]
    assert for_columns([("city", CITIES), ("city", CITIES)], ["city"]) == {"city": CITIES}
