"""Cuts of a segment of which only the rows of each value are known, wherever its tuples are.

The kernel decides in the same way where it has the tuples of a segment; see `shoal.kernels.mondrian`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.encoding.tree import Tree
from shoal.methods.sections import Cut, Loan

__all__ = ["counted_cuts", "measure_width", "right_sides"]

# Sixteenths of the rows at which numbers and dates are cut in turn if the first cut is refused.
SIXTEENTHS = (8, 4, 12, 6, 10, 2, 14, 7, 9, 5, 11, 3, 13, 1, 15)

Rows = NDArray[np.int64]
Side = NDArray[np.bool_]
Parts = tuple[NDArray[np.int32], Loan | None]  # of each code, and which rows go to part 0 instead


def counted_cuts(
    histograms: Sequence[Rows],
    attributes: Sequence[Attribute],
    k: int,
    n_choices: int = 1,
    *,
    by_person: bool = False,
    relaxed: bool = False,
) -> Iterator[Cut]:
    """Yield the cuts of a segment that leave k rows in each part, in the order to try.

    The first cuts of all attributes come first, widest attribute first, then the second cuts, and so on.

    Args:
        histograms: The rows of each code, attribute after attribute.
        attributes: The attributes.
        k: The least rows of each part.
        n_choices: How many cuts of each attribute to try: 1, or more if models may refuse the first.
        by_person: Whether people are counted: the first cut of an attribute is followed by its other cuts, in the same
            turn, until one leaves k people in each part.
        relaxed: Whether the rows of one code may go to two parts.
    """
    widths = {}
    for a, (attribute, rows) in enumerate(zip(attributes, histograms, strict=True)):
        width = measure_width(attribute, np.flatnonzero(rows))
        if width is not None:
            widths[a] = width
    widest_first = sorted(widths, key=lambda a: (-widths[a], a))
    for turn, (choice, a) in enumerate(product(range(n_choices), widest_first)):
        for place in range(len(SIXTEENTHS) + 1) if by_person and choice == 0 else (choice,):
            found = _parts(attributes[a], histograms[a], k, place, relaxed=relaxed)
            if found is not None:
                parts, loan = found
                yield Cut(a, parts, turn=turn, loan=loan)


def measure_width(attribute: Attribute, codes: NDArray[np.int64]) -> float | None:
    """Return the width of a segment over that of the table; None if the attribute cannot be cut.

    Args:
        attribute: The attribute.
        codes: The codes that occur in the segment, ascending.
    """
    if attribute.tree is not None:
        level = _common_level(attribute.tree, codes)
        node = attribute.tree.nodes[level, codes[0]]
        return float(attribute.tree.sizes[node] / attribute.span) if level else None
    if len(codes) < 2:
        return None
    if not attribute.ordered:
        return len(codes) / attribute.span
    if codes[-1] == attribute.missing:
        return 1.0
    if attribute.span == 0:  # float64 cannot separate the values
        return None
    return float(attribute.values[codes[-1]] - attribute.values[codes[0]]) / attribute.span


def right_sides(attribute: Attribute, rows: Rows) -> Iterator[Side]:
    """Yield the first cuts of an attribute without a hierarchy, in the order to try: the codes on the right side."""
    yield from _uneven_sides(attribute, rows)
    if attribute.ordered:
        yield np.arange(len(rows)) > _code_at(rows, (int(rows.sum()) + 1) // 2)


def _uneven_sides(attribute: Attribute, rows: Rows) -> Iterator[Side]:
    """Yield the first cuts that even a relaxed cut does not divide: missing values, or categories by frequency."""
    if attribute.ordered:
        if attribute.missing >= 0 and 0 < rows[attribute.missing] < rows.sum():
            yield np.arange(len(rows)) == attribute.missing
        return
    goes_right = np.zeros(len(rows), dtype=bool)
    left = right = 0
    for code in _by_frequency(rows).tolist():
        if left <= right:
            left += int(rows[code])
        else:
            goes_right[code] = True
            right += int(rows[code])
    yield goes_right


def _parts(attribute: Attribute, rows: Rows, k: int, choice: int, *, relaxed: bool) -> Parts | None:
    """Return the part of each code by some cut of an attribute; None if a part would have fewer than k rows."""
    if attribute.tree is not None:
        return _children(attribute.tree, rows, k, relaxed=relaxed) if choice == 0 else None
    if choice:
        sides = _other_sides(attribute, rows, choice)
    else:
        sides = _uneven_sides(attribute, rows) if relaxed else right_sides(attribute, rows)
    total = int(rows.sum())
    for side in sides:
        if k <= int(rows[side].sum()) <= total - k:
            return side.astype(np.int32), None
    return _equal_halves(attribute, rows) if relaxed and choice == 0 and total >= 2 * k else None


def _equal_halves(attribute: Attribute, rows: Rows) -> Parts:
    """Fill the left half with codes, by value or the most frequent first; the next code lends the rows it lacks."""
    codes = np.flatnonzero(rows) if attribute.ordered else _by_frequency(rows)
    upto, half = np.cumsum(rows[codes]), int(rows.sum()) // 2
    n_left = int(np.searchsorted(upto, half, side="right"))
    parts = np.ones(len(rows), dtype=np.int32)
    parts[codes[:n_left]] = 0
    lent = half - int(upto[n_left - 1]) if n_left else half
    return parts, Loan(codes[n_left : n_left + 1], lent) if lent else None


def _other_sides(attribute: Attribute, rows: Rows, choice: int) -> Iterator[Side]:
    """Yield a further cut: numbers and dates at another share of the rows, one of the frequent categories alone."""
    codes = np.arange(len(rows))
    if attribute.ordered:
        yield codes > _code_at(rows, -(-SIXTEENTHS[choice - 1] * int(rows.sum()) // 16))
        return
    frequent = _by_frequency(rows)
    if choice <= len(frequent):
        yield codes != frequent[choice - 1]


def _children(tree: Tree, rows: Rows, k: int, *, relaxed: bool) -> Parts | None:
    """Return the child of the segment's node that each code is below, if all of them have k rows.

    If relaxed, children with fewer rows are one part, to which the largest child lends the rows that it lacks.
    """
    codes = np.flatnonzero(rows)
    nodes = tree.nodes[_common_level(tree, codes) - 1]
    of_nodes = np.bincount(nodes, rows, len(tree.sizes)).astype(np.int64)
    frequent = _by_frequency(of_nodes)
    large = frequent[of_nodes[frequent] >= k]
    has_pool = len(large) < len(frequent)
    part: NDArray[np.int32] = np.zeros(len(of_nodes), dtype=np.int32)
    part[large] = np.arange(len(large)) + has_pool
    if not has_pool:
        return part[nodes], None
    total = int(rows.sum())
    lent = max(0, k - (total - int(of_nodes[large].sum())))
    if not relaxed or not len(large) or total < 2 * k or (lent and of_nodes[large[0]] - lent < k):
        return None
    return part[nodes], Loan(codes[nodes[codes] == large[0]], lent) if lent else None


def _common_level(tree: Tree, codes: NDArray[np.int64]) -> int:
    """Return the lowest level at which all codes share a node."""
    return next(level for level, nodes in enumerate(tree.nodes) if (nodes[codes] == nodes[codes[0]]).all())


def _code_at(rows: Rows, least: int) -> int:
    """Return the first code up to which there are so many rows."""
    return int(np.searchsorted(np.cumsum(rows), least))


def _by_frequency(rows: Rows) -> NDArray[np.int64]:
    """Return the codes that occur, most rows first, then the lowest code."""
    order = np.argsort(-rows, kind="stable")
    return order[: int(np.count_nonzero(rows))]
