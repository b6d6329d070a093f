"""Tuples and units as packed codes, and what executors count of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.association import Pairs
from shoal.release.counted_tables.searcher import Upto
from shoal.spark.counting import added_up, counted_by
from shoal.spark.jobs import frame_of, kernel_of_batches, polars_of
from shoal.spark.search.people import CodedPeople
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from shoal.spark.cells import Cells

__all__ = ["count_beyond", "count_codes", "count_pairs", "count_together", "find_largest"]

Codes = NDArray[np.int32]
Coding = Mapping[str, tuple["pl.Series", Codes]]


def count_codes(
    cells: Cells, coding: Coding, beside: Coding, people: CodedPeople | None = None
) -> tuple[DataFrame, Packing]:
    """Count the rows by the codes of quasi-identifiers, of columns beside them, and of people: packed units, and n."""
    from pyspark.sql import functions as F  # noqa: N812

    dictionaries = {**coding, **beside}
    cards = [int(codes.max(initial=0)) + 1 for _, codes in dictionaries.values()]
    packing, tables = Packing.of(cards, len(coding)), list(dictionaries.values())
    person = [] if people is None else [f"c{len(tables)}"]
    keys = [*packing.names, *("cell" for _ in person)]

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        coding = [pl.DataFrame({f"c{i}": texts, f"k{i}": codes}) for i, (texts, codes) in enumerate(tables)]

        def coded() -> Iterator[pl.DataFrame]:
            for frame in frames:
                own = frame
                for i, table in enumerate(coding):
                    own = own.join(table, on=f"c{i}", how="left", maintain_order="left")
                yield own.select(*packing.packed(), *(pl.col(name).alias("cell") for name in person))

        return added_up(counted_by(coded(), keys), keys)

    schema = ", ".join([*(f"{name} bigint" for name in packing.names), *("cell string" for _ in person), "n bigint"])
    names = [*dictionaries, *([] if people is None else [people.people.name])]
    counted = cells.mapped(names, kernel, schema)
    if people is None:
        return counted.groupBy(*keys).agg(F.sum("n").alias("n")), packing
    whole = Packing.of([*cards, people.n_people], len(coding))
    return people.added(counted, whole).groupBy(*whole.names).agg(F.sum("n").alias("n")), whole


def count_pairs(units: DataFrame, packing: Packing) -> Pairs:
    """Count the rows of each pair of codes, for each pair of quasi-identifiers."""
    import polars as pl
    from pyspark.sql import functions as F  # noqa: N812

    pairs = list(combinations(range(packing.n_keys), 2))
    keys = ["pair", "one", "other"]

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        def counted(frame: pl.DataFrame) -> pl.DataFrame:
            codes = packing.tuples(frame)
            columns = pl.DataFrame({f"k{a}": codes[:, a] for a in range(packing.n_keys)}).with_columns(n=frame["n"])
            return pl.concat(
                columns.group_by(pl.col(f"k{a}").alias("one"), pl.col(f"k{b}").alias("other"))
                .agg(pl.col("n").sum())
                .select(pl.lit(i, pl.Int32).alias("pair"), "one", "other", "n")
                for i, (a, b) in enumerate(pairs)
            )

        return added_up(map(counted, frames), keys)

    if not pairs:
        return {}
    counts = units.mapInArrow(kernel_of_batches(kernel), "pair int, one int, other int, n bigint")
    found = polars_of(counts.groupBy(*keys).agg(F.sum("n").alias("n"))).sort(keys)
    return {
        pair: (own.select("one", "other").to_numpy().astype(np.int32), own["n"].to_numpy().astype(np.int64))
        for pair, own in ((pair, found.filter(pl.col("pair") == i)) for i, pair in enumerate(pairs))
    }


def count_together(
    units: DataFrame, packing: Packing, places: Sequence[int], upto: Upto | None = None
) -> tuple[Codes, NDArray[np.int64]]:
    """Count the rows by the codes of some quasi-identifiers; return the codes, sorted, and the rows."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = [f"k{place}" for place in places]

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        def coded(frame: pl.DataFrame) -> pl.DataFrame:
            codes = packing.codes(frame)
            columns = pl.DataFrame({key: codes[:, place] for key, place in zip(keys, places, strict=True)})
            columns = columns.with_columns(n=frame["n"])
            if upto is not None:
                columns = columns.filter(codes[:, packing.n_keys + upto.place] <= upto.code)
            return columns.group_by(keys).agg(pl.col("n").sum())

        return added_up(map(coded, frames), keys)

    counts = units.mapInArrow(kernel_of_batches(kernel), ", ".join([*(f"{key} int" for key in keys), "n bigint"]))
    found = polars_of(counts.groupBy(*keys).agg(F.sum("n").alias("n"))).sort(keys)
    return found.select(keys).to_numpy().astype(np.int32), found["n"].to_numpy().astype(np.int64)


def find_largest(units: DataFrame, packing: Packing, place: int) -> list[Codes]:
    """Return the largest code of a column beside that occurs with each code of each quasi-identifier."""
    from pyspark.sql import functions as F  # noqa: N812

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        largest = [np.full(card, -1, dtype=np.int32) for card in packing.cards[: packing.n_keys]]
        for frame in frames:
            codes = packing.codes(frame)
            for column, own in enumerate(largest):
                np.maximum.at(own, codes[:, column], codes[:, packing.n_keys + place])
        for column, own in enumerate(largest):
            code = np.flatnonzero(own >= 0).astype(np.int32)
            yield pl.DataFrame({"column": np.full(len(code), column, np.int32), "code": code, "largest": own[code]})

    found = units.mapInArrow(kernel_of_batches(kernel), "column int, code int, largest int")
    sums = polars_of(found.groupBy("column", "code").agg(F.max("largest").alias("largest")))
    largest = [np.zeros(card, dtype=np.int32) for card in packing.cards[: packing.n_keys]]
    for column, code, own in sums.iter_rows():
        largest[column][code] = own
    return largest


def count_beyond(units: DataFrame, packing: Packing, tuples: Codes, rows: NDArray[np.int64]) -> int:
    """Count the rows that are not among some rows, given as distinct tuples of codes."""
    import polars as pl
    from pyspark.sql import functions as F  # noqa: N812

    cards, keys = packing.cards[: packing.n_keys], packing.key_names
    inside = (tuples < np.array(cards)).all(axis=1)
    packed = Packing.of(cards).pack(list(tuples[inside].T))
    known = pl.DataFrame(dict(zip(keys, packed, strict=True)) | {"known": rows[inside]})
    own = units.groupBy(*keys).agg(F.sum("n").alias("n"))
    both = own.join(frame_of(units.sparkSession, known), keys, "left")
    beyond = F.greatest(F.col("n") - F.coalesce(F.col("known"), F.lit(0)), F.lit(0))
    return int(polars_of(both.agg(F.sum(beyond).alias("beyond")))["beyond"][0])
