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

__all__ = ["STAGES", "Utility", "utility"]

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
    dates: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    hierarchies: Mapping[str, Rule] | None = None,
    decimal: str = ".",
    thousands: str = "",
    stage: Callable[[str], None] = lambda name: None,
    progress: Callable[[float], None] = lambda share: None,
) -> Utility:
    """Ask any tool's release what it is still good for: frames, tables or paths of files.

    target: a column of classes, for learners and trees (they need scikit-learn). held_out: originals that were not
    released, to test learners on; learn_from_files says what is done without them. queries: how many are asked. stage
    and progress are told what begins and the share of it that is done.

    >>> import polars as pl, shoal
    >>> before = pl.DataFrame({"age": [20, 30, 40, 60]})
    >>> after = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"]})
    >>> found = shoal.evaluate.utility(before, after, qi=["age"], queries=50)
    >>> found.queries.mean > 0, found.moments.columns[0].mean_before == found.moments.columns[0].mean_after
    (True, True)
    """
    stage(STAGES[0])
    pair = open_pair(
        original,
        released,
        qi=qi,
        numeric=numeric,
        categorical=categorical,
        dates=dates,
        missing=missing,
        hierarchies=hierarchies,
        decimal=decimal,
        thousands=thousands,
    )
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
