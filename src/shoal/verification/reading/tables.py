"""Reading tables as text: files of every format that is released, and frames."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import operator
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, TextIO

from shoal.errors import InputError, UsageError
from shoal.schema import Dialect
from shoal.verification.reading import files, workbook
from shoal.verification.reading.coded import read_original, refuse_doubles

__all__ = [
    "PathName",
    "can_read",
    "chunks",
    "open_text",
    "picker",
    "text_table",
]

PathName = str | os.PathLike[str]

CHUNK_ROWS = 1_000  # small enough for the processor's cache: twice as fast as 50,000
TEXTUAL = ("csv", "gzip")
DELIMITERS = (",", ";", "\t", "|")


def can_read(path: PathName) -> bool:
    """Say whether the verifier has a reader of its own for a file: for all but Arrow files."""
    return files.kind_of(path) not in ("arrow", "arrow stream")


def open_text(path: PathName, encoding: str) -> TextIO:
    """Open a file as text, a byte order mark left out."""
    # The limit is one for the whole process; a cell may be longer than its default of 128 kB.
    csv.field_size_limit(2**31 - 1)
    try:
        known = codecs.lookup("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding).name
        return io.TextIOWrapper(files.open_bytes(path), encoding=known, newline="")
    except OSError as error:
        raise files.unreadable(path, error) from None
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'.") from None


def _reader(file: TextIO, dialect: Dialect) -> Any:
    return csv.reader(file, delimiter=dialect.delimiter, skipinitialspace=dialect.initial_space, strict=True)


def chunks(
    path: PathName, dialect: Dialect, size: int = CHUNK_ROWS, *, sheet: str | None = None, whole: bool = False
) -> Iterator[list[list[str]]]:
    """Yield the rows of a file, blank lines as empty rows; what cannot be read is an InputError with its line.

    sheet: of a workbook. whole: a blank row of a workbook is a row too.
    """
    kind = files.kind_of(path)
    if kind in ("arrow", "arrow stream"):
        raise InputError(
            f"{os.fspath(path)}: is an Arrow (Feather) file, which the verifier does not read. Give it the table as a "
            "frame, or write it as CSV, Parquet or Excel."
        )
    if kind == "parquet":
        yield from files.parquet_rows(path, size)
        return
    if kind == "excel":
        yield from workbook.excel_rows(path, size, sheet=sheet, whole=whole)
        return
    with open_text(path, dialect.encoding) as file:
        reader = _reader(file, dialect)
        try:
            while rows := list(islice(reader, size)):
                yield rows
        except csv.Error:
            line = _first_line(path, dialect, lambda row: False)
            raise InputError(f"{os.fspath(path)}: line {line}: a quoted cell is not closed as it should be.") from None
        except UnicodeError:
            told = f"{os.fspath(path)}: not valid {dialect.encoding} text"
            raise InputError(f"{told}. Save it as UTF-8, and try again.") from None
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(f"{os.fspath(path)}: cannot be decompressed: it is damaged or cut short.") from None
        except OSError as error:
            raise files.unreadable(path, error) from None


def _first_line(path: PathName, dialect: Dialect, wanted: Callable[[list[str]], bool]) -> int:
    """Return the line on which the first wanted row begins, or else the first one that cannot be read."""
    line = 1
    with open_text(path, dialect.encoding) as file:
        reader = _reader(file, dialect)
        try:
            while not wanted(next(reader)):
                line = reader.line_num + 1
        except (csv.Error, StopIteration):
            pass
    return line


def picker(keys: Sequence[Any]) -> Callable[[Any], tuple[str, ...]]:
    """Return what picks the values at these keys; a good deal faster than a loop, even one in map."""
    if len(keys) > 1:
        return operator.itemgetter(*keys)
    return lambda held: tuple(held[key] for key in keys)


def _guess(path: PathName, names: Sequence[str]) -> Dialect:
    """Return the dialect under which all these names stand in the first line; a plain one if none is."""
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
    """Return the text of a file or of a pandas, polars or pyarrow table by column name."""
    if isinstance(table, str | os.PathLike):
        return read_original(table, dialect or _guess(table, names)).texts()
    frame: Any = table
    read: Callable[[int], list[Any]]
    if hasattr(frame, "get_column") and hasattr(frame, "columns"):  # polars
        found, read = list(frame.columns), lambda n: frame.get_column(frame.columns[n]).to_list()
    elif hasattr(frame, "column_names") and hasattr(frame, "column"):  # pyarrow
        found, read = list(frame.column_names), lambda n: frame.column(n).to_pylist()
    elif hasattr(frame, "iloc") and hasattr(frame, "columns"):  # pandas
        found, read = list(map(str, frame.columns)), lambda n: frame.iloc[:, n].tolist()
    else:
        raise UsageError(f"a {type(table).__name__} is not a table. Give a path or a pandas, polars or pyarrow table.")
    refuse_doubles("", found)
    return {name: [files.cell_text(cell) for cell in read(n)] for n, name in enumerate(found)}
