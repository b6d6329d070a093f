"""Tables as codes: for every column the distinct cells and, for every row, which of them it shows.

A cell is compared, parsed and judged once for each distinct text, never once for each row.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Dialect
from shoal.verification.reading import files
from shoal.verification.reading.limits import MOST_BYTES, MOST_COLUMNS, check_expansion
from shoal.verification.reading.names import numbered, refuse_doubles
from shoal.verification.reading.tokenizer import Coder, Tokenizer
from shoal.verification.verdict import Violation

if TYPE_CHECKING:
    from shoal.verification.reading.parquet.texts import TextCodes

__all__ = [
    "CodedColumn",
    "CodedTable",
    "Step",
    "Tally",
    "TextReader",
    "checked_original",
    "code_cells",
    "code_columns",
    "ignore_step",
    "read_original",
    "read_written",
]

PathName = str | os.PathLike[str]
Codes = NDArray[np.int32]
Step = Callable[[int], None]
Block = TypeVar("Block")

TEXTUAL = ("csv", "gzip")  # text in which releases are written
BLOCK_ROWS = 50_000
CODE_BYTES = 4
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Tally(NamedTuple):
    """How often something occurs, and the row of its first occurrence (from 1)."""

    times: int = 0
    first: int = 0


NONE = Tally()


@dataclass(frozen=True)
class CodedColumn:
    """One column: its distinct cells, and the index among them of each row's cell; times: see `CodedTable`."""

    texts: list[str]
    codes: Codes
    times: NDArray[np.int64] | None = None

    def at(self, rows: NDArray[np.int64]) -> CodedColumn:
        """Return the column with the cells of these rows."""
        return CodedColumn(self.texts, self.codes[rows], None if self.times is None else self.times[rows])

    def cells(self) -> list[str]:
        """Return the cell of each row."""
        return [self.texts[code] for code in self.codes.tolist()]

    def counts(self) -> NDArray[np.int64]:
        """Return how many rows show each distinct cell."""
        return np.bincount(self.codes, self.times, len(self.texts)).astype(np.int64)  # sums below 2**53 are exact

    def count(self, chosen: NDArray[np.bool_]) -> int:
        """Return how many rows show one of some distinct cells; chosen: whether each is one of them."""
        return int(self.counts()[chosen[: len(self.texts)]].sum())

    def ranks(self) -> Codes:
        """Return the rank of each row's cell in the order of the texts."""
        order = sorted(range(len(self.texts)), key=self.texts.__getitem__)
        ranks = np.empty(len(order), dtype=np.int32)
        last, rank = None, -1
        for code in order:  # equal texts have equal ranks: a changed column may hold one twice
            rank += self.texts[code] != last
            last = self.texts[code]
            ranks[code] = rank
        return ranks[self.codes]


@dataclass(frozen=True)
class CodedTable:
    """A table as codes: all rows, or the distinct rows in the order of their first occurrence.

    Attributes:
        names: The names of the columns.
        columns: The columns, in the same order.
        n_rows: Number of rows, including those of another width than the first, which are not coded.
        numbers: The number (from 1) of each coded row, the first one of a distinct row; None if all rows are coded.
        faults: What is wrong with the bytes of a text file, if it is a release.
        blank_lines: The empty lines, and the row after the first.
        ragged_rows: The rows of another width than the first, and the first of them.
        unsorted: Of distinct rows, the first row of the file that is not sorted by its cells; 0 if all are.
    """

    names: list[str]
    columns: list[CodedColumn]
    n_rows: int
    numbers: NDArray[np.int64] | None = None
    faults: list[Violation] = field(default_factory=list)
    blank_lines: Tally = NONE
    ragged_rows: Tally = NONE
    unsorted: int = 0

    @property
    def times(self) -> NDArray[np.int64] | None:
        """How many rows each distinct row stands for; None if all rows are coded."""
        return self.columns[0].times if self.columns else None

    def count_coded(self) -> int:
        """Return the number of rows without those of another width than the first."""
        return len(self.row_numbers()) if self.times is None else int(self.times.sum())

    def column(self, name: str) -> CodedColumn:
        """Return the column of this name."""
        return self.columns[self.names.index(name)]

    def texts(self) -> dict[str, list[str]]:
        """Return the cells of every column by name."""
        return {name: column.cells() for name, column in zip(self.names, self.columns, strict=True)}

    def row_numbers(self) -> NDArray[np.int64]:
        """Return the number of each coded row."""
        return np.arange(1, self.n_rows + 1) if self.numbers is None else self.numbers


def code_columns(columns: Mapping[str, Sequence[str]]) -> CodedTable:
    """Code a table that is given as texts by column name."""
    coded = [_code([list(cells)]) for cells in columns.values()]
    return CodedTable(list(columns), coded, len(coded[0].codes) if coded else 0)


def code_cells(cells: Iterable[str]) -> CodedColumn:
    """Code a column that is given as texts, block by block."""
    rest = iter(cells)
    return _code(iter(lambda: list(islice(rest, BLOCK_ROWS)), []))


