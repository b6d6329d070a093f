"""Read Parquet and Arrow files as columns of text, and write releases as Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from shoal.errors import FileError, InputError, Note, counted, file_path, join_problems
from shoal.tables.csv import check_file, end_of_records
from shoal.tables.formats.arrow_messages import ArrowClaims, DamagedArrowError, check_messages
from shoal.tables.formats.memory_limit import check_memory, refuse_expansion
from shoal.tables.formats.parquet_pages import DamagedParquetError, ParquetClaims, check_pages
from shoal.tables.formats.sniff import Format
from shoal.tables.formats.writers import create
from shoal.tables.table import Stamp, Table, check_cells, check_width, make_table
from shoal.tables.typed_text import frame_orders, frame_types, polars_texts
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "parquet_blocks",
    "parquet_height",
    "parquet_slice",
    "read_columnar",
    "scan_released",
    "sink_parquet",
    "write_parquet",
]

Result = TypeVar("Result")
BLOCK_CELLS = 2_000_000
BLOCK_BYTES = 1 << 23  # of a release that becomes Parquet
GROUP_ROWS = 250_000  # rows that are written together; readers have as many in memory


def read_columnar(path: Path, form: Format, watch: Watch = UNWATCHED) -> Table:
    """Read a Parquet or Arrow file; every cell becomes the text of its value.

    Args:
        path: The file.
        form: Its format.
        watch: Whom to ask whether the run was cancelled.

    Raises:
        InputError: If the file is damaged, has no rows, changed meanwhile, or has a column without a text.
        FileError: If the table does not fit into memory.
    """
    import polars as pl

    stamp = check_file(path)
    _check_claims(path, form)
    read: Callable[[], pl.DataFrame]
    if form is Format.PARQUET:
        read = lambda: pl.read_parquet(path, glob=False, hive_partitioning=False, use_statistics=False)  # noqa: E731
    elif form is Format.ARROW:
        read = lambda: pl.read_ipc(path)  # noqa: E731
    else:
        read = lambda: pl.read_ipc_stream(path)  # noqa: E731
    frame = _guarded(path, form, read)
    if Stamp.of(path) != stamp:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    watch.check()
    columns = _texts(frame, path, watch)
    # Many rows may share one long text of a dictionary, which is not in the claims.
    check_memory(path, sum(int(column.str.len_bytes().sum()) for column in columns.values()), 0)
    if frame.height == 0:
        raise InputError(f"{path}: no data rows.")
    notes = (Note(file_path(path), f"{form}, {counted(frame.width, 'column')}"),)
    types = dict(frame.schema) if form is Format.PARQUET else frame_types(frame, "polars")
    orders = frame_orders(frame, "polars")
    return make_table(columns, str(path), path=path, stamp=stamp, notes=notes, types=types, orders=orders)


def _texts(frame: pl.DataFrame, path: Path, watch: Watch = UNWATCHED) -> dict[str, pl.Series]:
    import polars as pl

    spans = [name for name, dtype in frame.schema.items() if dtype == pl.Duration]
    if spans:
        text = "has type Duration, which not every reader supports. Convert it to a number or text first"
        raise InputError(join_problems([f"{path}: column {name!r} {text}." for name in spans]))
    try:
        return polars_texts(frame, watch)
    except InputError as error:
        raise InputError(join_problems([f"{path}: {line}" for line in error.text.splitlines()])) from None


def parquet_blocks(path: Path) -> tuple[tuple[str, ...], Iterator[pl.DataFrame]]:
    """Return the column names of a Parquet file, and an iterator over blocks of its rows as text."""
    _check_claims(path, Format.PARQUET, in_memory=False)
    names = _guarded(path, Format.PARQUET, lambda: tuple(_scan(path).collect_schema().names()))

    def frames() -> Iterator[pl.DataFrame]:
        start, size = 0, max(1, BLOCK_CELLS // max(1, len(names)))
        while True:
            frame = parquet_slice(path, start, size)
            if frame.height:
                yield frame
            if frame.height < size:
                return
            start += size

    return names, frames()


def parquet_height(path: Path, names: Sequence[str]) -> int:
    """Return the number of rows of a Parquet file, whose columns must be these."""
    import polars as pl

    _check_claims(path, Format.PARQUET, in_memory=False)
    scanned = _guarded(path, Format.PARQUET, lambda: _scan(path))
    if _guarded(path, Format.PARQUET, lambda: tuple(scanned.collect_schema().names())) != tuple(names):
        raise InputError(f"{path}: its columns are not those of the first file. Give all files the same columns.")
    return int(_guarded(path, Format.PARQUET, lambda: scanned.select(pl.len()).collect().item()))


def parquet_slice(path: Path, start: int, size: int) -> pl.DataFrame:
    """Return some rows of a Parquet file as text."""
    import polars as pl

    frame = _guarded(path, Format.PARQUET, lambda: _scan(path).slice(start, size).collect())
    texts = _texts(frame, path)
    check_cells(texts.values(), str(path))
    return pl.DataFrame(texts)


def _scan(path: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False, use_statistics=False)


def _guarded(path: Path, form: Format, read: Callable[[], Result]) -> Result:
    """Read a file. An error of polars may contain cells, so its text is not passed on."""
    import polars as pl

    try:
        return read()
    except (pl.exceptions.PolarsError, OSError, ValueError, OverflowError):
        raise _damaged(path, form) from None
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # polars panicked; this is not an Exception
            raise _damaged(path, form) from None
        raise


def _check_claims(path: Path, form: Format, *, in_memory: bool = True) -> None:
    """Raise an error if a file is truncated, claims sizes that it cannot have, or is too large.

    Args:
        path: The file.
        form: Its format.
        in_memory: Whether the complete table must fit into memory.
    """
    claims: ParquetClaims | ArrowClaims
    try:
        if form is Format.PARQUET:
            _check_end(path)
            claims = check_pages(path)
        else:
            claims = check_messages(path, stream=form is Format.ARROW_STREAM)
    except (DamagedParquetError, DamagedArrowError):
        raise _damaged(path, form) from None
    check_width(claims.columns, str(path))
    size = path.stat().st_size
    refuse_expansion(path, size, claims.expanded + claims.cells)
    if in_memory:
        check_memory(path, max(size, claims.expanded), claims.cells)


def _check_end(path: Path) -> None:
    with open(path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        if file.read() != b"PAR1":
            raise InputError(f"{path}: is truncated: it does not end like a Parquet file. Obtain it again.")


def _damaged(path: Path, form: Format) -> InputError:
    return InputError(
        f"{path}: cannot be read as {form}: it is damaged, encrypted or in an unknown version. Obtain it again, or "
        "convert it to CSV."
    )


def scan_released(plain: Path) -> pl.LazyFrame:
    """Scan a released CSV file. The names come from a row: polars leaves doubled quotes in a header as they are."""
    import polars as pl

    scanned = pl.scan_csv(plain, has_header=False, infer_schema=False, glob=False)
    names = scanned.head(1).collect()
    return scanned.slice(1).rename(dict(zip(names.columns, names.row(0), strict=True)))


def sink_parquet(plain: Path, path: Path) -> None:
    """Convert a released CSV file to the Parquet that `write_parquet` writes, block by block."""
    import polars as pl
    from polars.io.plugins import register_io_source

    names = scan_released(plain).collect_schema().names()

    def frames(_columns: object, _predicate: object, _n_rows: object, _size: object) -> Iterator[pl.DataFrame]:
        return _released_blocks(plain, names)

    # Not a scan of the file: polars would read ahead of the writer, and have most of the file in memory.
    _sink(register_io_source(frames, schema=dict.fromkeys(names, pl.String)), path)


def _released_blocks(plain: Path, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of a released CSV file, a block at a time."""
    import polars as pl

    remaining, is_first = b"", True
    with open(plain, "rb") as file:
        while raw := file.read(BLOCK_BYTES):
            remaining += raw
            end = end_of_records(remaining, 0, len(remaining))
            if not end:
                continue
            frame = pl.read_csv(remaining[:end], has_header=False, infer_schema=False, new_columns=list(names))
            remaining = remaining[end:]
            yield _with_nulls(frame.slice(1) if is_first else frame)
            is_first = False


def write_parquet(text: pl.DataFrame, path: Path) -> None:
    """Write the cells as text or as their types, without statistics and metadata; an empty cell becomes null.

    Raises:
        FileError: If the file cannot be written.
    """
    _sink(_with_nulls(text).lazy(), path)


def _with_nulls(text: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return text.with_columns(pl.col(pl.String).replace("", None))


def _sink(text: pl.LazyFrame, path: Path) -> None:
    import polars as pl

    with create(path) as file:
        try:
            text.sink_parquet(
                file, compression="zstd", statistics=False, row_group_size=GROUP_ROWS, maintain_order=True
            )
        except pl.exceptions.PolarsError:  # polars wraps an OSError
            raise FileError(f"{path.name}: cannot be written: the disk may be full.") from None
