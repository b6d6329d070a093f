"""Files read by executors: each task reads its part of a file with the readers of every other engine.

A part of a CSV file is a range of bytes that begins and ends with a record; a part of a Parquet file is a range of
rows. A compressed file, and one in another encoding than UTF-8, is read by one task.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, InputError, Note, UsageError, setting
from shoal.schema import Dialect
from shoal.tables.csv import (
    MOST_BYTES,
    check_file,
    end_of_records,
    is_utf_8,
    parse_records,
    too_long,
    wrong_byte,
)
from shoal.tables.formats.blocks import open_blocks
from shoal.tables.formats.columnar import parquet_height, parquet_slice
from shoal.tables.formats.sniff import Format, sniff
from shoal.tables.sources.url import is_file_url, is_url, mask
from shoal.tables.table import Stamp, check_cells

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Files", "Split", "find_files", "read_split", "split_file"]

SPLIT_BYTES = 1 << 25
SPLIT_ROWS = 250_000
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Split:
    """What one task reads.

    Attributes:
        path: The file.
        start: The first byte or row.
        length: The number of bytes or rows; -1 for the complete file.
        lines: The number of lines before it, for messages.
    """

    path: Path
    start: int = 0
    length: int = -1
    lines: int = 0


@dataclass(frozen=True)
class Files:
    """The files of one table.

    Attributes:
        paths: The files, in order.
        stamps: The state of each file when it was opened.
        names: The names of the columns, the same in every file.
        notes: What was detected in the first file.
        dialect: How the CSV files are written; None for Parquet.
        form: The format of all files.
        options: How files are opened.
    """

    paths: tuple[Path, ...]
    stamps: tuple[Stamp, ...]
    names: tuple[str, ...]
    notes: tuple[Note, ...]
    dialect: Dialect | None
    form: Format
    options: dict[str, Any]

    @property
    def is_divisible(self) -> bool:
        """Whether several tasks can read parts of one file."""
        return self.form is Format.PARQUET or (self.form is Format.CSV and is_utf_8(self.options["encoding"]))


def find_files(place: str, options: dict[str, Any]) -> Files:
    """Find the files of a table: one file, all files of a folder, or those that a pattern such as data/*.csv names.

    Raises:
        FileError: If there is no file.
        InputError: If the files differ in format.
        UsageError: If Spark does not read the format.
    """
    if is_url(place) or is_file_url(place):
        raise UsageError(
            f"{mask(place)}: Spark does not read databases here. Use {setting('engine', 'duckdb')}, or pass a Spark "
            "frame."
        )
    paths = _list(place)
    forms = {path: sniff(path) for path in paths}
    if len(set(forms.values())) > 1:
        raise InputError(f"{place}: files of several formats. Name those of one format, such as {place}/*.parquet.")
    form = forms[paths[0]]
    if form not in (Format.CSV, Format.GZIP, Format.PARQUET):
        raise UsageError(
            f"{paths[0]}: is {form}. Spark reads CSV, compressed CSV (gzip) and Parquet here. Use "
            f"{setting('engine', 'memory')}, or pass a Spark frame."
        )
    first = open_blocks(paths[0], **options)
    stamps = tuple(check_file(path) for path in paths)
    if first.dialect is not None:  # the first file decides for all
        found = {"delimiter": first.dialect.delimiter, "header": first.dialect.header}
        options = options | found
    return Files(paths, stamps, first.names, first.notes, first.dialect, form, options)


def _list(place: str) -> tuple[Path, ...]:
    import glob

    path = Path(place)
    if os.path.isdir(path):
        found = sorted(each for each in path.iterdir() if each.is_file() and each.name[0] not in "._")
    elif os.path.exists(path) or not glob.has_magic(place):
        found = [path]
    else:
        found = sorted(Path(each) for each in glob.glob(place) if os.path.isfile(each))
    if not found:
        raise FileError(f"{place}: no file there. Correct the path.")
    return tuple(found)


def split_file(files: Files, number: int, split_bytes: int, split_rows: int) -> Iterator[Split]:
    """Divide a file into parts, each for one task; this reads a CSV file once, without parsing it."""
    path = files.paths[number]
    if files.form is Format.PARQUET:
        height = parquet_height(path, files.names)
        for start in range(0, max(1, height), split_rows):
            yield Split(path, start, min(split_rows, height - start))
        return
    size = path.stat().st_size
    if not files.is_divisible or size <= split_bytes:
        yield Split(path)
        return
    start = lines = 0
    with open(path, "rb") as file:
        remaining = b""
        while True:
            raw = file.read(split_bytes)
            remaining += raw
            end = len(remaining) if not raw else end_of_records(remaining, 0, len(remaining))
            if end:
                yield Split(path, start, end, lines)
                lines += remaining.count(b"\n", 0, end)
                start, remaining = start + end, remaining[end:]
            if not raw:
                return
            if len(remaining) > MOST_BYTES:
                raise too_long(path)


def read_split(files: Files, split: Split) -> Iterator[pl.DataFrame]:
    """Yield the cells of a part of a file as text."""
    stamp = files.stamps[files.paths.index(split.path)]
    if check_file(split.path) != stamp:
        raise InputError(f"{split.path}: the file changed since it was opened. Run again when nothing writes to it.")
    if files.form is Format.PARQUET:
        frames: Iterator[pl.DataFrame] = iter([parquet_slice(split.path, split.start, split.length)])
    elif split.length < 0:
        frames = _whole(files, split.path)
    else:
        frames = iter([_part(files, split)])
    for frame in frames:
        for name in frame.columns:
            if frame[name].str.contains("\0", literal=True).any():
                raise InputError(
                    f"{split.path}: column {name!r} contains a NUL character, which text files cannot store. Remove it."
                )
        yield frame


def _whole(files: Files, path: Path) -> Iterator[pl.DataFrame]:
    blocks = open_blocks(path, **files.options)
    _same_names(files.names, blocks.names, path)
    return blocks.frames


def _same_names(expected: Sequence[str], found: Sequence[str], path: Path) -> None:
    if tuple(expected) != tuple(found):
        raise InputError(f"{path}: its columns are not those of the first file. Give all files the same columns.")


def _part(files: Files, split: Split) -> pl.DataFrame:
    """Read a range of bytes of a CSV file."""
    assert files.dialect is not None
    with open(split.path, "rb") as file:
        file.seek(split.start)
        text = file.read(split.length)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise wrong_byte(split.path, split.start + error.start, files.options["encoding"], error.reason) from None
    if split.start == 0:
        text = text.removeprefix(BYTE_ORDER_MARK)
    dialect = replace(files.dialect, encoding="utf-8")
    frame, _ = parse_records(text, dialect, split.path, lines_before=split.lines, width=len(files.names))
    check_cells(frame, str(split.path))
    if split.start == 0 and dialect.header:
        if not dialect.numbered:
            _same_names(files.names, frame.row(0), split.path)
        frame = frame.slice(1)
    return frame.rename(dict(zip(frame.columns, files.names, strict=True)))
