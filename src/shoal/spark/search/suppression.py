"""Groups that rows may leave, as a Spark frame: Spark adds up what leaving saves; a task works on one section."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.methods.suppression.leaving import Bound
from shoal.release.counted_tables.sections.suppression import OUTLIERS, SectionSuppression, settle
from shoal.spark.jobs import polars_of
from shoal.spark.search.cutting import Run
from shoal.spark.search.entries import (
    arrow_of,
    entries_of,
    held_columns,
    reported,
    reports_of,
    schema_of,
    shown_columns,
)
from shoal.spark.search.found import SectionFacts, SparkFound

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["SparkHeld"]

Counts = NDArray[np.int64]


class SparkHeld:
    """The groups of all sections as a Spark frame; see `HeldSections`.

    Args:
        entries: The entries of all sections, with the node of each as `section`.
        suppression: What is done in a section.
        numbers: By node, the number of its section; nodes are in order.
        run: Runs a job.
        keep: Hears of frames that are kept until the end of the run.
    """

    def __init__(
        self,
        entries: DataFrame,
        suppression: SectionSuppression,
        numbers: Mapping[int, int],
        run: Run,
        keep: Callable[[DataFrame], None],
    ) -> None:
        self._first = self._entries = entries
        self._suppression, self._numbers, self._run, self._keep = suppression, numbers, run, keep

    def show(self) -> SparkFound:
        """Decide which rows leave, and return the groups of all sections with their cells."""
        suppression, packing, run = self._suppression, self._suppression.packing, self._run
        bounds = self._by_node(settle(self, suppression.search))
        n_shown = suppression.search.n_shown
        columns = shown_columns(packing, n_shown)

        def task(table: Any) -> Any:
            node, held = _held(table)
            units, groups = suppression.show(held, bounds[node])
            return reported(entries_of(units, groups, node), node, SectionFacts.of(groups), columns)

        shown = self._stored(self._mapped(self._entries, task, schema_of(columns)))
        facts: dict[int, SectionFacts] = run(lambda: reports_of(shown))
        entries = shown.where("facts is null").drop("facts", "section")
        of_sections = [facts[node] for node in self._numbers]
        kept = entries.where("c0 != ''")  # what is not released has no cells
        found: SparkFound = run(lambda: SparkFound.of(kept, of_sections, packing, n_shown, run))
        if int(found.cells[0][1].sum()) == suppression.search.whole.n_rows:
            return found
        return replace(found, left_out=entries.where("c0 = ''").select(*packing.names, "several", "place"))

    def sums(self, column: str, shift: int, low: int, high: int) -> tuple[NDArray[np.int64], Counts]:
        """Add up rows by what entries save as outliers or others; see `shoal.methods.suppression.leaving.RowSums`."""
        from pyspark.sql import functions as F  # noqa: N812

        chosen = self._entries.where((F.col(column) >= low) & (F.col(column) < high))
        worth = F.shiftright(column, shift).alias("worth")
        found = self._fetched(chosen.groupBy(worth).agg(F.sum("rows").alias("rows"))).sort("worth")
        return found["worth"].to_numpy().astype(np.int64), found["rows"].to_numpy().astype(np.int64)

    def rows_worth(self, column: str, worth: int) -> Counts:
        """Return the rows of each section, in order, that save exactly this."""
        from pyspark.sql import functions as F  # noqa: N812

        chosen = self._entries.where(F.col(column) == worth)
        found = self._fetched(chosen.groupBy("section").agg(F.sum("rows").alias("rows")))
        rows = dict(zip(found["section"].to_list(), found["rows"].to_list(), strict=True))
        return np.array([rows.get(node, 0) for node in self._numbers], dtype=np.int64)

    def regroup(self, bounds: Sequence[Bound]) -> int:
        """Group the sections that outliers leave again; bounds: of each section. Return how many rows leave."""
        from pyspark.sql import functions as F  # noqa: N812

        suppression, numbers, of_nodes = self._suppression, self._numbers, self._by_node(bounds)
        least = max(1, bounds[0].worth)
        leaving = self._entries.where(F.col(OUTLIERS) >= least).select("section").distinct()
        nodes = self._fetched(leaving)["section"].to_list()
        if not nodes:
            return 0
        columns = held_columns(suppression)

        def task(table: Any) -> Any:
            node, held = _held(table)
            found = suppression.regroup(held, numbers[node], of_nodes[node])
            return reported(held if found is None else found, node, None, columns)

        changed = self._entries.where(F.col("section").isin(nodes))
        again = self._stored(self._mapped(changed, task, schema_of(columns))).where("facts is null").drop("facts")
        self._entries = self._entries.where(~F.col("section").isin(nodes)).unionByName(again)
        gone = [each.where("`group` < 0").agg(F.sum("rows").alias("rows")) for each in (changed, again)]
        before, after = (int(self._fetched(each)["rows"][0] or 0) for each in gone)
        return after - before

    def restore(self) -> None:
        """Return to the groups before outliers left."""
        self._entries = self._first

    def count_gone(self, bounds: Sequence[Bound]) -> list[Counts]:
        """Count the rows that are not released then, by the codes of each sensitive column."""
        from pyspark.sql import functions as F  # noqa: N812

        suppression, of_nodes = self._suppression, self._by_node(bounds)

        def task(table: Any) -> Any:
            import polars as pl

            node, held = _held(table)
            counts = suppression.count_gone(held, of_nodes[node])
            parts = [
                pl.DataFrame({"place": np.full(len(own), i), "code": np.arange(len(own)), "rows": own})
                for i, own in enumerate(counts)
            ]
            return arrow_of(pl.concat(parts))

        counted = self._mapped(self._entries, task, "place bigint, code bigint, rows bigint")
        found = self._fetched(counted.groupBy("place", "code").agg(F.sum("rows").alias("rows"))).sort("place", "code")
        return [own["rows"].to_numpy().astype(np.int64) for _, own in found.group_by("place", maintain_order=True)]

    def pass_then(self, bounds: Sequence[Bound], totals: Sequence[Counts]) -> bool:
        """Say whether all groups pass then; totals: the rows of each sensitive code in the release."""
        suppression, of_nodes = self._suppression, self._by_node(bounds)

        def task(table: Any) -> Any:
            import polars as pl

            node, held = _held(table)
            return arrow_of(pl.DataFrame({"passing": [int(suppression.passes(held, of_nodes[node], totals))]}))

        found = self._fetched(self._mapped(self._entries, task, "passing bigint"))
        return bool((found["passing"] == 1).all())

    def _by_node(self, bounds: Sequence[Bound]) -> dict[int, Bound]:
        return dict(zip(self._numbers, bounds, strict=True))

    def _mapped(self, entries: DataFrame, task: Callable[[Any], Any], schema: str) -> DataFrame:
        """Return what a task makes of each section."""
        # By a number of our own: adaptive execution would join small parts, and few tasks would work.
        spread = entries.repartition(2 * len(self._numbers), "section")
        return spread.groupBy("section").applyInArrow(task, schema)

    def _stored(self, frame: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        stored = frame.persist(StorageLevel.DISK_ONLY)
        self._keep(stored)
        return stored

    def _fetched(self, frame: DataFrame) -> pl.DataFrame:
        found: pl.DataFrame = self._run(lambda: polars_of(frame))
        return found


def _held(table: Any) -> tuple[int, pl.DataFrame]:
    """Return the node of a section, and its entries in order."""
    import polars as pl

    held = pl.DataFrame(pl.from_arrow(table)).sort("entry")
    return int(held["section"][0]), held
