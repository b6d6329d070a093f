"""Rows of several columns as one number each, so that distinct rows are found without a Python object for each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.verification.reading.coded import CodedColumn

__all__ = ["Codes", "codes_by_text", "merged_column", "pack", "shared_codes"]

KEY_LIMIT = 2**62  # smaller keys are exact in 64 bits

Codes = NDArray[np.int64]


def pack(columns: Sequence[tuple[Codes, int]], n_rows: int = 0) -> Codes:
    """Return one number for each row: equal exactly where all columns are, and ordered like them.

    Args:
        columns: The codes of each column, and how many codes it has.
        n_rows: The number of rows, for a table without columns.
    """
    key = np.zeros(len(columns[0][0]) if columns else n_rows, dtype=np.int64)
    span = 1
    for codes, card in columns:
        card = max(card, 1)
        if span * card >= KEY_LIMIT:
            distinct, key = np.unique(key, return_inverse=True)
            span = max(len(distinct), 1)
        key = key * card + codes
        span *= card
    return key


def codes_by_text(column: CodedColumn) -> Codes:
    """Return codes that are equal exactly where the texts are; a laid-out column may have a text twice."""
    code_of: dict[str, int] = {}
    codes = np.array([code_of.setdefault(text, len(code_of)) for text in column.texts] or [0], dtype=np.int64)
    return codes[column.codes]


def shared_codes(one: CodedColumn, other: CodedColumn) -> tuple[Codes, Codes, int]:
    """Return codes that are equal exactly where the texts of two columns are, and how many codes there are."""
    code_of: dict[str, int] = {}
    numbered = [
        np.array([code_of.setdefault(text, len(code_of)) for text in column.texts] or [0], dtype=np.int64)[column.codes]
        for column in (one, other)
    ]
    return numbered[0], numbered[1], len(code_of)


def merged_column(texts: Sequence[str], column: CodedColumn) -> CodedColumn:
    """Return a column with other texts in place of its own; equal texts have one code."""
    place_of: dict[str, int] = {}
    places = np.array([place_of.setdefault(text, len(place_of)) for text in texts] or [0], dtype=np.int32)
    return replace(column, texts=list(place_of), codes=places[column.codes])
