"""Released rows beside the original rows that they can come from, when nobody says which row is which.

Both tables are reduced to their distinct rows first: released ones are boxes, original ones are points, and rows of the
same key (the columns that must be equal) are matched with each other only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.verification.cells import Cells
from shoal.verification.matching.assignment import Domain, number_sides, points_inside
from shoal.verification.matching.flow import BLOCK, Blocks, Flow, bits_of, pack_bits
from shoal.verification.matching.packing import Codes, pack, shared_codes
from shoal.verification.reading.coded import CodedColumn

__all__ = ["Avoided", "Matching", "Rows"]

MOST_PEOPLE = 1_000  # a group that can have so many is not counted further


class Rows(NamedTuple):
    """The rows of a table.

    Attributes:
        qi: The columns whose released cells must cover the original ones.
        equal: The columns whose released cells must equal the original ones.
        n_rows: The number of rows.
        times: How many rows of its table each row stands for; None if it is one.
    """

    qi: Sequence[CodedColumn]
    equal: Sequence[CodedColumn]
    n_rows: int
    times: NDArray[np.int64] | None = None

    @property
    def n_represented(self) -> int:
        """The number of rows of the table."""
        return self.n_rows if self.times is None else int(self.times.sum())


@dataclass(frozen=True)
class Avoided:
    """Two sets of values of one column that no group may mix, by the codes of the original column.

    Attributes:
        column: The position of the column among the quasi-identifiers.
        sides: For each distinct cell of the original, whether it is in the one set, and whether it is in the other.
    """

    column: int
    sides: tuple[NDArray[np.bool_], NDArray[np.bool_]]


class _Distinct(NamedTuple):
    """The distinct rows of a table, sorted by key."""

    keys: Codes
    first: Codes  # a row that shows it
    counts: Codes


class _Block(NamedTuple):
    """All boxes and points of one key."""

    boxes: list[tuple[int, ...]]
    supply: list[int]
    points: list[tuple[int, ...]]
    capacity: list[int]
    box_at: slice  # among the distinct released rows
    point_at: slice  # among the distinct original rows


class Matching:
    """The released rows, the original rows, and which can be which.

    Args:
        cells: How to read each quasi-identifier.
        released: The rows of the release.
        original: The rows of the original.
    """

    def __init__(self, cells: Sequence[Cells], released: Rows, original: Rows) -> None:
        self._released, self._original = released, original
        columns = [_Column(*parts) for parts in zip(cells, released.qi, original.qi, strict=True)]
        self.n_empty = [column.n_empty for column in columns]
        self._declared = columns
        # Points that are sorted by the columns in which boxes are narrow lie in few blocks for each box.
        self._columns = sorted(columns, key=lambda column: column.width)
        self._keys = self._key_columns()

    def _key_columns(self) -> tuple[Codes, Codes]:
        columns: list[tuple[Codes, int]] = []
        for one, other in zip(self._released.equal, self._original.equal, strict=True):
            ours, theirs, card = shared_codes(one, other)
            columns.append((np.concatenate([ours, theirs]), card))
        n_rows = self._released.n_rows
        _, key = np.unique(pack(columns, n_rows + self._original.n_rows), return_inverse=True)
        return key[:n_rows], key[n_rows:]

    def count_unmatched(self) -> int:
        """Count the released rows that are left when as many as possible have an original row of their own."""
        n_unmatched = 0
        for block in self._blocks(self._distinct_boxes(), self._distinct_points()):
            if block.points:
                n_unmatched += Flow(self._candidates(block), block.supply, block.capacity).shortfall()
            else:
                n_unmatched += sum(block.supply)
        return n_unmatched

    def count_people(self, groups: NDArray[np.int64], persons: CodedColumn) -> NDArray[np.int64]:
        """Return the most people that the rows of each group can belong to.

        Each group is looked at by itself: its rows are assigned to different people as far as possible.

        Args:
            groups: The group of each released row, from 0.
            persons: The person of each original row.
        """
        n_rows = np.bincount(groups, self._released.times).astype(np.int64)
        if len(persons.texts) == self._original.n_represented:
            return n_rows  # every row is another person
        boxes = self._distinct_boxes((groups, len(n_rows)))
        points = self._distinct_points((persons.codes.astype(np.int64), len(persons.texts)))
        people_of: list[list[tuple[int, list[int]]]] = [[] for _ in n_rows]
        for block in self._blocks(boxes, points):
            owners = persons.codes[points.first[block.point_at]].tolist()
            box_groups = groups[boxes.first[block.box_at]].tolist()
            candidates = self._candidates(block)
            for group, supply, blocks in zip(box_groups, block.supply, candidates, strict=True):
                most = min(int(n_rows[group]), MOST_PEOPLE)
                people_of[group].append((supply, _distinct_owners(blocks, owners, most)))
        counts = n_rows.copy()
        for group, parts in enumerate(people_of):
            n_people = int(n_rows[group]) - _shortfall(parts)
            counts[group] = n_rows[group] if n_people >= MOST_PEOPLE else n_people
        return counts

    def count_people_by_key(self, groups: NDArray[np.int64], persons: CodedColumn) -> NDArray[np.int64]:
        """Return the same if quasi-identifiers say nothing: a row can belong to all people with a row of its key."""
        n_rows = np.bincount(groups, self._released.times).astype(np.int64)
        points = self._distinct(self._keys[1], [(persons.codes.astype(np.int64), len(persons.texts))], None)
        boxes = self._distinct(self._keys[0], [(groups, len(n_rows))], self._released.times)
        owners, box_groups = persons.codes[points.first], groups[boxes.first]
        starts, stops = (np.searchsorted(points.keys, boxes.keys, side) for side in ("left", "right"))
        most = np.minimum(n_rows, MOST_PEOPLE)[box_groups]
        is_scarce = np.bincount(box_groups, stops - starts < most, len(n_rows)) > 0
        people_of: dict[int, list[tuple[int, list[int]]]] = {}
        for box in np.flatnonzero(is_scarce[box_groups]).tolist():
            own = owners[starts[box] : min(stops[box], starts[box] + most[box])].tolist()
            people_of.setdefault(int(box_groups[box]), []).append((int(boxes.counts[box]), own))
        counts = n_rows.copy()
        for group, parts in people_of.items():
            n_people = int(n_rows[group]) - _shortfall(parts)
            counts[group] = n_rows[group] if n_people >= MOST_PEOPLE else n_people
        return counts

    def mixed_groups(self, groups: NDArray[np.int64], avoided: Avoided) -> NDArray[np.int64]:
        """Return the groups whose rows cannot all come from outside one of two sets of values.

        Args:
            groups: The group of each released row, from 0.
            avoided: The sets.
        """
        codes = self._original.qi[avoided.column].codes
        n_groups = int(groups.max(initial=-1)) + 1
        column = self._declared[avoided.column]
        reaches = [column.covering(side[codes])[column.boxes] for side in avoided.sides]
        doubtful = np.zeros(n_groups, dtype=bool)
        doubtful[groups[reaches[0] & reaches[1]]] = True
        is_matched = np.ones((2, n_groups), dtype=bool)
        boxes = self._distinct_boxes((groups, n_groups))
        for is_matched_without, side in zip(is_matched if doubtful.any() else (), avoided.sides, strict=False):
            points = self._distinct_points((side[codes].astype(np.int64), 2))
            for block in self._blocks(boxes, points):
                is_free = ~side[codes[points.first[block.point_at]]]
                capacity = np.where(is_free, block.capacity, 0).tolist()
                members: dict[int, list[int]] = {}
                for number, group in enumerate(groups[boxes.first[block.box_at]].tolist()):
                    if doubtful[group]:
                        members.setdefault(group, []).append(number)
                candidates = self._candidates(block) if members else []
                for group, numbers in members.items():
                    parts = [(block.supply[n], _points_of(candidates[n])) for n in numbers]
                    is_matched_without[group] &= not _shortfall(parts, capacity)
        return np.flatnonzero(~is_matched.any(axis=0))

    def _distinct_boxes(self, *further: tuple[Codes, int]) -> _Distinct:
        columns = [*further, *((c.boxes, len(c.sides)) for c in self._columns)]
        return self._distinct(self._keys[0], columns, self._released.times)

    def _distinct_points(self, *further: tuple[Codes, int]) -> _Distinct:
        columns = [*((c.points, c.size) for c in self._columns), *further]
        return self._distinct(self._keys[1], columns, self._original.times)

    def _distinct(
        self, keys: Codes, columns: Sequence[tuple[Codes, int]], times: NDArray[np.int64] | None
    ) -> _Distinct:
        n_keys = 1 + max(int(part.max(initial=-1)) for part in self._keys)
        packed = pack([(keys, n_keys), *columns])
        if times is None:
            _, first, counts = np.unique(packed, return_index=True, return_counts=True)
        else:
            _, first, places = np.unique(packed, return_index=True, return_inverse=True)
            counts = np.bincount(places, times, len(first)).astype(np.int64)
        return _Distinct(keys[first], first, counts)

    def _blocks(self, boxes: _Distinct, points: _Distinct) -> Iterator[_Block]:
        """Yield the boxes and points of each key that the release has."""
        keys, starts = np.unique(boxes.keys, return_index=True)
        stops = np.append(starts, len(boxes.keys))[1:].tolist()
        lows = np.searchsorted(points.keys, keys, "left").tolist()
        highs = np.searchsorted(points.keys, keys, "right").tolist()
        for start, stop, low, high in zip(starts.tolist(), stops, lows, highs, strict=True):
            box_at, point_at = slice(start, stop), slice(low, high)
            yield _Block(
                _tuples([column.boxes for column in self._columns], boxes.first[box_at]),
                boxes.counts[box_at].tolist(),
                _tuples([column.points for column in self._columns], points.first[point_at]),
                points.counts[point_at].tolist(),
                box_at,
                point_at,
            )

    def _candidates(self, block: _Block) -> list[Blocks]:
        sides = [column.sides for column in self._columns]
        return points_inside(block.boxes, block.points, sides, range(len(sides)))


class _Column:
    """One quasi-identifier of both tables in numbers.

    Attributes:
        sides: The distinct sides of the released cells.
        boxes: The side of each released row.
        points: The value of each original row.
        size: How many values there are.
        n_empty: The released rows whose cell covers no value of the original.
        width: How many values the released cells cover together.
    """

    def __init__(self, cells: Cells, released: CodedColumn, original: CodedColumn) -> None:
        domain = Domain(cells, original.texts)
        self.sides, number_of = number_sides(domain, released.texts)
        numbers = np.array([number_of[text] for text in released.texts] or [0], dtype=np.int64)
        self.boxes = numbers[released.codes]
        values = np.array([domain.ids[text] for text in original.texts] or [0], dtype=np.int64)
        self.points, self.size = values[original.codes], domain.size
        widths = np.array([side[-1][1] - side[0][0] if side else 0 for side in self.sides] or [0], dtype=np.int64)
        of_text = widths[numbers]
        self.n_empty = released.count(of_text == 0)
        self.width = int((released.counts() * of_text[: len(released.texts)]).sum())

    def covering(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each side whether it covers a value of these original rows."""
        has_value = np.zeros(self.size, dtype=np.int64)
        has_value[self.points[rows]] = 1
        before = np.concatenate([[0], np.cumsum(has_value)])
        return np.array([any(before[low] < before[high] for low, high in side) for side in self.sides] or [False])


