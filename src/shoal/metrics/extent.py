"""What cells keep of a column: their mean width, and of centres mean and spread; and how large groups of rows are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.prefix import look_like_codes
from shoal.metrics.column_loss import Baseline, ColumnLoss
from shoal.metrics.released_cells import numbers_of, unreadable_cell
from shoal.schema import DURATION, Column, Kind, split_unit
from shoal.tables.table import Table
from shoal.tables.values import normalise

__all__ = [
    "DAY",
    "CenterFigures",
    "ColumnExtent",
    "GroupSizes",
    "center_figures",
    "exact_cells",
    "extent_of",
    "mean_over_rows",
    "spread_names",
    "squares_of_centers",
    "unit_of",
    "vanished_values",
]

DAY = 86_400.0
LARGEST_ROOT = 1e150  # whose square is a float64, even times the number of rows


@dataclass(frozen=True)
class GroupSizes:
    """How the rows of a release are grouped.

    Attributes:
        sizes: The rows of each group, fully suppressed rows included; with `times`, each size once.
        n_rows: The number of rows of the original.
        n_kept: The number of released rows.
        n_starred: The number of released rows that are suppressed in every quasi-identifier. If there are k or more of
            them, they are a group like any other.
        n_exact: The number of released rows whose quasi-identifiers are all as they were.
        times: The number of groups of each size; by default one.
        people: If people are counted, those of each group; without rows that are suppressed in every quasi-identifier.
    """

    sizes: NDArray[np.int64]
    n_rows: int
    n_kept: int
    n_starred: int
    n_exact: int
    times: NDArray[np.int64] | None = None
    people: NDArray[np.int64] | None = None

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.sizes) if self.times is None else int(self.times.sum())

    def each(self) -> NDArray[np.int64]:
        """Return the rows of each group, without rows that are suppressed in every quasi-identifier."""
        sizes = self.sizes if self.times is None else np.repeat(self.sizes, self.times)
        if not self.n_starred:
            return sizes
        return np.delete(sizes, np.flatnonzero(sizes == self.n_starred)[0])  # they are one group

    def least(self, k: int | None) -> int:
        """Return k, or the size of the smallest group if k is not given."""
        return int(self.sizes.min()) if k is None else k

    def n_hidden(self, k: int) -> int:
        """Return the number of released rows that count as suppressed: fully suppressed rows, if fewer than k."""
        return self.n_starred if self.n_starred < k else 0

    def discernibility(self, k: int) -> int:
        """Return the discernibility metric: each row counts the rows of its group, or all rows if it is suppressed."""
        times = [1] * len(self.sizes) if self.times is None else self.times.tolist()
        pairs = zip(self.sizes.tolist(), times, strict=True)
        squares = sum(n * (size * size if size >= k else self.n_rows * size) for size, n in pairs)
        return int(squares) + self.n_rows * (self.n_rows - self.n_kept)


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


@dataclass(frozen=True)
class CenterFigures:
    """What centres keep of a column.

    Attributes:
        values_before: The number of distinct values of the original.
        values_after: The number of distinct values of the release.
        vanished: How many values of an original category no released row shows; None for numbers and dates.
        mean_before: The mean of the original; of dates, in days since the year 1. None for categories, as are the next
            four.
        mean_after: The mean of the release.
        sd_before: The standard deviation of the original.
        sd_after: The standard deviation of the release.
        sd_ratio: The second over the first; None if the original does not vary.
    """

    values_before: int
    values_after: int
    vanished: int | None = None
    mean_before: float | None = None
    mean_after: float | None = None
    sd_before: float | None = None
    sd_after: float | None = None
    sd_ratio: float | None = None


def spread_names(name: str) -> tuple[str, str]:
    """Return what the column with the spread of another may be called: for numbers and dates, and for categories."""
    return f"{name}_sd", f"{name}_share"


def center_figures(original: Table, released: Table, column: Column, missing: Collection[str]) -> CenterFigures:
    """Return what centres keep of a column.

    Args:
        original: The original.
        released: The release.
        column: The column, with its kind.
        missing: The texts that mean a missing value.

    Raises:
        InputError: A cell of the release cannot be read.
    """
    before, after = (_known(table, column.name, missing) for table in (original, released))
    if column.kind is None or not column.kind.is_measured:
        return CenterFigures(len(before), len(after), len(vanished_values(original, released, column, missing)))
    (mean, deviation, n_before), (mean_after, deviation_after, n_after) = (
        _moments(column, counts) for counts in (before, after)
    )
    ratio = deviation_after / deviation if deviation and deviation_after is not None else None
    return CenterFigures(n_before, n_after, None, mean, mean_after, deviation, deviation_after, ratio)


def squares_of_centers(
    original: Table,
    kept: float,
    figures: Mapping[str, CenterFigures],
    weights: Mapping[str, float],
    missing: Collection[str],
) -> float | None:
    """Return the sum of squares inside groups whose means are released, over that of the table.

    The squares of a table around its mean are those inside groups and those of the means of the groups.

    Args:
        original: The original.
        kept: The share of the rows that are released.
        figures: What centres, which must be means, keep of each quasi-identifier.
        weights: Of the quasi-identifiers.
        missing: The texts that mean a missing value.

    Returns:
        A share in [0, 1]; None if a quasi-identifier is a category or has missing values.
    """
    lost = total = 0.0
    for name, each in figures.items():
        if each.mean_before is None or each.mean_after is None or each.sd_before is None or each.sd_after is None:
            return None
        if sum(_known(original, name, missing).values()) < original.n_rows:
            return None
        if each.sd_before:
            between = each.sd_after**2 + (each.mean_after - each.mean_before) ** 2
            lost += weights[name] * (1 - kept * between / each.sd_before**2)
            total += weights[name]
    return min(1.0, max(0.0, lost / total)) if total else 0.0


def vanished_values(original: Table, released: Table, column: Column, missing: Collection[str]) -> list[str]:
    """Return the values of an original category that no released row shows, the most frequent first."""
    before, after = (_known(table, column.name, missing) for table in (original, released))
    if column.kind is Kind.BOOLEAN:  # words that mean the same are one value
        shown = {_truth(column, text) for text in after}
        return [text for text in _ranked(before) if _truth(column, text) not in shown]
    return [text for text in _ranked(before) if text not in after]


def _truth(column: Column, text: str) -> object:
    """Return what a word for yes or no means."""
    numbers, misfits = numbers_of(column, [text])
    return text if misfits else numbers[0]


def _ranked(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda text: (-counts[text], text))


def _known(table: Table, name: str, missing: Collection[str]) -> dict[str, int]:
    """Return the rows of each value of a column in its normal form, without missing ones."""
    counts: dict[str, int] = {}
    for text, rows in zip(table.factor(name).texts.to_list(), table.counts(name).tolist(), strict=True):
        value = normalise(text)
        if value not in missing and rows:
            counts[value] = counts.get(value, 0) + rows
    return counts


def _moments(column: Column, counts: Mapping[str, int]) -> tuple[float | None, float | None, int]:
    """Return the mean and the standard deviation of numbers or dates, in days, and how many differ."""
    texts = sorted(counts)
    numbers, misfits = numbers_of(column, texts)
    if misfits:
        raise unreadable_cell(column.name, None)
    if not texts:
        return None, None, 0
    unit = DAY if column.kind is Kind.DATE else 1.0
    array, rows = np.array([float(number) / unit for number in numbers]), np.array([counts[text] for text in texts])
    mean = mean_over_rows(array, rows)
    unit = max(1.0, float(abs(array - mean).max()) / LARGEST_ROOT)  # squares must not overflow
    return mean, unit * mean_over_rows(((array - mean) / unit) ** 2, rows) ** 0.5, len(set(numbers))


def mean_over_rows(values: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
    """Return the mean of values, each of some rows; a sum of the largest numbers does not overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values @ rows / rows.sum())
    return mean if np.isfinite(mean) else float(values @ (rows / rows.sum()))


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
        width = width if np.isfinite(width) else None
    mean_values = 1 + loss.further / n_rows if n_rows else 1.0
    shown = frozenset[str]() if width is not None else baseline.rows.keys() - set(baseline.missing)
    return ColumnExtent(mean_values, width, unit_of(column, shown))


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
