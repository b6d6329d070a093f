"""Files that are read block by block: the same cells as when they are read whole, never more than a block in memory."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from shoal.errors import FileError, InputError, Note, UsageError, file_path
from shoal.schema import Dialect
from shoal.tables.csv import BYTE_ORDER_MARKS, check_file, parse_records, take_names
from shoal.tables.dialect import detect
from shoal.tables.formats.columnar import parquet_blocks
from shoal.tables.formats.sniff import Format, sniff
from shoal.tables.table import Stamp, check_names

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Blocks", "open_blocks"]

BLOCK_BYTES = 1 << 25
MOST_BYTES = 1 << 28  # a record of this length is no record: somewhere a quote is not closed
SAMPLE_BYTES = 1_000_000
UTF_8 = ("utf-8", "utf8", "utf-8-sig")


@dataclass(frozen=True)
class Blocks:
    """A file as blocks of rows, each a frame of text with these names; to be gone through once."""

    names: tuple[str, ...]
    frames: Iterator[pl.DataFrame]
    notes: tuple[Note, ...]
    stamp: Stamp
    dialect: Dialect | None


def open_blocks(path: Path, *, delimiter: str | None, encoding: str | None, header: bool | None) -> Blocks:
    """Open a CSV (also gzip) or Parquet file; the arguments are those of read_table."""
    stamp = check_file(path)
    form = sniff(path)
    if form is Format.PARQUET:
        names, frames = parquet_blocks(path)
        notes = (Note(file_path(path), f"{form}, {len(names)} columns"), *check_names(list(names), str(path)))
        return Blocks(names, frames, notes, stamp, None)
    if form not in (Format.CSV, Format.GZIP):
        raise UsageError(f"{path}: is {form}. DuckDB takes CSV, also in gzip, and Parquet; use --engine memory for it.")
    pieces = _pieces(path, form, encoding)
    first, is_last = next(pieces, (b"", True))
    whole = is_last and len(first) <= SAMPLE_BYTES
    dialect = detect(first[:SAMPLE_BYTES], whole, delimiter=delimiter, header=header, place=str(path))
    dialect = replace(dialect, encoding="utf-8" if _is_utf_8(encoding) else str(encoding))
    frame, _ = parse_records(first, dialect, path)
    names = take_names(frame, dialect, path)
    notes = (Note(file_path(path), dialect.describe()), *check_names(list(names), str(path)))
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
        lines += text.count(b"\n")
        yield frame.rename(dict(zip(frame.columns, names, strict=True)))


def _is_utf_8(encoding: str | None) -> bool:
    return encoding is None or encoding.lower().replace("_", "-") in UTF_8


def _pieces(path: Path, form: Format, encoding: str | None) -> Iterator[tuple[bytes, bool]]:
    """Yield whole records as UTF-8 text, and whether they are the last."""
    rest, seen = b"", 0
    try:
        with _open(path, form) as file:
            decode = _Decoder(encoding, path)
            while True:
                raw = file.read(BLOCK_BYTES)
                if seen == 0 and encoding is None:
                    _refuse_marks(raw, path)
                rest += decode(raw, seen)
                seen += len(raw)
                end = len(rest) if not raw else _end_of_records(rest)
                if not raw or end:
                    yield rest[:end], not raw
                    rest = rest[end:]
                if not raw:
                    return
                if len(rest) > MOST_BYTES:
                    raise InputError(f"{path}: a record of more than {MOST_BYTES >> 20} MB. Is a quote not closed?")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path}: is damaged or cut short: it cannot be decompressed. Get it again.") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def _open(path: Path, form: Format) -> IO[bytes]:
    return gzip.open(path, "rb") if form is Format.GZIP else open(path, "rb")  # type: ignore[return-value]


def _refuse_marks(raw: bytes, path: Path) -> None:
    for mark, name in BYTE_ORDER_MARKS.items():
        if raw.startswith(mark):
            raise InputError(f"{path}: the file begins like {name}. Say so with --encoding {name}.")


class _Decoder:
    """Turns the bytes of a file into UTF-8 piece by piece; a byte that is not text is an InputError with its place."""

    def __init__(self, encoding: str | None, path: Path) -> None:
        self._named = encoding
        self._path = path
        self._plain = _is_utf_8(encoding)
        try:
            self._decoder = codecs.getincrementaldecoder("utf-8" if self._plain else str(encoding))()
        except LookupError:
            raise UsageError(
                f"encoding {encoding!r} is not known. Common ones: utf-8, cp1252, latin-1, utf-16."
            ) from None

    def __call__(self, raw: bytes, before: int) -> bytes:
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            cure = (
                "Name the file's encoding with --encoding (cp1252 is common)" if self._named is None else "Try another"
            )
            # What the decoder held back from the last piece stands before this one.
            at = before + error.start - max(0, len(error.object) - len(raw))
            raise InputError(
                f"{self._path}: byte {at} is not {self._named or 'utf-8'} ({error.reason}). {cure}."
            ) from None
        return (text if before else text.removeprefix("\ufeff")).encode()


def _end_of_records(text: bytes) -> int:
    """Return where the last whole record ends: at a line feed with an even number of quotes before it."""
    end = text.rfind(b"\n") + 1
    while end and text.count(b'"', 0, end) % 2:
        end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
    return end
