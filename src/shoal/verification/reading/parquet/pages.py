"""Account for every byte of the pages of a Parquet file: which values they hold, and what else."""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.verification.reading.parquet.expand import expand
from shoal.verification.reading.parquet.runs import read_runs
from shoal.verification.reading.parquet.thrift import Struct

__all__ = ["Chunk", "UnaccountedError", "is_ambiguous"]

PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY, STREAM_SPLIT = 0, 2, 3, 8, 9
BOOLEAN, BYTE_ARRAY, FIXED = 0, 6, 7
FLOATS = (4, 5)
WIDTHS = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8}  # bytes of a value by physical type
DATA, DICTIONARY, DATA_V2 = 0, 2, 3


class UnaccountedError(ValueError):
    """A page with an encoding that is not decoded here."""


@dataclass
class Chunk:
    """The pages of one column of one row group.

    Attributes:
        kind: The physical type of the column.
        width: The bytes of a value of fixed length.
        codec: The codec of the pages.
        is_optional: Whether the column can be null.
        keeps_values: Whether `values` are needed.
        keeps_codes: Whether `codes` are needed.
        values: The values that rows have; only kept if they are needed.
        nulls: The number of null cells.
        n_values: The number of cells, null or not.
        text_bytes: The size of all texts, as if each were written out.
        encodings: How many dictionary and data pages have which encoding.
    """

    kind: int
    width: int
    codec: int
    is_optional: bool
    keeps_values: bool = False
    keeps_codes: bool = False
    values: set[bytes] = field(default_factory=set)
    nulls: int = 0
    n_values: int = 0
    text_bytes: int = 0
    encodings: Counter[tuple[int, int]] = field(default_factory=Counter)
    _codes: list[NDArray[np.int32]] = field(default_factory=list)
    _places: dict[bytes, int] = field(default_factory=dict)  # of values outside the dictionary, in the order they come
    _dictionary: list[bytes] = field(default_factory=list)
    _uses: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def add_page(self, header: Struct, raw: bytes) -> None:
        """Read a page.

        Raises:
            UnaccountedError: Its encoding is not decoded here.
            ValueError, IndexError, KeyError, struct.error: It is damaged, or has bytes that are not values.
        """
        place, number = {DATA: (5, 2), DICTIONARY: (7, 2), DATA_V2: (8, 4)}[header[1]]
        self.encodings[DATA if header[1] == DATA_V2 else header[1], header[place][number]] += 1
        if header[1] == DICTIONARY:
            if self._dictionary or self.n_values or header[7][2] not in (PLAIN, PLAIN_DICTIONARY):
                raise ValueError("a second dictionary, or one after values")
            self._dictionary = self._plain(expand(self.codec, raw, header[2]), header[7][1])
            self._uses = np.zeros(len(self._dictionary), dtype=np.int64)
        elif header[1] == DATA:
            facts = header[5]
            content = expand(self.codec, raw, header[2])
            at, levels = self._levels(content)
            self._data(content[at:], facts[2], facts[1], levels)
        elif header[1] == DATA_V2:
            facts = header[8]
            if facts.get(6) or (facts.get(5) and not self.is_optional):
                raise ValueError("levels of a column that has none")
            n_level = facts[5]
            body = raw[n_level:]
            if facts.get(7, True):
                body = expand(self.codec, body, header[2] - n_level)
            self._data(body, facts[4], facts[1], raw[:n_level])
        else:
            raise ValueError("an unknown page")

    def has_unused_values(self) -> bool:
        """Return whether the dictionary holds a value that no row has, or the same value twice."""
        return not self._uses.all() or len(set(self._dictionary)) != len(self._dictionary)

    def finish(self) -> None:
        """Take the used values of the dictionary as values."""
        self.text_bytes += sum(len(text) * n for text, n in zip(self._dictionary, self._uses.tolist(), strict=True))
        if self.keeps_values:
            self.values.update(self._dictionary[i] for i in np.flatnonzero(self._uses).tolist())

    def codes(self) -> NDArray[np.int32]:
        """Return the place of each cell's value among `texts`; a null cell has the place behind the last one."""
        codes = np.concatenate(self._codes or [np.zeros(0, dtype=np.int32)])
        codes[codes < 0] = len(self._dictionary) + len(self._places)
        return codes

    def texts(self) -> list[str]:
        """Return the texts of the dictionary, and those outside it; a UnicodeError if one is not UTF-8."""
        return [text.decode() for text in (*self._dictionary, *self._places)]

    def _levels(self, content: bytes) -> tuple[int, bytes]:
        """Return where the values of a page begin, and the runs that say which cells are null."""
        if not self.is_optional:
            return 0, b""
        size = int.from_bytes(content[:4], "little")
        if size > len(content) - 4:
            raise IndexError
        return 4 + size, content[4 : 4 + size]

    def _data(self, content: bytes, encoding: int, count: int, levels: bytes) -> None:
        present = np.empty(count if levels and self.keeps_codes else 0, dtype=np.int32)
        n_known = read_runs(levels, 1, count, None, present if len(present) else None) if levels else count
        self.n_values += count
        self.nulls += count - n_known
        numbers = np.empty(n_known if self.keeps_codes else 0, dtype=np.int32)
        if encoding in (PLAIN_DICTIONARY, RLE_DICTIONARY):
            if content:
                read_runs(content[1:], content[0], n_known, self._uses, numbers if self.keeps_codes else None)
            elif n_known:
                raise IndexError
        elif encoding == PLAIN:
            values = self._plain(content, n_known)
            self.text_bytes += len(content) - 4 * n_known
            if self.keeps_values:
                self.values.update(values)
            if self.keeps_codes:
                numbers[:] = [self._place(value) for value in values]
        elif encoding == RLE and self.kind == BOOLEAN:
            if int.from_bytes(content[:4], "little") != len(content) - 4:
                raise ValueError("bytes that are not values")
            read_runs(content[4:], 1, n_known, None)
            self.values |= {b"\0", b"\1"}
        elif encoding == STREAM_SPLIT and self._size():
            if len(content) != n_known * self._size():
                raise ValueError("bytes that are not values")
            rows = np.frombuffer(content, dtype=np.uint8).reshape(self._size(), n_known).T
            if self.keeps_values:
                self.values.update(row.tobytes() for row in np.ascontiguousarray(rows))
        else:
            raise UnaccountedError
        if self.keeps_codes:
            self._codes.append(numbers)
            if n_known < count:
                self._codes[-1] = np.full(count, -1, dtype=np.int32)
                self._codes[-1][present > 0] = numbers

    def _place(self, value: bytes) -> int:
        return len(self._dictionary) + self._places.setdefault(value, len(self._places))

    def _size(self) -> int:
        """Return the bytes of a value of fixed length, or 0."""
        return self.width if self.kind == FIXED else WIDTHS.get(self.kind, 0)

    def _plain(self, content: bytes, count: int) -> list[bytes]:
        """Return the values of a page without encoding; there must be nothing after the last one."""
        if self.kind == BOOLEAN:
            bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8), bitorder="little")
            if len(content) != (count + 7) // 8 or bits[count:].any():
                raise ValueError("bytes that are not values")
            return [b"\1" if bit else b"\0" for bit in set(bits[:count].tolist())]
        if size := self._size():
            if len(content) != count * size:
                raise ValueError("bytes that are not values")
            return [content[at : at + size] for at in range(0, len(content), size)]
        if self.kind != BYTE_ARRAY:
            raise UnaccountedError
        values, at, unpack = [], 0, struct.Struct("<I").unpack_from
        for _ in range(count):
            (length,) = unpack(content, at)
            at += 4 + length
            values.append(content[at - length : at])
        if at != len(content):
            raise ValueError("bytes that are not values")
        return values


def is_ambiguous(value: bytes) -> bool:
    """Return whether a float has the text of another one: NaN has many forms, and zero has two."""
    number = struct.unpack("<f" if len(value) == 4 else "<d", value)[0]
    return bool(number != number or (number == 0 and any(value)))
