"""What centres are good for, beside ranges: moments of age, values that vanish, and boosting, on Adult.

python -m benchmarks.centers            prints the figures of W8 at k = 10 over 10 splits

Groups are the same for ranges and centres. Each split releases two thirds of the rows and tests on the others, which
are as they were. Ranges are read as `Release.to_numeric` reads them: midpoints of numbers, shares of sets.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import polars as pl

from benchmarks.learning import (
    ADULT_TARGET,
    Score,
    adult_options,
    adult_release,
    adult_rows,
    boosting,
    interval,
    split_rows,
)
from benchmarks.workloads import W8

FORMS = ("original", "text", "center")


def print_moments(rows: pl.DataFrame, k: int, effort: str) -> None:
    """Print what centres keep of each column of the whole table."""
    release = adult_release(rows, k, "center", effort)
    for name, figures in release.measures.centers.items():
        if figures.sd_ratio is not None and figures.mean_before and figures.mean_after:
            shift = figures.mean_after / figures.mean_before - 1
            print(f"{name}: mean {shift:+.4%}, standard deviation {figures.sd_ratio:.4f} of the original")
        elif figures.vanished:
            print(f"{name}: {figures.vanished} of {figures.values_before} values vanished")


def score_split(rows: pl.DataFrame, k: int, seed: int, effort: str) -> dict[str, Score]:
    """Return by form of cells the accuracy and the log-loss on the rows that were not released."""
    split = split_rows(rows, W8, ADULT_TARGET, seed)
    shown = {"original": split.train}
    for form in FORMS[1:]:
        shown[form] = adult_release(split.train, k, form, effort, keep_order=True).text
    return {form: split.score(frame, boosting()) for form, frame in shown.items()}


def main(words: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    asked = adult_options(__doc__).parse_args(words)
    rows = adult_rows("train", asked.rows)
    print(f"W8, k = {asked.k}, {rows.height:,} rows")
    print_moments(rows, asked.k, asked.effort)
    if not asked.splits:
        return
    scores = [score_split(rows, asked.k, seed, asked.effort) for seed in range(asked.splits)]
    for place, name in enumerate(Score._fields):
        for form in FORMS:
            print(f"{name}, {form}: {statistics.fmean(score[form][place] for score in scores):.5f}")
        print(f"{name}, center - text: {interval([s['center'][place] - s['text'][place] for s in scores])}")


if __name__ == "__main__":
    main()
