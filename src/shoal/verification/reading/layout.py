"""The verifier's own reading of the layout of a release: ranges in two columns, cells escaped for spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["Layout"]

FORMULA_SIGNS = frozenset("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Layout:
    """How the columns of a file map to the columns of a table.

    Args:
        bounds: The columns that are written as NAME_min and NAME_max.
        safe: Whether a quote precedes every cell or name that a spreadsheet would take for a formula.
    """

    def __init__(self, bounds: Iterable[str] = (), safe: bool = False) -> None:
        self._bounds = frozenset(bounds)
        self._safe = safe
        self._steps: list[tuple[int, int]] = []  # the position of a column in the file, and its width in columns
        self.risky = 0

    @property
    def is_plain(self) -> bool:
        """Whether the columns of the file are those of the table."""
        return not self._bounds and not self._safe

    def names(self, header: Sequence[str]) -> list[str]:
        """Return the names of the columns of the table; a column that is not laid out correctly keeps its own name."""
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
        """Return the cells of the table: two bounds become a range, or one value if they are equal."""
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
        """Remove the escaping quote; count the cells that lack one."""
        if not self._safe:
            return cell
        if cell[:1] in FORMULA_SIGNS and cell and not NUMBER.fullmatch(cell):
            self.risky += 1
        return cell[1:] if cell[:1] == "'" and cell[1:2] in FORMULA_SIGNS and len(cell) > 1 else cell
