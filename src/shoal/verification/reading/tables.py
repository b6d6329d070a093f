"""Reading tables as text: files of every released format, and frames."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from shoal.errors import InputError, UsageError
from shoal.schema import Dialect, Reading
from shoal.verification.reading import files
from shoal.verification.reading.coded import TEXTUAL, CodedTable, TextReader, code_cells, read_original
from shoal.verification.reading.names import numbered, refuse_doubles

__all__ = [
    "PathName",
    "can_read",
    "chunks",
    "coded_table",
    "picker",
]

PathName = str | os.PathLike[str]
Reader = Callable[[PathName, Dialect, str | None], CodedTable]

CHUNK_ROWS = 1_000  # fits into the processor cache: twice as fast as 50,000
DELIMITERS = (",", ";", "\t", "|")


def can_read(path: PathName) -> bool:
    """Return whether the verifier has a reader for a file: CSV, Parquet and Excel."""
    return files.kind_of(path) not in files.UNREAD


def chunks(
    path: PathName, dialect: Dialect, size: int = CHUNK_ROWS, *, sheet: str | None = None, keep_blank: bool = False
) -> Iterator[list[list[str]]]:
    """Yield the rows of a file in chunks, the header first; blank lines of a text file are skipped.

    Args:
        path: The file.
        dialect: How the file is written.
        size: The rows of a chunk; text files have chunks of their own.
        sheet: The sheet of a workbook; the first visible one by default.
        keep_blank: Whether to yield the blank rows of a workbook.

    Raises:
        UnreadableError: The file cannot be read as a table.
        FileError: The file cannot be opened.
    """
    kind = files.kind_of(path)
    files.refuse_unread(path, kind)
    if kind == "parquet":
        yield from files.parquet_rows(path, size)
        return
    if kind == "excel":
        from shoal.verification.reading import workbook

        yield from workbook.excel_rows(path, size, sheet=sheet, keep_blank=keep_blank)
        return
    reader = TextReader(path, dialect)
    yield from reader.chunks()
    if reader.ragged_rows().times:
        raise reader.ragged_error()


def picker(keys: Sequence[Any]) -> Callable[[Any], tuple[str, ...]]:
    """Return a function that picks the values at these keys; much faster than a loop."""
    if len(keys) > 1:
        return operator.itemgetter(*keys)
    return lambda values: tuple(values[key] for key in keys)


def _guess(path: PathName, names: Sequence[str], reading: Reading) -> Dialect:
    """Return the dialect in which the first line contains all these names; else the one that the reading describes."""
    is_numbered = reading.numbers_columns
    if files.kind_of(path) not in (*TEXTUAL, "zstd"):
        return Dialect(header=reading.header is not False, numbered=is_numbered)
    encodings = ["utf-8", *([reading.encoding] if reading.encoding else [])]
    delimiters = dict.fromkeys([*([reading.delimiter] if reading.delimiter else []), *DELIMITERS])
    for encoding, delimiter, initial_space in product(encodings, delimiters, (False, True)):
        dialect = Dialect(delimiter, encoding, initial_space=initial_space, numbered=is_numbered)
        try:
            header = next(TextReader(path, dialect).chunks(), [[]])[0]
        except InputError:
            continue
        known = set(numbered(header) if is_numbered else header)
        if all(name in known or {f"{name}_min", f"{name}_max"} <= known for name in names):
            return dialect
    is_headed = reading.header is not False
    return Dialect(reading.delimiter or ",", reading.encoding or "utf-8", is_headed, numbered=is_numbered)


def _read_detected(path: PathName, names: Sequence[str], reading: Reading, read: Reader) -> CodedTable:
    """Read a file in a dialect that is detected; the reading applies where it fits the file."""
    dialect = _guess(path, names, reading)
    sheet = None
    if files.kind_of(path) == "excel":
        from shoal.verification.reading import workbook

        sheet = reading.sheet if workbook.has_choice(path, reading.sheet) else None
    try:
        return read(path, dialect, sheet)
    except InputError:
        if reading.encoding is None or reading.encoding == dialect.encoding:
            raise
        return read(path, replace(dialect, encoding=reading.encoding), sheet)


def coded_table(
    table: object,
    dialect: Dialect | None,
    names: Sequence[str],
    reading: Reading | None = None,
    reader: Reader = read_original,
) -> CodedTable:
    """Return a table as codes.

    Args:
        table: The path of a file, or a pandas, polars or pyarrow table.
        dialect: How the file is written; detected by default.
        names: Columns that the table should have, by which a dialect is detected.
        reading: How a file is read whose dialect is detected, where that fits the file.
        reader: Reads a file in a dialect.

    Raises:
        UsageError: The argument is not a table.
        InputError: Two columns have the same name, or the file cannot be read as a table.
    """
    if isinstance(table, str | os.PathLike):
        if dialect is not None:
            return reader(table, dialect, None)
        return _read_detected(table, names, reading or Reading(), reader)
    frame: Any = table
    read: Callable[[int], list[Any]]
    if hasattr(frame, "get_column") and hasattr(frame, "columns"):  # polars
        columns, read = list(frame.columns), lambda n: frame.get_column(frame.columns[n]).to_list()
    elif hasattr(frame, "column_names") and hasattr(frame, "column"):  # pyarrow
        columns, read = list(frame.column_names), lambda n: frame.column(n).to_pylist()
    elif hasattr(frame, "iloc") and hasattr(frame, "columns"):  # pandas
        columns, read = list(map(str, frame.columns)), lambda n: frame.iloc[:, n].tolist()
    else:
        raise UsageError(f"a {type(table).__name__} is not a table. Pass a path or a pandas, polars or pyarrow table.")
    if reading is not None and reading.numbers_columns:
        columns = numbered(columns)
    refuse_doubles("", columns)
    coded = [code_cells(map(files.cell_text, read(n))) for n in range(len(columns))]
    return CodedTable(columns, coded, len(coded[0].codes) if coded else 0)
