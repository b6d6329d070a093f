"""The text columns of a Parquet file as codes, decoded from its pages."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from shoal.verification.reading.parquet.footer import first_page, read_footer, read_page
from shoal.verification.reading.parquet.pages import BYTE_ARRAY, Chunk
from shoal.verification.reading.parquet.thrift import Struct

__all__ = ["TextCodes", "chunk_of", "text_columns"]

TextCodes = tuple[list[str], NDArray[np.int32]]  # the texts, and the place of each row's text among them


def text_columns(path: str | os.PathLike[str], positions: list[int]) -> dict[int, TextCodes]:
    """Return the columns at some positions as codes; without those whose pages are not decoded here.

    Distinct codes mean distinct texts; a null cell is "".
    """
    coded: dict[int, TextCodes] = {}
    with open(path, "rb") as file:
        try:
            footer, _, _ = read_footer(file)
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error, OverflowError):
            return coded
        for position in positions:
            try:
                coded[position] = _column(file, footer, position)
            except (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error, OverflowError):
                continue  # an encoding that is not decoded here, or a damaged file: its reader decides
    return coded


def _column(file: BinaryIO, footer: Struct, position: int) -> TextCodes:
    places: dict[str, int] = {}
    parts = [np.zeros(0, dtype=np.int32)]
    for group in footer[4]:
        chunk = chunk_of(file, footer, group, position)
        texts = [*chunk.texts(), *([""] if chunk.nulls else [])]
        new = np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.int32)
        parts.append(new[chunk.codes()])
    return list(places), np.concatenate(parts)


def chunk_of(file: BinaryIO, footer: Struct, group: Struct, position: int) -> Chunk:
    """Decode the pages of one column of one row group; raise a ValueError, or the like, if that is not possible."""
    facts, element, n_rows = group[1][position][3], footer[2][position + 1], group[3]
    if facts[1] != BYTE_ARRAY or facts[5] != n_rows:
        raise ValueError("not a column of text, or another number of rows")
    chunk = Chunk(facts[1], 0, facts[4], element.get(3) == 1, keeps_codes=True)
    at = first_page(facts)
    while chunk.n_values < n_rows:
        header, head, raw = read_page(file, at)
        chunk.add_page(header, raw)
        at += len(head) + len(raw)
    if chunk.n_values != n_rows:
        raise ValueError("another number of rows")
    return chunk
