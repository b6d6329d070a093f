"""What an engine does that searches the sections of its table itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.association import Pairs
from shoal.release.cells.show import JointGroups
from shoal.release.counted_tables.dealing import Coding
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.rules import RuleVerdict
from shoal.tables.values.people import People

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Found", "Judged", "PopulationCounter", "RegionCounter", "Searcher", "UnitCounts", "UnitSearcher"]

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
    """

    units: int
    tuples: int
    rarest: int


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

    def count_together(self, places: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the rows by the codes of some of these quasi-identifiers; return the codes, sorted, and the rows."""

    def meets(self, search: SectionSearch) -> bool:
        """Say whether every tuple that was counted last passes the models as a group by itself."""

    def largest_beside(self, place: int) -> list[NDArray[np.int32]]:
        """Return the largest code of a column beside that occurs with each code of each quasi-identifier."""

    def count_people(self, runs: Mapping[int, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
        """Count the people of runs of codes; runs: by place of a quasi-identifier, of each code, or -1 for none."""


@runtime_checkable
class PopulationCounter(Protocol):
    """A searcher that compares its tuples with those of a population."""

    def count_beyond(self, tuples: NDArray[np.int32], rows: NDArray[np.int64]) -> int:
        """Count the rows of the table that are not among some rows, given as distinct tuples of codes."""


@runtime_checkable
class RegionCounter(Protocol):
    """A searcher that counts the rows of regions, which parts of quasi-identifiers make."""

    def smallest_region(self, parts: Sequence[NDArray[np.int32]]) -> int:
        """Return the rows of the smallest region with tuples; parts: the part of each code, by quasi-identifier."""


@runtime_checkable
class Judged(Protocol):
    """Groups that know how they keep the rules."""

    @property
    def verdicts(self) -> tuple[RuleVerdict, ...]:
        """How all groups together keep each rule."""
