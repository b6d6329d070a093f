"""Thrift's compact encoding, in which Parquet stores its footer and the headers of its pages."""

from __future__ import annotations

from typing import Any

__all__ = ["Struct", "read_struct"]

Struct = dict[int, Any]  # the fields of a struct by their number
DEEPEST = 12
MOST_ITEMS = 1_000_000
TRUE, FALSE, BYTE, SHORT, INT, LONG, DOUBLE, BINARY, LIST, SET = range(1, 11)
STRUCT = 12  # 11 is a map, which Parquet does not use
INTEGERS = (SHORT, INT, LONG)


def read_struct(raw: bytes, start: int = 0) -> tuple[Struct, int]:
    """Return the struct that begins at a position, and the position after it.

    Raises:
        ValueError: The bytes are not a struct, or it is nested deeper or longer than any in Parquet.
        IndexError: The bytes end before the struct does.
    """
    reader = _Reader(raw, start)
    return reader.struct(0), reader.at


class _Reader:
    """Reads values one after the other."""

    def __init__(self, raw: bytes, start: int) -> None:
        self._raw, self.at = raw, start

    def struct(self, depth: int) -> Struct:
        """Read a struct; a field that occurs twice is not valid."""
        if depth > DEEPEST:
            raise ValueError("nested too deep")
        fields: Struct = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            if number in fields:
                raise ValueError("a field occurs twice")
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in INTEGERS:
            return self._zigzag()
        if kind == BYTE:
            return self._byte()
        if kind == DOUBLE:
            return self._bytes(8)
        if kind == BINARY:
            return self._bytes(self._varint())
        if kind in (LIST, SET):
            return self._list(depth)
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError("a type that Parquet does not use")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = self._varint() if head >> 4 == 15 else head >> 4
        if size > min(MOST_ITEMS, len(self._raw) - self.at):  # each item has at least one byte
            raise ValueError("a list is too long")
        kind = head & 15
        if kind in (TRUE, FALSE):
            return [self._byte() == TRUE for _ in range(size)]
        return [self._value(kind, depth) for _ in range(size)]

    def _byte(self) -> int:
        value = self._raw[self.at]
        self.at += 1
        return value

    def _bytes(self, size: int) -> bytes:
        if size > len(self._raw) - self.at:
            raise IndexError
        self.at += size
        return self._raw[self.at - size : self.at]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("an integer is too long")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
