"""CSV files: strictly checked bytes in, a table of text out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import FileError, InputError, InternalError, Note, UsageError, file_path, join_problems
from shoal.schema import Dialect
from shoal.tables.dialect import detect, numbered_names

if TYPE_CHECKING:
    import polars as pl
from shoal.tables.table import Stamp, Table, _check_header, check_names

__all__ = [
    "BYTE_ORDER_MARKS",
    "PACKED",
    "check_file",
    "parse_csv",
    "parse_records",
    "read_bytes",
    "read_csv",
    "take_names",
]


# Texts may begin like this, and polars takes it for bytes that zlib has packed.
PACKED = (b"x\x01", b"x\xda")


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read a CSV file, every cell as text; delimiter, encoding and header are told from the file unless given.

    The bytes are checked against RFC 4180 first: a ragged row, an open quote or a byte that is not text is an
    InputError with its line, never a guess.
    """
    path = Path(path)
    raw, stamp = read_bytes(path)
    return parse_csv(raw, path, stamp, delimiter=delimiter, encoding=encoding, header=header)


def parse_csv(
    raw: bytes, path: Path, stamp: Stamp, *, delimiter: str | None, encoding: str | None, header: bool | None
) -> Table:
    """Make a table of the bytes of a CSV file; path and stamp are those of the file that they came from."""
    text, encoding_found = _decode(raw, encoding, path)
    del raw
    dialect = detect(text[:1_000_000], len(text) <= 1_000_000, delimiter=delimiter, header=header, place=str(path))
    dialect = replace(dialect, encoding=encoding_found)
    frame, blank = _parse(text, dialect, path)
    notes = [Note(file_path(path), dialect.describe())]
    if blank:
        lines = "{lines} blank line was" if blank == 1 else "{lines} blank lines were"
        notes.append(Note(file_path(path), f"{lines} skipped", counts={"lines": blank}))
    notes += check_names(frame.columns, str(path))
    return Table(frame, path=path, dialect=dialect, notes=tuple(notes), stamp=stamp)


