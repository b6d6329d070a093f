"""Suggest a hierarchy for a column: something to look at and edit, not to trust blindly."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

from shoal.errors import InputError, Note, UsageError
from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.check import Line, build
from shoal.hierarchy.interval import IntervalHierarchy, intervals
from shoal.hierarchy.likeness import merge_order, profiles_of
from shoal.hierarchy.prefix import prefixes
from shoal.hierarchy.scale import Dates, Numbers, Scale
from shoal.schema import Kind
from shoal.tables.values import guess_kind, normalise

if TYPE_CHECKING:
    from shoal.tables.table import Table

__all__ = ["propose", "propose_for"]

FINEST = 16  # intervals on the lowest level, about
MOST_CATEGORIES = 1500  # co-occurrence compares all pairs
CODE = re.compile(r"(?=.*[0-9])[0-9A-Za-z][0-9A-Za-z ./-]*")
WAYS = {
    Kind.NUMERIC: ("widths", "quantiles", "prefix"),
    Kind.DATE: ("widths", "quantiles"),
    Kind.CATEGORICAL: ("prefix", "cooccurrence"),
}
# Spans of a calendar: at least so many months, then these widths in months.
CALENDAR = ((0, (1, 3, 12)), (36, (1, 12, 60)), (180, (12, 60, 120)), (600, (12, 120, 240)))
SHOWN_MEMBERS = 3
QUANTILES_NOTE = Note(
    "", "the bounds of quantiles are values of the table", "move them to round numbers before you release the labels"
)


def propose(
    counts: Mapping[str, int],
    kind: Kind | str,
    *,
    by: str | None = None,
    profiles: Mapping[str, Sequence[float]] | None = None,
    date_format: str = "%Y-%m-%d",
) -> Hierarchy:
    """Suggest a hierarchy over values with their numbers of rows; missing values left out.

    by: "widths" (round widths) or "quantiles" (equally many rows in each interval of the lowest level) for numbers and
    dates, "prefix" for codes, "cooccurrence" for categories: values that go along with the same values of other columns
    come together. profiles: for the latter, a share for each value of the other columns, given the value.
    Where by is left out: widths, and for categories prefix if they look like codes.

    >>> propose({"31": 1, "47": 1, "64": 2}, "numeric").rows["47"]
    ('[45, 50)', '[40, 50)', '[40, 60)', '*')
    """
    kind = _kind(kind)
    values = list(counts)
    if not values:
        raise InputError("no values to make a hierarchy of: the column is empty.")
    if by is None:
        by = "widths" if kind is not Kind.CATEGORICAL else "prefix" if _look_like_codes(values) else "cooccurrence"
    if by not in WAYS[kind]:
        raise UsageError(f"by={by!r} does not fit a {kind} column. Use {' or '.join(WAYS[kind])}.")
    if by == "prefix":
        return replace(prefixes(mask=1).over(sorted(values)), source="proposal")
    if by == "cooccurrence":
        return _by_cooccurrence(counts, profiles or {})
    scale: Scale = Numbers() if kind is Kind.NUMERIC else Dates(date_format)
    places = {value: scale.place(value) for value in values}
    if any(place is None for place in places.values()):
        count = sum(place is None for place in places.values())
        raise InputError(f"{count} values are not {scale.allowed}. Mend them, or declare them missing.")
    known = {value: place for value, place in places.items() if place is not None}
    ordered = sorted(known, key=lambda value: (known[value], value))
    if by == "quantiles":
        rule = _by_quantiles([(known[value], counts[value]) for value in ordered], scale, kind, date_format)
    else:
        whole = all(place.denominator == 1 for place in known.values())
        rule = _by_widths(known[ordered[0]], known[ordered[-1]], whole, kind, date_format)
    if rule is None:
        return Hierarchy(dict.fromkeys(ordered, (TOP,)), source="proposal")
    notes = (QUANTILES_NOTE,) if by == "quantiles" else ()
    return replace(rule.over(ordered), source="proposal", notes=notes)


def propose_for(
    table: Table,
    column: str,
    *,
    kind: Kind | str | None = None,
    by: str | None = None,
    others: Iterable[str] | None = None,
    missing: Collection[str] = (),
    date_format: str = "%Y-%m-%d",
) -> Hierarchy:
    """Suggest a hierarchy for a column of a table; others: the columns to compare its categories by (all others)."""
    import numpy as np

    unknown = [name for name in (column, *(others or ())) if name not in table.names]
    if unknown:
        raise UsageError(f"column {unknown[0]!r} is not in the table. The columns are: {', '.join(table.names[:30])}.")
    markers = {"", *missing}
    ranks, texts = table.factor(column)
    normal = [normalise(text) for text in texts.to_list()]
    sizes = np.bincount(ranks, minlength=len(normal))
    counts: dict[str, int] = {}
    for text, size in zip(normal, sizes.tolist(), strict=True):
        if text not in markers:
            counts[text] = counts.get(text, 0) + size
    if not counts:
        raise InputError(f"column {column!r} has no values but missing ones.")
    if kind is None:
        kind, misfit = guess_kind(list(counts))
        kind = Kind.CATEGORICAL if misfit is not None else kind
    kind = _kind(kind)
    chosen = [name for name in table.names if name != column] if others is None else list(others)
    wanted = by == "cooccurrence" or (by is None and kind == Kind.CATEGORICAL and not _look_like_codes(list(counts)))
    profiles = profiles_of(table, column, chosen) if wanted and len(counts) <= MOST_CATEGORIES else {}
    try:
        return propose(counts, kind, by=by, profiles=profiles, date_format=date_format)
    except InputError as error:
        raise InputError(f"column {column!r}: {error.text}") from None


def _kind(kind: Kind | str) -> Kind:
    if kind not in list(Kind):
        raise UsageError(f"kind {kind!r} is not known. Use {', '.join(Kind)}.")
    return Kind(kind)


def _look_like_codes(values: Sequence[str]) -> bool:
    """Tell codes: a digit in each, and few lengths."""
    lengths = {len(value) for value in values}
    return len(lengths) <= 3 and min(lengths) >= 3 and all(map(CODE.fullmatch, values))


def _by_widths(low: Fraction, high: Fraction, whole: bool, kind: Kind, date_format: str) -> IntervalHierarchy | None:
    """Return round widths, the lowest about a sixteenth of the span; of whole numbers, at least two."""
    if low == high:
        return None
    if kind is Kind.DATE:
        months = (high - low) / (Fraction(86_400_000_000 * 146_097, 4800))  # of the mean month
        widths = next(widths for least, widths in reversed(CALENDAR) if months >= least)
        return intervals(widths, unit="month", date_format=date_format)
    power = math.floor(math.log10((high - low) / FINEST))
    steps = [Decimal(mantissa).scaleb(power) for mantissa in (1, 2, 5, 10)]
    width = next(step for step in steps if Fraction(step) * FINEST >= high - low)
    chosen = [max(width, Decimal(2)) if whole else width]
    if low // Fraction(chosen[0]) == high // Fraction(chosen[0]):
        return None
    while Fraction(chosen[-1]) * 2 < high - low:
        chosen.append(chosen[-1] * 2)
    return intervals(chosen)


def _by_quantiles(
    counted: Sequence[tuple[Fraction, int]], scale: Scale, kind: Kind, date_format: str
) -> IntervalHierarchy | None:
    """Cut where the next sixteenth, eighth, quarter, half of the rows begins, each level at every second cut."""
    rows = list(accumulate(count for _, count in counted))
    finest = [_cut(counted, rows, Fraction(i, FINEST)) for i in range(1, FINEST)]
    levels: list[list[Fraction]] = []
    step = 1
    while step < FINEST:
        kept = sorted({cut for cut in finest[step - 1 :: step] if cut > counted[0][0]})
        if kept and (not levels or kept != levels[-1]):
            levels.append(kept)
        step *= 2
    if not levels:
        return None
    shown = [[scale.text(cut) for cut in level] for level in levels]
    return intervals(cuts=shown, unit="date" if kind is Kind.DATE else None, date_format=date_format)


def _cut(counted: Sequence[tuple[Fraction, int]], rows: Sequence[int], share: Fraction) -> Fraction:
    """Return the least value such that at least this share of the rows lies below the values from it on."""
    i = bisect_left(rows, math.ceil(share * rows[-1]))
    return counted[min(i + 1, len(counted) - 1)][0]


def _by_cooccurrence(counts: Mapping[str, int], profiles: Mapping[str, Sequence[float]]) -> Hierarchy:
    values = sorted(counts)
    if len(values) > MOST_CATEGORIES:
        raise InputError(
            f"{len(values)} categories are too many to compare ({MOST_CATEGORIES} at most). Propose by prefix."
        )
    missing = [value for value in values if value not in profiles]
    if missing and len(values) > 2:
        raise UsageError(f"profiles: {len(missing)} values have none; they are needed to compare categories.")
    levels = _levels(values, merge_order([counts[v] for v in values], [profiles.get(v, ()) for v in values]))
    lines = [Line(i, value, (*(level[value] for level in levels), TOP)) for i, value in enumerate(values, start=1)]
    return build(lines, source="proposal", unit="value")


def _levels(values: Sequence[str], merges: Sequence[tuple[int, int]]) -> list[dict[str, str]]:
    """Replay the merges, and keep the groups when there are a third, a ninth, ... as many as values."""
    groups = {i: [value] for i, value in enumerate(values)}
    target = math.ceil(len(values) / 3)
    levels = []
    for kept, gone in merges:
        if len(groups) <= target and target > 1:
            levels.append({value: _group_label(group) for group in groups.values() for value in group})
            target = math.ceil(target / 3)
        groups[kept] = sorted(groups[kept] + groups.pop(gone))
    return levels


def _group_label(group: Sequence[str]) -> str:
    """Name a group by its members; the first ones and how many more, where there are many."""
    if len(group) <= SHOWN_MEMBERS:
        return " | ".join(group)
    return " | ".join(group[: SHOWN_MEMBERS - 1]) + f" | {len(group) - SHOWN_MEMBERS + 1} more"
