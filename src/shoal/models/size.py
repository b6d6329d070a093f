"""Models that count rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.models.base import Basis, Groups
from shoal.schema import check_k

__all__ = ["KAnonymity", "PersonalK"]


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
    def basis(self) -> Basis:
        """The size."""
        return Basis.SIZE

    @property
    def columns(self) -> tuple[str, ...]:
        """None."""
        return ()

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

    @property
    def closed(self) -> bool:
        """A larger group passes too."""
        return True

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether it has fewer than k rows."""
        return groups.sizes < self.k

    def obstacle(self, whole: Groups) -> str:
        """Say that the table has fewer rows than k."""
        size = int(whole.sizes[0])
        return f"k={self.k} cannot be met: the table has {size} rows. Use k <= {size}." if size < self.k else ""

    def describe(self) -> str:
        """Say in words what is promised."""
        return f"k-anonymity with k = {self.k}"

    def spec(self) -> dict[str, Any]:
        """Return the model as plain values."""
        return {"name": "k-anonymity", "k": self.k}


@dataclass(frozen=True)
class PersonalK:
    """Every group has at least as many rows as each of its rows asks for in the column of personal k.

    >>> PersonalK().describe()
    "each row's own k"
    """

    @property
    def basis(self) -> Basis:
        """The size, and the largest k asked for."""
        return Basis.PERSONAL_K

    @property
    def columns(self) -> tuple[str, ...]:
        """None: the column of personal k has a role of its own."""
        return ()

    @property
    def minimum_size(self) -> int:
        """A row may ask for 1."""
        return 1

    @property
    def size_only(self) -> bool:
        """The rows of a group matter too."""
        return False

    @property
    def monotone(self) -> bool:
        """A row that asks for more may enter."""
        return False

    @property
    def closed(self) -> bool:
        """A union is as large as the larger of the two asked for."""
        return True

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether a row of it asks for more rows than it has."""
        return groups.sizes < groups.largest_personal_k

    def obstacle(self, whole: Groups) -> str:
        """Say how many rows ask for more rows than there are."""
        size = int(whole.sizes[0])
        if whole.personal_k is None or not self.failing(whole)[0]:
            return ""
        greedy = int(whole.counts[(whole.labels >= 0) & (whole.personal_k > size)].sum())
        return (
            f"each row's own k cannot be met: {greedy} row{'s ask' if greedy > 1 else ' asks'} for more than the "
            f"{size} rows of the table. Ask for at most {size}, or allow {greedy} rows to be suppressed."
        )

    def describe(self) -> str:
        """Say in words what is promised."""
        return "each row's own k"

    def spec(self) -> dict[str, Any]:
        """Return the model as plain values."""
        return {"name": "personal-k"}
