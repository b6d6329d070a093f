"""How many rows of a population match each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.errors import UsageError
from shoal.verification.cells import Cells
from shoal.verification.matching.assignment import Domain, number_sides, points_inside
from shoal.verification.matching.flow import BLOCK, bits_of
from shoal.verification.matching.packing import pack
from shoal.verification.reading.coded import CodedTable, code_columns
from shoal.verification.verdict import Group

__all__ = ["count_fitting"]


def count_fitting(
    groups: Sequence[Group], cells: Mapping[str, Cells], population: CodedTable | Mapping[str, Sequence[str]]
) -> dict[Group, int]:
    """Count the rows of the population that the cells of each group cover.

    Args:
        groups: The released quasi-identifier cells of each group.
        cells: How to read each quasi-identifier, in the order of the cells of a group.
        population: The population: coded, or as text by column name.

    Raises:
        UsageError: A quasi-identifier is not in the population.
    """
    people = population if isinstance(population, CodedTable) else code_columns(population)
    missing_names = [name for name in cells if name not in people.names]
    if missing_names:
        raise UsageError(f"column {missing_names[0]!r} is not in the population. It needs every quasi-identifier.")
    columns = [people.column(name) for name in cells]
    domains = [Domain(cells[name], column.texts) for name, column in zip(cells, columns, strict=True)]
    numbered = [
        np.array([domain.ids[text] for text in column.texts] or [0], dtype=np.int64)[column.codes]
        for domain, column in zip(domains, columns, strict=True)
    ]
    key = pack([(codes, domain.size) for codes, domain in zip(numbered, domains, strict=True)])
    _, first, places = np.unique(key, return_index=True, return_inverse=True)
    counts = np.bincount(places, people.times, len(first)).astype(np.int64)
    points = list(zip(*(codes[first].tolist() for codes in numbered), strict=True))
    rows = counts.tolist()
    sides, boxes = [], []
    for i, domain in enumerate(domains):
        column_sides, number_of = number_sides(domain, (group[i] for group in groups))
        sides.append(column_sides)
        boxes.append([number_of[group[i]] for group in groups])
    matches = points_inside(list(zip(*boxes, strict=True)), points, sides, range(len(domains)))
    return {
        group: sum(rows[block * BLOCK + bit] for block, mask in blocks for bit in bits_of(mask))
        for group, blocks in zip(groups, matches, strict=True)
    }
