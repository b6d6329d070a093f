"""Rows dealt to groups by Spark: coded, numbered inside their tuple, joined with their group and sorted.

Spark moves integers: the ranks of released cells, and the numbers of the cells that each row was made from. Texts come
from dictionaries when a part is written. Rows that tie are equal in every column, so that a task that runs twice gives
the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.spark.jobs import frame_of, kernel_of_batches
from shoal.spark.parts import Rendering
from shoal.spark.search.found import SearchedGroups
from shoal.tables.sorting import Packing
from shoal.tables.sources.base import Change, Dealing, Recoding
from shoal.tables.table import factorize

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

    from shoal.spark.cells import Cells

__all__ = ["Dealt", "deal_rows", "recode_rows"]


def recode_rows(cells: Cells, recoding: Recoding) -> tuple[DataFrame, Rendering]:
    """Return the rows of a full-domain release, sorted, and how they become cells."""
    names = recoding.names
    columns = tuple(f"r{i}" for i in range(len(names)))
    maps = {i: recoding.maps[name] for i, name in enumerate(names) if name in recoding.maps}
    order = [names.index(name) for name in recoding.maps]
    kept = None if recoding.kept is None else list(zip(*recoding.kept, strict=True)) or [()] * len(order)

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        combinations = None
        if kept is not None:
            schema = {f"r{i}": pl.String for i in order}
            combinations = pl.DataFrame(dict(zip(schema, map(list, kept), strict=True)), schema=schema)
        for frame in frames:
            shown = frame.select(
                pl.col(f"c{i}").replace_strict(maps[i], default=None, return_dtype=pl.String).alias(f"r{i}")
                if i in maps
                else pl.col(f"c{i}").alias(f"r{i}")
                for i in range(len(names))
            ).drop_nulls()
            yield shown if combinations is None else shown.join(combinations, on=list(combinations.columns), how="semi")

    rows = cells.mapped(names, kernel, ", ".join(f"{column} string" for column in columns))
    return rows.orderBy(*columns), Rendering(names, columns)


class Dealt(NamedTuple):
    """Rows dealt to groups.

    Attributes:
        rows: The released rows, sorted.
        rendering: How they become cells.
        left_out: The rows that are not released; None if there are none.
        originals: How these become the cells of the source: the released columns, then those held back.
    """

    rows: DataFrame
    rendering: Rendering
    left_out: DataFrame | None
    originals: Rendering


def deal_rows(cells: Cells, dealing: Dealing, spark: SparkSession, hidden: Sequence[str] = ()) -> Dealt:
    """Return the rows of a release of groups.

    Args:
        cells: The table.
        dealing: Its groups.
        spark: The session.
        hidden: The columns that are not released, in the order in which the gate expects them.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    names, keyed = dealing.names, dealing.keyed
    before = [name for name in names if name not in dealing.cells or name in dealing.codes]  # all but the spread
    stated = [*(name for name in before if name in dealing.cells), *(hidden or dealing.held_back)]
    sources = [f"s{keyed.index(name)}" for name in stated]
    others = {name: f"o{names.index(name)}" for name in names if name not in dealing.cells}
    numbers = ["g"] if dealing.layout.centers else []  # of groups
    ranks = [*(f"r{i}" for i in range(len(dealing.cells))), "gone", *numbers]
    carried = [*sources, *others.values()]
    groups = dealing.searched
    assert groups is None or isinstance(groups, SearchedGroups)
    coded = _code(cells, dealing, others, sources, groups)
    keys = [f"k{i}" for i in range(len(keyed))] if groups is None else groups.packing.names
    ids = ["t"] if groups is None else keys  # what tells tuples apart
    tuples, entries = _groups(dealing, spark) if groups is None else _searched(groups, ranks)
    joined = coded.join(tuples, keys)
    only = joined.where(F.col("several") == 0).select(*ranks, *carried)
    order = [*(others[name] for name in sorted(others)), *sources]
    several = joined.where(F.col("several") == 1).select(*ids, *carried)
    placed = several.withColumn("place", F.row_number().over(Window.partitionBy(*ids).orderBy(*order)).cast("bigint"))
    dealt = only.unionByName(_deal(placed, entries, ids, ranks, carried))
    texts = {f"s{i}": own for i, (own, _) in enumerate(dealing.codes.values())}
    own = tuple(f"s{keyed.index(name)}" if name in dealing.cells else others[name] for name in before)
    originals = Rendering(tuple(before), own, texts, (*own, *sources[len(before) - len(others) :]))
    left_out = None
    if dealing.leaves_out:
        left_out = dealt.where(F.col("gone") == 1).select(*dict.fromkeys(originals.sources))
    laid, sources = _lay_out(dealing, others), [*sources, *numbers]
    texts = texts | {each.column: each.texts for each in laid if each.texts is not None}
    columns = tuple(each.column for each in laid)
    rendering = Rendering(
        tuple(each.name for each in laid), columns, texts, tuple(sources), delimiter=dealing.layout.delimiter
    )
    kept = _changed(dealt.where(F.col("gone") == 0), laid, sources)
    return Dealt(kept.orderBy(*columns, *sources).select(*columns, *sources), rendering, left_out, originals)