def _tuples(columns: Sequence[Codes], rows: Codes) -> list[tuple[int, ...]]:
    return list(zip(*(codes[rows].tolist() for codes in columns), strict=True))


def _points_of(blocks: Blocks) -> Iterator[int]:
    for block, mask in blocks:
        for bit in bits_of(mask):
            yield block * BLOCK + bit


def _distinct_owners(blocks: Blocks, owners: Sequence[int], most: int) -> list[int]:
    """Return the owners of a set of points; no more than a number, because the group has no use for more."""
    people: dict[int, None] = {}
    for point in _points_of(blocks):
        people[owners[point]] = None
        if len(people) >= most:
            break
    return list(people)


def _shortfall(parts: Sequence[tuple[int, Iterable[int]]], capacity: Sequence[int] | None = None) -> int:
    """Return how many rows find no place.

    Args:
        parts: The number of rows of each part, and the places that they can go to.
        capacity: How many rows each place takes; one by default.
    """
    numbers: dict[int, int] = {}
    candidates: list[Blocks] = []
    for _, places in parts:
        members: dict[int, list[int]] = {}
        for place in places:
            if capacity is None or capacity[place]:
                number = numbers.setdefault(place, len(numbers))
                members.setdefault(number // BLOCK, []).append(number % BLOCK)
        candidates.append(tuple((block, pack_bits(bits, BLOCK)) for block, bits in sorted(members.items())))
    capacities = [1 if capacity is None else capacity[place] for place in numbers]
    return Flow(candidates, [rows for rows, _ in parts], capacities).shortfall()
