"""What releases are good for: range queries, statistics and learners, for several methods, as ranges and as centres.

python -m benchmarks.downstream            measures, and writes docs/reference/downstream.md
python -m benchmarks.downstream --page     only writes the page anew from the figures of the last run

Each split draws rows of a table, releases two thirds of them with every method and tests learners on the others, which
are as they were. Methods share the splits. Ranges are read as `Release.to_numeric` reads them.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from benchmarks.learning import (
    ADULT_TARGET,
    Split,
    adult_rows,
    boosting,
    half_interval,
    logistic,
    schema_of,
    split_rows,
)
from benchmarks.workloads import PATIENTS, ROOT, W8
from shoal import datasets, methods
from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition
from shoal.evaluate.moments import compare_moments
from shoal.evaluate.queries import ask_queries
from shoal.methods.base import Run
from shoal.models import PrivacyModel
from shoal.tables.table import from_frame

PAGE = ROOT / "docs" / "reference" / "downstream.md"
RESULTS = Path(__file__).parent / "results" / "downstream.json"
METHODS = ("shoaling", "mondrian", "mdav", "sbca", "kaca")
KS = (5, 10, 50)
FORMS = {"text": "ranges", "center": "centres"}
COSTLY = "costly"  # whether the bill of a patient is above the median
TARGETS = {"adult": ADULT_TARGET, "patients": COSTLY}
COLUMNS: dict[str, Mapping[str, str]] = {"adult": W8, "patients": PATIENTS}
ORIGINAL = "original"
# The figures, and how the page names them.
FIGURES = {
    "queries": "range queries, mean relative error",
    "marginals": "marginals, mean distance",
    "deviation": "standard deviation of numbers and dates, over that of the original",
    "association": "association of two columns, mean difference",
    "boosting": "accuracy, boosting",
    "boosting_loss": "log-loss, boosting",
    "logistic": "accuracy, logistic regression",
}
LEARNED = ("boosting", "boosting_loss", "logistic")
PERCENT = ("queries", "marginals", "boosting", "logistic")
TREES = 40
TEXT = """# What releases are good for

{about}

