"""Statistics before and after, against formulas written out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import contingency, pearsonr

from shoal.evaluate import compare_moments
from shoal.evaluate.moments import Bin
from shoal.schema import Role, Schema


def make(n_rows: int = 300, seed: int = 0) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    age = generator.integers(18, 80, n_rows)
    town = generator.choice(["Bonn", "Lima", "Rome"], n_rows)
    flat = np.where(generator.random(n_rows) < 0.7, town, "Bonn")
    return pl.DataFrame({"age": age, "pay": age * 3 + generator.integers(0, 90, n_rows), "town": town, "flat": flat})


def make_schema(frame: pl.DataFrame) -> Schema:
    return Schema.build(frame.columns, {Role.QI: frame.columns})


def test_untouched_table_has_no_distance_and_the_usual_statistics() -> None:
    frame = make()
    found = compare_moments(frame, frame.reverse(), make_schema(frame))
    assert (found.distance, found.association_error) == (0, 0)
    age = found.columns[0]
    assert age.mean_before == age.mean_after == pytest.approx(frame["age"].mean())
    assert age.variance_before == pytest.approx(float(np.var(frame["age"].to_numpy())))
    told = {(pair.one, pair.other): (pair.measure, pair.before) for pair in found.associations}
    assert told["age", "pay"] == ("pearson", pytest.approx(abs(pearsonr(frame["age"], frame["pay"]).statistic)))
    groups = frame.group_by("town").agg(pl.len(), pl.col("age").mean())
    between = ((groups["age"] - frame["age"].mean()) ** 2 * groups["len"]).sum()
    whole = ((frame["age"] - frame["age"].mean()) ** 2).sum()
    assert told["age", "town"] == ("eta", pytest.approx((between / whole) ** 0.5))
    assert told["town", "flat"] == ("cramer", pytest.approx(bergsma(frame)))


def bergsma(frame: pl.DataFrame) -> float:
    """Cramer's V corrected for bias, from scipy's table and plain V."""
    table = contingency.crosstab(frame["town"].to_list(), frame["flat"].to_list()).count
    n_rows, (height, width) = table.sum(), table.shape
    square = contingency.association(table, method="cramer") ** 2 * (min(height, width) - 1)
    corrected = max(0, square - (height - 1) * (width - 1) / (n_rows - 1))
    sizes = [size - (size - 1) ** 2 / (n_rows - 1) for size in (height, width)]
    return float((corrected / (min(sizes) - 1)) ** 0.5)


def test_range_counts_in_every_bin_and_adds_its_own_variance() -> None:
    before = pl.DataFrame({"age": [str(age) for age in range(10)]})
    after = pl.DataFrame({"age": ["[0, 9]"] * 10})
    found = compare_moments(before, after, make_schema(before)).columns[0]
    assert found.marginal[0] == Bin("0 to 0", 0.1, 0.1)
    assert found.distance == pytest.approx(0)
    assert (found.mean_before, found.mean_after) == (4.5, 4.5)
    assert found.variance_before == found.variance_after == pytest.approx(8.25)


def test_frequent_number_has_a_bin_to_itself_and_ends_reach_out() -> None:
    before = pl.DataFrame({"gain": ["0"] * 90 + [str(i) for i in range(1, 11)]})
    after = before.with_columns(gain=pl.when(pl.col("gain") == "0").then(pl.lit("0")).otherwise(pl.lit("[1, 20]")))
    bins = compare_moments(before, after, make_schema(before)).columns[0].marginal
    assert [(each.name, each.before, each.after) for each in bins] == [("0 to 0", 0.9, 0.9), ("1 to 10", 0.1, 0.1)]


def test_sets_stars_and_missing_values_are_counted() -> None:
    before = pl.DataFrame({"age": ["10", "20", "", "30"], "town": ["Bonn", "Rome", "Rome", ""]})
    after = pl.DataFrame({"age": ["*", "20", "", "30"], "town": ["{Bonn, Rome}", "{Bonn, Rome}", "Rome", ""]})
    age, town = compare_moments(before, after, make_schema(before)).columns
    assert (age.mean_before, age.mean_after) == (20, pytest.approx(70 / 3))
    assert age.marginal[-1].name == "missing"
    assert (age.marginal[-1].before, age.marginal[-1].after) == (0.25, 0.25)
    assert {each.name: (each.before, each.after) for each in town.marginal} == {
        "": (0.25, 0.25),
        "Bonn": (0.25, 0.25),
        "Rome": (0.5, 0.5),
    }
    assert (town.mean_before, town.variance_after) == (None, None)


def test_constant_and_empty_columns_have_no_association() -> None:
    """RELIABILITY C27: never NaN."""
    frame = pl.DataFrame({"age": ["5"] * 6, "none": [""] * 6, "town": ["Bonn"] * 6, "sex": ["F", "M"] * 3})
    schema = make_schema(frame).with_kinds({"none": make_schema(make()).columns[0].kind})
    found = compare_moments(frame, frame.with_columns(age=pl.lit("*")), schema)
    assert all(pair.before == pair.after == 0 for pair in found.associations)
    assert found.distance == 0


def test_dates_are_told_as_dates() -> None:
    from shoal.evaluate.summary import moment_facts
    from shoal.schema import Reading

    days = ["05.01.2020", "15.01.2020", "25.01.2020"]
    before = pl.DataFrame({"born": days})
    after = pl.DataFrame({"born": ["[05.01.2020, 15.01.2020]"] * 2 + [days[2]]})
    schema = Schema.build(["born"], {Role.QI: ["born"]}, reading=Reading(dates={"born": "%d.%m.%Y"}))
    moments = compare_moments(before, after, schema)
    assert [each.name for each in moments.columns[0].marginal] == [f"{day} to {day}" for day in days]
    words = dict(moment_facts(moments))["means"]
    assert words == "born: mean 15.01.2020 became 15.01.2020, standard deviation 8.2 days became 7.5 days"
