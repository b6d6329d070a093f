"""Limits of released cells over the codes of a table: how wide, how fine and how coarse a cell may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.ends import Widening, ends_of_codes
from shoal.encoding.grid import DATE_GRIDS, check_grid
from shoal.encoding.partition import NODE, RANGE, VALUE, Cells, Partition
from shoal.errors import UsageError, setting
from shoal.hierarchy.base import Hierarchy, Rule
from shoal.hierarchy.range_label import parse_span
from shoal.schema import WIDTH, Column, Kind, Limits, Schema
from shoal.tables.values import Marks

__all__ = ["FIELDS", "Limited", "apply_limits", "breaches", "compile_limits", "level_of"]

FIELDS = Limits._fields
DAYS = {"": 1, "d": 1, "w": 7}
MONTHS = {"m": 1, "y": 12}

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Limited:
    """The limits of one quasi-identifier over its codes.

    A group keeps to them if its codes lie in one window: the rank of the last is not above the reach of the first.
    Whatever is left of such a group when rows leave it keeps to them, too.

    Attributes:
        place: The place of the attribute among the quasi-identifiers.
        ranks: The rank of each code; the leaves of a node of a hierarchy have neighbouring ranks.
        reach: For each rank, the greatest rank that may share its group.
        walls: For each code, its class; no group has codes of two classes. All 0 if there are no classes.
        most: The largest number of values of a group; 0 if it is not limited.
        floor: For each code, the number or level that its cell shows at least: the beginning of its band, or 0.
        level: The lowest level of the hierarchy that a cell may show.
    """

    place: int
    ranks: Ints
    reach: Ints
    walls: Ints
    most: int = 0
    floor: NDArray[np.float64] | None = None
    level: int = 0

    @property
    def has_windows(self) -> bool:
        """Whether the window of some code is narrower than its class."""
        order = np.argsort(self.ranks)
        last_of = {int(wall): rank for rank, wall in enumerate(self.walls[order].tolist())}
        return any(self.reach[rank] < last_of[int(wall)] for rank, wall in enumerate(self.walls[order].tolist()))


def compile_limits(
    encoded: Encoded, schema: Schema, hierarchies: Mapping[str, Rule] | None = None, *, ends: str, k: int
) -> tuple[Limited, ...]:
    """Return the limits of a table over its codes.

    Args:
        encoded: The table.
        schema: Its columns, some of them with limits.
        hierarchies: The hierarchies as they were given, whose labels may name levels.
        ends: Which ends of ranges move, as for `release_ends`; a range counts with the ends that it will show.
        k: How many rows must have a safe end.

    Raises:
        UsageError: A limit does not suit its column.
    """
    columns = {column.name: column for column in schema.qi}
    limited = []
    for place, attribute in enumerate(encoded.attributes):
        column = columns[attribute.name]
        if not any(column.limits):
            continue
        if attribute.tree is not None:
            limited.append(_of_tree(place, attribute, column.limits, (hierarchies or {}).get(attribute.name)))
        elif attribute.kind.is_ranked:
            limited.append(_of_ranks(place, attribute, column.limits))
        elif attribute.ordered:
            limited.append(_of_numbers(encoded, place, replace(column, kind=attribute.kind), ends, k))
        else:
            limited.append(_of_set(place, attribute, column.limits))
    return tuple(limited)


def _of_set(place: int, attribute: Attribute, limits: Limits) -> Limited:
    for field in FIELDS[1:]:
        if getattr(limits, field):
            raise UsageError(
                f"{setting(field)} of column {attribute.name!r}: a column of categories needs a hierarchy for it. Give "
                f"one with {setting('hierarchies')}."
            )
    most = int(Decimal(_plain_width(attribute.name, limits.max_width)))
    every = np.arange(len(attribute.texts))
    return Limited(
        place, every, np.full(len(every), len(every) - 1), np.zeros(len(every), dtype=np.int64), max(most, 1)
    )


def _of_ranks(place: int, attribute: Attribute, limits: Limits) -> Limited:
    """Return the limit of ordered categories: the set of neighbours from the lowest to the highest is small enough."""
    most = _of_set(place, attribute, limits).most
    n_known, every = len(attribute.known_values), np.arange(len(attribute.texts))
    reach = np.where(every < n_known, np.minimum(every + most - 1, n_known - 1), every)
    return Limited(place, every, reach, np.zeros(len(every), dtype=np.int64))


def _plain_width(name: str, text: str) -> str:
    if not text[-1].isdecimal():
        raise UsageError(f"{setting('max_width')} {name}={text}: only dates have units. Use a number.")
    return text


# ---- hierarchies


def level_of(name: str, field: str, text: str, hierarchy: Hierarchy, rule: Rule | None = None) -> int:
    """Return the number of the level that a limit names: by its number, or by one of its labels.

    Args:
        name: The column.
        field: The limit.
        text: Its value.
        hierarchy: The hierarchy over the values of the table.
        rule: The hierarchy as it was given, with values that the table does not have.
    """
    if text.isascii() and text.isdecimal() and len(text) < 5 and int(text) <= hierarchy.height:
        return int(text)
    for each in (hierarchy, rule):
        for labels in each.rows.values() if isinstance(each, Hierarchy) else ():
            if text in labels:
                return labels.index(text) + 1
    raise UsageError(
        f"{setting(field)} {name}={text}: the hierarchy has no such level. Use a number from 0 (the value) to "
        f"{hierarchy.height} ('*'), or a label of the level."
    )


def _of_tree(place: int, attribute: Attribute, limits: Limits, rule: Rule | None) -> Limited:
    tree, hierarchy = attribute.tree, attribute.hierarchy
    assert tree is not None
    assert hierarchy is not None
    levels = {
        field: level_of(attribute.name, field, text, hierarchy, rule)
        for field in FIELDS[1:]
        if (text := getattr(limits, field))
    }
    top = min(levels.get("coarsest", tree.height), levels.get("uniform", tree.height))
    bottom = max(levels.get("finest", 0), levels.get("uniform", 0))
    if bottom > top:
        raise UsageError(
            f"column {attribute.name!r}: no level is between level {bottom}, the finest that its limits allow, and "
            f"level {top}, the coarsest. Change one of them."
        )
    # The highest node over each code that the limits allow.
    highest = tree.nodes[top].astype(np.int64)
    if limits.max_width:
        widths, most = _node_widths(attribute), _width(attribute.name, limits.max_width, attribute.kind)
        fits = np.array([most.admits(width) for width in widths])
        for level in range(top, bottom - 1, -1):
            highest = np.where(fits[highest], highest, tree.nodes[max(level - 1, bottom)])
    order = np.lexsort(tree.nodes)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    walls = np.unique(highest, return_inverse=True)[1].astype(np.int64)
    last = np.zeros(len(order), dtype=np.int64)
    np.maximum.at(last, walls, ranks)
    reach = np.empty(len(order), dtype=np.int64)
    reach[ranks] = last[walls]
    return Limited(place, ranks, reach, walls, level=bottom)


def _node_widths(attribute: Attribute) -> list[Any]:
    """Return how wide the cell of each node is: its values, or for numbers and dates the range of its label."""
    tree = attribute.tree
    assert tree is not None
    if attribute.kind is Kind.CATEGORICAL:
        return [Decimal(int(size)) for size in tree.sizes]
    widths: list[Any] = []
    n_known = len(attribute.known_values)
    members: list[list[int]] = [[] for _ in tree.labels]
    for level in tree.nodes:
        for code, node in enumerate(level.tolist()):
            members[node].append(code)
    members[len(attribute.texts)] = list(range(len(attribute.texts)))
    for label, codes in zip(tree.labels, members, strict=True):
        span = parse_span(label)
        known = [code for code in codes if code < n_known]
        if attribute.kind is Kind.NUMERIC and span and isinstance(span.low, Decimal) and isinstance(span.high, Decimal):
            widths.append(span.high - span.low)
        elif not known or label == tree.labels[len(attribute.texts)]:
            widths.append(None if len(codes) > 1 or label == "*" else Decimal(0))
        elif attribute.kind is Kind.NUMERIC:
            widths.append(Decimal(repr(float(np.ptp(attribute.values[known])))))
        else:
            widths.append((_moment(attribute.values[min(known)]), _moment(attribute.values[max(known)])))
    return widths


# ---- numbers and dates


@dataclass(frozen=True)
class _Width:
    """The largest width of a range: a number, or for dates a number of days or of months."""

    number: Decimal
    months: bool = False

    def admits(self, width: Any) -> bool:
        """Say whether a width is allowed: a number, the two ends of dates, or None for a suppressed cell."""
        if width is None:
            return False
        if isinstance(width, Decimal):
            return bool(width <= self.number)
        low, high = width
        if not self.months:
            return bool(high - low <= timedelta(days=float(self.number)))
        months = low.year * 12 + low.month - 1 + int(self.number)
        if months >= 12 * 10_000:
            return True
        day = min(low.day, _days_in(months // 12, months % 12 + 1))
        return bool(high <= low.replace(year=months // 12, month=months % 12 + 1, day=day))


def _days_in(year: int, month: int) -> int:
    after = datetime(year + month // 12, month % 12 + 1, 1) if year < 9999 or month < 12 else datetime.max
    return (after - timedelta(days=1)).day if after != datetime.max else 31


def _width(name: str, text: str, kind: Kind) -> _Width:
    match = WIDTH.fullmatch(text)
    assert match is not None
    number, unit = Decimal(match[1]), match[2]
    if kind is not Kind.DATE:
        return _Width(Decimal(_plain_width(name, text)))
    if unit in MONTHS:
        if number != int(number):
            raise UsageError(f"{setting('max_width')} {name}={text}: use a whole number of months or years.")
        return _Width(number * MONTHS[unit], months=True)
    return _Width(number * DAYS[unit])


def _moment(seconds: float) -> datetime:
    return datetime.min + timedelta(seconds=float(seconds))


def _of_numbers(encoded: Encoded, place: int, column: Column, ends: str, k: int) -> Limited:
    attribute = encoded.attributes[place]
    limits, n_known, n_codes = column.limits, len(attribute.known_values), len(attribute.texts)
    for field in FIELDS[1:]:
        if getattr(limits, field):
            check_band(column, field, getattr(limits, field))
    walls = np.zeros(n_codes, dtype=np.int64)
    for band in filter(None, (limits.coarsest, limits.uniform)):
        bands = Widening.of(attribute, replace(column, grid=band)).band_starts(band)
        walls[:n_known] += np.unique(bands, return_inverse=True)[1]
        walls[:n_known] = np.unique(walls[:n_known], return_inverse=True)[1]
    walls[n_known:] = walls[:n_known].max(initial=-1) + 1
    reach = np.append(np.flatnonzero(np.diff(walls)), n_codes - 1)[np.cumsum(np.diff(walls, prepend=walls[0]) > 0)]
    if limits.max_width:
        reach = np.minimum(reach, _windows(encoded, place, column, ends, k))
    floor = None
    if band := limits.uniform or limits.finest:
        starts = Widening.of(attribute, replace(column, grid=band)).band_starts(band)
        floor = np.append(starts.astype(np.float64), np.zeros(n_codes - n_known))
    return Limited(place, np.arange(n_codes), reach.astype(np.int64), walls, floor=floor)


def check_band(column: Column, field: str, band: str) -> None:
    """Refuse a band that does not suit the kind of a column."""
    if column.kind is Kind.DATE and band not in DATE_GRIDS:
        raise UsageError(
            f"{setting(field)} {column.name}={band}: dates have the bands {', '.join(DATE_GRIDS)}, or the levels of a "
            f"hierarchy, given with {setting('hierarchies')}."
        )
    if column.kind is not Kind.DATE:
        if band in DATE_GRIDS:
            raise UsageError(f"{setting(field)} {column.name}={band}: the column has numbers. Use a positive number.")
        check_grid(column.name, band)


def _windows(encoded: Encoded, place: int, column: Column, ends: str, k: int) -> Ints:
    """Return for each code the greatest one with which its range is not too wide, with the ends that it will show.

    An end may move further out for a rare value inside a range than for the ends of the range. What is allowed here
    is narrow enough for every value of the range as an end, so that a part of a range is never wider than the whole.
    """
    attribute = encoded.attributes[place]
    most = _width(column.name, column.limits.max_width, attribute.kind)
    low_ends, high_ends = ends_of_codes(encoded, place, column, ends, k=k)
    n_known = len(attribute.known_values)
    if attribute.kind is Kind.DATE:
        lows: list[Any] = [_moment(number) for _, number in low_ends]
        highs: list[Any] = [_moment(number) for _, number in high_ends]
    else:
        marks = Marks(*column.marks)
        lows, highs = ([Decimal(marks.plain(text) or "0") for text, _ in each] for each in (low_ends, high_ends))
    for code in range(n_known - 2, -1, -1):
        lows[code] = min(lows[code], lows[code + 1])
    for code in range(1, n_known):
        highs[code] = max(highs[code], highs[code - 1])
    reach = np.arange(len(attribute.texts))
    last = 0
    for code in range(n_known):
        last = max(last, code)
        while last + 1 < n_known and most.admits(
            (lows[code], highs[last + 1]) if attribute.kind is Kind.DATE else highs[last + 1] - lows[code]
        ):
            last += 1
        reach[code] = last
    return reach


# ---- cells


def apply_limits(encoded: Encoded, partition: Partition, limits: Sequence[Limited]) -> Partition:
    """Return a partition whose cells are not finer than the limits allow.

    A single number becomes a range, whose ends move to its band; a node below the finest level is lifted to it.
    """
    cells = list(partition.cells)
    for limit in limits:
        attribute, own = encoded.attributes[limit.place], cells[limit.place]
        if limit.floor is not None:
            known = own.low < len(attribute.known_values)
            form = np.where((own.form == VALUE) & known, RANGE, own.form).astype(np.int8)
            cells[limit.place] = replace(own, form=form, high=np.where(own.form == VALUE, own.low, own.high))
        elif limit.level and attribute.tree is not None:
            cells[limit.place] = _lifted(attribute, own, limit.level)
    return replace(partition, cells=tuple(cells))


def _lifted(attribute: Attribute, cells: Cells, level: int) -> Cells:
    tree = attribute.tree
    assert tree is not None
    above = np.arange(len(tree.labels))
    for each in tree.nodes[:level]:
        above[each] = tree.nodes[level]
    above[len(attribute.texts)] = len(attribute.texts)
    nodes = np.where((cells.form == VALUE) | (cells.form == NODE), above[cells.low], cells.low)
    form = np.where((cells.form == VALUE) & (nodes != cells.low), NODE, cells.form).astype(np.int8)
    is_code = nodes < len(attribute.texts)
    form = np.where((form == NODE) & is_code, VALUE, form).astype(np.int8)
    return replace(cells, form=form, low=nodes.astype(np.int32), high=nodes.astype(np.int32))


def breaches(
    encoded: Encoded, limits: Sequence[Limited], tuples: NDArray[Any], groups: NDArray[Any]
) -> NDArray[np.bool_]:
    """Say of each group whether it breaks a limit.

    Args:
        encoded: The table.
        limits: Its limits.
        tuples: Tuples of the table.
        groups: The group of each of them; every group from 0 on has a tuple.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    broken = np.zeros(n_groups, dtype=bool)
    for limit in limits:
        codes = encoded.tuples[tuples, limit.place]
        ranks = limit.ranks[codes]
        low, high = np.full(n_groups, len(limit.ranks)), np.zeros(n_groups, dtype=np.int64)
        np.minimum.at(low, groups, ranks)
        np.maximum.at(high, groups, ranks)
        broken |= high > limit.reach[np.minimum(low, len(limit.ranks) - 1)]
        if limit.most:
            pairs = np.unique(groups.astype(np.int64) * len(limit.ranks) + codes)
            broken |= np.bincount(pairs // len(limit.ranks), minlength=n_groups) > limit.most
    return broken
