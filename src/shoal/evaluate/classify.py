"""Classification accuracy of learners on a release, compared with their accuracy on the original.

Each learner is trained and tested three times on the same rows:

- original to original: the baseline.
- release to original: a model is trained on the release and applied to people as they are.
- original to release: an existing model is applied to released rows.

The features are the quasi-identifiers, unless others are named; `shoal.metrics.features` defines how their cells become
numbers. Where the target is recoded too, a released class that is not a single value is left out of the training and
counts as an error in the test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError, setting
from shoal.evaluate import confidence
from shoal.evaluate.learners import LEARNERS
from shoal.evaluate.task import Task, check_other, make_task
from shoal.metrics.features import Labels
from shoal.schema import Role, Schema
from shoal.tables.formats import as_table
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.release import Release

__all__ = [
    "LEARNERS",
    "Accuracy",
    "accuracy",
    "learn",
    "learn_from_files",
    "learn_from_release",
]

WAYS = (("original", "original"), ("release", "original"), ("original", "release"))
Rows = NDArray[np.int64]
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Accuracy:
    """The share of test rows whose class a learner predicts correctly, in [0, 1]; higher is better.

    Attributes:
        learner: Name of the learner.
        trained_on: "original" or "release".
        tested_on: "original" or "release".
        mean: Mean over the scores of all folds.
        low: Lower end of its 95 % confidence interval.
        high: Upper end of its 95 % confidence interval.
        scores: Accuracy in each fold.
        held_out: True if no test row was anonymised together with the training rows.
    """

    learner: str
    trained_on: str
    tested_on: str
    mean: float
    low: float
    high: float
    scores: tuple[float, ...] = field(repr=False)
    held_out: bool = True


class Trial(NamedTuple):
    """One split: training and test rows, original and released, and the labels of the hierarchies."""

    train: Table
    train_released: Table
    test: Table
    test_released: Table
    labels: Labels


def accuracy(
    train: Any,
    test: Any,
    schema: Schema,
    target: str,
    learners: Sequence[str] = LEARNERS,
    *,
    seed: int = 0,
    features: Sequence[str] | None = None,
    labels: Labels | None = None,
) -> dict[str, float]:
    """Train learners on one table and return their accuracy on another; either may be released or original.

    Args:
        train: Training rows: a table or a frame.
        test: Test rows, which should not be among the training rows.
        schema: Schema of the original.
        target: The column of classes.
        learners: Names of learners, of `LEARNERS`.
        seed: Seed of learners that use random numbers.
        features: Columns to learn from; the quasi-identifiers by default.
        labels: For each column with a hierarchy, the values under each label (`release.labels`).

    Returns:
        The accuracy of each learner, by name.
    """
    named = (*schema.names(Role.QI), target)
    tables = [as_table(train, named), as_table(test, named)]
    task = make_task(tables[1], schema, target, learners, seed, features)
    check_other(task, tables[0], "training table")
    return task.fit(tables[0], labels or {})(tables[1])


def learn(
    original: Any,
    anonymize: Callable[[pl.DataFrame], Release],
    schema: Schema,
    target: str,
    learners: Sequence[str] = LEARNERS,
    *,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    features: Sequence[str] | None = None,
    progress: Progress = lambda share: None,
) -> tuple[Accuracy, ...]:
    """Measure accuracy with rows held out before anonymising: training and test rows are released separately.

    This is repeated stratified cross-validation on sorted rows, so that the order of the input rows does not matter.
    Intervals: `confidence.of_folds`.

    Args:
        original: The original: a frame, a table or the path of a file.
        anonymize: Makes a release of a frame of texts, such as
            `lambda part: shoal.anonymize(part, qi=["age"], k=5)`; it is called twice for each fold.
        schema: Schema of the original.
        target: The column of classes.
        learners: Names of learners, of `LEARNERS`.
        folds: Folds of the cross-validation.
        repeats: Repetitions of the cross-validation.
        seed: Seed of the folds and of learners that use random numbers.
        features: Columns to learn from; the quasi-identifiers by default.
        progress: Called with the completed share of the folds.

    Returns:
        The accuracy of each learner, for each combination of training and test table.
    """
    table = _sorted(as_table(original, (*schema.names(Role.QI), target)))
    task = make_task(table, schema, target, learners, seed, features)
    trials = _held_out_trials(table, anonymize, _splits(table, target, folds, repeats, seed))
    return _run(task, trials, folds, repeats, progress, held_out=True)


def learn_from_release(
    release: Release,
    target: str,
    learners: Sequence[str] = LEARNERS,
    *,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    features: Sequence[str] | None = None,
    progress: Progress = lambda share: None,
) -> tuple[Accuracy, ...]:
    """Measure accuracy on an existing release, with test rows held out by their source row.

    A model sees neither the test rows nor their classes. However, the test rows took part in the recoding; `learn`
    avoids this at the cost of two more releases for each fold.

    Args:
        release: The release.
        target: The column of classes.
        learners: Names of learners, of `LEARNERS`.
        folds: Folds of the cross-validation.
        repeats: Repetitions of the cross-validation.
        seed: Seed of the folds and of learners that use random numbers.
        features: Columns to learn from; the quasi-identifiers by default.
        progress: Called with the completed share of the folds.

    Returns:
        The accuracy of each learner, for each combination of training and test table.
    """
    original = release.original
    task = make_task(original, release.schema, target, learners, seed, features)
    trials = _source_trials(release, _sorted_rows(original), _splits(_sorted(original), target, folds, repeats, seed))
    return _run(task, trials, folds, repeats, progress, held_out=False)


def learn_from_files(
    original: Any,
    released: Any,
    schema: Schema,
    target: str,
    learners: Sequence[str] = LEARNERS,
    *,
    held_out: Any = None,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    features: Sequence[str] | None = None,
    labels: Labels | None = None,
    progress: Progress = lambda share: None,
) -> tuple[Accuracy, ...]:
    """Measure accuracy on the release of any tool, whose source rows are unknown.

    With held-out rows, models of the original and of the release are tested on them, and a model of them on the
    release; intervals are Wilson's. Without held-out rows, original and release are split into folds independently:
    most test rows are also training rows. Accuracies are then too high by as much as a learner memorises rows, the
    baseline's most of all.

    Args:
        original: The original: a frame, a table or the path of a file.
        released: The release, in any of these forms.
        schema: Schema of the original.
        target: The column of classes.
        learners: Names of learners, of `LEARNERS`.
        held_out: Original rows that were not released.
        folds: Folds of the cross-validation.
        repeats: Repetitions of the cross-validation.
        seed: Seed of the folds and of learners that use random numbers.
        features: Columns to learn from; the quasi-identifiers by default.
        labels: For each column with a hierarchy, the values under each label.
        progress: Called with the completed share of the work.

    Returns:
        The accuracy of each learner, for each combination of training and test table.
    """
    named = (*schema.names(Role.QI), target)
    tables = [_sorted(as_table(source, named)) for source in (original, released)]
    task = make_task(tables[0], schema, target, learners, seed, features)
    check_other(task, tables[1], "release")
    if held_out is not None:
        test = as_table(held_out, named)
        check_other(task, test, "table of held-out rows")
        return _run_once(task, tables[0], tables[1], test, labels or {}, progress)
    splits = [
        _splits(table, target, folds, repeats, [seed, i]) for i, table in enumerate((tables[0], tables[0], tables[1]))
    ]
    trials = (
        Trial(
            _part(tables[0], train),
            _part(tables[1], train_released),
            _part(tables[0], test),
            _part(tables[1], test_released),
            labels or {},
        )
        for (train, _), (_, test), (train_released, test_released) in zip(*splits, strict=True)
    )
    return _run(task, trials, folds, repeats, progress, held_out=False)


def _held_out_trials(
    table: Table, anonymize: Callable[[pl.DataFrame], Release], splits: Iterable[tuple[Rows, Rows]]
) -> Iterator[Trial]:
    for train, test in splits:
        parts = _part(table, train), _part(table, test)
        releases = [anonymize(part.frame) for part in parts]
        labels = {**releases[1].labels, **releases[0].labels}
        yield Trial(parts[0], Table(releases[0].text), parts[1], Table(releases[1].text), labels)


def _source_trials(release: Release, order: Rows, splits: Iterable[tuple[Rows, Rows]]) -> Iterator[Trial]:
    """Yield the trials of a release; `order` contains the original's rows in sorted order."""
    released = Table(release.text)
    for train, test in splits:
        is_test = np.isin(release.source_rows, order[test])
        yield Trial(
            _part(release.original, order[train]),
            _part(released, np.flatnonzero(~is_test)),
            _part(release.original, order[test]),
            _part(released, np.flatnonzero(is_test)),
            release.labels,
        )


