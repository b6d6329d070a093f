"""Large files as their distinct rows: read block by block, each row once with the number of rows that are equal to it.

Memory depends on the distinct rows and cells of a file, not on its rows. A release has few distinct rows, because rows
share their quasi-identifiers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Dialect
from shoal.verification.gate_streamed.blocks import BlockColumn, CodedBlocks, RowOrder
from shoal.verification.matching.packing import pack
from shoal.verification.reading import files
from shoal.verification.reading.coded import (
    TEXTUAL,
    CodedColumn,
    CodedTable,
    checked_original,
    code_cells,
    read_original,
    read_written,
)
from shoal.verification.reading.names import numbered
from shoal.verification.reading.parquet.footer import read_footer
from shoal.verification.reading.tables import PathName
from shoal.verification.recount import name_violations, shape_violations
from shoal.verification.verdict import Violation

__all__ = ["DistinctPart", "ReadParts", "distinct_original", "distinct_part", "distinct_written", "join_parts"]

LEAST_BYTES = 1 << 22  # of text; smaller files are read as they are
SQUEEZED = 32  # times as much text is in a compressed file, at least
CELL_BYTES = 8  # of text in a cell of Parquet, which may store it many times smaller
LEAST_PENDING = 500_000  # rows that are counted at once

Codes = NDArray[np.int32]


def distinct_written(path: PathName, *, delimiter: str = ",") -> CodedTable:
    """Read a release as `read_written` does; a large file as its distinct rows.

    Raises:
        UnreadableError: The file cannot be split into rows and cells.
        FileError: The file cannot be opened.
    """
    table = _read(path, Dialect(delimiter), TEXTUAL)
    return read_written(path, delimiter=delimiter) if table is None else table


def distinct_original(path: PathName, dialect: Dialect, sheet: str | None = None) -> CodedTable:
    """Read an original as `read_original` does; a large file as its distinct rows.

    Raises:
        InputError: The file cannot be read as a table.
        FileError: The file cannot be opened.
    """
    table = _read(path, dialect, (*TEXTUAL, "zstd"))
    return read_original(path, dialect, sheet) if table is None else checked_original(path, table, dialect)


class PartOrder(NamedTuple):
    """Where the rows of one part stand.

    Attributes:
        rows: The number of its rows.
        unsorted: The first row that is not sorted; 0 if all are.
        first: Its first row.
        last: Its last row.
    """

    rows: int
    unsorted: int
    first: Sequence[str]
    last: Sequence[str]


class DistinctPart(NamedTuple):
    """One of several files of a table, as its distinct rows.

    Attributes:
        names: The names of the columns.
        columns: The cells of the distinct rows.
        times: How often each occurs.
        numbers: The number of its first occurrence in the part, from 1.
        order: Where the rows stand.
        violations: What is wrong with the file, if it is a release.
    """

    names: list[str]
    columns: list[list[str]]
    times: list[int]
    numbers: list[int]
    order: PartOrder
    violations: list[Violation]


@dataclass(frozen=True)
class ReadParts:
    """A table of several files that were read apart, each by `distinct_part`.

    Attributes:
        table: Its distinct rows.
        hashes: The hash of each file of a release, by name.
    """

    table: CodedTable
    hashes: Mapping[str, str] = field(default_factory=dict)


def distinct_part(path: PathName, dialect: Dialect, *, is_release: bool) -> DistinctPart:
    """Read one of several files of a table.

    Args:
        path: The file.
        dialect: How it is written.
        is_release: Whether it should be written as releases are.

    Raises:
        UnreadableError: The file cannot be read as a table.
        FileError: The file cannot be opened.
    """
    table = CodedBlocks(path, dialect, keep_blank=is_release, forgetful=False)
    rows, order, reader = _DistinctRows(), RowOrder(), table.reader
    for block in _joined(table.blocks()):
        rows.add(block)
        order.add(table.columns, block)
    violations: list[Violation] = []
    if is_release:
        violations = ([] if reader is None else reader.faults()) + name_violations(path, table.kind, table.names)
        if reader is not None:
            violations += shape_violations(reader.blank_lines(), reader.ragged_rows(), reader.width)
    elif reader is not None and reader.ragged_rows().times:
        raise reader.ragged_error()
    names = numbered(table.names) if dialect.numbered else table.names
    unsorted = max((violation.row or 0 for violation in order.violations()), default=0)
    place = PartOrder(rows.n_rows, unsorted, order.first, order.last)
    if not rows.n_rows:
        return DistinctPart(names, [[] for _ in names], [], [], place, violations)
    found = rows.table(names, table.columns, 0)
    assert found.times is not None
    cells = [column.cells() for column in found.columns]
    return DistinctPart(names, cells, found.times.tolist(), found.row_numbers().tolist(), place, violations)


def join_parts(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    times: Sequence[int],
    places: Sequence[tuple[int, int]],
    parts: Sequence[PartOrder],
    faults: Sequence[Violation] = (),
) -> CodedTable:
    """Return the distinct rows of several files as one table.

    Args:
        names: The names of the columns.
        columns: The cells of the distinct rows of all files.
        times: How often each occurs in all files.
        places: The first file in which it occurs, from 0, and its row there.
        parts: Where the rows of each file stand, in order.
        faults: What is wrong with the files.
    """
    starts = np.cumsum([0, *(part.rows for part in parts)])
    numbers = np.array([int(starts[part]) + row for part, row in places], dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    counts = np.array(times, dtype=np.int64)[order]
    coded = [replace(code_cells(cells).at(order), times=counts) for cells in columns]
    unsorted = 0
    for i, part in enumerate(parts):
        is_before = i > 0 and list(parts[i - 1].last) > list(part.first)
        row = 1 if is_before and part.rows else part.unsorted
        unsorted = unsorted or (int(starts[i]) + row if row else 0)
    return CodedTable(list(names), coded, int(counts.sum()), numbers[order], list(faults), unsorted=unsorted)


def _read(path: PathName, dialect: Dialect, textual: Sequence[str]) -> CodedTable | None:
    """Return a file as its distinct rows; None if it is small, has ragged rows, or cannot be read block by block."""
    kind = files.kind_of(path)
    if kind not in (*textual, "parquet") or _text_bytes(path, kind) < LEAST_BYTES:
        return None
    table = CodedBlocks(path, dialect, forgetful=False)
    blocks = table.blocks() if kind in textual else table.row_groups()
    if blocks is None:
        return None
    rows, order, reader = _DistinctRows(), RowOrder(), table.reader
    try:
        for block in _joined(blocks):
            rows.add(block)
            order.add(table.columns, block)
    except files.UnreadableError:
        if reader is not None:
            raise
        return None  # a later row group has another encoding; its reader decides
    if not rows.n_rows or (reader is not None and reader.ragged_rows().times):
        return None
    unsorted = max((violation.row or 0 for violation in order.violations()), default=0)
    found = rows.table(table.names, table.columns, unsorted)
    return found if reader is None else replace(found, faults=reader.faults(), blank_lines=reader.blank_lines())


def _text_bytes(path: PathName, kind: str) -> int:
    """Return about how many bytes of text a file has."""
    size = os.path.getsize(path)
    if kind != "parquet":
        return size if kind == "csv" else SQUEEZED * size
    try:
        with open(path, "rb") as file:
            footer, _, _ = read_footer(file)
        return max(size, int(footer[3]) * len(footer[2]) * CELL_BYTES)
    except (ValueError, IndexError, KeyError, TypeError):  # its reader says what is wrong
        return size


def _joined(blocks: Iterable[list[Codes]]) -> Iterator[list[Codes]]:
    """Join blocks of few rows."""
    parts: list[list[Codes]] = []
    n_rows = 0
    for block in blocks:
        if block and len(block[0]):
            parts.append(block)
            n_rows += len(block[0])
        if n_rows >= LEAST_PENDING:
            yield _stacked(parts)
            parts, n_rows = [], 0
    if parts:
        yield _stacked(parts)


def _stacked(parts: Sequence[Sequence[Codes]]) -> list[Codes]:
    return [np.concatenate(codes) for codes in zip(*parts, strict=True)]


class _DistinctRows:
    """The distinct rows of blocks, each with the number of its first row and how often it occurs."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._columns: list[Codes] = []
        self._numbers = self._times = np.zeros(0, dtype=np.int64)
        self._pending: list[list[Codes]] = []
        self._n_pending = 0

    def add(self, block: list[Codes]) -> None:
        """Count some rows."""
        self._pending.append(block)
        self._n_pending += len(block[0])
        self.n_rows += len(block[0])
        if self._n_pending >= max(LEAST_PENDING, len(self._numbers) // 4):
            self._merge()

    def table(self, names: list[str], columns: Sequence[BlockColumn], unsorted: int) -> CodedTable:
        """Return the distinct rows in the order of their first occurrence."""
        self._merge()
        coded = [CodedColumn(c.texts, codes, self._times) for c, codes in zip(columns, self._columns, strict=True)]
        return CodedTable(names, coded, self.n_rows, self._numbers, unsorted=unsorted)

    def _merge(self) -> None:
        if not self._n_pending:
            return
        before = [self._columns] if self._columns else []
        columns = _stacked([*before, *self._pending])
        first = self.n_rows - self._n_pending + 1
        numbers = np.concatenate([self._numbers, np.arange(first, self.n_rows + 1)])
        times = np.concatenate([self._times, np.ones(self._n_pending, dtype=np.int64)])
        self._columns, self._pending, self._n_pending = [], [], 0
        key = pack([(codes.astype(np.int64), int(codes.max()) + 1) for codes in columns])
        order = np.argsort(key, kind="stable")  # the first of equal rows comes first
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        del key
        kept = order[starts]
        counts = np.add.reduceat(times[order], starts)
        in_order = np.argsort(kept)
        kept = kept[in_order]
        self._times, self._numbers = counts[in_order], numbers[kept]
        self._columns = [codes[kept] for codes in columns]
