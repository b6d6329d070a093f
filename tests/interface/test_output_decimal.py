"""The decimal mark of a released file: written, stated, judged, and read back by every command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal as library
from shoal.errors import UsageError, VerificationError
from shoal.verification.gate import gate
from shoal.verification.manifest.manifest import sha256_of
from tests.command import Shoal

N = 24
COLUMNS = {
    "weight": [f"{50 + i % 9}.{i % 7}" for i in range(N)],
    "wage": [f"${1 + i % 6},{100 + 7 * i}.50" for i in range(N)],
    "cost": [f"{i % 4}.5" if i else "NA" for i in range(N)],
    "code": [f"250.0{i % 3}" for i in range(N)],
    "part": ["1.5", "A.1"] * (N // 2),
}
QI = ["weight", "wage"]
OTHERS = ["cost", "code", "part"]


def make(folder: Path, **options: Any) -> tuple[Path, library.Release]:
    release = library.anonymize(
        pl.DataFrame(COLUMNS),
        qi=QI,
        sensitive=OTHERS,
        k=4,
        missing=["NA"],
        categorical=["code"],
        **{"ends": "exact", **options},
    )
    release.write(folder / "out.csv", force=True)
    return folder / "out.csv", release


def cells(path: Path, delimiter: str = ",") -> dict[str, set[str]]:
    frame = pl.read_csv(path, separator=delimiter, infer_schema=False)
    return {name: set(frame[name].to_list()) for name in frame.columns}


def swapped(text: str) -> str:
    return text.replace(", ", "; ").translate(str.maketrans(".,", ",.")).replace("; ", ", ")


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_numbers_and_ranges_have_the_mark(tmp_path: Path, delimiter: str) -> None:
    plain, _ = make(tmp_path)
    before = cells(plain)
    out, release = make(tmp_path, output_decimal=",", output_delimiter=delimiter)
    after = cells(out, delimiter)
    for name in ("weight", "wage", "cost"):
        assert after[name] == {swapped(text) for text in before[name]}
    assert any(text.startswith("[$") and text.endswith(",50]") for text in after["wage"])
    assert "NA" in after["cost"]
    assert (after["code"], after["part"]) == (before["code"], before["part"])  # categories, and not all numbers
    layout = json.loads(Path(f"{out}.manifest.json").read_text())["layout"]
    assert (layout["decimal"], layout["numbers"]) == (",", ["weight", "wage", "cost"])
    assert release.frame.equals(make(tmp_path)[1].frame)


def test_the_way_back_is_the_table_as_it_was(tmp_path: Path) -> None:
    data = pl.DataFrame(COLUMNS)
    for options in ({}, {"cells": "bounds"}, {"spreadsheet_safe": True, "keep_order": True}):
        expected = library.read_release(make(tmp_path, **options)[0])
        out, _ = make(tmp_path, **options, output_decimal=",")
        assert sorted(library.read_release(out).rows(), key=str) == sorted(expected.rows(), key=str)
        assert library.verify(out, original=data).ok
        assert library.verify(out).ok
        given = {"qi": QI, "k": 4, "missing": ["NA"], "categorical": ["code"], "cells": options.get("cells")}
        given |= {"spreadsheet_safe": options.get("spreadsheet_safe", False), "manifest": False}
        assert library.verify(out, original=data, **given, output_decimal=",").ok
        with pytest.raises(VerificationError):
            library.verify(out, original=data, **given)


def test_as_read_is_the_default(tmp_path: Path) -> None:
    raw = make(tmp_path)[0].read_bytes()
    assert make(tmp_path, output_decimal="input")[0].read_bytes() == raw
    assert make(tmp_path, output_decimal=".")[0].read_bytes() == raw


GERMAN = "age;weight;cost\n" + "".join(f"{20 + i % 9};{50 + i % 9},{i % 7};{i % 4},5\n" for i in range(N))
WORDS = ("--qi", "age,weight", "-k", "4", "--decimal", ",")


@pytest.mark.parametrize("mark", [".", ",", "input"])
def test_every_command_reads_it(shoal: Shoal, tmp_path: Path, mark: str) -> None:
    data, out, plain = tmp_path / "data.csv", tmp_path / "out.csv", tmp_path / "plain.csv"
    data.write_text(GERMAN)
    roles = ("--sensitive", "cost", "--ends", "exact")
    assert shoal("anonymize", data, "-o", plain, *WORDS, *roles).code == 0
    assert shoal("anonymize", data, "-o", out, *WORDS, *roles, "--output-decimal", mark).code == 0
    assert (".5" in out.read_text()) == (mark == ".")
    given = (*WORDS, "--no-manifest", "--output-decimal", mark)
    for words in (("measure", data), ("evaluate", data, "--queries", "10")):
        asked = [word for word in given if words[0] == "measure" or word not in ("-k", "4")]
        expected = json.loads(shoal(words[0], *words[1:2], plain, *words[2:], "--json").out)
        for more in ((), asked):
            ended = shoal(words[0], *words[1:2], out, *words[2:], "--json", *more)
            assert ended.code == 0, ended.err
            figures = json.loads(ended.out)
            for each in (figures, expected):
                for key in ("seconds", "output", "elapsed_seconds", "peak_memory_mb"):
                    each.pop(key, None)
            assert figures == expected, words
    for words in (
        ("verify", out),
        ("verify", out, "--original", data),
        ("verify", out, "--original", data, *given),
        ("risk", out),
        ("describe", out),
        ("explain", out, "--original", data, "--row", "3"),
        ("explain", out, "--original", data, "--row", "3", *given),
    ):
        ended = shoal(*words)
        assert ended.code == 0, (words, ended.err)


def tampered(out: Path, change: Mapping[str, str]) -> Path:
    text = out.read_text()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new, 1)
    out.write_text(text)
    manifest = Path(f"{out}.manifest.json")
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"sha256": sha256_of(out)}))
    return out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({',"0,5",': ",0.5,"}, "without the decimal mark of the release"),
        ({',"0,5",': ',"0,6",'}, "differ"),
        ({',"0,5",': ",05,"}, "differ"),
        ({'"[': '"[1'}, ""),
    ],
)
def test_a_wrong_cell_is_caught(tmp_path: Path, change: Mapping[str, str], words: str) -> None:
    out, release = make(tmp_path, output_decimal=",", keep_order=True)
    source = {name: release.original.frame[name].to_list() for name in COLUMNS}
    arguments = (release.schema, 4, source, release.file_rows, release.claims())
    assert gate(out, *arguments, keep_order=True, decimal=",").ok
    assert not gate(out, *arguments, keep_order=True).ok
    tampered(out, change)
    verdict = gate(out, *arguments, keep_order=True, decimal=",")
    assert not verdict.ok
    assert words in " ".join(verdict.violations)
    with pytest.raises(VerificationError):
        library.verify(out, original=pl.DataFrame(COLUMNS))


@pytest.mark.parametrize(("decimal", "numbers"), [(".", None), ("input", None), (None, []), (None, ["cost"])])
def test_a_manifest_that_states_another_mark_is_refused(tmp_path: Path, decimal: str | None, numbers: Any) -> None:
    out, _ = make(tmp_path, output_decimal=",")
    manifest = Path(f"{out}.manifest.json")
    content = json.loads(manifest.read_text())
    stated = content["layout"]["numbers"] if numbers is None else numbers
    content["layout"] |= {"decimal": decimal or ",", "numbers": stated}
    manifest.write_text(json.dumps(content))
    with pytest.raises(VerificationError):
        library.verify(out, original=pl.DataFrame(COLUMNS))


def test_what_cannot_have_it(shoal: Shoal, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text(GERMAN)
    for name in ("out.parquet", "out.xlsx"):
        ended = shoal("anonymize", data, "-o", tmp_path / name, *WORDS, "--output-decimal", ".")
        assert (ended.code, "has no decimal mark" in ended.err) == (2, True)
    assert shoal("anonymize", data, "-o", tmp_path / "o.csv", *WORDS, "--output-decimal", ";").code == 2
    with pytest.raises(UsageError, match="is not a decimal mark"):
        make(tmp_path, output_decimal="x")
    manifest = Path(f"{make(tmp_path, output_decimal=',')[0]}.manifest.json")
    for key, wrong in (("decimal", ";"), ("decimal", 7), ("numbers", ["nobody"])):
        content = json.loads(manifest.read_text())
        content["layout"][key] = wrong
        manifest.write_text(json.dumps(content))
        assert shoal("verify", tmp_path / "out.csv").code == 3


def test_labels_beside_numbers_are_refused(tmp_path: Path) -> None:
    weights = ["51.5"] * 4 + ["61.5", "62.5", "63.5", "64.5"]
    for heavy, is_range in (("heavy", False), ("[60.5, 70)", True)):
        (tmp_path / "h.csv").write_text(
            "".join(f"{w},{w if w < '60' else chr(34) + heavy + chr(34)},*\n" for w in sorted(set(weights)))
        )
        release = library.anonymize(
            pl.DataFrame({"weight": weights}),
            qi=["weight"],
            k=4,
            hierarchies={"weight": tmp_path / "h.csv"},
            trust_hierarchies=True,
            method="optimal",
            output_decimal=",",
        )
        if is_range:
            release.write(tmp_path / "out.csv")
            assert cells(tmp_path / "out.csv")["weight"] == {"51,5", "[60,5, 70)"}
        else:
            with pytest.raises(UsageError, match="could not be read back"):
                release.write(tmp_path / "out.csv")


def test_a_file_with_semicolons_has_decimal_commas(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,5 is a number there, by itself; every command reads it so."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{50 + i % 9},{i % 7};{20 + i % 5};{'ab'[i % 2]}" for i in range(N)]
    Path("data.csv").write_text("\n".join(["weight;age;ill", *rows]) + "\n")
    made = shoal("anonymize", "data.csv", "-o", "out.csv", "-k", "4", "--qi", "weight,age", "--sensitive", "ill")
    assert made.code == 0, made.err
    assert "decimal" not in made.err
    assert all(cell[0] == "[" for cell in cells(Path("out.csv"))["weight"])
    column = json.loads(Path("out.csv.manifest.json").read_text())["columns"][0]
    assert (column["kind"], column["decimal"]) == ("numeric", ",")
    Path("shoal.toml").write_text('k = 4\n[columns]\nweight.role = "qi"\nage.role = "qi"\nill.role = "sensitive"\n')
    for words in (("verify", "out.csv", "--original", "data.csv"), ("measure", "data.csv", "out.csv")):
        for more in ((), ("--config", "shoal.toml")):
            ended = shoal(*words, *more)
            assert ended.code == 0, (words, more, ended.err)
