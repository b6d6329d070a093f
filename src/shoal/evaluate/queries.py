"""Random range queries: how many rows does a release say there are, and how many were there?

A query names some of the quasi-identifiers, one or more. Of numbers and dates it takes a range between the values of
two rows of the original drawn at random, of categories each value with chance 1/2 (at least one). The answer of the
original is a count. That of the release is a sum of shares: a released row counts with the share of its cells that lies
inside, as if every value that a cell stands for were as likely as another (shoal.metrics.features) and columns were
independent inside a row. The relative error is |release - original| / max(original, 0.1 % of the rows): without that
floor a query which meets one row would outweigh all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.evaluate import confidence
from shoal.metrics.features import Categories, CategoryScale, Labels, Numbers, Scale, fill_kinds, fit_scale
from shoal.schema import Schema
from shoal.tables.formats import as_table
from shoal.tables.table import Table

__all__ = ["FLOOR", "Queries", "QueryErrors", "ask_queries", "draw_queries"]

N_QUERIES = 1000
FLOOR = 0.001  # share of the rows below which an answer counts as this share

Floats = NDArray[np.float64]
# By column, the least and greatest number of a range, or the chosen ones among the values of a category.
Query = dict[str, tuple[float, float] | NDArray[np.bool_]]


@dataclass(frozen=True)
class Queries:
    """Queries, and the scales of the original's columns that they are written in."""

    scales: tuple[Scale, ...]
    queries: tuple[Query, ...]

    def answer(self, table: Table, progress: Callable[[float], None] = lambda share: None) -> Floats:
        """Return the answer of a table, original or released, to each query."""
        columns = _Rows.of(table, self.scales)
        answers = np.empty(len(self.queries))
        for i, query in enumerate(self.queries):
            answers[i] = columns.count(query)
            if (i + 1) % 50 == 0 or i + 1 == len(self.queries):
                progress((i + 1) / len(self.queries))
        return answers


@dataclass(frozen=True)
class QueryErrors:
    """Relative errors of the answers of a release, 0 or more, lower is better.

    mean with its 95 % interval (low, high: normal, over the queries), median, and p90, below which 9 of 10 queries lie.
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
    """The rows of a table as what they stand for, those that are alike taken together."""

    columns: dict[str, Numbers | Categories]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, scales: Sequence[Scale]) -> _Rows:
        import polars as pl

        names = [scale.column.name for scale in scales]
        alike = table.frame.select(names).group_by(names).agg(pl.len().alias("rows of the table")).sort(names)
        distinct = Table(alike.select(names))
        counts = alike["rows of the table"].to_numpy().astype(np.int64)
        return cls({scale.column.name: scale.read(distinct) for scale in scales}, counts)

    def count(self, query: Query) -> float:
        share = self.counts.astype(np.float64)
        for name, wanted in query.items():
            column = self.columns[name]
            if isinstance(column, Numbers):
                low, high = wanted
                share *= column.inside(low, high)
            else:
                share *= column.inside(np.asarray(wanted))
        return float(share.sum())


def draw_queries(original: Table, schema: Schema, n_queries: int, seed: int, labels: Labels | None = None) -> Queries:
    """Draw queries over the quasi-identifiers of a table; the order of its rows does not matter."""
    if n_queries < 2:
        raise UsageError(f"queries={n_queries}: ask two or more; 1,000 give narrow intervals.")
    schema = fill_kinds(original, schema, [column.name for column in schema.qi])
    scales = tuple(fit_scale(original, c, schema.missing, (labels or {}).get(c.name)) for c in schema.qi)
    generator = np.random.default_rng(seed)
    known = {scale.column.name: _known(scale, original) for scale in scales}
    return Queries(scales, tuple(_draw(scales, known, generator) for _ in range(n_queries)))


def _known(scale: Scale, original: Table) -> Floats:
    """Return the numbers of a column in order, of each row one."""
    read = scale.read(original)
    return np.sort(read.low[~read.missing]) if isinstance(read, Numbers) else np.empty(0)


def _draw(scales: Sequence[Scale], known: dict[str, Floats], generator: np.random.Generator) -> Query:
    n_columns = int(generator.integers(1, len(scales) + 1))
    query: Query = {}
    for at in sorted(generator.permutation(len(scales))[:n_columns].tolist()):
        scale = scales[at]
        if isinstance(scale, CategoryScale):
            chosen = generator.random(len(scale.values)) < 0.5
            chosen[generator.integers(len(scale.values))] = True
            query[scale.column.name] = chosen
            continue
        numbers = known[scale.column.name]
        two = numbers[generator.integers(0, len(numbers), 2)] if len(numbers) else np.zeros(2)
        query[scale.column.name] = (float(two.min()), float(two.max()))
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
    """Ask a release what the original knows, and tell by how much its answers are wrong.

    original, released: tables, frames or paths. labels: by column, the values below each label of its hierarchy.
    """
    before, after = as_table(original), as_table(released)
    asked = draw_queries(before, schema, n_queries, seed, labels)
    truth = asked.answer(before, lambda share: progress(share / 2))
    answers = asked.answer(after, lambda share: progress(0.5 + share / 2))
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
