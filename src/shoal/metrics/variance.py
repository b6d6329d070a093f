"""Rows as points over standardised columns, and the sum of squares inside groups: what microaggregation loses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Entries

__all__ = ["Axis", "Coordinates", "Grid", "axes_of", "coordinates_of", "sum_of_squares"]

Floats = NDArray[np.float64]

# Coordinates are whole steps of this fraction of a standard deviation, or of a larger one if outliers are far away.
FINEST = 16  # bits
EXACT = 52  # bits that squared distances may have
MISSING = 2.0  # squared distance of a missing value from the mean of a column, in variances


@dataclass(frozen=True)
class Axis:
    """A quasi-identifier whose values have variance 1 in the table.

    Attributes:
        places: The standardised number behind each code, 0 for a missing one; None for a category.
        values: The indicator of each code: a category has one for each value, a number one for a missing value.
        unit: Half the squared distance of two codes with different indicators; 0 if there is only one.
    """

    places: Floats | None
    values: NDArray[np.int32]
    unit: float

    @property
    def constant(self) -> bool:
        """Whether all rows have the same value."""
        return self.unit == 0 and (self.places is None or not self.places.any())


def axes_of(attributes: Sequence[Attribute], histograms: Sequence[NDArray[Any]]) -> list[Axis]:
    """Return the quasi-identifiers, standardised; histograms: the number of rows of each code."""
    return [_axis(attribute, rows) for attribute, rows in zip(attributes, histograms, strict=True)]


def _axis(attribute: Attribute, rows: NDArray[Any]) -> Axis:
    n_codes, n_rows = len(attribute.texts), max(float(rows.sum()), 1.0)
    if not len(attribute.values):
        spread = 1 - math.fsum((float(count) / n_rows) ** 2 for count in rows)
        return Axis(None, np.arange(n_codes, dtype=np.int32), 1 / spread if spread > 1e-12 else 0.0)
    known = np.ones(n_codes, dtype=bool)
    if attribute.missing >= 0:
        known[attribute.missing] = False
    values = attribute.values[known]
    values = values / max(float(np.abs(values).max(initial=0.0)), 1e-300)  # else squares may overflow
    weights, numbers = rows[known].astype(float).tolist(), values.tolist()
    n_known = math.fsum(weights)
    places = np.zeros(n_codes)
    if n_known:
        mean = math.fsum(w * x for w, x in zip(weights, numbers, strict=True)) / n_known
        variance = math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, numbers, strict=True)) / n_known
        if variance > 0:
            places[known] = (values - mean) / math.sqrt(variance)
    share = n_known / n_rows
    total = share * bool(places.any()) + MISSING * share * (1 - share)
    if total <= 0:
        return Axis(places, np.zeros(n_codes, dtype=np.int32), 0.0)
    unit = MISSING / 2 / total if 0 < share < 1 else 0.0
    return Axis(places / math.sqrt(total), (~known).astype(np.int32), unit)


@dataclass(frozen=True)
class Coordinates:
    """Tuples as points, on a grid of integers so that squared distances are exact.

    Attributes:
        places: The coordinates of each tuple.
        values: The indicators of each tuple in each category, numbered across categories.
        units: Half the squared distance of two tuples with different indicators, for each category.
    """

    places: Floats
    values: NDArray[np.int32]
    units: Floats

    def take(self, tuples: NDArray[np.int32]) -> Coordinates:
        """Return the points of some tuples."""
        return Coordinates(self.places[tuples], self.values[tuples], self.units)


@dataclass(frozen=True)
class Grid:
    """The points of a table by their codes. A section of it has the grid of the whole table.

    Attributes:
        places: For each quasi-identifier, the coordinate of each code; None if it has no numbers, or one of them only.
        values: For each quasi-identifier, the indicator of each code.
        units: For each quasi-identifier, half the squared distance of two codes with different indicators, or 0.
    """

    places: tuple[Floats | None, ...]
    values: tuple[NDArray[np.int32], ...]
    units: tuple[float, ...]

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        histograms: Sequence[NDArray[Any]],
        weights: Mapping[str, Any] | None = None,
    ) -> Grid:
        """Lay out a table.

        Args:
            attributes: The quasi-identifiers.
            histograms: The number of rows of each code of each of them.
            weights: Of the quasi-identifiers: what their squared distances count; 1 by default.
        """
        shares = [float((weights or {}).get(attribute.name, 1)) for attribute in attributes]
        axes = axes_of(attributes, histograms)
        scaled = [
            np.sqrt(share) * axis.places for share, axis in zip(shares, axes, strict=True) if axis.places is not None
        ]
        units = [share * axis.unit for share, axis in zip(shares, axes, strict=True)]
        widest = sum(float(np.ptp(places)) ** 2 for places in scaled) + 2 * sum(units)
        bits = min(FINEST, int((EXACT - math.ceil(math.log2(max(widest, 1.0)))) // 2))
        return cls(
            tuple(
                np.rint(math.sqrt(share) * axis.places * 2.0**bits)
                if axis.places is not None and axis.places.any() and share > 0
                else None
                for share, axis in zip(shares, axes, strict=True)
            ),
            tuple(axis.values for axis in axes),
            tuple(float(np.rint(unit * 4.0**bits)) if unit > 0 else 0.0 for unit in units),
        )

    def points(self, tuples: NDArray[np.int32]) -> Coordinates:
        """Return tuples of codes as points."""
        columns = [own[tuples[:, a]] for a, own in enumerate(self.places) if own is not None]
        categories = [a for a, unit in enumerate(self.units) if unit > 0]
        indicators, first = [], 0
        for a in categories:
            indicators.append(self.values[a][tuples[:, a]] + first)
            first += int(self.values[a].max()) + 1
        none = np.zeros((len(tuples), 0))
        return Coordinates(
            places=np.ascontiguousarray(np.column_stack([none, *columns])),
            values=np.ascontiguousarray(np.column_stack([none, *indicators]).astype(np.int32)),
            units=np.array([self.units[a] for a in categories], dtype=np.float64),
        )


def coordinates_of(encoded: Encoded, weights: Mapping[str, Any] | None = None) -> Coordinates:
    """Return the tuples of a table as points.

    Args:
        encoded: The table.
        weights: Of the quasi-identifiers: what their squared distances count; 1 by default.
    """
    return Grid.of(encoded.attributes, encoded.histograms, weights).points(encoded.tuples)


def sum_of_squares(
    encoded: Encoded,
    entries: Entries,
    weights: Mapping[str, Any] | None = None,
    whole: Encoded | None = None,
    axes: Sequence[Axis] | None = None,
) -> float:
    """Return the sum of squares inside groups over that of the table, both over standardised columns.

    A suppressed row loses all of its distance from the mean of the table. A column with a single value does not count.

    Args:
        encoded: The table.
        entries: Its groups; -1 for suppressed rows.
        weights: Of the quasi-identifiers, 1 by default.
        whole: The whole table, if `encoded` is a section of it: what the sections return adds up to its share.
        axes: The axes of the whole table, if they are used several times.
    """
    whole = whole or encoded
    histograms = whole.histograms
    axes = axes or axes_of(encoded.attributes, histograms)
    # Suppressed rows come first, as a group of their own.
    groups, rows = entries.groups.astype(np.int64) + 1, entries.rows.astype(np.float64)
    lost = total = 0.0
    for a, (axis, histogram) in enumerate(zip(axes, histograms, strict=True)):
        if axis.constant:
            continue
        weight = float((weights or {}).get(encoded.attributes[a].name, 1))
        codes = encoded.tuples[entries.tuples, a]
        lost += weight * (_squares(axis, codes, rows, groups) + _indicators(axis, codes, rows, groups, histogram))
        total += weight * whole.n_rows
    return lost / total if total > 0 else 0.0


def _squares(axis: Axis, codes: NDArray[np.int32], rows: Floats, groups: NDArray[np.int64]) -> float:
    """Return the sum of squares of numbers inside groups; group 0 has them around the mean of the table."""
    if axis.places is None:
        return 0.0
    places, sizes = axis.places[codes], np.bincount(groups, rows)
    means = np.bincount(groups, rows * places) / np.maximum(sizes, 1)
    means[0] = 0.0
    return float((rows * (places - means[groups]) ** 2).sum())


def _indicators(
    axis: Axis, codes: NDArray[np.int32], rows: Floats, groups: NDArray[np.int64], histogram: NDArray[Any]
) -> float:
    """Return the sum of squares of indicators inside groups; group 0 has them around the shares of the table."""
    if not axis.unit:
        return 0.0
    n_values = int(axis.values.max()) + 1
    values, hidden = axis.values[codes], groups == 0
    pairs, place = np.unique(groups[~hidden] * n_values + values[~hidden], return_inverse=True)
    alike, sizes = np.bincount(place, rows[~hidden]), np.bincount(groups[~hidden], rows[~hidden])
    inside = sizes.sum() - float((alike**2 / sizes[pairs // n_values]).sum())
    shares = np.bincount(axis.values, histogram, n_values) / histogram.sum()
    outside = float((rows[hidden] * (1 - 2 * shares[values[hidden]] + (shares**2).sum())).sum())
    return axis.unit * (float(inside) + outside)
