"""The groups of a coded table, the order of its rows, and its rows beside those of the original."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.verification.cells import Cells
from shoal.verification.matching.packing import codes_by_text, pack
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Group, Violation, plural

__all__ = ["Groups", "Pairs", "order_violations"]

UNSORTED = "the rows are not sorted by their cells"
DENSE_KEYS = 2**20  # counting this many keys is quicker than sorting rows


class Groups:
    """The groups of a release, in the order of their first rows.

    Args:
        release: The released table.
        names: The quasi-identifiers.
        spread: Further columns that tell groups apart: the spread of centres.

    Attributes:
        of_row: The number of the group of each coded row.
        groups: The released quasi-identifier cells of each group.
        rows: The rows of each group.
    """

    def __init__(self, release: CodedTable, names: Sequence[str], spread: Iterable[CodedColumn] = ()) -> None:
        columns = [*(release.column(name) for name in names), *spread]
        key = pack([(codes_by_text(column), len(column.texts)) for column in columns])
        _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
        counts = np.bincount(of_row, release.times, len(first)).astype(np.int64)
        order = np.argsort(first)
        position = np.empty(len(order), dtype=np.int64)
        position[order] = np.arange(len(order))
        self.of_row: NDArray[np.int64] = position[of_row]
        first = first[order]
        self.groups: list[Group] = list(
            zip(*([c.texts[code] for code in c.codes[first].tolist()] for c in columns), strict=True)
        )
        self.rows: dict[Group, int] = dict(zip(self.groups, counts[order].tolist(), strict=True))
        self._first_rows = dict(zip(self.groups, release.row_numbers()[first].tolist(), strict=True))

    def first_row(self, group: Group) -> int:
        """Return the number of the first row of a group."""
        return int(self._first_rows[group])

    def with_cells(
        self, column: CodedColumn, rows: NDArray[np.int64] | None = None
    ) -> Iterable[tuple[Group, str, int]]:
        """Yield each group with each cell that its rows have in a column, and the number of these rows.

        Args:
            column: The column.
            rows: The rows of the release that the column has cells for; all of them by default.
        """
        of_row = self.of_row if rows is None else self.of_row[rows]
        card = max(len(column.texts), 1)
        pairs, places = np.unique(of_row * card + column.codes, return_inverse=True)
        counts = np.bincount(places, column.times, len(pairs)).astype(np.int64)
        for pair, times in zip(pairs.tolist(), counts.tolist(), strict=True):
            yield self.groups[pair // card], column.texts[pair % card], times


def order_violations(written: CodedTable) -> list[Violation]:
    """Return a violation if the rows are not sorted by their cells, the first column first."""
    if written.times is not None:
        return [Violation("order", UNSORTED, written.unsorted)] if written.unsorted else []
    equal = np.arange(max(len(written.row_numbers()) - 1, 0))  # neighbours that are equal so far
    unsorted: list[int] = []
    for column in written.columns:
        steps = np.diff(column.ranks())[equal]
        unsorted += equal[steps < 0][:1].tolist()
        equal = equal[steps == 0]
    if not unsorted:
        return []
    row = int(written.row_numbers()[min(unsorted) + 1])
    return [Violation("order", UNSORTED, row)]


class Pairs:
    """Released rows beside the source rows that they were made from.

    Rows of the file that have no source row are left out; they are violations of their own.

    Args:
        release: The released table.
        source: The source.
        witness: The source row of each released row.

    Attributes:
        rows: The coded rows of the release that have a source row.
        numbers: Their numbers in the file, from 1.
    """

    def __init__(self, release: CodedTable, source: CodedTable, witness: NDArray[np.int64]) -> None:
        self._release, self.source = release, source
        numbers = release.row_numbers()
        rows = np.flatnonzero(numbers <= len(witness))
        sources = witness[numbers[rows] - 1]
        exists = (sources >= 0) & (sources < source.n_rows)
        self.rows, self._sources = rows[exists], sources[exists]
        self.numbers = numbers[self.rows]

    def source_column(self, name: str) -> tuple[CodedColumn, NDArray[np.int64]]:
        """Return a column of the source in the order of the release, and the rows of the release beside it."""
        return self.source.column(name).at(self._sources), self.rows

    def violations(self, name: str, cells: Cells | None) -> list[Violation]:
        """Compare a released column with its source.

        Args:
            name: The column.
            cells: How to read a quasi-identifier, whose cells must cover their source; None for a column whose cells
                must equal it.
        """
        released, (original, _) = self._release.column(name).at(self.rows), self.source_column(name)
        card = max(len(released.texts), 1)
        pair_of_row = original.codes.astype(np.int64) * card + released.codes

        def is_true(before: str, after: str) -> bool:
            return before == after or (cells is not None and cells.covers(before, after))

        pairs = _distinct(pair_of_row, len(original.texts) * card).tolist()
        false_pairs = [pair for pair in pairs if not is_true(original.texts[pair // card], released.texts[pair % card])]
        if not false_pairs:
            return []
        rows = self.numbers[np.isin(pair_of_row, false_pairs)]
        fault = "differ from their source" if cells is None else "do not cover their source"
        text = f"the cells of {plural(len(rows), 'row')} {fault}"
        return [Violation(f"column {name!r}", text, int(rows[0]))]


def _distinct(keys: NDArray[np.int64], span: int) -> NDArray[np.int64]:
    """Return the distinct keys, all below a span, in ascending order."""
    if span <= DENSE_KEYS + len(keys):
        return np.flatnonzero(np.bincount(keys))
    ordered = np.sort(keys)
    begins: NDArray[np.bool_] = np.diff(ordered, prepend=-1) != 0
    return ordered[begins]
