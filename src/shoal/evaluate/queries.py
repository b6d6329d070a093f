"""Random range queries: counts on the release compared with counts on the original.

A query selects rows by one or more quasi-identifiers. For numbers and dates it draws two rows of the original and takes
the range between their values; for categories it includes each value with probability 1/2, and at least one. The
original answers with a count. The release answers with an expected count: each released row counts with the probability
that it matches, assuming that all values covered by a cell are equally likely (see `shoal.metrics.features`) and that
columns are independent within a row. The relative error is |release - original| / max(original, 0.1 % of the rows);
without this floor, a query that matches a single row would outweigh all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError, setting
from shoal.evaluate import confidence
from shoal.metrics.features import Categories, CategoryScale, Labels, Numbers, Scale, fill_kinds, fit_scale
from shoal.schema import Role, Schema
from shoal.tables.formats import as_table
from shoal.tables.table import Table

__all__ = ["FLOOR", "Queries", "QueryErrors", "ask_queries", "draw_queries"]

N_QUERIES = 1000
FLOOR = 0.001  # smallest denominator of a relative error, as a share of the rows

Floats = NDArray[np.float64]
# For each column, the ends of a range, or which of the categories are included.
Query = dict[str, tuple[float, float] | NDArray[np.bool_]]


@dataclass(frozen=True)
class Queries:
    """Range queries on the scales of the original's columns."""

    scales: tuple[Scale, ...]
    queries: tuple[Query, ...]

    def answer(self, table: Table, progress: Callable[[float], None] = lambda share: None) -> Floats:
        """Return the answer of a table, original or released, to each query.

        Args:
            table: The table.
            progress: Called with the completed share of the queries.
        """
        columns = _Rows.of(table, self.scales)
        answers = np.empty(len(self.queries))
        for i, query in enumerate(self.queries):
            answers[i] = columns.count(query)
            if (i + 1) % 50 == 0 or i + 1 == len(self.queries):
                progress((i + 1) / len(self.queries))
        return answers


@dataclass(frozen=True)
class QueryErrors:
    """Relative errors of the answers of a release; at least 0, lower is better.

    Attributes:
        queries: Number of queries.
        mean: Mean error.
        low: Lower end of the 95 % confidence interval of the mean (normal, over the queries).
        high: Upper end of the interval.
        median: Median error.
        p90: 90th percentile.
        errors: The error of each query.
    """

    queries: int
    mean: float
    low: float
    high: float
    median: float
    p90: float
    errors: tuple[float, ...] = field(repr=False)


@dataclass(frozen=True)
class _Rows:
    """The distinct rows of a table, read on the scales, with their counts."""

    columns: dict[str, Numbers | Categories]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, scales: Sequence[Scale]) -> _Rows:
        import polars as pl

        names = [scale.column.name for scale in scales]
        groups = table.frame.select(names).group_by(names).agg(pl.len().alias("rows of the table")).sort(names)
        distinct = Table(groups.select(names))
        counts = groups["rows of the table"].to_numpy().astype(np.int64)
        return cls({scale.column.name: scale.read(distinct) for scale in scales}, counts)

    def count(self, query: Query) -> float:
        matches = self.counts.astype(np.float64)
        for name, condition in query.items():
            column = self.columns[name]
            if isinstance(column, Numbers):
                low, high = condition
                matches *= column.inside(low, high)
            else:
                matches *= column.inside(np.asarray(condition))
        return float(matches.sum())


def draw_queries(original: Table, schema: Schema, n_queries: int, seed: int, labels: Labels | None = None) -> Queries:
    """Draw random queries over the quasi-identifiers of a table; the order of its rows does not matter."""
    if n_queries < 2:
        raise UsageError(f"{setting('queries', n_queries)} is too few. Use at least 2; 1,000 give narrow intervals.")
    schema = fill_kinds(original, schema, [column.name for column in schema.qi])
    scales = tuple(fit_scale(original, c, schema.missing, (labels or {}).get(c.name)) for c in schema.qi)
    generator = np.random.default_rng(seed)
    numbers = {scale.column.name: _sorted_numbers(scale, original) for scale in scales}
    return Queries(scales, tuple(_draw(scales, numbers, generator) for _ in range(n_queries)))


def _sorted_numbers(scale: Scale, original: Table) -> Floats:
    """Return the numbers of a column, one for each row that has one, in ascending order."""
    column = scale.read(original)
    return np.sort(column.low[~column.missing]) if isinstance(column, Numbers) else np.empty(0)


def _draw(scales: Sequence[Scale], numbers: dict[str, Floats], generator: np.random.Generator) -> Query:
    n_columns = int(generator.integers(1, len(scales) + 1))
    query: Query = {}
    for at in sorted(generator.permutation(len(scales))[:n_columns].tolist()):
        scale = scales[at]
        if isinstance(scale, CategoryScale):
            included = generator.random(len(scale.values)) < 0.5
            included[generator.integers(len(scale.values))] = True
            query[scale.column.name] = included
            continue
        choices = numbers[scale.column.name]
        ends = choices[generator.integers(0, len(choices), 2)] if len(choices) else np.zeros(2)
        query[scale.column.name] = (float(ends.min()), float(ends.max()))
    return query


def ask_queries(
    original: Any,
    released: Any,
    schema: Schema,
    *,
    n_queries: int = N_QUERIES,
    seed: int = 0,
    labels: Labels | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> QueryErrors:
    """Answer random range queries from a release, and measure the errors of the answers.

    Args:
        original: The original: a table, a frame or the path of a file.
        released: The release, in any of these forms.
        schema: Schema of the original.
        n_queries: Number of queries.
        seed: Seed of the queries.
        labels: For each column with a hierarchy, the values under each label.
        progress: Called with the completed share of the work.

    Returns:
        The relative errors.
    """
    before, after = (as_table(source, schema.names(Role.QI)) for source in (original, released))
    queries = draw_queries(before, schema, n_queries, seed, labels)
    truth = queries.answer(before, lambda share: progress(share / 2))
    answers = queries.answer(after, lambda share: progress(0.5 + share / 2))
    errors = np.abs(answers - truth) / np.maximum(truth, FLOOR * before.n_rows)
    low, high = confidence.of_mean(errors.tolist())
    return QueryErrors(
        queries=n_queries,
        mean=float(errors.mean()),
        low=low,
        high=high,
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        errors=tuple(errors.tolist()),
    )
