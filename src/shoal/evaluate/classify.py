"""Classification accuracy: what learners make of a release, against what they make of the original.

Three ways through the same rows. original to original: the baseline. release to original: a model is made from the
release and used on people as they are. original to release: a model of one's own is used on released rows. The features
are the quasi-identifiers, unless others are named; shoal.metrics.features says how their cells become numbers. A
released class that is not one value (where the target is recoded too) teaches nothing and is never told right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, UsageError
from shoal.evaluate import confidence
from shoal.evaluate.learners import LEARNERS, check_learners, fit_learner
from shoal.metrics.features import Labels, fill_kinds, fit_encoding
from shoal.metrics.released_cells import SUPPRESSED
from shoal.schema import Kind, Role, Schema
from shoal.tables.formats import as_table
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.release import Release

__all__ = [
    "LEARNERS",
    "Accuracy",
    "accuracy",
    "check_target",
    "learn",
    "learn_from_files",
    "learn_from_release",
    "make_task",
    "refuse_constant",
]

MOST_CLASSES = 100
WAYS = (("original", "original"), ("release", "original"), ("original", "release"))
Rows = NDArray[np.int64]
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Accuracy:
    """The share of test rows whose class a learner tells right, in [0, 1], more is better.

    mean: over the scores of all folds. low, high: the 95 % interval of it. held_out: whether no test row was among
    those that the training rows were released with.
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
    """One split: training and test rows, as they were and as they are released."""

    train: Table
    train_released: Table
    test: Table
    test_released: Table
    labels: Labels