Lower is better for errors, distances, differences and log-loss, higher for accuracy; a standard deviation is best at
1. Figures are means over the splits with 95 % intervals (t). Splits differ more than methods do, so the intervals of
two methods may overlap although one is better in every split. Therefore a second table shows *shoaling minus* every
other method, split by split, again with 95 % intervals. Where such an interval contains 0, these splits do not tell
which is better.
`python -m benchmarks.downstream` repeats the figures; [Utility](../guides/utility.md) measures your own release, and
[Compute with a release](../guides/compute-with-a-release.md) explains centres.
"""
ABOUT = """Range queries, statistics and learners on releases of five methods, as ranges and as centres. Groups are the
same for both. Each of {n_splits} splits draws {n_rows:,} rows of a table (Adult has 45,222 complete ones, patients
5,000) and releases two thirds of them: `kaca` is too slow for all rows, and methods must have the same rows to be
compared. Queries are asked ({n_queries} for each release) and statistics compared on the released rows. Learners are
trained on the release and tested on the other third as it was: does a person earn more than 50K (Adult, eight
quasi-identifiers), and is a bill above the median (patients, five quasi-identifiers)? Boosting has {trees} trees.
Options are the defaults, without hierarchies."""


class Remembered:
    """A method that forms its groups once, so that ranges and centres show the same ones."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._partition: Partition | None = None

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form the groups, or return those of the first call."""
        if self._partition is None:
            self._partition = methods.named(self.name).partition(encoded, models, run)
        return self._partition


def table_of(name: str) -> pl.DataFrame:
    """Return a table with its quasi-identifiers and its target."""
    if name == "adult":
        return adult_rows()
    bills = pl.col("cost").cast(pl.Float64)
    costly = pl.when(bills > bills.median()).then(pl.lit("yes")).otherwise(pl.lit("no")).alias(COSTLY)
    return datasets.patients().drop_nulls("cost").select(*PATIENTS, costly)


def measure_split(name: str, seed: int, n_rows: int, n_queries: int) -> dict[str, dict[str, float]]:
    """Return the figures of each method, k and form of cells on one split."""
    columns, target = COLUMNS[name], TARGETS[name]
    split = split_rows(table_of(name), columns, target, seed, n_rows)
    kinds = {kind: [n for n, of in columns.items() if of == kind] for kind in ("numeric", "categorical", "date")}
    found = {ORIGINAL: figures_of(split, name, split.train, seed, n_queries)}
    for method in METHODS:
        for k in KS:
            remembered = Remembered(method)
            for cells in FORMS:
                release = shoal.anonymize(
                    split.train,
                    qi=list(columns),
                    sensitive=[target],
                    numeric=kinds["numeric"],
                    categorical=kinds["categorical"],
                    dates=kinds["date"],
                    k=k,
                    cells=cells,
                    keep_order=True,
                    method=remembered,  # type: ignore[arg-type]
                    bound=False,
                )
                found[f"{method} {k} {cells}"] = figures_of(split, name, release.text, seed, n_queries)
        print(f"{name}, split {seed}: {method} done", flush=True)
    return found


def figures_of(split: Split, name: str, shown: pl.DataFrame, seed: int, n_queries: int) -> dict[str, float]:
    """Return the figures of a release, whose rows are in the order of the original."""
    schema = schema_of(COLUMNS[name], TARGETS[name], shown.columns)
    original, table = from_frame(split.train), from_frame(shown)
    answers = ask_queries(original, table, schema, n_queries=n_queries, seed=seed)
    moments = compare_moments(original, table, schema, columns=list(COLUMNS[name]))
    ratios = [
        math.sqrt((column.variance_after or 0.0) / column.variance_before)
        for column in moments.columns
        if column.variance_before
    ]
    boosted = split.score(shown, boosting(max_iter=TREES))
    return {
        "queries": answers.mean,
        "marginals": statistics.fmean(column.distance for column in moments.columns),
        "deviation": statistics.fmean(ratios),
        "association": statistics.fmean(abs(each.after - each.before) for each in moments.associations),
        "boosting": boosted.accuracy,
        "boosting_loss": boosted.log_loss,
        "logistic": split.score(shown, logistic()).accuracy,
    }


def shown_with_interval(figures: Sequence[float], form: str) -> str:
    """Return a mean with its 95 % interval."""
    mean = format(statistics.fmean(figures), form)
    return mean if len(figures) < 2 else f"{mean} ± {format(half_interval(figures), form.lstrip('+'))}"


def render(content: Mapping[str, Any]) -> str:
    """Return the page."""
    n_splits = max(len(splits) for splits in content["tables"].values())
    parts = [TEXT.format(about=ABOUT.format(n_splits=n_splits, **content["run"]))]
    for name, splits in content["tables"].items():
        parts.append(f"## {name.capitalize()}, target {TARGETS[name]}, splits: {len(splits)}")
        parts += [render_figure(splits, figure, words) for figure, words in FIGURES.items()]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def render_figure(splits: Sequence[Mapping[str, Mapping[str, float]]], figure: str, words: str) -> str:
    """Return the table of a figure: methods by k and form of cells."""
    form = ".1%" if figure in PERCENT else ".3f"

    def cell(release: str) -> str:
        return shown_with_interval([split[release][figure] for split in splits], form)

    lines = [f"### {words[0].upper()}{words[1:]}", ""]
    if figure in LEARNED:
        lines += [f"Trained on the original: {cell(ORIGINAL)}.", ""]
    heads = [f"k = {k}, {of}" for k in KS for of in FORMS.values()]
    lines += [f"| method | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    lines += [f"| {m} | {' | '.join(cell(f'{m} {k} {cells}') for k in KS for cells in FORMS)} |" for m in METHODS]
    return "\n".join([*lines, "", *render_differences(splits, figure)])


def render_differences(splits: Sequence[Mapping[str, Mapping[str, float]]], figure: str) -> list[str]:
    """Return the table of the first method minus each other one, over the same splits."""
    form = "+.1%" if figure in PERCENT else "+.3f"
    first, *others = METHODS

    def cell(other: str, k: int, cells: str) -> str:
        pairs = [(split[f"{first} {k} {cells}"][figure], split[f"{other} {k} {cells}"][figure]) for split in splits]
        return shown_with_interval([own - of_other for own, of_other in pairs], form)

    heads = [f"k = {k}, {of}" for k in KS for of in FORMS.values()]
    lines = [f"| {first} minus | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    return lines + [f"| {m} | {' | '.join(cell(m, k, cells) for k in KS for cells in FORMS)} |" for m in others]


def main(words: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=3000, help="rows that each split draws")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--page", action="store_true", help="only write the page from the figures of the last run")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(words)
    if not asked.page:
        run = {"n_rows": asked.rows, "n_queries": asked.queries, "trees": TREES}
        tables: dict[str, list[Any]] = {name: [] for name in asked.tables}
        for seed in range(asked.splits):
            for name in asked.tables:
                tables[name].append(measure_split(name, seed, asked.rows, asked.queries))
            asked.out.write_text(json.dumps({"run": run, "tables": tables}, indent=1) + "\n", "utf-8")
    page = PAGE if asked.out == RESULTS else asked.out.with_suffix(".md")
    page.write_text(render(json.loads(asked.out.read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main()
