"""`python -m benchmarks.scale`: tables of millions of rows on DuckDB: stages, rows a second, peak memory and loss.

Rows are drawn from Adult block by block, so that any size can be written. --rows, --form and --continuous choose the
table, --memory the limit. --folder has the files and must have room for several times the table. --record keeps the
figures and writes the page of all of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.big_table import COLUMNS, LARGEST_SHIFT, OLDEST, YOUNGEST
from benchmarks.child import run_child
from benchmarks.reference import measure_unit
from benchmarks.workloads import find_adult
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from
from shoal.tables.watch import Watch

BLOCK_ROWS = 1_000_000
RESULTS = Path(__file__).parent / "results" / "scale.json"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "scale.md"
SAME = ("rows", "form", "memory", "continuous")  # a run that agrees in these replaces an earlier one

INTRODUCTION = """# How far does it go

`shoal anonymize --engine duckdb` on tables drawn from Adult: seven quasi-identifiers, one sensitive column, k = 5,
shoaling with `--effort fast`, two threads, the gate included. Ages are whole years or, where it says so, have four
decimals, so that nearly every row is a combination of its own. A unit is the CPU time of a fixed loop in Python,
measured before and after each run on the same machine: figures in units can be compared between machines. Peak memory
is that of the whole process; `--memory` is the limit that was given.

