"""The page of releases on Spark: what is recorded is what it shows, and the estimate follows from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.spark_page import PAGE, RESULTS, line_through, record, render


def run(rows: int, units: float) -> dict[str, Any]:
    return {
        "rows": rows,
        "stages": {"start": 40.0, "writing": units},
        "seconds": 60,
        "load": 0.1,
        "unit": 1.2,
        "groups": rows // 10,
        "loss": 0.005,
        "shuffled": 50 * rows,
        "bytes": 60 * rows,
        "tuples": rows // 2,
        "sections": rows // 100_000,
        "fetched": rows,
        "peaks": {"driver": 300_000_000 + rows, "Java of the driver": 600_000_000},
    }


def test_runs_are_kept_replaced_and_shown(tmp_path: Path) -> None:
    results, page = tmp_path / "spark.json", tmp_path / "spark.md"
    for each in (run(1_000_000, 99.0), run(1_000_000, 30.0), run(2_000_000, 50.0)):
        record(each, results, page)
    text = page.read_text()
    assert "| 1,000,000 | 40 | 30 | 70 | 60 | 0.1 |" in text
    assert "| start, units | 40 | 0.0 | 40 |" in text
    assert "| writing, units | 10 | 20.0 | 20,010 |" in text
    assert "| shuffled | | 50 MB | 50 GB |" in text
    assert "Python takes 302 MB and fetches 2.0 MB for 20 sections" in text
    assert "it would hold 1.3 GB, or 2.3 GB if every row" in text
    assert "20,050 units of 1.2 seconds on 200 cores are 0.03 hours" in text
    assert "rows^1.00 here, to 500,000,000, in 10,000 sections" in text
    assert "99" not in text


def test_lines_are_never_negative() -> None:
    assert line_through(run(1_000, 50.0), run(2_000, 20.0), "stages", "writing") == (20.0, 0.0)
    assert line_through(run(1_000, 10.0), run(2_000, 30.0), "stages", "writing") == (0.0, pytest.approx(0.02))


def test_page_shows_the_recorded_runs() -> None:
    assert PAGE.read_text() == render(json.loads(RESULTS.read_text()))
