"""Roles, kinds and the schema that they make."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import UsageError, join_problems
from shoal.schema import Dialect, Kind, Role, Schema, check_k

NAMES = ("name", "age", "sex", "disease")


def test_every_column_gets_its_role_in_table_order() -> None:
    schema = Schema.build(NAMES, {Role.QI: ["sex", "age"], Role.SENSITIVE: ["disease"], Role.IDENTIFIER: ["name"]})
    assert [column.role for column in schema.columns] == [Role.IDENTIFIER, Role.QI, Role.QI, Role.SENSITIVE]
    assert [column.name for column in schema.released] == ["age", "sex", "disease"]


def test_quasi_identifiers_keep_the_order_in_which_they_were_given() -> None:
    schema = Schema.build(NAMES, {Role.QI: ["sex", "age"]}, others="drop")
    assert [column.name for column in schema.qi] == ["sex", "age"]


@pytest.mark.parametrize(("others", "role"), [("drop", Role.IDENTIFIER), ("insensitive", Role.INSENSITIVE)])
def test_others_speaks_for_columns_not_named(others: str, role: Role) -> None:
    schema = Schema.build(NAMES, {Role.QI: ["age"]}, others=others)
    assert schema.names(role) == ("name", "sex", "disease")


def test_undeclared_column_is_an_error() -> None:
    with pytest.raises(UsageError, match="no role for columns 'name', 'sex', 'disease'"):
        Schema.build(NAMES, {Role.QI: ["age"]})


def test_empty_cell_is_always_missing() -> None:
    assert Schema.build(NAMES, {Role.QI: ["age"]}, others="drop", missing=["?"]).missing == ("", "?")


def test_kinds_and_date_formats_are_kept() -> None:
    schema = Schema.build(
        NAMES,
        {Role.QI: ["age", "sex"]},
        kinds={"sex": Kind.CATEGORICAL},
        date_formats={"age": "%d.%m.%Y"},
        others="drop",
    )
    assert {column.name: column.kind for column in schema.qi} == {"age": Kind.DATE, "sex": Kind.CATEGORICAL}
    assert schema.qi[0].date_format == "%d.%m.%Y"


@pytest.mark.parametrize("k", [0, -1, 1.5, "five", float("nan"), float("inf"), True, None, 2.0])
def test_k_must_be_a_positive_integer(k: object) -> None:
    """B04."""
    with pytest.raises(UsageError, match="not a positive integer"):
        check_k(k)


@pytest.mark.parametrize("k", [1, 7, 10**30, np.int64(5)])
def test_k_may_be_any_positive_whole_number(k: int) -> None:
    assert check_k(k) == k


def test_at_most_ten_problems_are_shown() -> None:
    text = join_problems([f"problem {i}" for i in range(13)])
    assert text.count("problem") == 10
    assert text.endswith("... and 3 more.")


def test_dialect_describes_itself() -> None:
    assert Dialect(delimiter="\t", header=False).describe() == "delimiter tab, encoding utf-8, without header"
    assert Dialect(initial_space=True).describe() == "delimiter ', ', encoding utf-8, with header"
