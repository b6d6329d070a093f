"""Plain statistics before and after: marginals, means, variances, and how columns go together.

Every cell is read as in shoal.metrics.features, so a range counts in each bin with its share, and a set for each of its
members. The mean is that of the middles. The variance is that of the middles plus what lies inside the ranges, as if
their values were spread evenly. Rows that lack a number are left out of both, and have a bin of their own in the
marginal. Association is |Pearson's r| of the middles of two columns of numbers, Cramer's V (corrected for bias) of two
columns of categories, and the correlation ratio eta of one of each: all in [0, 1].
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

__all__ = ["Association", "Bin", "ColumnMoments", "Moments", "associate", "compare_moments"]

N_BINS = 10
Floats = NDArray[np.float64]
Column = Numbers | Categories


@dataclass(frozen=True)
class Bin:
    """A value of a category, or a stretch of numbers, with its share of the rows before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class ColumnMoments:
    """A column before and after.

    distance: total variation between the marginals, half the sum of the differences of their bins, in [0, 1], lower is
    better. Means and variances are those of numbers and dates (in days); None of categories.
    """

    name: str
    distance: float
    marginal: tuple[Bin, ...]
    mean_before: float | None = None
    mean_after: float | None = None
    variance_before: float | None = None
    variance_after: float | None = None


@dataclass(frozen=True)
class Association:
    """How two columns go together, in [0, 1]; measure: pearson, cramer or eta."""

    one: str
    other: str
    measure: str
    before: float
    after: float


@dataclass(frozen=True)
class Moments:
    """Columns, and pairs of them, before and after.

    distance: the mean of the columns' distances. association_error: the mean of |after - before| over the pairs, 0
    where there is none. Both in [0, 1], lower is better.
    """

    columns: tuple[ColumnMoments, ...]
    associations: tuple[Association, ...]
    distance: float
    association_error: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        return asdict(self)


def compare_moments(
    original: Any,
    released: Any,
    schema: Schema,
    *,
    columns: Sequence[str] | None = None,
    labels: Labels | None = None,
) -> Moments:
    """Compare the statistics of a release with those of its original: tables, frames or paths.

    columns: those to look at, else the quasi-identifiers. labels: by column, the values below each label of its
    hierarchy.
    """
    names = [column.name for column in schema.qi] if columns is None else list(dict.fromkeys(columns))
    # Sums of floats in one order, so that the last digit never varies.
    before, after = (Table(as_table(given).frame.select(names).sort(names)) for given in (original, released))
    schema = fill_kinds(before, schema, names)
    by_name = {column.name: column for column in schema.columns}
    read: dict[str, tuple[Column, Column]] = {}
    for name in names:
        scale = fit_scale(before, by_name[name], schema.missing, (labels or {}).get(name))
        read[name] = (scale.read(before), scale.read(after))
    told = tuple(_column(*pair) for pair in read.values())
    pairs = []
    for one, other in combinations(names, 2):
        (measure, first), (_, second) = (associate(read[one][i], read[other][i]) for i in (0, 1))
        pairs.append(Association(one, other, measure, first, second))
    errors = [abs(pair.after - pair.before) for pair in pairs]
    return Moments(
        told,
        tuple(pairs),
        float(np.mean([column.distance for column in told])),
        float(np.mean(errors)) if errors else 0.0,
    )


def _column(before: Column, after: Column) -> ColumnMoments:
    bins = tuple(_bins(before, after))
    distance = sum(abs(each.before - each.after) for each in bins) / 2
    if not isinstance(before, Numbers) or not isinstance(after, Numbers):
        return ColumnMoments(before.name, distance, bins)
    (mean, variance), (mean_after, variance_after) = _moments(before), _moments(after)
    return ColumnMoments(before.name, distance, bins, mean, mean_after, variance, variance_after)


