"""The population as the search of shoaling sees it, and the part of it that the groups of a block can cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.methods.shoaling.pricing import Pricing, Recoding

__all__ = ["NOBODY", "Crowd"]

UNKNOWN = -1  # the place of a value that no code of the table covers


@dataclass(frozen=True, eq=False)
class Crowd:
    """The distinct rows of a population over the columns of the search.

    Cells that show `*`, and labels of a hierarchy, may cover more rows than are counted here, never fewer.

    Attributes:
        places: The place of each row in each column: twice the code, or the odd number between two codes of a range.
        rows: How often each row occurs.
    """

    places: NDArray[np.int32]
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: Encoded, pricing: Pricing) -> Self:
        """Return the population of a table."""
        population = encoded.population
        assert population is not None
        columns = []
        for kind, (a, codes) in zip(pricing.prices.kinds, pricing.columns, strict=True):
            places = population.places[:, a]
            if kind == Recoding.RULE:
                places = np.zeros_like(places)
            elif kind != Recoding.RANGE:
                known = places < len(codes)
                places = np.where(known, 2 * codes[np.where(known, places, 0)], UNKNOWN)
            columns.append(places)
        return cls(np.column_stack(columns).astype(np.int32), population.counts)

    def near(self, codes: NDArray[np.int32], kinds: NDArray[np.uint8]) -> Self:
        """Return the rows that groups of some entries can cover, by the codes that a kernel gives the entries.

        A kernel numbers the values that occur in each column, and leaves out columns with a single value.

        Args:
            codes: The codes of the entries.
            kinds: The recoding of each column.
        """
        if not len(self.rows):
            return self
        inside = np.arange(len(self.rows))
        columns: list[tuple[int, NDArray[np.int32]]] = []
        for c, kind in enumerate(kinds.tolist()):
            known = np.unique(codes[:, c])
            if len(known) > 1 and (kind != Recoding.RULE or known[1] == 1):
                columns.append((c, known))
            if kind == Recoding.RULE or not len(inside):
                continue
            places = self.places[inside, c]
            if kind == Recoding.SET:
                fits = np.isin(places, 2 * known)
            else:
                fits = (places >= 2 * known[0]) & (places <= 2 * known[-1])
            inside = inside[fits]
        local = np.zeros((len(inside), len(columns)), dtype=np.int32)
        for j, (c, known) in enumerate(columns):
            places = self.places[inside, c]
            at = np.searchsorted(2 * known, places)
            equal = 2 * known[np.minimum(at, len(known) - 1)] == places
            local[:, j] = np.where(equal, 2 * at, 2 * at - 1)
        return type(self)(local, self.rows[inside])


NOBODY = Crowd(np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=np.int64))
