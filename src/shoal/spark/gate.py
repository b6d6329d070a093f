"""The gate as jobs of Spark: the verifier's own code examines every written part and every part of the source.

Executors see cells; the driver sees sums, and the first and the last row of each part.
"""

from __future__ import annotations

import base64
import pickle
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.schema import Dialect, Role, Schema
from shoal.spark.cells import Cells, FileCells, FrameCells
from shoal.spark.dealing import Dealt
from shoal.spark.jobs import batches, polars_of
from shoal.spark.parts import Part, Rendering, Stated
from shoal.verification import Claimed, Goal, Layout, SourceTable, Verdict, Violation
from shoal.verification.gate_streamed import parts as examiner
from shoal.verification.gate_streamed.centers import CENTERS
from shoal.verification.gate_streamed.groups import CenterFacts, center_violations, examine_centers, group_violations
from shoal.verification.gate_streamed.outliers import CellSets, Recoded, coded_names, holders_in, recode_counted
from shoal.verification.gate_streamed.parts import GroupCount, GroupFacts, PartFacts, SourceFacts
from shoal.verification.gate_streamed.tallies import MIXED, ONE_VALUE, PERSON, SIZE, GroupCounts
from shoal.verification.models.checks import ModelChecks, TableCounts
from shoal.verification.reading.coded import CodedTable

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "COUNTS",
    "FACTS",
    "FACTS_SCHEMA",
    "Asked",
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
COUNTS = "g0 bigint, g1 bigint, column int, cell string, n bigint, of_maker int"


class Asked(NamedTuple):
    """What a release is held against.

    Attributes:
        schema: The columns of the source.
        k: The size that every group must have.
        goal: What the release must meet besides k.
        claimed: What the maker claims.
        layout: How the parts show the released columns.
        population: The population, if a model counts it.
    """

    schema: Schema
    k: int
    goal: Goal
    claimed: Claimed
    layout: Layout
    population: CodedTable | None = None


def examine_release(
    spark: SparkSession,
    cells: Cells,
    folder: Path,
    parts: Sequence[Part],
    rendering: Rendering,
    dealt: Dealt | None,
    asked: Asked,
) -> tuple[Verdict, list[str]]:
    """Return the verdict on the parts that were just written, and the hash of each part.

    Args:
        spark: The session.
        cells: The source.
        folder: Where the parts are.
        parts: The parts in order.
        rendering: How rows became cells, and what each row was made from.
        dealt: How rows were dealt to groups; None for a full-domain release.
        asked: What the release is held against.
    """
    key = secrets.token_bytes(32)
    schema, k, goal = asked.schema, asked.k, asked.goal
    recoded, wrong = _find_recoded(spark, cells, asked) if coded_names(schema) else ({}, list[Violation]())
    source = _examine_source(spark, cells, asked, key, recoded, is_dealt=dealt is not None)
    numbers = frozenset.intersection(*(each.numbers for each in source)) if source else frozenset()
    counts = _examine_parts(spark, asked, key, folder, parts, rendering if dealt else None, numbers).persist()
    try:
        found = counts.where("facts is not null").select("facts").toArrow().column(0).to_pylist()
        facts: list[tuple[int, PartFacts]] = sorted(map(load_facts, found), key=lambda pair: pair[0])
        every = counts.where("facts is null").drop("facts")
        own = every.where(f"column > {ONE_VALUE}")
        one_value = _count_one_value(every.where(f"column <= {ONE_VALUE}"), ModelChecks.of_goal(goal, schema).uncounted)
        groups = examine_counts(own.where("of_maker = 0"), schema, k, goal, asked.population)
        if asked.layout.center is not None:
            wrong += _examine_centers(spark, cells, own.where("of_maker = 1"), asked, recoded)
    finally:
        counts.unpersist()
    left_out = [] if dealt is None or dealt.left_out is None else _examine_left_out(dealt, schema, key)
    found_parts = [each for _, each in facts]
    verdict = examiner.judge_parts(found_parts, groups, source, left_out, schema, k, asked.claimed, goal, wrong)
    return replace(verdict, one_value=one_value), [each.sha256 for each in found_parts]


