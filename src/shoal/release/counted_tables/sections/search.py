"""One section of a table, searched wherever its tuples are. It can be pickled and sent there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.ends import EXACT, Movement, release_ends
from shoal.encoding.limits import apply_limits
from shoal.encoding.partition import Cells, Entries, Partition, one_by_one
from shoal.errors import InfeasibleError
from shoal.methods.base import Method, Run, check_models, failing_groups
from shoal.methods.shoaling.nested_ranges import nested_partition
from shoal.metrics.singled import Singled, look_for_singled
from shoal.metrics.variance import Axis, axes_of, sum_of_squares
from shoal.models import Basis, PrivacyModel
from shoal.release.cells.centers import center_texts
from shoal.release.cells.limits import check_limits
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.plan import PIECE, Sectioning
from shoal.rules import RuleVerdict, compile_rules, judge_rules
from shoal.schema import Schema

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SectionGroups", "SectionSearch", "added_verdicts", "cell_keys", "unit_entries"]


class SectionGroups(NamedTuple):
    """The groups of a section.

    Attributes:
        tuples: The tuple of each entry, ascending; where models tell the rows of a tuple apart, its unit.
        rows: The number of its rows.
        places: The number of rows of its tuple or unit in the section that are dealt before them.
        several: Whether its tuple or unit has several entries in the section.
        kept: Whether its rows are released.
        cells: For each attribute, the key of the cell that it shows; empty if its rows are not released.
        sse: The share of the section in the sum of squares of the table.
        singled: What the cells show of single rows.
        verdicts: How the groups keep each rule.
        passing: Whether all groups pass the models; a search under a model that is not closed may find others.
        shown: With centres, for each attribute and then for the spread of each, the text that it shows.
        groups: The number of its group in the section.
    """

    tuples: NDArray[np.int32]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    several: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    cells: list[NDArray[np.object_]]
    sse: float
    singled: Singled
    verdicts: tuple[RuleVerdict, ...] = ()
    passing: bool = True
    shown: Sequence[NDArray[np.object_]] = ()
    groups: NDArray[np.int32] = np.empty(0, dtype=np.int32)

    def entries(self, units: pl.DataFrame) -> pl.DataFrame:
        """Return the packed tuple or unit of each entry, and its `several`, `place` and `rows` in the whole table.

        Args:
            units: The packed tuples or units of the section; see `PIECE` for those that other sections have as well.
        """
        import polars as pl

        found = units[self.tuples.astype(np.int64)]
        several, places = self.several, self.places
        if set(PIECE) <= set(units.columns):
            start, total = (found[name].to_numpy() for name in PIECE)
            several, places = self.rows < total, places + start
        columns = {"several": several, "place": places, "rows": self.rows}
        return found.drop(PIECE, strict=False).with_columns(pl.Series(name, own) for name, own in columns.items())


@dataclass(frozen=True)
class SectionSearch:
    """What the search of a section needs.

    Attributes:
        method: The method.
        plan: How the method cuts the table, and forms the groups of a section.
        whole: Rows with the counts of each column of the whole table.
        models: The models.
        run: The seed, the rules, the weights and the limits.
        schema: The quasi-identifiers.
        ends: The ends of ranges.
        k: How many rows must share an end.
        moves: How the ends of ranges move.
        by_person: Whether people tell the rows of a tuple apart as well.
        most: How many rows of the whole table may be suppressed, beside those that leave before the search.
        leaving: Which rows leave before the search, if any do.
        center: "mean" or "median" if groups show their centres; otherwise empty.
        spread: Whether they show the spread around them, too.
        halved: The quasi-identifiers with trees of halves, which a section has if ranges must not overlap.
    """

    method: Method
    plan: Sectioning
    whole: Encoded
    models: tuple[PrivacyModel, ...]
    run: Run
    schema: Schema
    ends: str
    k: int
    moves: tuple[Movement, ...]
    by_person: bool = False
    most: int = 0
    leaving: LeavingBefore | None = None
    center: str = ""
    spread: bool = False
    halved: tuple[Attribute, ...] = ()

    @cached_property
    def axes(self) -> list[Axis]:
        """The quasi-identifiers, standardised."""
        return axes_of(self.whole.attributes, self.whole.histograms)

    @property
    def by_units(self) -> bool:
        """Whether models or people tell the rows of a tuple apart: units are then counted, cut and searched."""
        return bool(self.whole.sensitive) or self.whole.personal_k is not None or self.by_person

    @property
    def n_shown(self) -> int:
        """How many columns the centres of groups and their spread have."""
        return (1 + self.spread) * len(self.whole.attributes) if self.center else 0

    @property
    def by_population(self) -> bool:
        """Whether models compare groups with a population."""
        return any(model.basis is Basis.POPULATION for model in self.models)

    @property
    def by_all_groups(self) -> bool:
        """Whether models judge all groups together."""
        return any(model.basis is Basis.TABLE for model in self.models)

    @property
    def joins_failing(self) -> bool:
        """Whether some sections may be joined before the search, because no grouping of one can pass the models."""
        return self.by_units or self.by_population or self.by_all_groups or self.leaving is not None

    @property
    def row_by_row(self) -> bool:
        """Whether the rows of a section are searched one by one."""
        by_rows = self.by_units or self.by_population or self.by_all_groups or bool(self.run.limits)
        return by_rows or self.plan.divides_units

    @property
    def suppresses(self) -> bool:
        """Whether rows may be suppressed."""
        return self.most > 0 or self.leaving is not None

    def fails(self, tuples: NDArray[np.int32], beside: NDArray[np.int32], counts: NDArray[np.int64]) -> bool:
        """Say whether no grouping of a section can pass the models; the arguments are those of `group`."""
        part = self.part(tuples, beside, counts)
        if self.leaving is not None:
            stays = self.leaving.stays(part)
            if not stays.any():
                return True
            part = part.part(stays)
        try:
            check_models(self.method, part, self.models)
        except InfeasibleError:
            return True
        return False

    def meets(self, tuples: NDArray[np.int32], beside: NDArray[np.int32], counts: NDArray[np.int64]) -> bool:
        """Say whether every tuple passes the models that judge it by itself; the arguments are those of `group`."""
        part = self.part(tuples, beside, counts)
        models = tuple(model for model in self.models if model.basis is not Basis.TABLE)
        return not failing_groups(part, models, part.row_tuple).any()

    def group(
        self,
        tuples: NDArray[np.int32],
        counts: NDArray[np.int64],
        number: int,
        beside: NDArray[np.int32] | None = None,
    ) -> SectionGroups:
        """Search a section.

        Args:
            tuples: Its tuples, sorted; or the tuples of its units, which are sorted by tuple and then by `beside`.
            counts: The rows of each.
            number: The number of the section.
            beside: For each unit, the codes of the sensitive columns that models count, the rank of its personal k, and
                its person.

        Raises:
            InfeasibleError: No groups that pass were found; search the section that this one was cut from.
        """
        part = self.part(tuples, beside, counts)
        searched = one_by_one(part) if self.row_by_row else part
        return self.show(part, searched, self.find_groups(searched, number))

    def find_groups(self, searched: Encoded, number: int) -> Entries | NDArray[np.int32]:
        """Return the groups of a section, or of some of its rows: entries, or the group of each canonical row.

        Raises:
            InfeasibleError: No groups that pass were found.
        """
        return self.plan.group(searched, self.models, self.run, number)

    def passes(self, searched: Encoded, groups: Entries | NDArray[np.int32]) -> bool:
        """Say whether groups pass the models; under closed ones, those that were found do."""
        closed = all(model.closed for model in self.models) and not self.run.limits
        return closed or self.plan.settled or not failing_groups(searched, self.models, groups).any()

    def show(self, part: Encoded, searched: Encoded, groups: Entries | NDArray[np.int32]) -> SectionGroups:
        """Return the groups of a section with their cells.

        Args:
            part: The section, counted.
            searched: The same, or its rows one by one.
            groups: Entries, or the group of each canonical row of `searched`; -1 for rows that are not released.
        """
        limits = self.run.limits
        partition, part, searched = self._partition(searched, groups), self._plain(part), self._plain(searched)
        entries = partition.entries
        if limits:
            check_limits(self.method, searched, entries, limits)
            partition = apply_limits(searched, partition, limits)
        weights = {name: float(weight) for name, weight in self.run.weights.items()}
        rules = compile_rules(self.run.rules, part.attributes)
        choice = self.ends or EXACT
        ends = release_ends(self.whole, partition, self.schema, choice, k=self.k, apart=rules.banned, moves=self.moves)
        dealt = unit_entries(part, partition.labels) if self.row_by_row else entries
        kept = dealt.groups >= 0
        first = np.diff(dealt.tuples, prepend=-1) != 0
        place = np.cumsum(dealt.rows) - dealt.rows
        sizes = np.diff(np.flatnonzero(first), append=len(first))
        return SectionGroups(
            dealt.tuples,
            dealt.rows,
            place - np.repeat(place[first], sizes),
            np.repeat(sizes > 1, sizes),
            kept,
            [np.where(kept, cell_keys(cells)[cells.index[dealt.groups]], "") for cells in partition.cells],
            sum_of_squares(searched, entries, weights, self.whole, self.axes),
            look_for_singled(searched, partition, ends, self.k, weights, self.whole),
            judge_rules(self.run.rules, part.attributes, part.tuples[entries.tuples], entries.groups, entries.rows),
            self.passes(searched, groups),
            [texts[dealt.groups] for texts in self._centers(searched, partition)],
            dealt.groups,
        )

    def _plain(self, part: Encoded) -> Encoded:
        """Return a section without trees of halves."""
        return replace(part, attributes=self.whole.attributes)

    def _partition(self, searched: Encoded, groups: Entries | NDArray[np.int32]) -> Partition:
        """Return the groups of a section with the cells that they show."""
        if self.halved:
            return nested_partition(self._plain(searched), searched, groups)
        return self.plan.partition(searched, groups)

    def _centers(self, part: Encoded, partition: Partition) -> list[NDArray[np.object_]]:
        """Return what groups show, column after column, if they show their centres."""
        if not self.center:
            return []
        centers, spread = center_texts(
            part, partition, center=self.center, spread=self.spread, k=self.k, whole=self.whole
        )
        return [np.array(texts, dtype=object) for texts in (*centers.values(), *spread.values())]

    def part(self, tuples: NDArray[np.int32], beside: NDArray[np.int32] | None, counts: NDArray[np.int64]) -> Encoded:
        """Return a section as a counted table, one row for each of its tuples or units."""
        whole, every = self.whole, np.arange(len(tuples), dtype=np.int64)
        if self.halved:
            whole = replace(whole, attributes=self.halved)
        if beside is None:
            return replace(
                whole, tuples=tuples, counts=counts, row_tuple=every.astype(np.int32), order=every, weights=counts
            )
        begins = np.ones(len(tuples), dtype=bool)
        begins[1:] = (tuples[1:] != tuples[:-1]).any(axis=1)
        sensitive = [replace(column, codes=beside[:, i]) for i, column in enumerate(whole.sensitive)]
        personal_k = whole.personal_k
        return replace(
            whole,
            tuples=np.ascontiguousarray(tuples[begins]),
            counts=np.add.reduceat(counts, np.flatnonzero(begins)),
            row_tuple=(np.cumsum(begins) - 1).astype(np.int32),
            order=every,
            weights=counts,
            sensitive=tuple(sensitive),
            personal_k=None if personal_k is None else self.plan.whole.personal_ks[beside[:, len(sensitive)]],
            people=np.ascontiguousarray(beside[:, -1]) if self.by_person else None,
            counted_people=None,
        )


def unit_entries(part: Encoded, labels: NDArray[np.int32]) -> Entries:
    """Return the entries of units, each a row of a counted table; labels: the group of each row, one by one."""
    units = np.repeat(np.arange(len(part.order), dtype=np.int32), part.row_weights)
    begins = np.ones(len(units), dtype=bool)
    begins[1:] = (units[1:] != units[:-1]) | (labels[1:] != labels[:-1])
    starts = np.flatnonzero(begins)
    return Entries(units[starts], np.diff(starts, append=len(units)).astype(np.int64), labels[starts])


def cell_keys(cells: Cells) -> NDArray[np.object_]:
    """Return distinct cells as texts that only equal cells share: form, codes at both ends, and members of a set."""
    columns = zip(cells.form.tolist(), cells.low.tolist(), cells.high.tolist(), strict=True)
    keys = np.array([f"{form}:{low}:{high}:" for form, low, high in columns], dtype=object)
    for i in np.flatnonzero(np.diff(cells.starts)).tolist():
        keys[i] += ",".join(map(str, cells.members[cells.starts[i] : cells.starts[i + 1]].tolist()))
    return keys


def added_verdicts(parts: Sequence[tuple[RuleVerdict, ...]]) -> tuple[RuleVerdict, ...]:
    """Add up the groups and rows of sections that break each rule."""
    return tuple(
        replace(
            own[0],
            broken_groups=sum(each.broken_groups for each in own),
            broken_rows=sum(each.broken_rows for each in own),
        )
        for own in zip(*parts, strict=True)
    )
