"""Tables as codes: for every column the distinct cells and, for every row, which of them it shows.

A cell is compared, parsed and judged once for each distinct text, never once for each row.
"""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, UsageError
from shoal.schema import Dialect
from shoal.verification.reading import files, workbook
from shoal.verification.reading.tokenizer import Coder, Tokenizer
from shoal.verification.verdict import MOST_VIOLATIONS

__all__ = ["CodedColumn", "CodedTable", "code_columns", "read_original", "read_written", "refuse_doubles"]

PathName = str | os.PathLike[str]
Codes = NDArray[np.int32]

TEXTUAL = ("csv", "gzip", "zstd")
BLOCK_BYTES = 1 << 20
BLOCK_ROWS = 50_000
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class CodedColumn:
    """One column: its distinct cells, and the index among them of each row's cell."""

    texts: list[str]
    codes: Codes

    def at(self, rows: NDArray[np.int64]) -> CodedColumn:
        """Return the column with the cells of these rows."""
        return CodedColumn(self.texts, self.codes[rows])

    def changed(self, change: Callable[[str], str]) -> CodedColumn:
        """Return the column with a function applied to its cells."""
        return CodedColumn([change(text) for text in self.texts], self.codes)

    def cells(self) -> list[str]:
        """Return the cell of each row."""
        texts = self.texts
        return [texts[code] for code in self.codes.tolist()]

    def counts(self) -> NDArray[np.int64]:
        """Return how many rows show each distinct cell."""
        return np.bincount(self.codes, minlength=len(self.texts)).astype(np.int64)

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
    """A table as codes.

    Attributes:
        names: The names of the columns.
        columns: The columns, in the same order.
        n_rows: Number of rows, those without the right number of cells included.
        numbers: The number (from 1) of each coded row; None where all rows are coded.
        faults: What is wrong with the bytes of a text file, in words.
        blank_lines: Number of empty lines, and the row before which the first one stands.
        ragged_rows: Number of rows without the right number of cells, the first such row, and its line.
    """

    names: list[str]
    columns: list[CodedColumn]
    n_rows: int
    numbers: NDArray[np.int64] | None = None
    faults: list[str] = field(default_factory=list)
    blank_lines: tuple[int, int] = (0, 0)
    ragged_rows: tuple[int, int, int] = (0, 0, 0)

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
    coded = [_code(list(cells)) for cells in columns.values()]
    return CodedTable(list(columns), coded, len(coded[0].codes) if coded else 0)


def _code(texts: list[str]) -> CodedColumn:
    coder = Coder()
    coder.add(texts)
    return CodedColumn([cell.decode() for cell in coder.cells()], np.frombuffer(coder.codes(), dtype=np.int32))


def read_original(path: PathName, dialect: Dialect, sheet: str | None = None) -> CodedTable:
    """Read a table, as an original is read: CSV in the declared dialect, Parquet, or a sheet of a workbook.

    Blank lines are skipped. Without a header the columns are called column1, column2 and so on.

    Raises:
        InputError: The file cannot be read as the dialect says, or a row has another number of cells than the first.
    """
    place, kind = os.fspath(path), files.kind_of(path)
    if kind in TEXTUAL:
        table = _read_text(path, dialect)
        n_ragged, _, line = table.ragged_rows
        if n_ragged:
            raise InputError(
                f"{place}: line {line}: the row does not have {len(table.names)} cells as the first one has."
            )
    else:
        table = _read_rows(path, kind, sheet, whole=False, header=dialect.header or kind == "parquet")
    if not table.names:
        raise InputError(f"{place}: the file is empty. A table is needed.")
    refuse_doubles(f"{place}: ", table.names)
    return table


def read_written(path: PathName) -> CodedTable:
    """Read a release, strictly as releases are written; what departs from that is listed in its `faults`.

    Raises:
        InputError: The file cannot be split into rows and cells.
    """
    kind = files.kind_of(path)
    if kind in ("csv", "gzip"):
        return _read_text(path, Dialect())
    if kind == "zstd":
        raise InputError(f"{os.fspath(path)}: is compressed with Zstandard, in which no release is written.")
    return _read_rows(path, kind, None, whole=True, header=True)


