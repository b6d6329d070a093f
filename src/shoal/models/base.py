"""What a privacy model is: a test that every group passes or fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Groups", "PrivacyModel"]


@dataclass(frozen=True)
class Groups:
    """What the models may know of the groups: their sizes."""

    sizes: NDArray[np.int64]

    @classmethod
    def from_labels(cls, labels: NDArray[np.int32]) -> Groups:
        """Count the rows of each group; suppressed rows (-1) belong to none."""
        return cls(np.bincount(labels[labels >= 0]).astype(np.int64))


@runtime_checkable
class PrivacyModel(Protocol):
    """A promise about each group.

    size_only: group sizes alone decide, so that a method which keeps groups at minimum_size rows keeps the promise.
    monotone: the union of a passing group with any other group passes.
    """

    @property
    def minimum_size(self) -> int:
        """No group with fewer rows can pass."""

    @property
    def size_only(self) -> bool:
        """Whether every group with minimum_size rows passes."""

    @property
    def monotone(self) -> bool:
        """Whether a passing group passes after any merge."""

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Say of each group whether it fails."""

    def describe(self) -> str:
        """Say in words what is promised."""