def _codes(raw: bytearray) -> Codes:
    return np.frombuffer(raw, dtype=np.int32)


def _code(blocks: Iterable[list[str]]) -> CodedColumn:
    """Code a column that comes in blocks of texts."""
    coder = Coder()
    for block in blocks:
        coder.add(block)
    return CodedColumn([cell.decode() for cell in coder.cells()], _codes(coder.codes()))


def ignore_step(n_rows: int) -> None:
    """Ignore how many rows were examined."""


def read_original(path: PathName, dialect: Dialect, sheet: str | None = None, step: Step = ignore_step) -> CodedTable:
    """Read an original with the verifier's own readers: CSV in the declared dialect, Parquet, or a sheet of a workbook.

    Blank lines are skipped. Without a header the columns are called column1, column2 and so on. Columns that share a
    name are refused, or numbered if the dialect says so.

    Args:
        path: The file.
        dialect: How the file is written.
        sheet: The sheet of a workbook; the first visible one by default.
        step: Called with the number of rows read so far; it may raise to end the reading.

    Raises:
        InputError: The file cannot be read as a table.
        FileError: The file cannot be opened.
    """
    kind = files.kind_of(path)
    if kind in (*TEXTUAL, "zstd"):
        tokenizer = TextReader(path, dialect).read(step)
        table = tokenizer.table()
        if table.ragged_rows.times:
            raise tokenizer.ragged_error()
    else:
        table = _read_rows(path, kind, sheet, keep_blank=False, header=dialect.header or kind == "parquet", step=step)
    return checked_original(path, table, dialect)


def checked_original(path: PathName, table: CodedTable, dialect: Dialect) -> CodedTable:
    """Return an original with names that differ."""
    if not table.names:
        raise files.UnreadableError(path, "the file is empty; it should contain a table")
    if dialect.numbered:
        return replace(table, names=numbered(table.names))
    refuse_doubles(f"{os.fspath(path)}: ", table.names)
    return table


def read_written(path: PathName, step: Step = ignore_step, delimiter: str = ",") -> CodedTable:
    """Read a release strictly as releases are written; the `faults` of the table list what departs from that.

    Args:
        path: The file.
        step: Called with the number of rows read so far; it may raise to end the reading.
        delimiter: The separator of cells in a CSV file.

    Raises:
        UnreadableError: The file cannot be split into rows and cells.
        FileError: The file cannot be opened.
    """
    kind = files.kind_of(path)
    if kind in TEXTUAL:
        return TextReader(path, Dialect(delimiter)).read(step).table()
    if kind == "zstd":
        raise files.UnreadableError(path, "it is compressed with Zstandard, in which no release is written")
    return _read_rows(path, kind, None, keep_blank=True, header=True, step=step)


