"""Tables of any tool examined on Spark: executors count groups, and the code of every engine judges the counts."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from shoal.errors import InputError, Note, UsageError, VerificationError, join_problems, setting
from shoal.metrics import Measures
from shoal.metrics.measure import starred_rows
from shoal.models import PrivacyModel
from shoal.release.anonymize import measure as measure_tables
from shoal.release.counted_tables.stand_in import couple
from shoal.risks.estimate import DEFAULT_THRESHOLD, Risk, estimate
from shoal.schema import Dialect, Reading, ReadingKeywords, Role, Schema, check_k
from shoal.settings.settings import AUTO, Settings
from shoal.spark.cells import FileCells, FrameCells
from shoal.spark.engine import open_source
from shoal.spark.gate import (
    COUNTS,
    FACTS,
    FACTS_SCHEMA,
    collect_facts,
    dump_facts,
    examine_counts,
    facts_batch,
    frame_of_counts,
    load_facts,
)
from shoal.spark.jobs import batches
from shoal.spark.source import SparkSource
from shoal.tables.table import Table
from shoal.verification import Demand, Manifest, SourceTable, Verdict, Violation, examine, signature_violations
from shoal.verification.demand import unchecked_notes
from shoal.verification.gate_streamed.distinct import ReadParts, distinct_part, join_parts
from shoal.verification.gate_streamed.parts import cell_texts, count_groups, group_violations
from shoal.verification.gate_streamed.tallies import SIZE
from shoal.verification.manifest.manifest import sha256_of
from shoal.verification.models.checks import ModelChecks
from shoal.verification.models.plain_values import model_words
from shoal.verification.verdict import NO_ROWS, judge_counts

PathName = str | os.PathLike[str]

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["check_files", "check_release", "measure", "risk", "verify"]

PART = 1 << 40  # the number of a file and that of a row are one number
NO_ORDER = Note(
    "order",
    "whether the rows are still in the order of the original was not checked",
    "shoal.verify does it on one machine",
)
NOT_COMPARED = Note(
    "",
    "the release was not compared with its original, and its cells were not compared with what their columns may show",
    "pass the original, too",
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
    original: Any = None,
    spark: SparkSession | None = None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Verdict:
    """Check that every group of a released table has k rows and passes the models; executors count and judge them.

    The verifier's own code reads the cells. With the original, it also checks that each released row covers a row of
    its own there; executors then reduce both tables to distinct rows, which the driver compares.

    Args:
        released: A Spark frame; or a path or a pattern, as for `shoal.spark.anonymize`.
        qi: The quasi-identifiers.
        k: The size that every group must have.
        models: What every group must pass besides k.
        original: The table that the release was made from.
        spark: The session for files; by default the active one.
        cell_keywords: How cells are read; see `shoal.schema.ReadingKeywords`.

    Raises:
        VerificationError: If a group is too small or fails a model, or a row is not true to the original.
        UsageError: If a column is missing.
        FileError: If Spark gives up, or the driver has too little memory for the distinct rows.
    """
    columns = list(dict.fromkeys(name for model in models for name in model.columns))
    demand = Demand(
        k=check_k(k),
        roles={Role.QI: tuple(map(str, qi)), Role.SENSITIVE: tuple(columns)},
        reading=Reading.of_cells(**cell_keywords),
        models=tuple(models),
    )
    verdict = check_release(released, demand, original=original, spark=spark)
    if not verdict.ok:
        raise VerificationError(join_problems(verdict.violations))
    return verdict


def check_release(
    released: Any,
    demand: Demand,
    *,
    original: Any = None,
    manifest: Manifest | None = None,
    public_key: PathName | None = None,
    spark: SparkSession | None = None,
) -> Verdict:
    """Return the verdict on a released table, good or bad.

    Args:
        released: A Spark frame; or a path or a pattern.
        demand: What it must meet.
        original: The table that it was made from.
        manifest: Its manifest; the release must meet it, too.
        public_key: The PEM file of a public Ed25519 key, whose owner must have signed the manifest.
        spark: The session for files; by default the active one.
    """
    if original is None and _is_countable(demand, manifest):
        return _counted_verdict(released, demand, manifest, public_key, spark)
    with _opened(released, spark) as source:
        written = _read_parts(source, None if manifest is None else Dialect(manifest.delimiter))
    before = None
    if original is not None:
        with _opened(original, spark) as source:
            before = _read_parts(source, None)
    verdict = examine(written, demand, original=before, manifest=manifest, public_key=public_key)
    if before is None or manifest is not None:
        return verdict
    return replace(verdict, unchecked=(*verdict.unchecked, NO_ORDER))


def check_files(released: str, manifest: Manifest, spark: SparkSession) -> list[Violation]:
    """Return where the files of a release differ from the hashes of its manifest."""
    with _opened(released, spark) as source:
        return _check_parts(source, manifest)


def _check_parts(source: SparkSource, manifest: Manifest) -> list[Violation]:
    """Return where a release differs from the hashes of its manifest; executors read the parts."""
    assert isinstance(source.cells, FileCells)
    paths = source.cells.files.paths

    def hashed(given: Iterable[Any]) -> Iterator[Any]:
        for batch in given:
            for number in batch.column(0).to_pylist():
                yield from facts_batch((paths[number].name, sha256_of(paths[number])))

    ids = source.spark.range(0, len(paths), 1, len(paths))
    return manifest.parts_violations(dict(source.run(lambda: collect_facts(ids.mapInArrow(hashed, FACTS_SCHEMA)))))


def _is_countable(demand: Demand, manifest: Manifest | None) -> bool:
    """Say whether counts of groups are all that the verifier asks for."""
    d, m = demand, manifest
    if d.complete or d.paths or d.population is not None or d.rules or d.codings or d.limits or d.center or d.bounds:
        return False
    if d.spreadsheet_safe or d.decimal is not None:
        return False
    columns = () if m is None else m.columns
    is_laid_out = m is not None and (m.bounds or m.center or m.spreadsheet_safe or m.delimiter != ",")
    return not is_laid_out and not any(c.codings or any(c.limits) for c in columns)


def _counted_verdict(
    released: Any, demand: Demand, manifest: Manifest | None, public_key: PathName | None, spark: SparkSession | None
) -> Verdict:
    """Return the verdict on the groups of a release, which executors count and judge."""
    k = max(demand.k or 1, 1 if manifest is None else manifest.k)
    models = [model if isinstance(model, Mapping) else model.spec() for model in demand.models]
    models += [] if manifest is None else [spec for spec in manifest.models or () if spec not in models]
    goal: Any = {"models": models}
    columns = list(dict.fromkeys(str(spec["column"]) for spec in models if "column" in spec))
    qi = demand.names(Role.QI) or (() if manifest is None else manifest.names(Role.QI))
    reading = demand.reading if manifest is None else manifest.reading
    violations: list[Violation] = []
    if public_key is not None:
        violations += signature_violations(None if manifest is None else manifest.content, public_key)
    with _opened(released, spark) as source:
        _require([*qi, *columns], source)
        schema = Schema.build(
            source.names, {Role.QI: qi, Role.SENSITIVE: columns}, reading=reading, others="insensitive"
        )
        checks = ModelChecks.of_goal(goal, schema)
        if checks.needs_population:
            raise UsageError("a model compares groups with a population, which is not read on Spark. Use shoal.verify.")
        if manifest is not None:
            violations += _check_parts(source, manifest)
        counts = _counts(source, schema, goal).persist()
        try:
            facts = source.run(lambda: examine_counts(counts, schema, k, goal))
            rows = source.run(lambda: counts.where(counts["column"] == SIZE).groupBy().sum("n").toArrow())[0][0].as_py()
        finally:
            counts.unpersist()
    n_groups, smallest = sum(each.groups for each in facts), min((e.smallest for e in facts if e.groups), default=0)
    violations += [*([] if rows else [NO_ROWS]), *group_violations(facts, k)]
    if manifest is not None:
        found = {"rows": rows or 0, "groups": n_groups, "smallest_group": smallest}
        violations += manifest.count_violations(found, 0, None)
    verdict = judge_counts(k, rows or 0, n_groups, smallest, violations)
    unchecked = (NOT_COMPARED, *unchecked_notes(demand, manifest, has_original=False))
    words = [model_words(spec) for spec in checks.models]
    return replace(verdict, models=tuple(words), unchecked=unchecked)


def _read_parts(source: SparkSource, release: Dialect | None) -> ReadParts:
    """Read a table as its distinct rows.

    Args:
        source: The open source.
        release: How the parts of a release must be written; None for a table that is read as it presents itself.
    """
    from pyspark.sql import functions as F  # noqa: N812

    keys = [f"c{i}" for i in range(len(source.names))]
    schema = ", ".join([*(f"{key} string" for key in keys), "place bigint", "n bigint", f"{FACTS} string"])
    rows = _distinct_rows(source, release, schema).persist()
    try:
        found = source.run(lambda: rows.where("facts is not null").select("facts").toArrow()).column(0).to_pylist()
        facts = sorted(map(load_facts, found), key=lambda each: each[0])
        counted = rows.where("facts is null").groupBy(*keys)
        whole = counted.agg(F.min("place").alias("place"), F.sum("n").alias("n")).persist()
        try:
            source.check_room(source.run(whole.count), len(keys), 0)
            table = source.run(whole.toArrow).sort_by([(name, "ascending") for name in ("place", *keys)])
        finally:
            whole.unpersist()
    finally:
        rows.unpersist()
    *cells, places, times = (column.to_pylist() for column in table.columns)
    names = list(source.names)
    if not facts:  # the rows of a frame have no numbers; they count in the order of their cells
        return ReadParts(join_parts(names, cells, times, [(0, i + 1) for i in range(len(times))], []))
    if any(each[1] != facts[0][1] for each in facts):
        raise InputError(f"{source.place}: the files have different columns. Give all files the same columns.")
    faults = [Violation(f"file {each[2]!r}", fault.text, fault.row) for each in facts for fault in each[5]]
    joined = join_parts(
        facts[0][1], cells, times, [divmod(place, PART) for place in places], [each[4] for each in facts], faults
    )
    return ReadParts(joined, {each[2]: each[3] for each in facts})


def _distinct_rows(source: SparkSource, release: Dialect | None, schema: str) -> DataFrame:
    """Have the verifier read each file, or part of a frame, as distinct rows."""
    cells, keys = source.cells, [f"c{i}" for i in range(len(source.names))]
    if isinstance(cells, FileCells):
        paths, dialect = cells.files.paths, release or cells.files.dialect or Dialect()

        def of_files(given: Iterable[Any]) -> Iterator[Any]:
            import polars as pl

            for batch in given:
                for number in batch.column(0).to_pylist():
                    path = paths[number]
                    part = distinct_part(path, dialect, is_release=release is not None)
                    facts = (number, part.names, path.name, sha256_of(path), part.order, part.violations)
                    columns: dict[str, Any] = dict(zip(keys, part.columns, strict=True))
                    columns |= {"place": [number * PART + n for n in part.numbers], "n": part.times}
                    kinds = dict.fromkeys(keys, pl.String) | {"place": pl.Int64, "n": pl.Int64}
                    found = pl.DataFrame({FACTS: [dump_facts(facts)]})
                    yield from batches([pl.concat([pl.DataFrame(columns, kinds), found], how="diagonal")])

        return source.spark.range(0, len(paths), 1, len(paths)).mapInArrow(of_files, schema)
    assert isinstance(cells, FrameCells)

    def of_frame(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl

        for batch in given:
            texts = cell_texts(column.to_pylist() for column in batch.columns)
            frame = pl.DataFrame(dict(zip(keys, texts, strict=True)), dict.fromkeys(keys, pl.String))
            counted = frame.group_by(keys).agg(pl.len().cast(pl.Int64).alias("n"))
            placed = counted.with_columns(pl.lit(0, pl.Int64).alias("place"), pl.lit(None, pl.String).alias(FACTS))
            yield from batches([placed.select(*keys, "place", "n", FACTS)])

    return cells.columns(source.names).mapInArrow(of_frame, schema)


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
