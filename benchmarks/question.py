"""What a release made for a question keeps of it: boosting trained on centres with and without a target, on Adult.

python -m benchmarks.question           prints the figures of W8 at k = 10 over 10 splits

Each split releases two thirds of the rows, once plain and once with the target, and tests on the others, which are as
they were. Differences are paired: both releases of a split have the same rows.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from benchmarks.learning import (
    ADULT_TARGET,
    adult_options,
    adult_release,
    adult_rows,
    boosting,
    interval,
    split_rows,
)
from benchmarks.workloads import W8

FORMS = ("original", "plain", "target")


class Kept(NamedTuple):
    """What a learner makes of a table, and what it lost: NCP, and rows in groups with one value of the target."""

    accuracy: float
    log_loss: float
    ncp: float = 0.0
    one_value: float = 0.0


def share_in_one_value(released: pl.DataFrame) -> float:
    """Return the share of the rows in groups that have a single value of the target."""
    groups = released.group_by(list(W8)).agg(pl.col(ADULT_TARGET).n_unique().alias("values"), pl.len().alias("rows"))
    return float(groups.filter(pl.col("values") == 1)["rows"].sum() / released.height)


def score_split(rows: pl.DataFrame, k: int, seed: int, cells: str, effort: str) -> dict[str, Kept]:
    """Return the scores of the original and of both releases on the rows that were not released."""
    split = split_rows(rows, W8, ADULT_TARGET, seed)
    scores = {"original": Kept(*split.score(split.train, boosting()))}
    for form in FORMS[1:]:
        options: dict[str, Any] = {"target": ADULT_TARGET} if form == "target" else {}
        release = adult_release(split.train, k, cells, effort, keep_order=True, **options)
        score = split.score(release.text, boosting())
        scores[form] = Kept(*score, release.measures.ncp, share_in_one_value(release.text))
    return scores


def print_scores(splits: Sequence[dict[str, Kept]]) -> None:
    """Print means, paired differences with 95 % intervals, and how much of the loss is won back."""
    for place, name in enumerate(Kept._fields):
        means = {form: statistics.mean(split[form][place] for split in splits) for form in FORMS}
        print(f"{name}: " + ", ".join(f"{form} {means[form]:.5f}" for form in FORMS if place < 2 or form != "original"))
        print(f"  target - plain {interval([split['target'][place] - split['plain'][place] for split in splits])}")
        if place < 2:
            lost = {form: abs(means[form] - means["original"]) for form in ("plain", "target")}
            print(f"  lost: plain {lost['plain']:.5f}, target {lost['target']:.5f}")
            print(f"  won back: {1 - lost['target'] / lost['plain']:.0%}")
        elif name == "ncp":
            print(f"  target / plain: {means['target'] / means['plain']:.3f}")


def main(words: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = adult_options(__doc__)
    parser.add_argument("--cells", default="center")
    asked = parser.parse_args(words)
    rows = adult_rows("both", asked.rows)
    print(f"W8, k = {asked.k}, {rows.height:,} rows, {asked.cells}, {asked.splits} splits")
    splits = []
    for seed in range(asked.splits):
        splits.append(score_split(rows, asked.k, seed, asked.cells, asked.effort))
        print(f"split {seed}: {splits[-1]}", flush=True)
    print_scores(splits)


if __name__ == "__main__":
    main()
