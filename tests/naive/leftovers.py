"""Remaining rows join the group whose NCP they increase the least, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Row = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """card: number of codes. values: the number behind each code, None where missing. levels: of a tree, each code's
    node on each level, the codes themselves first."""

    card: int
    values: tuple[Fraction | None, ...] | None = None
    levels: tuple[tuple[int, ...], ...] | None = None


def ncp(codes: set[int], attribute: Attribute) -> Fraction:
    """Return the NCP of one cell of a group with these codes."""
    if len(codes) == 1:
        return Fraction(0)
    if attribute.levels is not None:
        level = next(level for level in attribute.levels if len({level[code] for code in codes}) == 1)
        return Fraction(level.count(level[min(codes)]), attribute.card)
    if attribute.values is None:
        return Fraction(len(codes), attribute.card)
    inside = [attribute.values[code] for code in codes]
    known = [value for value in inside if value is not None]
    if len(known) < len(inside):
        return Fraction(1)
    every = [value for value in attribute.values if value is not None]
    width = max(every) - min(every)
    return (max(known) - min(known)) / width if width else Fraction(0)


def group_ncp(members: Sequence[Row], attributes: Sequence[Attribute]) -> Fraction:
    """Return the NCP of one row of a group."""
    return sum((ncp({row[a] for row in members}, attribute) for a, attribute in enumerate(attributes)), Fraction(0))


def join_nearest(
    rows: Sequence[Row], attributes: Sequence[Attribute], groups: Sequence[Sequence[int]], rest: Sequence[int]
) -> list[list[int]]:
    """Return the groups after each remaining row has joined the group that it costs the least; ties go to the first."""
    made = [list(group) for group in groups]

    def cost(group: Sequence[int]) -> Fraction:
        return len(group) * group_ncp([rows[i] for i in group], attributes)

    for row in rest:
        best = min(range(len(made)), key=lambda g: cost([*made[g], row]) - cost(made[g]))
        made[best].append(row)
    return made
