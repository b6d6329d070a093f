"""Weights of the levels of a hierarchy: the weighted hierarchical distance of Li, Wong, Fu and Pei 2006."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from shoal.errors import UsageError

__all__ = ["WEIGHTINGS", "Climb"]

WEIGHTINGS = ("uniform", "height")
# Weights with a fractional exponent are irrational; they are rounded to multiples of 1 / PARTS.
PARTS = 2**20


@dataclass(frozen=True)
class Climb:
    """What each step from a level of a hierarchy to the next one weighs.

    Attributes:
        weighting: "uniform" gives every step the same weight; "height" gives a step the weight
            1 / (steps from the root)^beta, so that steps near the root cost most.
        beta: The exponent of "height", from 1 to 64.
        given: Explicit weights by attribute, one for each step from the values up.

    Raises:
        UsageError: A field is out of range.

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
                raise UsageError(f"level weights of {name!r}: give numbers from 0 up, at least one above 0.")

    def to_levels(self, name: str, height: int) -> list[Fraction]:
        """Return the cost of the path from a value up to each level.

        Args:
            name: The attribute.
            height: The number of levels above its values.

        Returns:
            Shares of the full path: 0 at the value, 1 at the root.

        Raises:
            UsageError: The attribute has explicit weights, but not one for each step.
        """
        weights = [self._weight(name, step, height) for step in range(height)]
        total = sum(weights, Fraction(0))
        shares = [Fraction(0)]
        for weight in weights:
            shares.append(shares[-1] + weight / total)
        return shares

    def _weight(self, name: str, step: int, height: int) -> Fraction:
        if name in self.given:
            if len(self.given[name]) != height:
                raise UsageError(
                    f"level weights of {name!r}: there are {len(self.given[name])}, but its hierarchy has {height} "
                    "steps. Give one weight for each step, from the values up."
                )
            return Fraction(self.given[name][step])
        if self.weighting == "uniform":
            return Fraction(1)
        from_root = height - step  # Definition 5 counts levels from the root, which is 1
        if float(self.beta).is_integer():
            return Fraction(1, from_root ** int(self.beta))
        return Fraction(round(PARTS * float(from_root) ** -float(self.beta)), PARTS)
