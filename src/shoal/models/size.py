"""Models that count the rows of a group."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError, setting
from shoal.models.base import Basis, Groups
from shoal.models.model import Model, shown, too_few_rows
from shoal.models.terms import Distributions, Term
from shoal.models.thresholds import compare, exact_number, round_up
from shoal.schema import check_k

__all__ = ["AverageRisk", "KAnonymity", "MaximalRisk", "PersonalK"]


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every group has at least k rows (Samarati 2001, Sweeney 2002).

    >>> KAnonymity(k=5).describe()
    'k-anonymity with k = 5'
    """

    k: int

    name: ClassVar[str] = "k-anonymity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_k(self.k))

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass."""
        return self.k

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it has fewer than k rows."""
        return groups.sizes < self.k

    def _reason(self, whole: Groups) -> str:
        return too_few_rows(self.k, int(whole.sizes[0]))

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"k-anonymity with k = {self.k}"


@dataclass(frozen=True)
class PersonalK(Model):
    """Every group has at least as many rows as each of its rows requires in the column of personal k.

    Not monotone: a row that requires more may join.

    >>> PersonalK().describe()
    "each row's own k"
    """

    name: ClassVar[str] = "personal-k"

    @property
    def basis(self) -> Basis:
        """What decides: the size, and the largest personal k."""
        return Basis.PERSONAL_K

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether a row requires more rows than the group has."""
        return groups.sizes < groups.largest_personal_k

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Require as many rows as any row of the group requires."""
        return (Term.personal_k(whole),)

    def _reason(self, whole: Groups) -> str:
        size = int(whole.sizes[0])
        assert whole.personal_k is not None
        greedy = int(whole.counts[(whole.labels >= 0) & (whole.personal_k > size)].sum())
        return (
            f"each row's own k cannot be met: {greedy} row{'s require' if greedy > 1 else ' requires'} more than the "
            f"{size} rows of the table. Require at most {size}, or raise {setting('suppression_limit')}."
        )

    def describe(self) -> str:
        """Describe the requirement in words."""
        return "each row's own k"


@dataclass(frozen=True)
class MaximalRisk(Model):
    """The re-identification risk of no row exceeds the limit: every group has at least 1 / limit rows.

    >>> MaximalRisk(0.05).minimum_size
    20
    """

    limit: Fraction

    name: ClassVar[str] = "maximal-risk"

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", _risk(self.name, self.limit))

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass."""
        return -(-self.limit.denominator // self.limit.numerator)

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it has fewer than 1 / limit rows."""
        return groups.sizes < self.minimum_size

    def _reason(self, whole: Groups) -> str:
        return _risk_reason(whole, "maximal", self.limit)

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"maximal risk of {shown(self.limit)}, so groups of {self.minimum_size}"


@dataclass(frozen=True)
class AverageRisk(Model):
    """The mean re-identification risk over all rows, which is groups / rows, is at most the limit.

    A requirement on all groups together. If it is not met, the groups with fewer than 1 / limit rows fail.

    >>> AverageRisk(0.1).describe()
    'average risk of 0.1'
    """

    limit: Fraction

    name: ClassVar[str] = "average-risk"

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", _risk(self.name, self.limit))

    @property
    def basis(self) -> Basis:
        """What decides: all groups together."""
        return Basis.TABLE

    @property
    def monotone(self) -> bool:
        """Merging groups lowers the risk."""
        return True

    def most_groups(self, n_rows: int) -> int:
        """Return the maximum number of groups for a number of rows."""
        return int(self.limit * n_rows)

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it is too small, if there are too many groups."""
        every = groups.whole or groups
        if every.n_groups <= self.most_groups(int(every.sizes.sum())):
            return np.zeros(groups.n_groups, dtype=bool)
        return np.asarray(compare(np.ones(groups.n_groups, dtype=np.int64), groups.sizes, self.limit) > 0)

    def _reason(self, whole: Groups) -> str:
        return _risk_reason(whole, "average", self.limit)

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"average risk of {shown(self.limit)}"


def _risk(model: str, limit: object) -> Fraction:
    number = exact_number(model, "limit", limit, 0, 1)
    if not number:
        raise UsageError(f"{model}: limit=0 cannot be met by any release. Use a number above 0.")
    return number


def _risk_reason(whole: Groups, which: str, limit: Fraction) -> str:
    size = int(whole.sizes[0])
    return (
        f"{which} risk: all {size} rows as one group have a risk of {round_up(Fraction(1, size), 6)}, the limit "
        f"{shown(limit)} cannot be met. Use at least {round_up(Fraction(1, size), 6)}."
    )
