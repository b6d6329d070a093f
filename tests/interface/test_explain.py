"""`shoal explain`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import Shoal

ROWS = [(20 + i * 7 % 45, "FM"[i % 2], f"0{2130 + i % 7}", f"d{i % 3}", f"p{i // 2}") for i in range(80)]
ASKED = ("--qi", "age,sex,zip", "--categorical", "zip", "--sensitive", "ill", "--drop", "who", "-k", 4)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["age,sex,zip,ill,who", *(",".join(map(str, row)) for row in ROWS)]) + "\n")
    return path


def test_row_is_explained_in_words_and_as_json(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert shoal("anonymize", data, "-o", out, *ASKED).code == 0
    ended = shoal("explain", out, "--original", data, "--row", 17)
    assert ended.code == 0, ended.err
    assert "this output contains cells of the original; keep it as private as the table" in ended.err
    age = ROWS[16][0]
    for words in (
        f"age {age}, sex F, zip 02132",
        "k = 4 needs",
        "nearest outside",
        "if only this row mattered",
        "k = 2",
    ):
        assert words in " ".join(ended.out.split()), words
    told = shoal("explain", out, "--original", data, "--row", 17, "--json")
    assert "keep it as private" in told.err
    content = json.loads(told.out)
    assert (content["row"], content["k"], content["counts"], content["suppressed"]) == (17, 4, "rows", False)
    assert [each["k"] for each in content["smaller_k"]] == [3, 2]
    assert [each["without"] for each in content["without"]] == ["age", "sex", "zip"]
    shown = {column["column"]: column["shown"] for column in content["groups"][0]["columns"]}
    assert ",".join([f'"{shown["age"]}"' if "," in shown["age"] else shown["age"], shown["sex"]]) in out.read_text()


@pytest.mark.parametrize(
    "words", [("--cells", "bounds"), ("--spreadsheet-safe", "-o", "out.xlsx"), ("-o", "o.parquet")]
)
def test_other_files_are_explained_too(
    shoal: Shoal, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = words if "-o" in words else (*words, "-o", "out.csv")
    assert shoal("anonymize", data, *ASKED, *words).code == 0
    ended = shoal("explain", words[words.index("-o") + 1], "--original", data, "--row", 1, "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["groups"]


def test_people_suppressed_rows_and_models(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    asked = ("--qi", "age,sex,zip", "--categorical", "zip", "--sensitive", "ill", "-k", 4, "--l", 2)
    assert shoal("anonymize", data, "-o", out, *asked, "--person", "who", "--suppression-limit", "0.3").code == 0
    without = shoal("explain", out, "--original", data, "--row", 1)
    assert "name the column that identifies people with --person" in without.err
    assert "only k is considered here" in without.err
    found = [
        json.loads(shoal("explain", out, "--original", data, "--row", row, "--person", "who", "--json").out)
        for row in range(1, 81, 8)
    ]
    assert {each["counts"] for each in found} == {"persons"}
    assert all(each["suppressed"] == (not each["groups"]) for each in found)


def test_hierarchies_are_needed_and_may_be_proposed_again(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    named = ("--hierarchies", "auto", "--method", "optimal")
    assert shoal("anonymize", data, "-o", out, *ASKED, *named).code == 0
    refused = shoal("explain", out, "--original", data, "--row", 3)
    assert refused.code == 2
    assert "was generalised along a hierarchy, which the manifest does not contain" in refused.err
    ended = shoal("explain", out, "--original", data, "--row", 3, "--hierarchies", "auto", "--json")
    assert ended.code == 0, ended.err
    assert len(json.loads(ended.out)["groups"]) == 1


def test_what_cannot_be_explained_is_refused(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert shoal("anonymize", data, "-o", out, *ASKED).code == 0
    for row in (0, 81, -1):
        ended = shoal("explain", out, "--original", data, "--row", row)
        assert (ended.code, f"the original has no row {row}" in ended.err) == (2, True)
    ended = shoal("explain", out, "--original", data, "--row", 1, "--no-manifest", "--qi", "age,sex,zip")
    assert ended.code == 2
    assert "k is not given, and there is no manifest" in ended.err
    with out.open("a") as file:
        file.write('"[1, 2]",F,02130,d1\n')
    ended = shoal("explain", out, "--original", data, "--row", 1)
    assert ended.code == 5, "a file that is not what its manifest states"
