"""Differential privacy by a random sample and k-anonymity at levels that are fixed in advance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.models.base import Basis, Groups
from shoal.models.model import Model, shown, too_few_rows
from shoal.models.thresholds import exact_number

__all__ = ["DifferentialPrivacy", "least_group", "sampling_share"]

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 100), 5  # beyond, k is in the thousands
SHARE_BITS = 40  # of the sampling probability, which is rounded down
MARGIN = 1e-6  # relative; the verifier computes the same tails with other arithmetic
NEGLIGIBLE = 1e-18  # terms below this share of the sum end a tail


@dataclass(frozen=True)
class DifferentialPrivacy(Model):
    """(epsilon, delta)-differential privacy by sampling and k-anonymity (Li et al. 2012; Bild, Kuhn, Prasser 2018).

    Every row is drawn with the probability `share`. All columns are generalised to levels that the user fixes without
    looking at the data, and groups of fewer than `minimum_size` rows of the sample are suppressed. Both numbers follow
    from epsilon and delta. Neighbouring tables differ in one row.

    >>> DifferentialPrivacy(epsilon=1, delta="1e-5").describe()
    '(epsilon, delta)-differential privacy with epsilon = 1 and delta = 1e-05'
    """

    epsilon: Fraction
    delta: Fraction

    name: ClassVar[str] = "differential-privacy"

    def __post_init__(self) -> None:
        epsilon = exact_number(self.name, "epsilon", self.epsilon, LEAST_EPSILON, MOST_EPSILON)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", exact_number(self.name, "delta", self.delta, 0, 1))
        if self.delta in (0, 1):
            raise UsageError(f"{self.name}: delta={self.delta} is not between 0 and 1. Use 1e-6, for example.")

    @property
    def basis(self) -> Basis:
        """What decides: the size, in a random sample at fixed levels."""
        return Basis.SAMPLE

    @property
    def monotone(self) -> bool:
        """Further rows never make a group fail."""
        return True

    @property
    def minimum_size(self) -> int:
        """The smallest size that can pass."""
        return least_group(self.epsilon, self.delta)

    @property
    def share(self) -> Fraction:
        """The probability with which each row is drawn."""
        return sampling_share(self.epsilon)

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Return for each group whether it has too few rows of the sample."""
        return groups.rows < self.minimum_size

    def _reason(self, whole: Groups) -> str:
        return too_few_rows(self.minimum_size, int(whole.rows[0]))

    def describe(self) -> str:
        """Describe the requirement in words."""
        return (
            f"(epsilon, delta)-differential privacy with epsilon = {shown(self.epsilon)} and delta = "
            f"{shown(self.delta)}"
        )


def sampling_share(epsilon: Fraction) -> Fraction:
    """Return the largest sampling probability that epsilon allows, 1 - exp(-epsilon), rounded down to 40 bits."""
    return Fraction(int(-math.expm1(-float(epsilon)) * (1 - 1e-12) * 2**SHARE_BITS), 2**SHARE_BITS)


@lru_cache(maxsize=100)
def least_group(epsilon: Fraction, delta: Fraction) -> int:
    """Return the smallest k for which the sample at fixed levels is (epsilon, delta)-differentially private.

    A row with n equal rows (after generalisation) is exposed if more than gamma n of them are drawn, where
    gamma = (exp(epsilon) - 1 + beta) / exp(epsilon). delta is the largest probability of that over all n from
    ceil(k / gamma - 1) on (Li et al. 2012, Theorem 5). By Chernoff's bound it falls below delta from some n on, so the
    search goes down from there to the last n that exceeds delta.

    >>> least_group(Fraction(2), Fraction(1, 10**6))
    131
    """
    beta = float(sampling_share(epsilon))
    rest = (1 - beta) * math.exp(-float(epsilon))
    gamma = 1 - rest
    divergence = gamma * math.log(gamma / beta) - rest * float(epsilon)
    n = math.ceil(-math.log(float(delta)) / divergence) + 1
    while n > 0 and _tail(n, beta, gamma) <= float(delta) * (1 - MARGIN):
        n -= 1
    return math.floor(gamma * (n + 1)) + 1


def _tail(n: int, beta: float, gamma: float) -> float:
    """Return the probability that more than gamma n of n rows are drawn."""
    j = math.floor(gamma * n * (1 - 1e-12)) + 1
    logs = math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1)
    term = math.exp(logs + j * math.log(beta) + (n - j) * math.log1p(-beta))
    total = 0.0
    while j <= n and term > NEGLIGIBLE * total:
        total += term
        term *= (n - j) / (j + 1) * beta / (1 - beta)
        j += 1
    return total
