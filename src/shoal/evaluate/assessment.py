"""Every evaluation of a release in one call: queries, summary statistics, learners and the buckets of a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

from shoal.errors import UsageError, setting
from shoal.evaluate.classify import LEARNERS, Accuracy, learn_from_files
from shoal.evaluate.extra import extra_module
from shoal.evaluate.moments import Moments, compare_moments
from shoal.evaluate.queries import N_QUERIES, QueryErrors, ask_queries
from shoal.evaluate.task import check_target, refuse_constant
from shoal.evaluate.trees import Bucket, Held, grow
from shoal.hierarchy.base import Rule
from shoal.metrics.measure import check_rows
from shoal.metrics.pair import Pair, open_pair
from shoal.schema import Reading, ReadingKeywords

__all__ = ["STAGES", "Utility", "utility"]

STAGES = ("reading", "asking queries", "comparing statistics", "learning", "growing trees")


@dataclass(frozen=True)
class Utility:
    """How useful a release still is.

    Attributes:
        queries: Errors of range queries.
        moments: Summary statistics before and after.
        target: The column of classes, if one was named; without it `accuracies` and `buckets` are empty.
        accuracies: Accuracy of each learner, for each combination of training and test table.
        buckets: The buckets of the original's tree, each with what the release preserves of it.
    """

    queries: QueryErrors
    moments: Moments
    target: str | None = None
    accuracies: tuple[Accuracy, ...] = ()
    buckets: tuple[tuple[Bucket, Held], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return all figures except those of single queries and folds, as plain values for JSON."""
        queries = asdict(self.queries)
        del queries["errors"]
        accuracies = [asdict(accuracy) for accuracy in self.accuracies]
        for accuracy in accuracies:
            del accuracy["scores"]
        return {
            "queries": queries,
            "moments": self.moments.as_dict(),
            "target": self.target,
            "accuracy": accuracies,
            "buckets": [_bucket_figures(bucket, held) for bucket, held in self.buckets],
        }


def _bucket_figures(bucket: Bucket, held: Held) -> dict[str, Any]:
    return {
        "bucket": bucket.describe(),
        "class": bucket.class_name,
        "rows": bucket.rows,
        "share": bucket.share,
        "inside": held.inside,
        "overlap": held.overlap,
        "share_after": held.share,
        "survives": held.survives(bucket),
    }


def utility(
    original: Any,
    released: Any,
    *,
    qi: Sequence[str],
    target: str | None = None,
    held_out: Any = None,
    queries: int = N_QUERIES,
    learners: Sequence[str] = LEARNERS,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    hierarchies: Mapping[str, Rule] | None = None,
    recode: Mapping[str, str] | None = None,
    k: int | None = None,
    stage: Callable[[str], None] = lambda name: None,
    progress: Callable[[float], None] = lambda share: None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Utility:
    """Measure how useful a release still is, whichever tool made it.

    Args:
        original: The original: a frame, a table or the path of a file.
        released: The release, in any of these forms.
        qi: The quasi-identifiers.
        target: A column of classes, for learners and trees; they need the `evaluate` extra.
        held_out: Original rows that were not released, to test learners on. Without them, training and test rows
            overlap; see `learn_from_files`.
        queries: Number of range queries.
        learners: Names of learners, of `LEARNERS`.
        folds: Folds of the cross-validation.
        repeats: Repetitions of the cross-validation.
        seed: Seed of queries and folds.
        hierarchies: Hierarchies of columns, for releases with labels.
        recode: The recoding of outliers by column that the release was made with. A cell at such a bound counts as the
            bound, as whoever receives it reads it; the label of rare values stands for any of them.
        k: The k of the release, on which the bounds of recodings may depend.
        stage: Called with the name of each stage as it begins, one of `STAGES`.
        progress: Called with the completed share of the stage.
        cell_keywords: How cells are read: `numeric`, `categorical`, `dates`, `boolean`, `ordered`, `units`, `missing`,
            `decimal` and `thousands`; see `shoal.schema.ReadingKeywords`.

    Returns:
        The figures of all evaluations.

    Raises:
        UsageError: A column, a learner or a number is not valid.
        InputError: The tables do not belong together, or cannot be read.

    >>> import polars as pl, shoal
    >>> before = pl.DataFrame({"age": [20, 30, 40, 60]})
    >>> after = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"]})
    >>> utility = shoal.evaluate.utility(before, after, qi=["age"], queries=50)
    >>> column = utility.moments.columns[0]
    >>> utility.queries.mean > 0, column.mean_before == column.mean_after
    (True, True)
    """
    stage(STAGES[0])
    reading = Reading.of_cells(**cell_keywords)
    pair = open_pair(original, released, qi=qi, reading=reading, hierarchies=hierarchies, recode=recode, k=k)
    check_rows(pair.original, pair.released)
    target = None if target is None else str(target)
    _check_target(pair, target, held_out)
    labels = pair.labels
    tables, schema = (pair.original, pair.released), pair.schema
    stage(STAGES[1])
    answers = ask_queries(*tables, schema, n_queries=queries, seed=seed, labels=labels, progress=progress)
    stage(STAGES[2])
    columns = [*(c.name for c in schema.qi), *([target] if target is not None else [])]
    figures = Utility(answers, compare_moments(*tables, schema, columns=columns, labels=labels))
    if target is None:
        return figures
    stage(STAGES[3])
    accuracies = learn_from_files(
        *tables,
        schema,
        target,
        learners,
        held_out=held_out,
        folds=folds,
        repeats=repeats,
        seed=seed,
        labels=labels,
        progress=progress,
    )
    stage(STAGES[4])
    tree = grow(pair.original, schema, target, labels=labels)
    buckets = tuple(zip(tree.buckets, tree.hold(pair.released), strict=True))
    return replace(figures, target=target, accuracies=accuracies, buckets=buckets)


def _check_target(pair: Pair, target: str | None, held_out: Any) -> None:
    """Check the target before the queries run, not after."""
    if target is None:
        if held_out is not None:
            raise UsageError(f"held-out rows only serve learners. Name the column of classes: {setting('target')}.")
        return
    extra_module("sklearn.base")
    check_target(pair.original, target)
    check_target(pair.released, target, "release")
    refuse_constant(pair.original, target)
