"""Files as blocks of codes: what `coded` reads at once is read here some rows at a time, in little memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.schema import Dialect
from shoal.verification.reading import files
from shoal.verification.reading.coded import TEXTUAL, TextReader
from shoal.verification.reading.names import numbered
from shoal.verification.reading.parquet.footer import read_footer
from shoal.verification.reading.parquet.texts import chunk_of
from shoal.verification.reading.tables import PathName, chunks
from shoal.verification.verdict import Violation

__all__ = ["BlockColumn", "CodedBlocks", "RowOrder", "pick_columns"]

MOST_TEXTS = 1_000_000  # distinct cells of a column that are kept
CHUNK_ROWS = 50_000
MOST_RANKED = 50_000  # distinct cells of a column that are sorted whenever a block brings new ones

Codes = NDArray[np.int32]
Block = list[Codes]  # the codes of some rows, column by column


class BlockColumn:
    """The distinct cells of a column met so far; codes are places among them.

    Attributes:
        texts: The cells. More may follow with every block.
        epoch: Counts how often they were forgotten because they were too many; codes then begin anew.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.epoch = 0
        self._places: dict[str, int] = {}

    def code(self, cells: Sequence[str]) -> Codes:
        """Return the codes of some cells."""
        places = self._places
        codes = np.fromiter((places.setdefault(cell, len(places)) for cell in cells), np.int32, len(cells))
        self.texts += list(places)[len(self.texts) :] if len(places) > len(self.texts) else []
        return codes

    def forget(self) -> None:
        """Forget the cells."""
        self.texts, self.epoch = [], self.epoch + 1
        self._places = {}


class CodedBlocks:
    """A file as blocks of codes.

    Args:
        path: The file.
        dialect: How it is written; cells of a release are those of the default.
        keep_blank: Whether to keep the blank rows of a file that is not text.
        forgetful: Whether to forget the distinct cells of a column if they become too many.

    Attributes:
        columns: The columns, known once the first block was read.
        names: Their names, as the file has them.
    """

    def __init__(self, path: PathName, dialect: Dialect, *, keep_blank: bool = False, forgetful: bool = True) -> None:
        self._path, self._dialect, self._keep_blank, self._forgetful = path, dialect, keep_blank, forgetful
        self.kind = files.kind_of(path)
        self.reader = TextReader(path, dialect) if self.kind in (*TEXTUAL, "zstd") else None
        self.columns: list[BlockColumn] = []
        self.names: list[str] = []
        self._forgotten: set[int] = set()

    def blocks(self) -> Iterator[Block]:
        """Yield the rows; those of another width than the first are left out."""
        for block in self._rows() if self.reader is None else self._text_blocks(self.reader):
            yield block
            for i, column in enumerate(self.columns):
                if self._forgetful and len(column.texts) > MOST_TEXTS:
                    column.forget()
                    self._forgotten.add(i)

    def start(self, names: Sequence[str]) -> None:
        """Say which columns the file has."""
        self.names = list(names)
        self.columns = [BlockColumn() for _ in names]

    def _text_blocks(self, reader: TextReader) -> Iterator[Block]:
        for codes, texts in reader.coded_blocks(self._forgotten):
            if not self.columns:
                self.start(reader.names())
            for column, new in zip(self.columns, texts, strict=True):
                column.texts += new
            yield codes

    def _rows(self) -> Iterator[Block]:
        if self.kind == "parquet":
            with_codes = self.row_groups()
            if with_codes is not None:
                yield from with_codes
                return
        is_first = True
        for rows in chunks(self._path, self._dialect, CHUNK_ROWS, keep_blank=self._keep_blank):
            kept = rows if self._keep_blank else [row for row in rows if row]
            if is_first and kept:
                has_header = self._dialect.header or self.kind == "parquet"
                self.start(kept.pop(0) if has_header else [f"column{n}" for n in range(1, len(kept[0]) + 1)])
                is_first = False
            kept = [row for row in kept if len(row) == len(self.names)]
            if kept:
                yield [column.code(cells) for column, cells in zip(self.columns, zip(*kept, strict=True), strict=True)]

    def row_groups(self) -> Iterator[Block] | None:
        """Yield the row groups of a Parquet file; None if a column is not text, or has an encoding that few have."""
        try:
            names, texts = files.parquet_texts(self._path)
            with open(self._path, "rb") as file:
                footer, _, _ = read_footer(file)
                if len(texts) < len(names) or not footer[4]:
                    return None
                for position in texts:
                    chunk_of(file, footer, footer[4][0], position)
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error, OverflowError):
            return None
        return self._read_groups(names)

    def _read_groups(self, names: list[str]) -> Iterator[Block]:
        self.start(names)
        with open(self._path, "rb") as file:
            footer, _, _ = read_footer(file)
            for group in footer[4]:
                block = []
                for position, column in enumerate(self.columns):
                    try:
                        chunk = chunk_of(file, footer, group, position)
                        places = column.code([*chunk.texts(), *([""] if chunk.nulls else [])])
                    except (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error, OverflowError):
                        reason = f"column {names[position]!r} changes its encoding between row groups"
                        raise files.UnreadableError(self._path, reason) from None
                    block.append(places[chunk.codes()])
                yield block


