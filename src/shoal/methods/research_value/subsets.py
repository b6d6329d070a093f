"""The distributed search: strings over subsets of the attributes, then their combinations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from shoal.errors import CancelledError
from shoal.methods.full_domain.lattice import FAILS, OPEN, PASSES, Lattice
from shoal.methods.full_domain.levels import Vector
from shoal.methods.research_value.search import StringSearch

__all__ = ["search_subsets", "split"]


@dataclass(frozen=True)
class Part:
    """Some consecutive attributes, and the strings over them that pass by themselves.

    Attributes:
        first: The index of the first attribute.
        lattice: The lattice over these attributes.
        strings: The passing strings with their sort keys, best first.
    """

    first: int
    lattice: Lattice
    strings: list[tuple[int, Vector]]

    @property
    def end(self) -> int:
        """The index after the last attribute."""
        return self.first + len(self.lattice.shape)


def split(shape: tuple[int, ...], budget: int) -> list[tuple[int, int]]:
    """Cut the attributes, in order, into runs of at most `budget` strings (or of one attribute)."""
    runs, first, size = [], 0, 1
    for i, n in enumerate(shape):
        if i > first and size * n > budget:
            runs.append((first, i))
            first, size = i, 1
        size *= n
    return [*runs, (first, len(shape))]


def search_subsets(search: StringSearch, budget: int) -> None:
    """Find the best string without listing all strings; memory is that of the strings of the parts.

    Within a part, with the other attributes left out, only failures remove strings. Combinations are then tried part by
    part in order of falling value: a failing combination excludes all its extensions, and combinations that cannot beat
    the best are skipped. The result is the best string, whatever the values are.
    """
    prices = _ranks(search)
    parts = [_part(search, first, end, prices) for first, end in split(search.problem.shape, budget)]
    rest = [0]  # minimum price of the parts from each one on
    for part in reversed(parts):
        rest.insert(0, rest[0] + (part.strings[0][0] if part.strings else 0))
    best = min((_sum(prices, vector) for vector in search.successes), default=None)
    if all(part.strings for part in parts):
        _Combining(search, parts, rest, prices, best).descend(search.problem.sets.absent, 0, 0)


def _sum(prices: list[list[int]], vector: Vector) -> int:
    return sum(costs[place] for costs, place in zip(prices, vector, strict=True))


def _part(search: StringSearch, first: int, end: int, prices: list[list[int]]) -> Part:
    shape, absent = search.problem.shape[first:end], search.problem.sets.absent
    lattice = Lattice(shape)
    lattice.settle(lambda vector: search.problem.passes((*absent[:first], *vector, *absent[end:])))
    kept = [lattice.vector(int(i)) for i in (lattice.marks.reshape(-1) == PASSES).nonzero()[0]]
    priced = [(sum(prices[first + i][place] for i, place in enumerate(vector)), vector) for vector in kept]
    return Part(first, lattice, sorted(priced))


def _ranks(search: StringSearch) -> list[list[int]]:
    """Return a number for each level so that sums compare strings by value, roots, height and vector."""
    problem = search.problem
    n_strings, top = math.prod(problem.shape), sum(problem.top)
    found, stride = [], n_strings
    for ladder, costs in zip(problem.ladders, search.objective().levels, strict=True):
        stride //= ladder.n_levels
        roots = [int(ladder.first + place == ladder.height) for place in range(ladder.n_levels)]
        whole = [price * (len(problem.shape) + 1) + root for price, root in zip(costs.tolist(), roots, strict=True)]
        found.append([(n * (top + 1) + place) * n_strings + place * stride for place, n in enumerate(whole)])
    return found


@dataclass
class _Combining:
    """The second phase: combinations of the strings of the parts.

    Attributes:
        search: The search.
        parts: The parts.
        rest: The minimum price of the parts from each one on.
        prices: The number of each level of each attribute.
        best: The price of the best string so far.
    """

    search: StringSearch
    parts: list[Part]
    rest: list[int]
    prices: list[list[int]]
    best: int | None = None

    def descend(self, vector: Vector, n_fixed: int, cost: int) -> None:
        """Extend a string over the first parts by every string of the next part that may lead to the best."""
        if n_fixed == len(self.parts):
            self.search.successes.add(vector)
            self.best = cost
            return
        part = self.parts[n_fixed]
        lattice = Lattice(part.lattice.shape)
        lattice.marks[part.lattice.marks == FAILS] = FAILS

        def whole(own: Vector) -> Vector:
            return (*vector[: part.first], *own, *vector[part.end :])

        def too_dear(price: int) -> bool:
            return self.best is not None and cost + price + self.rest[n_fixed + 1] >= self.best

        for price, own in part.strings:
            if self.search.problem.run.cancelled():
                raise CancelledError
            if too_dear(price):
                return
            if lattice.mark(own) == OPEN:
                self._settle(lattice, part, own, lambda own: self.search.problem.passes(whole(own)), too_dear)
            if lattice.mark(own) == PASSES:
                self.descend(whole(own), n_fixed + 1, cost + price)

    def _settle(
        self,
        lattice: Lattice,
        part: Part,
        own: Vector,
        passes: Callable[[Vector], bool],
        too_dear: Callable[[int], bool],
    ) -> None:
        """Decide an open string by a path above it, whose end most likely fails and is tested first."""

        def price(string: Vector) -> int:
            return sum(self.prices[part.first + i][place] for i, place in enumerate(string))

        path = [own]
        while True:
            higher = [(price(p), p) for p in lattice.parents(path[-1]) if lattice.mark(p) == OPEN]
            if not higher or too_dear(min(higher)[0]):
                break
            path.append(min(higher)[1])
        if not passes(path[-1]):
            lattice.below(path[-1])[...] = FAILS
        else:
            lattice.halve(path, passes)
