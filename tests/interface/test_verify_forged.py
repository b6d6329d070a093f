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
