"""Large sections are cut: tasks count the codes of each, and the driver decides where to cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.methods.sections import Cut, Proposals, Ruling
from shoal.release.counted_tables.sections.plan import PartCounts, Sectioning
from shoal.spark.counting import added_up
from shoal.spark.jobs import kernel_of_batches, polars_of
from shoal.spark.search.pieces import Cuts, Units
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["Located", "Proposed", "Run", "cut_tuples"]

Run = Callable[[Callable[[], Any]], Any]  # runs a job that can be cancelled


class _Histograms(NamedTuple):
    """How many tuples or units, and how many rows, have each code, column after column."""

    tuples: list[NDArray[np.int64]]
    rows: list[NDArray[np.int64]]


class Located(NamedTuple):
    """A cut whose last lent row was found.

    Attributes:
        cut: The cut.
        units: How many units have lent rows.
        divided: How many of them, 0 or 1, have other rows, too.
    """

    cut: Cut
    units: int = 0
    divided: int = 0

    def sizes(self, tuples: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the tuples or units of each part; tuples: those of each code, column after column."""
        sizes = np.bincount(self.cut.parts, tuples[self.cut.column]).astype(np.int64)
        if self.cut.loan is not None:
            sizes[0] += self.units
            sizes[self.cut.parts[self.cut.loan.codes[0]]] -= self.units - self.divided
        return sizes


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
            located = {node: Located(cut) for node, cut in proposed.items()}
            if lending := {node: cut for node, cut in proposed.items() if cut.loan is not None}:
                located |= run(lambda: Proposed(packing, plan, cuts, lending).locate(tuples))
            asked = {node: each.cut for node, each in located.items() if not each.cut.is_settled}
            rulings = dict.fromkeys(proposed, Ruling.ALLOWED)
            rulings |= Proposed(packing, plan, cuts, asked).rulings(tuples, run)
            for node, each in located.items():
                if rulings[node] is not Ruling.ALLOWED:
                    waiting[node].hear(each.cut, rulings[node])
                    continue
                sizes = each.sizes(counted[node].tuples)
                parts = cuts.separate(node, each.cut, 0, len(sizes) - 1)
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
            units = Units.of(frame, packing, plan)
            keeps = None if plan.leaving is None else plan.leaving.keeps(units.codes)
            for node, pieces in cuts.place(units).items():
                if node not in nodes:
                    continue
                own = (units.columns[pieces.unit] + starts[:-1]).ravel()
                rows = pieces.rows if keeps is None else np.where(keeps[pieces.unit], pieces.rows, 0)
                weights = np.repeat(rows, units.columns.shape[1])
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
class Proposed:
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

    def locate(self, tuples: DataFrame) -> dict[int, Located]:
        """Find the last row that each cut lends; all of them lend some."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812

        packing, names = self.packing, self.packing.names
        loans = {node: (cut.column, cut.loan) for node, cut in self.proposed.items() if cut.loan is not None}

        def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
            import polars as pl

            for frame in frames:
                units = Units.of(frame, packing, self.plan)
                keeps = None if self.plan.leaving is None else self.plan.leaving.keeps(units.codes)
                for node, pieces in self.cuts.place(units).items():
                    if node not in loans:
                        continue
                    column, loan = loans[node]
                    lends = np.isin(units.columns[pieces.unit, column], loan.codes)
                    rows = pieces.rows if keeps is None else np.where(keeps[pieces.unit], pieces.rows, 0)
                    own = {name: key[pieces.unit] for name, key in zip(names, units.keys, strict=True)}
                    own |= {"start": pieces.start, "n": rows}
                    placed = pl.DataFrame(own).filter(lends)
                    yield placed.with_columns(node=pl.lit(node, pl.Int64), lent=pl.lit(loan.rows, pl.Int64))

        columns = [*names, "start", "n", "node", "lent"]
        lenders = tuples.mapInArrow(kernel_of_batches(kernel), ", ".join(f"{name} bigint" for name in columns))
        window = Window.partitionBy("node").orderBy(*names)
        upto = window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        running = lenders.withColumns({"upto": F.sum("n").over(upto), "number": F.row_number().over(window)})
        found = {}
        for row in polars_of(running.where("upto >= lent and upto - n < lent")).iter_rows(named=True):
            _, loan = loans[row["node"]]
            more = row["upto"] - row["lent"]  # rows of the last unit that are not lent
            last = *(row[name] for name in names), row["start"] + row["n"] - more
            cut = self.proposed[row["node"]]._replace(loan=loan._replace(last=last))
            found[row["node"]] = Located(cut, row["number"], int(more > 0))
        return found

    def _placed(self, frame: pl.DataFrame) -> tuple[NDArray[np.int32], pl.DataFrame]:
        """Return the codes of pieces of units, and of each its section, its part by the cut and its rows."""
        import polars as pl

        units = Units.of(frame, self.packing, self.plan)
        inside = self.cuts.place(units)
        nothing = np.empty(0, dtype=np.int64)
        places, columns = [nothing], {name: [nothing] for name in ("node", "part", "n")}
        for node, cut in self.proposed.items():
            for part, side in enumerate(inside[node].sides(cut.division(), units) if node in inside else ()):
                places.append(side.unit)
                own = cut.parts[units.columns[side.unit, cut.column]] * part  # what is lent has part 0
                for name, values in (("node", np.full(len(own), node)), ("part", own), ("n", side.rows)):
                    columns[name].append(values)
        placed = pl.DataFrame({name: np.concatenate(values) for name, values in columns.items()})
        codes = units.codes[np.concatenate(places)]
        if self.plan.leaving is not None:
            keeps = self.plan.leaving.keeps(codes)
            codes, placed = codes[keeps], placed.filter(keeps)
        return codes, placed.cast({"node": pl.Int32, "part": pl.Int32})

    def _count_people(self, tuples: DataFrame) -> dict[int, NDArray[np.int64]]:
        """Count the people of each part."""
        import polars as pl

        placed = self._placed

        def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
            for frame in frames:
                codes, own = placed(frame)
                yield own.select("node", "part").with_columns(person=codes[:, -1]).unique()

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
                    own = of_units.with_columns(**{name: pl.Series(own) for name, own in beside.items()})
                    own = own.group_by("node", "part", *beside).agg(pl.col("n").sum())
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
