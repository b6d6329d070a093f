"""Every method: a released cell is true of its source cell, and missing values are values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from shoal.methods import Method
from tests.contract.subjects import (
    FULL_DOMAIN,
    MAY_SUPPRESS,
    SMALL,
    every_method,
    every_table,
    make_sheet,
    random_sheet,
    release,
    smaller_k,
)
from tests.naive.cover import covers
from tests.strategies import Sheet


def check_cover(sheet: Sheet, k: int, method: Method) -> None:
    made = release(sheet, k, method)
    source = made.source_rows.tolist()
    assert len(set(source)) == len(source)
    assert len(source) == sheet.n_rows or method.name in MAY_SUPPRESS
    for row, released in zip(source, made.text.rows(named=True), strict=True):
        for name, kind in sheet.kinds.items():
            assert covers(released[name], sheet.columns[name][row], kind), (name, released[name])
        for name in sheet.sensitive:
            assert released[name] == sheet.columns[name][row]


@every_method
@every_table
def test_released_cells_cover_their_originals_on_odd_tables(method: Method, sheet: Sheet) -> None:
    """C03."""
    for k in smaller_k(sheet):
        check_cover(sheet, k, method)


@every_method
@pytest.mark.parametrize("k", [2, 5, 20])
def test_released_cells_cover_their_originals(method: Method, k: int, seed: int) -> None:
    """C03: no cell says what is not true of its row, and other columns are untouched."""
    check_cover(random_sheet(seed), k, method)


@every_method
def test_missing_value_is_a_value_that_matches_itself_alone(method: Method) -> None:
    """C05: in {30, 30, 30, missing} with k = 2 the row without a number is not passed over, and shows nothing."""
    sheet = SMALL["one missing"]
    made = release(sheet, 2, method)
    shown = dict(zip(made.source_rows.tolist(), made.text["age"].to_list(), strict=True))
    assert shown[sheet.columns["age"].index("")] == "*"
    assert min(Counter(shown.values()).values()) >= 2


@every_method
def test_markers_of_missing_values_become_one(method: Method) -> None:
    """C06: five rows, each without a value in its own way, are five of a kind."""
    for kind in ("numeric", "categorical"):
        sheet = replace(
            make_sheet({"x": kind}, *[(text,) for text in ("", "?", "NA", " ", "-")]), missing=("?", "NA", "-")
        )
        made = release(sheet, 5, method)
        assert made.text["x"].to_list() == [""] * 5
        assert made.measures.ncp == 0


@every_method
def test_markers_of_missing_values_mixed_with_values_are_measured(method: Method) -> None:
    """C06, C27: two markers are one value of the domain, so a set of all values has lost all."""
    sheet = replace(make_sheet({"x": "categorical"}, ("?",), ("NA",), ("a",), ("b",)), missing=("?", "NA"))
    made = release(sheet, 4, method)
    assert made.text["x"].to_list() == ["*" if method.name in FULL_DOMAIN else '{"", a, b}'] * 4
    assert made.measures.ncp == 1
