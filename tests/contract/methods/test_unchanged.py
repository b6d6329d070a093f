"""Every method: what already meets the goal stays as it is."""

from __future__ import annotations

import pytest

import shoal
from shoal.methods import Method
from tests.contract.subjects import (
    every_method,
    every_table,
    make_sheet,
    random_sheet,
    release,
)
from tests.strategies import Sheet


@every_method
@every_table
def test_k_of_one_costs_nothing(method: Method, sheet: Sheet) -> None:
    """C28: a model that every group passes changes no table."""
    made = release(sheet, 1, method, models=[shoal.MaximalRisk(1)])
    assert made.measures.ncp == 0
    assert made.measures.modification_rate == 0
    assert made.text.rows() == sorted(sheet.rows)


@every_method
@pytest.mark.parametrize("k", [2, 7])
def test_release_is_returned_unchanged_by_a_second_run(method: Method, k: int, seed: int) -> None:
    """C28: a release meets the goal, so nothing is left to change."""
    sheet = random_sheet(seed)
    made = release(sheet, k, method)
    again = shoal.anonymize(made.text, k=k, method=method, qi=sheet.qi, sensitive=sheet.sensitive)
    assert again.text.write_csv() == made.text.write_csv()
    assert again.measures.ncp == 0


@every_method
def test_anonymous_table_is_returned_unchanged(method: Method) -> None:
    """C28: also where numbers are written in two ways, letters composed or not, and cells have blanks around them."""
    rows = [("1.0", "José"), ("1", "Jose\u0301"), (" 2", "[1, 2]"), ("*", "{a, b}")]
    sheet = make_sheet({"age": "categorical", "name": "categorical"}, *rows * 3)
    made = release(sheet, 3, method)
    assert made.text.rows() == sorted(sheet.rows)
    assert made.measures.ncp == 0
    assert made.measures.suppressed_rows == 0
