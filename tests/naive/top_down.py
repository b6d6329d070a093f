"""Top-down clustering: two distant seeds; the others join the side where they cost less (Xu et al. 2006)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive.bottom_up import Group, Price, Row, size

LOOKS = 3


def split(group: Group, tuples: Sequence[Row], price: Price, k: int, lots: Sequence[int]) -> list[Group]:
    """Return the final parts of a group; tuples choose their side in the order of their random numbers."""
    if len(group) < 2 or size(group) < 2 * k:
        return [group]
    numbers = [number for number, _ in group]
    rows = dict(group)

    def pair(one: int, other: int) -> tuple[object, int]:
        return price([tuples[one], tuples[other]]), -other

    def farthest(one: int) -> int:
        return max((number for number in numbers if number != one), key=lambda other: pair(one, other))

    seeds = (numbers[0], farthest(numbers[0]))
    for _ in range(1, LOOKS):
        another = farthest(seeds[1])
        if price([tuples[seeds[1]], tuples[another]]) <= price([tuples[seed] for seed in seeds]):
            break
        seeds = (seeds[1], another)
    sides = [[seeds[0]], [seeds[1]]]
    for number in sorted(set(numbers).difference(seeds), key=lambda number: (lots[number], number)):
        costs = [
            (price([tuples[member] for member in (*side, number)]), sum(rows[member] for member in side))
            for side in sides
        ]
        sides[costs[1] < costs[0]].append(number)
    parts = [sorted((number, rows[number]) for number in side) for side in sides]
    return [end for part in parts for end in split(part, tuples, price, k, lots)]