def _splits(
    table: Table, target: str, folds: int, repeats: int, seed: int | Sequence[int]
) -> Iterator[tuple[Rows, Rows]]:
    """Yield the training and test rows of each fold; classes are spread over the folds evenly."""
    n_rows = table.frame.height
    if not 2 <= folds <= n_rows:
        raise UsageError(f"{setting('folds', folds)} is not valid: the table has {n_rows:,} rows. Use 2 to {n_rows:,}.")
    if repeats < 1:
        raise UsageError(f"{setting('repeats', repeats)} is not valid. Use 1 or more.")
    generator = np.random.default_rng(seed)
    classes = table.factor(target).ranks
    for _ in range(repeats):
        order = generator.permutation(len(classes))
        fold_of = np.empty(len(classes), dtype=np.int64)
        fold_of[order[np.argsort(classes[order], kind="stable")]] = np.arange(len(classes)) % folds
        for fold in range(folds):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)


def _run(
    task: Task, trials: Iterable[Trial], folds: int, repeats: int, progress: Progress, *, held_out: bool
) -> tuple[Accuracy, ...]:
    scores: dict[tuple[str, str, str], list[float]] = {(name, *way): [] for name in task.learners for way in WAYS}
    for done, trial in enumerate(trials, 1):
        judge, judge_released = (task.fit(table, trial.labels) for table in (trial.train, trial.train_released))
        accuracies = (judge(trial.test), judge_released(trial.test), judge(trial.test_released))
        for way, by_learner in zip(WAYS, accuracies, strict=True):
            for name, score in by_learner.items():
                scores[name, *way].append(score)
        progress(done / (folds * repeats))
    return tuple(
        Accuracy(*key, float(np.mean(each)), *confidence.of_folds(each, folds), tuple(each), held_out)
        for key, each in scores.items()
    )


def _run_once(
    task: Task, original: Table, released: Table, held_out: Table, labels: Labels, progress: Progress
) -> tuple[Accuracy, ...]:
    accuracies = []
    plan = ((original, held_out), (released, held_out), (held_out, released))
    for done, (way, (train, test)) in enumerate(zip(WAYS, plan, strict=True), 1):
        for name, score in task.fit(train, labels)(test).items():
            accuracies.append(Accuracy(name, *way, score, *confidence.of_share(score, test.frame.height), (score,)))
        progress(done / len(WAYS))
    return tuple(sorted(accuracies, key=lambda each: task.learners.index(each.learner)))


def _sorted(table: Table) -> Table:
    return Table(table.frame.sort(table.names, maintain_order=True))


def _sorted_rows(table: Table) -> Rows:
    """Return the row numbers of a table in sorted order."""
    rows = table.frame.with_row_index("row of the table").sort(table.names, maintain_order=True)["row of the table"]
    return rows.to_numpy().astype(np.int64)


def _part(table: Table, rows: Rows) -> Table:
    return Table(table.frame[rows])
