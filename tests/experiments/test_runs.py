"""Every experiment runs from beginning to end on a few rows, and writes its page and its pictures."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import experiments
from experiments.pages import Scope
from shoal import datasets
from shoal.errors import FileError
from tests.experiments.made_adult import write_adult

SCRIPTS = sorted(p.stem for p in Path(experiments.__file__).parent.glob("*.py") if p.stem not in ("__init__", "pages"))
ROWS = {"buckets": 1500, "trees": 1500, "mnqia": 900, "roll_ups": 3000, "deaths": 1500}


@pytest.fixture
def adult(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adult, or a made table in its form."""
    try:
        datasets.adult(part="both")
    except FileError:
        write_adult(tmp_path)
        monkeypatch.setenv("SHOAL_DATA", str(tmp_path))


@pytest.mark.usefixtures("adult")
@pytest.mark.parametrize("name", SCRIPTS)
def test_experiment_runs_on_a_sample(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    importlib.import_module(f"experiments.{name}").main(Scope(ROWS.get(name, 400), folder))
    page = (folder / f"{name}.md").read_text()
    pictures = re.findall(r"\(([a-z_-]+\.svg)\)", page)
    assert f"{name}.svg" in pictures
    for picture in pictures:
        assert (folder / picture).read_text().rstrip().endswith("</svg>")
    assert "| nan" not in page
    assert "{" not in page


def test_sample_does_not_replace_the_results() -> None:
    command = [sys.executable, "-m", "experiments.isp", "--rows", "100"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert ended.returncode == 2
    assert "Name another folder with --folder" in ended.stderr
