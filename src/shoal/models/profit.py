"""Models of an attacker who weighs gain against cost: no attack may pay (Wan et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.models.base import Groups
from shoal.models.model import Model, shown
from shoal.models.presence import Cover
from shoal.models.thresholds import exact_number, round_up

__all__ = ["JournalistProfit", "ProsecutorProfit"]


@dataclass(frozen=True)
class Profit(Model):
    """The expected payout of an attack on a row, gain x success - cost, is at most `payout`.

    The success is 1 / n, where n is the number of people who may be the right one. So n must be at least
    gain / (cost + payout).

    Attributes:
        cost: What an attack on one row costs the attacker.
        gain: What a successful attack is worth to the attacker.
        payout: The largest expected payout that is accepted; 0 by default, so that no attack pays.
    """

    cost: Fraction
    gain: Fraction
    payout: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for field in ("cost", "gain", "payout"):
            object.__setattr__(self, field, exact_number(self.name, field, getattr(self, field), 0))
        if not self.cost + self.payout:
            raise UsageError(f"{self.name}: with cost=0 and payout=0, every attack pays. Use a cost above 0.")

    @property
    def least_people(self) -> int:
        """The number of people among whom an attack does not pay."""
        ratio = self.gain / (self.cost + self.payout)
        return max(1, -(-ratio.numerator // ratio.denominator))

    def _reason(self, whole: Groups) -> str:
        reached = self._people(whole)
        cost = round_up(max(Fraction(0), self.gain / max(1, reached) - self.payout))
        return (
            f"{self.describe()} cannot be met: all rows as one group hide a person among {reached}. Use a cost of at "
            f"least {cost}, a smaller gain or a larger payout."
        )

    def _people(self, whole: Groups) -> int:
        """Return the number of people among whom a person of the only group hides."""
        raise NotImplementedError

    def _terms_in_words(self) -> str:
        accepted = f", payout {shown(self.payout)}" if self.payout else ""
        return f"cost {shown(self.cost)}, gain {shown(self.gain)}{accepted}"


@dataclass(frozen=True)
class ProsecutorProfit(Profit):
    """No attack pays for a prosecutor, who knows that the person is in the release: groups of gain / (cost + payout).

    >>> ProsecutorProfit(cost=4, gain=300).minimum_size
    75
    """

    name: ClassVar[str] = "prosecutor-profit"

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass."""
        return self.least_people

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether an attack on its rows pays."""
        return groups.sizes < self.least_people

    def _people(self, whole: Groups) -> int:
        return int(whole.sizes[0])

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"no profit for a prosecutor ({self._terms_in_words()}), so groups of {self.least_people}"


@dataclass(frozen=True)
class JournalistProfit(Profit, Cover):
    """No attack pays for a journalist, who knows only that the person is in the population.

    The cells of every group cover at least gain / (cost + payout) rows of the population.

    >>> JournalistProfit(cost=4, gain=300).describe()
    'no profit for a journalist (cost 4, gain 300), so 75 people of the population'
    """

    name: ClassVar[str] = "journalist-profit"

    @property
    def least_covered(self) -> int:
        """The number of population rows that the cells of a group must cover."""
        return self.least_people

    def _people(self, whole: Groups) -> int:
        return int(whole.population[0])

    def describe(self) -> str:
        """Describe the requirement in words."""
        return f"no profit for a journalist ({self._terms_in_words()}), so {self.least_people} people of the population"
