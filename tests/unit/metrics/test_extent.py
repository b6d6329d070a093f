"""Mean cells and exact rows, where a reader can count along."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.metrics.extent import ColumnExtent

BEFORE = pl.DataFrame(
    {
        "age": ["20", "30", "40", "60"],
        "zip": ["02139", "02141", "02142", "02139"],
        "born": ["2020-01-01", "2020-01-03", "2020-01-05", ""],
    }
)
AFTER = pl.DataFrame(
    {
        "age": ["[20, 30]", "[20, 30]", "40", "*"],
        "zip": ["02139", "{02141, 02142}", "02142", "*"],
        "born": ["2020-01-01", "[2020-01-01, 2020-01-05]", "2020-01-05", ""],
    }
)
NAMES = ["age", "zip", "born"]


def test_means_count_values_and_widths_of_all_rows() -> None:
    measures = shoal.measure(BEFORE, AFTER, qi=NAMES, categorical=["zip"])
    assert measures.exact_rows == 1 / 4
    assert measures.columns == {
        "age": ColumnExtent((2 + 2 + 1 + 4) / 4, (10 + 10 + 0 + 40) / 4, ""),
        "zip": ColumnExtent((1 + 2 + 1 + 3) / 4, None, "codes"),
        "born": ColumnExtent((1 + 3 + 1 + 1) / 4, 1.0, "days"),
    }


def test_rows_left_out_cover_everything_and_are_not_exact() -> None:
    measures = shoal.measure(BEFORE, AFTER.head(3), qi=NAMES, categorical=["zip"])
    assert measures.exact_rows == 1 / 4
    assert measures.columns["age"].mean_width == (10 + 10 + 40) / 4
    assert measures.columns["zip"].mean_values == (1 + 2 + 1 + 3) / 4


def test_spellings_of_one_number_are_one_value() -> None:
    before = pl.DataFrame({"x": ["1", "1.0", "2", "3"]})
    after = pl.DataFrame({"x": ["[1, 2]"] * 3 + ["3"]})
    assert shoal.measure(before, after, qi=["x"], numeric=["x"]).columns["x"].mean_values == (2 * 3 + 1) / 4


def test_more_missing_cells_than_before_are_not_exact() -> None:
    before, after = pl.DataFrame({"x": ["a", "b", ""]}), pl.DataFrame({"x": ["a", "", ""]})
    assert shoal.measure(before, after, qi=["x"]).exact_rows == 1 / 3


def test_weighted_loss_has_its_unweighted_twin() -> None:
    measures = shoal.measure(BEFORE, AFTER, qi=NAMES, categorical=["zip"], weights={"born": 8})
    assert measures.weighted
    assert measures.ncp_unweighted == pytest.approx(sum(measures.per_attribute.values()) / 3)
    assert measures.ncp_unweighted != pytest.approx(measures.ncp)
    alone = shoal.measure(BEFORE, AFTER, qi=["age"], weights={"age": 8})
    assert not alone.weighted, "the weight of a single column changes nothing"
