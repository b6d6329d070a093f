"""A stand-in for a table of which only the counts of single columns are known, and for its release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.ends import Movement
from shoal.encoding.partition import SET, Cells, Entries, Partition
from shoal.metrics.measure import GroupSizes
from shoal.metrics.partition_loss import CellFacts
from shoal.metrics.singled import Singled
from shoal.release.cells.show import Shown
from shoal.release.counted_tables.centered import Centered, stand_in_centers
from shoal.release.counted_tables.searcher import Found
from shoal.release.make import Plan
from shoal.rules import compile_rules

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Coupled", "Measured", "cells_of", "couple", "show_found"]


@dataclass
class Measured:
    """Groups, and their sizes once these were asked for; see `JointGroups`."""

    found: Found
    sizes: GroupSizes | None = None

    @property
    def sse(self) -> float:
        """The sum of squares inside groups over that of the table."""
        return self.found.sse

    @property
    def singled(self) -> Singled:
        """What the cells show of single rows."""
        return self.found.singled

    def group_sizes(self, columns: Sequence[CellFacts], n_rows: int) -> GroupSizes:
        """Return the sizes of the groups that the release shows, and the rows that are exact in every column."""
        self.sizes = self.found.group_sizes(columns, n_rows)
        return self.sizes


class Coupled(NamedTuple):
    """Few weighted rows with the counts of several columns.

    Attributes:
        places: For each column, the value of each row.
        weights: How often each row occurs.
    """

    places: list[NDArray[np.int64]]
    weights: NDArray[np.int64]


def couple(counts: Sequence[NDArray[np.int64]]) -> Coupled:
    """Return rows in which each value of each column has its count; values ascend from row to row.

    Args:
        counts: For each column, the count of each value. All columns have the same total.
    """
    ends = [np.cumsum(each) for each in counts]
    borders = np.unique(np.concatenate(ends))
    borders = borders[borders > 0]
    places = [np.searchsorted(each, borders) for each in ends]
    return Coupled(places, np.diff(borders, prepend=0).astype(np.int64))


def cells_of(keys: pl.Series) -> Cells:
    """Return distinct cells from their keys; see `cell_keys`."""
    import polars as pl

    parts = keys.str.split_exact(":", 3).struct.unnest()
    form, low, high = (parts.to_series(i).cast(pl.Int32).to_numpy() for i in range(3))
    sets = parts.to_series(3)
    is_set = (sets != "").to_numpy()
    assert (is_set == (form == SET)).all()
    members = sets.filter(pl.Series(is_set)).str.split(",")
    lengths = np.zeros(len(keys), dtype=np.int64)
    lengths[is_set] = members.list.len().to_numpy()
    return Cells(
        index=np.arange(len(keys), dtype=np.int32),
        form=form.astype(np.int8),
        low=low,
        high=high,
        starts=np.append(0, np.cumsum(lengths)).astype(np.int64),
        members=members.explode().cast(pl.Int32).to_numpy().astype(np.int32),
    )


def show_found(plan: Plan, found: Found, groups: Measured, moves: tuple[Movement, ...]) -> Shown:
    """Return the cells of all groups over a stand-in of the table and the release together."""
    encoded = plan.encoded
    histograms, shown = encoded.histograms, [rows for _, rows in found.cells]
    n_left_out = encoded.n_rows - int(shown[0].sum())
    of_centers = found.shown if plan.request.has_centers and isinstance(found, Centered) else []
    of_cells = [np.append(rows, n_left_out) for rows in shown]
    places, weights = couple([*histograms, *of_cells, *(np.append(rows, n_left_out) for _, rows in of_centers)])
    codes = np.column_stack(places[: len(histograms)]).astype(np.int32)
    tuples, of_rows = np.unique(codes, axis=0, return_inverse=True)
    row_tuple: NDArray[np.int32] = of_rows.reshape(-1).astype(np.int32)
    every = np.arange(len(weights), dtype=np.int32)
    table = replace(
        encoded,
        tuples=np.ascontiguousarray(tuples),
        counts=np.bincount(row_tuple, weights=weights).astype(np.int64),
        row_tuple=row_tuple,
        order=np.minimum(every, plan.table.height - 1).astype(np.int64),
        weights=weights,
        others={},
        counted=(),
    )
    kept = places[len(histograms)] < len(shown[0])  # rows that are left out come last in every column
    cells = tuple(
        replace(cells_of(keys), index=place[kept].astype(np.int32))
        for (keys, _), place in zip(found.cells, places[len(histograms) :], strict=False)
    )
    labels = np.where(kept, every, -1).astype(np.int32)
    partition = Partition(Entries(row_tuple, weights, labels), cells, weights=weights)
    schema = replace(plan.schema, columns=tuple(plan.schema.qi))
    rules, centers = compile_rules(plan.run.rules, encoded.attributes), None
    if isinstance(found, Centered) and of_centers:
        centers = stand_in_centers(found, places[len(histograms) + len(shown) :], schema, plan.request)
    return Shown(schema, table, partition, rules, groups, moves, centers)
