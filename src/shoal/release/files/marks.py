"""The decimal mark of a released file: numbers with another mark than that of the table, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from shoal.encoding.partition import SUPPRESSION
from shoal.errors import UsageError, setting
from shoal.schema import DURATION, INPUT, Column, Kind, Role, Schema, split_unit
from shoal.tables.table import Factor, Table
from shoal.tables.values import Marks, normalise

__all__ = ["Respelling", "numbers_of", "respellings", "spread_mark", "with_decimal", "with_marks"]

OTHER, LOST, READ = "other", "lost", "read"  # cells that are not numbers, or cannot be read back, or can be


@dataclass(frozen=True)
class Respelling:
    """How the numbers of a column get other marks.

    Attributes:
        before: The column, with the marks that its cells have.
        after: The same column with the marks that they get.
        missing: The texts that mean a missing value.
    """

    before: Column
    after: Column
    missing: frozenset[str]

    @property
    def back(self) -> Respelling:
        """The way back."""
        return Respelling(self.after, self.before, self.missing)

    def texts(self, texts: Sequence[str]) -> list[str] | None:
        """Return numbers and ranges with other marks; None if a text is neither, nor suppressed, nor missing."""
        unread = {SUPPRESSION, "", *map(normalise, self.missing)}
        cells = []
        for text in texts:
            if normalise(text) in unread:
                cells.append(text)
                continue
            ends = self._ends(text)
            if ends is None:
                return None
            shown = [self._number(end) for end in ends]
            cells.append(shown[0] if len(shown) == 1 else f"[{shown[0]}, {shown[1]}{text[-1]}")
        return cells

    def _ends(self, text: str) -> list[str] | None:
        """Return the ends of a range, or a single number; None if the text is neither."""
        is_range = text[:1] == "[" and text[-1:] in ("]", ")")
        ends = text[1:-1].split(", ") if is_range else [text]
        marks = Marks(*self.before.marks)
        are_read = len(ends) == 1 + is_range and all(marks.plain(normalise(end)) is not None for end in ends)
        return ends if are_read else None

    def _number(self, number: str) -> str:
        """Change the marks of a number, and nothing in its unit."""
        before, after = self.before, self.after
        signs: dict[str, Any] = {before.decimal: after.decimal}
        if before.thousands:
            signs[before.thousands] = after.thousands
        prefix, suffix = (part.strip() for part in split_unit(before.unit)) if before.unit else ("", "")
        start = number.find(prefix) + len(prefix) if prefix and prefix in number else 0
        end = len(number.rstrip()) - len(suffix) if suffix and number.rstrip().endswith(suffix) else len(number)
        return number[:start] + number[start:end].translate(str.maketrans(signs)) + number[end:]


def with_decimal(column: Column, decimal: str) -> Column:
    """Return a column with another decimal mark; a thousands mark that is the same becomes the old decimal mark.

    >>> with_decimal(Column("cost", Role.QI, decimal=".", thousands=","), ",").marks
    (',', '.', '')
    """
    thousands = column.decimal if column.thousands == decimal else column.thousands
    return replace(column, decimal=decimal, thousands=thousands)


def with_marks(spread: Mapping[str, Factor], schema: Schema, decimal: str) -> dict[str, Factor]:
    """Return columns of spread with the decimal mark of the file: that of the release, or of the column they follow.

    Args:
        spread: The columns, with points, by the column that each of them follows.
        schema: The columns of the table.
        decimal: The decimal mark of the file, or "input".
    """
    own = {column.name: spread_mark(column, schema.marks[0], decimal) for column in schema.qi}
    return {
        name: factor
        if own[name] == "."
        else Factor(factor.ranks, factor.texts.str.replace(".", own[name], literal=True))
        for name, factor in spread.items()
    }


def spread_mark(column: Column, table: str, decimal: str) -> str:
    """Return the decimal mark of the spread of a column; table: that of the table, decimal: that of the file."""
    if decimal != INPUT:
        return decimal
    return column.decimal if column.kind is Kind.NUMERIC else table


def respellings(schema: Schema, decimal: str) -> dict[str, Respelling]:
    """Return how the columns that may hold numbers with another decimal mark get this one.

    A quasi-identifier has marks and a unit of its own. The other columns have the marks of the table; those that are
    declared as categories or dates are left out, and so are those whose rare values are recoded to a label.
    """
    decimal_before, thousands = schema.marks
    columns = [
        column if column.role is Role.QI else replace(column, decimal=decimal_before, thousands=thousands, unit="")
        for column in schema.released
    ]
    missing = frozenset(schema.missing)
    return {
        column.name: Respelling(column, with_decimal(column, decimal), missing)
        for column in columns
        if column.kind in (None, Kind.NUMERIC) and column.decimal != decimal and column.unit != DURATION
        if not any(coding.form == "rare" for coding in column.codings)
    }


def numbers_of(
    original: Table,
    released: Table,
    schema: Schema,
    decimal: str,
    judge: Callable[[str, Callable[[list[str]], str]], set[str]] | None = None,
) -> dict[str, Respelling]:
    """Return the columns whose numbers get another decimal mark: those with nothing but numbers in the original.

    Args:
        original: The original.
        released: The released cells.
        schema: The columns, with the marks of the original.
        decimal: The decimal mark of the file.
        judge: Returns what is said of the cells of a column that the tables lack, and that is released as it is.

    Raises:
        UsageError: If a column cannot be read back: it has numbers and other cells, such as labels of a hierarchy.
    """
    numbers = {}
    for name, there in respellings(schema, decimal).items():
        if judge is not None and name not in original.names:
            found = judge(name, partial(_respelled, there=there))
            if OTHER in found:
                continue
            if LOST in found:
                raise _unreadable(name, decimal)
            numbers[name] = there
            continue
        if there.texts(original.factor(name).texts.to_list()) is None:
            continue
        texts = released.factor(name).texts.to_list()
        cells = there.texts(texts)
        if cells is not None and there.back.texts(cells) == texts:
            numbers[name] = there
        elif cells is not None or any(there.before.decimal in text and there.texts([text]) for text in texts):
            raise _unreadable(name, decimal)
    return numbers


def _respelled(texts: list[str], there: Respelling) -> str:
    """Say whether all cells are numbers that can be read back."""
    cells = there.texts(texts)
    if cells is None:
        return OTHER
    return READ if there.back.texts(cells) == texts else LOST


def _unreadable(name: str, decimal: str) -> UsageError:
    return UsageError(
        f"column {name!r}: {setting('output_decimal', decimal)} changes numbers and ranges, but the column has other "
        "cells too, such as labels of a hierarchy, and could not be read back. Leave out "
        f"{setting('output_decimal')}, or use labels that are ranges."
    )
