"""Rows and groups as secret random numbers: equal rows have equal numbers, and a bag of rows has their sum.

The key is random and new for each check. A cell is hashed once for each distinct text, never once for each row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.verification.gate_streamed.blocks import BlockColumn

__all__ = ["EMPTY", "Bag", "Keys", "TextKeys", "add_bags", "add_rows", "are_among", "row_keys", "total_keys"]

ODD = tuple(np.uint64(each) for each in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 0x9E3779B97F4A7C15))
HALF, LESS = np.uint64(32), np.uint64(29)
LANE = 2**64
MOST_AT_ONCE = 50_000  # texts that are hashed at once

Codes = NDArray[np.int32]
Keys = NDArray[np.uint64]  # two numbers for each row
Bag = tuple[int, int, int]  # the sums of the two hashes of each row, and the number of rows
EMPTY: Bag = (0, 0, 0)


class Texts(Protocol):
    """Texts in order, some of which are listed at a time."""

    def __len__(self) -> int:
        """The number of texts."""

    def __getitem__(self, places: slice) -> Sequence[str]:
        """Return the texts at places that follow each other."""


class TextKeys:
    """Two secret random numbers for each text of a column.

    Args:
        key: The key of the hashes.
        column: The number of the column; equal texts of different columns have different numbers.
    """

    def __init__(self, key: bytes, column: int) -> None:
        self._key, self._column = key, column
        self._keys: Keys = np.empty((2, 0), dtype=np.uint64)
        self._n_known = self._epoch = 0

    @classmethod
    def like(cls, other: TextKeys) -> TextKeys:
        """Return keys of the same column that know no text yet."""
        return cls(other._key, other._column)

    def of(self, column: BlockColumn, codes: Codes) -> Keys:
        """Return the numbers of the cells of a block."""
        if column.epoch != self._epoch:
            self._n_known, self._epoch = 0, column.epoch
        return self.of_texts(column.texts, codes)

    def of_texts(self, texts: Texts, codes: Codes) -> Keys:
        """Return the numbers of texts at some places; texts that were seen before must not have changed."""
        if len(texts) > self._keys.shape[1]:
            room = np.empty((2, max(64, len(texts), 2 * self._n_known)), dtype=np.uint64)
            room[:, : self._n_known] = self._keys[:, : self._n_known]
            self._keys = room
        while self._n_known < len(texts):
            self._learn(texts[self._n_known : self._n_known + MOST_AT_ONCE])
        keys: Keys = self._keys[:, codes]
        return keys

    def _learn(self, texts: Sequence[str]) -> None:
        salt = self._column.to_bytes(16, "little")
        digests = b"".join(
            hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._key, salt=salt).digest()
            for text in texts
        )
        end = self._n_known + len(texts)
        self._keys[:, self._n_known : end] = np.frombuffer(digests, dtype="<u8").reshape(-1, 2).T
        self._n_known = end


def total_keys(keys: Sequence[Keys], n_rows: int) -> Keys:
    """Return two numbers for each row, the sums of those of its cells."""
    total = np.zeros((2, n_rows), dtype=np.uint64)
    for each in keys:
        total += each
    return total


def add_rows(bag: Bag, rows: Keys) -> Bag:
    """Return the bag with some more rows. Their numbers are mixed, so that cells cannot trade places between rows."""
    a, b = rows[0].copy(), rows[1].copy()
    for odd in ODD:
        a ^= b >> LESS
        a *= odd
        b ^= a >> HALF
        b *= odd
        a ^= a >> HALF
    sums: list[Any] = [int(lane.sum(dtype=np.uint64)) for lane in (a, b)]
    return (bag[0] + sums[0]) % LANE, (bag[1] + sums[1]) % LANE, bag[2] + rows.shape[1]


def add_bags(bags: Iterable[Bag]) -> Bag:
    """Return the bag of the rows of several."""
    a, b, rows = 0, 0, 0
    for bag in bags:
        a, b, rows = (a + bag[0]) % LANE, (b + bag[1]) % LANE, rows + bag[2]
    return a, b, rows


def are_among(keys: Keys, known: Keys) -> NDArray[np.bool_]:
    """Return which keys are among those that are known."""
    both = np.concatenate([known, keys], axis=1)
    order = np.lexsort((both[1], both[0]))  # stable: a known key comes before those that equal it
    is_new = np.ones(both.shape[1], dtype=bool)
    is_new[1:] = (both[:, order[1:]] != both[:, order[:-1]]).any(axis=0)
    starts = order[np.flatnonzero(is_new)]  # the first of each run of equal keys
    found = np.empty(both.shape[1], dtype=bool)
    found[order] = (starts < known.shape[1])[np.cumsum(is_new) - 1]
    return found[known.shape[1] :]


def row_keys(key: bytes, rows: NDArray[np.int64]) -> Keys:
    """Return two numbers for each row that depend on its number; key: of the hashes."""
    own = np.frombuffer(hashlib.blake2b(b"rows", digest_size=16, key=key).digest(), dtype="<u8")
    numbers = rows.astype(np.uint64)
    return np.stack([(numbers + own[0]) * ODD[0], (numbers + own[1]) * ODD[1]])
