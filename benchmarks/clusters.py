"""`python -m benchmarks.clusters`: CPU of the published clustering methods over growing tables, as a Markdown page.

The method alone, from codes to groups, on the first rows of Adult with the quasi-identifiers of W8 at k = 10, and the
exponent with which its cost grows between the smallest and the largest table. Written to
benchmarks/results/clusters.md with --record.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from benchmarks.reference import measure_unit
from benchmarks.workloads import ROOT, W8, find_adult
from shoal import Rule
from shoal.encoding import Encoded, encode
from shoal.methods import Run, named
from shoal.models import KAnonymity
from shoal.partition import cell_losses
from shoal.schema import Kind, Role, Schema
from shoal.table import from_frame

__all__ = ["CASES", "Case", "exponent", "run_case"]

PAGE = ROOT / "benchmarks" / "results" / "clusters.md"
K = 10
SIZES = (5_000, 10_000, 20_000, 30_162)
RULES = (
    Rule("age", inflection=(64, 65), importance=25),
    Rule("race", apart=("White", "Black"), importance=20),
    Rule("sex", apart=("Female", "Male"), importance=5),
)
INTRODUCTION = """\
# Cost of the published clustering methods

The method alone, from codes to groups, on the first rows of Adult with eight quasi-identifiers at k = 10: CPU in
reference units, the median of three runs. Growth is the exponent between the smallest and the largest table, in rows
and in distinct tuples; beside it what the paper claims for n rows and m classes of equal rows. Written by
`python -m benchmarks.clusters --record`.

"""


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


def run_case(case: Case, encoded: Encoded, repetitions: int = 3) -> tuple[float, float]:
    """Return the median CPU seconds, and the loss of the groups."""
    seconds = []
    for _ in range(repetitions):
        method = named(case.method, **case.options)
        began = time.process_time()
        made = method.partition(encoded, (KAnonymity(K),), Run(rules=case.rules))
        seconds.append(time.process_time() - began)
    cells = zip(encoded.attributes, made.cells, strict=True)
    loss = sum(cell_losses(a, c)[c.index][made.labels].mean() for a, c in cells) / len(made.cells)
    return statistics.median(seconds), float(loss)


def exponent(costs: Sequence[float], sizes: Sequence[int]) -> float:
    """Return the power with which a cost grows from the first size to the last.

    >>> round(exponent([1.0, 4.0], [10, 20]), 6)
    2.0
    """
    return math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])


def main() -> None:
    """Run the cases and print or record the page."""
    parser = argparse.ArgumentParser("python -m benchmarks.clusters")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/clusters.md")
    recording = parser.parse_args().record
    adult = find_adult()
    if adult is None:
        sys.exit("The Adult table was not found: set SHOAL_DATA to a folder that holds adult.data.")
    tables = {n: make_table(adult, n) for n in SIZES}
    unit = measure_unit()
    head = ["method", *(f"{n:,} rows" for n in SIZES), "targets", "growth in rows", "in tuples", "paper", "loss"]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * len(SIZES) + "|---|---:|---:|---|---:|"]
    distinct = [len(table.tuples) for table in tables.values()]
    lines.append("| distinct tuples | " + " | ".join(f"{m:,}" for m in distinct) + " | | | | | |")
    for case in CASES:
        measured = [run_case(case, table) for table in tables.values()]
        costs = [seconds / unit for seconds, _ in measured]
        cells = [case.name, *(f"{cost:.2f}" for cost in costs), f"{case.targets[0]:g}, {case.targets[1]:g}"]
        cells += [f"{exponent(costs, SIZES):.2f}", f"{exponent(costs, distinct):.2f}", case.claim]
        lines.append("| " + " | ".join([*cells, f"{measured[-1][1]:.4f}"]) + " |")
    page = INTRODUCTION + "\n".join(lines) + "\n"
    if recording:
        PAGE.write_text(page)
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
