"""The scripts of examples/: each runs as a user would run it, and prints what its reader looks for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import shoal
from benchmarks.workloads import ROOT as REPOSITORY
from shoal.errors import FileError

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=EXAMPLES.parent,
    )


def printed(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_example_is_tested_and_linked() -> None:
    own = Path(__file__).read_text()
    for path in EXAMPLES.glob("*.py"):
        assert f'"{path.stem}"' in own
        for page in ("README.md", "docs/index.md"):
            assert f"examples/{path.name}" in (EXAMPLES.parent / page).read_text()


def test_hospital_release_is_written_and_verified(tmp_path: Path) -> None:
    text = printed(run("hospital_release", tmp_path / "out"))
    assert "Required: k-anonymity with k = 10 and distinct l-diversity of disease with l = 4." in text
    assert re.search(r"Verified: 5,000 rows in \d+ groups, each at least 1\d rows\.", text)
    assert "Largest chance of finding a patient: 1.00 before, 0.10 now." in text
    assert "verify says no: k=10: 1 of" in text
    released = tmp_path / "out" / "patients-released.csv"
    qi = ["birth_date", "sex", "zip", "nationality", "education"]
    models = [shoal.LDiversity("disease", l=4)]
    assert shoal.verify(released, qi=qi, k=10, sensitive=["disease"], models=models).ok
    assert "name" not in shoal.read_table(released).names
    for name in ("report.html", "report.private.html"):
        assert "</html>" in (tmp_path / "out" / name).read_text()
        assert name in text


def test_hospital_release_leaves_nothing_where_no_folder_is_named() -> None:
    before = sorted(EXAMPLES.parent.iterdir())
    printed(run("hospital_release"))
    assert sorted(EXAMPLES.parent.iterdir()) == before


def test_choosing_k_keeps_the_limits() -> None:
    text = printed(run("choosing_k"))
    rows = re.findall(r"^ *(\d+) +([\d.]+)% +[\d,]+ +([\d.]+) +[\d.]+$", text, flags=re.MULTILINE)
    assert [int(k) for k, *_ in rows] == [2, 3, 5, 8, 10, 15, 20, 30]
    losses = [float(loss) for _, loss, _ in rows]
    assert losses == sorted(losses)
    fitting = [int(k) for k, loss, risk in rows if float(loss) <= 4 and float(risk) <= 0.1]
    assert f"Recommended: k = {fitting[-1]}, by the rule of limits." in text
    for rule in ("limits", "knee", "minimum-deviation"):
        assert f"  {rule}: k = " in text


@pytest.fixture(scope="module")
def adult_folder() -> Path | None:
    """The folder of Adult; None where shoal finds it by itself."""
    for folder in (None, REPOSITORY.parent / "shared" / "data"):
        try:
            shoal.datasets.adult(folder)
        except FileError:
            continue
        return folder
    pytest.skip("the Adult table is not here (SHOAL_DATA)")


def test_adult_with_rules_keeps_what_is_lost_without(adult_folder: Path | None) -> None:
    text = printed(run("adult_with_rules", *([adult_folder] if adult_folder else [])))
    found = {
        name: tuple(float(cell.strip("%")) for cell in cells.split())
        for name, cells in re.findall(r"^(no rule or weight|rules and weight|rules|weight of age 3) +(.*)$", text, re.M)
    }
    _, age, _, ages, races = found["no rule or weight"]
    assert ages > 1
    assert races > 0
    for name in ("rules", "rules and weight"):
        assert found[name][3:] == (0, 0)
    assert found["weight of age 3"][1] < age / 1.5
    assert text.count(": kept") == 4


def test_adult_with_rules_says_where_the_table_is_to_be_had(tmp_path: Path) -> None:
    done = run("adult_with_rules", tmp_path)
    assert done.returncode == 1
    assert "This example needs the Adult table, which is not part of shoal." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(
    os.environ.get("CI") != "true" and (find_spec("pyspark") is None or shutil.which("java") is None), reason="no Spark"
)
def test_spark_release_on_a_local_cluster(tmp_path: Path) -> None:
    """Two executors in processes of their own; nothing is left beside the release, nor in Spark's own folder."""
    done = run("spark_release", tmp_path, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert re.search(r"Verified: 5,000 rows in \d+ groups, each at least 1\d\.", done.stdout)
    assert "Written: 5,000 rows" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} <= {"released", "hsperfdata_root"}
