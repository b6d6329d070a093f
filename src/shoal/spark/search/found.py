"""The groups that executors found, as a Spark frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.measure import GroupSizes
from shoal.metrics.partition_loss import CellFacts
from shoal.metrics.singled import Singled, added_figures
from shoal.release.counted_tables.sections.search import SectionGroups, added_verdicts
from shoal.rules import RuleVerdict
from shoal.spark.counting import added_up
from shoal.spark.jobs import kernel_of_batches, polars_of
from shoal.spark.search.cutting import Run
from shoal.spark.search.people import CodedPeople, person_in_sql
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["SearchedGroups", "SectionFacts", "SparkFound"]


class SectionFacts(NamedTuple):
    """What the driver hears of the groups of a section; see `SectionGroups`."""

    sse: float
    singled: Singled
    verdicts: tuple[RuleVerdict, ...]
    passing: bool

    @classmethod
    def of(cls, groups: SectionGroups) -> SectionFacts:
        """Return what the driver hears of groups with their cells."""
        return cls(groups.sse, groups.singled, groups.verdicts, groups.passing)

    @classmethod
    def of_held(cls, *, passing: bool) -> SectionFacts:
        """Return what the driver hears of groups that rows may leave."""
        return cls(0.0, Singled(), (), passing)


@dataclass(frozen=True)
class SearchedGroups:
    """Entries with the ranks of their cells: r0, r1 and so on.

    Attributes:
        packing: How tuples or units are packed.
        entries: The packed tuple or unit, several, place, rows and ranks of each entry.
        people: The codes of people, if units are told apart by them.
        left_out: The packed tuple or unit, several and place of entries whose rows are not released; None if there are
            none.
    """

    packing: Packing
    entries: DataFrame
    people: CodedPeople | None = None
    left_out: DataFrame | None = None

    @property
    def leaves_out(self) -> bool:
        """Whether some rows are not released."""
        return self.left_out is not None


@dataclass(frozen=True)
class SparkFound:
    """The groups of all sections, as a Spark frame; see `shoal.release.counted_tables.searcher.Found`."""

    entries: DataFrame
    packing: Packing
    counted: list[tuple[pl.Series, NDArray[np.int64]]]
    sse: float
    singled: Singled
    verdicts: tuple[RuleVerdict, ...]
    run: Run
    people: CodedPeople | None = None
    left_out: DataFrame | None = None

    @classmethod
    def of(
        cls, entries: DataFrame, facts: Sequence[SectionFacts], packing: Packing, n_shown: int, run: Run
    ) -> SparkFound:
        """Count the distinct cells of each column, and add up what is known of sections.

        Args:
            entries: The packed tuple or unit, several, place, rows and keys of cells of each entry.
            facts: Of each section, in order.
            packing: How tuples or units are packed.
            n_shown: How many columns the centres of groups and their spread have.
            run: Runs a job.
        """
        from pyspark.sql import functions as F  # noqa: N812

        n_columns = packing.n_keys + n_shown

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
            cells.append((own["cell"], own["rows"].to_numpy().astype(np.int64)))
        return cls(
            entries,
            packing,
            cells,
            sum(each.sse for each in facts),
            added_figures([each.singled for each in facts]),
            added_verdicts([each.verdicts for each in facts]),
            run,
        )

    def group_sizes(self, columns: Sequence[CellFacts], n_rows: int) -> GroupSizes:
        """Return the sizes of the groups that the release shows, and the rows that are exact in every column."""
        from pyspark.sql import functions as F  # noqa: N812

        more = {"exact": [c.exact for c in columns], "starred": [c.starred for c in columns]}
        kept = [] if self.people is None else [self.packing.names[-1]]
        places = [np.arange(len(texts), dtype=np.int32) for texts, _ in self.shown]  # groups with equal centres are one
        of_cells = places or [c.ranks.astype(np.int32) for c in columns]
        ranks = [f"r{i}" for i in range(len(of_cells))]
        shown = self._mapped(of_cells, more, kept)
        groups = shown.groupBy(*ranks).agg(*(F.sum(name).alias(name) for name in ("rows", "exact", "starred")))
        sizes = groups.groupBy("rows").agg(
            F.count("rows").alias("times"), F.sum("exact").alias("exact"), F.sum("starred").alias("starred")
        )
        found = self.run(lambda: polars_of(sizes)).sort("rows")
        rows, times = (found[name].to_numpy().astype(np.int64) for name in ("rows", "times"))
        n_starred, n_exact = (int(found[name].sum()) for name in ("starred", "exact"))
        people = None
        if self.people is not None:
            pairs = shown.where("starred = 0").select(*ranks, person_in_sql(self.packing).alias("person")).distinct()
            held = pairs.groupBy(*ranks).agg(F.count("person").alias("n")).groupBy("n").agg(F.count("n").alias("times"))
            of_people = self.run(lambda: polars_of(held)).sort("n")
            people = np.repeat(*(of_people[name].to_numpy().astype(np.int64) for name in ("n", "times")))
        return GroupSizes(rows, n_rows, int(rows @ times), n_starred, n_exact, times, people)

    def count_rows(self, chosen: Sequence[Sequence[NDArray[np.bool_]]]) -> list[int]:
        """Count the rows whose cells are all chosen; several choices together."""
        from pyspark.sql import functions as F  # noqa: N812

        names = [f"f{i}" for i in range(len(chosen))]
        shown = self._mapped([], dict(zip(names, chosen, strict=True)), [], self._first_shown)
        sums = shown.agg(*(F.sum(name).alias(name) for name in names))
        found = self.run(lambda: polars_of(sums))
        return [int(found[name][0]) for name in names]

    def ranked(self, ranks: Sequence[NDArray[np.int32]]) -> SearchedGroups:
        """Return the groups with the ranks of their cells."""
        numbers = ["g"] if self.shown else []
        entries = self._mapped(ranks, {}, [*self.packing.names, "several", "place", *numbers])
        return SearchedGroups(self.packing, entries, self.people, self.left_out)

    @property
    def cells(self) -> list[tuple[pl.Series, NDArray[np.int64]]]:
        """For each attribute, the keys of its distinct cells, and the rows that show each."""
        return self.counted[: self.packing.n_keys]

    @property
    def shown(self) -> list[tuple[pl.Series, NDArray[np.int64]]]:
        """For each attribute, and then for the spread of each, the distinct texts and the rows that show each."""
        return self.counted[self.packing.n_keys :]

    @property
    def _first_shown(self) -> int:
        """The first column of what groups show: of their centres, or else of their cells."""
        return self.packing.n_keys if self.shown else 0

    def _mapped(
        self,
        ranks: Sequence[NDArray[np.int32]],
        flags: Mapping[str, Sequence[NDArray[np.bool_]]],
        kept: list[str],
        flagged: int = 0,
    ) -> DataFrame:
        """Return entries with ranks of what they show, and for each set of flags the rows whose cells all have them.

        Args:
            ranks: For each column that groups show, the rank of each text; empty if none is asked for.
            flags: By name, for each column, which texts have a flag.
            kept: Columns of entries that are needed, too.
            flagged: The first column with flags.
        """
        first, shown = self._first_shown, [f"r{i}" for i in range(len(ranks))]
        n_flagged = max((len(own) for own in flags.values()), default=0)
        places = sorted({*range(first, first + len(ranks)), *range(flagged, flagged + n_flagged)})
        keys = {i: self.counted[i][0] for i in places}

        def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
            import polars as pl

            tables = []
            for i, own in keys.items():
                columns = {f"c{i}": pl.Series(own, dtype=pl.String)}
                if 0 <= i - first < len(ranks):
                    columns[f"r{i - first}"] = pl.Series(ranks[i - first], dtype=pl.Int32)
                if 0 <= i - flagged < n_flagged:
                    columns |= {f"{name}{i}": pl.Series(flags[name][i - flagged]) for name in flags}
                tables.append(pl.DataFrame(columns))
            for frame in frames:
                whole = frame
                for table in tables:
                    whole = whole.join(table, on=table.columns[0], how="left", maintain_order="left")
                sums = [
                    pl.when(pl.all_horizontal([f"{name}{i}" for i in range(flagged, flagged + n_flagged)]))
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
