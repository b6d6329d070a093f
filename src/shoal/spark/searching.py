"""Sections cut and searched by executors: tuples and groups stay with them, the driver decides from counts of codes."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.methods.sections import SMALLEST_SHARE, find_cut
from shoal.methods.shoaling.pricing import Pricing
from shoal.metrics.measure import GroupSizes
from shoal.metrics.partition_loss import CellFacts
from shoal.metrics.singled import Singled, added_figures
from shoal.release.counted_tables.section_search import SectionSearch
from shoal.spark.counting import added_up, counted_by
from shoal.spark.jobs import batches, kernel_of_batches, polars_of
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from shoal.spark.cells import Cells

__all__ = ["Cuts", "SearchedGroups", "SparkFound", "count_codes", "search_sections"]

Codes = NDArray[np.int32]
Dictionaries = Mapping[str, tuple["pl.Series", Codes]]
Run = Callable[[Callable[[], Any]], Any]  # runs a job that can be cancelled


@dataclass
class Cuts:
    """Sections and the cuts between them, as a tree of nodes; the first is the whole table.

    Attributes:
        cut: For each node, the column by whose codes it is cut and which of them go left; None for a section.
        sides: For each node that is cut, its two sides.
    """

    cut: list[tuple[int, NDArray[np.bool_]] | None] = field(default_factory=lambda: [None])
    sides: dict[int, tuple[int, int]] = field(default_factory=dict)

    def divide(self, node: int, column: int, goes_left: NDArray[np.bool_]) -> tuple[int, int]:
        """Cut a section in two; return the numbers of the new nodes."""
        self.cut[node] = column, goes_left
        self.sides[node] = len(self.cut), len(self.cut) + 1
        self.cut += [None, None]
        return self.sides[node]

    def nodes_of(self, codes: Codes) -> Codes:
        """Return the node of the section of each tuple."""
        found = np.zeros(len(codes), dtype=np.int32)
        pending = [(0, np.arange(len(codes)))]
        while pending:
            node, tuples = pending.pop()
            cut = self.cut[node]
            if cut is None or not len(tuples):
                found[tuples] = node
                continue
            is_left = cut[1][codes[tuples, cut[0]]]
            left, right = self.sides[node]
            pending += [(left, tuples[is_left]), (right, tuples[~is_left])]
        return found

    def numbers(self) -> dict[int, int]:
        """Return the number of each section by its node: sections count from left to right."""
        order, pending = [], [0]
        while pending:
            node = pending.pop()
            if node in self.sides:
                pending += reversed(self.sides[node])
            else:
                order.append(node)
        return {node: number for number, node in enumerate(order)}


def count_codes(cells: Cells, dictionaries: Dictionaries) -> tuple[DataFrame, Packing]:
    """Count the rows by the codes of columns: packed tuples, and n."""
    from pyspark.sql import functions as F  # noqa: N812

    packing = Packing.of([int(codes.max(initial=0)) + 1 for _, codes in dictionaries.values()])
    tables = list(dictionaries.values())

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        coding = [pl.DataFrame({f"c{i}": texts, f"k{i}": codes}) for i, (texts, codes) in enumerate(tables)]

        def coded() -> Iterator[pl.DataFrame]:
            for frame in frames:
                own = frame
                for i, table in enumerate(coding):
                    own = own.join(table, on=f"c{i}", how="left", maintain_order="left")
                yield own.select(packing.packed())

        return added_up(counted_by(coded(), packing.names), packing.names)

    schema = ", ".join([*(f"{name} bigint" for name in packing.names), "n bigint"])
    counted = cells.mapped(list(dictionaries), kernel, schema)
    return counted.groupBy(*packing.names).agg(F.sum("n").alias("n")), packing


def _cut(tuples: DataFrame, packing: Packing, pricing: Pricing, n_tuples: int, largest: int, run: Run) -> Cuts:
    """Cut the tuples into sections of at most so many, a level at a time; see `shoal.methods.sections`."""
    cuts, large = Cuts(), {0: n_tuples}
    while large := {node: n for node, n in large.items() if n > largest}:
        found = run(lambda: _histograms(tuples, packing, pricing, cuts, set(large)))  # noqa: B023 - run at once
        smaller: dict[int, int] = {}
        for node in large:
            cut = find_cut(found[node], pricing.prices, least=max(1, largest // SMALLEST_SHARE))
            if cut is not None:
                column, goes_left = cut
                n_left = int(found[node][column][goes_left].sum())
                left, right = cuts.divide(node, column, goes_left)
                smaller |= {left: n_left, right: large[node] - n_left}
        large = smaller
    return cuts


def _histograms(
    tuples: DataFrame, packing: Packing, pricing: Pricing, cuts: Cuts, nodes: set[int]
) -> dict[int, list[NDArray[np.int64]]]:
    """Count the tuples of some sections by code, column after column."""
    from pyspark.sql import functions as F  # noqa: N812

    offsets = pricing.prices.offsets
    n_codes = int(offsets[-1])

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        found: dict[int, NDArray[np.int64]] = {}
        for frame in frames:
            codes = pricing.codes(packing.codes(frame))
            of_tuples = cuts.nodes_of(codes)
            for node in nodes.intersection(np.unique(of_tuples).tolist()):
                own = (codes[of_tuples == node] + offsets[:-1]).ravel()
                found[node] = found.get(node, 0) + np.bincount(own, minlength=n_codes)
        for node, counts in found.items():
            present = np.flatnonzero(counts)
            yield pl.DataFrame({"node": np.full(len(present), node), "code": present, "n": counts[present]})

    counted = tuples.mapInArrow(kernel_of_batches(kernel), "node bigint, code bigint, n bigint")
    sums = polars_of(counted.groupBy("node", "code").agg(F.sum("n").alias("n")))
    histograms = {node: np.zeros(n_codes, dtype=np.int64) for node in nodes}
    for (node,), own in sums.group_by("node"):
        histograms[int(str(node))][own["code"].to_numpy()] = own["n"].to_numpy()
    return {node: np.split(counts, offsets[1:-1]) for node, counts in histograms.items()}


def search_sections(
    tuples: DataFrame, packing: Packing, search: SectionSearch, n_tuples: int, largest: int, run: Run
) -> SparkFound:
    """Cut the tuples into sections and have executors search them, each in one task."""
    from pyspark import StorageLevel

    pricing = search.plan.pricing
    cuts = _cut(tuples, packing, pricing, n_tuples, largest, run)
    numbers = cuts.numbers()
    n_columns = len(packing.cards)

    def place(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        for frame in frames:
            nodes = cuts.nodes_of(pricing.codes(packing.codes(frame))).tolist()
            yield frame.with_columns(pl.Series("section", [numbers[node] for node in nodes], dtype=pl.Int32))

    def group(table: Any) -> Any:
        import polars as pl
        import pyarrow as pa

        frame = pl.DataFrame(pl.from_arrow(table)).sort(packing.names)
        number = int(frame["section"][0])
        found = search.group(packing.codes(frame), frame["n"].to_numpy().astype(np.int64), number)
        of_tuples = frame.select(packing.names)[found.tuples.astype(np.int64)]
        entries = of_tuples.with_columns(
            pl.Series("several", found.several.astype(np.int32)),
            pl.Series("place", found.places),
            pl.Series("rows", found.rows),
            *(pl.Series(f"c{i}", keys.tolist(), dtype=pl.String) for i, keys in enumerate(found.cells)),
            pl.lit(None, pl.String).alias("facts"),
        )
        facts = base64.b64encode(pickle.dumps((number, found.sse, found.singled))).decode()
        whole = pl.concat([entries, pl.DataFrame({"facts": [facts]})], how="diagonal")
        return pa.Table.from_batches(batches([whole], max(1, whole.height)))

    schema = [f"{name} bigint" for name in packing.names] + ["several int", "place bigint", "rows bigint"]
    schema += [f"c{i} string" for i in range(n_columns)] + ["facts string"]
    columns = ", ".join([*(f"{name} bigint" for name in packing.names), "n bigint", "section int"])
    placed = tuples.mapInArrow(kernel_of_batches(place), columns)
    # By a number of our own: adaptive execution would join small parts, and few tasks would search.
    spread = placed.repartition(2 * len(numbers), "section")
    found = spread.groupBy("section").applyInArrow(group, ", ".join(schema)).persist(StorageLevel.DISK_ONLY)
    groups: SparkFound = run(lambda: SparkFound.of(found, packing, n_columns, run))
    return groups


@dataclass(frozen=True)
class SearchedGroups:
    """Entries with the ranks of their cells: r0, r1 and so on.

    Attributes:
        packing: How tuples are packed.
        entries: The packed tuple, several, place, rows and ranks of each entry.
    """

    packing: Packing
    entries: DataFrame


@dataclass(frozen=True)
class SparkFound:
    """The groups of all sections, as a Spark frame; see `shoal.release.counted_tables.in_place.Found`."""

    kept: DataFrame
    entries: DataFrame
    packing: Packing
    cells: list[tuple[list[str], NDArray[np.int64]]]
    sse: float
    singled: Singled
    run: Run

    @classmethod
    def of(cls, found: DataFrame, packing: Packing, n_columns: int, run: Run) -> SparkFound:
        """Fetch the distinct cells of each column, and what sections add up to."""
        from pyspark.sql import functions as F  # noqa: N812

        texts = found.where("facts is not null").select("facts").toArrow().column(0).to_pylist()
        facts = sorted((pickle.loads(base64.b64decode(text)) for text in texts), key=lambda each: each[0])
        entries = found.where("facts is null").drop("facts")

        def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
            import polars as pl

            def counted(frame: pl.DataFrame) -> pl.DataFrame:
                return pl.concat(
                    frame.group_by(pl.col(f"c{i}").alias("cell"))
                    .agg(pl.col("rows").sum())
                    .select(pl.lit(i, pl.Int32).alias("column"), "cell", "rows")
                    for i in range(n_columns)
                )

            return added_up(map(counted, frames), ["column", "cell"])

        counted = entries.mapInArrow(kernel_of_batches(kernel), "column int, cell string, rows bigint")
        sums = polars_of(counted.groupBy("column", "cell").agg(F.sum("rows").alias("rows"))).sort("column", "cell")
        cells = []
        for _, own in sums.group_by("column", maintain_order=True):
            cells.append((own["cell"].to_list(), own["rows"].to_numpy().astype(np.int64)))
        sse, singled = sum(each[1] for each in facts), added_figures([each[2] for each in facts])
        return cls(found, entries, packing, cells, sse, singled, run)

    def group_sizes(self, columns: Sequence[CellFacts], n_rows: int) -> GroupSizes:
        """Return the sizes of the groups that the release shows, and the rows that are exact in every column."""
        from pyspark.sql import functions as F  # noqa: N812

        ranks = [f"r{i}" for i in range(len(columns))]
        more = {"exact": [c.exact for c in columns], "starred": [c.starred for c in columns]}
        shown = self._mapped([c.ranks.astype(np.int32) for c in columns], more, [])
        groups = shown.groupBy(*ranks).agg(*(F.sum(name).alias(name) for name in ("rows", "exact", "starred")))
        sizes = groups.groupBy("rows").agg(
            F.count("rows").alias("times"), F.sum("exact").alias("exact"), F.sum("starred").alias("starred")
        )
        found = self.run(lambda: polars_of(sizes)).sort("rows")
        rows, times = (found[name].to_numpy().astype(np.int64) for name in ("rows", "times"))
        n_starred, n_exact = (int(found[name].sum()) for name in ("starred", "exact"))
        return GroupSizes(rows, n_rows, int(rows @ times), n_starred, n_exact, times)

    def count_rows(self, chosen: Sequence[Sequence[NDArray[np.bool_]]]) -> list[int]:
        """Count the rows whose cells are all chosen; several choices together."""
        from pyspark.sql import functions as F  # noqa: N812

        names = [f"f{i}" for i in range(len(chosen))]
        shown = self._mapped([], dict(zip(names, chosen, strict=True)), [])
        sums = shown.agg(*(F.sum(name).alias(name) for name in names))
        found = self.run(lambda: polars_of(sums))
        return [int(found[name][0]) for name in names]

    def ranked(self, ranks: Sequence[NDArray[np.int32]]) -> SearchedGroups:
        """Return the groups with the ranks of their cells."""
        return SearchedGroups(self.packing, self._mapped(ranks, {}, [*self.packing.names, "several", "place"]))

    def _mapped(
        self, ranks: Sequence[NDArray[np.int32]], flags: Mapping[str, Sequence[NDArray[np.bool_]]], kept: list[str]
    ) -> DataFrame:
        """Return entries with ranks of cells, and for each set of flags the rows whose cells all have them."""
        keys = [keys for keys, _ in self.cells]
        shown = [f"r{i}" for i in range(len(ranks))]

        def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
            import polars as pl

            tables = []
            for i, own in enumerate(keys):
                columns = {f"c{i}": pl.Series(own, dtype=pl.String)}
                columns |= {f"r{i}": pl.Series(ranks[i], dtype=pl.Int32)} if len(ranks) else {}
                columns |= {f"{name}{i}": pl.Series(flags[name][i]) for name in flags}
                tables.append(pl.DataFrame(columns))
            for frame in frames:
                whole = frame
                for i, table in enumerate(tables):
                    whole = whole.join(table, on=f"c{i}", how="left", maintain_order="left")
                sums = [
                    pl.when(pl.all_horizontal([f"{name}{i}" for i in range(len(keys))]))
                    .then("rows")
                    .otherwise(0)
                    .cast(pl.Int64)
                    .alias(name)
                    for name in flags
                ]
                yield whole.select(*kept, "rows", *shown, *sums)

        kinds = {"several": "int"}
        schema = [f"{name} {kinds.get(name, 'bigint')}" for name in [*kept, "rows"]]
        schema += [f"{name} int" for name in shown] + [f"{name} bigint" for name in flags]
        return self.entries.mapInArrow(kernel_of_batches(kernel), ", ".join(schema))
