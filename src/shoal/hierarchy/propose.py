"""Propose a hierarchy for a column, as a draft to review and edit."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Unpack

from shoal.errors import InputError, InternalError, Note, UsageError, counted, setting
from shoal.hierarchy.base import TOP, Binding, Hierarchy, HierarchyRule
from shoal.hierarchy.builtin import builtin, matching
from shoal.hierarchy.check import Line, build
from shoal.hierarchy.interval import IntervalHierarchy, intervals
from shoal.hierarchy.likeness import merge_order, profiles_of
from shoal.hierarchy.prefix import are_postal_codes, look_like_codes, prefixes
from shoal.hierarchy.scale import DAY, Dates, Numbers, Scale
from shoal.schema import Column, Kind, Role, Schema
from shoal.tables.values import PLAIN, Marks, member_text, normalise, shortest
from shoal.tables.values.forms import find_form, parse_texts

if TYPE_CHECKING:
    from shoal.tables.table import Table

__all__ = ["AUTO", "Auto", "propose", "propose_for", "propose_open"]

AUTO = "auto"

FINEST = 16  # approximate number of intervals on the lowest level
MOST_CATEGORIES = 1500  # co-occurrence compares all pairs of them
WAYS = {
    Kind.NUMERIC: ("widths", "quantiles", "prefix"),
    Kind.DATE: ("widths", "quantiles"),
    Kind.CATEGORICAL: ("prefix", "cooccurrence"),
}
# Widths of the levels in months, by the least number of months that the dates span.
CALENDAR = ((0, (1, 3, 12)), (36, (1, 12, 60)), (180, (12, 60, 120)), (600, (12, 120, 240)))
SHOWN_MEMBERS = 3
QUANTILES_NOTE = Note(
    "", "the bounds of quantiles are values of the table", "move them to round numbers before you release labels"
)


@dataclass(frozen=True)
class Auto:
    """Stands for the hierarchy of a column that is proposed from the table; `propose_open` replaces it."""

    def over(self, texts: Sequence[str], **binding: Unpack[Binding]) -> Hierarchy:
        """Refuse to make a hierarchy without the table."""
        raise InternalError(f"the hierarchy of column {binding.get('column', '')!r} was not proposed.")


def propose(
    counts: Mapping[str, int],
    kind: Kind | str,
    *,
    by: str | None = None,
    profiles: Mapping[str, Sequence[float]] | None = None,
    date_format: str = "%Y-%m-%d",
    marks: Marks = PLAIN,
) -> Hierarchy:
    """Propose a hierarchy over values.

    Args:
        counts: The number of rows of each value, without missing values.
        kind: "numeric", "date" or "categorical".
        by: How to generalise. Numbers and dates: "widths" (round widths, the default) or "quantiles" (intervals with
            the same number of rows on the lowest level). Codes: "prefix". Categories: "cooccurrence", which joins
            values that occur with the same values of other columns. By default, categories that look like codes use
            "prefix", all others "cooccurrence".
        profiles: For "cooccurrence": the distribution of the other columns among the rows of each value.
        date_format: How dates are written in the column, as for strptime.
        marks: The decimal and thousands marks of numbers.

    Raises:
        InputError: There are no values, too many categories, or values that do not fit the kind.
        UsageError: An argument is not known or does not fit the kind.

    >>> propose({"31": 1, "47": 1, "64": 2}, "numeric").rows["47"]
    ('[45, 50)', '[40, 50)', '[40, 60)', '*')
    """
    kind = _kind(kind)
    values = list(counts)
    scale: Scale = Numbers(marks) if kind is Kind.NUMERIC else Dates(date_format)
    if not values:
        raise InputError("there are no values to build a hierarchy from: the column is empty.")
    if by is None:
        by = "widths" if kind is not Kind.CATEGORICAL else "prefix" if look_like_codes(values) else "cooccurrence"
    if by not in WAYS[kind]:
        raise UsageError(f"{setting('by', by)} does not fit a {kind} column. Use {' or '.join(WAYS[kind])}.")
    if by == "prefix":
        return replace(prefixes(mask=1).over(sorted(values)), source="proposal")
    if by == "cooccurrence":
        return _by_cooccurrence(counts, profiles or {})
    places = {value: scale.place(value) for value in values}
    if any(place is None for place in places.values()):
        count = sum(place is None for place in places.values())
        raise InputError(
            f"{counted(count, 'value is', 'values are')} not {scale.allowed}. Correct them, or declare them missing."
        )
    place_of = {value: place for value, place in places.items() if place is not None}
    ordered = sorted(place_of, key=lambda value: (place_of[value], value))
    if by == "quantiles":
        rule = _by_quantiles([(place_of[value], counts[value]) for value in ordered], scale, kind, date_format)
    else:
        integral = all(place.denominator == 1 for place in place_of.values())
        rule = _by_widths(place_of[ordered[0]], place_of[ordered[-1]], integral, kind, date_format)
    if rule is not None and marks != PLAIN:
        rule = replace(rule, marks=marks)
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
    marks: Marks = PLAIN,
) -> Hierarchy:
    """Propose a hierarchy for a column of a table.

    Args:
        table: The table.
        column: The column.
        kind: "numeric", "date" or "categorical"; detected from the values by default.
        by: How to generalise, see `propose`; postal codes by their first digits.
        others: The columns to compare categories by; all other columns by default.
        missing: Texts that mean a missing value, in addition to the empty one.
        date_format: How dates are written in the column, as for strptime.
        marks: The decimal and thousands marks of numbers.

    Raises:
        InputError: The column has no values, too many categories, or values that do not fit the kind.
        UsageError: A column is not in the table, or an argument does not fit.
    """
    unknown_names = [name for name in (column, *(others or ())) if name not in table.names]
    if unknown_names:
        names = ", ".join(table.names[:30])
        raise UsageError(f"column {unknown_names[0]!r} is not in the table. Its columns are: {names}.")
    counts = _known_counts(table, column, missing)
    if not counts:
        raise InputError(f"column {column!r} has only missing values.")
    if kind is None:
        open_column = Column(column, Role.QI, None, date_format, marks.decimal, marks.thousands, unit=marks.unit)
        found = find_form(open_column, list(counts)).certain
        kind, date_format, marks = found.kind or Kind.CATEGORICAL, found.date_format, Marks(*found.marks)
        kind = kind if kind in WAYS else Kind.CATEGORICAL
    kind = _kind(kind)
    if by is None and are_postal_codes(column, counts):
        by = "prefix"  # numbers of neighbouring postal codes need not be neighbours, and ranges of them are no places
    compared = [name for name in table.names if name != column] if others is None else list(others)
    compares = by == "cooccurrence" or (by is None and kind == Kind.CATEGORICAL and not look_like_codes(list(counts)))
    profiles = profiles_of(table, column, compared) if compares and len(counts) <= MOST_CATEGORIES else {}
    try:
        return propose(counts, kind, by=by, profiles=profiles, date_format=date_format, marks=marks)
    except InputError as error:
        raise InputError(f"column {column!r}: {error.text}") from None


def propose_open(
    rules: Mapping[str, HierarchyRule], table: Table, schema: Schema
) -> tuple[dict[str, HierarchyRule], list[Note]]:
    """Replace each `Auto` by a hierarchy for its column: a built-in one that knows all its values, or a proposal.

    Categories are compared by the quasi-identifiers only. The same table gives the same hierarchies in any row order.

    Args:
        rules: Hierarchies by column.
        table: The table.
        schema: Its columns; the kinds must be known.

    Returns:
        The hierarchies, and what the user should know about them. A column without a hierarchy has no entry.
    """
    resolved = {name: rule for name, rule in rules.items() if not isinstance(rule, Auto)}
    made: list[str] = []
    notes: list[Note] = []
    columns = {column.name: column for column in schema.columns}
    names = sorted(column.name for column in schema.qi)
    for name, rule in rules.items():
        if not isinstance(rule, Auto):
            continue
        try:
            resolved[name], words = _propose_one(table, columns[name], names, schema.missing)
            made.append(f"{name!r} ({words})")
        except InputError as error:
            text = f"no hierarchy could be proposed, so its values stay or become '*': {error.text}"
            notes.append(Note(f"column {name!r}", text))
    if made:
        text = f"hierarchies were proposed for {', '.join(made)}"
        cure = f"review them (shoal hierarchy propose shows them), and choose others with {setting('hierarchies')}"
        notes.insert(0, Note("", text, cure))
    return {name: resolved[name] for name in rules if name in resolved}, notes


def _propose_one(table: Table, column: Column, qi: Sequence[str], missing: Sequence[str]) -> tuple[HierarchyRule, str]:
    """Return the hierarchy for a column, and what it is in a few words."""
    if column.kind is Kind.CATEGORICAL:
        counts = _known_counts(table, column.name, missing)
        if found := matching(column.name, counts):
            return builtin(found), f"built-in {found}"
        if look_like_codes(counts) and len(set(map(len, counts))) > 1:
            rule = prefixes(mask=1, meet=True)
            return rule, "first characters"
    if column.kind is not None and column.kind.is_ranked:
        return _by_order(column, list(_known_counts(table, column.name, missing))), "neighbours in the order"
    others = [name for name in qi if name != column.name]
    proposed = propose_for(
        table,
        column.name,
        kind=column.kind,
        others=others,
        missing=missing,
        date_format=column.date_format,
        marks=Marks(*column.marks),
    )
    return proposed, counted(proposed.height, "level")


def _known_counts(table: Table, column: str, missing: Collection[str]) -> dict[str, int]:
    """Return the number of rows of each value that is not missing."""
    markers = {"", *missing}
    counts: dict[str, int] = {}
    for raw, size in zip(table.factor(column).texts.to_list(), table.counts(column).tolist(), strict=True):
        text = normalise(raw)
        if text not in markers:
            counts[text] = counts.get(text, 0) + size
    return counts


def _kind(kind: Kind | str) -> Kind:
    if kind not in list(WAYS):
        raise UsageError(f"kind {kind!r} is not known. Use {', '.join(WAYS)}.")
    return Kind(kind)


def _by_widths(low: Fraction, high: Fraction, integral: bool, kind: Kind, date_format: str) -> IntervalHierarchy | None:
    """Return a rule with round widths, the lowest about a sixteenth of the span and, for integers, at least 2."""
    if low == high:
        return None
    if kind is Kind.DATE:
        if high - low < 2 * DAY:
            return intervals((1, 6, 12), unit="hour", date_format=date_format)
        months = (high - low) / (Fraction(86_400_000_000 * 146_097, 4800))  # mean length of a month
        widths = next(widths for least, widths in reversed(CALENDAR) if months >= least)
        return intervals(widths, unit="month", date_format=date_format)
    power = math.floor(math.log10((high - low) / FINEST))
    steps = [Decimal(mantissa).scaleb(power) for mantissa in (1, 2, 5, 10)]
    width = next(step for step in steps if Fraction(step) * FINEST >= high - low)
    doubled = [max(width, Decimal(2)) if integral else width]
    if low // Fraction(doubled[0]) == high // Fraction(doubled[0]):
        return None
    while Fraction(doubled[-1]) * 2 < high - low:
        doubled.append(doubled[-1] * 2)
    return intervals(doubled)


def _by_quantiles(
    counted: Sequence[tuple[Fraction, int]], scale: Scale, kind: Kind, date_format: str
) -> IntervalHierarchy | None:
    """Return a rule that cuts at each sixteenth of the rows, then at each eighth, quarter and half."""
    rows = list(accumulate(count for _, count in counted))
    finest = [_cut(counted, rows, Fraction(i, FINEST)) for i in range(1, FINEST)]
    levels: list[list[Fraction]] = []
    step = 1
    while step < FINEST:
        cuts = sorted({cut for cut in finest[step - 1 :: step] if cut > counted[0][0]})
        if cuts and (not levels or cuts != levels[-1]):
            levels.append(cuts)
        step *= 2
    if not levels:
        return None
    plain = Numbers() if kind is Kind.NUMERIC else scale
    texts = [[plain.text(cut) for cut in level] for level in levels]
    return intervals(cuts=texts, unit="date" if kind is Kind.DATE else None, date_format=date_format)


def _cut(counted: Sequence[tuple[Fraction, int]], rows: Sequence[int], share: Fraction) -> Fraction:
    """Return the smallest value that has at least this share of the rows below it."""
    i = bisect_left(rows, math.ceil(share * rows[-1]))
    return counted[min(i + 1, len(counted) - 1)][0]


def _by_order(column: Column, texts: Sequence[str]) -> Hierarchy:
    """Return the hierarchy of ordered values: pairs of neighbours, then twice as many on each level."""
    ranks, misfits = parse_texts(column, column.kind or Kind.ORDERED, texts)
    if misfits:
        raise InputError(f"{counted(len(misfits), 'value is', 'values are')} not in the order.")
    spellings: dict[float, list[str]] = {}
    for rank, text in sorted(zip(ranks, texts, strict=True)):
        spellings.setdefault(rank, []).append(text)
    shown = [member_text(shortest(each)) for each in spellings.values()]
    widths = [2**level for level in range(1, len(shown).bit_length()) if 2**level < len(shown)]
    rows: dict[str, tuple[str, ...]] = {}
    for place, each in enumerate(spellings.values()):
        runs = [shown[place // width * width :][:width] for width in widths]
        labels = ["{" + ", ".join(run) + "}" if len(run) > 1 else shortest(each) for run in runs]
        rows |= dict.fromkeys(each, (*labels, TOP))
    return Hierarchy(rows, source="proposal")


def _by_cooccurrence(counts: Mapping[str, int], profiles: Mapping[str, Sequence[float]]) -> Hierarchy:
    values = sorted(counts)
    if len(values) > MOST_CATEGORIES:
        raise InputError(
            f"{len(values)} categories are too many to compare; at most {MOST_CATEGORIES} are possible. "
            f"Use {setting('by', 'prefix')}."
        )
    n_unprofiled = sum(value not in profiles for value in values)
    if n_unprofiled and len(values) > 2:
        raise UsageError(
            f"profiles: {counted(n_unprofiled, 'value has', 'values have')} none. Give each category a profile to "
            "compare it by."
        )
    levels = _levels(values, merge_order([counts[v] for v in values], [profiles.get(v, ()) for v in values]))
    lines = [Line(i, value, (*(level[value] for level in levels), TOP)) for i, value in enumerate(values, start=1)]
    return build(lines, source="proposal", unit="value")


def _levels(values: Sequence[str], merges: Sequence[tuple[int, int]]) -> list[dict[str, str]]:
    """Replay the merges, and make a level when a third, a ninth, ... of the number of values is left."""
    groups = {i: [value] for i, value in enumerate(values)}
    n_wanted = math.ceil(len(values) / 3)
    levels = []
    for target_group, merged_group in merges:
        if len(groups) <= n_wanted and n_wanted > 1:
            levels.append({value: _group_label(group) for group in groups.values() for value in group})
            n_wanted = math.ceil(n_wanted / 3)
        groups[target_group] = sorted(groups[target_group] + groups.pop(merged_group))
    return levels


def _group_label(group: Sequence[str]) -> str:
    """Return the label of a group: its members, or the first ones and the number of the others."""
    if len(group) <= SHOWN_MEMBERS:
        return " | ".join(group)
    return " | ".join(group[: SHOWN_MEMBERS - 1]) + f" | {len(group) - SHOWN_MEMBERS + 1} more"
