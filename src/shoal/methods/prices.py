"""Integer prices instead of fractions, so that losses and distances compare exactly, and the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.sensitive import Sensitive
from shoal.schema import Kind

__all__ = ["Forms", "common_scale", "is_number", "lay_forms", "raw_span", "starts_of", "whole_places"]

# Steps finer than this fraction of the range are rounded down to it.
FINEST = 2**31


def is_number(attribute: Attribute) -> bool:
    """Return whether the values are numbers, dates or ranks, with or without a hierarchy."""
    return attribute.kind is not Kind.CATEGORICAL


def whole_places(attribute: Attribute | Sensitive) -> tuple[NDArray[np.int64], int]:
    """Return the position of each code of a number or date, in integer steps from the least; and the range in steps.

    The step is the largest that divides all differences: 1.5, 2, 4.5 lie at 0, 1, 6. A missing value lies at -1.
    """
    n_known = attribute.missing if attribute.missing >= 0 else len(attribute.texts)
    values = [Fraction(repr(value)) for value in attribute.values[:n_known].tolist()]  # the shortest decimal of a float
    beyond = [value - values[0] for value in values]
    steps = math.lcm(*(value.denominator for value in beyond))
    positions = [int(value * steps) for value in beyond]
    shared = math.gcd(*positions) or 1
    positions = [value // shared for value in positions]
    width = positions[-1] if positions else 0
    if width > FINEST:
        positions = [value * FINEST // width for value in positions]
        width = FINEST
    places = np.full(len(attribute.texts), -1, dtype=np.int64)
    places[:n_known] = positions
    return places, width


def common_scale(denominators: Iterable[int], most: int) -> int:
    """Return the least common multiple of denominators; or `most` if that is smaller, and shares are rounded down.

    >>> common_scale([4, 6], 100), common_scale([4, 6, 7, 9], 100)
    (12, 100)
    """
    scale = math.lcm(*(each for each in denominators if each > 0))
    return scale if scale <= most else most


class Forms(NamedTuple):
    """The attributes as arrays; the kernels that price groups read them by name, see `union_price.pxd`."""

    kinds: NDArray[np.uint8]
    cards: NDArray[np.int64]
    units: NDArray[np.int64]
    firsts: NDArray[np.int64]
    fulls: NDArray[np.int64]
    places: NDArray[np.int64]
    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]
    node_starts: NDArray[np.int64]
    leaves: NDArray[np.int32]
    leaf_starts: NDArray[np.int64]


def lay_forms(
    encoded: Encoded, most: int, *, raw: bool = False, weights: Mapping[str, Fraction] | None = None
) -> Forms:
    """Return the attributes with integer prices of a step, a value or a leaf, times a common denominator.

    Args:
        encoded: The table.
        most: The largest price of a suppressed attribute; larger prices are scaled down and rounded down.
        raw: Price the range itself instead of NCP: a number as it is, a date in days, a category by its values or
            leaves beyond one.
        weights: Of the attributes, 1 by default.
    """
    attributes = encoded.attributes
    located = [whole_places(a) if a.ordered else (np.zeros(len(a.texts), dtype=np.int64), 0) for a in attributes]
    domains = [width if a.ordered else len(a.texts) for a, (_, width) in zip(attributes, located, strict=True)]
    spans = [(weights or {}).get(a.name, Fraction(1)) for a in attributes]  # the price of a suppressed attribute
    if raw:
        spans = [raw_span(a) if a.ordered else Fraction(len(a.texts)) for a in attributes]
    shares = [span / domain if domain else Fraction(0) for span, domain in zip(spans, domains, strict=True)]
    scale = Fraction(common_scale((share.denominator for share in shares), 2**62))
    if scale * max(spans) > most:
        scale = Fraction(most) / max(spans)
    trees = [a.tree for a in attributes]
    nodes = [tree.nodes.ravel() if tree else np.zeros(0, dtype=np.int32) for tree in trees]
    leaves = [tree.sizes if tree else np.zeros(0, dtype=np.int32) for tree in trees]
    units = np.array([math.floor(share * scale) for share in shares], dtype=np.int64)
    return Forms(
        kinds=np.array([2 if a.tree else int(a.ordered) for a in attributes], dtype=np.uint8),
        cards=np.array([len(a.texts) for a in attributes], dtype=np.int64),
        units=units,
        firsts=units if raw else np.zeros_like(units),
        fulls=np.array([math.floor(span * scale) for span in spans], dtype=np.int64),
        places=np.concatenate([places for places, _ in located]),
        starts=starts_of([places for places, _ in located]),
        nodes=np.concatenate(nodes),
        node_starts=starts_of(nodes),
        leaves=np.concatenate(leaves),
        leaf_starts=starts_of(leaves),
    )


def raw_span(attribute: Attribute) -> Fraction:
    """Return the range of a number, or of a date in days."""
    known_values = attribute.values[: attribute.missing] if attribute.missing >= 0 else attribute.values
    if len(known_values) == 0:
        return Fraction(0)
    span = Fraction(repr(float(known_values[-1]))) - Fraction(repr(float(known_values[0])))
    return span / 86400 if attribute.kind is Kind.DATE else span


def starts_of(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return where each part begins once they are concatenated, and one more at the end."""
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)
