"""What a table on executors is asked for by a search: counts by codes, and groups of sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.association import Pairs
from shoal.release.counted_tables.dealing import Coding
from shoal.release.counted_tables.searcher import Regions, RegionSizes, RowSets, SetCounts, UnitCounts, Upto
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.spark.jobs import polars_of
from shoal.spark.search.counts import (
    count_beyond,
    count_codes,
    count_pairs,
    count_together,
    find_largest,
)
from shoal.spark.search.found import SparkFound
from shoal.spark.search.people import (
    CodedPeople,
    code_people,
    count_holders,
    count_in_runs,
    count_lone_rows,
    count_sets,
    person_in_sql,
)
from shoal.spark.search.regions import count_in_regions, measure_regions, regions_pass
from shoal.spark.search.sections import search_sections, tuples_pass
from shoal.tables.sorting import Packing
from shoal.tables.values.people import People

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

    from shoal.spark.cells import Cells

__all__ = ["SparkSearcher"]

Result = TypeVar("Result")


class SparkSearcher:
    """Counts the cells of a table by codes and searches its sections; see `UnitSearcher`, `PopulationCounter`."""

    _cells: Cells

    def __init__(self) -> None:
        self._units: tuple[DataFrame, Packing, int] | None = None
        self._people: CodedPeople | None = None
        self._kept: list[DataFrame] = []

    def run(self, action: Callable[[], Result]) -> Result:
        """Run a job."""
        raise NotImplementedError

    def count_tuples(self, codes: Coding) -> tuple[int, int]:
        """Count the table by codes; return the number of tuples, and the rows of the rarest."""
        found = self.count_units(codes, {})
        return found.tuples, found.rarest

    def code_people(self, people: People) -> int:
        """Have executors give every person a code, unless they have; return their number."""
        if self._people is None or self._people.people != people:
            self._people, kept = self.run(lambda: code_people(self._cells, people))
            self._kept += kept
        return self._people.n_people

    def count_lone_rows(self, names: Sequence[str]) -> list[int]:
        """Count for each column the rows whose cell no other person has; people have codes already."""
        coded = self._people
        assert coded is not None
        return self.run(lambda: count_lone_rows(self._cells, names, coded))

    def count_holders(self, name: str, cells: pl.Series) -> int:
        """Count the people who have one of some cells of a column; people have codes already."""
        coded = self._people
        assert coded is not None
        return self.run(lambda: count_holders(self._cells, name, cells, coded))

    def count_units(self, coding: Coding, beside: Coding, people: People | None = None) -> UnitCounts:
        """Count the table by the codes of quasi-identifiers, of columns beside them, and at last of people."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as F  # noqa: N812

        units, packing = count_codes(self._cells, coding, beside, None if people is None else self._people)
        units = units.persist(StorageLevel.DISK_ONLY)
        self._kept.append(units)
        n_units = self.run(units.count)
        sizes, keys = units, packing.key_names
        if people is not None:
            of_person = units.select(*keys, person_in_sql(packing).alias("person")).distinct()
            sizes = of_person.groupBy(*keys).agg(F.count("person").alias("n"))
        elif beside:
            sizes = units.groupBy(*keys).agg(F.sum("n").alias("n"))
        lone = F.count(F.when(F.col("n") == 1, 1)).alias("lone")
        found = self.run(lambda: polars_of(sizes.agg(F.count("n").alias("tuples"), F.min("n").alias("rarest"), lone)))
        self._units = units, packing, n_units
        return UnitCounts(n_units, int(found["tuples"][0]), int(found["rarest"][0] or 0), int(found["lone"][0]))

    def count_people(self, runs: Mapping[int, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
        """Count the people of runs of codes; runs: by place of a quasi-identifier, of each code, or -1 for none."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: count_in_runs(units, packing, runs))

    def count_sets(self, sets: RowSets, k: int) -> SetCounts:
        """Count the people of sets of rows; see `UnitSearcher`."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: count_sets(units, packing, sets, k))

    def count_pairs(self) -> Pairs:
        """Count the rows of each pair of codes of the quasi-identifiers that were counted last."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: count_pairs(units, packing))

    def count_together(
        self, places: Sequence[int], upto: Upto | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the rows by the codes of some quasi-identifiers; return the codes, sorted, and the rows."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: count_together(units, packing, places, upto))

    def measure_regions(self, regions: Regions) -> RegionSizes:
        """Count the rows of each region."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: measure_regions(units, packing, regions))

    def regions_pass(self, regions: Regions, judge: PartJudge) -> bool:
        """Say whether every region passes the models of a judge."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: regions_pass(units, packing, regions, judge))

    def count_in_regions(self, regions: Regions) -> list[NDArray[np.int64]]:
        """Return the rows of all regions together by code, for each quasi-identifier and each column beside them."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: count_in_regions(units, packing, regions))

    def meets(self, search: SectionSearch) -> bool:
        """Say whether every tuple that was counted last passes the models as a group by itself."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: tuples_pass(units, packing, search))

    def largest_beside(self, place: int) -> list[NDArray[np.int32]]:
        """Return the largest code of a column beside that occurs with each code of each quasi-identifier."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: find_largest(units, packing, place))

    def count_beyond(self, tuples: NDArray[np.int32], rows: NDArray[np.int64]) -> int:
        """Count the rows of the table that are not among some rows, given as distinct tuples of codes."""
        assert self._units is not None
        units, packing, _ = self._units
        return self.run(lambda: count_beyond(units, packing, tuples, rows))

    def search_sections(self, search: SectionSearch, largest: int) -> SparkFound:
        """Have executors cut and search the tuples or units that were counted last."""
        assert self._units is not None
        units, packing, n_units = self._units
        found = search_sections(units, packing, search, n_units, largest, self.run, self._kept.append)
        return replace(found, people=self._people if search.by_person else None)