`python -m benchmarks.scale --record` repeats a row.
[Files larger than memory](../guides/larger-than-memory.md) explains the options.
"""


def write_table(adult: Mapping[str, Sequence[str]], n_rows: int, path: Path, *, continuous: bool, seed: int) -> None:
    """Write rows drawn from Adult as CSV, or as Parquet if the name says so; a block of rows is in memory at a time."""
    texts = {name: pl.Series(adult[name], dtype=pl.String) for name in COLUMNS}
    years_of = np.array(adult["age"]).astype(float)
    n_source = len(years_of)
    plain = path.with_suffix(".csv")
    with open(plain, "wb") as file:
        for block, first in enumerate(range(0, n_rows, BLOCK_ROWS)):
            n, draw = min(BLOCK_ROWS, n_rows - first), np.random.default_rng([seed, block])
            rows, columns = draw.integers(0, n_source, n), {}
            for name in COLUMNS:
                picked, known = rows.copy(), texts[name]
                if name == "age":
                    years, width = years_of[rows], LARGEST_SHIFT
                    years += draw.uniform(-width, width, n) if continuous else draw.integers(-width, width + 1, n)
                    years = np.clip(years, YOUNGEST, OLDEST)
                    cells = np.char.mod("%.4f", years) if continuous else years.astype(int).astype(str)
                    known, picked = pl.concat([known, pl.Series(cells)]), np.arange(n_source, n_source + n)
                if name != "salary":
                    again = draw.random(n) < 0.05
                    picked[again] = draw.integers(0, n_source, int(again.sum()))
                columns[name] = known.gather(picked)
            pl.DataFrame(columns).write_csv(file, include_header=first == 0)
    if path != plain:
        pl.scan_csv(plain, infer_schema=False).sink_parquet(path)
        plain.unlink()


def run_one(source: Path, output: Path, memory: str) -> dict[str, object]:
    """Make one release; return the CPU seconds of each stage, the groups and the loss."""
    begins: list[tuple[str, float]] = []
    watch = Watch(stage=lambda name: begins.append((name, time.process_time())))
    names = [name for name in COLUMNS if name != "salary"]
    settings = settings_from({"k": 5, "qi": names, "sensitive": ["salary"], "effort": "fast"})
    run = make_run(settings, threads=2, watch=watch)
    job = Job.from_settings(source, settings, output, run, engine="duckdb", memory=memory, force=True)
    release = job.execute().release
    ends = [start for _, start in begins[1:]] + [time.process_time()]
    stages: dict[str, float] = {}
    for (name, start), end in zip(begins, ends, strict=True):
        stages[name] = round(stages.get(name, 0.0) + end - start, 2)
    return {"stages": stages, "groups": release.measures.groups, "loss": release.measures.ncp}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a table, release it in a child process, and print a line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--form", choices=("csv", "parquet"), default="csv")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--continuous", action="store_true", help="ages in four decimals: most rows are distinct")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--record", action="store_true", help="keep the figures, and write the page")
    parser.add_argument("--one", type=Path, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        source, output = options.one
        print(json.dumps(run_one(source, output, options.memory)))
        return 0
    adult = find_adult()
    if adult is None:
        parser.error("Adult is not on this machine; see shoal.datasets.adult")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        source, output = (Path(folder, f"{name}.{options.form}") for name in ("table", "release"))
        write_table(adult, options.rows, source, continuous=options.continuous, seed=11)
        command = [sys.executable, "-m", "benchmarks.scale", "--memory", options.memory]
        units = [measure_unit()]
        done = run_child([*command, "--one", str(source), str(output)], Path(folder, "bytecode"))
        units.append(measure_unit())
    if done.code:
        print(done.errors, file=sys.stderr)
        return done.code
    figures = {
        "rows": options.rows,
        "form": options.form,
        "memory": options.memory,
        "continuous": options.continuous,
        "cpu_seconds": round(done.cpu_seconds, 1),
        "units": round(done.cpu_seconds / (sum(units) / len(units)), 1),
        "rows_per_cpu_second": round(options.rows / done.cpu_seconds),
        "peak_mb": round(done.peak_mb),
        **json.loads(done.output.splitlines()[-1]),
    }
    print(json.dumps(figures))
    if options.record:
        record(figures, RESULTS, PAGE)
    return 0


def record(figures: Mapping[str, Any], results: Path, page: Path) -> None:
    """Keep the figures of a run, and write the page of all runs."""
    known = json.loads(results.read_text()) if results.exists() else []
    runs = [run for run in known if any(run[key] != figures[key] for key in SAME)] + [dict(figures)]
    runs.sort(key=lambda run: [run[key] for key in ("continuous", "form", "rows", "memory")])
    results.write_text(json.dumps(runs, indent=1) + "\n")
    page.write_text(render(runs))


def render(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of recorded runs."""
    lines = [INTRODUCTION]
    lines.append("| rows | ages | form | `--memory` | units | rows a CPU second | peak memory | groups | loss |")
    lines.append("|---:|---|---|---|---:|---:|---:|---:|---:|")
    for run in runs:
        ages = "four decimals" if run["continuous"] else "years"
        lines.append(
            f"| {run['rows']:,} | {ages} | {run['form']} | {run['memory']} | {run['units']} | "
            f"{run['rows_per_cpu_second']:,} | {run['peak_mb']:,} MB | {_shown(run, 'groups', ',')} | "
            f"{_shown(run, 'loss', '.5f')} |"
        )
    runs_in_stages = [run for run in runs if "stages" in run]
    stages = list(dict.fromkeys(stage for run in runs_in_stages for stage in run["stages"]))
    lines += ["", "CPU seconds of each stage:", "", f"| rows | ages | form | {' | '.join(stages)} |"]
    lines.append("|---:|---|---|" + "---:|" * len(stages))
    for run in runs_in_stages:
        seconds = " | ".join(str(run["stages"].get(stage, 0)) for stage in stages)
        ages = "four decimals" if run["continuous"] else "years"
        lines.append(f"| {run['rows']:,} | {ages} | {run['form']} | {seconds} |")
    return "\n".join([*lines, *growth(runs)]) + "\n"


def _shown(run: Mapping[str, Any], name: str, form: str) -> str:
    """Return a figure as text; a dash if the run did not record it."""
    return format(run[name], form) if name in run else "–"


def growth(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return in words how units and memory grow with the rows, where at least two sizes of a table were measured."""
    words = []
    for continuous in (False, True):
        same = [run for run in runs if run["continuous"] is continuous and run["form"] == "csv"]
        if len({run["rows"] for run in same}) < 2:
            continue
        rows = np.log([run["rows"] for run in same])
        power = float(np.polyfit(rows, np.log([run["units"] for run in same]), 1)[0])
        ages = "with four decimals" if continuous else "in years"
        least, most = (f"{pick(run['rows'] for run in same):,}" for pick in (min, max))
        words.append(f"- CSV, ages {ages}: the units grow like rows^{power:.2f} between {least} and {most} rows.")
    return ["", "## How it grows", "", *words] if words else []


if __name__ == "__main__":
    sys.exit(main())
