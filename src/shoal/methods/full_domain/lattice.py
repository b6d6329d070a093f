"""The lattice of level vectors: what is known about each vector, and searches with few tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.methods.full_domain.levels import Vector

__all__ = ["FAILS", "MOST_VECTORS", "OPEN", "PASSES", "Lattice"]

OPEN, PASSES, FAILS = 0, 1, 2
# Larger lattices are searched without marks, which would need more than about 70 MB.
MOST_VECTORS = 2**22


class Lattice:
    """A mark for each vector: open, passes or fails. Vectors are numbered in lexicographic order.

    Callers decide whether marks propagate: vectors above a passing vector pass, vectors below a failing vector fail.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        self.marks = np.zeros(self.shape, dtype=np.uint8)
        self._flat = self.marks.reshape(-1)
        self._strides = [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]

    def index(self, vector: Vector) -> int:
        """Return the number of a vector."""
        return sum(place * stride for place, stride in zip(vector, self._strides, strict=True))

    def vector(self, index: int) -> Vector:
        """Return the vector of a number."""
        return tuple(index // stride % n for stride, n in zip(self._strides, self.shape, strict=True))

    def mark(self, vector: Vector) -> int:
        """Return what is known about a vector."""
        return int(self._flat[self.index(vector)])

    def above(self, vector: Vector) -> NDArray[np.uint8]:
        """Return a view of the marks of a vector and all more general ones."""
        return self.marks[tuple(slice(place, None) for place in vector)]

    def below(self, vector: Vector) -> NDArray[np.uint8]:
        """Return a view of the marks of a vector and all more specific ones."""
        return self.marks[tuple(slice(None, place + 1) for place in vector)]

    def open(self) -> NDArray[np.int64]:
        """Return the numbers of the open vectors."""
        return np.flatnonzero(self._flat == OPEN)

    def parents(self, vector: Vector) -> Iterator[Vector]:
        """Yield the vectors that are one level more general."""
        for i, place in enumerate(vector):
            if place + 1 < self.shape[i]:
                yield (*vector[:i], place + 1, *vector[i + 1 :])

    def path(self, vector: Vector) -> list[Vector]:
        """Return a maximal path of open vectors upwards from an open vector, one level at each step."""
        vectors = [vector]
        while True:
            higher = next((parent for parent in self.parents(vectors[-1]) if self.mark(parent) == OPEN), None)
            if higher is None:
                return vectors
            vectors.append(higher)

    def settle(self, passes: Callable[[Vector], bool], order: NDArray[np.int64] | None = None) -> None:
        """Mark every vector under a monotone test: bisect paths until no vector is open.

        Args:
            passes: The test.
            order: The numbers of the vectors in the order in which paths start; by default from the bottom up.
        """
        waiting = np.arange(self._flat.size) if order is None else order
        position = 0
        while True:
            open_positions = np.flatnonzero(self._flat[waiting[position:]] == OPEN)
            if not len(open_positions):
                return
            position += int(open_positions[0])
            self.halve(self.path(self.vector(int(waiting[position]))), passes)

    def halve(self, path: Sequence[Vector], passes: Callable[[Vector], bool]) -> Vector | None:
        """Find the first passing vector of a path by bisection and mark what follows from it; None if none passes."""
        low, high = 0, len(path)
        while low < high:
            middle = (low + high) // 2
            if passes(path[middle]):
                self.above(path[middle])[...] = PASSES
                high = middle
            else:
                self.below(path[middle])[...] = FAILS
                low = middle + 1
        return path[high] if high < len(path) else None

    def minimal(self) -> list[Vector]:
        """Return the minimal passing vectors in lexicographic order."""
        passing = self.marks == PASSES
        least = passing.copy()
        for axis in range(passing.ndim):
            shifted = [slice(None)] * passing.ndim
            source = list(shifted)
            shifted[axis], source[axis] = slice(1, None), slice(None, -1)
            least[tuple(shifted)] &= ~passing[tuple(source)]
        return [self.vector(int(i)) for i in np.flatnonzero(least.reshape(-1))]
