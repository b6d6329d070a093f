"""How many rows of a population the cells of each group fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from shoal.errors import UsageError
from shoal.verification.assignment import BLOCK, Domain, bits_of, points_inside
from shoal.verification.cells import Cells

__all__ = ["count_fitting"]

Group = tuple[str, ...]


def count_fitting(
    groups: Sequence[Group], cells: Mapping[str, Cells], population: Mapping[str, Sequence[str]]
) -> dict[Group, int]:
    """Count for each group the rows of the population that its cells cover; cells: of each quasi-identifier."""
    lacking = [name for name in cells if name not in population]
    if lacking:
        raise UsageError(f"column {lacking[0]!r} is not in the population.")
    domains = [Domain(cells[name], set(population[name])) for name in cells]
    columns = (map(domain.ids.__getitem__, population[name]) for domain, name in zip(domains, cells, strict=True))
    rows = Counter(zip(*columns, strict=True))
    points = sorted(rows)
    sides, boxes = [], []
    for i, domain in enumerate(domains):
        covered = {cell: domain.side(cell) for cell in dict.fromkeys(group[i] for group in groups)}
        sides.append(list(dict.fromkeys(covered.values())))
        place = {side: number for number, side in enumerate(sides[-1])}
        boxes.append([place[covered[group[i]]] for group in groups])
    found = points_inside(list(zip(*boxes, strict=True)), points, sides, range(len(domains)))
    return {
        group: sum(rows[points[block * BLOCK + bit]] for block, mask in blocks for bit in bits_of(mask))
        for group, blocks in zip(groups, found, strict=True)
    }
