"""Urns: what the rows of a random table are drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.evaluate.feasibility.probability import Grid
from shoal.methods.counter_random import mix
from shoal.schema import Role, Schema
from shoal.tables.table import Table

__all__ = ["Urn"]

LARGEST_KEY = 2**62  # beyond it, keys of rows are sums of random numbers


@dataclass(frozen=True)
class Urn:
    """What rows are drawn from: the values of each attribute, how likely they are, and which depend on each other.

    distribution: "binary", "uniform", "independent" or "joint". attributes: how many. n_cells: combinations of values
    that a row can have. grid: how likely they are. sizes, offsets, pools, places: the same for the kernel. An attribute
    is drawn from its pool, or is a number below its size; the attributes of an even urn are drawn as one.
    """

    distribution: str
    attributes: int
    n_cells: int
    grid: Grid
    sizes: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    pools: NDArray[np.int32]
    places: NDArray[np.uint64]

    @classmethod
    def binary(cls, attributes: int) -> Urn:
        """Return the urn of attributes with two values, each as likely as the other.

        >>> Urn.binary(7).n_cells
        128
        """
        return cls._even("binary", [2] * _at_least_one(attributes, "attributes"))

    @classmethod
    def uniform(cls, cardinalities: Sequence[int]) -> Urn:
        """Return the urn of independent attributes with so many values each, all of them equally likely.

        >>> Urn.uniform([2, 5, 80]).n_cells
        800
        """
        if not cardinalities:
            raise UsageError("no cardinality is given. Give the number of values of each attribute, such as 2,5,80.")
        return cls._even("uniform", [_at_least_one(card, "a cardinality") for card in cardinalities])

    @classmethod
    def _even(cls, distribution: str, cards: list[int]) -> Urn:
        cells = math.prod(cards)
        drawn = [cells] if cells <= LARGEST_KEY else cards
        places = _places(drawn)
        none = np.full(len(drawn), -1, dtype=np.int64)
        sizes = np.array(drawn, dtype=np.uint64)
        return cls(distribution, len(cards), cells, Grid.even(cells), sizes, none, np.empty(0, dtype=np.int32), places)

    @classmethod
    def of_table(cls, table: Table, qi: Sequence[str], *, joint: bool = False) -> Urn:
        """Return the urn of a table's own values.

        joint: whole rows are drawn, so that what goes together in the table goes together here. Otherwise each cell is
        drawn from its column, whatever the rest of the row is.
        """
        schema = Schema.build(table.names, {Role.QI: qi}, others="drop")
        names = [column.name for column in schema.qi]
        if joint:
            return cls._joint(table, names)
        factors = [table.factor(name) for name in names]
        cards = [len(factor.texts) for factor in factors]
        n_rows, n = table.n_rows, len(names)
        pools = np.concatenate([np.sort(factor.ranks) for factor in factors]).astype(np.int32)
        return cls(
            "independent",
            n,
            math.prod(cards),
            Grid.crossed([table.counts(name) for name in names]),
            np.full(n, n_rows, dtype=np.uint64),
            np.arange(n, dtype=np.int64) * n_rows,
            pools,
            _places(cards),
        )

    @classmethod
    def _joint(cls, table: Table, names: Sequence[str]) -> Urn:
        counts = table.group_sizes(names)
        pool = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        return cls(
            "joint",
            len(names),
            len(counts),
            Grid.of_counts(counts),
            np.array([len(pool)], dtype=np.uint64),
            np.zeros(1, dtype=np.int64),
            pool,
            np.ones(1, dtype=np.uint64),
        )


def _at_least_one(number: int, what: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise UsageError(f"{what}: {number!r} is not a positive whole number.")
    return number


def _places(cards: Sequence[int]) -> NDArray[np.uint64]:
    """Return what a code of each attribute counts in the key of a row.

    Where the combinations are too many for keys of their own, random numbers: two unlike rows get one key with a chance
    of about 2^-64 times the values of an attribute.
    """
    if math.prod(cards) > LARGEST_KEY:
        return np.array([mix(len(cards), a) for a in range(len(cards))], dtype=np.uint64)
    return np.array([math.prod(cards[:a]) for a in range(len(cards))], dtype=np.uint64)