def _examine_parts(
    spark: SparkSession,
    asked: Asked,
    key: bytes,
    folder: Path,
    parts: Sequence[Part],
    rendering: Rendering | None,
    numbers: frozenset[str],
) -> DataFrame:
    """Return the counts of groups, see `COUNTS`; and what was found in each part, as `facts`."""
    names, (schema, _, goal, _, layout, _) = [part.name for part in parts], asked

    def examine(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl

        for batch in given:
            for number in batch.column(0).to_pylist():
                stated = None if rendering is None else Stated(folder, names[number], rendering)
                facts, counts = examiner.examine_part(
                    folder / names[number], schema, goal, key, stated, layout, numbers
                )
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
                "of_maker": np.full(len(each.rows), each.of_maker, dtype=np.int32),
            }
        )
        for each in counts
        if len(each.rows)
    ]
    kinds = {"g0": pl.Int64, "g1": pl.Int64, "column": pl.Int32, "cell": pl.String, "n": pl.Int64}
    kinds |= {"of_maker": pl.Int32}
    return pl.concat(frames) if frames else pl.DataFrame(schema=kinds)


def examine_counts(
    counts: DataFrame, schema: Schema, k: int, goal: Goal, population: CodedTable | None = None
) -> list[GroupFacts]:
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
            yield from facts_batch(examiner.examine_groups(_group_counts(given), schema, k, goal, table, population))

        return collect_facts(own.mapInArrow(examine, FACTS_SCHEMA))
    finally:
        own.unpersist()


def _group_counts(given: Iterable[Any]) -> Iterator[GroupCount]:
    """Yield the counts of batches."""
    for batch in given:
        first, second, column, cell, n = (values.to_pylist() for values in batch.columns)
        for group, *rest in zip(zip(first, second, strict=True), column, cell, n, strict=True):
            yield GroupCount(group, *rest)


def _table_counts(own: DataFrame, schema: Schema, checks: ModelChecks) -> TableCounts:
    """Count what groups are compared with: the sensitive cells of the table, and the sizes of groups."""
    from pyspark.sql import functions as F  # noqa: N812

    is_sensitive = F.col("column").between(0, len(checks.columns) - 1)
    sums = own.where(is_sensitive).groupBy("column", "cell").agg(F.sum("n").alias("n"))
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


def _count_one_value(counts: DataFrame, names: Sequence[str]) -> dict[str, int]:
    """Return by sensitive column that no model counts the rows in groups that share one value of it."""
    from pyspark.sql import functions as F  # noqa: N812

    if not names:
        return {}
    values = [F.min("cell").alias("least"), F.max("cell").alias("most"), F.sum("n").alias("n")]
    groups = counts.groupBy("g0", "g1", "column").agg(*values)
    shared = groups.where(f"least = most and least <> '{MIXED}'").groupBy("column").agg(F.sum("n").alias("n"))
    found = {ONE_VALUE - row["column"]: row["n"] for row in shared.toArrow().to_pylist()}
    return {name: found.get(place, 0) for place, name in enumerate(names)}


def _examine_centers(
    spark: SparkSession, cells: Cells, counts: DataFrame, asked: Asked, recoded: Recoded
) -> list[Violation]:
    """Examine the groups that the maker states, and whether cells are their centres; the source is counted for that."""
    from pyspark.sql import functions as F  # noqa: N812

    schema, k, goal, _, layout, population = asked
    centers = F.col("column") >= CENTERS
    violations = group_violations(examine_counts(counts.where(~centers), schema, k, goal, population), k)
    names = [column.name for column in schema.qi]
    in_source: dict[str, Counter[str]] = {name: Counter() for name in names}
    for name, found in zip(names, _count_source(spark, cells, names), strict=True):
        for cell, n in found.items():
            in_source[name][recoded.get(name, {}).get(cell, cell)] += n

    def examine(given: Iterable[Any]) -> Iterator[Any]:
        yield from facts_batch(examine_centers(_group_counts(given), schema, k, goal, layout, in_source))

    n_tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    spread = counts.where(centers).repartition(n_tasks, "g0", "g1")
    own = spread.groupBy("g0", "g1", "column", "cell").agg(F.sum("n").alias("n"))
    found_by_tasks: list[CenterFacts] = collect_facts(own.mapInArrow(examine, FACTS_SCHEMA))
    return violations + center_violations(found_by_tasks, schema, goal, layout, in_source)


