"""Numbers that a file writes with another decimal mark than the original: the verifier's own way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from shoal.schema import DURATION, Column, Kind, Role
from shoal.verification.cells import SUPPRESSED, normalise
from shoal.verification.cells.forms import read_number

__all__ = ["OtherMark", "are_numbers", "as_released"]


def as_released(column: Column, marks: tuple[str, str]) -> Column:
    """Return a column as the decimal mark of a release changes it: only a quasi-identifier has marks of its own.

    Args:
        column: The column, with its marks in the original.
        marks: The decimal and the thousands mark of the table.
    """
    if column.role is Role.QI:
        return column
    return replace(column, decimal=marks[0], thousands=marks[1], unit="")


def are_numbers(column: Column, texts: Iterable[str]) -> bool:
    """Return whether all texts of a column, none of them missing, are numbers."""
    return all(read_number(normalise(text), *column.marks) is not None for text in texts)


class OtherMark:
    """The decimal mark of a file whose original has another one.

    Args:
        decimal: The mark of the file.
        column: Returns a column by its name, with the marks of the original; None if its cells are not changed.
        missing: The texts that mean a missing value.
        strict: Whether every cell of these columns must be such a number; otherwise a column with another cell is
            taken as it is.
    """

    def __init__(
        self, decimal: str, column: Callable[[str], Column | None], missing: Iterable[str], *, strict: bool = False
    ) -> None:
        self.strict = strict
        self._decimal = decimal
        self._column = column
        self._unread = {SUPPRESSED, "", *map(normalise, missing)}

    def restored(self, name: str, cells: Sequence[str]) -> list[str] | None:
        """Return cells with the marks of the original; None if one of them is not a number or a range of the file."""
        column = self._column(name)
        is_same = column is None or column.kind not in (None, Kind.NUMERIC) or column.decimal == self._decimal
        if column is None or is_same or column.unit == DURATION:
            return list(cells)
        texts = []
        for cell in cells:
            text = cell if normalise(cell) in self._unread else self._cell(cell, column)
            if text is None:
                return None
            texts.append(text)
        return texts

    def _cell(self, cell: str, column: Column) -> str | None:
        if not cell.startswith("[") or cell[-1] not in "])":
            return self._number(cell, column)
        low, gap, high = cell[1:-1].partition(", ")
        ends = [self._number(end, column) for end in (low, high)] if gap else [None]
        return None if None in ends else f"[{ends[0]}, {ends[1]}{cell[-1]}"

    def _number(self, text: str, column: Column) -> str | None:
        """Return a number with the marks of the original."""
        # The mark of the file may be the thousands mark of the original: then the two change places.
        swapped = column.thousands == self._decimal
        thousands = column.decimal if swapped else column.thousands
        if read_number(normalise(text), self._decimal, thousands, column.unit) is None:
            return None
        before, hole, after = column.unit.partition("#")
        before, after = (before.strip(), after.strip()) if hole else ("", column.unit.strip())
        first = text.find(before) + len(before) if before and before in text else 0
        body = text[first:]
        rest = ""
        if after and body.rstrip().endswith(after):
            cut = len(body.rstrip()) - len(after)
            body, rest = body[:cut], body[cut:]
        letters = []
        for letter in body:
            if letter == self._decimal:
                letter = column.decimal
            elif swapped and letter == column.decimal:
                letter = column.thousands
            letters.append(letter)
        return text[:first] + "".join(letters) + rest
