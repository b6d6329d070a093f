"""The gate as jobs of Spark: the verifier's own code examines every written part and every part of the source.

Executors see cells; the driver sees sums, and the first and the last row of each part.
"""

from __future__ import annotations

import base64
import pickle
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.schema import Dialect, Role, Schema
from shoal.spark.cells import Cells, FileCells, FrameCells
from shoal.spark.dealing import Dealt
from shoal.spark.jobs import batches
from shoal.spark.parts import Part, Rendering, Stated
from shoal.verification import Claimed, Goal, SourceTable, Verdict
from shoal.verification.gate_streamed import parts as examiner
from shoal.verification.gate_streamed.parts import GroupCount, GroupFacts, PartFacts, SourceFacts
from shoal.verification.gate_streamed.tallies import PERSON, SIZE, GroupCounts
from shoal.verification.models.checks import ModelChecks, TableCounts

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "COUNTS",
    "FACTS",
    "FACTS_SCHEMA",
    "collect_facts",
    "dump_facts",
    "examine_counts",
    "examine_release",
    "facts_batch",
    "frame_of_counts",
    "load_facts",
]

FACTS = "facts"
FACTS_SCHEMA = f"{FACTS} string"
COUNTS = "g0 bigint, g1 bigint, column int, cell string, n bigint"


def examine_release(
    spark: SparkSession,
    cells: Cells,
    schema: Schema,
    k: int,
    folder: Path,
    parts: Sequence[Part],
    rendering: Rendering,
    dealt: Dealt | None,
    claimed: Claimed,
    goal: Goal,
) -> tuple[Verdict, list[str]]:
    """Return the verdict on the parts that were just written, and the hash of each part.

    Args:
        spark: The session.
        cells: The source.
        schema: Its columns.
        k: The size that every group must have.
        folder: Where the parts are.
        parts: The parts in order.
        rendering: How rows became cells, and what each row was made from.
        dealt: How rows were dealt to groups; None for a full-domain release.
        claimed: What the maker claims.
        goal: What the release must meet besides k.
    """
    key = secrets.token_bytes(32)
    counts = _examine_parts(spark, schema, goal, key, folder, parts, rendering if dealt else None).persist()
    try:
        found = counts.where("facts is not null").select("facts").toArrow().column(0).to_pylist()
        facts: list[tuple[int, PartFacts]] = sorted(map(load_facts, found), key=lambda pair: pair[0])
        groups = examine_counts(counts.where("facts is null").drop("facts"), schema, k, goal)
    finally:
        counts.unpersist()
    source = _examine_source(spark, cells, schema, key, None if dealt else claimed)
    left_out = [] if dealt is None or dealt.left_out is None else _examine_left_out(dealt, schema, key)
    found_parts = [each for _, each in facts]
    verdict = examiner.judge_parts(found_parts, groups, source, left_out, schema, k, claimed, goal)
    return verdict, [each.sha256 for each in found_parts]