def _count_source(spark: SparkSession, cells: Cells, names: Sequence[str]) -> list[Counter[str]]:
    """Have the verifier count the cells of columns of the source itself."""
    from pyspark.sql import functions as F  # noqa: N812

    def count(table: SourceTable) -> Iterator[Any]:
        import polars as pl

        for i, counter in enumerate(examiner.count_cells(table, names)):
            frame = pl.DataFrame({"cell": list(counter), "n": list(counter.values())})
            yield from batches([frame.select(pl.lit(i, pl.Int32).alias("column"), "cell", "n")])

    counts = _read_source(spark, cells, names, count, "column int, cell string, n bigint")
    rows: list[Counter[str]] = [Counter() for _ in names]
    for column, cell, n in polars_of(counts.groupBy("column", "cell").agg(F.sum("n").alias("n"))).iter_rows():
        rows[column][cell] = n
    return rows


def _find_recoded(spark: SparkSession, cells: Cells, asked: Asked) -> tuple[Recoded, list[Violation]]:
    """Have the verifier count the columns with outliers, and the people of sets of cells; it recodes as it sees fit."""
    schema = asked.schema

    def count(sets: Sequence[CellSets]) -> list[list[int]]:
        return _count_holders(spark, cells, schema, sets)

    return recode_counted(schema, asked.k, _count_source(spark, cells, coded_names(schema)), count)


def _count_holders(spark: SparkSession, cells: Cells, schema: Schema, sets: Sequence[CellSets]) -> list[list[int]]:
    """Have the verifier read who has the cells of sets; return the people of each, whom Spark counts."""
    from pyspark.sql import functions as F  # noqa: N812

    names = [*(own.column for own in sets), *schema.names(Role.PERSON)]

    def examine(table: SourceTable) -> Iterator[Any]:
        import polars as pl

        for place, people, codes, bits in holders_in(schema, sets, table.blocks(names)):
            distinct, own = np.unique(codes, return_inverse=True)
            persons = pl.Series([people.texts[code] for code in distinct.tolist()], dtype=pl.String).gather(own)
            frame = pl.DataFrame({"person": persons, "bits": bits}).unique()
            yield from batches([frame.select(pl.lit(place, pl.Int32).alias("place"), "person", "bits")])

    held = _read_source(spark, cells, names, examine, "place int, person string, bits bigint")
    by_person = held.groupBy("place", "person").agg(F.bit_or("bits").alias("bits"))
    n_sets = [len(own.keys) for own in sets]
    sums = [F.sum(F.shiftright("bits", bit).bitwiseAND(F.lit(1))).alias(f"n{bit}") for bit in range(max(n_sets))]
    counts = {place: n for place, *n in polars_of(by_person.groupBy("place").agg(*sums)).iter_rows()}
    return [counts.get(place, [0] * n)[:n] for place, n in enumerate(n_sets)]


def _examine_source(
    spark: SparkSession, cells: Cells, asked: Asked, key: bytes, recoded: Recoded, *, is_dealt: bool
) -> list[SourceFacts]:
    """Have the verifier read the source itself."""
    schema, layout, claimed = asked.schema, asked.layout, None if is_dealt else asked.claimed
    names = [column.name for column in schema.released] + ([] if claimed else examiner.held_back(schema))

    def examine(table: SourceTable) -> Iterator[Any]:
        yield from facts_batch(examiner.examine_source(table, schema, key, claimed, layout, recoded))

    return collect_facts(_read_source(spark, cells, names, examine, FACTS_SCHEMA))


def _read_source(
    spark: SparkSession,
    cells: Cells,
    names: Sequence[str],
    examine: Callable[[SourceTable], Iterator[Any]],
    schema: str,
) -> DataFrame:
    """Have the verifier read columns of the source itself: one task for each file, or for each part of a frame."""
    if isinstance(cells, FileCells):
        paths, dialect = cells.files.paths, cells.files.dialect or Dialect()

        def examine_files(given: Iterable[Any]) -> Iterator[Any]:
            for batch in given:
                for number in batch.column(0).to_pylist():
                    yield from examine(SourceTable(paths[number], dialect))

        return spark.range(0, len(paths), 1, len(paths)).mapInArrow(examine_files, schema)
    assert isinstance(cells, FrameCells)

    def examine_frame(given: Iterable[Any]) -> Iterator[Any]:
        blocks = (examiner.cell_texts(column.to_pylist() for column in batch.columns) for batch in given)
        yield from examine(SourceTable(blocks))

    return cells.columns(names).mapInArrow(examine_frame, schema)


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
