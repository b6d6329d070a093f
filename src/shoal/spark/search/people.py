"""People on executors: their ids as codes, and what is counted of them. The driver sees numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.release.counted_tables.searcher import RowSets, SetCounts
from shoal.release.counted_tables.sections.people import latest_met
from shoal.spark.counting import added_up, counted_by
from shoal.spark.jobs import kernel_of_batches, polars_of
from shoal.tables.sorting import Packing
from shoal.tables.values.people import People, persons_of

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from shoal.spark.cells import Cells

__all__ = [
    "CodedPeople",
    "code_people",
    "count_holders",
    "count_in_runs",
    "count_lone_rows",
    "count_sets",
    "person_in_sql",
]


@dataclass(frozen=True)
class CodedPeople:
    """The column of people as codes.

    Attributes:
        people: The column.
        codes: Its distinct cells as `cell`, and the code of the person of each as `code`.
        n_people: The number of people.
    """

    people: People
    codes: DataFrame
    n_people: int

    def added(self, rows: DataFrame, packing: Packing) -> DataFrame:
        """Return rows with packed codes, in whose last number the code of the person takes the place of `cell`.

        Args:
            rows: Packed codes of all columns but that of people, and `cell`.
            packing: How all of them are packed.
        """
        from pyspark.sql import functions as F  # noqa: N812

        last, code = packing.names[-1], F.col("code").cast("bigint")
        joined = rows.join(self.codes, "cell")
        if len(packing.parts[-1]) > 1:
            code = F.col(last) * packing.cards[-1] + code
        return joined.withColumn(last, code).drop("cell", "code")

    def counted(self, rows: DataFrame, n_columns: int) -> DataFrame:
        """Count the people of each combination of columns c0, c1 and so on, as n; the column after them is theirs."""
        from pyspark.sql import functions as F  # noqa: N812

        keys = [f"c{i}" for i in range(n_columns)]
        coded = (
            rows.withColumnRenamed(f"c{n_columns}", "cell").join(self.codes, "cell").select(*keys, "code").distinct()
        )
        return coded.groupBy(*keys).agg(F.count("code").alias("n"))


def code_people(cells: Cells, people: People) -> tuple[CodedPeople, list[DataFrame]]:
    """Give every person a code, as `person_codes` does; return them, and the frames that are kept for it."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as F  # noqa: N812

    missing = people.missing

    def read(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        for frame in added_up(counted_by(frames, ["c0"]), ["c0"]):
            cell = frame["c0"].alias("cell")
            yield cell.to_frame().with_columns(persons_of(cell, missing).alias("person"))

    ids = cells.mapped([people.name], read, "cell string, person string").distinct().persist(StorageLevel.DISK_ONLY)
    firsts = ids.groupBy("person").agg(F.min("cell").alias("first")).orderBy("first").persist(StorageLevel.DISK_ONLY)
    starts, n_people = _starts(firsts)

    def number(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        first = starts.get(_part_number(), 0)
        for frame in frames:
            codes = pl.Series("code", np.arange(first, first + frame.height, dtype=np.int32))
            first += frame.height
            yield frame.select("person").with_columns(codes)

    numbered = firsts.select("person", "first").mapInArrow(kernel_of_batches(number), "person string, code int")
    coded = ids.join(numbered, "person").select("cell", "code").persist(StorageLevel.DISK_ONLY)
    return CodedPeople(people, coded, n_people), [ids, firsts, coded]


def _starts(frame: DataFrame) -> tuple[dict[int, int], int]:
    """Return the number of rows before each part of a sorted frame, and that of all rows."""

    def count(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        yield pl.DataFrame({"part": [_part_number()], "n": [sum(each.height for each in frames)]})

    counts = polars_of(frame.mapInArrow(kernel_of_batches(count), "part bigint, n bigint")).sort("part")
    ends = counts["n"].cum_sum()
    return dict(zip(counts["part"].to_list(), (ends - counts["n"]).to_list(), strict=True)), int(counts["n"].sum())


def _part_number() -> int:
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    number: int = task.partitionId()
    return number


def person_in_sql(packing: Packing) -> Any:
    """Return the code of the person as a column over packed units."""
    from pyspark.sql import functions as F  # noqa: N812

    last = F.col(packing.names[-1])
    return last if len(packing.parts[-1]) == 1 else last % packing.cards[-1]


def count_in_runs(units: DataFrame, packing: Packing, runs: Mapping[int, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
    """Count the people of runs of codes; runs: by place of a quasi-identifier, of each code, or -1 for none."""
    import polars as pl

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        for frame in frames:
            codes = packing.codes(frame)
            for place, own in runs.items():
                run = np.append(own, np.int32(-1))[np.minimum(codes[:, place], len(own))]
                pairs = pl.DataFrame({"run": run, "person": codes[:, -1]}).filter(pl.col("run") >= 0).unique()
                yield pairs.select(pl.lit(place, pl.Int32).alias("place"), "run", "person")

    pairs = units.mapInArrow(kernel_of_batches(kernel), "place int, run int, person int").distinct()
    found = polars_of(pairs.groupBy("place", "run").count())
    counted = []
    for place, own in runs.items():
        counts, of_place = (
            np.zeros(int(own.max(initial=-1)) + 1, dtype=np.int64),
            found.filter(pl.col("place") == place),
        )
        counts[of_place["run"].to_numpy()] = of_place["count"].to_numpy()
        counted.append(counts)
    return counted


def count_sets(units: DataFrame, packing: Packing, sets: RowSets, k: int) -> SetCounts:
    """Count the people of sets of rows; executors meet the people of a run one after another."""
    import polars as pl
    from pyspark import StorageLevel
    from pyspark.sql import functions as F  # noqa: N812

    names, keys = [f"k{place}" for place in sets.places], ["run", "number"]

    def find(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        known = pl.DataFrame({name: np.ascontiguousarray(sets.codes[:, i]) for i, name in enumerate(names)})
        known = known.with_columns(run=sets.run, number=sets.number)
        for frame in frames:
            codes = packing.codes(frame)
            own = pl.DataFrame({name: codes[:, place] for name, place in zip(names, sets.places, strict=True)})
            own = own.with_columns(person=codes[:, -1])
            if sets.upto is not None:
                own = own.filter(codes[:, packing.n_keys + sets.upto.place] <= sets.upto.code)
            found = own.join(known, on=names)
            yield found.select(*keys, "person").unique()

    def meet(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        return latest_met(frames, k)

    held = units.mapInArrow(kernel_of_batches(find), "run int, number int, person int").distinct()
    held = held.persist(StorageLevel.DISK_ONLY)
    sizes = held.groupBy(*keys).agg(F.count("person").alias("n"))
    latest = pl.concat(latest_met([], k))
    if k:
        scarce = held.join(sizes.where(F.col("n") < k), keys).repartition("run").sortWithinPartitions(*keys)
        latest = polars_of(scarce.mapInArrow(kernel_of_batches(meet), "run int, number int, latest int"))
    found = SetCounts.of(polars_of(sizes), latest)
    held.unpersist()
    return found


def count_holders(table: Cells, name: str, cells: pl.Series, coded: CodedPeople) -> int:
    """Count the people who have one of some cells of a column."""
    from pyspark.sql import functions as F  # noqa: N812

    chosen = cells.to_list()

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        own = pl.DataFrame({"c0": chosen}, schema={"c0": pl.String})
        return (frame.join(own, on="c0", how="semi").select(pl.col("c1").alias("cell")).unique() for frame in frames)

    ids = table.mapped([name, coded.people.name], kernel, "cell string").distinct()
    return int(polars_of(ids.join(coded.codes, "cell").agg(F.countDistinct("code").alias("n")))["n"][0])


def count_lone_rows(cells: Cells, names: Sequence[str], coded: CodedPeople) -> list[int]:
    """Count for each column the rows whose cell no other person has."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = ["column", "value", "cell"]

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        def counted(frame: pl.DataFrame) -> pl.DataFrame:
            return pl.concat(
                frame.group_by(pl.col(f"c{i}").alias("value"), pl.col(f"c{len(names)}").alias("cell"))
                .agg(pl.len().cast(pl.Int64).alias("n"))
                .select(pl.lit(i, pl.Int32).alias("column"), "value", "cell", "n")
                for i in range(len(names))
            )

        return added_up(map(counted, frames), keys)

    counts = cells.mapped([*names, coded.people.name], kernel, "column int, value string, cell string, n bigint")
    by_value = counts.join(coded.codes, "cell").groupBy("column", "value")
    held = by_value.agg(F.sum("n").alias("n"), F.min("code").alias("least"), F.max("code").alias("last"))
    lone = held.where(F.col("least") == F.col("last")).groupBy("column").agg(F.sum("n").alias("n"))
    found = dict(polars_of(lone).select("column", "n").iter_rows())
    return [int(found.get(i, 0)) for i in range(len(names))]
