"""Terms: what a model requires of a group, in a form that a search keeps up to date while rows enter and leave.

A term is one condition on the counts of a group. Thresholds that depend on a distribution are computed from the
distribution of the whole table, so a search may look at some of the rows only. Searches evaluate terms in floating
point to decide where to look; `PrivacyModel.failing` decides whether a group passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.sensitive import Sensitive
from shoal.errors import InternalError

__all__ = ["Distribution", "Distributions", "Term", "TermKind"]

Codes = NDArray[np.int64]


class TermKind(StrEnum):
    """The conditions that searches can evaluate.

    `shoal.kernels.shoaling.prices.TERM_KINDS` gives the number of each in the compiled code.
    """

    DISTINCT = "distinct"  # at least x distinct values
    LARGEST = "largest"  # the most frequent value has at most the share x / y
    ENTROPY = "entropy"  # the entropy is at least x (natural logarithm)
    RECURSIVE = "recursive"  # r_1 < x (r_y + ... + r_m), counts in descending order
    CLOSE = "close"  # the shares differ from those of the table by x / y in total at most
    ORDERED = "ordered"  # the same for cumulative shares
    SHARES = "shares"  # the share of each value lies between two limits
    PERSONAL_K = "personal k"  # as many rows as any row of the group requires
    COVERED = "covered"  # the cells cover at least x rows of the population
    PRESENCE = "presence"  # of the population rows that the cells cover, a share from x to y is in the group


@dataclass(frozen=True)
class Distribution:
    """A sensitive column of the whole table.

    Attributes:
        column: The column; only its domain (texts, missing value, hierarchy) is used here, never its rows.
        rows: The rows of each code in the whole table.
    """

    column: Sensitive
    rows: NDArray[np.int64] = field(repr=False)

    @property
    def total(self) -> int:
        """The rows of the whole table."""
        return int(self.rows.sum())

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each code in the whole table."""
        shares: NDArray[np.float64] = self.rows / self.rows.sum()
        return shares


@dataclass(frozen=True)
class Distributions:
    """What the models know of the whole table, whichever of its rows a search looks at.

    Attributes:
        columns: The sensitive columns by name.
        personal_ks: The distinct values of the personal k, ascending; empty without such a column.
    """

    columns: Mapping[str, Distribution]
    personal_ks: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def of(cls, encoded: Encoded) -> Distributions:
        """Count the sensitive columns of a whole table."""
        columns = {column.name: Distribution(column, column.count(encoded.weights)) for column in encoded.sensitive}
        ks = np.empty(0, dtype=np.int64) if encoded.personal_k is None else np.unique(encoded.personal_k)
        return cls(columns, ks)

    def __getitem__(self, name: str) -> Distribution:
        """Return the distribution of a sensitive column."""
        if name not in self.columns:
            raise InternalError(f"a model counts column {name!r}, which the search does not know.")
        return self.columns[name]


