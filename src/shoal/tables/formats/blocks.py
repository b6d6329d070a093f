"""Read files block by block: the same cells as `read_table` gives, with at most one block in memory."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from shoal.errors import FileError, InputError, Note, UsageError, counted, file_path, setting
from shoal.schema import NUMBERED, Dialect, check_encoding
from shoal.tables.csv import (
    MOST_BYTES,
    SAMPLE_BYTES,
    check_file,
    end_of_records,
    is_utf_8,
    parse_records,
    refuse_byte_order_mark,
    take_names,
    take_sample,
    too_long,
    wrong_byte,
)
from shoal.tables.dialect import detect
from shoal.tables.formats.columnar import parquet_blocks
from shoal.tables.formats.memory_limit import refuse_expansion
from shoal.tables.formats.sniff import Format, sniff
from shoal.tables.table import Stamp, check_cells, check_names

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Blocks", "open_blocks"]

BLOCK_BYTES = 1 << 23  # of text; its cells, which the allocator keeps, take several times as much


@dataclass(frozen=True)
class Blocks:
    """A file as blocks of rows; they can be read only once.

    Attributes:
        names: Names of the columns.
        frames: The blocks, each a frame of text.
        notes: What was detected or noticed.
        stamp: The state of the file when it was opened; None for a table of a server.
        dialect: How a CSV file is written; None for anything else.
    """

    names: tuple[str, ...]
    frames: Iterator[pl.DataFrame]
    notes: tuple[Note, ...]
    stamp: Stamp | None
    dialect: Dialect | None


def open_blocks(
    path: Path,
    *,
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
    named: Sequence[str] = (),
    duplicate_columns: str | None = None,
) -> Blocks:
    """Open a CSV, gzip or Parquet file; see `read_table` for the arguments.

    Raises:
        UsageError: If the file has another format.
        InputError: If the file is damaged or malformed.
    """
    stamp = check_file(path)
    form = sniff(path)
    if form is Format.PARQUET:
        names, frames = parquet_blocks(path)
        notes = (
            Note(file_path(path), f"{form}, {counted(len(names), 'column')}"),
            *check_names(list(names), str(path)),
        )
        return Blocks(names, frames, notes, stamp, None)
    if form not in (Format.CSV, Format.GZIP):
        raise UsageError(
            f"{path}: is {form}. DuckDB reads only CSV, compressed CSV (gzip) and Parquet. Use "
            f"{setting('engine', 'memory')}."
        )
    pieces = _pieces(path, form, encoding)
    first, is_last = next(pieces, (b"", True))
    is_complete = is_last and len(first) <= SAMPLE_BYTES
    sample = take_sample(first)
    numbered = duplicate_columns == NUMBERED
    dialect = detect(
        sample, is_complete, delimiter=delimiter, header=header, named=named, numbered=numbered, place=str(path)
    )
    dialect = replace(dialect, encoding="utf-8" if is_utf_8(encoding) else str(encoding))
    frame, _ = parse_records(first, dialect, path)
    names, renamed = take_names(frame, dialect, path)
    notes = (Note(file_path(path), dialect.describe()), *renamed, *check_names(list(names), str(path)))
    check_cells(frame, str(path))
    opening = frame.slice(1 if dialect.header else 0)
    frames = _frames(opening, pieces, dialect, path, first.count(b"\n"), names)
    return Blocks(names, frames, notes, stamp, dialect)


def _frames(
    opening: pl.DataFrame,
    pieces: Iterator[tuple[bytes, bool]],
    dialect: Dialect,
    path: Path,
    lines: int,
    names: tuple[str, ...],
) -> Iterator[pl.DataFrame]:
    yield opening.rename(dict(zip(opening.columns, names, strict=True)))
    for text, _ in pieces:
        frame, _ = parse_records(text, dialect, path, lines_before=lines, width=len(names))
        check_cells(frame, str(path))
        lines += text.count(b"\n")
        yield frame.rename(dict(zip(frame.columns, names, strict=True)))


def _pieces(path: Path, form: Format, encoding: str | None) -> Iterator[tuple[bytes, bool]]:
    """Yield blocks of complete records as UTF-8 text, each with whether it is the last."""
    remaining, n_read, size = b"", 0, path.stat().st_size
    try:
        with _open(path, form) as file:
            decode = _Decoder(encoding, path)
            while True:
                raw = file.read(BLOCK_BYTES)
                if n_read == 0 and encoding is None:
                    refuse_byte_order_mark(raw, path)
                remaining += decode(raw, n_read)
                n_read += len(raw)
                if form is Format.GZIP:
                    refuse_expansion(path, size, n_read)
                end = len(remaining) if not raw else end_of_records(remaining, 0, len(remaining))
                if not raw or end:
                    yield remaining[:end], not raw
                    remaining = remaining[end:]
                if not raw:
                    return
                if len(remaining) > MOST_BYTES:
                    raise too_long(path)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path}: is damaged or truncated and cannot be decompressed. Obtain it again.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def _open(path: Path, form: Format) -> IO[bytes]:
    return gzip.open(path, "rb") if form is Format.GZIP else open(path, "rb")  # type: ignore[return-value]


class _Decoder:
    """Converts the bytes of a file to UTF-8 piece by piece; raises an InputError for a byte that is not text."""

    def __init__(self, encoding: str | None, path: Path) -> None:
        self._encoding = encoding
        self._path = path
        if encoding is not None:
            check_encoding(encoding)
        self._decoder = codecs.getincrementaldecoder("utf-8" if is_utf_8(encoding) else str(encoding))()

    def __call__(self, raw: bytes, before: int) -> bytes:
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            # error.object begins with the bytes that the decoder kept from the previous piece.
            position = before + error.start - max(0, len(error.object) - len(raw))
            raise wrong_byte(self._path, position, self._encoding, error.reason) from None
        return (text if before else text.removeprefix("\ufeff")).encode()
