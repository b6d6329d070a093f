"""How many rows of a population match each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from shoal.errors import UsageError
from shoal.verification.cells import Cells
from shoal.verification.matching.assignment import Domain, number_sides, points_inside
from shoal.verification.matching.flow import BLOCK, bits_of
from shoal.verification.verdict import Group

__all__ = ["count_fitting"]


def count_fitting(
    groups: Sequence[Group], cells: Mapping[str, Cells], population: Mapping[str, Sequence[str]]
) -> dict[Group, int]:
    """Count the rows of the population that the cells of each group cover.

    Args:
        groups: The released quasi-identifier cells of each group.
        cells: How to read each quasi-identifier, in the order of the cells of a group.
        population: The text of the population by column name.

    Raises:
        UsageError: A quasi-identifier is not in the population.
    """
    missing_names = [name for name in cells if name not in population]
    if missing_names:
        raise UsageError(f"column {missing_names[0]!r} is not in the population. It needs every quasi-identifier.")
    domains = [Domain(cells[name], set(population[name])) for name in cells]
    columns = (map(domain.ids.__getitem__, population[name]) for domain, name in zip(domains, cells, strict=True))
    rows = Counter(zip(*columns, strict=True))
    points = sorted(rows)
    sides, boxes = [], []
    for i, domain in enumerate(domains):
        column_sides, number_of = number_sides(domain, (group[i] for group in groups))
        sides.append(column_sides)
        boxes.append([number_of[group[i]] for group in groups])
    matches = points_inside(list(zip(*boxes, strict=True)), points, sides, range(len(domains)))
    return {
        group: sum(rows[points[block * BLOCK + bit]] for block, mask in blocks for bit in bits_of(mask))
        for group, blocks in zip(groups, matches, strict=True)
    }
