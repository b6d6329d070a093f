"""Thresholds of any size: refused before exact arithmetic begins, and accepted by the verifier if accepted here."""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError, UsageError, VerificationError
from shoal.hierarchy import from_dict
from shoal.models import model_from
from shoal.models.thresholds import MOST_PARTS, compare
from shoal.settings.settings import Settings
from shoal.tables.formats.memory_limit import parse_size
from shoal.verification.models.plain_values import can_be_judged

PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"name": "entropy-l", "column": "d"}, "l"),
    ({"name": "recursive-l", "column": "d", "l": 2}, "c"),
    ({"name": "alpha-k", "column": "d", "k": 2}, "alpha"),
    ({"name": "t-closeness", "column": "d"}, "t"),
    ({"name": "delta-disclosure", "column": "d"}, "delta"),
    ({"name": "beta-likeness", "column": "d"}, "beta"),
    ({"name": "delta-presence", "high": 1}, "low"),
    ({"name": "maximal-risk"}, "limit"),
    ({"name": "average-risk"}, "limit"),
    ({"name": "grassberger-l", "column": "d"}, "l"),
    ({"name": "sample-uniqueness"}, "limit"),
    ({"name": "population-uniqueness", "population": 9}, "limit"),
    ({"name": "prosecutor-profit", "gain": 9}, "cost"),
    ({"name": "journalist-profit", "cost": 9}, "gain"),
    ({"name": "prosecutor-profit", "cost": 9, "gain": 9}, "payout"),
]
WHOLE: list[tuple[dict[str, Any], str]] = [
    ({"name": "distinct-l", "column": "d"}, "l"),
    ({"name": "recursive-l", "column": "d", "c": 2}, "l"),
    ({"name": "p-sensitive", "column": "d", "k": 2}, "p"),
    ({"name": "k-map"}, "k"),
    ({"name": "population-uniqueness", "limit": 0.1}, "population"),
]


@pytest.mark.parametrize("value", ["1e-400", "1e-60", "1e-30", "1e-21", "1/1" + "0" * 21, "1e300", "1000000001"])
@pytest.mark.parametrize(("spec", "name"), PARAMETERS)
def test_a_threshold_that_is_too_fine_or_too_large_is_refused(spec: dict[str, Any], name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name):
        model_from(spec | {name: value})


@pytest.mark.parametrize("value", [10**9 + 1, 10**60, "9" * 4000])
@pytest.mark.parametrize(("spec", "name"), WHOLE)
def test_a_count_that_is_too_large_is_refused(spec: dict[str, Any], name: str, value: object) -> None:
    with pytest.raises(UsageError, match=name):
        model_from(spec | {name: value})


@pytest.mark.parametrize("value", ["0.1234567", 1 / 3, 0.01 / 3, "1e-20", "1/7", "0.5"])
@pytest.mark.parametrize(("spec", "name"), PARAMETERS)
def test_the_verifier_judges_every_threshold_that_is_accepted(spec: dict[str, Any], name: str, value: object) -> None:
    if name == "l":
        value = f"1{str(value)[1:]}" if str(value).startswith("0.") else "3/2"
    assert can_be_judged(model_from(spec | {name: value}).spec())


def test_a_fine_bound_is_compared_without_overflow() -> None:
    """Counts of 0 and a bound whose denominator is above 64 bits."""
    zeros, ones = np.zeros(2, np.int64), np.ones(2, np.int64)
    assert compare(zeros, zeros, Fraction(1, MOST_PARTS)).tolist() == [0, 0]
    assert compare(zeros, ones, Fraction(1, MOST_PARTS)).tolist() == [-1, -1]