@dataclass(frozen=True, eq=False)
class Term:
    """One condition on the counts of a group. Use the constructors below, one for each kind.

    A group has one or more histograms for a term. Their places follow one another: the first histogram has the places
    from 0 on, the next one those after it.

    Attributes:
        kind: The condition.
        column: The sensitive column that is counted; empty for the personal k and for a population.
        threshold: The two numbers x and y of the condition.
        places: For each histogram, the place of each code of the column.
        facts: Two numbers for each place, as the kind defines them.
        missing: The place of missing values, which add no diversity; -1 if every value counts.
        steps: Of an order, two numbers for each step: the rows of the table up to there, and the sum of these over all
            steps before.
    """

    kind: TermKind
    column: str
    threshold: tuple[float, float]
    places: tuple[Codes, ...] = field(repr=False)
    facts: NDArray[np.float64] = field(repr=False)
    missing: int = -1
    steps: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64), repr=False)

    @classmethod
    def distinct(cls, values: Distribution, least: int) -> Term:
        """Require a number of distinct values."""
        return cls._of_values(TermKind.DISTINCT, values, (least, 0))

    @classmethod
    def largest_share(cls, values: Distribution, most: Fraction) -> Term:
        """Limit the share of the most frequent value."""
        return cls._of_values(TermKind.LARGEST, values, (most.numerator, most.denominator))

    @classmethod
    def entropy(cls, values: Distribution, least: float) -> Term:
        """Require an entropy, in natural logarithms."""
        return cls._of_values(TermKind.ENTROPY, values, (least, 0))

    @classmethod
    def recursive(cls, values: Distribution, c: Fraction, l: int) -> Term:
        """Require r_1 < c (r_l + ... + r_m) of the counts in descending order."""
        return cls._of_values(TermKind.RECURSIVE, values, (float(c), l))

    @classmethod
    def shares(cls, values: Distribution, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Term:
        """Limit the share of each value from below and above."""
        codes, n_needed = np.arange(len(values.rows)), float(np.count_nonzero(lower > 0))
        return cls(TermKind.SHARES, values.column.name, (n_needed, 0), (codes,), np.column_stack([lower, upper]))

    @classmethod
    def close(cls, values: Distribution, most: Fraction, levels: Sequence[NDArray[np.integer]] | None = None) -> Term:
        """Limit the mean over levels of half the sum of |share in the group - share in the table|.

        Args:
            values: The column.
            most: The limit.
            levels: The node of each code on each level of a hierarchy; by default the codes themselves.
        """
        places = [level.astype(np.int64) for level in levels or [np.arange(len(values.rows))]]
        facts, begin, shifted = [], 0, []
        for level in places:
            rows = np.bincount(level, values.rows, minlength=int(level.max()) + 1)
            facts.append(np.column_stack([rows, np.full(len(rows), values.total)]))
            shifted.append(level + begin)
            begin += len(rows)
        threshold = 2 * len(places) * most.numerator, most.denominator
        return cls(TermKind.CLOSE, values.column.name, threshold, tuple(shifted), np.concatenate(facts))

    @classmethod
    def ordered(cls, values: Distribution, most: Fraction, ranks: Codes) -> Term:
        """Limit the mean over steps of |cumulative share in the group - that in the table|.

        Args:
            values: The column.
            most: The limit.
            ranks: The rank of each code; values that the table lacks are not steps.
        """
        order = np.argsort(ranks, kind="stable")
        order = order[values.rows[order] > 0]
        places = np.zeros(len(values.rows), dtype=np.int64)
        places[order] = np.arange(len(order))
        facts = np.column_stack([np.arange(len(order) + 1), np.full(len(order) + 1, values.total)]).astype(np.float64)
        below = np.append(np.cumsum(values.rows[order]), 0)
        steps = np.column_stack([below, np.cumsum(below) - below])
        threshold = most.numerator * max(1, len(order) - 1), most.denominator
        return cls(TermKind.ORDERED, values.column.name, threshold, (places,), facts, steps=steps)

    @classmethod
    def personal_k(cls, whole: Distributions) -> Term:
        """Require as many rows as any row of the group requires."""
        ks = whole.personal_ks.astype(np.float64)
        return cls(TermKind.PERSONAL_K, "", (0, 0), (), np.column_stack([ks, ks]))

    @classmethod
    def covered(cls, least: int) -> Term:
        """Require a number of population rows inside the cells."""
        return cls(TermKind.COVERED, "", (least, 0), (), np.zeros((0, 2)))

    @classmethod
    def presence(cls, low: Fraction, high: Fraction) -> Term:
        """Limit the share of the population rows inside the cells that are in the group."""
        return cls(TermKind.PRESENCE, "", (float(low), float(high)), (), np.zeros((0, 2)))

    @classmethod
    def _of_values(cls, kind: TermKind, values: Distribution, threshold: tuple[float, float]) -> Term:
        n_values = len(values.rows)
        facts = np.column_stack([np.zeros(n_values), np.ones(n_values)])
        return cls(kind, values.column.name, threshold, (np.arange(n_values),), facts, values.column.missing)
