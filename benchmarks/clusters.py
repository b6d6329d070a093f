"""`python -m benchmarks.clusters`: CPU of the published clustering methods over growing tables, as a Markdown page.

The method alone, from codes to groups, on the first rows of Adult with the quasi-identifiers of W8 at k = 10, and the
exponent with which its cost grows between the smallest and the largest table. With --record it is written to
benchmarks/results/clusters.md, and its table to docs/reference/benchmarks.md.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from benchmarks.markdown import renew
from benchmarks.measuring import shoal_command
from benchmarks.reference import Beside
from benchmarks.report import machine_facts
from benchmarks.workloads import ROOT, W8, find_adult
from shoal import Rule
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.encoding.partition import cell_losses
from shoal.methods import Run, named
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

__all__ = ["BEGIN", "CASES", "PAGE", "SHOWN", "Case", "Cost", "exponent", "row", "run_case"]

PAGE = ROOT / "benchmarks" / "results" / "clusters.md"
SHOWN = ROOT / "docs" / "reference" / "benchmarks.md"
K = 10
REPETITIONS = 3
SIZES = (5_000, 10_000, 20_000, 30_162)
RULES = (
    Rule("age", inflection=(64, 65), importance=25),
    Rule("race", apart=("White", "Black"), importance=20),
    Rule("sex", apart=("Female", "Male"), importance=5),
)
INTRODUCTION = """\
# Cost of the published clustering methods

The method alone, from codes to groups, on the first rows of Adult with eight quasi-identifiers at k = 10: CPU in
reference units, the mean of {repetitions} runs over the mean of the pieces of a unit done between them. Targets are
those of the smallest and of the largest table. Growth is the exponent between these two, in rows and in distinct
tuples; beside it what the paper claims for n rows and m classes of equal rows. Written by
`python -m benchmarks.clusters --record`.

Equal rows are one tuple to all methods, so cost follows the tuples more than the rows. SBCA, KACA, bottom-up and
Euclidean grow with the square of the tuples, as claimed; utility-driven too. Top-down stays below its claim, since
splits halve the work. MNQIA does not grow linearly, as its paper has it: each row of a group is sought in the whole
grid, and the grid has more buckets the more rows there are.

"""
BEGIN = "<!-- made by `python -m benchmarks.clusters --record`; a change by hand is lost -->"


@dataclass(frozen=True)
class Case:
    """A method with its options; targets: in units, at the smallest and the largest size. claim: of its paper."""

    method: str
    targets: tuple[float, float]
    claim: str
    options: Mapping[str, object] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()

    @property
    def name(self) -> str:
        """How the case is shown."""
        told = [self.method, *(f"{name}={value}" for name, value in self.options.items())]
        return " ".join(told) + (", rules" if self.rules else "")


CASES = (
    Case("sbca", (1, 5), "n^2 / k"),
    Case("kaca", (1, 25), "n log n + m^2"),
    Case("bottom-up", (1, 25), "n^2"),
    Case("top-down", (1, 25), "n^2"),
    Case("euclidean", (1, 25), "none given"),
    Case("mnqia", (1, 5), "linear"),
    Case("utility-driven", (1, 25), "none given", rules=RULES),
    Case("utility-driven", (1, 25), "none given", {"suppress": "attributes"}, rules=RULES),
)


def make_table(adult: Mapping[str, Sequence[str]], n_rows: int) -> Encoded:
    """Return the first rows as codes."""
    frame = pl.DataFrame({name: adult[name][:n_rows] for name in W8})
    kinds = {name: Kind(kind) for name, kind in W8.items()}
    return encode(from_frame(frame), Schema.build(list(W8), {Role.QI: list(W8)}, kinds=kinds))


@dataclass(frozen=True)
class Cost:
    """What a case took: CPU in units, CPU seconds of the unit beside it, and the loss of its groups."""

    units: float
    unit: float
    loss: float


def run_case(case: Case, encoded: Encoded, repetitions: int = REPETITIONS) -> Cost:
    """Run a case a few times, with pieces of a unit between them."""
    beside, seconds = Beside(), []
    for _ in range(repetitions):
        method = named(case.method, **case.options)
        began = time.process_time()
        made = method.partition(encoded, (KAnonymity(K),), Run(rules=case.rules))
        seconds.append(time.process_time() - began)
        beside.measure(seconds[-1])
    cells = zip(encoded.attributes, made.cells, strict=True)
    loss = sum(cell_losses(a, c)[c.index][made.labels].mean() for a, c in cells) / len(made.cells)
    return Cost(statistics.fmean(seconds) / beside.unit, beside.unit, float(loss))


def exponent(costs: Sequence[float], sizes: Sequence[int]) -> float:
    """Return the power with which a cost grows from the first size to the last.

    >>> round(exponent([1.0, 4.0], [10, 20]), 6)
    2.0
    """
    return math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])


def row(case: Case, costs: Sequence[Cost], distinct: Sequence[int]) -> str:
    """Return the line of a case, with a cost for each of the sizes."""
    units = [cost.units for cost in costs]
    met = "yes" if units[0] <= case.targets[0] and units[-1] <= case.targets[1] else "**no**"
    cells = [case.name, *(f"{cost:.2f}" for cost in units), f"{case.targets[0]:g}, {case.targets[1]:g}", met]
    cells += [f"{exponent(units, SIZES):.2f}", f"{exponent(units, distinct):.2f}", case.claim]
    return "| " + " | ".join([*cells, f"{costs[-1].loss:.4f}"]) + " |"


def run_all(adult: Mapping[str, Sequence[str]]) -> str:
    """Run the cases and return when and where they ran, and the table of their costs."""
    facts, load = machine_facts(shoal_command()), os.getloadavg()[0]
    tables = {n: make_table(adult, n) for n in SIZES}
    distinct = [len(table.tuples) for table in tables.values()]
    head = ["method", *(f"{n:,} rows" for n in SIZES), "targets", "met", "growth in rows", "in tuples", "paper", "loss"]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * len(SIZES) + "|---|---|---:|---:|---|---:|"]
    lines.append("| distinct tuples | " + " | ".join(f"{m:,}" for m in distinct) + " | | | | | | |")
    units = []
    for case in CASES:
        costs = [run_case(case, table) for table in tables.values()]
        units += [cost.unit for cost in costs]
        lines.append(row(case, costs, distinct))
        print(lines[-1], file=sys.stderr, flush=True)
    machine = ", ".join(f"{name} {facts[name]}" for name in ("processor", "cores", "python", "numpy", "shoal"))
    return (
        f"Run of {datetime.date.today().isoformat()}: {machine}, load {load:.1f} to {os.getloadavg()[0]:.1f}. One unit "
        f"was {statistics.median(units):.3f} CPU seconds ({min(units):.3f} to {max(units):.3f}).\n\n"
    ) + "\n".join(lines)


def main() -> None:
    """Run the cases and print or record the page."""
    parser = argparse.ArgumentParser("python -m benchmarks.clusters")
    parser.add_argument("--record", action="store_true", help="write it to benchmarks/results and docs/reference")
    recording = parser.parse_args().record
    adult = find_adult()
    if adult is None:
        sys.exit("The Adult table was not found: set SHOAL_DATA to a folder that holds adult.data.")
    made = run_all(adult)
    page = INTRODUCTION.format(repetitions=REPETITIONS) + made + "\n"
    if recording:
        PAGE.write_text(page, "utf-8")
        renew(SHOWN, made + "\n", BEGIN)
    print(page, end="")


if __name__ == "__main__":
    main()
