"""The judges of the verifier against the definitions, written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from shoal.verification.models.judges import JUDGES, Evidence
from tests.naive import models

tables = st.lists(st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=7), min_size=1, max_size=5)
shares = st.fractions(0, 1, max_denominator=60)
PATHS = {("number", value): (f"{value // 2}s", f"{value // 5}l") for value in range(10)}


def failing(spec: Mapping[str, Any], table: Sequence[Sequence[int | None]], kind: str, paths: Any = None) -> set[int]:
    values = {
        (str(i),): Counter(None if value is None else ("number", value) for value in group)
        for i, group in enumerate(table)
    }
    rows = {group: counts.total() for group, counts in values.items()}
    plain = {"column": "c", **{name: str(value) for name, value in spec.items()}}
    return {
        int(group[0]) for group in JUDGES[plain["name"]](Evidence(plain, rows, rows, {}, values, kind, paths or {}))
    }


def everyone(table: Sequence[Sequence[Any]]) -> list[Any]:
    return [value for group in table for value in group]


@given(tables, shares)
@example([[0], [9], [0, 9]], Fraction(1, 2))
@example([[None], [None, 3]], Fraction(1, 4))
def test_ordered_distance(table: list[list[int | None]], t: Fraction) -> None:
    order = [*range(10), None]
    far = {i for i, group in enumerate(table) if models.ordered_distance(group, everyone(table), order) > t}
    assert failing({"name": "t-closeness", "t": t}, table, "numeric") == far


@given(tables, shares)
def test_equal_distance(table: list[list[int | None]], t: Fraction) -> None:
    far = {i for i, group in enumerate(table) if models.equal_distance(group, everyone(table)) > t}
    assert failing({"name": "t-closeness", "t": t}, table, "categorical") == far


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=7), min_size=1, max_size=5), shares)
def test_hierarchical_distance(table: list[list[int]], t: Fraction) -> None:
    paths = {value: PATHS["number", value] + ("*",) for value in range(10)}
    plain = {("number", value): labels for value, labels in paths.items()}
    far = {i for i, group in enumerate(table) if models.hierarchical_distance(group, everyone(table), paths) > t}
    assert failing({"name": "t-closeness", "t": t}, table, "categorical", plain) == far


def test_distances_of_many_values_take_time_by_the_values_of_a_group() -> None:
    """60,000 values in 20,000 groups: to walk through all values for each group would take minutes."""
    table = [[i, 59_999 - i, i + 20_000] for i in range(20_000)]
    assert failing({"name": "t-closeness", "t": Fraction(2, 3)}, table, "numeric") == set()
    assert failing({"name": "t-closeness", "t": Fraction(1, 2)}, table, "categorical") == set(range(20_000))
