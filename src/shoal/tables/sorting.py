"""Sort rows of codes: pack the columns of a row into one integer, then sort integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_KEY", "number_rows", "number_texts", "pack", "sort_keys", "starts_of_runs"]

LARGEST_KEY = 2**62


def pack(columns: Sequence[NDArray[Any]], cards: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Return one integer for each row, ordered as the rows are, and a bound that all of them lie below.

    If the integers would exceed 62 bits, the columns packed so far are replaced by their ranks.

    Args:
        columns: The columns, the most significant first; entries of column i lie in [0, cards[i]).
        cards: The number of codes of each column.
    """
    key, n_keys = columns[0].astype(np.int64), max(cards[0], 1)
    for column, card in zip(columns[1:], cards[1:], strict=True):
        card = max(card, 1)
        if n_keys * card >= LARGEST_KEY:
            distinct, key = np.unique(key, return_inverse=True)
            n_keys = max(len(distinct), 1)
        key *= card
        key += column
        n_keys *= card
    return key, n_keys


def number_rows(columns: Sequence[NDArray[Any]], cards: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of each row, from 0 without gaps; equal rows have the same. Arguments as for `pack`."""
    return np.unique(pack(columns, cards)[0], return_inverse=True)[1].astype(np.int64)


def number_texts(texts: Iterable[str]) -> NDArray[np.int64]:
    """Return the number of each text, from 0 in the order of first occurrence; equal texts have the same."""
    number_of: dict[str, int] = {}
    return np.array([number_of.setdefault(text, len(number_of)) for text in texts], dtype=np.int64)


def sort_keys(key: NDArray[np.int64], n_keys: int) -> NDArray[np.int64]:
    """Return the stable order that sorts keys in [0, n_keys)."""
    n_rows = len(key)
    if n_rows == 0 or n_keys * n_rows >= LARGEST_KEY:
        return np.argsort(key, kind="stable")
    # With the row number as last digit all keys differ, and sorting values is faster than sorting indices.
    with_row = key * n_rows
    with_row += np.arange(n_rows)
    with_row.sort()
    with_row %= n_rows
    return with_row


def starts_of_runs(sorted_key: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the first row of each run of equal keys."""
    begins = np.ones(len(sorted_key), dtype=bool)
    np.not_equal(sorted_key[1:], sorted_key[:-1], out=begins[1:])
    return begins
