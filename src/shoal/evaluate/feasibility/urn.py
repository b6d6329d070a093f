"""Urns: the distributions from which the rows of random tables are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError, setting
from shoal.evaluate.feasibility.probability import Grid
from shoal.methods.counter_random import mix
from shoal.schema import Role, Schema
from shoal.tables.table import Table

__all__ = ["Urn"]

LARGEST_KEY = 2**62  # with more combinations, keys of rows are sums of random numbers


@dataclass(frozen=True)
class Urn:
    """A distribution of rows.

    The kernel draws an attribute from its pool, or as a number below its size; it draws all attributes of a uniform urn
    as one.

    Attributes:
        distribution: "binary", "uniform", "independent" or "joint".
        attributes: Number of attributes.
        n_cells: Number of combinations of values.
        grid: Probabilities of the combinations.
        sizes: For the kernel, the number of choices of each drawn attribute.
        offsets: Where the pool of each attribute begins; -1 without a pool.
        pools: The codes to choose from.
        places: The factor of each code in the key of a row.
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
        """Return the urn of binary attributes with equally likely values.

        >>> Urn.binary(7).n_cells
        128
        """
        return cls._even("binary", [2] * _at_least_one(attributes, "attributes"))

    @classmethod
    def uniform(cls, cardinalities: Sequence[int]) -> Urn:
        """Return the urn of independent attributes with equally likely values, given their cardinalities.

        >>> Urn.uniform([2, 5, 80]).n_cells
        800
        """
        if not cardinalities:
            raise UsageError(
                f"there is no cardinality. Give the number of values of each attribute: "
                f"{setting('cardinalities', [2, 5, 80])}."
            )
        return cls._even("uniform", [_at_least_one(card, "a cardinality") for card in cardinalities])

    @classmethod
    def _even(cls, distribution: str, cards: list[int]) -> Urn:
        cells = math.prod(cards)
        sizes = [cells] if cells <= LARGEST_KEY else cards
        return cls(
            distribution,
            len(cards),
            cells,
            Grid.even(cells),
            np.array(sizes, dtype=np.uint64),
            np.full(len(sizes), -1, dtype=np.int64),
            np.empty(0, dtype=np.int32),
            _places(sizes),
        )

    @classmethod
    def of_table(cls, table: Table, qi: Sequence[str], *, joint: bool = False) -> Urn:
        """Return the urn of a table's own values.

        Args:
            table: The table.
            qi: The columns to draw.
            joint: Draw whole rows, which keeps the dependence between columns. Otherwise each cell is drawn from its
                column, independently of the rest of the row.
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
        raise UsageError(f"{what}: {number!r} is not a positive integer. Use 1 or more.")
    return number


def _places(cards: Sequence[int]) -> NDArray[np.uint64]:
    """Return the factor of each attribute's code in the key of a row.

    If there are too many combinations for distinct keys, the factors are random: the probability that two different
    rows share a key is about 2^-64 times the number of values of an attribute.
    """
    if math.prod(cards) > LARGEST_KEY:
        return np.array([mix(len(cards), a) for a in range(len(cards))], dtype=np.uint64)
    return np.array([math.prod(cards[:a]) for a in range(len(cards))], dtype=np.uint64)
