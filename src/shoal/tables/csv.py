"""CSV files: strictly checked bytes in, a table of text out.

The text is parsed block by block. So reading holds two copies of it, the bytes and the table, and can be cancelled.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import (
    FileError,
    InputError,
    InternalError,
    Note,
    counted,
    file_path,
    join_problems,
    setting,
)
from shoal.schema import NUMBERED, Dialect, check_encoding
from shoal.tables.dialect import detect
from shoal.tables.formats.memory_limit import check_memory, fits_memory
from shoal.tables.header import about_numbers, number_doubles, numbered_names
from shoal.tables.table import Stamp, Table, check_cells, check_header, check_names, check_width
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "BYTE_ORDER_MARKS",
    "PACKED",
    "check_file",
    "end_of_records",
    "is_utf_8",
    "parse_csv",
    "parse_records",
    "read_bytes",
    "read_csv",
    "read_small",
    "read_text",
    "refuse_byte_order_mark",
    "take_names",
    "take_sample",
    "too_long",
    "wrong_byte",
]

BLOCK_BYTES = 1 << 25
SAMPLE_BYTES = 1_000_000
MOST_BYTES = 1 << 28  # a longer record means that a quote was never closed
UTF_8 = ("utf-8", "utf8", "utf-8-sig")
# Text may begin with these bytes, which polars mistakes for zlib compression.
PACKED = (b"x\x01", b"x\xda")


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    named: Sequence[str] = (),
    duplicate_columns: str | None = None,
    watch: Watch = UNWATCHED,
) -> Table:
    """Read a CSV file, every cell as text.

    Args:
        path: The file.
        delimiter: The delimiter, detected by default.
        encoding: The encoding, by default UTF-8.
        header: Whether the first line names the columns, detected by default.
        named: Columns that the file has; a first line that contains all of them is a header.
        duplicate_columns: "number" numbers columns that share a name: a, a_2, a_3; otherwise they are an error.
        watch: Hears of progress and may cancel.

    Raises:
        InputError: The bytes do not follow RFC 4180: a ragged row, an open quote or a byte that is not text. The
            message names the line; nothing is guessed. Or it cannot be told whether the first line is a header.
        FileError: The file cannot be read.
    """
    path = Path(path)
    raw, stamp = read_bytes(path, watch)
    return parse_csv(
        raw,
        path,
        stamp,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        named=named,
        duplicate_columns=duplicate_columns,
        watch=watch,
    )


def parse_csv(
    raw: bytes,
    path: Path,
    stamp: Stamp,
    *,
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
    named: Sequence[str] = (),
    duplicate_columns: str | None = None,
    watch: Watch = UNWATCHED,
) -> Table:
    """Make a table of the bytes of a CSV file; path and stamp describe the file that they came from."""
    text, used_encoding = _decode(raw, encoding, path, watch)
    del raw
    sample, is_complete = take_sample(text), len(text) <= SAMPLE_BYTES
    numbered = duplicate_columns == NUMBERED
    dialect = detect(
        sample, is_complete, delimiter=delimiter, header=header, named=named, numbered=numbered, place=str(path)
    )
    dialect = replace(dialect, encoding=used_encoding)
    if not fits_memory(len(text), len(text)):  # as if every byte were a cell: counting the cells takes a while
        check_memory(path, len(text), text.count(dialect.delimiter.encode()) + text.count(b"\n"))
    frame, blank, renamed = _parse(text, dialect, path, watch)
    notes = [Note(file_path(path), dialect.describe()), *renamed]
    if blank:
        note = Note(file_path(path), "{lines:blank line was|blank lines were} skipped", counts={"lines": blank})
        notes.append(note)
    notes += check_names(frame.columns, str(path))
    check_cells(frame, str(path))
    return Table(frame, path=path, dialect=dialect, notes=tuple(notes), stamp=stamp)


def take_sample(text: bytes) -> bytes:
    """Return the beginning of a text: at least its first two lines, if they are not too long."""
    end = SAMPLE_BYTES
    if (second := text.find(b"\n", text.find(b"\n") + 1, MOST_BYTES)) >= end:
        end = second + 1
    return text[:end]


def check_file(path: Path) -> Stamp:
    """Return the stamp of a file; raise a FileError if it does not exist or is not a regular file."""
    try:
        if not path.exists():
            raise FileError(f"{path}: no such file.")
        if not path.is_file():
            raise FileError(f"{path}: not a regular file. Name a file.")
        return Stamp.of(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def read_bytes(path: Path, watch: Watch = UNWATCHED) -> tuple[bytes, Stamp]:
    """Return the content of a file and its stamp; raise an InputError if the file changes meanwhile."""
    stamp = check_file(path)
    content = io.BytesIO()
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(BLOCK_BYTES):
                content.write(block)
                watch.check()
        after = Stamp.of(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    if stamp != after or content.tell() != stamp.size:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    return content.getvalue(), stamp


BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


def refuse_byte_order_mark(raw: bytes, path: Path) -> None:
    """Refuse a file whose first bytes announce another encoding than UTF-8."""
    for mark, name in BYTE_ORDER_MARKS.items():
        if raw.startswith(mark):
            raise InputError(f"{path}: the file begins like {name}. Use {setting('encoding', name)}.")


def wrong_byte(path: Path, position: int, encoding: str | None, reason: str) -> InputError:
    """Return the error for a byte that is not text in an encoding."""
    cure = f"Name the encoding; {setting('encoding', 'cp1252')} is common" if is_utf_8(encoding) else "Try another"
    return InputError(f"{path}: byte {position} is not {encoding or 'utf-8'} ({reason}). {cure}.")


def is_utf_8(encoding: str | None) -> bool:
    """Return whether an encoding is UTF-8, which is the default."""
    return encoding is None or encoding.lower().replace("_", "-") in UTF_8


def read_small(path: Path) -> bytes:
    """Return the content of a file that is no table, such as a hierarchy; refuse one that is larger than any is."""
    size = check_file(path).size
    if size > MOST_BYTES:
        raise InputError(f"{path}: is larger than {MOST_BYTES >> 20} MB. Name a hierarchy, not a table.")
    check_memory(path, size, size // 4)
    return read_bytes(path)[0]


def read_text(path: Path, encoding: str) -> str:
    """Return the text of a small file, without byte order mark."""
    check_encoding(encoding)
    raw = read_small(path)
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise wrong_byte(path, error.start, encoding, error.reason) from None


def _decode(raw: bytes, encoding: str | None, path: Path, watch: Watch) -> tuple[bytes, str]:
    """Return the text as UTF-8 without byte order mark, and the name of the encoding."""
    if encoding is None:
        refuse_byte_order_mark(raw, path)
    if is_utf_8(encoding):
        raw = raw.removeprefix(codecs.BOM_UTF8)
        if not raw.isascii():
            _check_utf_8(raw, encoding, path, watch)
        return raw, "utf-8"
    assert encoding is not None
    check_encoding(encoding)
    try:
        return raw.decode(encoding).removeprefix("\ufeff").encode(), encoding
    except UnicodeDecodeError as error:
        raise wrong_byte(path, error.start, encoding, error.reason) from None


def _check_utf_8(raw: bytes, encoding: str | None, path: Path, watch: Watch) -> None:
    """Refuse bytes that are not UTF-8, without a copy of the text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(raw), BLOCK_BYTES):
        block = raw[start : start + BLOCK_BYTES]
        try:
            decoder.decode(block, final=start + BLOCK_BYTES >= len(raw))
        except UnicodeDecodeError as error:
            # The decoder puts the bytes that it held back from the last block before this one.
            position = start + error.start - (len(error.object) - len(block))
            raise wrong_byte(path, position, encoding, error.reason) from None
        watch.check()


