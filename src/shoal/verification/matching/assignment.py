"""Which original rows each released row can come from: distinct released rows are boxes, original ones are points."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from shoal.verification.cells import Cells, normalise
from shoal.verification.matching.flow import BLOCK, Blocks, bits_of, pack_bits

__all__ = ["Domain", "Point", "Side", "number_sides", "points_inside"]

MOST_KEPT_MASKS = 200_000  # for one column
N_PARTS = 64
SCALES = ("number", "date", "truth", "rank", "text")  # on which values have a place
FEW_PAIRS = 32  # up to this many pairs of box and point are compared one by one

Run = tuple[int, int]  # value numbers from the first up to, but without, the second
Side = tuple[Run, ...]  # what a released cell covers, as runs of value numbers in rising order
Point = tuple[int, ...]  # an original row: its value number in each quasi-identifier
Box = tuple[int, ...]  # a released row: the number of its side in each quasi-identifier


class Domain:
    """The values of one quasi-identifier in the original, numbered so that every range is one run.

    Args:
        cells: How to read the quasi-identifier.
        texts: Its distinct cells in the original.
    """

    def __init__(self, cells: Cells, texts: Iterable[str]) -> None:
        self._cells = cells
        forms = {text: "" if cells.is_missing(text) else normalise(text) for text in texts}
        placed: dict[str, list[tuple[Any, str]]] = {scale: [] for scale in SCALES}
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
        numbered[""] = self.size - 1  # all texts that mean a missing value share this number
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


def number_sides(domain: Domain, column: Iterable[str]) -> tuple[list[Side], dict[str, int]]:
    """Return the distinct sides of the released cells of a column, and the number of the side of each cell."""
    side_of = {cell: domain.side(cell) for cell in dict.fromkeys(column)}
    sides = list(dict.fromkeys(side_of.values()))
    numbers = {side: number for number, side in enumerate(sides)}
    return sides, {cell: numbers[side] for cell, side in side_of.items()}


def points_inside(
    boxes: Sequence[Box], points: Sequence[Point], sides: Sequence[Sequence[Side]], narrow_first: Sequence[int]
) -> list[Blocks]:
    """Return the points inside each box.

    Args:
        boxes: The boxes.
        points: The points, sorted by the columns of `narrow_first`, so that those of a box lie in few blocks.
        sides: The sides of each column by number.
        narrow_first: The columns, those in which boxes are narrow first.
    """
    if len(boxes) * len(points) <= FEW_PAIRS:
        bit_sets = [sum(1 << n for n, point in enumerate(points) if _inside(box, point, sides)) for box in boxes]
        return [((0, mask),) if mask else () for mask in bit_sets]
    starts = range(0, len(points), BLOCK)
    axes = [[_Axis(column) for column in zip(*points[start : start + BLOCK], strict=True)] for start in starts]
    columns = [(c, _Blocked([block[c] for block in axes], sides[c])) for c in narrow_first]
    everything = [(1 << min(BLOCK, len(points) - start)) - 1 for start in starts]
    matches: list[Blocks] = []
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
        matches.append(tuple(masks))
    return matches


def _inside(box: Box, point: Point, sides: Sequence[Sequence[Side]]) -> bool:
    return all(
        any(low <= value < high for low, high in column[number])
        for number, value, column in zip(box, point, sides, strict=True)
    )


class _Blocked:
    """One column of all points, block by block, with a cache."""

    def __init__(self, axes: Sequence[_Axis], sides: Sequence[Side]) -> None:
        self._axes = axes
        self._sides = sides
        self._touched: dict[int, int] = {}
        self._masks: dict[tuple[int, int], int] = {}

    def touched(self, side: int) -> int:
        """Return the blocks that contain a value of the side, as bits; all of them if there are too many sides."""
        if len(self._sides) > MOST_KEPT_MASKS // len(self._axes):
            return -1
        blocks = self._touched.get(side)
        if blocks is None:
            runs = self._sides[side]
            blocks = self._touched[side] = pack_bits(
                [n for n, axis in enumerate(self._axes) if axis.meets(runs)], len(self._axes)
            )
        return blocks

    def mask(self, side: int, block: int) -> int:
        """Return the points of a block whose value lies in the side."""
        mask = self._masks.get((side, block))
        if mask is None:
            if len(self._masks) >= MOST_KEPT_MASKS:
                self._masks.clear()
            mask = self._masks[side, block] = self._axes[block].mask(self._sides[side])
        return mask


class _Axis:
    """One column of a block of points; finds the points whose value lies in a side.

    The points are sorted by value and cut into parts where the value changes; a frequent value gets a part of its own.
    The set of all points before each cut is stored, so a run of complete parts costs one exclusive or.
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
        """Return whether a value lies in one of the runs."""
        if not side or side[0][0] > self._values[-1] or side[-1][1] <= self._values[0]:
            return False
        return any(bisect_left(self._values, low) < bisect_left(self._values, high) for low, high in side)

    def mask(self, side: Side) -> int:
        """Return the points whose value lies in one of the runs, as bits."""
        points = 0
        for low, high in side:
            start, stop = bisect_left(self._values, low), bisect_left(self._values, high)
            first, last = bisect_left(self._cuts, start), bisect_right(self._cuts, stop) - 1
            if first < last:
                points |= self._before[first] ^ self._before[last]
                points |= self._bits(start, self._cuts[first]) | self._bits(self._cuts[last], stop)
            else:
                points |= self._bits(start, stop)
        return points

    def _bits(self, start: int, stop: int) -> int:
        return pack_bits(self._order[start:stop], len(self._order))
