"""Hierarchies from dictionaries and functions."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.errors import InputError, UsageError
from shoal.hierarchy import from_dict, from_function

EUROPE = {"SE": ("North", "Europe"), "NO": ("North", "Europe"), "IT": ("South", "Europe")}


@pytest.mark.parametrize(
    "content",
    [
        {"SE": ["North", "Europe"], "NO": ["North", "Europe"], "IT": ["South", "Europe"]},
        {"SE": ["North", "Europe", "*"], "NO": ["North", "Europe", "*"], "IT": ["South", "Europe", "*"]},
        {"SE": "North", "NO": "North", "IT": "South", "North": "Europe", "South": "Europe"},
        {"Europe": {"North": {"SE", "NO"}, "South": {"IT"}}},
        {"Europe": {"North": {"SE": None, "NO": {}}, "South": frozenset(["IT"])}},
        {"*": {"Europe": {"North": {"SE", "NO"}, "South": {"IT"}}}},
    ],
)
def test_three_ways_to_write_one_hierarchy(content: dict[str, Any]) -> None:
    has_star = "*" in str(content)
    expected = {value: (*labels, "*") if has_star else labels for value, labels in EUROPE.items()}
    assert dict(from_dict(content).rows) == expected


def test_star_is_put_on_top_of_several_roots() -> None:
    assert from_dict({"X": {"a", "b"}, "Y": {"c"}}).rows["c"] == ("Y", "*")
    assert from_dict({"a": ["X"], "c": ["Y"]}).rows["c"] == ("Y", "*")


def test_short_branches_are_padded_at_the_value() -> None:
    assert from_dict({"X": {"P": {"a"}, "b": None}}).rows["b"] == ("b", "X")


@pytest.mark.parametrize(
    "content",
    [
        {"a": "X", "X": "Y", "Y": "X"},
        {"X": "Y", "Y": "X"},
        {"X": {"Y": {"X": {"a"}}}},
        {"a": ["X", "Y", "X"], "b": ["X", "Y", "X"]},
    ],
)
def test_cycles_are_refused(content: dict[str, Any]) -> None:
    """B19."""
    with pytest.raises(InputError, match="its own ancestor"):
        from_dict(content)


def test_dictionary_that_contains_itself_is_refused() -> None:
    """B19."""
    tree: dict[str, Any] = {"a": None}
    tree["X"] = tree
    with pytest.raises(InputError, match="its own ancestor"):
        from_dict(tree)


def test_value_below_two_labels_is_refused() -> None:
    """B19."""
    with pytest.raises(InputError, match="value 2: the value occurs before, with other labels"):
        from_dict({"X": {"a"}, "Y": {"a"}})


def test_other_content_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="content of type int"):
        from_dict({"a": 5, "b": {"c"}})
    with pytest.raises(InputError, match="the hierarchy is empty"):
        from_dict({})


def test_function_gives_the_labels() -> None:
    hierarchy = from_function(lambda text: [f"{text[0]}x", "*"], ["11", "12", "21", "11"])
    assert hierarchy.rows == {"11": ("1x", "*"), "12": ("1x", "*"), "21": ("2x", "*")}
    with pytest.raises(InputError, match="does not contain the value"):
        from_function(lambda text: ["0-9"], ["11"])
    assert from_function(lambda text: ["0-9"], ["11"], trust=True).trusted
