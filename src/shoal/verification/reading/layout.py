"""The verifier's own reading of the layout of a release: ranges in two columns, cells escaped for spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from shoal.verification.reading.coded import CodedColumn, CodedTable

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
        self.risky = 0  # cells and names that lack the quote they need

    def table(self, written: CodedTable) -> CodedTable:
        """Return the table that a file represents: without escaping quotes, two bounds as one range.

        A column that is not laid out correctly keeps its own name.
        """
        if not self._bounds and not self._safe:
            return written
        header = [self._bare(name) for name in written.names]
        columns = [self._bare_column(column) for column in written.columns] if self._safe else written.columns
        names: list[str] = []
        merged: list[CodedColumn] = []
        position = 0
        while position < len(header):
            name = header[position].removesuffix("_min")
            is_pair = name in self._bounds and header[position : position + 2] == [f"{name}_min", f"{name}_max"]
            names.append(name if is_pair else header[position])
            merged.append(_ranges(columns[position], columns[position + 1]) if is_pair else columns[position])
            position += 2 if is_pair else 1
        return replace(written, names=names, columns=merged)

    def _bare_column(self, column: CodedColumn) -> CodedColumn:
        counts = column.counts().tolist()
        return CodedColumn(
            [self._bare(text, times) for text, times in zip(column.texts, counts, strict=True)], column.codes
        )

    def _bare(self, cell: str, times: int = 1) -> str:
        """Remove the escaping quote; count the cells that lack one."""
        if not self._safe:
            return cell
        if cell[:1] in FORMULA_SIGNS and cell and not NUMBER.fullmatch(cell):
            self.risky += times
        return cell[1:] if cell[:1] == "'" and cell.lstrip("'")[:1] in FORMULA_SIGNS else cell


def _ranges(low: CodedColumn, high: CodedColumn) -> CodedColumn:
    """Merge two columns of bounds into one of ranges; equal bounds are a single value."""
    card = max(len(high.texts), 1)
    pairs, codes = np.unique(low.codes.astype(np.int64) * card + high.codes, return_inverse=True)
    bounds = [(low.texts[pair // card], high.texts[pair % card]) for pair in pairs.tolist()]
    texts = [least if least == greatest else f"[{least}, {greatest}]" for least, greatest in bounds]
    return CodedColumn(texts, codes.astype(np.int32))
