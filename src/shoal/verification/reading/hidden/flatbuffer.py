"""Flatbuffers, in which Arrow stores schemas and the heads of its messages; every byte that is read is remembered."""

from __future__ import annotations

import struct

__all__ = ["Flatbuffer", "Table"]

MOST_ITEMS = 100_000


class Flatbuffer:
    """The bytes of one flatbuffer, and which of them its tables refer to.

    Args:
        raw: The bytes.

    Raises:
        ValueError, IndexError, struct.error: From every method, if the bytes are damaged.
    """

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._seen = bytearray(len(raw))

    def root(self) -> Table:
        """Return the table that the flatbuffer begins with."""
        return Table(self, self.follow(0))

    def take(self, form: str, at: int) -> int:
        """Return the integer at a position."""
        size = struct.calcsize(form)
        if at < 0:
            raise IndexError
        value: int = struct.unpack_from("<" + form, self._raw, at)[0]
        self._seen[at : at + size] = b"\1" * size
        return value

    def follow(self, at: int) -> int:
        """Return the position that the offset at a position points to."""
        return at + self.take("I", at)

    def text(self, at: int) -> bytes:
        """Return the text at a position; a NUL follows it."""
        size = self.take("I", at)
        if size + 5 > len(self._raw) - at:
            raise IndexError
        self._seen[at : at + size + 5] = b"\1" * (size + 5)
        return self._raw[at + 4 : at + 4 + size]

    def hides_bytes(self) -> bool:
        """Return whether bytes that nothing refers to are other than padding."""
        return any(byte and not seen for byte, seen in zip(self._raw, self._seen, strict=True))


class Table:
    """A table of a flatbuffer: fields by their number."""

    def __init__(self, buffer: Flatbuffer, at: int) -> None:
        self._buffer, self._at = buffer, at
        vtable = at - buffer.take("i", at)
        size = buffer.take("H", vtable)
        buffer.take("H", vtable + 2)
        if size > 256:
            raise ValueError("a table has too many fields")
        self._fields = [buffer.take("H", vtable + place) for place in range(4, size, 2)]

    def __contains__(self, number: int) -> bool:
        return number < len(self._fields) and self._fields[number] != 0

    def place(self, number: int) -> int:
        """Return the position of a field that exists."""
        return self._at + self._fields[number]

    def scalar(self, number: int, form: str) -> int:
        """Return a number; 0 if the field is absent."""
        return self._buffer.take(form, self.place(number)) if number in self else 0

    def text(self, number: int) -> bytes:
        """Return a text; empty if the field is absent."""
        return self._buffer.text(self._buffer.follow(self.place(number))) if number in self else b""

    def table(self, number: int) -> Table:
        """Return the table that a field points to."""
        return Table(self._buffer, self._buffer.follow(self.place(number)))

    def tables(self, number: int) -> list[Table]:
        """Return the tables of a list; none if the field is absent."""
        return [Table(self._buffer, self._buffer.follow(at)) for at in self._items(number, 4)]

    def structs(self, number: int, form: str) -> list[tuple[int, ...]]:
        """Return the structs of a list as tuples; none if the field is absent.

        Args:
            number: The field.
            form: The format of each member, in the order of its bytes; an x is a byte of padding.
        """
        rows = []
        for start in self._items(number, sum(map(struct.calcsize, form))):
            row, at = [], start
            for kind in form:
                if kind != "x":
                    row.append(self._buffer.take(kind, at))
                at += struct.calcsize(kind)
            rows.append(tuple(row))
        return rows

    def _items(self, number: int, size: int) -> range:
        """Return the positions of the items of a list."""
        if number not in self:
            return range(0)
        at = self._buffer.follow(self.place(number))
        count = self._buffer.take("I", at)
        if count > MOST_ITEMS:
            raise ValueError("a list is too long")
        return range(at + 4, at + 4 + count * size, size)