class _FileColumn(NamedTuple):
    """A column of the file.

    Attributes:
        name: Its name there.
        column: The column of the sorted frame that holds it.
        texts: The texts that its numbers mean; None if it holds texts.
        of: The column of dealt rows that it is made from.
        change: What gives cells another form; None if they are as they are.
        places: The place of each number of that column among the texts; None if it holds texts.
    """

    name: str
    column: str
    texts: pl.Series | None
    of: str
    change: Change | None
    places: NDArray[np.int32] | None = None


def _lay_out(dealing: Dealing, others: dict[str, str]) -> list[_FileColumn]:
    """Return the columns of the file, in order; others: the columns of dealt rows that groups do not show."""
    import polars as pl

    shown, laid = list(dealing.cells), list[_FileColumn]()
    for name in dealing.names:
        of = others.get(name) or f"r{shown.index(name)}"
        texts = None if name in others else dealing.cells[name][0]
        forms = dealing.layout.columns.get(name)
        if not forms:
            laid.append(_FileColumn(name, of, texts, of, None))
        for shown_as, change in forms or ():
            column = f"f{len(laid)}"
            if texts is None:
                laid.append(_FileColumn(shown_as, column, None, of, change))
                continue
            places, distinct = factorize(pl.Series(change(texts.to_list()), dtype=pl.String))
            laid.append(_FileColumn(shown_as, column, distinct, of, change, places))
    return laid


def _changed(rows: DataFrame, laid: Sequence[_FileColumn], sources: Sequence[str]) -> DataFrame:
    """Return rows with the columns of the file; each distinct cell of a batch gets its other form once."""
    if all(each.change is None for each in laid):
        return rows

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        for frame in frames:
            columns = []
            for each in laid:
                own = frame[each.of]
                if each.places is not None:
                    own = pl.Series(each.places[own.to_numpy()], dtype=pl.Int32)
                elif each.change is not None:
                    cells = own.unique()
                    own = own.replace_strict(cells, each.change(cells.to_list()), return_dtype=pl.String)
                columns.append(own.alias(each.column))
            yield pl.DataFrame(columns).hstack(frame.select(sources))

    kinds = dict(rows.dtypes)
    schema = [f"{each.column} {'string' if each.texts is None else 'int'}" for each in laid]
    schema += [f"{name} {kinds[name]}" for name in sources]
    return rows.mapInArrow(kernel_of_batches(kernel), ", ".join(schema))


