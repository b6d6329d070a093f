"""Reading tables as text: files of every released format, and frames."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import operator
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TextIO

from shoal.errors import FileError, InputError, UsageError
from shoal.schema import Dialect
from shoal.verification.reading import files, workbook
from shoal.verification.verdict import MOST_VIOLATIONS

__all__ = [
    "PathName",
    "Step",
    "can_read",
    "chunks",
    "ignore_step",
    "open_text",
    "picker",
    "read_original",
    "refuse_doubles",
    "text_table",
    "unreadable",
]

PathName = str | os.PathLike[str]
Step = Callable[[int], None]

CHUNK_ROWS = 1_000  # fits into the processor cache: twice as fast as 50,000
MOST_KEPT = 1_000_000
TEXTUAL = ("csv", "gzip")
DELIMITERS = (",", ";", "\t", "|")


def ignore_step(n_rows: int) -> None:
    """Ignore how many rows were examined."""


def can_read(path: PathName) -> bool:
    """Return whether the verifier has a reader for a file; it has one for everything but Arrow files."""
    return files.kind_of(path) not in ("arrow", "arrow stream")


def read_original(
    path: PathName, dialect: Dialect, sheet: str | None = None, step: Step = ignore_step
) -> dict[str, list[str]]:
    """Read a CSV, Parquet or Excel file as text with the verifier's own readers.

    Blank lines are skipped. Without a header the columns are called column1, column2 and so on. Equal texts of a column
    share one string to save memory.

    Args:
        path: The file.
        dialect: How the file is written.
        sheet: The sheet of a workbook; the first visible one by default.
        step: Called with the number of rows read so far; it may raise to end the reading.

    Returns:
        The cells by column name.

    Raises:
        InputError: The file cannot be read as a table.
        FileError: The file cannot be opened.
    """
    names: list[str] = []
    columns: list[list[str]] = []
    caches: list[dict[str, str]] = []
    n_read = 0
    for chunk in chunks(path, dialect, sheet=sheet):
        n_read += len(chunk)
        step(n_read)
        rows = [row for row in chunk if row]
        if rows and not names:
            names = rows.pop(0) if dialect.header else [f"column{n}" for n in range(1, len(rows[0]) + 1)]
            refuse_doubles(f"{os.fspath(path)}: ", names)
            columns, caches = [[] for _ in names], [{} for _ in names]
        if not set(map(len, rows)) <= {len(names)}:
            raise _ragged(path, dialect, len(names))
        for column, cache, cells in zip(columns, caches, zip(*rows, strict=True), strict=False):
            if len(cache) > MOST_KEPT:
                cache.clear()
            cache |= {cell: cell for cell in set(cells).difference(cache)}
            column.extend(picker(cells)(cache))
    if not names:
        raise files.UnreadableError(path, "the file is empty; it should contain a table")
    return dict(zip(names, columns, strict=True))


def open_text(path: PathName, encoding: str) -> TextIO:
    """Open a file as text, without its byte order mark."""
    try:
        codec = codecs.lookup("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding).name
        return io.TextIOWrapper(files.open_bytes(path), encoding=codec, newline="")
    except OSError as error:
        raise unreadable(path, error) from None
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'.") from None


def unreadable(path: PathName, error: Exception) -> FileError:
    """Return the error for a file that cannot be read."""
    reason = getattr(error, "strerror", None) or type(error).__name__
    return FileError(f"{os.fspath(path)}: cannot be read: {reason}.")


def _reader(file: TextIO, dialect: Dialect) -> Any:
    return csv.reader(file, delimiter=dialect.delimiter, skipinitialspace=dialect.initial_space, strict=True)


def _text_chunks(path: PathName, dialect: Dialect, size: int) -> Iterator[list[list[str]]]:
    """Yield the records of a CSV file, blank lines as empty rows.

    The reader of the standard library refuses cells beyond a limit of the process, 128 kB by default. Changing that
    limit would affect other threads, so records with such cells are split here.
    """
    n_read = 0
    with open_text(path, dialect.encoding) as file:
        reader = _reader(file, dialect)
        try:
            while rows := list(islice(reader, size)):
                yield rows
                n_read += len(rows)
            return
        except csv.Error as error:
            if "field limit" not in str(error):
                raise
    with open_text(path, dialect.encoding) as file:
        records = islice(_split(file.read(), dialect), n_read, None)
        while rows := list(islice(records, size)):
            yield rows


def _split(text: str, dialect: Dialect) -> Iterator[list[str]]:
    """Split CSV text into records, as csv.reader does, whatever the length of its cells."""
    quoted = re.compile(r'"([^"]*(?:""[^"]*)*)"')
    bare = re.compile(rf"[^{re.escape(dialect.delimiter)}\r\n]*")
    line_end = re.compile(r"\r\n|\r|\n")
    row: list[str] = []
    position, end = 0, len(text)
    while position < end:
        if not row and (found := line_end.match(text, position)):
            yield []
            position = found.end()
            continue
        while dialect.initial_space and text.startswith(" ", position):
            position += 1
        is_quoted = text.startswith('"', position)
        cell = (quoted if is_quoted else bare).match(text, position)
        if cell is None:
            raise csv.Error("a quoted cell is not closed")
        row.append(cell[1].replace('""', '"') if is_quoted else cell[0])
        position = cell.end()
        if text.startswith(dialect.delimiter, position):
            position += 1
            if position == end:
                row.append("")
        elif found := line_end.match(text, position):
            yield row
            position, row = found.end(), []
        elif position < end:
            raise csv.Error("text after a quoted cell")
    if row:
        yield row


def chunks(
    path: PathName, dialect: Dialect, size: int = CHUNK_ROWS, *, sheet: str | None = None, keep_blank: bool = False
) -> Iterator[list[list[str]]]:
    """Yield the rows of a file in chunks; a blank line of a text file is an empty row.

    Args:
        path: The file.
        dialect: How the file is written.
        size: The rows of a chunk.
        sheet: The sheet of a workbook; the first visible one by default.
        keep_blank: Whether to yield the blank rows of a workbook.

    Raises:
        UnreadableError: The file cannot be read as a table.
        FileError: The file cannot be opened.
    """
    kind = files.kind_of(path)
    if kind in ("arrow", "arrow stream"):
        raise files.UnreadableError(
            path,
            "it is an Arrow (Feather) file, which the verifier does not read. Pass the table as a frame, or write it "
            "as CSV, Parquet or Excel",
        )
    if kind == "parquet":
        yield from files.parquet_rows(path, size)
        return
    if kind == "excel":
        yield from workbook.excel_rows(path, size, sheet=sheet, keep_blank=keep_blank)
        return
    try:
        yield from _text_chunks(path, dialect, size)
    except csv.Error:
        line = _first_line(path, dialect, lambda row: False)
        raise files.UnreadableError(path, f"line {line}: a quoted cell is not closed correctly") from None
    except UnicodeError:
        reason = f"it is not valid {dialect.encoding} text. Save it as UTF-8 and try again"
        raise files.UnreadableError(path, reason) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise files.UnreadableError(path, "it cannot be decompressed: it is damaged or cut short") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _first_line(path: PathName, dialect: Dialect, is_wanted: Callable[[list[str]], bool]) -> int:
    """Return the line where the first wanted row begins, or else the first line that cannot be read."""
    line = 1
    with open_text(path, dialect.encoding) as file:
        reader = _reader(file, dialect)
        try:
            while not is_wanted(next(reader)):
                line = reader.line_num + 1
        except (csv.Error, StopIteration):
            pass
    return line


def picker(keys: Sequence[Any]) -> Callable[[Any], tuple[str, ...]]:
    """Return a function that picks the values at these keys; much faster than a loop."""
    if len(keys) > 1:
        return operator.itemgetter(*keys)
    return lambda values: tuple(values[key] for key in keys)


def _ragged(path: PathName, dialect: Dialect, width: int) -> InputError:
    line = _first_line(path, dialect, lambda row: len(row) not in (0, width))
    return files.UnreadableError(path, f"line {line}: the row does not have {width} cells like the first row")


def _guess(path: PathName, names: Sequence[str]) -> Dialect:
    """Return the dialect in which the first line contains all these names; the default dialect if there is none."""
    if files.kind_of(path) not in (*TEXTUAL, "zstd"):
        return Dialect()
    for delimiter in DELIMITERS:
        for initial_space in (False, True):
            dialect = Dialect(delimiter=delimiter, initial_space=initial_space)
            try:
                header = next(filter(None, chain.from_iterable(chunks(path, dialect, 1))), [])
            except InputError:
                continue
            if set(names) <= set(header):
                return dialect
    return Dialect()


def text_table(table: object, dialect: Dialect | None, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the text of a table by column name.

    Args:
        table: The path of a file, or a pandas, polars or pyarrow table.
        dialect: How the file is written; detected by default.
        names: Columns that the table should have, by which a dialect is detected.

    Raises:
        UsageError: The argument is not a table.
        InputError: Two columns have the same name, or the file cannot be read as a table.
    """
    if isinstance(table, str | os.PathLike):
        return read_original(table, dialect or _guess(table, names))
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
    refuse_doubles("", columns)
    return {name: [files.cell_text(cell) for cell in read(n)] for n, name in enumerate(columns)}


def refuse_doubles(where: str, names: Sequence[str]) -> None:
    """Raise an InputError if two columns have the same name; it gives positions, because a name may be a cell."""
    first = {name: n for n, name in reversed(list(enumerate(names)))}
    if repeated := [str(n + 1) for n, name in enumerate(names) if first[name] != n]:
        positions = ", ".join(repeated[:MOST_VIOLATIONS])
        raise InputError(f"{where}the column at position {positions} has the name of an earlier column. Rename it.")
