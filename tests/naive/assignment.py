"""One-to-one assignment of released rows to original rows, by trying every order; for tiny tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from tests.naive.cover import covers

Row = Sequence[str]


def fits(released: Row, original: Row, kinds: Sequence[str]) -> bool:
    """Return whether a released row may come from an original row: the first cells cover it, the others are equal."""
    n_qi = len(kinds)
    cells = zip(released[:n_qi], original[:n_qi], kinds, strict=True)
    return released[n_qi:] == original[n_qi:] and all(a == b or covers(a, b, kind) for a, b, kind in cells)


def count_unmatched(released: Sequence[Row], original: Sequence[Row], kinds: Sequence[str]) -> int:
    """Return the number of released rows without an original row in the best assignment."""
    true = [[fits(row, source, kinds) for source in original] for row in released]
    places = [*range(len(original)), *[None] * len(released)]
    orders = set(permutations(places, len(released)))
    return len(released) - max(
        sum(place is not None and true[n][place] for n, place in enumerate(order)) for order in orders
    )


def most_people(released: Sequence[Row], original: Sequence[Row], kinds: Sequence[str], persons: Sequence[str]) -> int:
    """Return the most people to whom rows of one group can belong, one original row each; rows may stay without one."""
    true = [[fits(row, source, kinds) for source in original] for row in released]
    places = [*range(len(original)), *[None] * len(released)]
    return max(
        len({persons[place] for n, place in enumerate(order) if place is not None and true[n][place]})
        for order in set(permutations(places, len(released)))
    )


def must_mix(
    released: Sequence[Row], original: Sequence[Row], kinds: Sequence[str], sides: tuple[Sequence[bool], Sequence[bool]]
) -> bool:
    """Return whether the rows of one group cannot all come from outside one of two sets of original rows."""
    return all(
        count_unmatched(released, [row for row, is_in in zip(original, side, strict=True) if not is_in], kinds)
        for side in sides
    )
