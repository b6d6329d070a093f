"""Models that compare the table with the population that it was drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.models.base import Basis, Groups
from shoal.models.model import Model, shown
from shoal.models.terms import Distributions, Term
from shoal.models.thresholds import compare, exact_number, round_up, whole_number

__all__ = ["Cover", "DeltaPresence", "KMap"]


@dataclass(frozen=True)
class Cover(Model):
    """The cells of every group cover a number of population rows.

    Monotone: the cells of a union cover whatever those of its parts cover.
    """

    @property
    def basis(self) -> Basis:
        """What decides: the population rows that the cells cover."""
        return Basis.POPULATION

    @property
    def monotone(self) -> bool:
        """Wider cells cover more rows."""
        return True

    @property
    def least_covered(self) -> int:
        """The number of population rows that the cells of a group must cover."""
        raise NotImplementedError

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether its cells cover too few rows of the population."""
        return groups.population < self.least_covered

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Return the condition on the population rows that the cells cover."""
        return (Term.covered(self.least_covered),)


@dataclass(frozen=True)
class KMap(Cover):
    """The cells of every group cover at least k rows of the population (Sweeney 2001).

    >>> KMap(k=5).describe()
    'k-map with k = 5'
    """

    k: int

    name: ClassVar[str] = "k-map"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.name, "k", self.k))

    @property
    def least_covered(self) -> int:
        """The number of population rows that the cells of a group must cover."""
        return self.k

    def _reason(self, whole: Groups) -> str:
        fitting = int(whole.population[0])
        return (
            f"k-map: the table covers {fitting} rows of the population, k = {self.k} cannot be met. Use k <= {fitting}."
        )

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"k-map with k = {self.k}"


@dataclass(frozen=True)
class DeltaPresence(Model):
    """Of the population rows that a group's cells cover, a share from low to high is in it (Nergiz et al. 2007).

    Each group is judged by itself, which is exact if groups do not overlap. The union of passing groups may fail: its
    cells may cover many more rows.

    >>> DeltaPresence(low=0, high=0.5).describe()
    'delta-presence from 0 to 0.5'
    """

    low: Fraction
    high: Fraction

    name: ClassVar[str] = "delta-presence"

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", exact_number(self.name, "low", self.low, 0, 1))
        object.__setattr__(self, "high", exact_number(self.name, "high", self.high, 0, 1))
        if self.low > self.high:
            raise UsageError(f"delta-presence: low={shown(self.low)} is above high={shown(self.high)}.")

    @property
    def basis(self) -> Basis:
        """What decides: the population rows that the cells cover."""
        return Basis.POPULATION

    @property
    def closed(self) -> bool:
        """A union may miss the lower end; without one, more rows of the population only help."""
        return self.low == 0

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether the share is too small or too large."""
        fitting = groups.population
        return (compare(groups.rows, fitting, self.low) < 0) | (compare(groups.rows, fitting, self.high) > 0)

    def terms(self, whole: Distributions) -> tuple[Term, ...]:
        """Return the condition on the share of the population rows that the cells cover."""
        return (Term.presence(self.low, self.high),)

    def _reason(self, whole: Groups) -> str:
        rows, fitting = int(whole.rows[0]), max(1, int(whole.population[0]))
        share = round_up(Fraction(rows, fitting))
        return (
            f"delta-presence: {rows} of the {fitting} population rows that the table covers are in it, high = "
            f"{shown(self.high)} cannot be met. Use high >= {share}."
        )

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"delta-presence from {shown(self.low)} to {shown(self.high)}"