def _code(
    cells: Cells, dealing: Dealing, others: dict[str, str], sources: Sequence[str], groups: SearchedGroups | None
) -> DataFrame:
    """Return the rows as numbers: k of each key, or packed; s of the cells that are stated; other cells as text.

    The ids of people are stated as text: their dictionary stays with executors.
    """
    dictionaries = list(dealing.codes.values())
    n_keys = len(dictionaries)
    columns = list(dict.fromkeys([*dealing.keyed, *others]))
    packing = None
    if groups is not None:
        packing = Packing.of(groups.packing.cards[:n_keys], groups.packing.n_keys)
    ids = {f"s{i}": f"c{i}" for i in range(n_keys, len(dealing.keyed))}
    keys = [f"k{i}" for i in range(n_keys)] if packing is None else packing.names
    renamed = {column: f"c{columns.index(name)}" for name, column in others.items()}

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        tables = [
            pl.DataFrame({f"c{i}": texts, f"k{i}": codes}).with_row_index(f"s{i}").cast({f"s{i}": pl.Int32})
            for i, (texts, codes) in enumerate(dictionaries)
        ]
        for frame in frames:
            coded = frame
            for i, table in enumerate(tables):
                coded = coded.join(table, on=f"c{i}", how="left", maintain_order="left")
            own_keys = keys if packing is None else packing.packed()
            stated = (pl.col(ids.get(name, name)).alias(name) for name in sources)
            yield coded.select(*stated, *own_keys, *(pl.col(own).alias(column) for column, own in renamed.items()))

    numbers = [
        *(f"{name} {'string' if name in ids else 'int'}" for name in sources),
        *(f"{name} {'int' if packing is None else 'bigint'}" for name in keys),
    ]
    rows = cells.mapped(columns, kernel, ", ".join([*numbers, *(f"{column} string" for column in renamed)]))
    if groups is None or groups.people is None:
        return rows
    return groups.people.added(rows.withColumn("cell", rows[next(iter(ids))]), groups.packing)


def _groups(dealing: Dealing, spark: SparkSession) -> tuple[DataFrame, DataFrame]:
    """Return the tuples, with the ranks of their group if they have one; and the entries of those that have several."""
    import polars as pl

    of_tuple, rows, groups = dealing.entries
    starts = np.flatnonzero(np.diff(of_tuple, prepend=-1) != 0)
    sizes = np.diff(starts, append=len(rows))
    place = np.cumsum(rows) - rows
    place -= np.repeat(place[starts], sizes)
    gone = (groups < 0).astype(np.int32)
    ranks = {f"r{i}": of_group.astype(np.int32) for i, (_, of_group) in enumerate(dealing.cells.values())}
    shown = {name: np.where(gone == 1, 0, each[np.maximum(groups, 0)]) for name, each in ranks.items()} | {"gone": gone}
    shown |= {"g": groups} if dealing.layout.centers else {}
    keys = {f"k{i}": dealing.tuples[:, i].astype(np.int32) for i in range(dealing.tuples.shape[1])}
    numbers = np.arange(len(dealing.tuples), dtype=np.int64)
    single = (sizes == 1).astype(np.int32)
    firsts = {name: each[starts].astype(np.int32) for name, each in shown.items()}
    tuples = pl.DataFrame({"t": numbers, "several": 1 - single, **keys, **firsts})
    several = np.repeat(single == 0, sizes)
    own = {name: each[several].astype(np.int32) for name, each in shown.items()}
    entries = pl.DataFrame({"t": of_tuple[several].astype(np.int64), "place": place[several].astype(np.int64), **own})
    return frame_of(spark, tuples), frame_of(spark, entries)


def _searched(groups: SearchedGroups, ranks: list[str]) -> tuple[DataFrame, DataFrame]:
    """Return the same of groups that executors found: each entry knows whether its tuple has several."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = groups.packing.names
    entries = groups.entries.withColumn("gone", F.lit(0)).drop("rows")
    if groups.left_out is not None:
        none = {rank: F.lit(0) for rank in ranks} | {"gone": F.lit(1)}
        entries = entries.unionByName(groups.left_out.withColumns(none))
    tuples = entries.where(F.col("place") == 0).select(*keys, "several", *ranks)
    return tuples, entries.where(F.col("several") == 1).select(*keys, "place", *ranks)


def _deal(placed: DataFrame, entries: DataFrame, ids: list[str], ranks: list[str], carried: list[str]) -> DataFrame:
    """Give each row the entry of its tuple that begins last at or before its place; rows count from 1."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    by_place = Window.partitionBy(*ids).orderBy("place", "is_row").rowsBetween(Window.unboundedPreceding, 0)
    marks = entries.select(*ids, (F.col("place") + 1).alias("place"), F.lit(0).alias("is_row"), *ranks)
    rows = placed.withColumn("is_row", F.lit(1))
    both = rows.unionByName(marks, allowMissingColumns=True)
    filled = [F.last(rank, ignorenulls=True).over(by_place).alias(rank) for rank in ranks]
    return both.select("is_row", *filled, *carried).where(F.col("is_row") == 1).drop("is_row").select(*ranks, *carried)
