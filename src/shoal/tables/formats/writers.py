"""Releases as files: the cells, and nothing that reveals who wrote them, when or where."""

from __future__ import annotations

import gzip
import os
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from shoal.errors import FileError, UsageError
from shoal.tables.formats.sniff import Format
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_excel", "check_extra", "compress", "create", "write_csv", "write_excel", "write_release"]

MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
MOST_LETTERS = 32_767
SHEET = "release"
BLOCK_ROWS = 500_000
BLOCK_BYTES = 1 << 20
CHECKED_ROWS = 2_000  # rows between two looks at whether the run was cancelled


def create(path: Path) -> IO[bytes]:
    """Open a new private file for writing."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def write_release(text: pl.DataFrame, path: Path, form: Format, watch: Watch = UNWATCHED) -> None:
    """Write the cells to a new private file in one of the formats that the gate reads."""
    if form is Format.EXCEL:
        check_excel(text)
        write_excel(text, path, watch)
    elif form is Format.PARQUET:
        from shoal.tables.formats.columnar import write_parquet

        write_parquet(text, path)
    elif form is Format.GZIP:
        plain = path.with_name("plain.csv")
        write_csv(text, plain, watch)
        compress(plain, path, watch=watch)
    else:
        write_csv(text, path, watch)


def write_csv(text: pl.DataFrame, path: Path, watch: Watch = UNWATCHED) -> None:
    """Write the cells as they are: UTF-8, comma, LF, quotes only where needed; an empty cell is bare."""
    import polars as pl

    if text.width > 1:  # in a table of one column, a bare empty cell would be a blank line
        empty = [name for name in text.columns if (text[name] == "").any()]
        text = text.with_columns(pl.col(empty).replace("", None)) if empty else text
    with create(path) as file:
        for start in range(0, max(1, text.height), BLOCK_ROWS):
            block = text.slice(start, BLOCK_ROWS)
            block.write_csv(
                file, include_header=start == 0, separator=",", line_terminator="\n", quote_style="necessary"
            )
            watch.step(min(1.0, (start + BLOCK_ROWS) / max(1, text.height)))


def compress(plain: Path, path: Path, *, keep: bool = False, watch: Watch = UNWATCHED) -> None:
    """Compress a file with gzip, without name and time, so that the same cells give the same bytes.

    Args:
        plain: The file; it is removed afterwards.
        path: The compressed file.
        keep: Whether to keep the plain file.
        watch: Hears of progress and may cancel.
    """
    with (
        open(plain, "rb") as source,
        create(path) as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed,
    ):
        while block := source.read(BLOCK_BYTES):
            compressed.write(block)
            watch.check()
    if not keep:
        plain.unlink()


def check_extra() -> None:
    """Raise a UsageError if the library that writes workbooks is not installed."""
    import importlib.util

    if importlib.util.find_spec("xlsxwriter") is None:
        raise UsageError("Excel files need xlsxwriter, which is not installed: pip install 'shoal[excel]'")


def check_excel(text: pl.DataFrame) -> None:
    """Raise a UsageError if a table is too large for a sheet."""
    cure = "Name an output that ends in .csv or .parquet."
    if text.height >= MOST_ROWS:
        raise UsageError(f"an Excel sheet has at most {MOST_ROWS - 1:,} rows; the release has {text.height:,}. {cure}")
    if text.width > MOST_COLUMNS:
        raise UsageError(f"an Excel sheet has at most {MOST_COLUMNS:,} columns; the release has {text.width:,}. {cure}")
    for name in text.columns:
        if len(name) > MOST_LETTERS or (text[name].str.len_chars() > MOST_LETTERS).any():
            raise UsageError(
                f"an Excel cell has at most {MOST_LETTERS:,} letters; a cell of column {name!r} has more. {cure}"
            )


def write_excel(text: pl.DataFrame, path: Path, watch: Watch = UNWATCHED) -> None:
    """Write the cells as text on one sheet: no formulas, no author, no time; empty cells are left out."""
    import xlsxwriter
    import xlsxwriter.exceptions

    create(path).close()
    book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(path.parent)})
    try:
        book.set_properties({"created": datetime(1980, 1, 1)})
        sheet = book.add_worksheet(SHEET)
        _fill(sheet, book.add_format(), text, watch)
        book.close()
    except xlsxwriter.exceptions.FileCreateError as error:
        raise FileError(f"{path.name}: cannot be written: {_reason(error)}.") from None
    finally:
        book.fileclosed = True  # otherwise it would be written again when it is collected


def _fill(sheet: Any, plain: Any, text: pl.DataFrame, watch: Watch) -> None:
    write = sheet._write_string  # write_string checks each argument and is three times slower
    for column, name in enumerate(text.columns):
        sheet.write_string(0, column, name)
    for number, row in enumerate(text.iter_rows(), 1):
        if number % CHECKED_ROWS == 0:
            watch.step(number / text.height)
        for column, cell in enumerate(row):
            if cell:
                write(number, column, cell)
        if not any(row):
            sheet.write_blank(number, 0, None, plain)  # otherwise the row would be missing


def _reason(error: BaseException) -> str:
    """Return why a workbook could not be written, from the OSError behind the error of xlsxwriter."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        argument = cause.args[0] if cause.args and isinstance(cause.args[0], BaseException) else None
        cause = argument or cause.__cause__
    return "the disk may be full"
