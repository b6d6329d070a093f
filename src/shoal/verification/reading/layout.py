"""The verifier's own reading of the layout of a release: ranges in two columns, escaped cells, other decimal marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from shoal.verification.cells import SUPPRESSED
from shoal.verification.cells.marks import OtherMark
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Violation, plural

__all__ = ["Layout", "in_bounds", "in_spread", "layout_violations", "needs_quote", "spread_names"]

FORMULA_SIGNS = frozenset("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Layout:
    """How the columns of a file map to the columns of a table.

    Cells that are written differently stay different, so that k is counted on what a reader of the file sees.

    Args:
        bounds: The columns that are written as NAME_min and NAME_max.
        safe: Whether a quote precedes every cell or name that a spreadsheet would take for a formula.
        typed: Whether bounds are typed, as in a frame: two empty ones then say nothing, as a suppressed cell does.
        mark: The decimal mark of the file, if it is not that of the original.

        spread: The columns that are followed by NAME_sd or NAME_share.

    Attributes:
        pairs: By column that is written as two, the distinct pairs of bounds, each with its number of rows.
        spread: By column that is followed by its spread, the name and the cells of that one.
    """

    def __init__(
        self,
        bounds: Iterable[str] = (),
        safe: bool = False,
        *,
        typed: bool = False,
        mark: OtherMark | None = None,
        spread: Iterable[str] = (),
    ) -> None:
        self._spread = frozenset(spread)
        self.spread: dict[str, tuple[str, CodedColumn]] = {}
        self._typed = typed
        self._mark = mark
        self._n_marked: Counter[str] = Counter()  # by column, the cells with a mark that is not that of the file
        self._bounds = frozenset(bounds)
        self._safe = safe
        self._n_risky = 0  # cells and names that lack the quote they need
        self._n_quoted = 0  # cells and names with a quote that no release puts there
        self.pairs: dict[str, list[tuple[str, str, int]]] = {}

    def table(self, written: CodedTable) -> CodedTable:
        """Return the table that a file represents: without escaping quotes, two bounds as one range, with its marks.

        A column that is not laid out correctly keeps its own name.
        """
        if not self._bounds and not self._safe and self._mark is None and not self._spread:
            return written
        header, columns = written.names, written.columns
        if self._safe:
            header = self._bare(header, [1] * len(header))
            columns = [replace(column, texts=self._bare(column.texts, column.counts().tolist())) for column in columns]
        columns = [self._restored(name, column) for name, column in zip(header, columns, strict=True)]
        names: list[str] = []
        merged: list[CodedColumn] = []
        position = 0
        while position < len(header):
            if names and names[-1] in self._spread and header[position] in spread_names(names[-1]):
                self.spread.setdefault(names[-1], (header[position], columns[position]))
                position += 1
                continue
            name = header[position].removesuffix("_min")
            is_pair = name in self._bounds and header[position : position + 2] == [f"{name}_min", f"{name}_max"]
            names.append(name if is_pair else header[position])
            merged.append(self._ranges(name, *columns[position : position + 2]) if is_pair else columns[position])
            position += 2 if is_pair else 1
        return replace(written, names=names, columns=merged)

    def violations(self) -> list[Violation]:
        """Return what is wrong with the quotes, after `table`."""
        return layout_violations(self._n_risky, self._n_quoted, self._n_marked, "cell")

    def _bare(self, cells: Sequence[str], counts: Sequence[int]) -> list[str]:
        """Remove the escaping quotes of different cells; count the cells that are not escaped as they should be."""
        texts = []
        for cell, times in zip(cells, counts, strict=True):
            is_escaped = cell[:1] == "'" and needs_quote(cell[1:])
            if not is_escaped and needs_quote(cell):
                self._n_quoted += times if cell[0] == "'" else 0
                self._n_risky += times if cell[0] != "'" else 0
            texts.append(cell[1:] if is_escaped else cell)
        return _different(texts)

    def _restored(self, name: str, column: CodedColumn) -> CodedColumn:
        """Return a column of the file with the marks of the original."""
        if self._mark is None:
            return column
        bare = {name.removesuffix(suffix) for suffix in ("_min", "_max") if name.endswith(suffix)} & self._bounds
        name = next(iter(bare), name)
        texts, wrong = self._mark.restored(name, column.texts)
        if wrong:
            self._n_marked[name] += int(column.counts()[wrong].sum())
        return replace(column, texts=_different(texts))

    def _ranges(self, name: str, low: CodedColumn, high: CodedColumn) -> CodedColumn:
        """Merge two columns of bounds into one of ranges; equal bounds are a single value."""
        card = max(len(high.texts), 1)
        keys, codes = np.unique(low.codes.astype(np.int64) * card + high.codes, return_inverse=True)
        counts = np.bincount(codes, low.times, len(keys)).astype(np.int64)
        bounds = [(low.texts[key // card], high.texts[key % card]) for key in keys.tolist()]
        self.pairs[name] = [(*pair, times) for pair, times in zip(bounds, counts.tolist(), strict=True)]
        if self._typed:
            bounds = [(SUPPRESSED, SUPPRESSED) if pair == ("", "") else pair for pair in bounds]
        texts = [least if least == greatest else f"[{least}, {greatest}]" for least, greatest in bounds]
        return replace(low, texts=_different(texts), codes=codes.astype(np.int32))


def layout_violations(n_risky: int, n_quoted: int, n_marked: Mapping[str, int], unit: str) -> list[Violation]:
    """Return what is wrong with quotes and decimal marks.

    Args:
        n_risky: The cells and names that lack the quote they need.
        n_quoted: Those with a quote that no release puts there.
        n_marked: By column, the cells with a mark that is not that of the file.
        unit: What is counted: "cell", or "distinct cell".
    """
    texts = []
    if n_risky:
        texts.append(f"a spreadsheet would run {plural(n_risky, unit)} as a formula")
    if n_quoted:
        texts.append(f"a quote precedes {plural(n_quoted, unit)} that needs none")
    return [Violation("file", text) for text in texts] + [
        Violation(f"column {name!r}", f"{plural(n, unit)} without the decimal mark of the release")
        for name, n in n_marked.items()
    ]


def spread_names(name: str) -> tuple[str, str]:
    """Return what the column with the spread of another may be called: for numbers and dates, and for categories."""
    return f"{name}_sd", f"{name}_share"


def in_spread(names: Iterable[str], header: Sequence[str]) -> list[str]:
    """Return the columns that are followed by their spread."""
    followed = {(name, after) for name, after in pairwise(header) if after in spread_names(name)}
    return [name for name in names if any((name, after) in followed for after in spread_names(name))]


def in_bounds(names: Iterable[str], header: Sequence[str]) -> list[str]:
    """Return the columns that a header lacks, but has as NAME_min and, right after it, NAME_max."""
    pairs = set(pairwise(header))
    return [name for name in names if name not in header and (f"{name}_min", f"{name}_max") in pairs]


def needs_quote(text: str) -> bool:
    """Return whether a quote must precede a cell: it is a formula, or looks like one that is escaped already."""
    sign = text.lstrip("'")[:1]
    return sign != "" and sign in FORMULA_SIGNS and not NUMBER.fullmatch(text)


def _different(texts: Sequence[str]) -> list[str]:
    """Return texts of which no two are equal; a repeated one is put in brackets."""
    if len(set(texts)) == len(texts):
        return list(texts)
    used = set(texts)
    seen: set[str] = set()
    different = []
    for text in texts:
        if text in seen:
            while text in used:
                text = f"[{text}]"
            used.add(text)
        seen.add(text)
        different.append(text)
    return different
