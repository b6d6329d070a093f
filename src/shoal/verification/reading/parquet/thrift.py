"""Thrift's compact encoding, in which Parquet stores its footer and the headers of its pages."""

from __future__ import annotations

from typing import Any

__all__ = ["BINARY", "BOOL", "BYTE", "INT", "LONG", "SHORT", "Form", "Struct", "read_struct", "write_struct"]

Struct = dict[int, Any]  # the fields of a struct by their number
Form = dict[int, Any]  # of a struct: the type of each field; a dict for a struct, a list with one type for a list
DEEPEST = 12
MOST_ITEMS = 1_000_000
TRUE, FALSE, BYTE, SHORT, INT, LONG, DOUBLE, BINARY, LIST, SET = range(1, 11)
STRUCT, BOOL = 12, TRUE  # 11 is a map, which Parquet does not use
INTEGERS = (SHORT, INT, LONG)


def read_struct(raw: bytes, start: int = 0) -> tuple[Struct, int]:
    """Return the struct that begins at a position, and the position after it.

    Raises:
        ValueError: The bytes are not a struct, or it is nested deeper or longer than any in Parquet.
        IndexError: The bytes end before the struct does.
    """
    reader = _Reader(raw, start)
    return reader.struct(0), reader.at


def write_struct(fields: Struct, form: Form) -> bytes:
    """Return the bytes of a struct: there is only one way to write it.

    Raises:
        KeyError: A field is not in the form, on any level.
    """
    raw, last = bytearray(), 0
    for number in sorted(fields):
        kind, content = form[number], fields[number]
        mark = (TRUE if content else FALSE) if kind == BOOL else _mark(kind)
        step = number - last
        raw += bytes([step << 4 | mark]) if 0 < step < 16 else bytes([mark]) + _written_zigzag(number)
        raw += b"" if kind == BOOL else _written(content, kind)
        last = number
    return bytes(raw) + b"\0"


def _mark(kind: Any) -> int:
    return STRUCT if isinstance(kind, dict) else LIST if isinstance(kind, list) else int(kind)


def _written(content: Any, kind: Any) -> bytes:
    """Return the bytes of a value; a value of another type than the form says raises a TypeError or an error alike."""
    if isinstance(kind, dict):
        return write_struct(content, kind)
    if isinstance(kind, list):
        size, mark = len(content), _mark(kind[0])
        head = bytes([size << 4 | mark]) if size < 15 else bytes([0xF0 | mark]) + _written_varint(size)
        return head + b"".join(_written(item, kind[0]) for item in content)
    if kind == BINARY:
        return _written_varint(len(content)) + bytes(content)
    return bytes([content]) if kind == BYTE else _written_zigzag(content)


def _written_zigzag(number: int) -> bytes:
    return _written_varint(number << 1 if number >= 0 else (-number << 1) - 1)


def _written_varint(number: int) -> bytes:
    raw = bytearray()
    while number > 127:
        raw.append(number & 127 | 128)
        number >>= 7
    return bytes([*raw, number])


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