def check_file(path: Path) -> Stamp:
    """Return the stamp of a regular file that is there, else raise a FileError."""
    try:
        if not path.exists():
            raise FileError(f"{path}: no such file.")
        if not path.is_file():
            raise FileError(f"{path}: not a regular file. Give the path of a table.")
        return Stamp.of(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None


def read_bytes(path: Path) -> tuple[bytes, Stamp]:
    """Return the content of a file and the stamp that it had; a file that changes meanwhile is an InputError."""
    stamp = check_file(path)
    try:
        raw = path.read_bytes()
        after = Stamp.of(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    if stamp != after or len(raw) != stamp.size:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    return raw, stamp


BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


def _decode(raw: bytes, encoding: str | None, path: Path) -> tuple[bytes, str]:
    """Return the text as UTF-8 without byte order mark, and the name of the encoding."""
    if encoding is None:
        for mark, name in BYTE_ORDER_MARKS.items():
            if raw.startswith(mark):
                raise InputError(f"{path}: the file begins like {name}. Say so with --encoding {name}.")
    try:
        if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
            raw = raw.removeprefix(b"\xef\xbb\xbf")
            if not raw.isascii():
                raw.decode("utf-8")
            return raw, "utf-8"
        return raw.decode(encoding).removeprefix("\ufeff").encode(), encoding
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Common ones: utf-8, cp1252, latin-1, utf-16.") from None
    except UnicodeDecodeError as error:
        cure = "Name the file's encoding with --encoding (cp1252 is common)" if encoding is None else "Try another"
        raise InputError(f"{path}: byte {error.start} is not {encoding or 'utf-8'} ({error.reason}). {cure}.") from None


def _parse(text: bytes, dialect: Dialect, path: Path) -> tuple[pl.DataFrame, int]:
    frame, blank = parse_records(text, dialect, path)
    if frame.height <= dialect.header:
        raise InputError(f"{path}: no data rows.")
    names = take_names(frame, dialect, path)
    frame = frame.slice(1) if dialect.header else frame
    return frame.rename(dict(zip(frame.columns, names, strict=True))), blank


def take_names(frame: pl.DataFrame, dialect: Dialect, path: Path) -> tuple[str, ...]:
    """Return the names of the columns of a file from its first records."""
    if not dialect.header:
        return numbered_names(frame.width)
    _check_header(frame.row(0), str(path))
    return tuple(frame.row(0))


def parse_records(
    text: bytes, dialect: Dialect, path: Path, *, lines_before: int = 0, width: int = 0
) -> tuple[pl.DataFrame, int]:
    """Return the records of CSV text, a header among them, and the number of blank lines.

    lines_before: lines of the file before this text. width: cells of the file's first record, where it stands there.
    """
    import numpy as np
    import polars as pl

    import shoal.kernels.csv_scan as csv_scan

    plain = bytearray(len(text) + 1)
    found = np.zeros(11, dtype=np.int64)
    csv_scan.scan_csv(text, ord(dialect.delimiter), dialect.initial_space, plain, found)
    if width and found[csv_scan.RECORDS] and found[csv_scan.FIELDS] != width:
        found[csv_scan.RAGGED] = found[csv_scan.RECORDS] - found[csv_scan.RAGGED]
        found[csv_scan.RAGGED_LINE], found[csv_scan.RAGGED_FIELDS] = 1, found[csv_scan.FIELDS]
        found[csv_scan.FIELDS] = width
    for line in ("RAGGED_LINE", "OPEN_QUOTE", "STRAY_QUOTE", "NUL", "LONE_CR"):
        found[getattr(csv_scan, line)] += lines_before * (found[getattr(csv_scan, line)] > 0)
    _refuse_malformed(found.tolist(), dialect, path)
    n_records = int(found[csv_scan.RECORDS])
    columns = [str(i) for i in range(width or found[csv_scan.FIELDS])]
    if not n_records:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String)), int(found[csv_scan.BLANK])
    content = bytes(memoryview(plain)[: found[csv_scan.LENGTH]])
    if looks_packed := content.startswith(PACKED):  # one record more, before what polars would unpack
        content = b'""' + dialect.delimiter.encode() * (len(columns) - 1) + b"\n" + content
    frame = pl.read_csv(
        content, has_header=False, separator=dialect.delimiter, infer_schema=False, new_columns=columns
    ).slice(int(looks_packed))
    if frame.height != n_records:
        raise InternalError(f"{path}: {n_records} records were scanned but {frame.height} read.")
    return frame.select(pl.all().fill_null("")), int(found[csv_scan.BLANK])


def _refuse_malformed(found: list[int], dialect: Dialect, path: Path) -> None:
    import shoal.kernels.csv_scan as csv_scan

    problems = []
    if found[csv_scan.NUL]:
        problems.append(f"{path}, line {found[csv_scan.NUL]}: a NUL byte. This is not a text file, or is damaged.")
    if found[csv_scan.OPEN_QUOTE]:
        problems.append(f"{path}, line {found[csv_scan.OPEN_QUOTE]}: a quote opens here and is never closed.")
    if found[csv_scan.STRAY_QUOTE]:
        problems.append(
            f"{path}, line {found[csv_scan.STRAY_QUOTE]}: a quote stands inside a cell. Put the whole cell in quotes "
            "and double each quote in it."
        )
    if found[csv_scan.LONE_CR]:
        problems.append(f"{path}, line {found[csv_scan.LONE_CR]}: a carriage return without line feed ends no line.")
    if found[csv_scan.RAGGED]:
        problems.append(
            f"{path}, line {found[csv_scan.RAGGED_LINE]}: {found[csv_scan.RAGGED_FIELDS]} cells, but the first line "
            f"has {found[csv_scan.FIELDS]} ({found[csv_scan.RAGGED]} such rows). Mend the rows, or name another "
            f"--delimiter than {dialect.delimiter!r}."
        )
    if problems:
        raise InputError(join_problems(problems))
