"""The verifier's own view of how a release is laid out: ranges in two columns, cells made harmless for spreadsheets.

A part of the verifier: standard library only, nothing of the code that makes releases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["Layout"]

FORMULA_SIGNS = frozenset("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Layout:
    """How the columns of a file stand for the columns of a table.

    bounds: columns that are written as NAME_min and NAME_max. safe: a quote stands before every cell or name that a
    spreadsheet would take for a formula.
    """

    def __init__(self, bounds: Iterable[str] = (), safe: bool = False) -> None:
        self._bounds = frozenset(bounds)
        self._safe = safe
        self._steps: list[tuple[int, int]] = []  # where a column stands in the file, and in how many columns
        self.risky = 0

    @property
    def is_plain(self) -> bool:
        """Say whether the file's columns are the table's as they stand."""
        return not self._bounds and not self._safe

    def names(self, header: Sequence[str]) -> list[str]:
        """Return the names of the table's columns; what is not laid out as it should be keeps its own name."""
        header = [self._bare(name) for name in header]
        names, position = [], 0
        while position < len(header):
            name = header[position].removesuffix("_min")
            pair = name in self._bounds and list(header[position : position + 2]) == [f"{name}_min", f"{name}_max"]
            self._steps.append((position, 2 if pair else 1))
            names.append(name if pair else header[position])
            position += 2 if pair else 1
        return names

    def rows(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return rows of the table's cells: two bounds as one range, or as the one value that both are."""
        if self._safe:
            rows = [[self._bare(cell) for cell in row] for row in rows]
        if not self._bounds:
            return [list(row) for row in rows]
        return [[self._cell(row, position, width) for position, width in self._steps] for row in rows]

    @staticmethod
    def _cell(row: Sequence[str], position: int, width: int) -> str:
        if width == 1 or row[position] == row[position + 1]:
            return row[position]
        return f"[{row[position]}, {row[position + 1]}]"

    def _bare(self, cell: str) -> str:
        """Take the quote away; count the cells that would need one."""
        if not self._safe:
            return cell
        if cell[:1] in FORMULA_SIGNS and cell and not NUMBER.fullmatch(cell):
            self.risky += 1
        return cell[1:] if cell[:1] == "'" and cell[1:2] in FORMULA_SIGNS and len(cell) > 1 else cell
