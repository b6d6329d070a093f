"""Bins of numbers and dates for charts: round edges, fine where the values are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import ceil, floor, isfinite, log10

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bins", "bins_of"]

MOST_BINS, MOST_DATE_BINS = 12, 24
TAIL = 0.01  # share of the rows at each end that may be put into one bin
STRETCH = 3.0  # how much wider than its middle a column must be for that
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
SECONDS = (1.0, 15.0, MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY)
MONTHS = (1, 3, 12, 24, 60, 120, 240, 600, 1200, 2400)
MONDAY = datetime(1, 1, 1)  # the first day of the calendar is one


@dataclass(frozen=True)
class Bins:
    """Adjacent bins.

    Attributes:
        edges: The lower edge of each bin, then the upper edge of the last one.
        names: The name of each bin.
    """

    edges: NDArray[np.float64]
    names: tuple[str, ...]

    def place(self, value: float) -> int:
        """Return the bin of a value."""
        return min(max(bisect_right(self.edges, value) - 1, 0), len(self.names) - 1)

    def cover(self, low: float, high: float) -> NDArray[np.float64]:
        """Return the share of a range that falls into each bin."""
        if high <= low:
            single = np.zeros(len(self.names))
            single[self.place(low)] = 1
            return single
        inside = np.clip(np.minimum(self.edges[1:], high) - np.maximum(self.edges[:-1], low), 0, None)
        total = inside.sum()
        return np.asarray(inside / total) if total else inside


def bins_of(rows: Mapping[float, int], *, dates: bool) -> Bins:
    """Return bins for values.

    If a few values lie far out, the bins are as fine as the middle of the values asks for, and each far end is one bin.

    Args:
        rows: The number of rows of each value; dates in seconds since the beginning of the calendar.
        dates: Whether the values are dates.
    """
    values = sorted(rows)
    low, high = _middle(values, [rows[value] for value in values])
    if dates:
        edges, names = _calendar(low, high)
    else:
        edges, names = _round(low, high, integers=all(value == floor(value) for value in values))
    if values[0] < edges[0]:
        names = [f"before {names[0]}" if dates else f"below {edges[0]:,.10g}", *names]
        edges = [values[0], *edges]
    if values[-1] >= edges[-1]:
        names = [*names, f"after {names[-1]}" if dates else f"{edges[-1]:,.10g} and more"]
        edges = [*edges, float(np.nextafter(values[-1], np.inf))]
    return Bins(np.array(edges), tuple(names))


def _middle(values: Sequence[float], rows: Sequence[int]) -> tuple[float, float]:
    """Return the smallest and the largest value; without the ends, if these make the range much wider."""
    upto = np.cumsum(rows)
    first = int(np.searchsorted(upto, TAIL * upto[-1], side="right"))
    last = int(np.searchsorted(upto, (1 - TAIL) * upto[-1], side="left"))
    low, high = values[min(first, last)], values[max(first, last)]
    if high > low and values[-1] - values[0] > STRETCH * (high - low):
        return low, high
    return values[0], values[-1]


def _round(low: float, high: float, *, integers: bool) -> tuple[list[float], list[str]]:
    """Return round edges of about a dozen bins; a bin of integers begins at its edge."""
    above = high + 1 if integers else high
    power = 10.0 ** floor(log10(max(above - low, abs(high) * 1e-9, 1e-300) / MOST_BINS))
    for factor in (1, 2, 5, 10, 20):
        step = max(factor * power, 1.0) if integers else factor * power
        first, last = floor(low / step), ceil(above / step)
        if last - first <= MOST_BINS:
            break
    edges = [round(i * step, 12) if isfinite(i * step) else i * step for i in range(first, max(last, first + 1) + 1)]
    if not integers and high >= edges[-1]:  # the upper edge of a bin is not in it
        edges.append(round((max(last, first + 1) + 1) * step, 12))
    names = []
    for start, end in pairwise(edges):
        if not integers:
            names.append(f"{start:.10g} to below {end:.10g}")
        else:
            names.append(f"{start:.0f}" if end - start == 1 else f"{start:.0f} to {end - 1:.0f}")
    return edges, names


def _calendar(low: float, high: float) -> tuple[list[float], list[str]]:
    """Return edges at whole seconds, hours, days, weeks, months or years: the finest with few enough bins."""
    for step in SECONDS:
        first, last = floor(low / step), floor(high / step)
        if last - first < MOST_DATE_BINS:
            edges = [i * step for i in range(first, last + 2)]
            return edges, [_name(edge, step) for edge in edges[:-1]]
    for months in MONTHS:
        first, last = (_month(value) // months for value in (low, high))
        if last - first < MOST_DATE_BINS:
            break
    return (
        [_seconds(i * months) for i in range(first, last + 2)],
        [_months_name(i * months, months) for i in range(first, last + 1)],
    )


def _name(edge: float, step: float) -> str:
    start = MONDAY + timedelta(seconds=edge)
    if step < MINUTE:
        return f"{start:%H:%M:%S}"
    if step < DAY:  # a time of day has no date
        return f"{start:%H:%M}" if edge < DAY else f"{start:%Y-%m-%d %H:%M}"
    if step == DAY:
        return f"{start:%Y-%m-%d}"
    return f"{start:%Y-%m-%d} to {start + timedelta(seconds=step - DAY):%m-%d}"


def _month(seconds: float) -> int:
    day = MONDAY + timedelta(seconds=float(seconds))
    return day.year * 12 + day.month - 1


def _seconds(month: int) -> float:
    """Return the beginning of a month, which may lie beyond the calendar's ends."""
    years = min(max(month // 12, 1), 9999)
    beginning = (datetime(years, month % 12 + 1, 1) - MONDAY).total_seconds()
    return beginning + (month // 12 - years) * 365.25 * DAY


def _months_name(month: int, step: int) -> str:
    if step == 1:
        return f"{month // 12:04}-{month % 12 + 1:02}"
    if step == 3:
        return f"{month // 12:04} Q{month % 12 // 3 + 1}"
    first, last = month // 12, (month + step) // 12 - 1
    return f"{first}" if first == last else f"{first} to {last}"
