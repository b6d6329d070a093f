"""The page of releases on Spark: what was measured, and what follows from it for a billion rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.spark.reading import SPLIT_BYTES
from shoal.spark.session import FEWEST_PARTS
from shoal.spark.source import SPLITS_PER_PART

RESULTS = Path(__file__).parent / "results" / "spark.json"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "spark-scale.md"
GOAL, EXECUTORS, CORES = 1_000_000_000, 50, 4
DRIVER = ("Java of the driver", "driver")

Run = Mapping[str, Any]

INTRODUCTION = """# Releases on Spark: how far

`python -m benchmarks.spark --record 1000000 5000000` measures this page. Two executors of one core run on one machine
(`local-cluster[2,1,2048]`); Java's heap on the driver is 1 GB. The table is Adult made bigger: eight quasi-identifiers,
one sensitive column, k = 5, shoaling with `--effort fast`, the release as Parquet in parts, the gate included. A unit
is the CPU time of a fixed loop in Python; units are those of all processes, from the start of the
command to its end. Shuffled bytes are those that tasks wrote for other tasks, from Spark's own event log. Other work on
the machine during a run makes its units larger.
"""

DOUBTS = """
Doubts:

- Two sizes on one machine. Executors exchange data over loopback and one disk; a network adds time that no term has. At
  1 GB a second for each executor, the shuffles take {seconds:,.1f} seconds.
- The fixed part is mostly the start of Java and its compilers, on every executor. Java's heap on the driver is limited
  to 1 GB here.
- Dictionaries are those of Adult. A column with more distinct values needs more memory on the driver.
- The verifier reads each file of the source in one task. A source in one file would keep one core busy while the others
  wait.
- Not all cores work all the time: the last tasks of a stage, a tuple with most of the rows, and lost executors add to
  the hours.
"""


def record(figures: Run, results: Path, page: Path) -> None:
    """Keep the figures of a run in place of those of the same size, and write the page."""
    known = json.loads(results.read_text()) if results.exists() else []
    runs = sorted([run for run in known if run["rows"] != figures["rows"]] + [dict(figures)], key=lambda r: r["rows"])
    results.write_text(json.dumps(runs, indent=1) + "\n")
    page.write_text(render(runs))


def render(runs: Sequence[Run]) -> str:
    """Return the page of recorded runs."""
    stages = list(dict.fromkeys(stage for run in runs for stage in run["stages"]))
    lines = [INTRODUCTION, "Units by stage:", "", f"| rows | {' | '.join(stages)} | all | seconds | load |"]
    lines.append("|---:|" + "---:|" * (len(stages) + 3))
    for run in runs:
        units = " | ".join(f"{run['stages'].get(stage, 0):.0f}" for stage in stages)
        total = f"{sum(run['stages'].values()):.0f}"
        lines.append(f"| {run['rows']:,} | {units} | {total} | {run['seconds']:,} | {run['load']} |")
    lines += ["", "| rows | tuples | sections | groups | loss | shuffled | driver: Java | driver: Python |"]
    lines.append("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for run in runs:
        peaks = " | ".join(f"{run['peaks'].get(kind, 0) / 1e6:,.0f} MB" for kind in DRIVER)
        tuples = " | ".join(f"{run[name]:,}" if name in run else "\u2013" for name in ("tuples", "sections"))
        lines.append(
            f"| {run['rows']:,} | {tuples} | {run['groups']:,} | {run['loss']:.4%} | "
            f"{run['shuffled'] / 1e6:,.0f} MB | {peaks} |"
        )
    return "\n".join([*lines, *(estimate(*runs[-2:]) if len(runs) > 1 else [])]) + "\n"


def line_through(low: Run, high: Run, figure: str, name: str | None = None) -> tuple[float, float]:
    """Return what a figure has for no row, and what each row adds, from two sizes; neither is negative."""
    least, most = (float(run[figure] if name is None else run[figure].get(name, 0)) for run in (low, high))
    slope = max(0.0, (most - least) / (high["rows"] - low["rows"]))
    return max(0.0, most - slope * high["rows"]), slope


def estimate(low: Run, high: Run) -> list[str]:
    """Return what two measured sizes say about a billion rows, term by term."""
    units = {name: line_through(low, high, "stages", name) for name in high["stages"]}
    _, n_bytes = line_through(low, high, "bytes")
    _, shuffled = line_through(low, high, "shuffled")
    cores, total = EXECUTORS * CORES, sum(fixed + slope * GOAL for fixed, slope in units.values())
    splits = math.ceil(n_bytes * GOAL / SPLIT_BYTES)
    parts = max(FEWEST_PARTS, splits // SPLITS_PER_PART)
    lines = [
        "",
        f"## On paper: {GOAL:,} rows on {EXECUTORS} executors of {CORES} cores",
        "",
        f"Every term is a line through the runs of {low['rows']:,} and {high['rows']:,} rows: a fixed part, and a part "
        "for each row, which is multiplied by the rows.",
        "",
        f"| term | fixed | a million rows | {GOAL:,} rows |",
        "|---|---:|---:|---:|",
    ]
    for stage, (fixed, slope) in units.items():
        lines.append(f"| {stage}, units | {fixed:.0f} | {slope * 1e6:.1f} | {fixed + slope * GOAL:,.0f} |")
    lines.append(f"| source, CSV | | {n_bytes:.0f} MB | {n_bytes * GOAL / 1e9:,.0f} GB |")
    lines.append(f"| shuffled | | {shuffled:.0f} MB | {shuffled * GOAL / 1e9:,.0f} GB |")
    lines += [
        "",
        f"- Hours: {total:,.0f} units of {high['unit']} seconds on {cores} cores are "
        f"{total * high['unit'] / cores / 3600:.2f} hours if all cores work all the time.",
        f"- Blocks: the source is read in {splits:,} blocks of {SPLIT_BYTES >> 20} MB; the release has about {parts:,} "
        f"parts of {GOAL // parts:,} rows.",
    ]
    if "tuples" in low and {"sections", "tuples", "fetched"} <= high.keys():
        lines += sections_and_memory(low, high)
    return [*lines, DOUBTS.format(seconds=shuffled * GOAL / 1e9 / EXECUTORS).rstrip()]


def sections_and_memory(low: Run, high: Run) -> list[str]:
    """Return how many sections there are, and what the driver holds: what it fetches grows with them at most."""
    power = math.log(high["tuples"] / low["tuples"]) / math.log(high["rows"] / low["rows"])
    tuples = high["tuples"] * (GOAL / high["rows"]) ** power
    sections, most = (n * high["sections"] / high["tuples"] for n in (tuples, GOAL))
    held = max(run["peaks"][DRIVER[1]] for run in (low, high))
    sizes = [(held + n * high["fetched"] / high["sections"]) / 1e9 for n in (sections, most)]
    return [
        f"- Sections: distinct tuples grow like rows^{power:.2f} here, to {tuples:,.0f}, in {sections:,.0f} sections; "
        f"if every row were a tuple of its own, {most:,.0f}. Each is a task.",
        f"- Memory of the driver: Python takes {held / 1e6:,.0f} MB and fetches {high['fetched'] / 1e6:,.1f} MB for "
        f"{high['sections']} sections. If all of it grew with the sections, it would hold {sizes[0]:,.1f} GB, or "
        f"{sizes[1]:,.1f} GB if every row were a tuple; dictionaries, which are a part of it, do not grow so.",
    ]
