"""Summary statistics before and after: marginals, means, variances and pairwise associations.

Cells are read as `shoal.metrics.features` defines: a range counts in each bin with its share, a set with each of its
members. The mean is that of the midpoints. The variance is that of the midpoints plus the variance inside the ranges,
assuming that values are uniform within a range. Both ignore rows without a number; the marginal counts these in a bin
of their own. The measure of association depends on the kinds of the two columns: |Pearson's r| of the midpoints for two
numeric columns, bias-corrected Cramer's V for two categorical columns, and the correlation ratio eta for one of each.
All lie in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.association import correlation_ratio, cramers_v, pearson
from shoal.metrics.features import Categories, Labels, Numbers, fill_kinds, fit_scale
from shoal.schema import Schema
from shoal.tables.formats import as_table
from shoal.tables.table import Table
from shoal.tables.values import date_text

__all__ = ["Association", "Bin", "ColumnMoments", "Moments", "associate", "compare_moments"]

N_BINS = 10
Floats = NDArray[np.float64]
Column = Numbers | Categories


@dataclass(frozen=True)
class Bin:
    """A category or an interval of numbers, with its share of the rows before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class ColumnMoments:
    """A column before and after.

    Attributes:
        name: The column.
        distance: Total variation distance of the marginals (half the sum of the differences of their bins), in
            [0, 1]; lower is better.
        marginal: The bins.
        mean_before: Mean of the original; dates count in days since 1970-01-01. None for categories, as are the next
            three.
        mean_after: Mean of the release.
        variance_before: Variance of the original.
        variance_after: Variance of the release.
        date_format: How the dates of the column are written; None for other columns.
    """

    name: str
    distance: float
    marginal: tuple[Bin, ...]
    mean_before: float | None = None
    mean_after: float | None = None
    variance_before: float | None = None
    variance_after: float | None = None
    date_format: str | None = None


@dataclass(frozen=True)
class Association:
    """The association of two columns before and after, in [0, 1]; `measure` is pearson, cramer or eta."""

    one: str
    other: str
    measure: str
    before: float
    after: float


@dataclass(frozen=True)
class Moments:
    """Columns and pairs of columns before and after.

    Attributes:
        columns: The statistics of each column.
        associations: The association of each pair of columns.
        distance: Mean distance of the columns, in [0, 1]; lower is better.
        association_error: Mean of |after - before| over the pairs, in [0, 1]; lower is better. 0 without pairs.
    """

    columns: tuple[ColumnMoments, ...]
    associations: tuple[Association, ...]
    distance: float
    association_error: float

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values for JSON."""
        return asdict(self)


def compare_moments(
    original: Any,
    released: Any,
    schema: Schema,
    *,
    columns: Sequence[str] | None = None,
    labels: Labels | None = None,
) -> Moments:
    """Compare the summary statistics of a release with those of its original.

    Args:
        original: The original: a table, a frame or the path of a file.
        released: The release, in any of these forms.
        schema: Schema of the original.
        columns: Columns to compare; the quasi-identifiers by default.
        labels: For each column with a hierarchy, the values under each label.

    Returns:
        The statistics of each column and each pair of columns.
    """
    names = [column.name for column in schema.qi] if columns is None else list(dict.fromkeys(columns))
    # Sorted, so that floats are always added in the same order.
    before, after = (Table(as_table(source, names).frame.select(names).sort(names)) for source in (original, released))
    schema = fill_kinds(before, schema, names)
    by_name = {column.name: column for column in schema.columns}
    cells: dict[str, tuple[Column, Column]] = {}
    for name in names:
        scale = fit_scale(before, by_name[name], schema.missing, (labels or {}).get(name))
        cells[name] = (scale.read(before), scale.read(after))
    moments = tuple(_column(*pair) for pair in cells.values())
    pairs = []
    for one, other in combinations(names, 2):
        (measure, first), (_, second) = (associate(cells[one][i], cells[other][i]) for i in (0, 1))
        pairs.append(Association(one, other, measure, first, second))
    errors = [abs(pair.after - pair.before) for pair in pairs]
    return Moments(
        moments,
        tuple(pairs),
        float(np.mean([column.distance for column in moments])),
        float(np.mean(errors)) if errors else 0.0,
    )


def _column(before: Column, after: Column) -> ColumnMoments:
    bins = tuple(_bins(before, after))
    distance = sum(abs(each.before - each.after) for each in bins) / 2
    if not isinstance(before, Numbers) or not isinstance(after, Numbers):
        return ColumnMoments(before.name, distance, bins)
    (mean, variance), (mean_after, variance_after) = _moments(before), _moments(after)
    return ColumnMoments(before.name, distance, bins, mean, mean_after, variance, variance_after, before.date_format)


def _bins(before: Column, after: Column) -> Iterator[Bin]:
    """Yield the marginal: one bin per value, or intervals with about a tenth of the original's rows each."""
    if isinstance(before, Categories) and isinstance(after, Categories):
        shares = [np.bincount(c.ranks, minlength=len(c.shares)) @ c.shares / len(c.ranks) for c in (before, after)]
        yield from (Bin(*each) for each in zip(before.values, *(s.tolist() for s in shares), strict=True))
        return
    assert isinstance(before, Numbers)
    assert isinstance(after, Numbers)
    intervals = _intervals(before.low[~before.missing])
    for i, (low, high) in enumerate(intervals):
        # The gap after an interval belongs to it; the last one is open, as a release may exceed the original's range.
        beyond = intervals[i + 1][0] if i + 1 < len(intervals) else math.inf
        last = beyond - before.step if before.step else math.nextafter(beyond, -math.inf)
        ends = (low if i else -math.inf, last)
        yield Bin(
            f"{_text(low, before)} to {_text(high, before)}", *(float(c.inside(*ends).mean()) for c in (before, after))
        )
    if before.missing.any() or after.missing.any():
        yield Bin("missing", float(before.missing.mean()), float(after.missing.mean()))


