"""Models that count rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Groups
from shoal.schema import check_k

__all__ = ["KAnonymity"]


@dataclass(frozen=True)
class KAnonymity:
    """Every group has at least k rows (Samarati 2001, Sweeney 2002).

    >>> KAnonymity(k=5).describe()
    'k-anonymity with k = 5'
    """

    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_k(self.k))

    @property
    def minimum_size(self) -> int:
        """No group with fewer rows can pass."""
        return self.k

    @property
    def size_only(self) -> bool:
        """Size alone decides."""
        return True

    @property
    def monotone(self) -> bool:
        """A larger group passes too."""
        return True

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether it has fewer than k rows."""
        return groups.sizes < self.k

    def describe(self) -> str:
        """Say in words what is promised."""
        return f"k-anonymity with k = {self.k}"
