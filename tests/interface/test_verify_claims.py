"""What only a forged manifest says about cells makes none of them equal, and no wide cell narrow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import shoal as library
from shoal.errors import VerificationError
from shoal.verification.cells.forms import read_number
from tests.command import Shoal
from tests.interface.test_verify_forged import VERIFY, accepted, folder, forge, refused

__all__ = ["folder"]


class Claim(NamedTuple):
    """A forged release.

    Attributes:
        original: The cells of column x.
        cell: What the release shows for all of them.
        column: What the manifest says about x.
        cure: The options with which someone who knows the original confirms it.
    """

    original: list[str]
    cell: str
    column: dict[str, str]
    cure: tuple[str, ...]


CLAIMS = {
    "letters as booleans": Claim(["t", "o", "s", "y"], "t", {"kind": "boolean"}, ("--boolean", "x")),
    "no as booleans": Claim(["n", "f", "n", "f"], "n", {"kind": "boolean"}, ("--boolean", "x")),
    "codes as numbers": Claim(["02139", "2139", "002139", "2139.0"], "2139", {"kind": "numeric"}, ("--numeric", "x")),
    "a degenerate range": Claim(["02139", "2139"] * 2, "[2139, 2139]", {"kind": "numeric"}, ("--numeric", "x")),
    "a letter as unit": Claim(["a5", "5a", "5", "5 a"], "5", {"kind": "numeric", "unit": "a"}, ("--unit", "x=a")),
    "a separator of codes": Claim(
        ["1_000", "1000"] * 2, "1000", {"kind": "numeric", "thousands": "_"}, ("--thousands", "_")
    ),
    "chapters as days": Claim(["1-02", "01-2"] * 2, "1-2", {"kind": "date", "format": "%m-%d"}, ("--date", "x=%m-%d")),
    "days as months": Claim(
        ["2020-01-09", "2020-02-05", "2020-03-01", "2020-04-12"],
        "[2020-03-01, 2020-04-12]",
        {"kind": "date", "format": "%Y-%d-%m"},
        ("--date", "x=%Y-%d-%m"),
    ),
    "decimals as thousands": Claim(
        ["900", "1.500", "2.000", "950"],
        "[900, 2.000]",
        {"kind": "numeric", "decimal": ",", "thousands": "."},
        ("--thousands", ".", "--decimal", ","),
    ),
}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_reading_that_only_the_manifest_states(shoal: Shoal, claim: Claim) -> None:
    forge(claim.original, [(claim.cell,)] * 4, column=claim.column)
    stderr = refused(shoal, *VERIFY)
    assert f"column 'x': only the manifest says that its cells are {claim.column['kind']}" in stderr
    assert claim.cure[0] in stderr
    assert not any(f"'{text}'" in stderr for text in claim.original)
    assert "only the manifest" not in accepted(shoal, *VERIFY, *claim.cure)


def test_truth_values_that_the_manifest_calls_missing(shoal: Shoal) -> None:
    """Neither of the two claims hides behind the other."""
    forge(["t", "o", "y", "n"], [("t",), ("o",), ("y",), ("n",)], missing=["t", "o"], column={"kind": "boolean"})
    content = json.loads(Path("out.csv.manifest.json").read_text())
    content |= {"k": 1, "requirements": [], "models": []}
    content["measures"] |= {"groups": 4, "smallest_group": 1}
    Path("out.csv.manifest.json").write_text(json.dumps(content))
    accepted(shoal, *VERIFY)
    Path("data.csv").write_text("x,d\no,d0\nt,d1\ny,d2\nn,d3\n")
    refused(shoal, *VERIFY)


LIMITS = {
    "numbers as minutes": Claim(
        ["20", "30", "40", "59"], "[20, 59]", {"kind": "date", "format": "%M"}, ("--date", "x=%M")
    ),
    "numbers as categories": Claim(
        ["20", "30", "40", "90"], "{20, 30, 40, 90}", {"kind": "categorical"}, ("--categorical", "x")
    ),
    "dates as categories": Claim(
        ["2020-01-01", "2020-05-05"] * 2, "{2020-01-01, 2020-05-05}", {"kind": "categorical"}, ("--categorical", "x")
    ),
    "thousands as decimals": Claim(
        ["1,500", "2,000", "1,700", "1,900"],
        "[1,500, 2,000]",
        {"kind": "numeric", "decimal": ","},
        ("--decimal", ","),
    ),
}


@pytest.mark.parametrize("claim", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("words", [VERIFY, VERIFY[:2]], ids=["with the original", "without it"])
def test_a_wide_cell_stays_wide(shoal: Shoal, claim: Claim, words: tuple[str, ...]) -> None:
    forge(claim.original, [(claim.cell,)] * 4, column=claim.column)
    accepted(shoal, *words)
    assert "4 cells are wider than the limit 5" in refused(shoal, *words, "--max-width", "x=5")
    accepted(shoal, *words, "--max-width", "x=5", *claim.cure)


def test_bands_of_another_scale(shoal: Shoal) -> None:
    forge(["1,000", "1,500"] * 2, [("[1,000, 2,000)",)] * 4, column={"kind": "numeric", "decimal": ","})
    accepted(shoal, *VERIFY[:2])
    for limit in ("--uniform", "--coarsest"):
        refused(shoal, *VERIFY[:2], limit, "x=1")
        accepted(shoal, *VERIFY[:2], limit, "x=1", "--decimal", ",")


def test_a_long_limit_is_not_repeated(shoal: Shoal) -> None:
    forge(["1"] * 4, [("1",)] * 4, column={"limits": {"max_width": "9" * 100_000}})
    ended = shoal(*VERIFY)
    assert ended.code == 3
    assert len(ended.err) < 1_000


def forged_kind(frame: pl.DataFrame, column: int, **facts: Any) -> Path:
    """Write a release of the frame whose manifest makes a claim about one of its columns; k is 4."""
    frame.write_csv("data.csv")
    manifest = library.anonymize(frame, qi=["x"], sensitive=["d"], k=4, categorical=["x"]).write("out.csv", force=True)
    content = json.loads(manifest.read_text())
    content["columns"][column] |= facts
    manifest.write_text(json.dumps(content))
    return Path("out.csv")


@pytest.mark.parametrize(
    "facts", [{"kind": "boolean"}, {"kind": "ordered", "order": ["t", "o", "n", "f"]}], ids=["boolean", "ordered"]
)
def test_sensitive_values_that_the_manifest_calls_equal_or_near(facts: dict[str, Any]) -> None:
    """What is asked of a sensitive column is judged as the column looks, too."""
    frame = pl.DataFrame({"x": ["a"] * 4 + ["b"] * 4, "d": [*"ttnn", *"ooff"]})
    model = {"name": "t-closeness", "column": "d", "t": 0.4}
    for claims in ({}, facts):
        with pytest.raises(VerificationError, match="t-closeness 'd'"):
            library.verify(forged_kind(frame, 1, **claims), models=[model])


def test_people_of_the_population_that_the_manifest_calls_alike() -> None:
    frame = pl.DataFrame({"x": ["t"] * 4 + ["n"] * 4, "d": ["u", "v"] * 4})
    people = pl.DataFrame({"x": [*"tttt", *"ffff", *"yyyy", *"nnnn"]})
    model = {"name": "k-map", "k": 6}
    for claims in ({}, {"kind": "boolean"}):
        with pytest.raises(VerificationError, match="k-map"):
            library.verify(forged_kind(frame, 0, **claims), models=[model], population=people)


def test_a_number_with_more_digits_than_can_be_written_is_text() -> None:
    assert [read_number(text) is None for text in ("1e999999999", "-1e-999999999", "1e1000", "0e999999999")] == [
        True,
        True,
        False,
        False,
    ]
