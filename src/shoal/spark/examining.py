"""Tables of any tool examined on Spark: executors count groups, and the code of every engine judges the counts."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from shoal.errors import Note, UsageError, VerificationError, join_problems, setting
from shoal.metrics import Measures
from shoal.metrics.measure import starred_rows
from shoal.models import PrivacyModel
from shoal.release.anonymize import measure as measure_tables
from shoal.release.counted_tables.in_place import couple
from shoal.risks.estimate import DEFAULT_THRESHOLD, Risk, estimate
from shoal.schema import Dialect, Reading, ReadingKeywords, Role, Schema, check_k
from shoal.settings.settings import AUTO, Settings
from shoal.spark.cells import FileCells, FrameCells
from shoal.spark.engine import open_source
from shoal.spark.gate import COUNTS, examine_counts, frame_of_counts
from shoal.spark.jobs import batches
from shoal.spark.source import SparkSource
from shoal.tables.table import Table
from shoal.verification import SourceTable, Verdict
from shoal.verification.gate_streamed.parts import cell_texts, count_groups, group_violations
from shoal.verification.gate_streamed.tallies import SIZE
from shoal.verification.models.checks import ModelChecks
from shoal.verification.verdict import NO_ROWS, judge_counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["measure", "risk", "verify"]

NOT_COMPARED = Note(
    "",
    "the release was not compared with its original, and its cells were not compared with what their columns may show",
    "shoal.verify does both on one machine",
)


@contextmanager
def _opened(data: Any, spark: SparkSession | None) -> Iterator[SparkSource]:
    with (
        open_source(data, Settings(), spark) as source,
        tempfile.TemporaryDirectory() as folder,
        source.opened(Path(folder)),
    ):
        yield source


def _require(names: Sequence[str], source: SparkSource) -> list[str]:
    absent = [name for name in names if name not in source.names]
    if absent or not names:
        problem = f"column {absent[0]!r} is not in the table." if absent else "no quasi-identifier is named."
        raise UsageError(f"{problem} Its columns: {', '.join(map(repr, source.names[:30]))}.")
    return list(map(str, names))


def risk(
    released: Any,
    *,
    qi: Sequence[str],
    threshold: object = DEFAULT_THRESHOLD,
    population: int | None = None,
    spark: SparkSession | None = None,
) -> Risk:
    """Estimate how easily people are found in a table; executors count its groups.

    Args:
        released: A Spark frame; or a path or a pattern, as for `shoal.spark.anonymize`.
        qi: The quasi-identifiers.
        threshold: The largest acceptable probability, such as 0.2, "1/11" or "cell-size-11".
        population: The number of people from which the table was drawn.
        spark: The session for files; by default the active one.

    Raises:
        UsageError: If a column is missing, or the threshold is out of range.
        FileError: If Spark gives up.
    """
    with _opened(released, spark) as source:
        counted = source.count(_require(qi, source))
    starred = starred_rows(Table(counted.frame, weights=counted.counts), list(qi))
    hidden = int(counted.counts[starred].sum())
    return estimate(counted.counts[~starred], threshold=threshold, suppressed_rows=hidden, population=population)


def measure(
    original: Any, released: Any, *, qi: Sequence[str], spark: SparkSession | None = None, **options: Any
) -> Measures:
    """Measure the information loss of a release; executors count the values of its original, and its groups.

    Args:
        original: The original: a Spark frame; or a path or a pattern, as for `shoal.spark.anonymize`.
        released: The release.
        qi: The quasi-identifiers.
        spark: The session for files; by default the active one.
        **options: As for `shoal.measure`, except weights="auto", centres and a target.

    Raises:
        UsageError: If an argument is wrong.
        InputError: If a released cell cannot be read, or the release has more rows than its original.
        FileError: If Spark gives up.
    """
    given = {"weights": AUTO, "cells": "center", "target": options.get("target") or ""}
    for name, text in given.items():
        if options.get(name) == text:
            raise UsageError(f"{setting(name, text)} depends on rows, which stay on Spark. Use shoal.measure for it.")
    with _opened(original, spark) as source:
        names = _require(qi, source)
        source.check(names)
        before = _stand_in(source, names)
    with _opened(released, spark) as source:
        counted = source.count(_require(names, source))
    return measure_tables(before, Table(counted.frame, weights=counted.counts), qi=names, **options)


def _stand_in(source: SparkSource, names: Sequence[str]) -> Table:
    """Return few weighted rows in which each value of each column has its count."""
    import polars as pl

    columns = source.count_columns(names)
    places, weights = couple([counts for _, counts in columns.values()])
    cells = {name: texts.gather(place) for (name, (texts, _)), place in zip(columns.items(), places, strict=True)}
    return Table(pl.DataFrame(cells), notes=source.notes, weights=weights)


def verify(
    released: Any,
    *,
    qi: Sequence[str],
    k: int,
    models: Sequence[PrivacyModel] = (),
    spark: SparkSession | None = None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Verdict:
    """Check that every group of a released table has k rows and passes the models; executors count and judge them.

    The verifier's own code reads the cells. It does not compare the release with its original; `shoal.verify` does.

    Args:
        released: A Spark frame; or a path or a pattern, as for `shoal.spark.anonymize`.
        qi: The quasi-identifiers.
        k: The size that every group must have.
        models: What every group must pass besides k.
        spark: The session for files; by default the active one.
        cell_keywords: How cells are read; see `shoal.schema.ReadingKeywords`.

    Raises:
        VerificationError: If a group is too small or fails a model.
        UsageError: If a column is missing.
        FileError: If Spark gives up.
    """
    k = check_k(k)
    reading = Reading.of_cells(**cell_keywords)
    counted = list(dict.fromkeys(name for model in models for name in model.columns))
    goal: Any = {"models": [model.spec() for model in models]}
    with _opened(released, spark) as source:
        names = _require([*map(str, qi), *counted], source)
        roles = {Role.QI: names[: len(qi)], Role.SENSITIVE: counted}
        schema = Schema.build(source.names, roles, reading=reading, others="insensitive")
        if ModelChecks.of_goal(goal, schema).needs_population:
            raise UsageError("a model compares groups with a population, which is not read on Spark. Use shoal.verify.")
        counts = _counts(source, schema, goal).persist()
        try:
            facts = source.run(lambda: examine_counts(counts, schema, k, goal))
            rows = source.run(lambda: counts.where(counts["column"] == SIZE).groupBy().sum("n").toArrow())[0][0].as_py()
        finally:
            counts.unpersist()
    n_groups, smallest = sum(each.groups for each in facts), min((e.smallest for e in facts if e.groups), default=0)
    violations = [*([] if rows else [NO_ROWS]), *group_violations(facts, k)]
    verdict = judge_counts(k, rows or 0, n_groups, smallest, violations)
    if not verdict.ok:
        raise VerificationError(join_problems(verdict.violations))
    return replace(verdict, models=tuple(model.describe() for model in models), unchecked=(NOT_COMPARED,))


def _counts(source: SparkSource, schema: Schema, goal: Any) -> DataFrame:
    """Count the rows of each group, and of each value that models count; the verifier reads the cells."""
    key, cells = secrets.token_bytes(32), source.cells

    def counted(table: SourceTable) -> Iterator[Any]:
        return batches([frame_of_counts(count_groups(table, schema, goal, key))])

    if isinstance(cells, FileCells):
        paths, dialect = cells.files.paths, cells.files.dialect or Dialect()

        def of_files(given: Iterable[Any]) -> Iterator[Any]:
            for batch in given:
                for number in batch.column(0).to_pylist():
                    yield from counted(SourceTable(paths[number], dialect))

        return source.spark.range(0, len(paths), 1, len(paths)).mapInArrow(of_files, COUNTS)
    assert isinstance(cells, FrameCells)

    def of_frame(given: Iterable[Any]) -> Iterator[Any]:
        return counted(SourceTable(cell_texts(column.to_pylist() for column in batch.columns) for batch in given))

    names = [*schema.names(Role.QI), *ModelChecks.of_goal(goal, schema).columns]
    return cells.columns(names).mapInArrow(of_frame, COUNTS)
