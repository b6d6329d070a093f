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
    """Return whether all texts of a column, none of them missing, are numbers; rare ones may be coded as a label."""
    is_labelled = any(coding.form == "rare" for coding in column.codings)
    return not is_labelled and all(read_number(normalise(text), *column.marks) is not None for text in texts)


class OtherMark:
    """The decimal mark of a file whose original has another one.

    Args:
        decimal: The mark of the file.
        column: Returns a column by its name, with the marks of the original; None if its cells are not changed.
        missing: The texts that mean a missing value.
        strict: Whether these columns are known to hold numbers, so that a number with another mark is wrong.
    """

    def __init__(
        self, decimal: str, column: Callable[[str], Column | None], missing: Iterable[str], *, strict: bool = True
    ) -> None:
        self._decimal = decimal
        self._column = column
        self._unread = {SUPPRESSED, "", *map(normalise, missing)}
        self._strict = strict

    def restored(self, name: str, cells: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return the cells of a column with the marks of the original, and the indices of those with a wrong mark.

        What is neither a number nor a range stays as it is.
        """
        column = self._column(name)
        is_same = column is None or column.kind not in (None, Kind.NUMERIC) or column.decimal == self._decimal
        if column is None or is_same or column.unit == DURATION:
            return list(cells), []
        # The mark of the file may be the thousands mark of the original: then the two change places.
        thousands = column.decimal if column.thousands == self._decimal else column.thousands
        there = replace(column, decimal=self._decimal, thousands=thousands)
        texts, wrong = list(cells), []
        for i, cell in enumerate(cells):
            if normalise(cell) in self._unread:
                continue
            if _is_read(cell, there):
                texts[i] = _with_marks(cell, there, column)
            elif self._strict and _is_read(cell, column):
                wrong.append(i)
        return texts, wrong


def _parts(cell: str) -> list[str]:
    """Return the ends of a range, or the cell."""
    return cell[1:-1].split(", ") if cell.startswith("[") and cell[-1] in "])" else [cell]


def _is_read(cell: str, column: Column) -> bool:
    parts = _parts(cell)
    return len(parts) == 1 + (parts[0] != cell) and are_numbers(column, parts)


def _with_marks(cell: str, column: Column, other: Column) -> str:
    """Return a number or a range with the marks of another column."""
    parts = [_number(part, column, other) for part in _parts(cell)]
    return parts[0] if len(parts) == 1 else f"[{parts[0]}, {parts[1]}{cell[-1]}"


def _number(text: str, column: Column, other: Column) -> str:
    """Change the marks between the unit before a number and the unit after it."""
    before, hole, after = column.unit.partition("#")
    before, after = (before.strip(), after.strip()) if hole else ("", column.unit.strip())
    first = text.find(before) + len(before) if before and before in text else 0
    last = len(text.rstrip()) - len(after) if after and text.rstrip().endswith(after) else len(text)
    letters = []
    for letter in text[first:last]:
        if letter == column.decimal:
            letters.append(other.decimal)
        else:
            letters.append(other.thousands if letter == column.thousands else letter)
    return text[:first] + "".join(letters) + text[last:]
