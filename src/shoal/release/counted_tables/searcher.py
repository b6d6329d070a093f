"""What an engine does that searches the sections of its table itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.association import Pairs
from shoal.release.cells.show import JointGroups
from shoal.release.counted_tables.dealing import Coding
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.rules import RuleVerdict
from shoal.tables.sorting import Packing
from shoal.tables.values.people import People

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Found",
    "Judged",
    "PopulationCounter",
    "RegionCounter",
    "RegionSizes",
    "Regions",
    "RowSets",
    "Searcher",
    "SetCounts",
    "UnitCounts",
    "UnitSearcher",
    "Upto",
]

Flags = Sequence[NDArray[np.bool_]]  # for each attribute, one for each distinct cell


class Found(JointGroups, Protocol):
    """The groups of all sections, where the engine keeps them."""

    @property
    def cells(self) -> Sequence[tuple[pl.Series, NDArray[np.int64]]]:
        """For each attribute, the keys of its distinct cells (see `cell_keys`), and the rows that show each."""

    def count_rows(self, chosen: Sequence[Flags]) -> list[int]:
        """Count the rows whose cells are all chosen; several choices together."""

    def ranked(self, ranks: Sequence[NDArray[np.int32]]) -> object:
        """Return the groups with the ranks of their cells, for dealing; ranks: by attribute, one for each cell."""


@runtime_checkable
class Searcher(Protocol):
    """A source that searches the sections of its table itself."""

    def count_columns(self, names: Sequence[str]) -> Mapping[str, tuple[pl.Series, NDArray[np.int64]]]:
        """Return the distinct cells of columns, in order, and their counts."""

    def count_tuples(self, codes: Mapping[str, tuple[pl.Series, NDArray[np.int32]]]) -> tuple[int, int]:
        """Count the table by codes; return the number of tuples, and the rows of the rarest."""

    def search_sections(self, search: SectionSearch, largest: int) -> Found:
        """Cut the tuples or units that were counted last into sections of at most so many, and search each."""


class UnitCounts(NamedTuple):
    """What was counted of units.

    Attributes:
        units: Their number.
        tuples: The number of tuples.
        rarest: The rows of the rarest tuple; its people, if people are counted.
        lone: The number of tuples of one row; of one person, if people are counted.
    """

    units: int
    tuples: int
    rarest: int
    lone: int


class Upto(NamedTuple):
    """Which rows are counted: those whose code of a column is not greater than this.

    Attributes:
        place: The column, among those beside the quasi-identifiers.
        code: The greatest code.
    """

    place: int
    code: int


class RowSets(NamedTuple):
    """Sets of rows that follow each other in runs.

    Attributes:
        places: Some quasi-identifiers.
        codes: Combinations of their codes.
        run: The run of the rows of each.
        number: The number of their set in the run, from 0 on without gaps.
        upto: Which rows are counted, if not all.
    """

    places: tuple[int, ...]
    codes: NDArray[np.int32]
    run: NDArray[np.int32]
    number: NDArray[np.int32]
    upto: Upto | None = None


class SetCounts(NamedTuple):
    """The people of sets of rows, by run and by number.

    Attributes:
        run: The run of each set.
        people: Its people.
        latest: The last set from which on k people are met among the sets of fewer people; -1 if there is none.
    """

    run: NDArray[np.int32]
    people: NDArray[np.int64]
    latest: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: pl.DataFrame, latest: pl.DataFrame) -> SetCounts:
        """Join the people `n` of sets and what `latest_met` yields of some, both by `run` and `number`."""
        import polars as pl

        keys = ["run", "number"]
        found = sizes.join(latest, on=keys, how="left").sort(keys).with_columns(pl.col("latest").fill_null(-1))
        run, people, last = (found[name].to_numpy() for name in ("run", "n", "latest"))
        return cls(run.astype(np.int32), people.astype(np.int64), last.astype(np.int64))

    def completed(self, k: int) -> SetCounts:
        """Return the counts with the latest sets among all; a set of k people is enough by itself."""
        starts = np.flatnonzero(np.diff(self.run, prepend=-1))
        number = np.arange(len(self.run)) - np.repeat(starts, np.diff(starts, append=len(self.run)))
        latest = np.where(self.people >= k, number, self.latest)
        # No set is later than one before it; runs are kept apart by a multiple of their number.
        apart = self.run.astype(np.int64) * (len(latest) + 1)
        return self._replace(latest=np.maximum.accumulate(latest + apart) - apart)


@runtime_checkable
class UnitSearcher(Protocol):
    """A searcher whose sections may also consist of units: the rows of a tuple that models cannot tell apart.

    Where no groups in a section pass, it searches the section that this one was cut from; see `sections.Tree.work`.
    """

    def code_people(self, people: People) -> int:
        """Give every person a code; return their number."""

    def count_lone_rows(self, names: Sequence[str]) -> list[int]:
        """Count for each column the rows whose cell no other person has; people have codes already."""

    def count_holders(self, name: str, cells: pl.Series) -> int:
        """Count the people who have one of some cells of a column; people have codes already."""

    def count_units(self, coding: Coding, beside: Coding, people: People | None = None) -> UnitCounts:
        """Count the table by the codes of quasi-identifiers, of columns beside them, and at last of people."""

    def count_pairs(self) -> Pairs:
        """Count the rows of each pair of codes of the quasi-identifiers that were counted last."""

    def count_together(
        self, places: Sequence[int], upto: Upto | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the rows by the codes of some of these quasi-identifiers; return the codes, sorted, and the rows."""

    def meets(self, search: SectionSearch) -> bool:
        """Say whether every tuple that was counted last passes the models as a group by itself."""

    def largest_beside(self, place: int) -> list[NDArray[np.int32]]:
        """Return the largest code of a column beside that occurs with each code of each quasi-identifier."""

    def count_sets(self, sets: RowSets, k: int) -> SetCounts:
        """Count the people of sets of rows; k: how many a run of sets needs, 0 if nobody asks for the latest."""

    def count_people(self, runs: Mapping[int, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
        """Count the people of runs of codes; runs: by place of a quasi-identifier, of each code, or -1 for none."""


@runtime_checkable
class PopulationCounter(Protocol):
    """A searcher that compares its tuples with those of a population."""

    def count_beyond(self, tuples: NDArray[np.int32], rows: NDArray[np.int64]) -> int:
        """Count the rows of the table that are not among some rows, given as distinct tuples of codes."""


class Regions(NamedTuple):
    """Regions of a table, which parts of quasi-identifiers make.

    Attributes:
        parts: The part of each code, by quasi-identifier. Rows with a code of part -1 are in no region.
        upto: Which other rows are counted, if not all.
    """

    parts: Sequence[NDArray[np.int32]]
    upto: Upto | None = None

    def packing(self, units: Packing, asked: Sequence[Sequence[int]]) -> Packing:
        """Return how the rows of regions are packed: parts, the number of what is asked, and its codes.

        Args:
            units: How tuples or units are packed.
            asked: Combinations of columns; see `PartJudge.judged`.
        """
        parts = [int(own.max(initial=0)) + 1 for own in self.parts]
        cards = [1] * max(map(len, asked))
        for places in asked:
            for i, place in enumerate(places):
                cards[i] = max(cards[i], units.cards[units.n_keys + place])
        return Packing.of([*parts, len(asked), *cards], len(parts))


class RegionSizes(NamedTuple):
    """What is known of the sizes of regions.

    Attributes:
        regions: The number of regions that have rows.
        smallest: The rows of the smallest.
        lone: How many have one row.
    """

    regions: int
    smallest: int
    lone: int


@runtime_checkable
class RegionCounter(Protocol):
    """A searcher that counts the rows of regions of the tuples or units that were counted last."""

    def measure_regions(self, regions: Regions) -> RegionSizes:
        """Count the rows of each region."""

    def regions_pass(self, regions: Regions, judge: PartJudge) -> bool:
        """Say whether every region passes the models of a judge."""

    def count_in_regions(self, regions: Regions) -> list[NDArray[np.int64]]:
        """Return the rows of all regions together by code, for each quasi-identifier and each column beside them."""


@runtime_checkable
class Judged(Protocol):
    """Groups that know how they keep the rules."""

    @property
    def verdicts(self) -> tuple[RuleVerdict, ...]:
        """How all groups together keep each rule."""
