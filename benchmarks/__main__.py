"""`python -m benchmarks`: run the cases, print their figures and write them as JSON and Markdown."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import chart, markdown
from benchmarks.cases import Case, choose, list_cases
from benchmarks.measuring import Bench, shoal_command
from benchmarks.report import Report, Row, find_worse, machine_facts, with_ratios
from benchmarks.targets import GOALS, TARGETS
from benchmarks.workloads import ROOT, Workloads, find_adult, needs_adult

RESULTS = Path(__file__).parent / "results"
RECORDED = RESULTS / "recorded.json"
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
CURVE = PAGE.with_name(markdown.CURVE)
NO_ADULT = (
    "The Adult table was not found, so W3, W8 and the tables drawn from it are skipped. Set SHOAL_DATA to a folder "
    "that contains adult.data (or adult/adult.data), or download it once: python -c 'from shoal import datasets; "
    "datasets.adult(download=True)'."
)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure CPU, peak memory and loss of shoal.")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="run the cases with these words: kernel 'W8 k=10'"
    )
    parser.add_argument("--rows", nargs="+", type=int, default=[], help="sizes of the big tables")
    parser.add_argument("--k", nargs="+", type=int, default=[], help="values of k instead of 2 5 10 25 50 100")
    parser.add_argument("--quick", action="store_true", help="run a few short cases, as a smoke test")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER", help="folder of last.json and last.md")
    parser.add_argument("--against", metavar="last|FILE", help="report what became 25 %% worse than in that run")
    parser.add_argument(
        "--record", action="store_true", help="store a complete run as the recorded one and update the page"
    )
    parser.add_argument(
        "--renew", action="store_true", help="replace the figures of these cases in the recorded run and on the page"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the cases and exit")
    options = parser.parse_args(arguments)
    if options.record and is_partial(options):
        parser.error("--record needs a complete run: omit --only, --rows, --k and --quick")
    return options


def is_partial(options: argparse.Namespace) -> bool:
    """Return whether the run omits or changes cases."""
    return bool(options.only or options.rows or options.k or options.quick)


def recorded_run(against: str, folder: Path) -> Path:
    """Return the file to compare with; "last" is the last complete run in the folder, else the committed one."""
    if against != "last":
        return Path(against)
    last = folder / "last.json"
    return last if last.exists() else RECORDED


def run_cases(cases: Sequence[Case]) -> Report:
    """Run the cases and print each row as soon as it is ready."""
    adult = find_adult() if any(needs_adult(case.subject) for case in cases) else None
    notes = []
    if adult is None and any(needs_adult(case.subject) for case in cases):
        notes.append(NO_ADULT)
        print(NO_ADULT, file=sys.stderr)
        cases = [case for case in cases if not needs_adult(case.subject)]
    machine, load = machine_facts(shoal_command()), os.getloadavg()[0]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="shoal-benchmarks-") as name:
        bench = Bench(Workloads(Path(name), adult), Path(name))
        for case in cases:
            rows.append(bench.run(case))
            print(line(rows[-1]), flush=True)
    machine["load"] = f"{load:.1f} to {os.getloadavg()[0]:.1f}"
    today = datetime.date.today().isoformat()
    return Report(today, machine, tuple(bench.units), with_ratios(rows), tuple(notes))


def line(row: Row) -> str:
    """Format a row as one line for the terminal."""
    if row.error:
        return f"{row.name:<58} failed: {row.error}"
    if row.gap is not None:
        return f"{row.name:<58} above the optimum: mean {row.gap:.3%}, at most {row.gap_most:.2%} of {row.samples}"
    if row.stages:
        stages = ", ".join(f"{name} {units:.2f}" for name, units in row.stages.items())
        return f"{row.name:<58} {row.units:9.4f} units: {stages}"
    memory = f"{row.peak_mb:6.0f} MB" if row.peak_mb else ""
    loss = f"loss {row.loss:.6f}" if row.loss is not None else ""
    return f"{row.name:<58} {row.units:9.4f} units {row.wall_seconds:8.3f} s {memory:>10} {loss}".rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return 1 if a case failed, regardless of the times."""
    options = parse(arguments)
    cases = choose(list_cases(rows=options.rows, ks=options.k, quick=options.quick), options.only)
    if options.list or not cases:
        print("\n".join(case.name for case in cases) or "no case matches; --list without --only shows all names")
        return 0 if cases else 2
    earlier_run = None
    if options.against:
        path = recorded_run(options.against, options.out)
        if not path.exists():
            print(f"{path}: no such run. Make one first, without --against.", file=sys.stderr)
            return 2
        earlier_run = Report.read(path)  # read it now: this run may replace it
    report = run_cases(cases)
    options.out.mkdir(parents=True, exist_ok=True)
    stem = "last.partial" if is_partial(options) else "last"
    runs = {options.out / stem: report}
    if options.record or options.renew:
        names = [case.name for case in list_cases()]
        runs[RECORDED.with_suffix("")] = Report.read(RECORDED).renewed(report, names) if options.renew else report
    for path, run in runs.items():
        Path(f"{path}.json").write_text(run.as_json(), "utf-8")
        written_run = Report.read(Path(f"{path}.json"))  # JSON and Markdown show the same digits
        Path(f"{path}.md").write_text(f"# Benchmarks\n\n{markdown.render(written_run)}", "utf-8")
        print(f"written: {path}.json and .md")
    if options.record or options.renew:
        markdown.renew(PAGE, markdown.render(written_run))
        CURVE.write_text(chart.draw(written_run), "utf-8")
    for word, targets in (("target", TARGETS), ("goal", GOALS)):
        for verdict in report.verdicts(targets):
            text = f"{verdict.case}, {verdict.target.measure}: {verdict.figure:.4g}, {word} {verdict.target.limit:g}"
            print(f"{'met    ' if verdict.met else 'NOT MET'} {text}")
    if earlier_run is not None:
        changes = find_worse(earlier_run, report)
        print("\n".join(changes) or f"nothing became 25 % worse than in the run of {earlier_run.made}")
    return 1 if any(row.error for row in report.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
