"""All that there is to ask of a release at once: queries, plain statistics, learners and the buckets of a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from shoal.errors import UsageError
from shoal.evaluate.classify import LEARNERS, Accuracy, check_target, learn_from_files, refuse_constant
from shoal.evaluate.moments import Moments, compare_moments
from shoal.evaluate.queries import N_QUERIES, QueryErrors, ask_queries
from shoal.evaluate.sklearn import sklearn_module
from shoal.evaluate.trees import Bucket, Held, grow
from shoal.hierarchy.base import Rule
from shoal.metrics.measure import check_rows
from shoal.metrics.pair import Pair, open_pair
from shoal.schema import Reading

__all__ = ["STAGES", "Utility", "assess", "utility"]

STAGES = ("reading", "asking queries", "comparing statistics", "learning", "growing trees")


@dataclass(frozen=True)
class Utility:
    """What a release is still good for; accuracies and buckets are empty where no target is named.

    buckets: those of the original's tree, each with what the release shows of it.
    """

    queries: QueryErrors
    moments: Moments
    target: str | None = None
    accuracies: tuple[Accuracy, ...] = ()
    buckets: tuple[tuple[Bucket, Held], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return everything by name, without the single queries and folds."""
        queries = asdict(self.queries)
        del queries["errors"]
        accuracies = [asdict(each) for each in self.accuracies]
        for each in accuracies:
            del each["scores"]
        buckets = [
            {"bucket": bucket.describe(), "class": bucket.told, "rows": bucket.rows, "share": bucket.share}
            | {"inside": held.inside, "overlap": held.overlap, "share_after": held.share}
            | {"survives": held.survives(bucket)}
            for bucket, held in self.buckets
        ]
        told = {"target": self.target, "accuracy": accuracies, "buckets": buckets}
        return {"queries": queries, "moments": self.moments.as_dict(), **told}


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
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] | Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    hierarchies: Mapping[str, Rule] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    stage: Callable[[str], None] = lambda name: None,
    progress: Callable[[float], None] = lambda share: None,
) -> Utility:
    """Test what a release of any tool is still good for: frames, tables or paths of files.

    Args:
        original: The original table.
        released: The release.
        qi: The quasi-identifiers.
        target: A column of classes, for learners and trees; they need scikit-learn.
        held_out: Original rows that were not released, to test learners on; `learn_from_files` describes what happens
            without them.
        queries: The number of range queries.
        learners: The learners to train.
        folds: The number of folds of cross-validation.
        repeats: How often to repeat the cross-validation.
        seed: The seed of queries and folds.
        numeric: Columns to read as numbers.
        categorical: Columns to read as categories.
        dates: Columns to read as dates; a mapping gives the format of each.
        missing: Texts that mean a missing value.
        hierarchies: Hierarchies by column.
        decimal: The decimal mark of numbers.
        thousands: The thousands mark of numbers.
        stage: Called with the name of each stage as it begins.
        progress: Called with the share of the stage that is done.

    Returns:
        The results of all tests.

    >>> import polars as pl, shoal
    >>> before = pl.DataFrame({"age": [20, 30, 40, 60]})
    >>> after = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"]})
    >>> found = shoal.evaluate.utility(before, after, qi=["age"], queries=50)
    >>> found.queries.mean > 0, found.moments.columns[0].mean_before == found.moments.columns[0].mean_after
    (True, True)
    """
    reading = Reading.of_cells(
        numeric=numeric, categorical=categorical, dates=dates, missing=missing, decimal=decimal, thousands=thousands
    )
    return assess(
        original,
        released,
        qi=qi,
        reading=reading,
        target=target,
        held_out=held_out,
        queries=queries,
        learners=learners,
        folds=folds,
        repeats=repeats,
        seed=seed,
        hierarchies=hierarchies,
        stage=stage,
        progress=progress,
    )


def assess(
    original: Any,
    released: Any,
    *,
    qi: Sequence[str],
    reading: Reading,
    target: str | None = None,
    held_out: Any = None,
    queries: int = N_QUERIES,
    learners: Sequence[str] = LEARNERS,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    hierarchies: Mapping[str, Rule] | None = None,
    stage: Callable[[str], None] = lambda name: None,
    progress: Callable[[float], None] = lambda share: None,
) -> Utility:
    """Test what a release is still good for; see `utility` for the arguments. `reading` says how cells are read."""
    stage(STAGES[0])
    pair = open_pair(original, released, qi=qi, reading=reading, hierarchies=hierarchies)
    check_rows(pair.original, pair.released)
    _check_target(pair, target, held_out)
    labels = {name: tree.values_under() for name, tree in pair.hierarchies.items()}
    tables, schema = (pair.original, pair.released), pair.schema
    stage(STAGES[1])
    answers = ask_queries(*tables, schema, n_queries=queries, seed=seed, labels=labels, progress=progress)
    stage(STAGES[2])
    columns = [*(c.name for c in schema.qi), *([target] if target is not None else [])]
    found = Utility(answers, compare_moments(*tables, schema, columns=columns, labels=labels))
    if target is None:
        return found
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
    return replace(found, target=target, accuracies=accuracies, buckets=buckets)


def _check_target(pair: Pair, target: str | None, held_out: Any) -> None:
    """Refuse at once what would be refused after the queries."""
    if target is None:
        if held_out is not None:
            raise UsageError("held-out rows are for learners. Name the column of classes with target (--target).")
        return
    sklearn_module("base")
    check_target(pair.original, target)
    check_target(pair.released, target, "release")
    refuse_constant(pair.original, target)
