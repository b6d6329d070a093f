"""Can every released row stand for an original row of its own?

A maximum flow from distinct released rows to distinct original rows, with sets of original rows as the bits of big
integers.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from shoal.verification.cells import Cells, normalise

__all__ = ["BLOCK", "Domain", "Point", "Side", "bits_of", "count_unmatched", "points_inside"]

MOST_KEPT_MASKS = 200_000  # for one column
BLOCK = 4096  # points whose bits stand in one integer
N_PARTS = 64
FEW_PAIRS = 32  # of box and point: compared one by one

TextTable = tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]  # quasi-identifiers, then columns to be equal
Run = tuple[int, int]  # value numbers from .. up to, the second left out
Side = tuple[Run, ...]  # what a released cell covers, as runs of value numbers in rising order
Point = tuple[int, ...]  # an original row: its value number in each quasi-identifier
Box = tuple[int, ...]  # a released row: the number of its side in each quasi-identifier
Blocks = tuple[tuple[int, int], ...]  # a set of points: the blocks that hold some, and their bits there


class Domain:
    """The values of one quasi-identifier in the original, numbered so that every range is one run."""

    def __init__(self, cells: Cells, texts: Iterable[str]) -> None:
        self._cells = cells
        forms = {text: "" if cells.is_missing(text) else normalise(text) for text in texts}
        placed: dict[str, list[tuple[Any, str]]] = {"number": [], "date": [], "text": []}
        for form in {form for form in forms.values() if form}:
            scale, value = cells.place(form)
            placed[scale].append((value, form))
        numbered: dict[str, int] = {}
        self._scales: dict[str, tuple[int, list[Any]]] = {}
        for scale, members in placed.items():
            members.sort()
            self._scales[scale] = len(numbered), [value for value, _ in members]
            numbered.update((form, number) for number, (_, form) in enumerate(members, len(numbered)))
        self.size = len(numbered) + 1
        numbered[""] = self.size - 1  # every missing text, whether or not there is one
        self._numbered = numbered
        self.ids = {text: numbered[form] for text, form in forms.items()}

    def side(self, cell: str) -> Side:
        """Return the numbers of the values that a released cell covers."""
        cover = self._cells.read(cell)
        if cover.everything:
            return ((0, self.size),)
        runs = [(n, n + 1) for n in map(self._numbered.get, cover.texts) if n is not None]
        for scale, value in cover.places:
            start, values = self._scales[scale]
            runs.append((start + bisect_left(values, value), start + bisect_right(values, value)))
        if cover.missing:
            runs.append((self.size - 1, self.size))
        for scale, span in cover.spans.items():
            start, values = self._scales[scale]
            stop = (bisect_left if span.half_open else bisect_right)(values, span.high)
            runs.append((start + bisect_left(values, span.low), start + stop))
        merged: list[Run] = []
        for low, high in sorted(run for run in runs if run[0] < run[1]):
            if merged and low <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(high, merged[-1][1])
            else:
                merged.append((low, high))
        return tuple(merged)


def count_unmatched(
    cells: Sequence[Cells],
    released: TextTable,
    original: TextTable,
) -> tuple[int, list[int]]:
    """Count the released rows left over when as many as possible stand for an original row of their own.

    With it, for each quasi-identifier, how many released rows hold a cell there that covers no original value.

    A released row can stand for an original row if its equal columns are the same and each of its quasi-identifier
    cells covers the original one.
    """
    domains = [Domain(c, set(column)) for c, column in zip(cells, original[0], strict=True)]
    points = _by_key([map(d.ids.__getitem__, column) for d, column in zip(domains, original[0], strict=True)], original)
    sides: list[list[Side]] = []
    numbers: list[dict[str, int]] = []
    barren: list[int] = []
    for domain, column in zip(domains, released[0], strict=True):
        covered = {cell: domain.side(cell) for cell in dict.fromkeys(column)}
        sides.append(list(dict.fromkeys(covered.values())))
        place = {side: number for number, side in enumerate(sides[-1])}
        numbers.append({cell: place[side] for cell, side in covered.items()})
        barren.append(sum(map({cell for cell, side in covered.items() if not side}.__contains__, column)))
    boxes = _by_key([map(n.__getitem__, column) for n, column in zip(numbers, released[0], strict=True)], released)
    return sum(_shortfall(group, points.get(key, {}), sides) for key, group in boxes.items()), barren


def _by_key(numbered: Sequence[Iterable[int]], table: TextTable) -> dict[tuple[str, ...], dict[tuple[int, ...], int]]:
    """Count the rows by their equal columns and, below that, by their numbered quasi-identifiers."""
    counted: dict[tuple[str, ...], dict[tuple[int, ...], int]] = defaultdict(dict)
    width = len(numbered)
    for row, count in Counter(zip(*numbered, *table[1], strict=True)).items():
        counted[row[width:]][row[:width]] = count
    return counted


def _shortfall(boxes: Mapping[Box, int], points: Mapping[Point, int], sides: Sequence[Sequence[Side]]) -> int:
    if not points:
        return sum(boxes.values())
    spread = [
        sum(column[box[c]][-1][1] - column[box[c]][0][0] for box in boxes if column[box[c]])
        for c, column in enumerate(sides)
    ]
    narrow_first = sorted(range(len(sides)), key=spread.__getitem__)
    order = sorted(points, key=lambda point: [point[c] for c in narrow_first])
    candidates = points_inside(list(boxes), order, sides, narrow_first)
    return _Flow(candidates, list(boxes.values()), [points[point] for point in order]).shortfall()


def points_inside(
    boxes: Sequence[Box], points: Sequence[Point], sides: Sequence[Sequence[Side]], narrow_first: Sequence[int]
) -> list[Blocks]:
    """Return for each box the points inside.

    The points stand in the order of the columns where boxes are narrow, so that those of a box lie in few blocks.
    """
    if len(boxes) * len(points) <= FEW_PAIRS:
        whole = [sum(1 << n for n, point in enumerate(points) if _inside(box, point, sides)) for box in boxes]
        return [((0, mask),) if mask else () for mask in whole]
    starts = range(0, len(points), BLOCK)
    axes = [[_Axis(column) for column in zip(*points[start : start + BLOCK], strict=True)] for start in starts]
    columns = [(c, _Blocked([block[c] for block in axes], sides[c])) for c in narrow_first]
    everything = [(1 << min(BLOCK, len(points) - start)) - 1 for start in starts]
    found: list[Blocks] = []
    for box in boxes:
        touched = (1 << len(starts)) - 1
        for c, column in columns:
            touched &= column.touched(box[c])
        masks = []
        for block in bits_of(touched):
            mask = everything[block]
            for c, column in columns:
                mask &= column.mask(box[c], block)
                if not mask:
                    break
            else:
                masks.append((block, mask))
        found.append(tuple(masks))
    return found


def _inside(box: Box, point: Point, sides: Sequence[Sequence[Side]]) -> bool:
    return all(
        any(low <= value < high for low, high in column[number])
        for number, value, column in zip(box, point, sides, strict=True)
    )


class _Blocked:
    """One column of all points, block by block; what was asked for before is kept."""

    def __init__(self, axes: Sequence[_Axis], sides: Sequence[Side]) -> None:
        self._axes = axes
        self._sides = sides
        self._touched: dict[int, int] = {}
        self._masks: dict[tuple[int, int], int] = {}

    def touched(self, side: int) -> int:
        """Return the blocks that hold a value of the side, as bits; all of them where sides are too many to ask."""
        if len(self._sides) > MOST_KEPT_MASKS // len(self._axes):
            return -1
        found = self._touched.get(side)
        if found is None:
            runs = self._sides[side]
            found = self._touched[side] = _pack(
                [n for n, axis in enumerate(self._axes) if axis.meets(runs)], len(self._axes)
            )
        return found

    def mask(self, side: int, block: int) -> int:
        """Return the points of a block whose value lies in the side."""
        mask = self._masks.get((side, block))
        if mask is None:
            if len(self._masks) >= MOST_KEPT_MASKS:
                self._masks.clear()
            mask = self._masks[side, block] = self._axes[block].mask(self._sides[side])
        return mask


class _Axis:
    """One column of a block of points: gives the bit set of the points whose value lies in a side.

    The points in order of value are cut into parts at changes of value, a frequent value being a part of its own; for
    each cut the set of all points before it is kept, so that a run of whole parts is one exclusive or.
    """

    def __init__(self, values: Sequence[int]) -> None:
        self._order = sorted(range(len(values)), key=values.__getitem__)
        self._values = [values[n] for n in self._order]
        size = max(1, len(values) // N_PARTS)
        changes = [0, *(n for n, (a, b) in enumerate(pairwise(self._values), 1) if a != b), len(values)]
        self._cuts = [0]
        for start, stop in pairwise(changes):
            if start > self._cuts[-1] and (stop - start >= size or stop - self._cuts[-1] > size):
                self._cuts.append(start)
            if stop - start >= size:
                self._cuts.append(stop)
        self._before = [0]
        for start, stop in pairwise(self._cuts):
            self._before.append(self._before[-1] | self._bits(start, stop))

    def meets(self, side: Side) -> bool:
        """Say whether a value lies in one of the runs."""
        if not side or side[0][0] > self._values[-1] or side[-1][1] <= self._values[0]:
            return False
        return any(bisect_left(self._values, low) < bisect_left(self._values, high) for low, high in side)

    def mask(self, side: Side) -> int:
        """Return the set of the points whose value lies in one of the runs."""
        found = 0
        for low, high in side:
            start, stop = bisect_left(self._values, low), bisect_left(self._values, high)
            first, last = bisect_left(self._cuts, start), bisect_right(self._cuts, stop) - 1
            if first < last:
                found |= self._before[first] ^ self._before[last]
                found |= self._bits(start, self._cuts[first]) | self._bits(self._cuts[last], stop)
            else:
                found |= self._bits(start, stop)
        return found

    def _bits(self, start: int, stop: int) -> int:
        return _pack(self._order[start:stop], len(self._order))


class _Flow:
    """The largest assignment of boxes to points, by Dinic's algorithm in phases of shortest paths.

    A box passes any amount to each point inside it; a point full of other boxes' rows passes on to one of those boxes.
    """

    def __init__(self, candidates: Sequence[Blocks], supply: list[int], capacity: list[int]) -> None:
        self._candidates = candidates
        self._supply = supply
        self._capacity = capacity
        self._sizes = [min(BLOCK, len(capacity) - start) for start in range(0, len(capacity), BLOCK)]
        self._free = [(1 << size) - 1 for size in self._sizes]
        self._takers: list[dict[int, int]] = [{} for _ in capacity]  # by point: the boxes with rows there, how many

    def shortfall(self) -> int:
        """Assign as many rows as can be and count the others."""
        counts = [sum(mask.bit_count() for _, mask in blocks) for blocks in self._candidates]
        for box in sorted(range(len(counts)), key=counts.__getitem__):
            self._fill(box)
        while layers := self._layers():
            self._augment(*layers)
        return sum(self._supply)

    def _fill(self, box: int) -> None:
        for block, mask in self._candidates[box]:
            mask &= self._free[block]
            while mask and self._supply[box]:
                top = mask.bit_length() - 1
                mask ^= 1 << top
                self._move([box], [block * BLOCK + top])

    def _move(self, boxes: list[int], points: list[int]) -> None:
        """Move as much as fits along box, point, box, point ..., each later box giving way at the point before it."""
        last = points[-1]
        amount = min(self._supply[boxes[0]], self._capacity[last])
        for point, box in zip(points, boxes[1:], strict=False):
            amount = min(amount, self._takers[point][box])
        self._supply[boxes[0]] -= amount
        self._capacity[last] -= amount
        if not self._capacity[last]:
            self._free[last // BLOCK] ^= 1 << last % BLOCK
        for point, box in zip(points, boxes, strict=True):
            self._takers[point][box] = self._takers[point].get(box, 0) + amount
        for point, box in zip(points, boxes[1:], strict=False):
            self._takers[point][box] -= amount
            if not self._takers[point][box]:
                del self._takers[point][box]

    def _layers(self) -> tuple[list[list[int]], dict[int, int]] | None:
        """Return the points by distance from the boxes still short, up to the first free ones, and the boxes' depth."""
        frontier = [box for box, rows in enumerate(self._supply) if rows]
        depth = dict.fromkeys(frontier, 0)
        unseen = [(1 << size) - 1 for size in self._sizes]
        layers: list[list[int]] = []
        while frontier:
            layer = [0] * len(unseen)
            for box in frontier:
                for block, mask in self._candidates[box]:
                    if new := mask & unseen[block]:
                        unseen[block] ^= new
                        layer[block] |= new
            layers.append(layer)
            free = list(map(operator.and_, layer, self._free))
            if any(free):
                layers[-1] = free
                return self._prune(layers, depth), depth
            frontier = []
            for point in _points_of(layer):
                for box in self._takers[point]:
                    if box not in depth:
                        depth[box] = len(layers)
                        frontier.append(box)
        return None

    def _prune(self, layers: list[list[int]], depth: dict[int, int]) -> list[list[int]]:
        """Leave in each layer only the points from which a free one can be reached."""
        boxes: list[list[int]] = [[] for _ in layers]
        for box, level in depth.items():
            if level < len(layers):
                boxes[level].append(box)
        for level in range(len(layers) - 1, 0, -1):
            layer, before = layers[level], layers[level - 1]
            leading = {box for box in boxes[level] if any(mask & layer[block] for block, mask in self._candidates[box])}
            for block, mask in enumerate(before):
                if mask:
                    takers = self._takers[block * BLOCK : (block + 1) * BLOCK]
                    kept = [n for n in bits_of(mask) if not leading.isdisjoint(takers[n])]
                    before[block] = _pack(kept, self._sizes[block])
        return layers

    def _augment(self, layers: list[list[int]], depth: dict[int, int]) -> None:
        """Move rows along shortest paths until every one of them is blocked."""
        for start in [box for box, level in depth.items() if level == 0]:
            boxes, points = [start], list[int]()
            while boxes and self._supply[start]:
                layer = layers[len(points)]
                place = next(((n, m & layer[n]) for n, m in self._candidates[boxes[-1]] if m & layer[n]), None)
                if place is None:  # a dead end: no path leads through this box any more
                    depth[boxes.pop()] = -1
                    if points:
                        points.pop()
                    continue
                block, top = place[0], place[1].bit_length() - 1
                point = block * BLOCK + top
                if len(points) + 1 == len(layers):
                    self._move(boxes, [*points, point])
                    layer[block] &= self._free[block]
                    boxes, points = [start], []
                    continue
                box = next((b for b in self._takers[point] if depth.get(b) == len(points) + 1), None)
                if box is None:
                    layer[block] ^= 1 << top
                else:
                    boxes.append(box)
                    points.append(point)


def _points_of(blocks: Sequence[int]) -> Iterator[int]:
    for block, mask in enumerate(blocks):
        for n in bits_of(mask):
            yield block * BLOCK + n


def _pack(members: Sequence[int], size: int) -> int:
    if len(members) < 4:
        return sum(1 << n for n in members)
    held = bytearray(size // 8 + 1)
    for n in members:
        held[n >> 3] |= 1 << (n & 7)
    return int.from_bytes(held, "little")


def bits_of(mask: int) -> Iterator[int]:
    """Give the places of the bits that are set, the lowest first."""
    digits = f"{mask:b}"[::-1]
    position = digits.find("1")
    while position >= 0:
        yield position
        position = digits.find("1", position + 1)
