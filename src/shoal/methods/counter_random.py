"""Counter-based random numbers: hashes of their purpose, so that neither threads nor order matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draws", "mix"]


def mix(*numbers: int) -> int:
    """Hash integers to 64 bits: one round of SplitMix64 for each."""
    state = 0
    for number in numbers:
        z = (state + number + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        state = z ^ (z >> 31)
    return state


def draws(key: int, counters: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the random numbers of a key at some counters: SplitMix64 (Steele, Lea, Flood 2014)."""
    z = np.uint64(key) + (counters.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
