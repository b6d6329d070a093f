"""Regions that parts of quasi-identifiers make: executors count them, and judge them where all of their rows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.release.counted_tables.searcher import Regions, RegionSizes
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.spark.counting import added_up
from shoal.spark.jobs import kernel_of_batches, polars_of
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["count_in_regions", "measure_regions", "regions_pass"]


def measure_regions(units: DataFrame, packing: Packing, regions: Regions) -> RegionSizes:
    """Count the rows of each region."""
    from pyspark.sql import functions as F  # noqa: N812

    sizes = _counted(units, packing, regions, [()])
    lone = F.count(F.when(F.col("n") == 1, 1)).alias("lone")
    found = polars_of(sizes.agg(F.count("n").alias("regions"), F.min("n").alias("smallest"), lone))
    return RegionSizes(int(found["regions"][0]), int(found["smallest"][0] or 0), int(found["lone"][0]))


def regions_pass(units: DataFrame, packing: Packing, regions: Regions, judge: PartJudge) -> bool:
    """Say whether every region passes the models of a judge; all that is counted of a region meets in one task."""
    packed = regions.packing(packing, judge.judged)

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        if not judge.passes_blocks(packed, packed.whole_tuples(frames)):
            yield pl.DataFrame({"failing": [1]})

    counted = _counted(units, packing, regions, judge.judged)
    together = counted.repartition(*packed.key_names).sortWithinPartitions(*packed.names)
    return polars_of(together.mapInArrow(kernel_of_batches(kernel), "failing bigint")).height == 0


def _counted(units: DataFrame, packing: Packing, regions: Regions, asked: Sequence[Sequence[int]]) -> DataFrame:
    """Count the rows of each region, for each entry of `asked` by the codes of some columns."""
    from pyspark.sql import functions as F  # noqa: N812

    packed = regions.packing(packing, asked)
    n_codes = len(packed.cards) - packed.n_keys - 1

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        def counted(frame: pl.DataFrame) -> pl.DataFrame:
            codes, rows, parts = _inside(frame, packing, regions)
            found = []
            for number, places in enumerate(asked):
                beside = [codes[:, packing.n_keys + place] for place in places]
                blank = [np.zeros(len(codes), dtype=np.int32)] * (n_codes - len(places))
                columns = [*parts, np.full(len(codes), number, dtype=np.int32), *beside, *blank]
                found.append(pl.DataFrame(dict(zip(packed.names, packed.pack(columns), strict=True)) | {"n": rows}))
            return pl.concat(found).group_by(packed.names).agg(pl.col("n").sum())

        return added_up(map(counted, frames), packed.names)

    schema = ", ".join([*(f"{name} bigint" for name in packed.names), "n bigint"])
    counts = units.mapInArrow(kernel_of_batches(kernel), schema)
    return counts.groupBy(*packed.names).agg(F.sum("n").alias("n"))


def _inside(
    frame: pl.DataFrame, packing: Packing, regions: Regions
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[NDArray[np.int32]]]:
    """Return the codes of tuples or units in regions, the rows of each, and its part of each quasi-identifier."""
    codes = packing.codes(frame)
    parts = [own[codes[:, a]] for a, own in enumerate(regions.parts)]
    inside = np.logical_and.reduce([own >= 0 for own in parts])
    if regions.upto is not None:
        inside &= codes[:, packing.n_keys + regions.upto.place] <= regions.upto.code
    return codes[inside], frame["n"].to_numpy()[inside], [own[inside] for own in parts]


def count_in_regions(units: DataFrame, packing: Packing, regions: Regions) -> list[NDArray[np.int64]]:
    """Return the rows of all regions together by code, column after column."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = ["column", "code"]

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        def counted(frame: pl.DataFrame) -> pl.DataFrame:
            codes, rows, _ = _inside(frame, packing, regions)
            columns = [
                pl.DataFrame({"code": codes[:, column], "n": rows})
                .group_by("code")
                .agg(pl.col("n").sum())
                .select(pl.lit(column, pl.Int32).alias("column"), "code", "n")
                for column in range(codes.shape[1])
            ]
            return pl.concat(columns)

        return added_up(map(counted, frames), keys)

    counts = units.mapInArrow(kernel_of_batches(kernel), "column int, code int, n bigint")
    found = [np.zeros(card, dtype=np.int64) for card in packing.cards]
    for column, code, rows in polars_of(counts.groupBy(*keys).agg(F.sum("n").alias("n"))).iter_rows():
        found[column][code] = rows
    return found