class TextReader:
    """Reads a CSV file, decompressed if necessary, with the tokenizer.

    Args:
        path: The file.
        dialect: How the file is written.
    """

    def __init__(self, path: PathName, dialect: Dialect) -> None:
        self._path, self._dialect = path, dialect
        self._tokenizer = Tokenizer(
            ord(dialect.delimiter),
            header=dialect.header,
            initial_space=dialect.initial_space,
            most_bytes=MOST_BYTES,
            most_cells=MOST_COLUMNS,
        )
        self._has_mark = False
        self._is_compressed = files.kind_of(path) != "csv"

    def read(self, step: Step = ignore_step) -> TextReader:
        """Read the whole file; step is called with the number of rows so far."""
        for _ in self._feed():
            step(self._tokenizer.rows)
        return self

    def chunks(self) -> Iterator[list[list[str]]]:
        """Yield the rows in chunks, the header first; rows of another width than the first are left out."""
        is_first = self._dialect.header
        for _ in self._feed():
            rows = self._tokenizer.take_rows()
            if is_first and self._tokenizer.width:
                rows, is_first = [self._tokenizer.names, *rows], False
            if rows:
                yield [[self._text(cell) for cell in row] for row in rows]

    def coded_blocks(self, forgotten: set[int]) -> Iterator[tuple[list[Codes], list[list[str]]]]:
        """Yield the codes of some rows, column by column, and the texts of codes that are new in each column.

        Args:
            forgotten: Columns whose codes begin anew with the next block; emptied when that is done.
        """
        tokenizer, n_known = self._tokenizer, list[int]()
        for _ in self._feed():
            if tokenizer.width:
                n_known = n_known or [0] * tokenizer.width
                taken = [_codes(codes) for codes in tokenizer.take_codes()]
                cells = [tokenizer.new_cells(i, n) for i, n in enumerate(n_known)]
                n_known = [n + len(new) for n, new in zip(n_known, cells, strict=True)]
                yield taken, [[self._text(cell) for cell in new] for new in cells]
                for i in forgotten:
                    tokenizer.forget_cells(i)
                    n_known[i] = 0
                forgotten.clear()

    def table(self) -> CodedTable:
        """Return the table after `read`."""
        tokenizer = self._tokenizer
        numbers = tokenizer.row_numbers()
        return CodedTable(
            self.names(),
            [
                CodedColumn([self._text(cell) for cell in tokenizer.cells(i)], _codes(tokenizer.codes(i)))
                for i in range(tokenizer.width)
            ],
            tokenizer.rows,
            None if numbers is None else np.frombuffer(numbers, dtype=np.int64),
            self.faults(),
            self.blank_lines(),
            self.ragged_rows(),
        )

    def faults(self) -> list[Violation]:
        """Return what is wrong with the bytes of a release, after they were read."""
        tokenizer = self._tokenizer
        checks = [
            (self._has_mark, "it begins with a byte order mark"),
            (tokenizer.nul_line, "it contains a NUL byte"),
            (tokenizer.return_line, "it contains a carriage return outside a quoted cell"),
            (not tokenizer.ended, "it does not end with a line feed"),
            (tokenizer.bare_quote_line, "there is a double quote in a cell that is not quoted"),
            (tokenizer.needless_quote_line, "there are quotes around a cell that needs none"),
        ]
        return [Violation("file", text) for fault, text in checks if fault]

    @property
    def width(self) -> int:
        """The number of cells of the first row."""
        return int(self._tokenizer.width)

    def blank_lines(self) -> Tally:
        """Return how many lines are empty, and the row after the first."""
        return Tally(self._tokenizer.blank, self._tokenizer.blank_row)

    def ragged_rows(self) -> Tally:
        """Return how many rows have another width than the first, and the first of them."""
        return Tally(self._tokenizer.ragged, self._tokenizer.ragged_row)

    def ragged_error(self) -> files.UnreadableError:
        """Return the error for an original with a row of another width than the first."""
        line, width = self._tokenizer.ragged_line, self._tokenizer.width
        return files.UnreadableError(self._path, f"line {line}: the row does not have {width} cells like the first row")

    def _feed(self) -> Iterator[None]:
        """Split the file block by block."""
        tokenizer = self._tokenizer
        for number, block in enumerate(files.utf8_blocks(self._path, self._dialect.encoding)):
            self._has_mark = self._has_mark or (number == 0 and block.startswith(BYTE_ORDER_MARK))
            tokenizer.feed(block[len(BYTE_ORDER_MARK) :] if number == 0 and self._has_mark else block)
            if tokenizer.is_refused:
                break
            if self._is_compressed:  # a run of equal rows takes few bytes in the file, but memory for each
                check_expansion(self._path, tokenizer.rows * tokenizer.width * CODE_BYTES)
            yield
        tokenizer.finish()
        if line := tokenizer.open_quote_line:
            raise files.UnreadableError(self._path, f"line {line}: a quoted cell is not closed correctly")
        if line := tokenizer.long_line:
            raise files.UnreadableError(self._path, f"line {line}: a cell has more than {MOST_BYTES:,} bytes")
        if line := tokenizer.wide_line:
            raise files.UnreadableError(self._path, f"line {line}: the row has more than {MOST_COLUMNS:,} cells")
        yield

    def names(self) -> list[str]:
        """Return the names of the columns, once the first block was read."""
        if self._dialect.header:
            return [self._text(cell) for cell in self._tokenizer.names]
        return [f"column{n}" for n in range(1, self._tokenizer.width + 1)]

    def _text(self, cell: bytes) -> str:
        try:
            return cell.decode()
        except UnicodeDecodeError:
            raise files.not_text(self._path, self._dialect.encoding) from None


def _read_rows(
    path: PathName, kind: str, sheet: str | None, *, keep_blank: bool, header: bool, step: Step
) -> CodedTable:
    """Read a file whose cells are typed, or that is not read as bytes."""
    files.refuse_unread(path, kind)
    if kind == "parquet":
        names, columns = files.parquet_columns(path)
        coded = [_parquet_column(column, step) for column in columns]
        return CodedTable(names, coded, len(coded[0].codes) if coded else 0)
    from shoal.verification.reading import workbook  # a reader is loaded for a file of its format

    blocks = _stepped(workbook.excel_rows(path, BLOCK_ROWS, sheet=sheet, keep_blank=keep_blank), step)
    cells: list[list[str]] = [row for row in chain.from_iterable(blocks) if row]
    if not cells:
        return CodedTable([], [], 0)
    names = cells.pop(0) if header else [f"column{n}" for n in range(1, len(cells[0]) + 1)]
    columns_of_text: list[Any] = list(zip(*cells, strict=True)) or [()] * len(names)
    return CodedTable(list(names), [_code([list(column)]) for column in columns_of_text], len(cells))


def _parquet_column(column: TextCodes | Iterator[list[str]], step: Step) -> CodedColumn:
    """Code a column of a Parquet file, unless it comes as codes."""
    if not isinstance(column, tuple):
        return _code(_stepped(column, step))
    texts, codes = column
    step(len(codes))
    return CodedColumn(texts, np.ascontiguousarray(codes, dtype=np.int32))


def _stepped(blocks: Iterable[list[Block]], step: Step) -> Iterator[list[Block]]:
    """Pass blocks on, calling step with the number of rows so far."""
    n_read = 0
    for block in blocks:
        n_read += len(block)
        step(n_read)
        yield block
