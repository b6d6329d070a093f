"""`--memory` holds for the whole process: two million rows, in a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

N_ROWS, N_TUPLES = 2_000_000, 150_000
CARDS = {"age": 74, "education": 16, "marital": 7, "job": 14, "origin": 40, "sex": 2, "hours": 60}
RELEASE = """
import sys
from pathlib import Path
from shoal.methods import sections
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from

n_sections, search = [], DuckSearcher.search_sections

def noted(self, *given):
    found = search(self, *given)
    n_sections.append(len(found.parts))
    return found

DuckSearcher.search_sections = noted
source, output, names = sys.argv[1:]
settings = settings_from({"k": 5, "qi": names.split(","), "sensitive": ["salary"], "effort": "fast"})
run = make_run(settings, threads=2)
job = Job.from_settings(Path(source), settings, Path(output), run, engine="duckdb", memory="500MB")
rows = job.execute().release.measures.rows
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
print(f'{{"rows": {rows}, "peak": {int(peak.split()[1]) * 1024}, "sections": {n_sections[0]}}}')
"""


def big_table() -> pl.DataFrame:
    """Rows drawn from tuples of several sections, the first ones far more often than the last."""
    draw = np.random.default_rng(7)
    tuples = {name: draw.integers(0, card, N_TUPLES) for name, card in CARDS.items()}
    rows = (N_TUPLES * draw.random(N_ROWS) ** 2).astype(np.int64)
    columns = {
        name: pl.Series([f"{name} {code}" if name != "age" else str(17 + code) for code in range(card)]).gather(
            tuples[name][rows]
        )
        for name, card in CARDS.items()
    }
    return pl.DataFrame(columns | {"salary": pl.Series(["low", "middle", "high"]).gather(draw.integers(0, 3, N_ROWS))})


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc, which says what a process used at most"
)
def test_two_million_rows_in_500_mb(tmp_path: Path) -> None:
    """O08: the limit, and 300 MB for the libraries."""
    big_table().write_csv(tmp_path / "source.csv")
    command = [sys.executable, "-c", RELEASE, str(tmp_path / "source.csv"), str(tmp_path / "out.csv"), ",".join(CARDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["rows"] == N_ROWS
    assert found["sections"] > 1
    assert found["peak"] < 800_000_000
    assert {each.name for each in tmp_path.iterdir()} > {"source.csv", "out.csv"}


REFUSED = """
import sys
from pathlib import Path
import shoal

try:
    shoal.anonymize(sys.argv[1], k=5, qi=["number", "sex"], sensitive=["salary"], effort="fast", memory="500MB")
except shoal.errors.FileError as error:
    print(error)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
print(int(peak.split()[1]) * 1024)
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc, which says what a process used at most"
)
def test_too_many_distinct_cells_are_refused_within_the_limit(tmp_path: Path) -> None:
    """O08: a quasi-identifier that every row has for itself never fills the memory; the message says what it takes."""
    n_rows = 3_000_000
    draw = np.random.default_rng(3)
    columns = {
        "number": pl.Series(draw.permutation(n_rows)),
        "sex": pl.Series(["F", "M"]).gather(draw.integers(0, 2, n_rows)),
        "salary": pl.Series(["low", "high"]).gather(draw.integers(0, 2, n_rows)),
    }
    pl.DataFrame(columns).write_csv(tmp_path / "source.csv")
    command = [sys.executable, "-c", REFUSED, str(tmp_path / "source.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    message, peak = done.stdout.splitlines()
    found = re.search(r"([0-9,]+) distinct cells need about ([0-9.]+) GB", message)
    assert found is not None, message
    assert n_rows <= int(found[1].replace(",", "")) <= 1.2 * n_rows
    assert int(peak) < 800_000_000
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}
