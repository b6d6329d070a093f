"""One section of a table, searched wherever its tuples are. It can be pickled and sent there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.ends import EXACT, Movement, movements, release_ends
from shoal.encoding.partition import Cells, tight_partition
from shoal.methods.base import Run
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.problem import prepare
from shoal.methods.shoaling.search import SectionPlan, Shoaling
from shoal.methods.shoaling.steps import Search
from shoal.metrics.singled import Singled, look_for_singled
from shoal.metrics.variance import Axis, axes_of, sum_of_squares
from shoal.models import PrivacyModel
from shoal.schema import Schema

__all__ = ["SectionGroups", "SectionSearch", "cell_keys"]


class SectionGroups(NamedTuple):
    """The groups of a section.

    Attributes:
        tuples: The tuple of each entry, ascending.
        rows: The number of its rows.
        places: The number of rows of its tuple that are dealt before them.
        several: Whether its tuple has several entries.
        cells: For each attribute, the key of the cell that it shows.
        sse: The share of the section in the sum of squares of the table.
        singled: What the cells show of single rows.
    """

    tuples: NDArray[np.int32]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    several: NDArray[np.bool_]
    cells: list[NDArray[np.object_]]
    sse: float
    singled: Singled


@dataclass(frozen=True)
class SectionSearch:
    """What the search of a section needs.

    Attributes:
        method: The method.
        plan: What belongs to the whole table.
        whole: Rows with the counts of each column of the whole table.
        models: The models.
        run: The seed and the weights.
        schema: The quasi-identifiers.
        ends: The ends of ranges.
        k: How many rows must share an end.
    """

    method: Shoaling
    plan: SectionPlan
    whole: Encoded
    models: tuple[PrivacyModel, ...]
    run: Run
    schema: Schema
    ends: str
    k: int

    @cached_property
    def moves(self) -> tuple[Movement, ...]:
        """How the ends of ranges move."""
        return movements(self.whole, self.schema, self.ends or EXACT, self.k)

    @cached_property
    def axes(self) -> list[Axis]:
        """The quasi-identifiers, standardised."""
        return axes_of(self.whole.attributes, self.whole.histograms)

    def group(self, tuples: NDArray[np.int32], counts: NDArray[np.int64], number: int) -> SectionGroups:
        """Search a section.

        Args:
            tuples: Its tuples, sorted.
            counts: Their rows.
            number: Its number.
        """
        every = np.arange(len(tuples), dtype=np.int32)
        part = replace(
            self.whole, tuples=tuples, counts=counts, row_tuple=every, order=every.astype(np.int64), weights=counts
        )
        posed = prepare(part, self.plan.k, self.models, self.run, pricing=self.plan.pricing)
        with ThreadPoolExecutor(max_workers=1) as pool:
            search = Search(posed, self.plan.effort, self.run, pool)
            posed, found = self.method.group_section(self.plan, part, self.models, search, number)
        entries = Grouping.joined([(found.tuples, found.rows, found.groups)]).condensed(posed).entries(posed)
        partition = tight_partition(part, entries)
        entries = partition.entries
        weights = {name: float(weight) for name, weight in self.run.weights.items()}
        ends = release_ends(self.whole, partition, self.schema, self.ends or EXACT, k=self.k, moves=self.moves)
        first = np.diff(entries.tuples, prepend=-1) != 0
        place = np.cumsum(entries.rows) - entries.rows
        sizes = np.diff(np.flatnonzero(first), append=len(first))
        return SectionGroups(
            entries.tuples,
            entries.rows,
            place - np.repeat(place[first], sizes),
            np.repeat(sizes > 1, sizes),
            [cell_keys(cells)[cells.index[entries.groups]] for cells in partition.cells],
            sum_of_squares(part, entries, weights, self.whole, self.axes),
            look_for_singled(part, partition, ends, self.k, weights, self.whole),
        )


def cell_keys(cells: Cells) -> NDArray[np.object_]:
    """Return distinct cells as texts that only equal cells share: form, codes at both ends, and members of a set."""
    starts = cells.starts.tolist()
    columns = zip(cells.form.tolist(), cells.low.tolist(), cells.high.tolist(), strict=True)
    keys = [
        f"{form}:{low}:{high}:{','.join(map(str, cells.members[starts[i] : starts[i + 1]].tolist()))}"
        for i, (form, low, high) in enumerate(columns)
    ]
    return np.array(keys, dtype=object)
