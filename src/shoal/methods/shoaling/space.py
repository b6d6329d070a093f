"""The tuples as points, for a search that lowers the sum of squares inside groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.methods.counter_random import draws, mix
from shoal.methods.sections import Cut
from shoal.methods.shoaling.pricing import Pricing
from shoal.metrics.variance import Coordinates, Grid

__all__ = ["Points", "Space", "squared_cuts"]

SAMPLE = 4096  # items that decide on a cut
LEAST_SHARE = 0.3  # a cut counts between this share and all of what it separates, at random
COARSE = 2**16  # whole distances are this much coarser, so that a distance times a number of rows fits 64 bits

SMALLEST_SIDE = 4  # no side of a cut between sections is smaller than this fraction of the largest section

Ints = NDArray[np.int32]


class Points(NamedTuple):
    """The points of a block, in the order of the kernel's arguments.

    Attributes:
        point: The point of each entry; entries with equal values share one.
        places: The coordinates of each point.
        values: The categories of each point, numbered across categories.
        units: Half the squared distance of two values of each category.
    """

    point: Ints
    places: NDArray[np.float64]
    values: Ints
    units: NDArray[np.float64]


@dataclass(frozen=True)
class Space:
    """The tuples of the search as points.

    Attributes:
        of_codes: For each tuple, its tuple of codes in the encoded table, which is its point.
        points: The tuples of codes as points.
    """

    of_codes: Ints
    points: Coordinates

    def distances(self, one: int) -> NDArray[np.int64]:
        """Return the squared distance of each tuple from one, in coarse steps."""
        places, values = self.points.places, self.points.values
        point = self.of_codes[one]
        total = ((places - places[point]) ** 2).sum(axis=1) + 2 * ((values != values[point]) * self.points.units).sum(
            axis=1
        )
        coarse: NDArray[np.int64] = np.floor(total / COARSE).astype(np.int64)
        return coarse[self.of_codes]

    def squares(self, tuples: Ints, rows: NDArray[np.int64], groups: Ints) -> float:
        """Return the sum of squares inside groups; entries: their tuples, rows and groups."""
        point, weights = self.of_codes[tuples], rows.astype(np.float64)
        sizes = np.bincount(groups, weights)
        total = 0.0
        for column in self.points.places.T:
            gaps = column[point] - (np.bincount(groups, weights * column[point]) / np.maximum(sizes, 1))[groups]
            total += float((weights * gaps**2).sum())
        for column, unit in zip(self.points.values.T, self.points.units.tolist(), strict=True):
            keys, place = np.unique(groups.astype(np.int64) << 32 | column[point], return_inverse=True)
            total += unit * float(sizes.sum() - (np.bincount(place, weights) ** 2 / sizes[keys >> 32]).sum())
        return total

    def near(self, tuples: Ints) -> Points:
        """Return the points of a block; tuples: those of its entries."""
        chosen, point = np.unique(self.of_codes[tuples], return_inverse=True)
        values = self.points.values[chosen]
        local = np.unique(values, return_inverse=True)[1].reshape(values.shape)
        return Points(
            point.astype(np.int32),
            np.ascontiguousarray(self.points.places[chosen]),
            np.ascontiguousarray(local.astype(np.int32)),
            self.points.units,
        )

    def cut(
        self, tuples: Ints, weights: NDArray[np.int64], limit: int, least: int, key: int
    ) -> list[NDArray[np.int64]]:
        """Cut items into blocks, each time where that takes most of the sum of squares; return their positions.

        Chance favours some coordinates over others, so that cuts with different keys have different borders.

        Args:
            tuples: The tuple of each item.
            weights: The weight of each item.
            limit: The largest weight of a block; blocks that cannot be cut may weigh more.
            least: The least number of items of a block.
            key: Of the random numbers.
        """
        point = self.of_codes[tuples]
        columns = [column[point] for column in self.points.places.T]
        blocks: list[NDArray[np.int64]] = []
        stack = [np.arange(len(tuples))]
        while stack:
            items = stack.pop()
            sides = None
            if int(weights[items].sum()) > limit and len(items) >= 2 * least:
                sides = self._cut_in_two(columns, point, items, least, mix(key, len(blocks), len(stack)))
            if sides is None or min(int(sides.sum()), int((~sides).sum())) < least:
                blocks.append(items)
            else:
                stack += [items[~sides], items[sides]]
        return blocks

    def _cut_in_two(
        self, columns: Sequence[NDArray[np.float64]], point: Ints, items: NDArray[np.int64], least: int, key: int
    ) -> NDArray[np.bool_] | None:
        """Return which items lie on the lower side of the best cut; None if there is none."""
        n = len(items)
        sample = items if n <= SAMPLE else items[(draws(key, np.arange(SAMPLE)) % np.uint64(n)).astype(np.int64)]
        least = max(-(-least * len(sample) // n), 2)
        luck = (
            LEAST_SHARE
            + (1 - LEAST_SHARE) * (draws(mix(key, 1), np.arange(len(columns) + 1)) >> np.uint64(11)) / 2.0**53
        )
        best, chosen = 0.0, None
        for a, column in enumerate(columns):
            gain, at = _best_cut(np.sort(column[sample]), least)
            if gain * luck[a] > best:
                best, chosen = gain * luck[a], column[items] < at
        for column, unit in zip(self.points.values.T, self.points.units.tolist(), strict=True):
            values, rows = np.unique(column[point[sample]], return_counts=True)
            most = int(np.argmax(np.minimum(rows, len(sample) - rows)))
            gain = 2 * unit * rows[most] * (len(sample) - rows[most]) / len(sample)
            if min(rows[most], len(sample) - rows[most]) >= least and gain * luck[-1] > best:
                best, chosen = gain * luck[-1], column[point[items]] == values[most]
        return chosen


def _best_cut(places: NDArray[np.float64], least: int) -> tuple[float, float]:
    """Return what the best cut of sorted places takes from their sum of squares, and the place above it."""
    n = len(places)
    below = np.arange(1, n)
    means = np.cumsum(places)[:-1] / below
    others = (places.sum() - means * below) / (n - below)
    gains = below * (n - below) / n * (others - means) ** 2
    gains[(places[1:] == places[:-1]) | (below < least) | (n - below < least)] = 0.0
    at = int(np.argmax(gains)) if n > 1 else 0
    return (float(gains[at]), float(places[at + 1])) if n > 1 else (0.0, 0.0)


def squared_cuts(histograms: Sequence[NDArray[np.int64]], pricing: Pricing, grid: Grid, largest: int) -> Iterator[Cut]:
    """Yield the cut that takes most of the sum of squares of a section, compared with how even its sides are.

    So what is rare or far from all else leaves first: its groups would lose most if later cuts scattered it.

    Args:
        histograms: The number of tuples of each code, in the columns of the pricing.
        pricing: How codes of attributes become those of these columns.
        grid: The points of the whole table.
        largest: The most tuples of a section that is not cut.
    """
    least, best, found = max(1, largest // SMALLEST_SIDE), 0.0, None
    for a, column in enumerate(pricing.of_attributes):
        ranks = pricing.columns[column].codes
        gain, left = _part(grid.places[a], grid.values[a], grid.units[a], histograms[column][ranks], least)
        if gain > best:
            goes_right = np.ones(len(ranks), dtype=np.int32)
            goes_right[ranks[left]] = 0
            best, found = gain, Cut(column, goes_right)
    if found is not None:
        yield found


def _part(
    places: NDArray[np.float64] | None, values: Ints, unit: float, counts: NDArray[np.int64], least: int
) -> tuple[float, NDArray[np.int64]]:
    """Return what the best cut of a column gains, 0 for no cut; and the codes on its left.

    Args:
        places: The coordinate of each code, if it has numbers.
        values: The indicator of each code.
        unit: Half the squared distance of two codes with different indicators.
        counts: The tuples of each code.
        least: The least number of tuples on each side.
    """
    codes = np.flatnonzero(counts)
    own = values[codes]
    if places is None:  # the most frequent values go left
        frequent = np.bincount(own, counts[codes])[own]
        order = np.lexsort((own, -frequent))
        starts = np.flatnonzero(np.diff(own[order], prepend=-1))
    else:  # missing values come last
        order = np.lexsort((places[codes], own))
        starts = np.arange(len(codes))
    if len(starts) < 2:
        return 0.0, codes[:0]
    codes, own = codes[order], own[order]
    rows = np.add.reduceat(counts[codes], starts).astype(np.float64)
    ends = np.cumsum(rows)
    total, left = float(ends[-1]), ends[:-1]
    right = total - left
    if places is None:
        alike = np.cumsum(rows**2)
        squares = unit * (alike[:-1] / left + (alike[-1] - alike[:-1]) / right - alike[-1] / total)
    else:
        sums, missing = np.cumsum(rows * places[codes]), np.cumsum(rows * own)
        beyond = sums[:-1] - left * (sums[-1] / total)  # from the mean
        squares = beyond**2 * total / (left * right) + unit * (
            _unlike(missing[-1:], ends[-1:]) - _unlike(missing[:-1], left) - _unlike(missing[-1] - missing[:-1], right)
        )
    evenness = np.sqrt(left * right) / total
    gains = squares / total / (evenness * np.sqrt(evenness))  # nearly the entropy of the cut
    gains[np.minimum(left, right) < least] = 0.0
    best = int(np.argmax(gains))
    return float(gains[best]), codes[: starts[best + 1]]


def _unlike(missing: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half the sum of squares of sides with some missing values, in squared distances."""
    return 2 * missing * (size - missing) / size
