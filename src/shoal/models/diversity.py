"""Models that require diverse values of a sensitive column in each group.

A missing value adds no diversity: it counts as the most frequent value of its group.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError, counted
from shoal.models.base import Groups, Histogram
from shoal.models.model import ColumnModel, fold_missing, shown, too_few_rows
from shoal.models.terms import Distributions, Term
from shoal.models.thresholds import (
    NEAR,
    compare,
    entropy_falls_short,
    exact_number,
    grassberger_falls_short,
    grassberger_sums,
    round_up,
    whole_number,
)

__all__ = ["AlphaK", "EntropyLDiversity", "GrassbergerLDiversity", "LDiversity", "PSensitiveK", "RecursiveLDiversity"]


def _histogram(groups: Groups, column: str) -> Histogram:
    return fold_missing(groups.histogram(column), groups.column(column))


def _distinct(groups: Groups, column: str) -> NDArray[np.int64]:
    return np.diff(_histogram(groups, column).starts)


@dataclass(frozen=True)
class LDiversity(ColumnModel):
    """Every group has at least l distinct values of the column (distinct l-diversity, Machanavajjhala et al. 2006).

    >>> LDiversity("disease", l=3).describe()
    'distinct l-diversity of disease with l = 3'
    """

    l: int

    name: ClassVar[str] = "distinct-l"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole_number(self.name, "l", self.l))

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass: each value needs a row."""
        return self.l

    @property
    def monotone(self) -> bool:
        """A union has at least as many values."""
        return True

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it has fewer than l values."""
        return _distinct(groups, self.column) < self.l

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require at least l distinct values."""
        return (Term.distinct(whole[self.column], self.l),)

    def _reason(self, whole: Groups) -> str:
        n_values = int(_distinct(whole, self.column)[0])
        return _too_few(self.column, n_values, "l", self.l)

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"distinct l-diversity of {self.column} with l = {self.l}"


def _too_few(column: str, n_values: int, name: str, required: int) -> str:
    values = counted(n_values, "value")
    return f"{column} has {values}, {name} = {required} cannot be met. Use {name} <= {n_values}."


@dataclass(frozen=True)
class EntropyLDiversity(ColumnModel):
    """The entropy of the column in every group is at least log l (Machanavajjhala et al. 2006).

    l may be a fraction. Exact for groups of up to 20,000 rows; see shoal.models.thresholds.

    >>> EntropyLDiversity("disease", l=2.5).describe()
    'entropy l-diversity of disease with l = 2.5'
    """

    l: Fraction

    name: ClassVar[str] = "entropy-l"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", exact_number(self.name, "l", self.l, 1))

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass: the entropy of n rows is at most log n."""
        return -(-self.l.numerator // self.l.denominator)

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether its entropy is below log l."""
        histogram = _histogram(groups, self.column)
        sizes = histogram.sums(histogram.rows)
        spent = histogram.sums(histogram.rows * np.log(histogram.rows))
        spare = np.log(sizes) - spent / sizes - np.log(float(self.l))
        failing = np.asarray(spare < 0)
        for group in np.flatnonzero(np.abs(spare) <= NEAR).tolist():
            counts = histogram.rows[histogram.starts[group] : histogram.starts[group + 1]]
            failing[group] = entropy_falls_short(counts.tolist(), self.l)
        return failing

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require an entropy of at least log l."""
        return (Term.entropy(whole[self.column], float(np.log(float(self.l)))),)

    def _reason(self, whole: Groups) -> str:
        rows = _histogram(whole, self.column).rows
        shares = rows / rows.sum()
        reached = np.floor(np.exp(-(shares * np.log(shares)).sum()) * 100 + NEAR) / 100
        return (
            f"{self.column}: the entropy of the whole table is that of {reached:g} equally frequent values, "
            f"l = {shown(self.l)} cannot be met. Use l <= {reached:g}."
        )

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"entropy l-diversity of {self.column} with l = {shown(self.l)}"


@dataclass(frozen=True)
class GrassbergerLDiversity(ColumnModel):
    """Grassberger's estimate of the entropy of the column in every group is at least log l (Grassberger 2003).

    The estimate is log n - (1 / n) sum of c G(c), over the counts c of a group of n rows. It corrects the plain
    entropy for values that a small sample misses. Departure: a group with a single value fails if l is above 1,
    although the estimate of a few equal values may be above log l. Neither monotone nor closed.

    >>> GrassbergerLDiversity("disease", l=2.5).describe()
    'entropy l-diversity of disease with l = 2.5, by the estimator of Grassberger'
    """

    l: Fraction

    name: ClassVar[str] = "grassberger-l"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", exact_number(self.name, "l", self.l, 1))

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass: two rows, if one value is not enough."""
        return 1 + (self.l > 1)

    @property
    def closed(self) -> bool:
        """The estimate of a union may be below those of its parts."""
        return False

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether the estimate is below log l, or all values are equal."""
        histogram = _histogram(groups, self.column)
        sizes = histogram.sums(histogram.rows)
        spare = np.log(sizes) - histogram.sums(grassberger_sums(histogram.rows)) / sizes - np.log(float(self.l))
        failing = np.asarray(spare < 0)
        for group in np.flatnonzero(np.abs(spare) <= NEAR).tolist():
            counts = histogram.rows[histogram.starts[group] : histogram.starts[group + 1]]
            failing[group] = grassberger_falls_short(counts.tolist(), self.l)
        return np.asarray(failing | ((np.diff(histogram.starts) == 1) & (self.l > 1)))

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require an entropy of about log l."""
        return (Term.entropy(whole[self.column], float(np.log(float(self.l)))),)

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"entropy l-diversity of {self.column} with l = {shown(self.l)}, by the estimator of Grassberger"


