"""Limits on the share of rows that are alone in their group: in the release, or by an estimate in the population."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.models.base import Basis, Groups
from shoal.models.model import Model, shown
from shoal.models.thresholds import exact_number, whole_number
from shoal.models.uniques import ESTIMATORS, estimate_uniques

__all__ = ["PopulationUniqueness", "SampleUniqueness", "Uniqueness"]

MARGIN = 1e-6  # the verifier solves the equations of an estimator with its own code


@dataclass(frozen=True)
class Uniqueness(Model):
    """A limit on lone rows, a requirement on all groups together: a row is alone if its group has one row, or person.

    If the limit is exceeded, the groups of one fail.
    """

    limit: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", exact_number(self.name, "limit", self.limit, 0, 1))

    @property
    def basis(self) -> Basis:
        """What decides: all groups together."""
        return Basis.TABLE

    def most_alone(self, n_rows: int) -> int:
        """Return a number of lone rows that never exceeds the limit, whatever the other groups are."""
        raise NotImplementedError

    def holds(self, rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
        """Say whether groups keep the limit.

        Args:
            rows: The number of rows of each group.
            sizes: The number of rows, or of people.
        """
        raise NotImplementedError

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it consists of one row or person, if the limit is exceeded."""
        every = groups.whole or groups
        if self.holds(every.rows, every.sizes):
            return np.zeros(groups.n_groups, dtype=bool)
        return np.asarray(groups.sizes == 1)

    def _reason(self, whole: Groups) -> str:
        return (
            f"{self.describe()} cannot be met: the table has one {'row' if whole.people is None else 'person'}. Use a "
            "table with more."
        )


@dataclass(frozen=True)
class SampleUniqueness(Uniqueness):
    """At most a share of the rows is alone in its group.

    >>> SampleUniqueness(0.05).describe()
    'sample uniqueness of at most 0.05'
    """

    name: ClassVar[str] = "sample-uniqueness"

    @property
    def monotone(self) -> bool:
        """Merging groups leaves fewer rows alone."""
        return True

    def most_alone(self, n_rows: int) -> int:
        """Return the maximum number of lone rows."""
        return int(self.limit * n_rows)

    def holds(self, rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
        """Say whether groups keep the limit."""
        return int(rows[sizes == 1].sum()) <= self.most_alone(int(rows.sum()))

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"sample uniqueness of at most {shown(self.limit)}"


@dataclass(frozen=True)
class PopulationUniqueness(Uniqueness):
    """At most a share of the population is unique in it, by an estimate from the groups of the release.

    The estimate is 0 if no row of the release is alone: a person who is unique in the population is unique in every
    sample of it. If an estimator has no solution, the limit counts as exceeded. Not monotone, as merging two groups
    may raise the estimate.

    Attributes:
        population: The number of people from whom the table was drawn.
        estimator: "zayatz", "pitman", "snb", or "dankar", which chooses one of these (`shoal.models.uniques`).

    >>> PopulationUniqueness(0.001, population=300_000_000).describe()
    'population uniqueness of at most 0.001 of 300000000 people, estimated by dankar'
    """

    population: int
    estimator: str = "dankar"

    name: ClassVar[str] = "population-uniqueness"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "population", whole_number(self.name, "population", self.population))
        if self.estimator not in ESTIMATORS:
            raise UsageError(f"{self.name}: estimator={self.estimator!r} is not known. Use {', '.join(ESTIMATORS)}.")

    @property
    def closed(self) -> bool:
        """A union changes the sizes of groups, and with them the estimate."""
        return False

    def most_alone(self, n_rows: int) -> int:
        """Return 0: without lone rows the estimate is 0, with some it depends on the other groups."""
        return 0

    def holds(self, rows: NDArray[np.int64], sizes: NDArray[np.int64]) -> bool:
        """Say whether the estimate keeps the limit."""
        if int(sizes.sum()) > self.population:
            raise UsageError(
                f"{self.name}: population={self.population} is smaller than the table, which has {int(sizes.sum())} "
                "rows in groups. Use the number of people from whom the table was drawn."
            )
        if not (sizes == 1).any():
            return True
        estimate = estimate_uniques(sizes, self.population, (self.estimator,))
        found = getattr(estimate, self.estimator)
        return found is not None and found <= float(self.limit) * self.population * (1 - MARGIN)

    def describe(self) -> str:
        """Describe the requirement in words."""
        return (
            f"population uniqueness of at most {shown(self.limit)} of {self.population} people, estimated by "
            f"{self.estimator}"
        )
