"""Quasi-identifiers as codes, and the encoded table that every method works on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.population import Population
from shoal.encoding.sensitive import Sensitive
from shoal.encoding.tree import Tree
from shoal.hierarchy.base import Hierarchy
from shoal.schema import Column, Kind
from shoal.tables.table import Factor

__all__ = ["Attribute", "Encoded"]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier: a code for each distinct value, in order of value (categories: of text).

    texts: the released text of each code. values: the number behind each code of a number or date (seconds), empty for
    categories. missing: the code of the missing value of a number or date, which is the last one; -1 where there is
    none. A category's missing value is one of its values. tree, hierarchy: the hierarchy over the codes and over the
    texts, where one is given; the attribute is then recoded by its nodes and nothing else. column: how its cells are
    read.
    """

    name: str
    kind: Kind
    texts: tuple[str, ...]
    values: NDArray[np.float64]
    missing: int
    tree: Tree | None = None
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    column: Column | None = field(default=None, repr=False)

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers or dates, released as ranges."""
        return self.kind is not Kind.CATEGORICAL and self.tree is None

    @property
    def span(self) -> float:
        """Range of the values of a number or date; number of values of a category."""
        if not self.ordered:
            return float(len(self.texts))
        known = self.values[: self.missing] if self.missing >= 0 else self.values
        return float(known[-1] - known[0]) if len(known) else 0.0


@dataclass(frozen=True)
class Encoded:
    """A table as codes. Rows are in canonical order: sorted by codes, then by the cells of the other released columns.

    tuples: distinct rows of codes, sorted; counts: rows of each; row_tuple: the tuple of each canonical row;
    order: the source row of each canonical row; people: the person of each canonical row, where a column tells.
    sensitive: the sensitive columns, which models count; personal_k: the k that each canonical row asks for, 0 where it
    asks for none; population: the table that this one was drawn from, where one is given; weights: of a table that was
    counted, the rows that each canonical row stands for.
    Methods see these and nothing else.
    """

    attributes: tuple[Attribute, ...]
    tuples: NDArray[np.int32]
    counts: NDArray[np.int64]
    row_tuple: NDArray[np.int32]
    order: NDArray[np.int64]
    people: NDArray[np.int32] | None = None
    weights: NDArray[np.int64] | None = None
    others: dict[str, Factor] = field(repr=False, default_factory=dict)
    sensitive: tuple[Sensitive, ...] = ()
    personal_k: NDArray[np.int64] | None = None
    population: Population | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.order) if self.weights is None else int(self.weights.sum())

    def part(self, stays: NDArray[np.bool_]) -> Encoded:
        """Return the table with some of its canonical rows alone; domains, and so losses, are those of all rows."""
        rows = np.flatnonzero(stays)
        kept, row_tuple, counts = np.unique(self.row_tuple[rows], return_inverse=True, return_counts=True)
        return replace(
            self,
            tuples=np.ascontiguousarray(self.tuples[kept]),
            counts=counts.astype(np.int64),
            row_tuple=row_tuple.astype(np.int32),
            order=self.order[rows],
            people=None if self.people is None else self.people[rows],
            sensitive=tuple(replace(column, codes=column.codes[rows]) for column in self.sensitive),
            personal_k=None if self.personal_k is None else self.personal_k[rows],
        )
