"""Forged manifests that call cells centres, or give columns a spread: what no release shows is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import VerificationError

LETTERS = ["o"] * 6 + ["s"] * 4 + ["t"] * 5 + ["y"] * 5
TABLE = pl.DataFrame({"letter": LETTERS, "age": ["30", "40"] * 10, "dose": [f"{n % 3}" for n in range(20)]})

Change = Callable[[pl.DataFrame], pl.DataFrame]
Forge = Callable[[dict[str, Any]], object]


def verify_forged(folder: Path, change: Change, forge: Forge, **asked: Any) -> shoal.verification.Verdict:
    """Change the file of a true release, and its manifest so that it describes the changed file."""
    original, file = folder / "in.csv", folder / "out.csv"
    TABLE.write_csv(original)
    settings: dict[str, Any] = {"qi": ["letter", "age"], "sensitive": ["dose"], "k": 4, "keep_order": True}
    shoal.anonymize(original, **settings, **asked).write(file)
    rows = change(pl.read_csv(file, infer_schema=False))
    rows.write_csv(file)
    place = file.with_name("out.csv.manifest.json")
    manifest = json.loads(place.read_text())
    keys = [name for name in rows.columns if name != "dose"]
    sizes = rows.group_by(keys).len()["len"]
    manifest["measures"] |= {"groups": len(sizes), "smallest_group": min(sizes)}
    manifest |= {"sha256": hashlib.sha256(file.read_bytes()).hexdigest(), "beside": {}}
    forge(manifest)
    place.write_text(json.dumps(manifest))
    return shoal.verify(file, original=original)


def with_cells(**cells: str) -> Change:
    return lambda rows: rows.with_columns(**{name: pl.lit(cell) for name, cell in cells.items()})


def nothing(manifest: dict[str, Any]) -> None:
    """Forge nothing."""


def test_true_centers_pass(tmp_path: Path) -> None:
    assert verify_forged(tmp_path, lambda rows: rows, nothing, cells="center", spread=True).ok


@pytest.mark.parametrize(
    "cells",
    [
        {"letter_share": "Smith"},
        {"letter_share": "1.5"},
        {"letter_share": "0.123"},
        {"age_sd": "99.0"},
        {"age_sd": "a"},
    ],
    ids=str,
)
def test_spread_that_no_group_has(cells: dict[str, str], tmp_path: Path) -> None:
    """A column of spread must not carry anything else, even if all rows of a group show the same."""
    with pytest.raises(VerificationError, match=r"spread of 20 rows is not that of any rows"):
        verify_forged(tmp_path, with_cells(**cells), nothing, cells="center", spread=True)


def test_spread_without_centers(tmp_path: Path) -> None:
    """It would hide a column that the original does not have."""

    def add(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select("letter", pl.lit("0.5").alias("letter_share"), "age", "dose")

    with pytest.raises(VerificationError, match="not the centres of groups"):
        verify_forged(tmp_path, add, lambda manifest: manifest["layout"].update(spread=["letter"]))


def test_centers_in_two_bounds(tmp_path: Path) -> None:
    def bound(rows: pl.DataFrame) -> pl.DataFrame:
        return rows.select("letter", pl.lit("0").alias("age_min"), pl.lit("99").alias("age_max"), "dose")

    with pytest.raises(VerificationError, match="but cells are the centres of groups"):
        verify_forged(tmp_path, bound, lambda manifest: manifest["layout"].update(bounds=["age"]), cells="center")


@pytest.mark.parametrize(
    "kind", [{"kind": "boolean"}, {"kind": "ordered", "order": ["y", "o", "s", "t"]}], ids=["boolean", "ordered"]
)
def test_manifest_alone_does_not_make_letters_equal(kind: dict[str, Any], tmp_path: Path) -> None:
    """o, s, t and y may all mean yes, but only if someone else says so; the same for their order."""
    forged = with_cells(letter="s", age="35")
    with pytest.raises(VerificationError, match="'letter'"):
        verify_forged(tmp_path, forged, lambda manifest: manifest["columns"][0].update(kind), cells="center")


@pytest.mark.parametrize("values", [["8e307", "-8e307", "1"], ["0." + "1" * 40, "0.2", "7"]], ids=["huge", "long"])
@pytest.mark.parametrize("options", [{"cells": "center", "spread": True}, {"method": "mdav"}], ids=["center", "mdav"])
def test_extreme_numbers_pass(values: list[str], options: dict[str, Any], tmp_path: Path) -> None:
    """A manifest without infinite figures, which JSON lacks; a centre of 15 digits may lie below the least value."""
    original, file = tmp_path / "in.csv", tmp_path / "out.csv"
    pl.DataFrame({"x": values * 8, "d": list("abcd") * 6}).write_csv(original)
    release = shoal.anonymize(original, qi=["x"], sensitive=["d"], k=9, **options)
    release.write(file, report=tmp_path / "report.html")
    assert shoal.verify(file, original=original).ok
