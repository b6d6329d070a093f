"""Sections and the cuts between them: tasks count the codes of large ones, and the driver decides where to cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.methods.sections import Cut, Proposals, Ruling
from shoal.release.counted_tables.sections.plan import PartCounts, Sectioning
from shoal.spark.counting import added_up
from shoal.spark.jobs import kernel_of_batches, polars_of
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["Cuts", "Run", "cut_tuples"]

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

    def nodes_of(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
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

    def close(self, node: int) -> None:
        """Undo the cuts of a node, which becomes a section."""
        self.cut[node] = None
        del self.sides[node]

    def parents(self) -> dict[int, int]:
        """Return the node that each node was cut from."""
        return {side: node for node, sides in self.sides.items() for side in sides}

    def numbers(self) -> dict[int, int]:
        """Return the number of each section by its node, in order: sections count from left to right."""
        order, pending = [], [0]
        while pending:
            node = pending.pop()
            if node in self.sides:
                pending += reversed(self.sides[node])
            else:
                order.append(node)
        return {node: number for number, node in enumerate(order)}

    def separate(self, node: int, cut: Cut, first: int, last: int) -> dict[int, int]:
        """Separate some parts of a cut by halves; return the part of each new node."""
        if first == last:
            return {node: first}
        middle = (first + last) // 2
        left, right = self.divide(node, cut.column, cut.parts <= middle)
        return self.separate(left, cut, first, middle) | self.separate(right, cut, middle + 1, last)


class _Histograms(NamedTuple):
    """How many tuples or units, and how many rows, have each code, column after column."""

    tuples: list[NDArray[np.int64]]
    rows: list[NDArray[np.int64]]


def cut_tuples(tuples: DataFrame, packing: Packing, plan: Sectioning, n_tuples: int, largest: int, run: Run) -> Cuts:
    """Cut the tuples into sections of at most so many, a level at a time; see `shoal.methods.sections.cut_by`."""
    cuts, large = Cuts(), {0: n_tuples}
    while large := {node: n for node, n in large.items() if n > largest}:
        counted = run(lambda: _histograms(tuples, packing, plan, cuts, set(large)))  # noqa: B023 - run at once
        waiting = {
            node: Proposals(plan.cuts(found.rows if plan.by_rows else found.tuples, largest))
            for node, found in counted.items()
        }
        large = {}
        while proposed := {node: cut for node, each in waiting.items() if (cut := each.next()) is not None}:
            asked = {node: cut for node, cut in proposed.items() if not cut.is_settled}
            rulings = dict.fromkeys(proposed, Ruling.ALLOWED)
            rulings |= _Proposed(packing, plan, cuts, asked).rulings(tuples, run)
            for node, cut in proposed.items():
                if rulings[node] is not Ruling.ALLOWED:
                    waiting[node].hear(cut, rulings[node])
                    continue
                sizes = np.bincount(cut.parts, counted[node].tuples[cut.column]).astype(np.int64)
                parts = cuts.separate(node, cut, 0, len(sizes) - 1)
                large |= {side: int(sizes[part]) for side, part in parts.items()}
                del waiting[node]
            waiting = {node: each for node, each in waiting.items() if node in proposed}
    return cuts


def _histograms(
    tuples: DataFrame, packing: Packing, plan: Sectioning, cuts: Cuts, nodes: set[int]
) -> dict[int, _Histograms]:
    """Count the tuples or units of some sections, and their rows, by code."""
    from pyspark.sql import functions as F  # noqa: N812

    starts = np.cumsum([0, *plan.n_codes])
    n_codes = int(starts[-1])

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        found: dict[int, NDArray[np.int64]] = {}
        for frame in frames:
            codes, rows = plan.codes(packing.tuples(frame)), frame["n"].to_numpy()
            if plan.leaving is not None:
                rows = np.where(plan.leaving.keeps(packing.codes(frame)), rows, 0)
            of_tuples = cuts.nodes_of(codes)
            for node in nodes.intersection(np.unique(of_tuples).tolist()):
                inside = of_tuples == node
                own = (codes[inside] + starts[:-1]).ravel()
                weights = np.repeat(rows[inside], codes.shape[1])
                counts = np.stack([np.bincount(own, each, n_codes) for each in (None, weights)]).astype(np.int64)
                found[node] = found.get(node, 0) + counts
        for node, (counts, weighted) in found.items():
            present = np.flatnonzero(counts)
            columns = {"code": present, "n": counts[present], "rows": weighted[present]}
            yield pl.DataFrame({"node": np.full(len(present), node), **columns})

    counted = tuples.mapInArrow(kernel_of_batches(kernel), "node bigint, code bigint, n bigint, rows bigint")
    sums = counted.groupBy("node", "code").agg(F.sum("n").alias("n"), F.sum("rows").alias("rows"))
    histograms = {node: np.zeros((2, n_codes), dtype=np.int64) for node in nodes}
    for (node,), own in polars_of(sums).group_by("node"):
        histograms[int(str(node))][:, own["code"].to_numpy()] = own["n"].to_numpy(), own["rows"].to_numpy()
    return {
        node: _Histograms(*(np.split(each, starts[1:-1]) for each in counts)) for node, counts in histograms.items()
    }


@dataclass(frozen=True)
class _Proposed:
    """Cuts that some sections propose.

    Attributes:
        packing: How tuples or units are packed.
        plan: Says whether a cut may be made.
        cuts: The cuts so far.
        proposed: The cuts, by section.
    """

    packing: Packing
    plan: Sectioning
    cuts: Cuts
    proposed: Mapping[int, Cut]

    def rulings(self, tuples: DataFrame, run: Run) -> dict[int, Ruling]:
        """Say of each cut whether it may be made; models are asked only where there are enough people."""
        plan, people = self.plan, dict[int, NDArray[np.int64]]()
        if plan.counts_people and self.proposed:
            people = run(lambda: self._count_people(tuples))
        few = {node for node, own in people.items() if (own < plan.least).any()}
        enough = replace(self, proposed={node: cut for node, cut in self.proposed.items() if node not in few})
        rulings = dict.fromkeys(few, Ruling.FEW_PEOPLE) | dict.fromkeys(enough.proposed, Ruling.ALLOWED)
        if plan.judged and enough.proposed:
            for node, counted in run(lambda: enough._count_parts(tuples)).items():
                if not plan.passes(counted, people.get(node)):
                    rulings[node] = Ruling.REFUSED
        return rulings

    def _placed(self, frame: pl.DataFrame) -> tuple[NDArray[np.int32], pl.DataFrame]:
        """Return the codes of units, and of each its section and its part by the cut, -1 if it has none."""
        import polars as pl

        codes = self.packing.codes(frame)
        columns = self.plan.codes(np.ascontiguousarray(codes[:, : self.packing.n_keys]))
        nodes, parts = self.cuts.nodes_of(columns), np.full(len(codes), -1, dtype=np.int32)
        for node, cut in self.proposed.items():
            inside = nodes == node
            parts[inside] = cut.parts[columns[inside, cut.column]]
        if self.plan.leaving is not None:
            parts[~self.plan.leaving.keeps(codes)] = -1
        return codes, pl.DataFrame({"node": nodes, "part": parts})

    def _count_people(self, tuples: DataFrame) -> dict[int, NDArray[np.int64]]:
        """Count the people of each part."""
        import polars as pl

        placed = self._placed

        def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
            import polars as pl

            for frame in frames:
                codes, own = placed(frame)
                yield own.with_columns(person=codes[:, -1]).filter(pl.col("part") >= 0).unique()

        pairs = tuples.mapInArrow(kernel_of_batches(kernel), "node int, part int, person int").distinct()
        found = polars_of(pairs.groupBy("node", "part").count()).sort("node", "part")
        return {
            node: found.filter(pl.col("node") == node)["count"].to_numpy().astype(np.int64) for node in self.proposed
        }

    def _count_parts(self, tuples: DataFrame) -> dict[int, list[PartCounts]]:
        """Count the rows of each part, for each model that is asked."""
        import polars as pl
        from pyspark.sql import functions as F  # noqa: N812

        judged, first, placed = self.plan.judged, self.packing.n_keys, self._placed
        names = [f"b{i}" for i in range(max(map(len, judged)))]
        keys = ["model", "node", "part", *names]

        def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
            import polars as pl

            def counted(frame: pl.DataFrame) -> pl.DataFrame:
                codes, of_units = placed(frame)
                found = []
                for model, places in enumerate(judged):
                    beside = {name: codes[:, first + place] for name, place in zip(names, places, strict=False)}
                    own = of_units.with_columns(n=frame["n"], **{name: pl.Series(own) for name, own in beside.items()})
                    own = own.filter(pl.col("part") >= 0).group_by("node", "part", *beside).agg(pl.col("n").sum())
                    blank = [pl.lit(0, pl.Int32).alias(name) for name in names if name not in beside]
                    found.append(own.with_columns(pl.lit(model, pl.Int32).alias("model"), *blank).select(*keys, "n"))
                return pl.concat(found)

            return added_up(map(counted, frames), keys)

        counts = tuples.mapInArrow(kernel_of_batches(kernel), ", ".join([*(f"{key} int" for key in keys), "n bigint"]))
        sums = polars_of(counts.groupBy(*keys).agg(F.sum("n").alias("n")))
        found: dict[int, list[PartCounts]] = {node: [] for node in self.proposed}
        for node, asked in found.items():
            for model, places in enumerate(judged):
                rows = sums.filter((pl.col("node") == node) & (pl.col("model") == model))
                beside = rows.select(names[: len(places)]).to_numpy().astype(np.int32)
                asked.append(PartCounts(rows["part"].to_numpy(), beside, rows["n"].to_numpy().astype(np.int64)))
        return found
