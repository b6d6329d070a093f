"""The sum of squares of a file of means, against that of the groups behind it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal as library
from tests.command import Shoal

NAMES = ["x", "y"]


def numbers(n: int = 120) -> pl.DataFrame:
    draws = np.random.default_rng(3).normal(size=(n, 2))
    return pl.DataFrame({"x": draws[:, 0].round(4), "y": (5 * draws[:, 1] + draws[:, 0]).round(4)})


def test_squares_of_a_file_of_means_are_those_of_its_groups() -> None:
    table = numbers()
    release = library.anonymize(table, qi=NAMES, k=5, method="mdav", cells="center")
    measured = library.measure(table, release.frame, qi=NAMES, cells="center")
    assert measured.sse == pytest.approx(release.measures.sse, abs=1e-4)
    half = release.frame.head(60)  # rows that are left out lose all
    known = ((half.to_numpy() - table.to_numpy().mean(axis=0)) / table.to_numpy().std(axis=0)) ** 2
    assert library.measure(table, half, qi=NAMES, cells="center").sse == pytest.approx(1 - known.sum() / 240, abs=1e-9)


def test_squares_are_unknown_without_means_of_complete_numbers() -> None:
    table = numbers()
    ranges = library.anonymize(table, qi=NAMES, k=5, method="mdav")
    assert library.measure(table, ranges.frame, qi=NAMES).sse is None
    holes = table.with_columns(pl.when(pl.col("x") > 1).then(None).otherwise(pl.col("x")).alias("x"))
    centers = library.anonymize(holes, qi=NAMES, k=5, cells="center").frame
    assert library.measure(holes, centers, qi=NAMES, cells="center").sse is None


@pytest.mark.parametrize("center", ["mean", "median"])
def test_measure_prints_the_squares_of_means(shoal: Shoal, tmp_path: Path, center: str) -> None:
    numbers().write_csv(tmp_path / "data.csv")
    released = tmp_path / "out.csv"
    release = library.anonymize(tmp_path / "data.csv", qi=NAMES, k=5, cells="center", center=center)
    release.write(released)
    words = ["measure", tmp_path / "data.csv", released]
    figures = json.loads(shoal(*words, "--json").out)["measures"]
    printed = shoal(*words).out
    assert ("squares (SSE)" in printed) == (center == "mean")
    if center == "mean":
        assert figures["sse"] == pytest.approx(release.measures.sse, abs=1e-4)
    else:
        assert figures["sse"] is None
