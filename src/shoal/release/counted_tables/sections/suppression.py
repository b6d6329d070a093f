"""Rows that leave the groups of sections, wherever the engine keeps these; see `shoal.methods.suppression.leaving`.

The groups of a section are held as entries: packed tuples or units, with the number of rows, the group (-1 if the rows
are suppressed), and what it saves if the entry leaves, first as one of the outliers, then of a group that can spare it.
Sums over all sections decide which entries leave; each section then works by itself again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries, one_by_one
from shoal.methods.base import failing_groups
from shoal.methods.suppression import spread
from shoal.methods.suppression.leaving import (
    LARGEST,
    Bound,
    Leaving,
    allowances,
    find_bound,
    leave_in_order,
    outliers_of,
    without_outliers,
)
from shoal.release.counted_tables.sections.plan import PIECE
from shoal.release.counted_tables.sections.search import SectionGroups, SectionSearch, unit_entries
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["HELD", "OTHERS", "OUTLIERS", "HeldGroups", "HeldSections", "SectionSuppression", "settle"]

Counts = NDArray[np.int64]
Labels = NDArray[np.int32]

OUTLIERS, OTHERS = "outlier", "other"
# The columns of entries, in order, beside their packed tuple or unit.
HELD: Mapping[str, type[np.integer[Any]]] = {
    "entry": np.int32,
    "rows": np.int64,
    "group": np.int32,
    OUTLIERS: np.int64,
    f"{OUTLIERS}_place": np.int32,
    OTHERS: np.int64,
    f"{OTHERS}_place": np.int32,
}
NONE_LEAVES = Bound(LARGEST, 0)


class HeldGroups(NamedTuple):
    """The groups of a section that rows may leave.

    Attributes:
        entries: Its entries.
        number: The number of the section.
        passing: Whether all groups pass the models; see `SectionGroups`.
    """

    entries: pl.DataFrame
    number: int
    passing: bool


class HeldSections(Protocol):
    """The groups of all sections, where the engine holds them."""

    def sums(self, column: str, shift: int, low: int, high: int) -> tuple[NDArray[np.int64], Counts]:
        """Add up rows by what entries save as outliers or others; see `shoal.methods.suppression.leaving.RowSums`."""

    def rows_worth(self, column: str, worth: int) -> Counts:
        """Return the rows of each section, in order, that save exactly this."""

    def regroup(self, bounds: Sequence[Bound]) -> int:
        """Group the sections that outliers leave again; bounds: of each section. Return how many rows leave."""

    def restore(self) -> None:
        """Return to the groups before outliers left."""

    def count_gone(self, bounds: Sequence[Bound]) -> list[Counts]:
        """Count the rows that are not released then, by the codes of each sensitive column."""

    def pass_then(self, bounds: Sequence[Bound], totals: Sequence[Counts]) -> bool:
        """Say whether all groups pass then; totals: the rows of each sensitive code in the release."""


def settle(held: HeldSections, search: SectionSearch) -> list[Bound]:
    """Decide which rows are suppressed; return the bound of each section for those that groups can spare.

    Raises:
        InfeasibleError: What left before the search changes the distribution of the release too much for some group.
    """
    used = held.regroup(_bounds(held, OUTLIERS, search.most)) if search.plan.regroups else 0
    bounds = _bounds(held, OTHERS, search.most - used)
    if not search.whole.sensitive or search.plan.settled:
        return bounds
    if _passes(held, search, bounds):
        return bounds
    held.restore()  # the distribution of the release would change too much for some group
    bounds = [NONE_LEAVES] * len(bounds)
    if search.leaving is not None and not _passes(held, search, bounds):
        raise search.plan.refusal(search.models)
    return bounds


def _passes(held: HeldSections, search: SectionSearch, bounds: Sequence[Bound]) -> bool:
    """Say whether all groups pass, compared with the distribution of the release."""
    before = [column.count(None) for column in search.whole.sensitive]
    totals = [all_rows - gone for all_rows, gone in zip(before, held.count_gone(bounds), strict=True)]
    return held.pass_then(bounds, totals)


def _bounds(held: HeldSections, column: str, most: int) -> list[Bound]:
    """Return the bound of each section."""
    bound = find_bound(partial(held.sums, column), most)
    return allowances(bound, held.rows_worth(column, bound.worth))


class _Section(NamedTuple):
    """A section that is held.

    Attributes:
        part: Its tuples or units, counted.
        units: The packed tuples or units.
        entries: The tuple or unit, the rows and the group of each entry.
    """

    part: Encoded
    units: pl.DataFrame
    entries: Entries

    @property
    def labels(self) -> Labels:
        """The group of each row."""
        return np.repeat(self.entries.groups, self.entries.rows)


@dataclass(frozen=True)
class SectionSuppression:
    """What is done in one section; it can be pickled.

    Attributes:
        search: Searches a section.
        packing: How tuples or units are packed.
    """

    search: SectionSearch
    packing: Packing

    def hold(self, units: pl.DataFrame, number: int) -> HeldGroups:
        """Search a section.

        Args:
            units: Its packed tuples or units, sorted, and n.
            number: The number of the section.

        Raises:
            InfeasibleError: No groups that pass were found.
        """
        search, part = self.search, self._part(units)
        rows = one_by_one(part) if search.row_by_row else part
        if search.leaving is None:
            groups = search.find_groups(rows, number)
            if search.row_by_row and isinstance(groups, Entries):
                groups = groups.labels()
            elif not (search.row_by_row or isinstance(groups, Entries)):
                groups = Entries.of_rows(rows, groups)
        else:  # the rows of a tuple are told apart
            stays = search.leaving.stays(rows)
            groups = spread(self._labels(rows.part(stays), number), stays)
        others = leave_in_order(rows, search.models, groups, search.plan.k, search.most)
        outliers = outliers_of(rows, groups, search.most) if search.plan.regroups else None
        entries = self._frame(units, part, groups, outliers, others)
        return HeldGroups(entries, number, search.passes(rows, groups))

    def regroup(self, held: pl.DataFrame, number: int, bound: Bound) -> pl.DataFrame | None:
        """Group a section again without its outliers; None if it stays as it is."""
        leaves = _leaving(held, OUTLIERS).leaves(bound)
        if not leaves.any():
            return None
        search, section = self.search, self._section(held)
        rows, labels = one_by_one(section.part), section.labels
        leaves, group = np.repeat(leaves, section.entries.rows), partial(self._labels, number=number)
        fewer = without_outliers(rows, search.models, labels, search.plan.k, leaves, group)
        if fewer is labels:
            return None
        others = leave_in_order(rows, search.models, fewer, search.plan.k, search.most)
        return self._frame(section.units, section.part, fewer, None, others)

    def count_gone(self, held: pl.DataFrame, bound: Bound) -> list[Counts]:
        """Count the rows that are not released by the codes of each sensitive column."""
        section = self._section(held, bound)
        gone = section.entries.groups < 0
        units, rows = section.entries.tuples[gone], section.entries.rows[gone]
        return [
            np.bincount(column.codes[units], rows, len(column.texts)).astype(np.int64)
            for column in section.part.sensitive
        ]

    def passes(self, held: pl.DataFrame, bound: Bound, totals: Sequence[Counts]) -> bool:
        """Say whether the groups pass, compared with the distribution of the release."""
        section = self._section(held, bound)
        columns = zip(section.part.sensitive, totals, strict=True)
        compared = replace(section.part, sensitive=tuple(replace(column, totals=own) for column, own in columns))
        return not failing_groups(one_by_one(compared), self.search.models, section.labels).any()

    def show(self, held: pl.DataFrame, bound: Bound) -> tuple[pl.DataFrame, SectionGroups]:
        """Return the packed tuples or units of a section, and its groups with their cells."""
        section = self._section(held, bound)
        if not self.search.row_by_row:
            return section.units, self.search.show(section.part, section.part, section.entries)
        return section.units, self.search.show(section.part, one_by_one(section.part), section.labels)

    @property
    def columns(self) -> list[str]:
        """The columns of packed tuples or units."""
        return [*self.packing.names, *(PIECE if self.search.plan.divides_units else ())]

    def _labels(self, rows: Encoded, number: int) -> Labels:
        """Return the group of each of some rows of a section."""
        groups = self.search.find_groups(rows, number)
        return groups.labels() if isinstance(groups, Entries) else groups

    def _part(self, units: pl.DataFrame) -> Encoded:
        """Return a section as a counted table."""
        codes, counts = self.packing.codes(units), units["n"].to_numpy().astype(np.int64)
        tuples, beside = np.ascontiguousarray(codes[:, : self.packing.n_keys]), codes[:, self.packing.n_keys :]
        return self.search.part(tuples, beside if self.search.by_units else None, counts)

    def _section(self, held: pl.DataFrame, bound: Bound = NONE_LEAVES) -> _Section:
        """Return a section that is held, without the entries that groups can spare."""
        keys = [held[name].to_numpy() for name in self.packing.names]
        begins = np.ones(held.height, dtype=bool)
        begins[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in keys])
        starts = np.flatnonzero(begins)
        rows = held["rows"].to_numpy().astype(np.int64)
        counts = np.add.reduceat(rows, starts)
        units = held.select(self.columns)[starts].with_columns(n=counts)
        groups = np.where(_leaving(held, OTHERS).leaves(bound), -1, held["group"].to_numpy()).astype(np.int32)
        number = (np.cumsum(begins) - 1).astype(np.int32)
        return _Section(self._part(units), units.drop("n"), Entries(number, rows, groups))

    def _frame(
        self, units: pl.DataFrame, part: Encoded, groups: Entries | Labels, outliers: Leaving | None, others: Leaving
    ) -> pl.DataFrame:
        """Return the entries of a section; outliers: None if they do not leave, or left already."""
        import polars as pl

        entries = groups if isinstance(groups, Entries) else unit_entries(part, groups)
        first = np.arange(len(entries.rows)) if entries is groups else np.cumsum(entries.rows) - entries.rows
        columns: list[NDArray[Any]] = [np.arange(len(entries.rows)), entries.rows, entries.groups]
        none = np.zeros(len(first), dtype=np.int64)
        for leaving in (outliers, others):
            columns += [none, none] if leaving is None else [leaving.worth[first], leaving.place[first]]
        found = units.select(self.columns)[entries.tuples.astype(np.int64)]
        made = zip(HELD.items(), columns, strict=True)
        return found.with_columns(pl.Series(name, values.astype(kind)) for (name, kind), values in made)


def _leaving(held: pl.DataFrame, column: str) -> Leaving:
    """Return what may leave a section that is held."""
    return Leaving(
        held[column].to_numpy(), held[f"{column}_place"].to_numpy(), held["rows"].to_numpy().astype(np.int64)
    )