def _text(number: float, column: Numbers) -> str:
    return f"{number:g}" if column.date_format is None else date_text(number, column.date_format)


def _intervals(numbers: Floats) -> list[tuple[float, float]]:
    """Return the ends of intervals with at least a tenth of the rows each; one before a frequent number has fewer."""
    least = len(numbers) / N_BINS
    intervals: list[tuple[float, float]] = []
    first = last = math.nan
    n_rows = 0
    distinct, counts = np.unique(numbers, return_counts=True)
    for number, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        if n_rows and count >= least:  # a number that fills an interval is alone in it
            intervals.append((first, last))
            n_rows = 0
        first = number if not n_rows else first
        last, n_rows = number, n_rows + count
        if n_rows >= least:
            intervals.append((first, number))
            n_rows = 0
    return [*intervals, (first, last)] if n_rows else intervals


def _moments(column: Numbers) -> tuple[float | None, float | None]:
    """Return mean and variance, with uniform values inside a range; None if there is no number."""
    has_number = ~column.missing
    if not has_number.any():
        return None, None
    middle, width = column.middle[has_number], (column.high - column.low)[has_number]
    within = ((width + column.step) ** 2 - column.step**2) / 12
    return float(middle.mean()), float(middle.var() + within.mean())


def associate(one: Column, other: Column) -> tuple[str, float]:
    """Return the measure that fits the kinds of two columns, and their association by it."""
    if isinstance(one, Numbers) and isinstance(other, Numbers):
        return "pearson", _pearson(one, other)
    if isinstance(one, Categories) and isinstance(other, Categories):
        return "cramer", _cramer(one, other)
    numbers, categories = (one, other) if isinstance(one, Numbers) else (other, one)
    assert isinstance(numbers, Numbers)
    assert isinstance(categories, Categories)
    return "eta", _eta(numbers, categories)


def _pearson(one: Numbers, other: Numbers) -> float:
    has_number = ~(one.missing | other.missing)
    return (
        pearson(one.middle[has_number], other.middle[has_number], np.ones(int(has_number.sum())))
        if has_number.any()
        else 0.0
    )


def _cramer(one: Categories, other: Categories) -> float:
    """Return Cramer's V; a row counts for each pair of values with the product of their shares."""
    pairs, counts = np.unique(one.ranks.astype(np.int64) * len(other.shares) + other.ranks, return_counts=True)
    first, second = one.shares[pairs // len(other.shares)], other.shares[pairs % len(other.shares)]
    table = (first * counts[:, None]).T @ second
    height, width = np.nonzero(table)
    return cramers_v(height, width, table[height, width]) if len(height) else 0.0


def _eta(numbers: Numbers, categories: Categories) -> float:
    """Return the correlation ratio; a row counts for each of its categories with its share."""
    has_number = ~numbers.missing
    cells = np.column_stack([categories.ranks[has_number], numbers.middle[has_number]])
    pairs, counts = np.unique(cells, axis=0, return_counts=True)
    shares = categories.shares[pairs[:, 0].astype(np.int64)] * counts[:, None]
    places, members = np.nonzero(shares)
    return correlation_ratio(members, pairs[places, 1], shares[places, members]) if len(places) else 0.0
