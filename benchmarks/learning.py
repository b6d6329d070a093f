"""Splits of a table and learners on them, for benchmarks of what a release is good for.

Each split releases two thirds of the rows it draws and tests on the others, which are as they were.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

import shoal
from benchmarks.workloads import W8, find_adult
from shoal.evaluate.extra import extra_module
from shoal.metrics.features import NumericEncoding, fit_encoding
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

__all__ = [
    "ADULT_TARGET",
    "Score",
    "Split",
    "adult_options",
    "adult_release",
    "adult_rows",
    "boosting",
    "half_interval",
    "interval",
    "logistic",
    "schema_of",
    "split_rows",
]

ADULT_TARGET = "salary"
# 97.5 % quantiles of t with one degree of freedom less.
T_QUANTILE = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262, 20: 2.093, 50: 2.010}


class Score(NamedTuple):
    """How well a learner does on held-out rows."""

    accuracy: float
    log_loss: float


class Split(NamedTuple):
    """Rows to release, and what a learner is tested on.

    Attributes:
        train: The rows to release.
        encoding: The features of these rows, which every form of cells is read as.
        held_out: The features of the other rows.
        truth: Their classes.
        target: The column of the classes.
    """

    train: pl.DataFrame
    encoding: NumericEncoding
    held_out: Any
    truth: Any
    target: str

    def score(self, shown: pl.DataFrame, learner: Any) -> Score:
        """Train a learner on released rows, in the order of the original ones, and test it on the others."""
        with extra_module("threadpoolctl").threadpool_limits(1):  # more threads wait for each other on a busy machine
            learner.fit(self.encoding.matrix(from_frame(shown)), shown[self.target].to_numpy())
            chances = learner.predict_proba(self.held_out)
        place = np.searchsorted(learner.classes_, self.truth).clip(max=len(learner.classes_) - 1)
        own = np.where(learner.classes_[place] == self.truth, chances[np.arange(len(self.truth)), place], 0.0)
        hits = learner.classes_[chances.argmax(axis=1)] == self.truth
        return Score(float(np.mean(hits)), float(-np.log(np.clip(own, 1e-6, 1)).mean()))


def schema_of(columns: Mapping[str, str], target: str, names: Sequence[str]) -> Schema:
    """Return the roles and kinds of a table; columns: the kinds of its quasi-identifiers."""
    roles = {Role.QI: tuple(columns), Role.SENSITIVE: (target,)}
    return Schema.build(names, roles, kinds={name: Kind(kind) for name, kind in columns.items()})


def split_rows(
    frame: pl.DataFrame, columns: Mapping[str, str], target: str, seed: int, n_rows: int | None = None
) -> Split:
    """Draw rows and split them; columns: the kinds of the quasi-identifiers."""
    order = np.random.default_rng(seed).permutation(frame.height)[:n_rows]
    cut = len(order) * 2 // 3
    train, test = frame[np.sort(order[:cut])], frame[np.sort(order[cut:])]
    encoding = fit_encoding(from_frame(train), schema_of(columns, target, frame.columns), list(columns))
    return Split(train, encoding, encoding.matrix(from_frame(test)), test[target].to_numpy(), target)


def boosting(**options: Any) -> Any:
    """Return gradient boosting of scikit-learn."""
    return extra_module("sklearn.ensemble").HistGradientBoostingClassifier(random_state=0, **options)


def logistic() -> Any:
    """Return logistic regression of scikit-learn, on standardised features."""
    scaler = extra_module("sklearn.preprocessing").StandardScaler()
    model = extra_module("sklearn.linear_model").LogisticRegression(max_iter=200)
    return extra_module("sklearn.pipeline").make_pipeline(scaler, model)


def half_interval(figures: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of a mean."""
    return T_QUANTILE.get(len(figures), 1.96) * statistics.stdev(figures) / math.sqrt(len(figures))


def interval(differences: Sequence[float]) -> str:
    """Return the mean of paired differences with its 95 % interval."""
    if len(differences) < 2:
        return f"{statistics.fmean(differences):+.5f}"
    return f"{statistics.fmean(differences):+.5f} +- {half_interval(differences):.5f}"


def adult_release(rows: pl.DataFrame, k: int, cells: str, effort: str, **options: Any) -> shoal.Release:
    """Return the release of W8's columns."""
    names = list(W8)
    return shoal.anonymize(
        rows, qi=names, sensitive=[ADULT_TARGET], numeric=["age"], k=k, cells=cells, effort=effort, **options
    )


def adult_options(description: str | None) -> argparse.ArgumentParser:
    """Return the options of a benchmark on splits of Adult."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=None, help="rows of the table; all by default")
    parser.add_argument("--effort", default="normal")
    return parser


def adult_rows(part: Literal["train", "both"] = "both", n_rows: int | None = None) -> pl.DataFrame:
    """Return W8's columns and the target of the complete rows of Adult, or of the first ones."""
    found = find_adult(part)
    if found is None:
        raise SystemExit("the Adult table was not found; set SHOAL_DATA to its folder")
    return pl.DataFrame(found).select(*W8, ADULT_TARGET).head(n_rows or len(found[ADULT_TARGET]))
