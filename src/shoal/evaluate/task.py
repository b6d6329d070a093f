"""A classification task: the target, the features and the learners, checked before anything is learned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, UsageError
from shoal.evaluate.learners import LEARNERS, check_learners, fit_learner
from shoal.metrics.features import Labels, fill_kinds, fit_encoding
from shoal.metrics.released_cells import SUPPRESSED
from shoal.schema import Role, Schema
from shoal.tables.table import Table

__all__ = ["Task", "check_other", "check_target", "make_task", "refuse_constant"]

MOST_CLASSES = 100


@dataclass(frozen=True)
class Task:
    """A classification task: predict the class of the target from the features."""

    schema: Schema
    target: str
    features: tuple[str, ...]
    learners: tuple[str, ...]
    seed: int

    def fit(self, table: Table, labels: Labels) -> Callable[[Table], dict[str, float]]:
        """Train every learner on a table; return a function that computes their accuracy on another table."""
        training_rows = self.training_rows(table, labels)
        encoding = fit_encoding(training_rows, self.schema, self.features, labels)
        features, classes = encoding.matrix(training_rows), self.classes(training_rows)
        models = {name: fit_learner(name, features, classes, self.seed) for name in self.learners}

        def judge(test: Table) -> dict[str, float]:
            if test.frame.height == 0:  # the release suppresses all test rows
                return dict.fromkeys(models, 0.0)
            matrix, truth = encoding.matrix(test), self.classes(test)
            return {name: float(np.mean(model.predict(matrix) == truth)) for name, model in models.items()}

        return judge

    def training_rows(self, table: Table, labels: Labels) -> Table:
        """Return the rows whose class is a single value."""
        rows = np.flatnonzero(self._has_one_class(table, labels))
        if len(rows) == 0:
            raise InputError(
                f"target {self.target!r}: no row of the training table has a single class. Generalise the target less."
            )
        return Table(table.frame[rows]) if len(rows) < table.frame.height else table

    def classes(self, table: Table) -> NDArray[np.object_]:
        """Return the class of each row."""
        return np.array(table.frame[self.target].to_list(), dtype=object)

    def _has_one_class(self, table: Table, labels: Labels) -> NDArray[np.bool_]:
        """Return for each row whether its class is a single value; always true unless the target is recoded."""
        ranks, texts = table.factor(self.target)
        if self.target not in self.schema.names(Role.QI):
            return np.ones(len(ranks), dtype=bool)
        values_under: Mapping[str, frozenset[str]] = labels.get(self.target, {})
        kind = next(column.kind for column in self.schema.qi if column.name == self.target)
        brackets = {"{}"} if kind is None or not kind.is_measured else {"{}", "[]", "[)"}
        is_single = [
            text not in SUPPRESSED - {""}
            and text[:1] + text[-1:] not in brackets
            and len(values_under.get(text, (text,))) == 1
            for text in texts.to_list()
        ]
        return np.array(is_single)[ranks]


def make_task(
    original: Table,
    schema: Schema,
    target: str,
    learners: Sequence[str] = LEARNERS,
    seed: int = 0,
    features: Sequence[str] | None = None,
) -> Task:
    """Check target, features and learners, and detect the kinds of the feature columns."""
    check_target(original, target)
    names = [c.name for c in schema.qi if c.name != target] if features is None else list(features)
    if target in names or not names:
        raise UsageError(f"features of target {target!r}: name at least one column other than the target.")
    schema = fill_kinds(original, schema, names)
    return Task(schema, target, tuple(names), check_learners(learners), seed)


def check_target(table: Table, target: str, which: str = "original") -> None:
    """Check that the target exists and has few enough distinct values to be a column of classes."""
    if target not in table.names:
        raise UsageError(f"target {target!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")
    n_classes = len(table.factor(target).texts)
    if n_classes > MOST_CLASSES:
        raise UsageError(
            f"target {target!r} has {n_classes:,} distinct values. Name a column with at most {MOST_CLASSES} classes."
        )


def refuse_constant(table: Table, target: str) -> None:
    """Refuse a target with a single class: every learner would be right, whatever the release."""
    if len(table.factor(target).texts) < 2:
        raise UsageError(
            f"target {target!r} has the same value in all rows, so there is nothing to learn. Name a column with at "
            "least two classes."
        )


def check_other(task: Task, table: Table, which: str) -> None:
    """Check that a table has the target and every feature of the original."""
    check_target(table, task.target, which)
    absent_names = [name for name in task.features if name not in table.names]
    if absent_names:
        raise UsageError(
            f"column {absent_names[0]!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}."
        )