def _parse(text: bytes, dialect: Dialect, path: Path, watch: Watch) -> tuple[pl.DataFrame, int, list[Note]]:
    """Return the rows of CSV text, the number of blank lines, and notes about the names."""
    import polars as pl

    frames: list[pl.DataFrame] = []
    names: tuple[str, ...] = ()
    notes: list[Note] = []
    start = blank = 0
    while start < len(text):
        end = _block_end(text, start, path)
        try:
            frame, n_blank = parse_records(text[start:end], dialect, path, width=len(names))
        except InputError:
            if end - start < len(text):
                parse_records(text, dialect, path)  # counts the faults of the complete file
            lines = text.count(b"\n", 0, start)
            parse_records(text[start:end], dialect, path, lines_before=lines, width=len(names))
            raise
        if not names and frame.height:
            names, notes = take_names(frame, dialect, path)
            frame = frame.slice(1) if dialect.header else frame
        if frame.height:
            frames.append(frame.rename(dict(zip(frame.columns, names, strict=True))))
        blank += n_blank
        start = end
        watch.step(end / len(text))
    if not frames:
        raise InputError(f"{path}: no data rows.")
    return (frames[0] if len(frames) == 1 else pl.concat(frames, rechunk=True)), blank, notes


def _block_end(text: bytes, start: int, path: Path) -> int:
    """Return where a block of complete records ends."""
    size = BLOCK_BYTES
    while start + size < len(text):
        if (end := end_of_records(text, start, start + size)) > start:
            return end
        if size > MOST_BYTES:
            raise too_long(path)
        size *= 2
    return len(text)


def too_long(path: Path) -> InputError:
    """Return the error for a record that does not end."""
    return InputError(f"{path}: a record is longer than {MOST_BYTES >> 20} MB. Look for a quote that is never closed.")


