"""Counts by executors: of the values of columns and of combinations of cells. Tasks count first, Spark adds up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shoal.spark.jobs import frame_of, polars_of
from shoal.tables.sources.base import SAMPLE, Facts

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from shoal.spark.cells import Cells

__all__ = ["added_up", "column_facts", "count_rows", "count_values", "counted_by", "judge_cells"]

MOST_KEPT = 1_000_000  # distinct rows that a task counts before it passes them on


def count_rows(cells: Cells, names: Sequence[str]) -> DataFrame:
    """Count the rows by columns: c0, c1 and so on, and n."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = [f"c{i}" for i in range(len(names))]

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        return added_up(counted_by(frames, keys), keys)

    schema = ", ".join([*(f"{key} string" for key in keys), "n bigint"])
    return cells.mapped(names, kernel, schema).groupBy(*keys).agg(F.sum("n").alias("n"))


def counted_by(frames: Iterator[pl.DataFrame], keys: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Count the rows of each frame by columns, as n."""
    import polars as pl

    for frame in frames:
        yield frame.group_by(keys).agg(pl.len().cast(pl.Int64).alias("n"))


def added_up(frames: Iterator[pl.DataFrame], keys: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Add up the other columns of frames by these ones; pass on what has become too much for a task."""
    import polars as pl

    kept: pl.DataFrame | None = None
    for frame in frames:
        kept = frame if kept is None else pl.concat([kept, frame]).group_by(keys).agg(pl.all().sum())
        if kept.height > MOST_KEPT:
            yield kept
            kept = None
    if kept is not None:
        yield kept


def count_values(cells: Cells, names: Sequence[str]) -> DataFrame:
    """Count the rows by value, for each column: the number of the column as `column`, the value as `cell`, and n."""
    from pyspark.sql import functions as F  # noqa: N812

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        def counted(frame: pl.DataFrame) -> pl.DataFrame:
            return pl.concat(
                frame.group_by(pl.col(f"c{i}").alias("cell"))
                .agg(pl.len().cast(pl.Int64).alias("n"))
                .select(pl.lit(i, pl.Int32).alias("column"), "cell", "n")
                for i in range(len(names))
            )

        return added_up(map(counted, frames), ["column", "cell"])

    counts = cells.mapped(names, kernel, "column int, cell string, n bigint")
    return counts.groupBy("column", "cell").agg(F.sum("n").alias("n"))


def column_facts(values: DataFrame, names: Sequence[str], k: int, missing: Sequence[str]) -> dict[str, Facts]:
    """Return the figures of columns from the counts of their values, in two jobs for all columns together."""
    import polars as pl
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    markers = frame_of(
        values.sparkSession,
        pl.DataFrame({"cell": sorted(set(missing))}, schema={"cell": pl.String}).with_columns(
            absent=pl.lit(1, pl.Int32)
        ),
    )
    marked = values.join(F.broadcast(markers), "cell", "left")
    figures = marked.groupBy("column").agg(
        F.count("n").alias("distinct"),
        F.sum(F.when(F.col("n") < k, 1).otherwise(0)).alias("rare"),
        F.sum(F.when(F.col("absent").isNotNull(), F.col("n")).otherwise(0)).alias("missing"),
    )
    ranked = values.withColumn("place", F.row_number().over(Window.partitionBy("column").orderBy("cell")))
    sample = polars_of(ranked.where(F.col("place") <= SAMPLE).select("column", "cell")).sort("column", "cell")
    found: dict[str, Facts] = {}
    for row in polars_of(figures).iter_rows(named=True):
        own: Any = sample.filter(pl.col("column") == row["column"])["cell"].to_list()
        found[names[row["column"]]] = Facts(tuple(own), row["distinct"], row["rare"], row["missing"])
    return found


def judge_cells(cells: Cells, name: str, judge: Callable[[list[str]], str]) -> set[str]:
    """Return what is said of the cells of a column: of the distinct ones of each block."""

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        said = {judge(frame["c0"].unique().to_list()) for frame in frames}
        yield pl.DataFrame({"said": sorted(said)}, schema={"said": pl.String})

    return set(polars_of(cells.mapped([name], kernel, "said string").distinct())["said"].to_list())
