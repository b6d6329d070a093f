"""What it costs to climb the levels of a hierarchy: the weighted hierarchical distance of Li, Wong, Fu and Pei 2006."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from shoal.errors import UsageError

__all__ = ["WEIGHTINGS", "Climb"]

WEIGHTINGS = ("uniform", "height")
# Real exponents give weights that are no fractions; they are rounded to parts of this.
PARTS = 2**20


@dataclass(frozen=True)
class Climb:
    """How the steps of a hierarchy weigh.

    weighting: "uniform", every step alike, or "height", a step weighs 1 / (steps from the root)^beta, so that those
    near the root cost most. beta: at least 1. given: by attribute, a weight of its own for each step, from the values
    up.

    >>> Climb().to_levels("born", 5)[2]
    Fraction(2, 5)
    >>> float(Climb("height").to_levels("born", 5)[1])
    0.08759124087591241
    """

    weighting: str = "uniform"
    beta: float = 1.0
    given: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting {self.weighting!r} is not known. Use {', '.join(WEIGHTINGS)}.")
        if not 1 <= self.beta <= 64:
            raise UsageError(f"beta={self.beta!r} is not a number from 1 to 64.")
        for name, weights in self.given.items():
            if not weights or any(not 0 <= weight < float("inf") for weight in weights) or not sum(weights):
                raise UsageError(f"weights of the levels of {name!r}: give numbers from 0 on, one of them above 0.")

    def to_levels(self, name: str, height: int) -> list[Fraction]:
        """Return the share of the whole climb from a value to each level: 0 at the value, 1 at the root."""
        weights = [self._weight(name, step, height) for step in range(height)]
        whole = sum(weights, Fraction(0))
        climbed = [Fraction(0)]
        for weight in weights:
            climbed.append(climbed[-1] + weight / whole)
        return climbed

    def _weight(self, name: str, step: int, height: int) -> Fraction:
        if name in self.given:
            if len(self.given[name]) != height:
                raise UsageError(
                    f"weights of the levels of {name!r}: {len(self.given[name])} are given, its hierarchy has {height} "
                    "steps. Give one for each, from the values up."
                )
            return Fraction(self.given[name][step])
        if self.weighting == "uniform":
            return Fraction(1)
        from_root = height - step  # Definition 5 counts levels from the root, which is 1
        if float(self.beta).is_integer():
            return Fraction(1, from_root ** int(self.beta))
        return Fraction(round(PARTS * float(from_root) ** -float(self.beta)), PARTS)
