"""Distribution of a column before and after the release; for the private part of a report only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from shoal.charts.bins import bins_of
from shoal.metrics.released_cells import CategoryReader, cell_counts, numbers_of
from shoal.report.columns import ReleasedColumn
from shoal.schema import Kind
from shoal.tables.table import Table

__all__ = ["Share", "spread_of"]

MOST_VALUES = 12
STAR, REST, HIDDEN, MISSING = "*", "other values", "shown as * or suppressed", "missing"


@dataclass(frozen=True)
class Share:
    """Rows of one value or interval before and after; a released range counts evenly for all that it covers."""

    name: str
    before: float
    after: float


def spread_of(both: ReleasedColumn) -> list[Share]:
    """Return the distribution of a quasi-identifier before and after the release."""
    column, missing = both.column, both.missing
    before = _counted(both.original, column.name)
    after = _counted(both.released, column.name)
    suppressed = sum(before.values()) - sum(after.values())
    if column.kind is None or not column.kind.is_measured:
        shares = _values(before, after, CategoryReader(_domain(before, missing), frozenset(missing), both.under))
    else:
        shares = _intervals(both, before, after)
    hidden = suppressed + after.get(STAR, 0) * (STAR not in before)
    return [*shares, Share(HIDDEN, 0, hidden)] if hidden else shares


def _counted(table: Table, name: str) -> dict[str, int]:
    return cell_counts(table.factor(name).texts.to_list(), table.counts(name).tolist())


def _domain(before: Mapping[str, int], missing: Sequence[str]) -> frozenset[str]:
    return frozenset("" if text in missing else text for text in before)


def _values(before: Mapping[str, int], after: Mapping[str, int], reader: CategoryReader) -> list[Share]:
    first: dict[str, float] = {}
    for text, rows in before.items():
        value = "" if text in reader.missing else text
        first[value] = first.get(value, 0) + rows
    then = dict.fromkeys(first, 0.0)
    for text, rows in sorted(after.items()):
        if text == STAR and STAR not in first:
            continue
        value = "" if text in reader.missing else text
        members = {value} if value in first else reader.members(text)
        for member in sorted(members):
            then[member] += rows / len(members)
    ranked = sorted(first, key=lambda value: (-first[value], value))
    shares = [Share(value or MISSING, first[value], then[value]) for value in ranked[:MOST_VALUES]]
    other_values = ranked[MOST_VALUES:]
    if other_values:
        shares.append(
            Share(REST, sum(first[value] for value in other_values), sum(then[value] for value in other_values))
        )
    return shares


def _intervals(both: ReleasedColumn, before: Mapping[str, int], after: Mapping[str, int]) -> list[Share]:
    column, missing = both.column, both.missing
    texts = [text for text in before if text not in missing]
    if not texts:
        return []
    number = dict(zip(texts, map(float, numbers_of(column, texts)[0]), strict=True))
    rows: dict[float, int] = {}
    for text, value in number.items():
        rows[value] = rows.get(value, 0) + before[text]
    bins = bins_of(rows, dates=column.kind is Kind.DATE)
    first, then = np.zeros(len(bins.names)), np.zeros(len(bins.names))
    for value, count in rows.items():
        first[bins.place(value)] += count
    low, high = min(rows), max(rows)
    for text, count in sorted(after.items()):
        if text in missing or text == STAR:
            continue
        start, end = _range(both, text, number)
        then += count * bins.cover(max(start, low), min(end, high))
    shares = _without_gaps([Share(name, float(first[i]), float(then[i])) for i, name in enumerate(bins.names)])
    absent = [sum(rows for text, rows in counted.items() if text in missing) for counted in (before, after)]
    return [*shares, Share(MISSING, *absent)] if any(absent) else shares


def _without_gaps(shares: Sequence[Share]) -> list[Share]:
    """Join neighbouring bins that no row of the original has; leave out a stretch that no cell covers either."""
    kept: list[Share] = []
    for is_empty, some in groupby(shares, key=lambda share: not share.before):
        stretch = list(some)
        if not is_empty:
            kept += stretch
        elif after := sum(share.after for share in stretch):
            ends = dict.fromkeys((stretch[0].name, stretch[-1].name))
            kept.append(Share(" ... ".join(ends), 0, after))
    return kept


def _range(both: ReleasedColumn, text: str, number: Mapping[str, float]) -> tuple[float, float]:
    ends, under, column = both.ends, both.under, both.column
    bounds = ends.get(text, (text, text))
    if bounds == (text, text) and text in under and text not in number:
        inside = [number[value] for value in under[text] if value in number]
        return (min(inside), max(inside)) if inside else (0.0, 0.0)
    if all(end in number for end in bounds):
        return number[bounds[0]], number[bounds[1]]
    low, high = map(float, numbers_of(column, list(bounds))[0])
    return low, high
