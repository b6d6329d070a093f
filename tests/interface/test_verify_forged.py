"""Releases that were written to deceive `shoal verify`: the manifest agrees with the bytes, but not with the truth."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import shoal as library
from tests.command import Shoal

VERIFY = ("verify", "out.csv", "--original", "data.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: Iterable[Iterable[str]]) -> None:
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def forge(original: list[str], release: list[tuple[str, ...]], **changes: Any) -> None:
    """Write data.csv with a column x, out.csv with these cells, and a manifest that agrees with out.csv.

    Args:
        original: The cells of x.
        release: The released cells of each row, without the sensitive one.
        changes: Other values of the manifest; "column" is merged into the entry of x.
    """
    ills = [f"d{i}" for i in range(len(original))]
    write("data.csv", [("x", "d"), *zip(original, ills, strict=True)])
    frame = {"x": [str(i) for i in range(4)], "d": ills[:4]}
    write("seed.csv", [tuple(frame), *zip(*frame.values(), strict=True)])
    library.anonymize("seed.csv", qi=["x"], sensitive=["d"], k=4, numeric=["x"]).write("seed_out.csv")
    manifest = json.loads(Path("seed_out.csv.manifest.json").read_text())
    header = ("x", "d") if len(release[0]) == 1 else ("x_min", "x_max", "d")
    rows = [(*cells, ills[i]) for i, cells in enumerate(release)]
    write("out.csv", [header, *(rows if changes.get("keep_order") else sorted(rows))])
    manifest["columns"][0] |= changes.pop("column", {})
    manifest |= {"file": "out.csv", "sha256": hashlib.sha256(Path("out.csv").read_bytes()).hexdigest(), "beside": {}}
    manifest["measures"] |= {"rows": len(rows), "groups": 1, "smallest_group": len(rows)}
    manifest |= changes
    Path("out.csv.manifest.json").write_text(json.dumps(manifest))


def refused(shoal: Shoal, *words: object) -> str:
    """Run a command that says no, and return what it says."""
    ended = shoal(*words)
    assert ended.code == 5, ended
    return ended.err


def accepted(shoal: Shoal, *words: object) -> str:
    """Run a command that says yes, and return what it says besides."""
    ended = shoal(*words)
    assert ended.code == 0, ended
    return ended.err


# ---- cells that are written differently are different


@pytest.mark.parametrize(
    ("original", "release"),
    [
        (["-5"] * 4, ["-5", "-5", "-5", "'-5"]),
        (["+1,5"] * 4, ["+1,5", "+1,5", "+1,5", "'+1,5"]),
        (["'-5"] * 4, ["''-5", "''-5", "''-5", "'-5"]),
        (["=1"] * 4, ["'=1", "'=1", "'=1", "=1"]),
    ],
    ids=["a quote before a number", "a quote before a signed number", "a quote too few", "no quote"],
)
def test_quotes_that_shoal_does_not_write(shoal: Shoal, original: list[str], release: list[str]) -> None:
    forge(original, [(cell,) for cell in release], spreadsheet_safe=True, column={"kind": "categorical"})
    stderr = refused(shoal, *VERIFY)
    assert "k=4: 2 of 2 groups are smaller" in stderr
    assert "file: a " in stderr  # quote precedes ..., or spreadsheet would run ...


@pytest.mark.parametrize("cell", ["-5", "=1", "'=1", "'-5", "''", "'", "", "'a", "-5+1", "@x", "\uff0d5", "''-5"])
def test_quotes_that_shoal_writes(shoal: Shoal, cell: str) -> None:
    write("data.csv", [("x", "d"), *((cell, f"d{i}") for i in range(4))])
    words = ("--qi", "x", "--sensitive", "d", "-k", "4", "--categorical", "x", "--spreadsheet-safe")
    accepted(shoal, "anonymize", "data.csv", "-o", "out.csv", *words)
    accepted(shoal, *VERIFY)
    accepted(shoal, "measure", "data.csv", "out.csv")


@pytest.mark.parametrize(
    "odd",
    [
        ("[5, 6]", "[5, 6]"),
        ("[5, 6)", "[5, 6)"),
        ("5, 6", "6"),
        ("5", "6, 6"),
        ("5", "*"),
        ("*", "6"),
        ("", "6"),
        ("6", "5"),
    ],
    ids=[
        "range twice",
        "half-open range twice",
        "two low",
        "two high",
        "low and star",
        "star and high",
        "low missing",
        "turned",
    ],
)
@pytest.mark.parametrize("times", [1, 4], ids=["one row", "all rows"])
def test_bounds_that_are_not_values(shoal: Shoal, odd: tuple[str, str], times: int) -> None:
    release = [("5", "6")] * (4 - times) + [odd] * times
    forge(["5", "6", "5", "6"], release, cells="bounds", layout={"bounds": ["x"], "hierarchies": []})
    for words in (VERIFY, VERIFY[:2]):
        stderr = refused(shoal, *words)
        plural = "row" if times == 1 else "rows"
        assert f"column 'x': the bounds of {times} {plural} are not the ends of a range" in stderr
        assert ("2 of 2 groups are smaller" in stderr) == (times == 1)


@pytest.mark.parametrize("pair", [("5", "6"), ("*", "*")])
def test_bounds_that_shoal_writes(shoal: Shoal, pair: tuple[str, str]) -> None:
    forge(["5", "6", "5", "6"], [pair] * 4, cells="bounds", layout={"bounds": ["x"], "hierarchies": []})
    accepted(shoal, *VERIFY)


# ---- files beside the release


def test_files_that_are_not_there_are_noted(shoal: Shoal) -> None:
    forge(["1"] * 4, [("1",)] * 4)
    content = json.loads(Path("out.csv.manifest.json").read_text())
    Path("there.md").write_text("x")
    content["beside"] = {"there.md": hashlib.sha256(b"x").hexdigest(), "lost.md": "0" * 64, "gone\x1b.json": "1" * 64}
    Path("out.csv.manifest.json").write_text(json.dumps(content))
    stderr = accepted(shoal, *VERIFY[:2])
    assert "file 'lost.md': the manifest states its hash, but it is not beside the release" in stderr
    assert "file 'gone\\x1b.json'" in stderr
    assert "there.md" not in stderr
    assert len(json.loads(shoal(*VERIFY[:2], "--json").out)["notes"]) == 2
    Path("lost.md").write_text("y")
    assert "file 'lost.md': its hash differs" in refused(shoal, *VERIFY[:2])


# ---- what only the manifest says about the original

SETTINGS = 'k = 4\n[columns]\nx = {role = "qi"}\nd = {role = "sensitive"}\n'


@pytest.fixture
def toml() -> tuple[str, str]:
    """The option of a shoal.toml without anything about cells, order or suppression."""
    Path("shoal.toml").write_text(SETTINGS)
    return "--config", "shoal.toml"


@pytest.mark.parametrize("cell", ["", "99", "34"])
@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_values_that_the_manifest_calls_missing(shoal: Shoal, toml: tuple[str, str], cell: str, kind: str) -> None:
    claims = ["34", "35", "36", "70", "99"]
    forge(["34", "35", "36", "70"], [(cell,)] * 4, missing=claims, column={"kind": kind})
    stderr = refused(shoal, *VERIFY)
    assert "to compare with the original: 5 texts for missing values" in stderr
    assert "column 'x': only the manifest says that 4 original cells mean a missing value" in stderr
    assert "--missing" in stderr
    assert "34" not in stderr  # no cell is told
    assert "cannot be matched" in refused(shoal, *VERIFY, *toml)
    # Whoever has the original may say the same.
    said = accepted(shoal, *VERIFY, *(word for text in claims for word in ("--missing", text)))
    assert "for missing values" not in said


def test_missing_values_are_released_as_they_were(shoal: Shoal) -> None:
    """One marker of a table stays as it is, so the manifest suffices to compare it."""
    write("data.csv", [("x", "d"), *((x, f"d{i}") for i, x in enumerate(["NA"] * 4 + ["5"] * 4))])
    words = ("--qi", "x", "--sensitive", "d", "-k", "4", "--numeric", "x", "--missing", "NA")
    accepted(shoal, "anonymize", "data.csv", "-o", "out.csv", *words)
    assert "1 text for missing values" in accepted(shoal, *VERIFY)
    assert "1 text" not in accepted(shoal, *VERIFY, "--missing", "NA")


def test_several_markers_take_their_texts(shoal: Shoal) -> None:
    """Several markers are released as empty cells; who compares them must name them."""
    markers = ["NA", "?", "NA", "?"]
    write("data.csv", [("x", "d"), *((x, f"d{i}") for i, x in enumerate(markers + ["5"] * 4))])
    words = ("--missing", "NA", "--missing", "?")
    roles = ("--qi", "x", "--sensitive", "d", "-k", "4", "--numeric", "x")
    accepted(shoal, "anonymize", "data.csv", "-o", "out.csv", *roles, *words)
    assert "name their texts with --missing" in refused(shoal, *VERIFY)
    accepted(shoal, *VERIFY, *words)


def test_own_k_that_the_manifest_calls_missing(shoal: Shoal) -> None:
    forge(["1"] * 4, [("1",)] * 4, missing=["9"])
    write("data.csv", [("x", "d", "own"), *(("1", f"d{i}", "9") for i in range(4))])
    assert "whose personal k" in refused(shoal, *VERIFY, "--k-column", "own")


def test_marks_of_the_manifest(shoal: Shoal, toml: tuple[str, str]) -> None:
    forge(["1.234"] * 4, [("1234",)] * 4, decimal=",", thousands=".")
    assert "numeric 'x', decimal mark ',', thousands mark '.'" in accepted(shoal, *VERIFY)
    refused(shoal, *VERIFY, "--decimal", ".")
    refused(shoal, *VERIFY, *toml)


def test_kinds_of_the_manifest(shoal: Shoal, toml: tuple[str, str]) -> None:
    forge(["02139"] * 4, [("2139",)] * 4)
    assert "to compare with the original: numeric 'x'" in accepted(shoal, *VERIFY)
    refused(shoal, *VERIFY, "--categorical", "x")
    refused(shoal, *VERIFY, *toml)


def test_date_formats_of_the_manifest(shoal: Shoal, toml: tuple[str, str]) -> None:
    dates = ["01/02/2020", "01/03/2020", "01/04/2020", "01/05/2020"]
    entry = {"kind": "date", "format": "%d/%m/%Y"}
    forge(dates, [("[01/01/2020, 02/05/2020]",)] * 4, column=entry)
    assert "date 'x' ('%d/%m/%Y')" in accepted(shoal, *VERIFY)
    refused(shoal, *VERIFY, *toml)


@pytest.mark.parametrize("form", ["%U", "%W", "%Y-%W", "%a", "%A", "%w", "%p", "%Z", "%a %p", "%%%U"])
def test_date_formats_that_do_not_say_the_date(shoal: Shoal, form: str) -> None:
    forge(["34", "35", "36", "50"], [("01",)] * 4, column={"kind": "date", "format": form})
    assert shoal(*VERIFY).code == 3
    assert shoal(*VERIFY, "--no-manifest", "-k", "4", "--qi", "x", "--date", f"x={form}").code == 2


def test_order_of_the_manifest(shoal: Shoal, toml: tuple[str, str]) -> None:
    forge(["4", "3", "4", "3"], [("4",), ("3",), ("4",), ("3",)], keep_order=True)
    content = json.loads(Path("out.csv.manifest.json").read_text())
    requirements = [{"name": "k-anonymity", "k": 2}]
    content |= {"k": 2, "requirements": requirements, "models": ["k-anonymity with k = 2"]}
    content["measures"] |= {"groups": 2, "smallest_group": 2}
    Path("out.csv.manifest.json").write_text(json.dumps(content))
    assert "rows in the order of the original" in accepted(shoal, *VERIFY)
    Path("shoal.toml").write_text(SETTINGS.replace("k = 4", "k = 2"))
    assert "order: the rows are not sorted" in refused(shoal, *VERIFY, *toml)
    assert "in the order" not in accepted(shoal, *VERIFY, *toml, "--keep-order")


def test_rows_that_the_manifest_lets_go(shoal: Shoal, toml: tuple[str, str]) -> None:
    forge(["1"] * 4 + ["9"] * 6, [("1",)] * 4, suppression_limit=1, suppressed_rows="not limited")
    stderr = accepted(shoal, *VERIFY)
    assert "suppression limit 1" in stderr
    assert "rows: 6 of 10 original rows are not in the release" in stderr
    assert "6 of 10 original rows" in json.loads(shoal(*VERIFY, "--json").out)["notes"][0]
    assert "6 of 10" in refused(shoal, *VERIFY, *toml)
    assert "6 of 10" in refused(shoal, *VERIFY, "--suppression-limit", "0.5")
