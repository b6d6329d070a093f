"""Models that compare the distribution of a sensitive column in each group with that in the whole release.

A missing value counts as a value of its own; in an order it is the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.sensitive import Sensitive
from shoal.errors import UsageError, counted, setting
from shoal.models.base import Groups
from shoal.models.model import ColumnModel, shown
from shoal.models.terms import Distributions, Term
from shoal.models.thresholds import NEAR, above_limits, compare, exact_number, natural_log
from shoal.schema import Kind

__all__ = ["BetaLikeness", "DeltaDisclosure", "TCloseness"]

ROUNDING = 1e-12  # tolerance of the limits that steer a search
DISTANCES = ("", "equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class TCloseness(ColumnModel):
    """The distribution of the column in every group is within t of that in the whole release (Li et al. 2007).

    The distance of two distributions is the earth mover's distance.

    Attributes:
        column: The sensitive column.
        t: The largest distance allowed, from 0 to 1.
        distance: The distance of two values: "equal" (1 for any two), "ordered" (the steps between them over all
            steps) or "hierarchical" (the height of their lowest common node over that of the hierarchy). By default
            hierarchical if the column has a hierarchy, ordered for numbers and dates, else equal.
        order: All values of a category in order, for the ordered distance.

    >>> TCloseness("salary", t=0.2).describe()
    't-closeness of salary with t = 0.2'
    """

    t: Fraction
    distance: str = ""
    order: tuple[str, ...] = ()

    name: ClassVar[str] = "t-closeness"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", exact_number(self.name, "t", self.t, 0, 1))
        object.__setattr__(self, "order", tuple(self.order))
        if self.distance not in DISTANCES:
            raise UsageError(f"t-closeness: distance={self.distance!r} is not known. Use {', '.join(DISTANCES[1:])}.")
        if self.order and self.distance != "ordered":
            raise UsageError('t-closeness: order is only used with distance="ordered". Add it, or leave out the order.')

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether its distance is above t."""
        work: Any
        column = groups.column(self.column)
        distance = self.ground(column)
        totals = groups.totals(self.column)
        if distance == "ordered":
            work, unit = _ordered_work(groups, self.column, totals, self.ranks(column))
        else:
            levels = [np.arange(len(column.texts))]
            if distance == "hierarchical":
                if column.tree is None:
                    raise UsageError(
                        f"t-closeness: column {self.column!r} has no hierarchy. Pass {setting('hierarchies')}."
                    )
                levels = list(column.tree.nodes[:-1])
            unit = 2 * len(levels)
            kind = _wide(groups, int(totals.sum()), 2 * unit)
            work = sum(_level_work(groups, self.column, totals, level, kind) for level in levels)
        # work / (unit * rows * total) is the distance.
        whole = groups.rows.astype(work.dtype) * int(totals.sum()) * unit
        return np.asarray(compare(work, whole, self.t) > 0)

    def ground(self, column: Sensitive) -> str:
        """Return the distance that applies to a column."""
        return self.distance or ("hierarchical" if column.tree else "equal" if _unordered(column) else "ordered")

    def ranks(self, column: Sensitive) -> NDArray[np.int64]:
        """Return the rank of each code."""
        if self.order:
            place = {text: i for i, text in enumerate(self.order)}
            known_texts = [text for code, text in enumerate(column.texts) if code != column.missing]
            n_missing = sum(text not in place for text in known_texts)
            if n_missing:
                raise UsageError(
                    f"t-closeness: the order lacks {counted(n_missing, 'value')} of column {self.column!r}. Add them."
                )
            return np.array([place.get(text, len(place)) for text in column.texts], dtype=np.int64)
        if _unordered(column):
            raise UsageError(
                f"t-closeness: column {self.column!r} contains categories, which have no order. Pass an order, or use "
                "another distance."
            )
        return np.arange(len(column.texts))

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require a distance of at most t."""
        values = whole[self.column]
        distance = self.ground(values.column)
        if distance == "ordered":
            return (Term.ordered(values, self.t, self.ranks(values.column)),)
        if distance == "hierarchical" and values.column.tree is not None:
            return (Term.close(values, self.t, list(values.column.tree.nodes[:-1])),)
        return (Term.close(values, self.t),)

    def _reason(self, whole: Groups) -> str:
        return ""  # the whole table has the distance 0 from itself

    def describe(self) -> str:
        """Describe the requirement in words."""
        how = f", {self.distance} distance" if self.distance else ""
        return f"t-closeness of {self.column} with t = {shown(self.t)}{how}"


def _unordered(column: Sensitive) -> bool:
    return column.kind is Kind.CATEGORICAL


def _wide(groups: Groups, total: int, factor: int) -> Any:
    """Return an integer type in which products of rows, the total and a factor cannot overflow."""
    return np.int64 if int(groups.rows.max(initial=0)) * total * factor < 2**61 else object


def _level_work(groups: Groups, name: str, totals: NDArray[np.int64], level: NDArray[Any], kind: Any) -> NDArray[Any]:
    """Return for each group the sum over the nodes of a level of |rows * total - rows of the node in all * size|."""
    histogram = groups.histogram(name)
    total, n_nodes = int(totals.sum()), int(level.max()) + 1
    of_node = np.bincount(level, weights=totals, minlength=n_nodes).astype(np.int64)
    pairs, place = np.unique(histogram.groups * n_nodes + level[histogram.codes], return_inverse=True)
    rows = np.bincount(place, weights=histogram.rows).astype(np.int64).astype(kind)
    group, node = np.divmod(pairs, n_nodes)
    sizes = groups.rows.astype(kind)
    expected = of_node[node].astype(kind) * sizes[group]
    # A node that the group lacks adds its whole expectation; all expectations sum to size * total.
    gain = np.abs(rows * total - expected) - expected
    starts = np.searchsorted(group, np.arange(groups.n_groups))
    work: NDArray[Any] = np.add.reduceat(gain, starts) + sizes * total
    return work


def _ordered_work(
    groups: Groups, name: str, totals: NDArray[np.int64], ranks: NDArray[np.int64]
) -> tuple[NDArray[Any], int]:
    """Return for each group the sum of |cumulative rows * total - cumulative total * size|, and the number of steps."""
    histogram = groups.histogram(name)
    present = np.flatnonzero(totals)
    order = present[np.argsort(ranks[present], kind="stable")]
    place = np.zeros(len(totals), dtype=np.int64)
    place[order] = np.arange(len(order))
    total, m = int(totals.sum()), len(order)
    kind = _wide(groups, total, 4 * m)
    below = np.cumsum(totals[order])  # cumulative totals
    heaped = np.concatenate([[0], np.cumsum(below.astype(kind))])
    at = place[histogram.codes]
    by_place = np.lexsort((at, histogram.groups))
    group, at, rows = histogram.groups[by_place], at[by_place], histogram.rows[by_place]
    sizes = groups.rows
    cumulated = np.cumsum(rows)
    cumulated -= (cumulated[histogram.starts[:-1]] - rows[histogram.starts[:-1]])[group]
    ends = np.append(at[1:], m)
    ends[histogram.starts[1:] - 1] = m
    # Between two of its values a group's cumulative rows are constant; the totals cross them once, at `cross`.
    own = cumulated.astype(kind) * total
    size = sizes.astype(kind)[group]
    cross = np.clip(np.searchsorted(below, (own // size).astype(np.int64), side="right"), at, ends)
    under = own * (cross - at) - size * (heaped[cross] - heaped[at])
    over = size * (heaped[ends] - heaped[cross]) - own * (ends - cross)
    firsts = histogram.starts[:-1]
    work: NDArray[Any] = np.add.reduceat(under + over, firsts) + sizes.astype(kind) * heaped[at[firsts]]
    return work, max(1, m - 1)


@dataclass(frozen=True)
class DeltaDisclosure(ColumnModel):
    """In every group the share of each value is within a factor 2^delta of its share in the release.

    Brickell and Shmatikov 2008: |log2(share in the group / share in all)| < delta for every value, so every value of
    the column occurs in every group. Equality fails.

    >>> DeltaDisclosure("salary", delta=1).describe()
    'delta-disclosure privacy of salary with delta = 1'
    """

    delta: Fraction

    name: ClassVar[str] = "delta-disclosure"

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", exact_number(self.name, "delta", self.delta, 0))
        if not self.delta:
            raise UsageError("delta-disclosure: delta=0 allows no difference at all. Use a number above 0.")

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether a share differs too much or a value does not occur."""
        histogram, totals = groups.histogram(self.column), groups.totals(self.column)
        total, sizes = int(totals.sum()), groups.rows[histogram.groups]
        usual = totals[histogram.codes]
        ratio = np.abs(np.log2(histogram.rows / sizes * (total / usual)))
        wide = np.asarray(ratio >= float(self.delta))
        a, b = self.delta.numerator, self.delta.denominator
        for i in np.flatnonzero(np.abs(ratio - float(self.delta)) <= NEAR).tolist():
            here, there = int(histogram.rows[i]) * total, int(usual[i]) * int(sizes[i])
            ratio_here = Fraction(max(here, there), min(here, there))
            # A root of 2 is irrational: only a whole delta can be met exactly.
            wide[i] = ratio_here >= 2**a if b == 1 else natural_log(ratio_here) * b >= natural_log(Fraction(2)) * a
        all_occur = np.diff(histogram.starts) == np.count_nonzero(totals)
        return np.asarray(~all_occur | histogram.largest(wide))

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require every share to be within a factor 2^delta of that in the table."""
        values = whole[self.column]
        factor = 2.0 ** float(self.delta)
        lower, upper = values.shares / factor * (1 + ROUNDING), values.shares * factor * (1 - ROUNDING)
        return (Term.shares(values, lower, upper),)

    def _reason(self, whole: Groups) -> str:
        return ""  # the shares in the whole table are equal to themselves

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"delta-disclosure privacy of {self.column} with delta = {shown(self.delta)}"


@dataclass(frozen=True)
class BetaLikeness(ColumnModel):
    """The share of a value in a group exceeds its share in the release by a factor of at most 1 + beta.

    Cao and Karras 2012. Basic: (share in the group - share in all) / share in all <= beta. Enhanced: the ratio is also
    at most -ln(share in all), which allows frequent values less gain.

    >>> BetaLikeness("salary", beta=1, enhanced=True).describe()
    'enhanced beta-likeness of salary with beta = 1'
    """

    beta: Fraction
    enhanced: bool = False

    name: ClassVar[str] = "beta-likeness"

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", exact_number(self.name, "beta", self.beta, 0))
        if not isinstance(self.enhanced, bool):
            raise UsageError(f"beta-likeness: enhanced={self.enhanced!r} is not true or false. Use one of these.")

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether a share is too large."""
        histogram, totals = groups.histogram(self.column), groups.totals(self.column)
        total = int(totals.sum())
        limits = [self._limit(Fraction(rows, total)) if rows else Fraction(0) for rows in totals.tolist()]
        sizes = groups.rows[histogram.groups]
        return np.asarray(histogram.largest(above_limits(histogram.rows, sizes, histogram.codes, limits)))

    def _limit(self, share: Fraction) -> Fraction:
        """Return the largest share that a value may have in a group."""
        gain = min(self.beta, -natural_log(share)) if self.enhanced else self.beta
        return share * (1 + gain)

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require every share to exceed that in the table by a factor of at most 1 + beta."""
        values = whole[self.column]
        gains = np.full(len(values.rows), float(self.beta))
        if self.enhanced:
            gains = np.minimum(gains, -np.log(np.maximum(values.shares, ROUNDING)))
        upper = values.shares * (1 + gains) * (1 + ROUNDING)
        return (Term.shares(values, np.zeros(len(upper)), upper),)

    def _reason(self, whole: Groups) -> str:
        return ""  # the shares in the whole table are equal to themselves

    def describe(self) -> str:
        """Describe the requirement in words."""
        return (
            f"{'enhanced' if self.enhanced else 'basic'} beta-likeness of {self.column} with beta = {shown(self.beta)}"
        )
