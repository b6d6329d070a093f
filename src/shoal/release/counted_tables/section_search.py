"""One section of a table, searched wherever its tuples are. It can be pickled and sent there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.ends import EXACT, Movement, release_ends
from shoal.encoding.limits import apply_limits
from shoal.encoding.partition import Cells, Entries, Partition, one_by_one, tight_partition
from shoal.errors import InfeasibleError
from shoal.methods.base import Method, Run, check_models, failing_groups
from shoal.metrics.singled import Singled, look_for_singled
from shoal.metrics.variance import Axis, axes_of, sum_of_squares
from shoal.models import PrivacyModel
from shoal.release.cells.limits import check_limits
from shoal.release.counted_tables.sectioning import Sectioning
from shoal.rules import RuleVerdict, compile_rules, judge_rules
from shoal.schema import Schema

__all__ = ["SectionGroups", "SectionSearch", "added_verdicts", "cell_keys"]


class SectionGroups(NamedTuple):
    """The groups of a section.

    Attributes:
        tuples: The tuple of each entry, ascending; where models tell the rows of a tuple apart, its unit.
        rows: The number of its rows.
        places: The number of rows of its tuple or unit that are dealt before them.
        several: Whether its tuple or unit has several entries.
        cells: For each attribute, the key of the cell that it shows.
        sse: The share of the section in the sum of squares of the table.
        singled: What the cells show of single rows.
        verdicts: How the groups keep each rule.
        passing: Whether all groups pass the models; a search under a model that is not closed may find others.
    """

    tuples: NDArray[np.int32]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    several: NDArray[np.bool_]
    cells: list[NDArray[np.object_]]
    sse: float
    singled: Singled
    verdicts: tuple[RuleVerdict, ...] = ()
    passing: bool = True


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

    @cached_property
    def axes(self) -> list[Axis]:
        """The quasi-identifiers, standardised."""
        return axes_of(self.whole.attributes, self.whole.histograms)

    @property
    def by_units(self) -> bool:
        """Whether models or people tell the rows of a tuple apart: units are then counted, cut and searched."""
        return bool(self.whole.sensitive) or self.whole.personal_k is not None or self.by_person

    def fails(self, tuples: NDArray[np.int32], beside: NDArray[np.int32], counts: NDArray[np.int64]) -> bool:
        """Say whether no grouping of a section can pass the models; the arguments are those of `group`."""
        try:
            check_models(self.method, self._part(tuples, beside, counts), self.models)
        except InfeasibleError:
            return True
        return False

    def meets(self, tuples: NDArray[np.int32], beside: NDArray[np.int32], counts: NDArray[np.int64]) -> bool:
        """Say whether every tuple passes the models as a group by itself; the arguments are those of `group`."""
        part = self._part(tuples, beside, counts)
        return not failing_groups(part, self.models, part.row_tuple).any()

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
        part = self._part(tuples, beside, counts)
        limits = self.run.limits
        row_by_row = self.by_units or bool(limits)
        searched = one_by_one(part) if row_by_row else part
        groups = self.plan.group(searched, self.models, self.run, number)
        closed = all(model.closed for model in self.models) and not limits
        passing = closed or not failing_groups(searched, self.models, groups).any()
        partition = tight_partition(searched, groups)
        entries = partition.entries
        if limits:
            check_limits(self.method, searched, entries, limits)
            partition = apply_limits(searched, partition, limits)
        weights = {name: float(weight) for name, weight in self.run.weights.items()}
        rules = compile_rules(self.run.rules, part.attributes)
        choice = self.ends or EXACT
        ends = release_ends(self.whole, partition, self.schema, choice, k=self.k, apart=rules.banned, moves=self.moves)
        dealt = _unit_entries(part, partition) if row_by_row else entries
        first = np.diff(dealt.tuples, prepend=-1) != 0
        place = np.cumsum(dealt.rows) - dealt.rows
        sizes = np.diff(np.flatnonzero(first), append=len(first))
        return SectionGroups(
            dealt.tuples,
            dealt.rows,
            place - np.repeat(place[first], sizes),
            np.repeat(sizes > 1, sizes),
            [cell_keys(cells)[cells.index[dealt.groups]] for cells in partition.cells],
            sum_of_squares(searched, entries, weights, self.whole, self.axes),
            look_for_singled(searched, partition, ends, self.k, weights, self.whole),
            judge_rules(self.run.rules, part.attributes, part.tuples[entries.tuples], entries.groups, entries.rows),
            passing,
        )

    def _part(self, tuples: NDArray[np.int32], beside: NDArray[np.int32] | None, counts: NDArray[np.int64]) -> Encoded:
        """Return a section as a counted table, one row for each of its tuples or units."""
        every = np.arange(len(tuples), dtype=np.int64)
        if beside is None:
            return replace(
                self.whole, tuples=tuples, counts=counts, row_tuple=every.astype(np.int32), order=every, weights=counts
            )
        begins = np.ones(len(tuples), dtype=bool)
        begins[1:] = (tuples[1:] != tuples[:-1]).any(axis=1)
        sensitive = [replace(column, codes=beside[:, i]) for i, column in enumerate(self.whole.sensitive)]
        personal_k = self.whole.personal_k
        return replace(
            self.whole,
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


def _unit_entries(part: Encoded, partition: Partition) -> Entries:
    """Return the entries of units, each a row of a counted table whose rows were grouped one by one."""
    assert part.weights is not None
    units, labels = np.repeat(np.arange(len(part.order), dtype=np.int32), part.weights), partition.labels
    begins = np.ones(len(units), dtype=bool)
    begins[1:] = (units[1:] != units[:-1]) | (labels[1:] != labels[:-1])
    starts = np.flatnonzero(begins)
    return Entries(units[starts], np.diff(starts, append=len(units)).astype(np.int64), labels[starts])


def cell_keys(cells: Cells) -> NDArray[np.object_]:
    """Return distinct cells as texts that only equal cells share: form, codes at both ends, and members of a set."""
    starts = cells.starts.tolist()
    columns = zip(cells.form.tolist(), cells.low.tolist(), cells.high.tolist(), strict=True)
    keys = [
        f"{form}:{low}:{high}:{','.join(map(str, cells.members[starts[i] : starts[i + 1]].tolist()))}"
        for i, (form, low, high) in enumerate(columns)
    ]
    return np.array(keys, dtype=object)


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
