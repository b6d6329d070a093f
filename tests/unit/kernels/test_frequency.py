"""The roll-up kernel against its twin, on key spaces that are counted and on those that are sorted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shoal.kernels.frequency import roll_up
from tests.naive import frequency


def roll(codes: np.ndarray, counts: np.ndarray, maps: list[np.ndarray]) -> list[tuple[tuple[int, ...], int]]:
    cards = [int(level.max()) + 1 for level in maps]
    weights = [math.prod(cards[i + 1 :]) if cards[i] > 1 else 0 for i in range(len(cards))]
    rolled, sums = np.empty_like(codes), np.empty_like(counts)
    n = roll_up(
        codes,
        counts,
        np.concatenate(maps),
        np.cumsum([0, *map(len, maps)], dtype=np.int64),
        np.array(weights, dtype=np.uint64),
        math.prod(cards),
        rolled,
        sums,
    )
    return list(zip(map(tuple, rolled[:n].tolist()), sums[:n].tolist(), strict=True))


@pytest.mark.parametrize("cards", [[1], [2, 3], [5, 1, 4], [300, 200, 100], [2000] * 5, [3] * 38])
def test_roll_up_agrees_with_the_twin(cards: list[int], seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = sorted({tuple(int(draw.integers(card)) for card in cards) for _ in range(150)})
    codes = np.array(rows, dtype=np.int32)
    counts = draw.integers(1, 2**40, len(rows))
    for coarse in (1, 2, 7):
        maps = [(np.arange(card) // coarse).astype(np.int32) for card in cards]
        plain = [level.tolist() for level in maps]
        assert roll(codes, counts, maps) == frequency.rolled(rows, counts.tolist(), plain)


def test_roll_up_of_nothing_is_nothing() -> None:
    none = np.empty((0, 2), dtype=np.int32)
    maps = [np.zeros(3, dtype=np.int32), np.arange(4, dtype=np.int32)]
    assert roll(none, np.empty(0, dtype=np.int64), maps) == []
