"""How wide the cells of a column are on average: the number of values that they cover, and the width in its unit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.prefix import look_like_codes
from shoal.metrics.column_loss import Baseline, ColumnLoss
from shoal.schema import DURATION, Column, Kind, split_unit

__all__ = ["DAY", "ColumnExtent", "exact_cells", "extent_of", "unit_of"]

DAY = 86_400.0


@dataclass(frozen=True)
class ColumnExtent:
    """How wide the cells of a column are on average; a suppressed cell or row covers the whole column.

    Attributes:
        mean_values: The number of distinct values of the column that a cell covers, 1 for an exact cell; None if it is
            not known.
        mean_width: The distance between the ends of a cell, 0 for an exact cell; None for a category, or if it is not
            known.
        unit: The unit of the width: "days" for dates, that of the cells (such as "cm") or nothing for numbers. For
            categories, what the values are: "codes" or "values".
    """

    mean_values: float | None
    mean_width: float | None
    unit: str


def extent_of(baseline: Baseline, loss: ColumnLoss, n_rows: int) -> ColumnExtent:
    """Return how wide the cells of a column are.

    Args:
        baseline: The column of the original.
        loss: The sums over its released cells.
        n_rows: The number of rows of the original.
    """
    column = baseline.column
    width = None
    if column.kind is not None and column.kind.is_measured:
        width = loss.width / n_rows / (DAY if column.kind is Kind.DATE else 1.0) if n_rows else 0.0
    mean_values = 1 + loss.further / n_rows if n_rows else 1.0
    return ColumnExtent(mean_values, width, unit_of(column, baseline.rows.keys() - set(baseline.missing)))


def unit_of(column: Column, values: Collection[str]) -> str:
    """Return the unit of a column; categories are codes if these values look like codes."""
    if column.kind is Kind.DATE:
        return "days"
    if column.kind is Kind.NUMERIC:
        return "seconds" if column.unit == DURATION else "".join(split_unit(column.unit)).strip() if column.unit else ""
    return "codes" if look_like_codes(values) else "values"


def exact_cells(baseline: Baseline, counts: Mapping[str, int], texts: Iterable[str]) -> NDArray[np.bool_]:
    """Return for each released text of a column whether its cells are as they were.

    A missing cell is exact if the release has no more of them than the original.

    Args:
        baseline: The column of the original.
        counts: The number of rows of each distinct released cell.
        texts: Released texts in normalised form.
    """
    missing = frozenset(baseline.missing)
    before, after = (sum(n for text, n in rows.items() if text in missing) for rows in (baseline.before, counts))
    if baseline.is_as_it_was(counts):
        return np.ones(len(list(texts)), dtype=bool)
    return np.array([after <= before if text in missing else baseline.is_value(text) for text in texts], dtype=bool)
