"""The released groups that a row of the original can belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.base import Hierarchy
from shoal.metrics.column_loss import Baseline
from shoal.metrics.released_cells import SUPPRESSED, CategoryReader, OrderedReader, cell_counts, numbers_of
from shoal.schema import Column, Schema
from shoal.tables.table import Table
from shoal.tables.values import normalise

__all__ = ["Coverage", "fitting_groups"]


@dataclass(frozen=True)
class Coverage:
    """What the released cells of a column cover.

    Attributes:
        column: The column.
        baseline: What the column of the original has to lose.
        under: The values below each label of its hierarchy.
    """

    column: Column
    baseline: Baseline
    under: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, original: Table, column: Column, schema: Schema, hierarchy: Hierarchy | None) -> Coverage:
        """Return the coverage of a column of the original."""
        counts = cell_counts(original.factor(column.name).texts.to_list(), original.counts(column.name).tolist())
        baseline = Baseline.of(column, counts, schema, hierarchy=hierarchy)
        return cls(column, baseline, hierarchy.values_under() if hierarchy else {})

    def covers(self, cell: str, value: str) -> bool:
        """Return whether a released cell covers a value, both in normalised form."""
        missing = self.baseline.missing
        if cell == value or (cell in missing and value in missing):
            return True
        if cell in self.under:
            return value in self.under[cell]
        if cell in SUPPRESSED:
            return cell not in missing
        reader = self.baseline.cells
        if isinstance(reader, CategoryReader):
            return ("" if value in missing else value) in reader.members(cell)
        if not isinstance(reader, OrderedReader) or value in missing:
            return False
        bounds, (numbers, misfits) = reader.bounds(cell), numbers_of(self.column, [value])
        if bounds is None or misfits:
            return False
        number = float(numbers[0])
        if cell[-1:] in (")", "["):  # a half-open range ends before its bound, whatever the step between values
            return bounds[0] <= number < bounds[1] + reader.step
        return bounds[0] <= number <= bounds[1]

    def loss(self, cell: str) -> float:
        """Return the loss (NCP) of a released cell."""
        loss = self.baseline.loss_of_text(cell)
        return 1.0 if loss is None else loss.ncp

    def n_values(self, cell: str) -> int:
        """Return how many values of the original a released cell covers."""
        loss = self.baseline.loss_of_text(cell)
        return 1 if loss is None else 1 + loss.further


def fitting_groups(
    original: Table, released: Table, row: int, coverages: Sequence[Coverage], others: Sequence[str]
) -> list[NDArray[np.int64]]:
    """Return the released rows of each group that a row of the original can belong to.

    Args:
        original: The original.
        released: The release.
        row: The row of the original, from 0.
        coverages: What the cells of each quasi-identifier cover.
        others: Columns that are released unchanged; a group fits if one of its rows has their cells.
    """
    names = [coverage.column.name for coverage in coverages]
    fits = np.ones(released.height, dtype=bool)
    for coverage in coverages:
        value = normalise(original.frame[coverage.column.name][row])
        ranks, texts = released.factor(coverage.column.name)
        fits &= np.array([coverage.covers(normalise(text), value) for text in texts.to_list()], dtype=bool)[ranks]
    same = fits.copy()
    for name in others:
        value = normalise(original.frame[name][row])
        ranks, texts = released.factor(name)
        same &= np.array([normalise(text) == value for text in texts.to_list()], dtype=bool)[ranks]
    labels = released.group_labels(names)
    return [np.flatnonzero(labels == label) for label in np.unique(labels[same])]
