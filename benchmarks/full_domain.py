"""`python -m benchmarks.full_domain`: CPU of the full-domain methods, in units, as a Markdown table.

Measures only the method, from codes to groups: counting, searching and recoding, without reading, encoding or writing.
The tables are Adult with nine quasi-identifiers (those of W8 and salary) and ARX's hierarchies, 12,960 vectors; big
tables with the same columns; and Adult with 12 and 15 columns, the others in intervals or as value and "*".
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from pathlib import Path

import polars as pl

from benchmarks.big_table import COLUMNS, write_big_table
from benchmarks.reference import measure_unit
from benchmarks.workloads import ROOT, W8, find_adult
from shoal import hierarchy, methods
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.hierarchy.base import Rule
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table, from_frame

__all__ = ["CASES", "Case", "run_case"]

K = 5
MORE = {
    "relationship": None,
    "education-num": [4, 8],
    "hours-per-week": [20, 40],
    "capital-gain": [10_000],
    "capital-loss": [1_000],
    "fnlwgt": [100_000],
}


@dataclass(frozen=True)
class Case:
    """A method with its options on a table.

    Attributes:
        table: The name of the table.
        method: The name of the method.
        options: The options of the method.
        limit: The share of rows that may be suppressed.
        target: The CPU limit in units, if there is one.
    """

    table: str
    method: str
    options: Mapping[str, object] = field(default_factory=dict)
    limit: str = "0"
    target: float | None = None

    @property
    def name(self) -> str:
        """The name of the case in the table."""
        words = [self.method, *map(str, self.options.values())]
        return " ".join([*words, f"limit {self.limit}"] if self.limit != "0" else words)


NCP = {"objective": "ncp"}
USUAL = [("optimal", NCP, "0"), ("optimal", NCP, "0.02"), ("incognito", {}, "0")]
TARGETS = {0: 1.0, 1: 4.0, 2: 4.0}
CASES = [
    *(Case("Adult, 9", *case, target=TARGETS[i]) for i, case in enumerate(USUAL)),
    *(Case("Adult, 9", "optimal", {"objective": name}) for name in ("height", "precision", "entropy", "dm", "aecs")),
    *(
        Case("Adult, 9", "optimal", {"objective": name}, "0.02")
        for name in ("height", "precision", "entropy", "dm", "aecs")
    ),
    Case("Adult, 9", "datafly", {}, "0.02"),
    Case("Adult, 9", "rv-hybrid"),
    *(Case(f"{n:,} rows, 9", *case) for n in (100_000, 1_000_000) for case in USUAL),
    *(Case("Adult, 12", *case) for case in USUAL),
    *(Case("Adult, 15", *case) for case in USUAL[:2]),
]


def rules_of_adult(names: Sequence[str]) -> dict[str, Rule]:
    """Return ARX's hierarchies, without checking their labels, and intervals for the other numbers."""
    data = Path(os.environ.get("SHOAL_DATA", ROOT.parent / "shared" / "data"))
    folder = next((f for f in (data / "hierarchies", data / "adult" / "hierarchies") if f.is_dir()), data)
    rules: dict[str, Rule] = {}
    for name in names:
        path = folder / f"{'salary-class' if name == 'salary' else name}.csv"
        if name in COLUMNS:
            rules[name] = hierarchy.read(path, column=name, trust=True)
        elif (widths := MORE[name]) is not None:
            rules[name] = hierarchy.intervals(widths=widths)
    return rules


def make_table(name: str, adult: Mapping[str, Sequence[str]], folder: Path) -> Encoded:
    """Encode a table by name."""
    kind, _, count = name.rpartition(", ")
    names = [*W8, "salary", *list(MORE)[: int(count) - 9]]
    if kind == "Adult":
        table: Table = from_frame(pl.DataFrame({column: adult[column] for column in names}))
    else:
        path = folder / "big.csv"
        write_big_table(adult, int(kind.split()[0].replace(",", "")), path)
        with open(path, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        table = from_frame(pl.DataFrame(dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))))
    kinds = {n: Kind.NUMERIC if n == "age" or MORE.get(n) else Kind.CATEGORICAL for n in names}
    schema = Schema.build(names, {Role.QI: names}, kinds=kinds)
    return encode(table, schema, rules_of_adult(names))


def run_case(case: Case, encoded: Encoded, repetitions: int) -> tuple[float, dict[str, object]]:
    """Run a case; return the median CPU seconds of the repetitions, and facts about the result."""
    seconds = []
    for _ in range(repetitions):
        method = methods.named(case.method, **case.options)
        start = time.process_time()
        partition = method.partition(encoded, (KAnonymity(K),), methods.Run(suppression_limit=Fraction(case.limit)))
        seconds.append(time.process_time() - start)
    return statistics.median(seconds), {
        "levels": list((partition.levels or {}).values()),
        "tests": partition.facts.get("tests", partition.facts.get("tested", "")),
        "groups": partition.n_groups,
    }


def main() -> None:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.full_domain")
    parser.add_argument("--only", default="", help="tables whose name contains this text: Adult, '9', rows")
    name_part = parser.parse_args().only
    adult = find_adult()
    if adult is None:
        sys.exit("The Adult table was not found: set SHOAL_DATA to a folder that contains adult.data.")
    write = sys.stdout.write
    write("| table | distinct rows | vectors | method | units | target | tests | groups | levels | peak MB |\n")
    write("|---|---:|---:|---|---:|---:|---:|---:|---|---:|\n")
    current, encoded, unit = "", None, 1.0
    with tempfile.TemporaryDirectory() as folder:
        for case in [case for case in CASES if name_part in case.table]:
            if case.table != current:
                current, encoded = case.table, make_table(case.table, adult, Path(folder))
                unit = measure_unit()
            assert encoded is not None
            cpu, facts = run_case(case, encoded, 3 if case.table == "Adult, 9" else 1)
            vectors = prod(a.tree.height + 1 if a.tree else 2 for a in encoded.attributes)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            target = "" if case.target is None else f"{case.target:g}"
            cells = [case.table, f"{len(encoded.tuples):,}", f"{vectors:,}", case.name, f"{cpu / unit:.3f}", target]
            cells += [str(facts["tests"]), str(facts["groups"]), " ".join(map(str, facts["levels"])), f"{peak:,}"]  # type: ignore[call-overload]
            write("| " + " | ".join(cells) + " |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
