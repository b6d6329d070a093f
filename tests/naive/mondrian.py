"""Mondrian on a list of rows of codes, by recursion (LeFevre, DeWitt, Ramakrishnan 2006).

The widest attribute first, ties in the order of the attributes; a cut at the lower median, values up to it to the left;
a cut that leaves fewer than k rows on a side is not allowable, and the next attribute is tried. A group is a list of
row numbers, and rows are in canonical order: "first rows" means those with the lowest numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

Row = Sequence[int]
Halves = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Number:
    """`values` of the codes, in ascending order; `missing` is the code of the missing value (the largest), or None."""

    values: Sequence[Fraction]
    missing: int | None = None


@dataclass(frozen=True)
class Category:
    """`n_values` is the number of values in the table."""

    n_values: int


Attribute = Number | Category


def strict(rows: Sequence[Row], attributes: Sequence[Attribute], k: int) -> list[list[int]]:
    """Return groups by strict cuts: rows with the same value stay together."""
    return _cut(rows, attributes, k, list(range(len(rows))), relaxed=False)


def relaxed(rows: Sequence[Row], attributes: Sequence[Attribute], k: int) -> list[list[int]]:
    """Return groups by relaxed cuts: rows with the median value go to both sides, which are equal in size."""
    return _cut(rows, attributes, k, list(range(len(rows))), relaxed=True)


def _cut(
    rows: Sequence[Row], attributes: Sequence[Attribute], k: int, group: list[int], relaxed: bool
) -> list[list[int]]:
    widths = [width(attribute, [rows[i][a] for i in group]) for a, attribute in enumerate(attributes)]
    widest_first = sorted((a for a in range(len(attributes)) if widths[a] > 0), key=lambda a: -widths[a])
    for a in widest_first:
        column = {i: rows[i][a] for i in group}
        for left, right in _halves(attributes[a], column, relaxed):
            if len(left) >= k and len(right) >= k:
                return _cut(rows, attributes, k, left, relaxed) + _cut(rows, attributes, k, right, relaxed)
    return [group]


SIXTEENTHS = (8, 4, 12, 6, 10, 2, 14, 7, 9, 5, 11, 3, 13, 1, 15)
N_CHOICES = 16


def steered(
    rows: Sequence[Row], attributes: Sequence[Attribute], k: int, relaxed: bool, passes: Callable[[list[int]], bool]
) -> list[list[int]]:
    """Return groups by cuts whose sides both pass: the usual cut of each attribute, then its second choice ..."""

    def split(group: list[int]) -> list[list[int]]:
        for halves in _choices(rows, attributes, k, group, relaxed):
            if all(map(passes, halves)):
                return split(halves[0]) + split(halves[1])
        return [group]

    return split(list(range(len(rows))))


def _choices(
    rows: Sequence[Row], attributes: Sequence[Attribute], k: int, group: list[int], relaxed: bool
) -> Iterator[Halves]:
    """Return all cuts of a group that leave k rows per side, in the order of trying."""
    widths = [width(attribute, [rows[i][a] for i in group]) for a, attribute in enumerate(attributes)]
    widest_first = sorted((a for a in range(len(attributes)) if widths[a] > 0), key=lambda a: -widths[a])
    for choice in range(N_CHOICES):
        for a in widest_first:
            column = {i: rows[i][a] for i in group}
            halves = _halves(attributes[a], column, relaxed) if choice == 0 else _other(attributes[a], column, choice)
            yield from [(left, right) for left, right in halves if len(left) >= k and len(right) >= k][:1]


def _other(attribute: Attribute, column: dict[int, int], choice: int) -> list[Halves]:
    """Numbers up to a sixteenth of the rows; one of the most frequent values alone."""
    if isinstance(attribute, Category):
        frequent = _by_frequency(column)
        return [_divide(column, set(frequent) - {frequent[choice - 1]})] if choice <= len(frequent) else []
    values = sorted(column.values())
    least = -(-SIXTEENTHS[choice - 1] * len(values) // 16)
    return [_divide(column, {code for code in values if code > values[least - 1]})]


def width(attribute: Attribute, codes: Sequence[int]) -> Fraction:
    """The spread of some rows over that of the whole table; missing beside other values is as wide as can be."""
    distinct = set(codes)
    if len(distinct) == 1:
        return Fraction(0)
    if isinstance(attribute, Category):
        return Fraction(len(distinct), attribute.n_values)
    if attribute.missing in distinct:
        return Fraction(1)
    known = [value for code, value in enumerate(attribute.values) if code != attribute.missing]
    return (attribute.values[max(distinct)] - attribute.values[min(distinct)]) / (max(known) - min(known))


def _halves(attribute: Attribute, column: dict[int, int], relaxed: bool) -> list[Halves]:
    """Return the cuts of an attribute, in the order of trying."""
    if isinstance(attribute, Category):
        cuts = [_by_sets(column)]
        return [*cuts, _by_count(column, _by_frequency(column))] if relaxed else cuts
    cuts = []
    if attribute.missing is not None and attribute.missing in column.values():
        cuts.append(_divide(column, {attribute.missing}))
    if relaxed:
        return [*cuts, _by_count(column, sorted(set(column.values())))]
    return [*cuts, _at_median(column)]


def _divide(column: dict[int, int], to_the_right: set[int]) -> Halves:
    left = [i for i, code in column.items() if code not in to_the_right]
    return left, [i for i, code in column.items() if code in to_the_right]


def _at_median(column: dict[int, int]) -> Halves:
    median = sorted(column.values())[(len(column) - 1) // 2]
    return _divide(column, {code for code in column.values() if code > median})


def _by_frequency(column: dict[int, int]) -> list[int]:
    rows = Counter(column.values())
    return sorted(rows, key=lambda code: (-rows[code], code))


def _by_sets(column: dict[int, int]) -> Halves:
    """Assign the values, the most frequent first, to the side with fewer rows (left if equal)."""
    rows, weight, to_the_right = Counter(column.values()), [0, 0], set()
    for code in _by_frequency(column):
        side = 0 if weight[0] <= weight[1] else 1
        weight[side] += rows[code]
        if side == 1:
            to_the_right.add(code)
    return _divide(column, to_the_right)


def _by_count(column: dict[int, int], values: list[int]) -> Halves:
    """Fill the left side with half of the rows (rounded down): value after value, the first rows of the last one."""
    rows = sorted(column, key=lambda i: (values.index(column[i]), i))
    half = len(rows) // 2
    return sorted(rows[:half]), sorted(rows[half:])


@dataclass(frozen=True)
class Grid:
    """parts: for each attribute, the sets of codes that its cuts have made; groups: rows with the same parts."""

    parts: list[list[frozenset[int]]]
    groups: list[list[int]]


def single_dimensional(rows: Sequence[Row], attributes: Sequence[Attribute], k: int) -> Grid:
    """Cut attributes through the entire table while no region keeps between 1 and k - 1 rows."""
    columns = [dict(enumerate(row[a] for row in rows)) for a in range(len(attributes))]
    parts = [[frozenset(column.values())] for column in columns]
    while True:
        better = _next_grid(columns, attributes, parts, k)
        if better is None:
            return Grid(parts, list(_regions(columns, parts).values()))
        parts = better


def _next_grid(
    columns: list[dict[int, int]], attributes: Sequence[Attribute], parts: list[list[frozenset[int]]], k: int
) -> list[list[frozenset[int]]] | None:
    candidates = [(a, part) for a in range(len(parts)) for part in parts[a]]
    widths = {(a, part): width(attributes[a], sorted(part)) for a, part in candidates}
    for a, part in sorted((c for c in candidates if widths[c] > 0), key=lambda c: -widths[c]):
        inside = {i: code for i, code in columns[a].items() if code in part}
        for left, right in _halves(attributes[a], inside, relaxed=False):
            sides = [frozenset(inside[i] for i in side) for side in (left, right)]
            trial = [list(p) for p in parts]
            trial[a] = [other for other in trial[a] if other != part] + sides
            if all(sides) and all(len(region) >= k for region in _regions(columns, trial).values()):
                return trial
    return None


def _regions(columns: list[dict[int, int]], parts: list[list[frozenset[int]]]) -> dict[tuple[int, ...], list[int]]:
    regions: dict[tuple[int, ...], list[int]] = {}
    for i in columns[0]:
        key = tuple(next(p for p, part in enumerate(parts[a]) if columns[a][i] in part) for a in range(len(parts)))
        regions.setdefault(key, []).append(i)
    return regions