@dataclass(frozen=True)
class RecursiveLDiversity(ColumnModel):
    """In every group r_1 < c (r_l + ... + r_m), with counts in descending order (recursive (c, l)-diversity).

    Machanavajjhala et al. 2006. Equality fails.

    >>> RecursiveLDiversity("disease", c=2, l=3).describe()
    'recursive (c, l)-diversity of disease with c = 2 and l = 3'
    """

    c: Fraction
    l: int

    name: ClassVar[str] = "recursive-l"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", exact_number(self.name, "c", self.c, 0))
        object.__setattr__(self, "l", whole_number(self.name, "l", self.l))

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass: each value needs a row."""
        return self.l

    def _counts(self, groups: Groups) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of the most frequent value, and those of the l-th and all rarer values."""
        histogram = _histogram(groups, self.column)
        order = np.lexsort((-histogram.rows, histogram.groups))
        rows = histogram.rows[order]
        rank = np.arange(len(rows)) - histogram.starts[histogram.groups]
        return rows[histogram.starts[:-1]], histogram.sums(np.where(rank >= self.l - 1, rows, 0))

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether its most frequent value has too many rows."""
        first, rest = self._counts(groups)
        return np.asarray(compare(first, rest, self.c) >= 0)

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require that the most frequent value has fewer rows than c times those from the l-th on."""
        return (Term.recursive(whole[self.column], self.c, self.l),)

    def _reason(self, whole: Groups) -> str:
        first, rest = (int(counts[0]) for counts in self._counts(whole))
        if not rest:
            return _too_few(self.column, int(_distinct(whole, self.column)[0]), "l", self.l)
        return (
            f"{self.column}: the most frequent value has {first} rows, those from place {self.l} on have {rest}; "
            f"c = {shown(self.c)} cannot be met. Use c > {round_up(Fraction(first, rest))}."
        )

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"recursive (c, l)-diversity of {self.column} with c = {shown(self.c)} and l = {self.l}"


@dataclass(frozen=True)
class AlphaK(ColumnModel):
    """In every group each value of the column has at most the share alpha, and the group has k rows (Wong et al. 2006).

    >>> AlphaK("disease", alpha=0.5, k=4).describe()
    '(alpha, k)-anonymity of disease with alpha = 0.5 and k = 4'
    """

    alpha: Fraction
    k: int = 1

    name: ClassVar[str] = "alpha-k"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", exact_number(self.name, "alpha", self.alpha, 0, 1))
        object.__setattr__(self, "k", whole_number(self.name, "k", self.k))
        if not self.alpha:
            raise UsageError("alpha-k: alpha=0 allows no value at all. Use a number above 0.")

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass: k rows, and enough values for the share of each."""
        return max(self.k, -(-self.alpha.denominator // self.alpha.numerator))

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether a value has too large a share or the group too few rows."""
        histogram = _histogram(groups, self.column)
        return (compare(histogram.largest(histogram.rows), groups.rows, self.alpha) > 0) | (groups.sizes < self.k)

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require a share of at most alpha of every value."""
        return (Term.largest_share(whole[self.column], self.alpha),)

    def _reason(self, whole: Groups) -> str:
        histogram = _histogram(whole, self.column)
        size = int(whole.sizes[0])
        if size < self.k:
            return too_few_rows(self.k, size)
        share = Fraction(int(histogram.rows.max()), int(whole.rows[0]))
        return (
            f"{self.column}: the most frequent value has the share {round_up(share)} of the table, "
            f"alpha = {shown(self.alpha)} cannot be met. Use alpha >= {round_up(share)}."
        )

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"(alpha, k)-anonymity of {self.column} with alpha = {shown(self.alpha)} and k = {self.k}"


@dataclass(frozen=True)
class PSensitiveK(ColumnModel):
    """Every group has k rows and at least p distinct values of the column (Truta and Vinay 2006).

    >>> PSensitiveK("disease", p=2, k=5).describe()
    'p-sensitive k-anonymity of disease with p = 2 and k = 5'
    """

    p: int
    k: int = 1

    name: ClassVar[str] = "p-sensitive"

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", whole_number(self.name, "p", self.p))
        object.__setattr__(self, "k", whole_number(self.name, "k", self.k))

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass: k rows, and a row for each value."""
        return max(self.k, self.p)

    @property
    def monotone(self) -> bool:
        """A union has at least as many rows and values."""
        return True

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it has too few values or rows."""
        return (_distinct(groups, self.column) < self.p) | (groups.sizes < self.k)

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require at least p distinct values."""
        return (Term.distinct(whole[self.column], self.p),)

    def _reason(self, whole: Groups) -> str:
        n_values, size = int(_distinct(whole, self.column)[0]), int(whole.sizes[0])
        if n_values < self.p:
            return _too_few(self.column, n_values, "p", self.p)
        return too_few_rows(self.k, size)

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"p-sensitive k-anonymity of {self.column} with p = {self.p} and k = {self.k}"
