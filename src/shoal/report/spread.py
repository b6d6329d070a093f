"""Distribution of a column before and after the release; for the private part of a report only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.released_cells import CategoryReader, numbers_of
from shoal.report.columns import ReleasedColumn
from shoal.schema import Column, Kind
from shoal.tables.table import Table

__all__ = ["Share", "spread_of"]

MOST_VALUES = 12
N_BINS = 12
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
    return dict(zip(table.factor(name).texts.to_list(), table.counts(name).tolist(), strict=True))


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
    number = dict(zip(texts, map(_scaled(column), numbers_of(column, texts)[0]), strict=True))
    low, high = min(number.values()), max(number.values())
    integers = all(value == int(value) for value in number.values()) or column.kind is Kind.DATE
    edges = _edges(low, high, integers=integers)
    first, then = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    for text, rows in before.items():
        if text in number:
            first[_bin(edges, number[text])] += rows
    for text, rows in sorted(after.items()):
        if text in missing or text == STAR:
            continue
        start, end = _range(both, text, number)
        then += rows * _cover(edges, max(start, low), min(end, high))
    shares = [Share(_name(edges, i, integers=integers), float(first[i]), float(then[i])) for i in range(len(first))]
    absent = [sum(rows for text, rows in counted.items() if text in missing) for counted in (before, after)]
    return [*shares, Share(MISSING, *absent)] if any(absent) else shares


def _scaled(column: Column) -> Callable[[Any], float]:
    """Return the function from a parsed number to its place on the axis; dates become fractional years."""
    return _year if column.kind is Kind.DATE else float


def _year(seconds: float) -> float:
    day = datetime.min + timedelta(seconds=float(seconds))
    return day.year + (day.timetuple().tm_yday - 1) / 366


def _range(both: ReleasedColumn, text: str, number: Mapping[str, float]) -> tuple[float, float]:
    ends, under, column = both.ends, both.under, both.column
    bounds = ends.get(text, (text, text))
    if bounds == (text, text) and text in under and text not in number:
        inside = [number[value] for value in under[text] if value in number]
        return (min(inside), max(inside)) if inside else (0.0, 0.0)
    if all(end in number for end in bounds):
        return number[bounds[0]], number[bounds[1]]
    low, high = map(_scaled(column), numbers_of(column, list(bounds))[0])
    return low, high


def _edges(low: float, high: float, *, integers: bool) -> NDArray[np.float64]:
    """Return the round edges of about a dozen bins; a bin of integers begins at its edge."""
    above = high + 1 if integers else high
    power = 10.0 ** np.floor(np.log10(max(above - low, 1e-12) / N_BINS))
    for factor in (1, 2, 5, 10, 20):
        step = max(factor * power, 1.0) if integers else factor * power
        first, last = np.floor(low / step), np.ceil(above / step)
        if last - first <= N_BINS:
            break
    return np.array([round(i * step, 12) for i in range(int(first), int(max(last, first + 1)) + 1)])


def _bin(edges: NDArray[np.float64], value: float) -> int:
    return int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, len(edges) - 2))


def _cover(edges: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return the share of a range that falls into each bin."""
    if high <= low:
        single = np.zeros(len(edges) - 1)
        single[_bin(edges, low)] = 1
        return single
    inside = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0, None)
    total = inside.sum()
    return np.asarray(inside / total) if total else inside


def _name(edges: NDArray[np.float64], i: int, *, integers: bool) -> str:
    low, high = edges[i], edges[i + 1]
    if integers:
        return f"{low:.0f}" if high - low == 1 else f"{low:.0f} to {high - 1:.0f}"
    return f"{low:.10g} to below {high:.10g}"