def end_of_records(text: bytes, start: int, stop: int) -> int:
    """Return where the last complete record before stop ends; start if there is none.

    It ends at a line feed with an even number of quotes before it.
    """
    end = max(start, text.rfind(b"\n", start, stop) + 1)
    n_quotes = text.count(b'"', start, end)
    while end > start and n_quotes % 2:
        line_end = max(start, text.rfind(b"\n", start, text.rfind(b'"', start, end)) + 1)
        n_quotes -= text.count(b'"', line_end, end)
        end = line_end
    return end


def take_names(frame: pl.DataFrame, dialect: Dialect, path: Path) -> tuple[tuple[str, ...], list[Note]]:
    """Return the names of the columns from the first records of a file, and notes about them."""
    if not dialect.header:
        return numbered_names(frame.width), []
    first = frame.row(0)
    names = number_doubles(first) if dialect.numbered else first
    check_header(names, str(path))
    return names, about_numbers(file_path(path), first, names)


def parse_records(
    text: bytes, dialect: Dialect, path: Path, *, lines_before: int = 0, width: int = 0
) -> tuple[pl.DataFrame, int]:
    """Return the records of CSV text, including a header, and the number of blank lines.

    Args:
        text: The text, UTF-8.
        dialect: How the file is written.
        path: The file, for messages.
        lines_before: The number of lines of the file before this text.
        width: The number of cells in the first record of the file; 0 if this text contains it.
    """
    import numpy as np
    import polars as pl

    import shoal.kernels.csv_scan as csv_scan

    plain = bytearray(len(text) + 1)
    scan = np.zeros(11, dtype=np.int64)
    csv_scan.scan_csv(text, ord(dialect.delimiter), dialect.initial_space, plain, scan)
    if width and scan[csv_scan.RECORDS] and scan[csv_scan.FIELDS] != width:
        scan[csv_scan.RAGGED] = scan[csv_scan.RECORDS] - scan[csv_scan.RAGGED]
        scan[csv_scan.RAGGED_LINE], scan[csv_scan.RAGGED_FIELDS] = 1, scan[csv_scan.FIELDS]
        scan[csv_scan.FIELDS] = width
    for line in ("RAGGED_LINE", "OPEN_QUOTE", "STRAY_QUOTE", "NUL", "LONE_CR"):
        scan[getattr(csv_scan, line)] += lines_before * (scan[getattr(csv_scan, line)] > 0)
    _refuse_malformed(scan.tolist(), dialect, path)
    check_width(int(scan[csv_scan.FIELDS]), str(path))
    n_records = int(scan[csv_scan.RECORDS])
    columns = [str(i) for i in range(width or scan[csv_scan.FIELDS])]
    if not n_records:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String)), int(scan[csv_scan.BLANK])
    content = bytes(memoryview(plain)[: scan[csv_scan.LENGTH]])
    if looks_packed := content.startswith(PACKED):  # put a record before what polars would decompress
        content = b'""' + dialect.delimiter.encode() * (len(columns) - 1) + b"\n" + content
    frame = pl.read_csv(
        content, has_header=False, separator=dialect.delimiter, infer_schema=False, new_columns=columns
    ).slice(int(looks_packed))
    if frame.height != n_records:
        raise InternalError(f"{path}: {n_records} records were scanned but {frame.height} read.")
    return frame.select(pl.all().fill_null("")), int(scan[csv_scan.BLANK])


def _refuse_malformed(scan: list[int], dialect: Dialect, path: Path) -> None:
    import shoal.kernels.csv_scan as csv_scan

    problems = []
    if scan[csv_scan.NUL]:
        problems.append(f"{path}, line {scan[csv_scan.NUL]}: a NUL byte. This is not a text file, or is damaged.")
    if scan[csv_scan.OPEN_QUOTE]:
        problems.append(f"{path}, line {scan[csv_scan.OPEN_QUOTE]}: a quote opens here and is never closed.")
    if scan[csv_scan.STRAY_QUOTE]:
        problems.append(
            f"{path}, line {scan[csv_scan.STRAY_QUOTE]}: a quote is inside a cell. Put the cell in quotes and "
            "double each quote in it."
        )
    if scan[csv_scan.LONE_CR]:
        problems.append(
            f"{path}, line {scan[csv_scan.LONE_CR]}: a carriage return without a line feed. End lines with LF or CRLF."
        )
    if scan[csv_scan.RAGGED]:
        cells, rows = (
            counted(int(scan[csv_scan.RAGGED_FIELDS]), "cell"),
            counted(int(scan[csv_scan.RAGGED]), "such row"),
        )
        problems.append(
            f"{path}, line {scan[csv_scan.RAGGED_LINE]}: {cells}, but the first line has {scan[csv_scan.FIELDS]} "
            f"({rows}). Correct the rows, or name another delimiter than {dialect.delimiter!r} with "
            f"{setting('delimiter')}."
        )
    if problems:
        raise InputError(join_problems(problems))
