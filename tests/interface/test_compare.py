"""`shoal compare` and `shoal advise`, as a user types them."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import shoal as library
from tests.command import Shoal


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part of the patients, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "data.csv"
    library.datasets.patients().head(150).write_csv(path)
    return path


ROLES = ("--qi", "birth_date,sex,zip", "--jobs", 1)


def test_compare_prints_writes_and_keeps(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    out, page, released = tmp_path / "table.csv", tmp_path / "page.html", tmp_path / "other.csv"
    roles = ("--qi", "birth_date,sex,zip", "--others", "drop", "--method", "mondrian")
    assert shoal("anonymize", table, "-o", released, "-k", 4, *roles).code == 0
    words = (
        "compare",
        table,
        *ROLES,
        "--methods",
        "mondrian,mnqia:variant=sensitive",
        "-k",
        "2,5",
        "--add",
        f"other={released}",
    )
    ended = shoal(*words, "-o", out, "--report", page)
    assert ended.code == 0, ended.err
    assert "mondrian" in ended.out
    assert "On 150 rows, the loss of mondrian is 2.55% at k = 2" in ended.out
    assert "mnqia:variant=sensitive, k = 2: " in ended.out
    failing = "mnqia:variant=sensitive"
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["method"], row["k"]) for row in rows] == [
        *(("mondrian", "2"), ("mondrian", "5"), (failing, "2"), (failing, "5"), ("other", "4"))
    ]
    assert "<svg" in page.read_text()
    again = shoal(*words, "--json")
    content = json.loads(again.out)
    assert [run["cached"] for run in content["runs"]] == [True, True, True, True, False]
    assert content["runs"][0]["ncp"] == float(rows[0]["ncp"])
    assert content["rows"] == 150
    assert (tmp_path / "cache" / "shoal" / "compare").is_dir()
    assert shoal(*words, "-o", out).code == 6  # it exists


def test_compare_where_nothing_works_ends_with_4(shoal: Shoal, table: Path) -> None:
    ended = shoal("compare", table, *ROLES, "--methods", "mondrian", "-k", 500, "--json")
    assert ended.code == 4
    assert "k=500 cannot be met" in json.loads(ended.out)["runs"][0]["failed"]


def test_compare_refuses_what_it_does_not_know(shoal: Shoal, table: Path) -> None:
    assert shoal("compare", table, *ROLES, "--methods", "mondrain").code == 2
    assert shoal("compare", table, *ROLES, "-k", "five").code == 2
    assert shoal("compare", table, *ROLES, "-k", "9-5").code == 2
    assert shoal("compare", table, "-k", "2").code == 2
    assert shoal("compare", table, *ROLES, "--learner", "tree").code == 2
    assert shoal("compare", table, *ROLES, "--report", "page.txt").code == 2


def test_advise_recommends_with_a_reason_and_draws(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    plot, page = tmp_path / "plot.svg", tmp_path / "page.html"
    words = ("advise", table, *ROLES, "--methods", "mondrian", "-k", "2-4,10")
    ended = shoal(*words, "--max-risk", "0.25", "--plot", plot, "--report", page)
    assert ended.code == 0, ended.err
    assert "Your limits are a risk of at most 25%: 2 of 4 releases keep them" in " ".join(ended.out.split())
    assert "Use k = 4 with mondrian, by the rule limits." in ended.out
    assert plot.read_text().startswith("<svg")
    assert "Use k = 4 with mondrian" in page.read_text()
    content = json.loads(shoal(*words, "--rule", "minimum-deviation", "--json").out)
    assert content["recommended"]["rule"] == "minimum-deviation"
    assert len(content["runs"]) == 4


def test_advise_with_limits_out_of_reach_ends_with_4(shoal: Shoal, table: Path) -> None:
    ended = shoal("advise", table, *ROLES, "--methods", "mondrian", "-k", "2,5", "--max-loss", "0.0001", "--json")
    assert ended.code == 4
    assert "No release has a loss of at most 0.0001" in ended.err
    assert json.loads(ended.out)["recommended"] is None


def test_advise_with_a_target_weighs_accuracy(shoal: Shoal, table: Path) -> None:
    pytest.importorskip("sklearn")
    words = ("--qi", "birth_date,zip", "--jobs", 1, "--methods", "mondrian", "-k", "2,20", "--target", "sex")
    ended = shoal("advise", table, *words, "--json")
    assert ended.code == 0, ended.err
    content = json.loads(ended.out)
    assert content["recommended"]["rule"] == "accuracy"
    run = content["runs"][0]
    assert 0 < run["accuracy_low"] <= run["accuracy"] <= run["accuracy_high"] <= 1
    assert 0 < run["accuracy_original"] <= 1
    assert shoal("advise", table, *ROLES, "--max-drop", "0.1").code == 2


def test_learner_without_scikit_learn_names_the_extra(
    shoal: Shoal, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    ended = shoal("advise", table, *ROLES, "--target", "sex")
    assert ended.code == 2
    assert "shoal[evaluate]" in ended.err


@pytest.mark.slow
def test_interrupted_comparison_keeps_what_is_done(table: Path, tmp_path: Path) -> None:
    """Ctrl-C: exit 130, finished runs stay, no process is left behind."""
    code = "from shoal.cli.supervisor import main; main()"
    words = ["compare", str(table), *map(str, ROLES), "--methods", "mondrian,kaca,sbca", "-k", "2-40"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words, "--cache", str(tmp_path / "kept")],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    while process.poll() is None and len(list((tmp_path / "kept").glob("*.json"))) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"the same command continues from there" in err
    assert len(list((tmp_path / "kept").glob("*.json"))) >= 2


def test_hierarchies_for_the_methods_that_need_them(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    tree = tmp_path / "sex.csv"
    tree.write_text("F;*\nM;*\n")
    words = ("compare", table, *ROLES, "--methods", "mondrian", "-k", 5, "--json", "--no-cache")
    plain = json.loads(shoal(*words).out)["runs"][0]
    bare = json.loads(shoal(*words, "--hierarchy", f"sex={tree}", "--hierarchies-for", "needed").out)["runs"][0]
    assert bare["ncp"] == plain["ncp"]
    wrong = shoal(*words, "--hierarchies-for", "some")
    assert wrong.code == 2
    assert "--hierarchies-for" in wrong.err
    assert "all or needed" in wrong.err