def pick_columns(table: CodedBlocks, names: Sequence[str], dialect: Dialect) -> list[int]:
    """Return the positions of columns of a table whose first block was read.

    Raises:
        InputError: A column is missing.
    """
    header = numbered(table.names) if dialect.numbered else table.names
    if missing_names := [name for name in names if name not in header]:
        raise InputError(f"column {missing_names[0]!r} is no longer in the file.")
    return [header.index(name) for name in names]


class RowOrder:
    """Whether the rows of a file are sorted by their cells, the first column first."""

    def __init__(self) -> None:
        self.first: list[str] = []  # the first row
        self.last: list[str] = []  # the last row so far
        self._n_rows = self._first_unsorted = 0
        self._ranks: dict[int, tuple[int, int, NDArray[np.int64]]] = {}

    def add(self, columns: Sequence[BlockColumn], block: Sequence[Codes]) -> None:
        """Look at the next rows."""
        first = [column.texts[codes[0]] for column, codes in zip(columns, block, strict=True)]
        if not self._first_unsorted:
            if first < self.last:
                self._first_unsorted = self._n_rows + 1
            else:
                self._compare(columns, block)
        self.first = self.first or first
        self.last = [column.texts[codes[-1]] for column, codes in zip(columns, block, strict=True)]
        self._n_rows += len(block[0])

    def violations(self) -> list[Violation]:
        """Return whether the rows are not sorted."""
        if not self._first_unsorted:
            return []
        return [Violation("order", "the rows are not sorted by their cells", self._first_unsorted)]

    def _compare(self, columns: Sequence[BlockColumn], block: Sequence[Codes]) -> None:
        equal = np.arange(len(block[0]) - 1)  # neighbours that are equal so far
        unsorted: list[int] = []
        for i, (column, codes) in enumerate(zip(columns, block, strict=True)):
            if not len(equal):
                break
            before, after = codes[equal], codes[equal + 1]
            differ = before != after
            at = equal[differ]
            if len(at):
                ranks = self._ranks_of(i, column, np.concatenate([before[differ], after[differ]]))
                falls = ranks[: len(at)] > ranks[len(at) :]
                unsorted += at[falls][:1].tolist()
            equal = equal[~differ]
        if unsorted:
            self._first_unsorted = self._n_rows + min(unsorted) + 2

    def _ranks_of(self, i: int, column: BlockColumn, codes: Codes) -> NDArray[np.int64]:
        """Return numbers that compare like the texts behind codes."""
        n_texts = len(column.texts)
        if n_texts <= MOST_RANKED:
            known = self._ranks.get(i)
            if known is None or known[:2] != (column.epoch, n_texts):
                known = self._ranks[i] = column.epoch, n_texts, _rank(column.texts)
            return known[2][codes]
        distinct, places = np.unique(codes, return_inverse=True)
        return _rank([column.texts[code] for code in distinct.tolist()])[places]


def _rank(texts: Sequence[str]) -> NDArray[np.int64]:
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), dtype=np.int64)
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[order] = np.arange(len(texts))
    return ranks
