"""`python -m benchmarks.scale`: tables of millions of rows on DuckDB: stages, rows a second, peak memory and loss.

Rows are drawn from Adult block by block, so that any size can be written. --rows, --form and --continuous choose the
table, --memory the limit. --folder has the files and must have room for several times the table.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

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


def write_table(adult: Mapping[str, Sequence[str]], n_rows: int, path: Path, *, continuous: bool, seed: int) -> None:
    """Write rows drawn from Adult as CSV, or as Parquet if the name says so; a block of rows is in memory at a time."""
    source = {name: np.array(adult[name]) for name in COLUMNS}
    plain = path.with_suffix(".csv")
    with open(plain, "wb") as file:
        for block, first in enumerate(range(0, n_rows, BLOCK_ROWS)):
            n, draw = min(BLOCK_ROWS, n_rows - first), np.random.default_rng([seed, block])
            rows, columns = draw.integers(0, len(source["age"]), n), {}
            for name in COLUMNS:
                cells = source[name][rows]
                if name == "age":
                    years = cells.astype(float)
                    width = LARGEST_SHIFT
                    years += draw.uniform(-width, width, n) if continuous else draw.integers(-width, width + 1, n)
                    years = np.clip(years, YOUNGEST, OLDEST)
                    cells = np.char.mod("%.4f", years) if continuous else years.astype(int).astype(str)
                if name != "salary":
                    again = draw.random(n) < 0.05
                    cells = cells.copy()
                    cells[again] = draw.choice(source[name], int(again.sum()))
                columns[name] = cells
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
