"""The gate as jobs of Spark: the verifier's own code examines every written part and every part of the source.

Executors see cells; the driver sees sums, and the first and the last row of each part.
"""

from __future__ import annotations

import base64
import pickle
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.schema import Dialect, Schema
from shoal.spark.cells import Cells, FileCells, FrameCells
from shoal.spark.dealing import Dealt
from shoal.spark.jobs import batches
from shoal.spark.parts import Part, Rendering, witness_rows
from shoal.verification import Claimed, Goal, Verdict, source_rows
from shoal.verification.gate_streamed import parts as examiner
from shoal.verification.gate_streamed.parts import GroupCount, GroupFacts, PartFacts, SourceFacts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["examine_counts", "examine_release"]

FACTS = "facts"
PER_BATCH = 20_000


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
    n_keys = len(schema.qi)
    counts = _examine_parts(spark, schema, goal, key, folder, parts, rendering if dealt else None).persist()
    try:
        found = counts.where("kind = 0").select("cell").toArrow().column(0).to_pylist()
        facts: list[tuple[int, PartFacts]] = sorted(map(_loads, found), key=lambda pair: pair[0])
        groups = examine_counts(counts.where("kind = 1"), n_keys, schema, k, goal)
    finally:
        counts.unpersist()
    names = [column.name for column in schema.released] + (examiner.held_back(schema) if dealt else [])
    source = _examine_source(spark, cells, schema, names, key, None if dealt else claimed)
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
    """Return the counts of groups (kind 1) and what was found in each part (kind 0)."""
    n_keys, names = len(schema.qi), [part.name for part in parts]

    def examine(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl

        columns = {"kind": pl.Int32, **{f"g{i}": pl.String for i in range(n_keys)}}
        columns |= {"column": pl.Int32, "cell": pl.String, "n": pl.Int64}
        for batch in given:
            for number in batch.column(0).to_pylist():
                witness = None if rendering is None else witness_rows(folder, names[number], rendering)
                facts, counts = examiner.examine_part(folder / names[number], schema, goal, key, witness)
                rows = [(0, *[""] * n_keys, 0, _dumps((number, facts)), 0)]
                for count in counts:
                    rows.append((1, *count.group, count.column, count.cell, count.rows))
                    if len(rows) == PER_BATCH:
                        yield from batches([pl.DataFrame(rows, columns, orient="row")])
                        rows = []
                yield from batches([pl.DataFrame(rows, columns, orient="row")])

    keys = ", ".join(f"g{i} string" for i in range(n_keys))
    return spark.range(0, len(names), 1, len(names)).mapInArrow(
        examine, f"kind int, {keys}, column int, cell string, n bigint"
    )


def examine_counts(counts: DataFrame, n_keys: int, schema: Schema, k: int, goal: Goal) -> list[GroupFacts]:
    """Add up the counts of each group, and examine the groups where all of their counts are."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = [f"g{i}" for i in range(n_keys)]
    own = counts.groupBy(*keys, "column", "cell").agg(F.sum("n").alias("n"))
    # A model that compares a group with the whole table is judged by one task, which has the counts of all groups.
    together = own.coalesce(1) if list(goal.get("models", ())) else own.repartition(*keys)

    def examine(given: Iterable[Any]) -> Iterator[Any]:
        def read() -> Iterator[GroupCount]:
            for batch in given:
                *groups, column, cell, n = (values.to_pylist() for values in batch.columns)
                for group, *rest in zip(zip(*groups, strict=True), column, cell, n, strict=True):
                    yield GroupCount(group, *rest)

        yield from _facts_batch(examiner.examine_groups(read(), schema, k, goal))

    return _collect(together.mapInArrow(examine, f"{FACTS} string"))


def _examine_source(
    spark: SparkSession, cells: Cells, schema: Schema, names: list[str], key: bytes, claimed: Claimed | None
) -> list[SourceFacts]:
    """Have the verifier read the source itself: one task for each file, or for each part of a frame."""
    if isinstance(cells, FileCells):
        paths, dialect = cells.files.paths, cells.files.dialect or Dialect()

        def examine_files(given: Iterable[Any]) -> Iterator[Any]:
            for batch in given:
                for number in batch.column(0).to_pylist():
                    rows = source_rows(paths[number], dialect, names)
                    yield from _facts_batch(examiner.examine_source(rows, schema, key, claimed))

        return _collect(spark.range(0, len(paths), 1, len(paths)).mapInArrow(examine_files, f"{FACTS} string"))
    assert isinstance(cells, FrameCells)

    def examine_frame(given: Iterable[Any]) -> Iterator[Any]:
        rows = (
            examiner.cell_texts({name: batch.column(i).to_pylist() for i, name in enumerate(names)}) for batch in given
        )
        yield from _facts_batch(examiner.examine_source(rows, schema, key, claimed))

    return _collect(cells.columns(names).mapInArrow(examine_frame, f"{FACTS} string"))


def _examine_left_out(dealt: Dealt, schema: Schema, key: bytes) -> list[SourceFacts]:
    """Examine the rows that are not released, as the source has them."""
    originals, left_out = dealt.originals, dealt.left_out
    assert left_out is not None

    def examine(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl

        def rows() -> Iterator[list[list[str]]]:
            for batch in given:
                frame = pl.DataFrame(pl.from_arrow(batch))
                columns = [originals.text(frame, name).to_list() for name in originals.sources]
                yield list(map(list, zip(*columns, strict=True)))

        yield from _facts_batch(examiner.examine_source(rows(), schema, key, None))

    return _collect(left_out.mapInArrow(examine, f"{FACTS} string"))


def _facts_batch(facts: Any) -> Iterator[Any]:
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({FACTS: [_dumps(facts)]})


def _collect(frame: DataFrame) -> list[Any]:
    loads: Callable[[str], Any] = _loads
    return [loads(text) for text in frame.toArrow().column(0).to_pylist()]


def _dumps(facts: Any) -> str:
    return base64.b64encode(pickle.dumps(facts)).decode()


def _loads(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))
