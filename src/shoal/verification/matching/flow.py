"""Maximum assignment of boxes to points, with sets of points as bits of large integers."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence

__all__ = ["BLOCK", "Blocks", "Flow", "bits_of", "pack_bits"]

BLOCK = 4096  # points whose bits share one integer

Blocks = tuple[tuple[int, int], ...]  # a set of points: its non-empty blocks with their bits


class Flow:
    """The maximum assignment of boxes to points, by Dinic's algorithm in phases of shortest paths.

    A box can send any number of rows to each point inside it. A full point passes rows on to a box that occupies it.

    Args:
        candidates: The points inside each box.
        supply: The rows of each box.
        capacity: The rows of each point.
    """

    def __init__(self, candidates: Sequence[Blocks], supply: list[int], capacity: list[int]) -> None:
        self._candidates = candidates
        self._supply = supply
        self._capacity = capacity
        self._sizes = [min(BLOCK, len(capacity) - start) for start in range(0, len(capacity), BLOCK)]
        self._free = [(1 << size) - 1 for size in self._sizes]
        self._takers: list[dict[int, int]] = [{} for _ in capacity]  # by point: the rows of each box there

    def shortfall(self) -> int:
        """Assign as many rows as possible and count the others."""
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
        """Move as many rows as fit along box, point, box, point ...; each later box leaves the point before it."""
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
        """Return the points by distance from unsatisfied boxes, up to the first free ones, and the depth of boxes."""
        frontier = [box for box, rows in enumerate(self._supply) if rows]
        depth = dict.fromkeys(frontier, 0)
        unvisited = [(1 << size) - 1 for size in self._sizes]
        layers: list[list[int]] = []
        while frontier:
            layer = [0] * len(unvisited)
            for box in frontier:
                for block, mask in self._candidates[box]:
                    if new := mask & unvisited[block]:
                        unvisited[block] ^= new
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
        """Keep in each layer only the points that lead to a free point."""
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
                    useful = [n for n in bits_of(mask) if not leading.isdisjoint(takers[n])]
                    before[block] = pack_bits(useful, self._sizes[block])
        return layers

    def _augment(self, layers: list[list[int]], depth: dict[int, int]) -> None:
        """Move rows along shortest paths until every path is blocked."""
        for start in [box for box, level in depth.items() if level == 0]:
            boxes, points = [start], list[int]()
            while boxes and self._supply[start]:
                layer = layers[len(points)]
                place = next(((n, m & layer[n]) for n, m in self._candidates[boxes[-1]] if m & layer[n]), None)
                if place is None:  # dead end: no path leads through this box
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


def pack_bits(members: Sequence[int], size: int) -> int:
    """Return the integer whose bits at these positions, all below a size, are set."""
    if len(members) < 4:
        return sum(1 << n for n in members)
    bits = bytearray(size // 8 + 1)
    for n in members:
        bits[n >> 3] |= 1 << (n & 7)
    return int.from_bytes(bits, "little")


def bits_of(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits, lowest first."""
    digits = f"{mask:b}"[::-1]
    position = digits.find("1")
    while position >= 0:
        yield position
        position = digits.find("1", position + 1)
