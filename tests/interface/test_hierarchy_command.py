"""`shoal hierarchy`, as a user types it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.command import Shoal, folder_of

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "hierarchies"
GOOD = "02138;0213*;*\n02139;0213*;*\n02140;0214*;*\n"


@pytest.fixture
def zips(tmp_path: Path) -> Path:
    """A hierarchy of three codes."""
    path = tmp_path / "zip.csv"
    path.write_text(GOOD)
    return path


def test_show_draws_the_tree_with_counts(shoal: Shoal, zips: Path) -> None:
    ended = shoal("hierarchy", "show", zips)
    assert ended.code == 0, ended.err
    assert "zip: 3 values, 2 levels above them (level 0: 3, level 1: 2, level 2: 1)" in ended.out
    assert "0213* (2)" in ended.out
    assert "02140" in ended.out


def test_show_json_is_one_object(shoal: Shoal, zips: Path) -> None:
    content = json.loads(shoal("hierarchy", "show", zips, "--json").out)
    assert content["hierarchies"]["zip"] == {
        "values": 3, "height": 2, "labels": [3, 2, 1], "trusted": False, "notes": [],
    }  # fmt: skip


def test_show_leaves_out_what_is_too_much_unless_asked(shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("".join(f"v{i};*\n" for i in range(40)))
    assert "... and 28 more" in shoal("hierarchy", "show", tmp_path / "h.csv").out
    assert "v39" in shoal("hierarchy", "show", tmp_path / "h.csv", "--all").out


def test_show_reads_job_files(shoal: Shoal) -> None:
    content = json.loads(shoal("hierarchy", "show", GOLDEN / "adult_job.xml", "--json").out)
    assert content["hierarchies"]["age"]["labels"] == [100, 10, 4, 2, 1]
    assert content["hierarchies"]["native-country"]["labels"] == [42, 11, 4, 1]


def test_show_refuses_a_hierarchy_that_is_wrong(shoal: Shoal, tmp_path: Path) -> None:
    """B19: exit 3 with line and level, and never the value."""
    (tmp_path / "h.csv").write_text("20;15-19;*\n21;20-24;*\n")
    ended = shoal("hierarchy", "show", tmp_path / "h.csv")
    assert ended.code == 3
    assert "line 1, level 1" in ended.err
    assert "15-19" not in ended.err
    assert "--trust-hierarchies" in ended.err
    trusted = shoal("hierarchy", "show", tmp_path / "h.csv", "--trust-hierarchies")
    assert trusted.code == 0
    assert "accepted on trust" in trusted.err


def test_show_without_file_is_exit_6(shoal: Shoal, tmp_path: Path) -> None:
    assert shoal("hierarchy", "show", tmp_path / "no.csv").code == 6


@pytest.mark.parametrize(
    ("column", "words", "label"),
    [
        ("age", [], "[36, 38)"),
        ("age", ["--by", "quantiles"], "<36"),
        ("age", ["--kind", "categorical", "--by", "prefix"], "3*"),
        ("zip", [], "0213*"),
        ("disease", [], "*"),
        ("disease", ["--with", "age,sex"], "*"),
    ],
)
def test_propose_writes_a_hierarchy_that_loads(
    shoal: Shoal, data: Path, tmp_path: Path, column: str, words: list[str], label: str
) -> None:
    out = tmp_path / "proposed.csv"
    ended = shoal("hierarchy", "propose", data, "--column", column, *words, "-o", out)
    assert ended.code == 0, ended.err
    assert label in out.read_text()
    assert shoal("hierarchy", "show", out).code == 0


def test_propose_without_output_only_shows(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    before = folder_of(tmp_path)
    content = json.loads(shoal("hierarchy", "propose", data, "--column", "zip", "--json").out)
    assert (content["values"], content["output"]) == (3, None)
    assert folder_of(tmp_path) == before


def test_propose_replaces_only_if_forced(shoal: Shoal, data: Path, zips: Path, tmp_path: Path) -> None:
    words = ("hierarchy", "propose", data, "--column", "zip", "-o", zips)
    ended = shoal(*words)
    assert ended.code == 6
    assert "--force" in ended.err
    assert zips.read_text() == GOOD
    assert shoal(*words, "--force").code == 0
    assert zips.read_text() != GOOD
    before = data.read_bytes()
    assert shoal("hierarchy", "propose", data, "--column", "zip", "-o", data, "--force").code == 3
    assert data.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--column", "town"], 2),
        (["--column", "sex", "--kind", "colour"], 2),
        (["--column", "sex", "--by", "widths"], 2),
        (["--column", "sex", "--kind", "numeric"], 3),
        (["--column", "age", "-o", "no/such/folder/h.csv"], 6),
    ],
)
def test_propose_refuses_wrong_words(shoal: Shoal, data: Path, words: list[str], code: int) -> None:
    ended = shoal("hierarchy", "propose", data, *words)
    assert ended.code == code
    assert "Female" not in ended.err


def test_convert_job_file_to_folder_and_back(shoal: Shoal, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    ended = shoal("hierarchy", "convert", GOLDEN / "adult_job.xml", "-o", folder)
    assert ended.code == 0, ended.err
    assert "rename them" in ended.err
    assert sorted(p.name for p in folder.iterdir()) == ["age.csv", "native-country.csv", "sex.csv"]
    assert (folder / "age.csv").read_text().splitlines()[49] == "49;[40, 50);[20, 50);[0, 50);*"
    again = shoal("hierarchy", "convert", *sorted(folder.iterdir()), "-o", tmp_path / "job.xml", "--json")
    assert json.loads(again.out)["written"]["age"] == str(tmp_path / "job.xml")
    labels = [
        {name: facts["labels"] for name, facts in json.loads(shown.out)["hierarchies"].items()}
        for shown in (shoal("hierarchy", "show", p, "--json") for p in (tmp_path / "job.xml", GOLDEN / "adult_job.xml"))
    ]
    assert labels[0] == labels[1]
    assert shoal("hierarchy", "convert", GOLDEN / "adult_job.xml", "-o", folder).code == 6


def test_convert_tidies_a_csv_file(shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,X,P,all\nb,P,all\n")
    assert shoal("hierarchy", "convert", tmp_path / "in.csv", "-o", tmp_path / "out.csv").code == 0
    assert (tmp_path / "out.csv").read_text() == "a;X;P;all\nb;b;P;all\n"


def test_convert_refuses_what_does_not_fit(shoal: Shoal, zips: Path, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("a;*\n")
    assert shoal("hierarchy", "convert", zips, tmp_path / "b.csv", "-o", tmp_path / "out.csv").code == 2
    assert shoal("hierarchy", "convert", zips, zips, "-o", tmp_path / "out.xml").code == 2
    assert shoal("hierarchy", "convert", zips, "-o", zips, "--force").code == 3
    job = (GOLDEN / "adult_job.xml").read_text().replace("'age'", "'../age'")
    (tmp_path / "job.xml").write_text(job)
    before = folder_of(tmp_path)
    assert shoal("hierarchy", "convert", tmp_path / "job.xml", "-o", tmp_path / "all").code == 3
    assert folder_of(tmp_path) == before


def test_commands_of_the_guide_run_one_after_the_other(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"n{i},{20 + i * 7 % 40},{'FM'[i % 2]},0{2130 + i % 5},d{i % 4}" for i in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["name,age,sex,zip,disease", *rows]) + "\n")
    (tmp_path / "job.xml").write_bytes((GOLDEN / "adult_job.xml").read_bytes())
    guide = (ROOT / "docs" / "guides" / "hierarchies.md").read_text()
    commands = [shlex.split(line) for line in re.findall(r"^(?:\$ )?shoal (hierarchy .*)$", guide, re.M)]
    assert len(commands) >= 6
    for words in commands:
        ended = shoal(*words)
        assert ended.code == 0, (words, ended.err)


def test_builtin_lists_shows_and_writes(shoal: Shoal, tmp_path: Path) -> None:
    listed = shoal("hierarchy", "builtin")
    assert all(name in listed.out for name in ("countries", "us-states", "icd-10", "ages", "dates", "zip", "codes"))
    assert {each["name"] for each in json.loads(shoal("hierarchy", "builtin", "--json").out)} >= {"countries", "zip"}
    out = tmp_path / "states.csv"
    ended = shoal("hierarchy", "builtin", "us-states", "--form", "code", "-o", out)
    assert ended.code == 0, ended.err
    assert "New England (6)" in ended.out
    assert "MA;New England;Northeast;*" in out.read_text().splitlines()
    assert shoal("hierarchy", "show", out).code == 0
    assert shoal("hierarchy", "builtin", "us-states", "-o", out).code == 6, "an existing file stays without --force"
    content = json.loads(shoal("hierarchy", "builtin", "zip", "--json").out)
    assert content["examples"]["02139-4307"] == ["02139*", "021*", "0*", "*"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("planets",), "is not a built-in hierarchy"),
        (("countries", "--form", "iso"), "has no form 'iso'. Use name or alpha2"),
        (("zip", "-o", "zip.csv"), "has no list to write"),
        (("-o", "all.csv"), "name the hierarchy"),
    ],
)
def test_builtin_refuses_what_it_cannot_show(shoal: Shoal, words: tuple[str, ...], problem: str) -> None:
    ended = shoal("hierarchy", "builtin", *words)
    assert ended.code == 2
    assert problem in ended.err
