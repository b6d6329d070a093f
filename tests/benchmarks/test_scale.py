"""The page of large tables: what is recorded is what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.scale import PAGE, RESULTS, record, render


def run(n_rows: int, units: float, **changed: Any) -> dict[str, Any]:
    figures = {"rows": n_rows, "form": "csv", "memory": "2GB", "continuous": False, "units": units, "peak_mb": 500}
    return figures | {"rows_per_cpu_second": 9, "stages": {"reading": 1.5}, "groups": 7, "loss": 0.25} | changed


def test_runs_are_kept_replaced_and_shown(tmp_path: Path) -> None:
    results, page = tmp_path / "scale.json", tmp_path / "scale.md"
    for each in (run(1000, 99.0), run(2000, 40.0), run(1000, 10.0), run(1000, 50.0, continuous=True)):
        record(each, results, page)
    text = page.read_text()
    assert "| 1,000 | years | csv | 2GB | 10.0 |" in text
    assert "| 1,000 | four decimals | csv | 2GB | 50.0 |" in text
    assert "99.0" not in text
    assert "rows^2.00 between 1,000 and 2,000 rows" in text


def test_page_shows_the_recorded_runs() -> None:
    import json

    assert PAGE.read_text() == render(json.loads(RESULTS.read_text()))