def _bins(before: Column, after: Column) -> Iterator[Bin]:
    """Give the marginal: by value, or by stretches of about a tenth of the original's rows each."""
    if isinstance(before, Categories) and isinstance(after, Categories):
        shares = [np.bincount(c.ranks, minlength=len(c.shares)) @ c.shares / len(c.ranks) for c in (before, after)]
        yield from (Bin(*each) for each in zip(before.values, *(s.tolist() for s in shares), strict=True))
        return
    assert isinstance(before, Numbers)
    assert isinstance(after, Numbers)
    stretches = _stretches(before.low[~before.missing])
    for i, (low, high) in enumerate(stretches):
        # What lies between two stretches belongs to the lower one; a release may reach beyond the original's ends.
        beyond = stretches[i + 1][0] if i + 1 < len(stretches) else math.inf
        last = beyond - before.step if before.step else math.nextafter(beyond, -math.inf)
        ends = (low if i else -math.inf, last)
        yield Bin(f"{low:g} to {high:g}", *(float(c.inside(*ends).mean()) for c in (before, after)))
    if before.missing.any() or after.missing.any():
        yield Bin("missing", float(before.missing.mean()), float(after.missing.mean()))


def _stretches(numbers: Floats) -> list[tuple[float, float]]:
    """Return the ends of stretches with a tenth of the rows or more each; beside a frequent number they have fewer."""
    least = len(numbers) / N_BINS
    found: list[tuple[float, float]] = []
    first = before = math.nan
    held = 0
    distinct, counts = np.unique(numbers, return_counts=True)
    for number, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        if held and count >= least:  # a number that fills a stretch has it to itself
            found.append((first, before))
            held = 0
        first = number if not held else first
        before, held = number, held + count
        if held >= least:
            found.append((first, number))
            held = 0
    return [*found, (first, before)] if held else found


def _moments(column: Numbers) -> tuple[float | None, float | None]:
    """Return mean and variance, of a range as if its values were spread evenly; None where there is no number."""
    known = ~column.missing
    if not known.any():
        return None, None
    middle, width = column.middle[known], (column.high - column.low)[known]
    within = ((width + column.step) ** 2 - column.step**2) / 12
    return float(middle.mean()), float(middle.var() + within.mean())


def associate(one: Column, other: Column) -> tuple[str, float]:
    """Return the measure that fits two columns of the same rows, and how they go together by it."""
    if isinstance(one, Numbers) and isinstance(other, Numbers):
        return "pearson", _pearson(one, other)
    if isinstance(one, Categories) and isinstance(other, Categories):
        return "cramer", _cramer(one, other)
    numbers, categories = (one, other) if isinstance(one, Numbers) else (other, one)
    assert isinstance(numbers, Numbers)
    assert isinstance(categories, Categories)
    return "eta", _eta(numbers, categories)


def _pearson(one: Numbers, other: Numbers) -> float:
    known = ~(one.missing | other.missing)
    return pearson(one.middle[known], other.middle[known], np.ones(int(known.sum()))) if known.any() else 0.0


def _cramer(one: Categories, other: Categories) -> float:
    """Return Cramer's V of shares: a row counts for each pair of values with the product of theirs."""
    pairs, counts = np.unique(one.ranks.astype(np.int64) * len(other.shares) + other.ranks, return_counts=True)
    first, second = one.shares[pairs // len(other.shares)], other.shares[pairs % len(other.shares)]
    table = (first * counts[:, None]).T @ second
    height, width = np.nonzero(table)
    return cramers_v(height, width, table[height, width]) if len(height) else 0.0


def _eta(numbers: Numbers, categories: Categories) -> float:
    """Return the correlation ratio of shares: a row counts for each of its categories with its share."""
    known = ~numbers.missing
    alike = np.column_stack([categories.ranks[known], numbers.middle[known]])
    pairs, counts = np.unique(alike, axis=0, return_counts=True)
    shares = categories.shares[pairs[:, 0].astype(np.int64)] * counts[:, None]
    places, members = np.nonzero(shares)
    return correlation_ratio(members, pairs[places, 1], shares[places, members]) if len(places) else 0.0
