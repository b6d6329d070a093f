"""Check the sizes that a Parquet file claims before a reader reserves memory for them.

A reader trusts the footer for the size of the file and the header of every page for the size of the page. Either can
claim any size in a few bytes. We read both, in Thrift's compact protocol, and compare them with each other and with the
size of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, NamedTuple

__all__ = ["DamagedParquetError", "ParquetClaims", "check_pages"]

MAGIC = b"PAR1"
MOST_FOOTER = 1 << 26
HEADER_BYTES = 1 << 9
MOST_HEADER = 1 << 24  # a page header may contain the least and the greatest value of the page
DEEPEST = 20
DATA_PAGES = (0, 3)
# Types of Thrift's compact protocol.
STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12

Struct = dict[int, Any]


class DamagedParquetError(ValueError):
    """ParquetClaims of a Parquet file that contradict each other or its size."""


class ParquetClaims(NamedTuple):
    """What a Parquet file claims, after its pages were compared with it.

    Attributes:
        expanded: The size of all pages after decompression, in bytes.
        cells: The number of cells.
        columns: The number of columns.
    """

    expanded: int
    cells: int
    columns: int


def check_pages(path: Path) -> ParquetClaims:
    """Return the sizes that a Parquet file claims.

    Raises:
        DamagedParquetError: If the footer or a page header is damaged, or claims more than the others.
    """
    size = path.stat().st_size
    expanded = cells = columns = 0
    with open(path, "rb", buffering=0) as file:
        try:
            for group in _footer(file, size).get(4, []):
                n_rows = _count(group, 3)
                columns = max(columns, len(group.get(1, [])))
                for chunk in group.get(1, []):
                    column: Struct = chunk[3]
                    if _count(column, 5) < n_rows:
                        raise DamagedParquetError
                    _check_chunk(file, size, column)
                    expanded += _count(column, 6)
                    cells += _count(column, 5)
        except (IndexError, KeyError, TypeError, AttributeError):
            raise DamagedParquetError from None
    return ParquetClaims(expanded, cells, columns)


def _footer(file: IO[bytes], size: int) -> Struct:
    """Return the metadata of the file."""
    file.seek(max(0, size - 8))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or length > min(size - 12, MOST_FOOTER):
        raise DamagedParquetError
    file.seek(size - 8 - length)
    return _Thrift(file.read(length)).struct()


def _check_chunk(file: IO[bytes], size: int, column: Struct) -> None:
    """Compare the pages of a column with what the footer says about it."""
    starts = [column[key] for key in (9, 11) if column.get(key, 0) > 0]  # the dictionary, if any, comes first
    if not starts:
        raise DamagedParquetError
    at, end = min(starts), min(starts) + _count(column, 7)
    n_values, n_bytes = _count(column, 5), _count(column, 6)
    if at < len(MAGIC) or end > size:
        raise DamagedParquetError
    while at < end and n_values > 0:
        header, length = _page_header(file, at, min(end - at, MOST_HEADER))
        n_bytes -= _count(header, 2)
        if header[1] in DATA_PAGES:
            n_values -= _count(header[5] if header[1] == 0 else header[8], 1)
        else:
            _count(header.get(7, {1: 0}), 1)
        at += length + _count(header, 3)
        if n_bytes < 0 or n_values < 0 or at > end:
            raise DamagedParquetError
    if n_values:
        raise DamagedParquetError


def _page_header(file: IO[bytes], at: int, most: int) -> tuple[Struct, int]:
    """Return the header of the page at a position, and its length."""
    length = min(HEADER_BYTES, most)
    while True:
        file.seek(at)
        reader = _Thrift(file.read(length))
        try:
            return reader.struct(), reader.at
        except IndexError:
            if length >= most:
                raise
            length = min(8 * length, most)


def _count(struct: Struct, key: int) -> int:
    """Return a number that is not negative."""
    number = struct[key]
    if not isinstance(number, int) or number < 0:
        raise DamagedParquetError
    return number


class _Thrift:
    """A reader of Thrift's compact protocol. An IndexError means that the bytes end too early."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.at = 0

    def struct(self, depth: int = 0) -> Struct:
        """Return the fields of a structure by their ids."""
        fields: Struct = {}
        key = 0
        while (head := self._byte()) != STOP:
            key = key + (head >> 4) if head >> 4 else self._signed()
            fields[key] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int, *, in_list: bool = False) -> Any:
        if depth > DEEPEST:
            raise DamagedParquetError
        if kind in (TRUE, FALSE):
            return self._byte() == TRUE if in_list else kind == TRUE
        if kind < DOUBLE:
            return self._byte() if kind == BYTE else self._signed()
        if kind == DOUBLE:
            return self._take(8)
        if kind == BINARY:
            return self._take(self._unsigned())
        if kind in (LIST, SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            self._check_room(count)
            return [self._value(head & 15, depth + 1, in_list=True) for _ in range(count)]
        if kind == MAP:
            count = self._unsigned()
            self._check_room(count)
            kinds = self._byte() if count else 0
            for _ in range(count):
                self._value(kinds >> 4, depth + 1, in_list=True)
                self._value(kinds & 15, depth + 1, in_list=True)
            return None
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise DamagedParquetError

    def _check_room(self, count: int) -> None:
        """Raise an IndexError if fewer bytes are left than elements; an element takes at least one."""
        if count > len(self._raw) - self.at:
            raise IndexError

    def _take(self, length: int) -> bytes:
        if length > len(self._raw) - self.at:
            raise IndexError
        self.at += length
        return self._raw[self.at - length : self.at]

    def _byte(self) -> int:
        self.at += 1
        return self._raw[self.at - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise DamagedParquetError

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
