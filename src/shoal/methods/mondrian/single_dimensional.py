"""Single-dimensional Mondrian: every cut runs through the whole table, so that parts of attributes make its regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Cells, Partition, recode
from shoal.errors import CancelledError
from shoal.methods.base import Run, failing_groups
from shoal.methods.mondrian.counted_cuts import measure_width, right_sides
from shoal.models import PrivacyModel

__all__ = ["Allows", "cells_of_parts", "cut_attributes", "cut_tuples", "regions_partition"]

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
# Gets the part of each code, by attribute; the attribute whose last part is new; and the part that this was cut from.
# Says whether all regions pass.
Allows = Callable[[Sequence[Codes], int, int], bool]


def cut_attributes(
    attributes: Sequence[Attribute], histograms: Sequence[Counts], allows: Allows, run: Run
) -> list[Codes]:
    """Cut attributes into parts, the widest part first; return the part of each code, -1 for no rows, by attribute.

    Args:
        attributes: The attributes, without hierarchies.
        histograms: The rows of each code, by attribute.
        allows: Says whether a cut may be made.
        run: The run.
    """
    parts: list[Codes] = [np.where(rows > 0, 0, -1).astype(np.int32) for rows in histograms]
    n_parts = [1] * len(attributes)
    open_parts = [(a, 0) for a in range(len(attributes))]
    while open_parts:
        if run.cancelled():
            raise CancelledError
        inside = [parts[a] == part for a, part in open_parts]
        widths = [
            measure_width(attributes[a], np.flatnonzero(own)) or 0.0
            for (a, _), own in zip(open_parts, inside, strict=True)
        ]
        widest = int(np.argmax(widths))  # ties: the first attribute, then the first part
        a, part = open_parts.pop(widest)
        rows = np.where(inside[widest], histograms[a], 0)
        for side in right_sides(attributes[a], rows) if widths[widest] > 0 else ():
            right = inside[widest] & side
            trial = [*parts[:a], np.where(right, n_parts[a], parts[a]).astype(np.int32), *parts[a + 1 :]]
            if right.any() and allows(trial, a, part):
                parts = trial
                open_parts += [(a, part), (a, n_parts[a])]
                open_parts.sort()
                n_parts[a] += 1
                break
    run.progress(1.0)
    return parts


def cut_tuples(encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
    """Return the regions of a table in memory; no region may fail."""
    beyond_size = not all(model.size_only for model in models)
    labels = np.zeros(len(encoded.tuples), dtype=np.int64)

    def allows(parts: Sequence[Codes], a: int, part: int) -> bool:
        nonlocal labels
        right = (parts[a] == parts[a].max())[encoded.tuples[:, a]]
        _, trial = np.unique(labels * 2 + right, return_inverse=True)
        if (np.bincount(trial, weights=encoded.counts) < k).any():
            return False
        if beyond_size and failing_groups(encoded, models, trial[encoded.row_tuple].astype(np.int32)).any():
            return False
        labels = trial
        return True

    parts = cut_attributes(encoded.attributes, encoded.histograms, allows, run)
    cells = cells_of_parts(encoded.attributes, parts)
    return regions_partition(encoded, labels.astype(np.int32)[encoded.row_tuple], parts, cells)


def cells_of_parts(attributes: Sequence[Attribute], parts: Sequence[Codes]) -> list[Cells]:
    """Return the cell of each part, by attribute: it covers all values of the part that occur."""
    found = []
    for attribute, own in zip(attributes, parts, strict=True):
        codes = np.flatnonzero(own >= 0).astype(np.int32)
        found.append(recode(attribute, codes, own[codes], int(own.max(initial=0)) + 1))
    return found


def regions_partition(
    encoded: Encoded, labels: NDArray[np.int32], parts: Sequence[Codes], cells: Sequence[Cells]
) -> Partition:
    """Return regions with the cells that they show.

    Args:
        encoded: The table, or a section of it.
        labels: The region of each canonical row, -1 if it is suppressed.
        parts: The part of each code, by attribute.
        cells: The cell of each part, by attribute.
    """
    kept = np.flatnonzero(labels >= 0)
    _, first = np.unique(labels[kept], return_index=True)
    tuples = encoded.tuples[encoded.row_tuple[kept[first]]]
    shown = []
    for a, (own, by_part) in enumerate(zip(parts, cells, strict=True)):
        index = by_part.index[own[tuples[:, a]]]
        shown.append(Cells(index, by_part.form, by_part.low, by_part.high, by_part.starts, by_part.members))
    return Partition.of_rows(encoded, labels, tuple(shown))