def _read_text(path: PathName, dialect: Dialect) -> CodedTable:
    place = os.fspath(path)
    tokenizer = Tokenizer(ord(dialect.delimiter), header=dialect.header, initial_space=dialect.initial_space)
    starts_marked = False
    for number, block in enumerate(_utf8_blocks(path, dialect.encoding)):
        if number == 0 and block.startswith(BYTE_ORDER_MARK):
            starts_marked, block = True, block[len(BYTE_ORDER_MARK) :]
        tokenizer.feed(block)
        if tokenizer.is_refused:
            break
    tokenizer.finish()
    if line := tokenizer.open_quote_line or tokenizer.long_line:
        fault = "a quoted cell is not closed as it should be" if tokenizer.open_quote_line else "a cell is too long"
        raise InputError(f"{place}: line {line}: {fault}.")
    faults = [
        (starts_marked, "begins with a byte order mark"),
        (tokenizer.nul_line, "holds a NUL byte"),
        (tokenizer.return_line, "holds a carriage return outside a quoted cell"),
        (not tokenizer.ended, "does not end with a line feed"),
        (tokenizer.bare_quote_line, "holds a double quote in a cell that is not quoted"),
    ]
    try:
        names = [cell.decode() for cell in tokenizer.names]
        columns = [
            CodedColumn([cell.decode() for cell in tokenizer.cells(i)], np.frombuffer(tokenizer.codes(i), np.int32))
            for i in range(tokenizer.width)
        ]
    except UnicodeDecodeError:
        raise InputError(f"{place}: not valid {dialect.encoding} text. Save it as UTF-8, and try again.") from None
    numbers = tokenizer.row_numbers()
    return CodedTable(
        names if dialect.header else [f"column{n}" for n in range(1, tokenizer.width + 1)],
        columns,
        tokenizer.rows,
        None if numbers is None else np.frombuffer(numbers, dtype=np.int64),
        [f"the file: {text}." for is_wrong, text in faults if is_wrong],
        (tokenizer.blank, tokenizer.blank_row),
        (tokenizer.ragged, tokenizer.ragged_row, tokenizer.ragged_line),
    )


def _utf8_blocks(path: PathName, encoding: str) -> Iterator[bytes]:
    """Yield the bytes of a text file, decompressed and in UTF-8."""
    place = os.fspath(path)
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'.") from None
    decoder = None if name in ("utf-8", "ascii") else codecs.getincrementaldecoder(name)()
    try:
        with files.open_bytes(path) as file:
            while block := file.read(BLOCK_BYTES):
                yield block if decoder is None else decoder.decode(block).encode()
            if decoder is not None and (rest := decoder.decode(b"", final=True)):
                yield rest.encode()
    except UnicodeError:
        raise InputError(f"{place}: not valid {encoding} text. Save it as UTF-8, and try again.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"{place}: cannot be decompressed: it is damaged or cut short.") from None
    except OSError as error:
        raise files.unreadable(path, error) from None


def _read_rows(path: PathName, kind: str, sheet: str | None, *, whole: bool, header: bool) -> CodedTable:
    """Read a file whose cells are typed, or that is not read as bytes."""
    if kind in ("arrow", "arrow stream"):
        raise InputError(
            f"{os.fspath(path)}: is an Arrow (Feather) file, which the verifier does not read. Give it the table as a "
            "frame, or write it as CSV, Parquet or Excel."
        )
    if kind == "parquet":
        names, columns = files.parquet_columns(path)
        coded = [_code_blocks(blocks) for blocks in columns]
        return CodedTable(names, coded, len(coded[0].codes) if coded else 0)
    rows = chain.from_iterable(workbook.excel_rows(path, BLOCK_ROWS, sheet=sheet, whole=whole))
    cells: list[list[str]] = [row for row in rows if row]
    if not cells:
        return CodedTable([], [], 0)
    names = cells.pop(0) if header else [f"column{n}" for n in range(1, len(cells[0]) + 1)]
    columns_of_text: list[Any] = list(zip(*cells, strict=True)) or [()] * len(names)
    return CodedTable(list(names), [_code(list(column)) for column in columns_of_text], len(cells))


def _code_blocks(blocks: Iterator[list[str]]) -> CodedColumn:
    coder = Coder()
    for block in blocks:
        coder.add(block)
    return CodedColumn([cell.decode() for cell in coder.cells()], np.frombuffer(coder.codes(), dtype=np.int32))


def refuse_doubles(where: str, names: Sequence[str]) -> None:
    """Refuse a table that has a column name twice; the message gives positions, as a name could be a cell."""
    first = {name: n for n, name in reversed(list(enumerate(names)))}
    if doubles := [str(n + 1) for n, name in enumerate(names) if first[name] != n]:
        positions = ", ".join(doubles[:MOST_VIOLATIONS])
        raise InputError(f"{where}the column at position {positions} has the name of one before it. Give each its own.")