@dataclass(frozen=True)
class Task:
    """What is learned: the class of the target from the features; labels: of the hierarchies of the release."""

    schema: Schema
    target: str
    features: tuple[str, ...]
    learners: tuple[str, ...]
    seed: int

    def fit(self, table: Table, labels: Labels) -> Callable[[Table], dict[str, float]]:
        """Learn from a table; return what tells, for another table, the accuracy of each learner."""
        taught = self.taught(table, labels)
        encoding = fit_encoding(taught, self.schema, self.features, labels)
        features, classes = encoding.matrix(taught), self.classes(taught)
        fitted = {name: fit_learner(name, features, classes, self.seed) for name in self.learners}

        def judge(other: Table) -> dict[str, float]:
            if other.frame.height == 0:  # all test rows were left out of the release: none is told right
                return dict.fromkeys(fitted, 0.0)
            matrix, truth = encoding.matrix(other), self.classes(other)
            return {name: float(np.mean(model.predict(matrix) == truth)) for name, model in fitted.items()}

        return judge

    def taught(self, table: Table, labels: Labels) -> Table:
        """Return the rows that show one class."""
        known = np.flatnonzero(self._told(table, labels))
        if len(known) == 0:
            raise InputError(f"target {self.target!r}: no row of the training table shows one class. Recode it less.")
        return _part(table, known) if len(known) < table.frame.height else table

    def classes(self, table: Table) -> NDArray[np.object_]:
        """Return the class of each row."""
        return np.array(table.frame[self.target].to_list(), dtype=object)

    def _told(self, table: Table, labels: Labels) -> NDArray[np.bool_]:
        """Say which rows show one class: all of them unless the target is recoded."""
        ranks, texts = table.factor(self.target)
        if self.target not in self.schema.names(Role.QI):
            return np.ones(len(ranks), dtype=bool)
        below: Mapping[str, frozenset[str]] = labels.get(self.target, {})
        kind = next(column.kind for column in self.schema.qi if column.name == self.target)
        ranges = {"{}"} if kind is Kind.CATEGORICAL else {"{}", "[]", "[)"}
        one = [
            text not in SUPPRESSED - {""} and text[:1] + text[-1:] not in ranges and len(below.get(text, (text,))) == 1
            for text in texts.to_list()
        ]
        return np.array(one)[ranks]


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
    """Return the accuracy of each learner that is fitted on one table and tested on another, released or original.

    train, test: tables or frames; no row of the test should be among those of the training. schema: of the original.
    features: the columns to learn from, else the quasi-identifiers. labels: by column, the values below each label of
    its hierarchy (release.labels), for releases with labels.
    """
    tables = [as_table(train), as_table(test)]
    task = make_task(tables[1], schema, target, learners, seed, features)
    _check_other(task, tables[0], "training table")
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
    """Measure accuracy with rows held out first: each fold's other rows are anonymised without it, and so is the fold.

    anonymize: makes a release of a frame of texts, as lambda part: shoal.anonymize(part, qi=..., k=5, ...). Repeated
    stratified cross-validation on the rows in sorted order, so that the order of the table does not matter; the
    intervals are those of intervals.of_folds.
    """
    table = _sorted(as_table(original))
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
    """Measure the accuracy of a release that is made already, with rows held out by their source.

    A model never sees the test rows, nor their classes; but the ranges of the release were made with them, which
    `learn` avoids at the price of one more release for each fold.
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
    """Measure the accuracy of a release of whatever tool, of which nobody knows which row came from where.

    held_out: original rows that were not released. With them, models of the whole original and of the whole release are
    tested on them, and a model of them on the release; the intervals are Wilson's. Without them all tables are cut
    into folds that know nothing of each other: most test rows are among the training rows, for original and release
    alike, so the accuracies are too high by as much as a learner learns rows by heart, the baseline's the most.
    """
    tables = [_sorted(as_table(x)) for x in (original, released)]
    task = make_task(tables[0], schema, target, learners, seed, features)
    _check_other(task, tables[1], "release")
    if held_out is not None:
        kept = as_table(held_out)
        _check_other(task, kept, "table of held-out rows")
        return _run_once(task, tables[0], tables[1], kept, labels or {}, progress)
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
        made = [anonymize(part.frame) for part in parts]
        labels = {**made[1].labels, **made[0].labels}
        yield Trial(parts[0], Table(made[0].text), parts[1], Table(made[1].text), labels)


def _source_trials(release: Release, order: Rows, splits: Iterable[tuple[Rows, Rows]]) -> Iterator[Trial]:
    """Give the trials of a release; order: the row of the original at each sorted place."""
    released = Table(release.text)
    for train, test in splits:
        tested = np.isin(release.source_rows, order[test])
        yield Trial(
            _part(release.original, order[train]),
            _part(released, np.flatnonzero(~tested)),
            _part(release.original, order[test]),
            _part(released, np.flatnonzero(tested)),
            release.labels,
        )


def _splits(
    table: Table, target: str, folds: int, repeats: int, seed: int | Sequence[int]
) -> Iterator[tuple[Rows, Rows]]:
    """Give the training and test rows of each fold; all folds have as many rows of each class, give or take one."""
    if not 2 <= folds <= table.frame.height or repeats < 1:
        raise UsageError(
            f"folds={folds}, repeats={repeats}: use 2 folds or more, at most one for each of the "
            f"{table.frame.height} rows, and 1 repeat or more."
        )
    generator = np.random.default_rng(seed)
    classes = table.factor(target).ranks
    for _ in range(repeats):
        mixed = generator.permutation(len(classes))
        dealt = np.empty(len(classes), dtype=np.int64)
        dealt[mixed[np.argsort(classes[mixed], kind="stable")]] = np.arange(len(classes)) % folds
        for fold in range(folds):
            yield np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)


def _run(
    task: Task, trials: Iterable[Trial], folds: int, repeats: int, progress: Progress, *, held_out: bool
) -> tuple[Accuracy, ...]:
    scores: dict[tuple[str, str, str], list[float]] = {(name, *way): [] for name in task.learners for way in WAYS}
    for done, trial in enumerate(trials, 1):
        judge, judge_released = (task.fit(table, trial.labels) for table in (trial.train, trial.train_released))
        found = (judge(trial.test), judge_released(trial.test), judge(trial.test_released))
        for way, by_learner in zip(WAYS, found, strict=True):
            for name, score in by_learner.items():
                scores[name, *way].append(score)
        progress(done / (folds * repeats))
    return tuple(
        Accuracy(*key, float(np.mean(each)), *confidence.of_folds(each, folds), tuple(each), held_out)
        for key, each in scores.items()
    )


def _run_once(
    task: Task, original: Table, released: Table, kept: Table, labels: Labels, progress: Progress
) -> tuple[Accuracy, ...]:
    found = []
    plan = ((original, kept), (released, kept), (kept, released))
    for done, (way, (train, test)) in enumerate(zip(WAYS, plan, strict=True), 1):
        for name, score in task.fit(train, labels)(test).items():
            found.append(Accuracy(name, *way, score, *confidence.of_share(score, test.frame.height), (score,)))
        progress(done / len(WAYS))
    return tuple(sorted(found, key=lambda each: task.learners.index(each.learner)))


def make_task(
    original: Table,
    schema: Schema,
    target: str,
    learners: Sequence[str] = LEARNERS,
    seed: int = 0,
    features: Sequence[str] | None = None,
) -> Task:
    """Check what is to be learned, and fill in the kinds of the columns that it is learned from."""
    check_target(original, target)
    chosen = [c.name for c in schema.qi if c.name != target] if features is None else list(features)
    if target in chosen or not chosen:
        raise UsageError(f"features of target {target!r}: name one column or more, and not the target itself.")
    schema = fill_kinds(original, schema, chosen)
    return Task(schema, target, tuple(chosen), check_learners(learners), seed)


def check_target(table: Table, target: str, which: str = "original") -> None:
    """Refuse a target that is not there, or no column of classes."""
    if target not in table.names:
        raise UsageError(f"target {target!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")
    n_classes = len(table.factor(target).texts)
    if n_classes > MOST_CLASSES:
        raise UsageError(
            f"target {target!r} has {n_classes:,} distinct values. Name a column of at most {MOST_CLASSES} classes."
        )


def refuse_constant(table: Table, target: str) -> None:
    """Refuse a target of one class: every learner would be right, and nothing said of the release."""
    if len(table.factor(target).texts) < 2:
        raise UsageError(f"target {target!r} has one value in all rows: nothing to learn. Name a column of classes.")


def _check_other(task: Task, table: Table, which: str) -> None:
    """Refuse a table that lacks the target or a feature of the original."""
    check_target(table, task.target, which)
    absent = [name for name in task.features if name not in table.names]
    if absent:
        raise UsageError(f"column {absent[0]!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")


def _sorted(table: Table) -> Table:
    return Table(table.frame.sort(table.names, maintain_order=True))


def _sorted_rows(table: Table) -> Rows:
    """Return the row of a table that stands at each place of it when it is sorted."""
    rows = table.frame.with_row_index("row of the table").sort(table.names, maintain_order=True)["row of the table"]
    return rows.to_numpy().astype(np.int64)


def _part(table: Table, rows: Rows) -> Table:
    return Table(table.frame[rows])