def _examine_parts(
    spark: SparkSession,
    schema: Schema,
    goal: Goal,
    key: bytes,
    folder: Path,
    parts: Sequence[Part],
    rendering: Rendering | None,
) -> DataFrame:
    """Return the counts of groups, see `COUNTS`; and what was found in each part, as `facts`."""
    names = [part.name for part in parts]

    def examine(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl

        for batch in given:
            for number in batch.column(0).to_pylist():
                stated = None if rendering is None else Stated(folder, names[number], rendering)
                facts, counts = examiner.examine_part(folder / names[number], schema, goal, key, stated)
                shown = frame_of_counts(counts).with_columns(facts=pl.lit(None, pl.String))
                yield from batches(
                    [pl.concat([shown, pl.DataFrame({"facts": [dump_facts((number, facts))]})], how="diagonal")]
                )

    return spark.range(0, len(names), 1, len(names)).mapInArrow(examine, f"{COUNTS}, {FACTS} string")


def frame_of_counts(counts: Iterable[GroupCounts]) -> pl.DataFrame:
    """Return counts as a frame; groups are known by the two numbers of their key."""
    import polars as pl

    frames = [
        pl.DataFrame(
            {
                "g0": each.groups[0].view(np.int64),
                "g1": each.groups[1].view(np.int64),
                "column": np.full(len(each.rows), each.column, dtype=np.int32),
                "cell": pl.Series(each.cells, dtype=pl.String).gather(each.codes),
                "n": each.rows,
            }
        )
        for each in counts
        if len(each.rows)
    ]
    kinds = {"g0": pl.Int64, "g1": pl.Int64, "column": pl.Int32, "cell": pl.String, "n": pl.Int64}
    return pl.concat(frames) if frames else pl.DataFrame(schema=kinds)


def examine_counts(counts: DataFrame, schema: Schema, k: int, goal: Goal) -> list[GroupFacts]:
    """Add up the counts of each group, and examine groups in parallel, each where all of its counts are."""
    from pyspark.sql import functions as F  # noqa: N812

    checks = ModelChecks.of_goal(goal, schema)
    if not checks.models and not examiner.held_back(schema):
        sizes = counts.groupBy("g0", "g1").agg(F.sum("n").alias("n"))
        small = F.sum(F.when(F.col("n") < k, 1).otherwise(0))
        found = sizes.agg(F.count("n"), F.coalesce(F.min("n"), F.lit(0)), F.coalesce(small, F.lit(0)))
        n_groups, smallest, n_small = (column.to_pylist()[0] for column in found.toArrow().columns)
        return [GroupFacts(n_groups, smallest, n_small, smallest, {})]
    n_tasks = int(counts.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    # By a number of our own: adaptive execution would join small parts, and few tasks would judge.
    spread = counts.repartition(n_tasks, "g0", "g1")
    own = spread.groupBy("g0", "g1", "column", "cell").agg(F.sum("n").alias("n")).persist()
    try:
        table = _table_counts(own, schema, checks) if checks.models else None

        def examine(given: Iterable[Any]) -> Iterator[Any]:
            def read() -> Iterator[GroupCount]:
                for batch in given:
                    first, second, column, cell, n = (values.to_pylist() for values in batch.columns)
                    for group, *rest in zip(zip(first, second, strict=True), column, cell, n, strict=True):
                        yield GroupCount(group, *rest)

            yield from facts_batch(examiner.examine_groups(read(), schema, k, goal, table))

        return collect_facts(own.mapInArrow(examine, FACTS_SCHEMA))
    finally:
        own.unpersist()


def _table_counts(own: DataFrame, schema: Schema, checks: ModelChecks) -> TableCounts:
    """Count what groups are compared with: the sensitive cells of the table, and the sizes of groups."""
    from pyspark.sql import functions as F  # noqa: N812

    sums = own.where(F.col("column") >= 0).groupBy("column", "cell").agg(F.sum("n").alias("n"))
    cells: dict[str, dict[str, int]] = {name: {} for name in checks.columns}
    for column, cell, n in zip(*(values.to_pylist() for values in sums.toArrow().columns), strict=True):
        cells[checks.columns[column]][cell] = n

    def counted(column: int, value: Any) -> Any:
        return F.sum(F.when(F.col("column") == column, value).otherwise(0))

    size = counted(PERSON, 1) if schema.names(Role.PERSON) else counted(SIZE, F.col("n"))
    groups = own.groupBy("g0", "g1").agg(counted(SIZE, F.col("n")).alias("rows"), size.alias("size"))
    by_size = groups.groupBy("size").agg(F.count("rows").alias("groups"), F.sum("rows").alias("rows"))
    found = by_size.toArrow().to_pylist()
    lone = sum(row["rows"] for row in found if row["size"] == 1)
    sizes = Counter({row["size"]: row["groups"] for row in found})
    return TableCounts(cells, sizes, sum(row["rows"] for row in found), lone)


def _examine_source(
    spark: SparkSession, cells: Cells, schema: Schema, key: bytes, claimed: Claimed | None
) -> list[SourceFacts]:
    """Have the verifier read the source itself: one task for each file, or for each part of a frame."""
    if isinstance(cells, FileCells):
        paths, dialect = cells.files.paths, cells.files.dialect or Dialect()

        def examine_files(given: Iterable[Any]) -> Iterator[Any]:
            for batch in given:
                for number in batch.column(0).to_pylist():
                    table = SourceTable(paths[number], dialect)
                    yield from facts_batch(examiner.examine_source(table, schema, key, claimed))

        return collect_facts(spark.range(0, len(paths), 1, len(paths)).mapInArrow(examine_files, FACTS_SCHEMA))
    assert isinstance(cells, FrameCells)
    names = [column.name for column in schema.released] + ([] if claimed else examiner.held_back(schema))

    def examine_frame(given: Iterable[Any]) -> Iterator[Any]:
        blocks = (examiner.cell_texts(column.to_pylist() for column in batch.columns) for batch in given)
        yield from facts_batch(examiner.examine_source(SourceTable(blocks), schema, key, claimed))

    return collect_facts(cells.columns(names).mapInArrow(examine_frame, FACTS_SCHEMA))


def _examine_left_out(dealt: Dealt, schema: Schema, key: bytes) -> list[SourceFacts]:
    """Examine the rows that are not released, as the source has them."""
    originals, left_out = dealt.originals, dealt.left_out
    assert left_out is not None

    def examine(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl

        def blocks() -> Iterator[list[list[str]]]:
            for batch in given:
                frame = pl.DataFrame(pl.from_arrow(batch))
                yield [originals.text(frame, name).to_list() for name in originals.sources]

        yield from facts_batch(examiner.examine_source(SourceTable(blocks()), schema, key, None))

    return collect_facts(left_out.mapInArrow(examine, FACTS_SCHEMA))


def facts_batch(facts: Any) -> Iterator[Any]:
    """Yield what a task found."""
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({FACTS: [dump_facts(facts)]})


def collect_facts(frame: DataFrame) -> list[Any]:
    """Return what tasks found."""
    loads: Callable[[str], Any] = load_facts
    return [loads(text) for text in frame.toArrow().column(0).to_pylist()]


def dump_facts(facts: Any) -> str:
    """Return what a task found as text."""
    return base64.b64encode(pickle.dumps(facts)).decode()


def load_facts(text: str) -> Any:
    """Return what a task found from its text."""
    return pickle.loads(base64.b64decode(text))