@pytest.mark.parametrize(("delta", "passes"), [("1", False), ("1.000000001", True), ("0.999999999", False)])
def test_a_delta_at_the_edge_is_decided_at_any_precision(delta: str, passes: bool) -> None:
    """The shares in the first group are twice or half those in the table; no power of a large number is computed."""
    frame = pl.DataFrame({"x": ["a"] * 4 + ["b"] * 8, "d": ["u", "u", "v", "v", "u", *["v"] * 7]})
    models = [{"name": "delta-disclosure", "column": "d", "delta": delta}]
    with nullcontext() if passes else pytest.raises(VerificationError, match="2 of 2 groups"):
        shoal.verify(frame, qi=["x"], sensitive=["d"], k=2, models=models)
    model = model_from(models[0])
    encoded = shoal.anonymize(frame, qi=["x"], sensitive=["d"], k=2, models=[model])
    assert (encoded.frame["x"].n_unique() == 2) is passes, "the groups stay apart only if they pass"


@pytest.mark.parametrize("limit", ["1e-400", 1e-300])
def test_a_suppression_limit_has_the_precision_of_a_manifest(limit: Any) -> None:
    frame = pl.DataFrame({"x": ["a", "a"]})
    with pytest.raises(UsageError, match="is not a share"):
        shoal.anonymize(frame, qi=["x"], k=2, suppression_limit=limit)


@pytest.mark.parametrize("threads", [99_999_999, -1])
def test_threads_are_bounded(threads: int) -> None:
    with pytest.raises(UsageError, match="threads"):
        shoal.anonymize(pl.DataFrame({"x": ["a", "a"]}), qi=["x"], k=2, threads=threads)


@pytest.mark.parametrize("missing", ["[5, 6]", "[5, 6)", "{a, b}", "*", " * ", "{}", "\ud800"])
def test_a_marker_of_missing_values_is_no_released_cell(missing: str) -> None:
    frame = pl.DataFrame({"x": ["5", "6", "5", "6"]})
    for call in (shoal.anonymize, shoal.verify):
        with pytest.raises(UsageError, match="missing"):
            call(frame, qi=["x"], k=2, missing=[missing])


def test_a_label_is_no_marker_of_missing_values() -> None:
    frame = pl.DataFrame({"x": ["1", "2", "3", "NA", "NA"]})
    tree = from_dict({"NA": {"1", "2"}, "low": {"3"}})
    with pytest.raises(InputError, match="1 label of its hierarchy is also"):
        shoal.anonymize(frame, qi=["x"], k=2, missing=["NA"], hierarchies={"x": tree})
    listed = from_dict({"few": {"1", "2"}, "low": {"3"}, "NA": None})
    release = shoal.anonymize(frame, qi=["x"], k=2, missing=["NA"], hierarchies={"x": listed}, suppression_limit=1)
    assert "NA" in release.frame["x"].to_list()


def test_a_release_with_fine_thresholds_is_verified_from_its_manifest(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": ["a", "b"] * 6, "d": ["u", "v", "w"] * 4})
    models = [
        {"name": "delta-disclosure", "column": "d", "delta": "0.1234567"},
        {"name": "beta-likeness", "column": "d", "beta": "1e-20"},
        {"name": "t-closeness", "column": "d", "t": 0.01 / 3},
    ]
    release = shoal.anonymize(frame, qi=["x"], sensitive=["d"], k=2, models=models, suppression_limit="1e-20")
    release.write(tmp_path / "out.csv")
    assert shoal.verify(tmp_path / "out.csv").ok


@pytest.mark.parametrize("size", ["999999999TB", "1GB'; select 1", "1e400", "-1GB", "9" * 30])
def test_a_size_of_memory_is_bounded(size: str) -> None:
    with pytest.raises(UsageError, match="500MB"):
        parse_size(size)


@pytest.mark.parametrize("name", ["missing", "qi", "sheet", "decimal"])
def test_a_setting_is_valid_unicode(name: str) -> None:
    with pytest.raises(UsageError, match="not valid Unicode"):
        Settings(**{name: "a\udce4" if name in ("sheet", "decimal") else ("a\udce4",)})
    assert Settings(hierarchies={"x": "h\udce4.csv"}).hierarchies, "a path may be any bytes"
