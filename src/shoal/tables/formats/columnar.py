"""Read Parquet and Arrow files as columns of text, and write releases as Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from shoal.errors import FileError, InputError, Note, counted, file_path, join_problems
from shoal.tables.csv import check_file
from shoal.tables.formats.memory_limit import check_expansion, check_memory
from shoal.tables.formats.sniff import Format
from shoal.tables.formats.writers import create
from shoal.tables.table import Stamp, Table, make_table
from shoal.tables.typed_text import polars_texts
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["parquet_blocks", "read_columnar", "sink_parquet", "write_parquet"]

Result = TypeVar("Result")
BLOCK_CELLS = 2_000_000


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
    read: Callable[[], pl.DataFrame]
    if form is Format.PARQUET:
        _check_parquet(path)
        read = lambda: pl.read_parquet(path, glob=False, hive_partitioning=False, use_statistics=False)  # noqa: E731
    elif form is Format.ARROW:
        rows, names = _guarded(path, form, lambda: _arrow_shape(path))
        check_memory(path, stamp.size, rows * names)
        read = lambda: pl.read_ipc(path)  # noqa: E731
    else:
        check_memory(path, stamp.size)
        read = lambda: pl.read_ipc_stream(path)  # noqa: E731
    frame = _guarded(path, form, read)
    if Stamp.of(path) != stamp:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    watch.check()
    columns = _texts(frame, path, watch)
    if frame.height == 0:
        raise InputError(f"{path}: no data rows.")
    notes = (Note(file_path(path), f"{form}, {counted(frame.width, 'column')}"),)
    return make_table(columns, str(path), path=path, stamp=stamp, notes=notes)


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
    import polars as pl

    _check_end(path)
    scanned = _guarded(
        path, Format.PARQUET, lambda: pl.scan_parquet(path, glob=False, hive_partitioning=False, use_statistics=False)
    )
    names = _guarded(path, Format.PARQUET, lambda: tuple(scanned.collect_schema().names()))

    def frames() -> Iterator[pl.DataFrame]:
        start, size = 0, max(1, BLOCK_CELLS // max(1, len(names)))
        while True:
            frame = _guarded(path, Format.PARQUET, scanned.slice(start, size).collect)
            if frame.height:
                yield pl.DataFrame(_texts(frame, path))
            if frame.height < size:
                return
            start += size

    return names, frames()


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


def _check_parquet(path: Path) -> None:
    """Raise an error if a file is truncated or, according to its footer, too large for the memory."""
    import duckdb

    _check_end(path)
    try:
        with duckdb.connect() as connection:
            totals = connection.execute(
                "select sum(total_uncompressed_size), sum(num_values) from parquet_metadata(?)", [str(path)]
            ).fetchone()
    except duckdb.Error:
        raise _damaged(path, Format.PARQUET) from None
    expanded, cells = (int(number or 0) for number in totals or (0, 0))
    check_expansion(path, path.stat().st_size, expanded, cells)


def _check_end(path: Path) -> None:
    with open(path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        if file.read() != b"PAR1":
            raise InputError(f"{path}: is truncated: it does not end like a Parquet file. Obtain it again.")


def _arrow_shape(path: Path) -> tuple[int, int]:
    import polars as pl

    rows = int(pl.scan_ipc(path).select(pl.len()).collect().item())
    return rows, len(pl.read_ipc_schema(path))


def _damaged(path: Path, form: Format) -> InputError:
    return InputError(
        f"{path}: cannot be read as {form}: it is damaged, encrypted or in an unknown version. Obtain it again, or "
        "convert it to CSV."
    )


def sink_parquet(plain: Path, path: Path) -> None:
    """Convert a released CSV file to the Parquet that `write_parquet` writes, without reading it into memory."""
    import polars as pl

    with create(path) as file:
        try:
            pl.scan_csv(plain, infer_schema=False, glob=False).with_columns(pl.all().replace("", None)).sink_parquet(
                file, compression="zstd", statistics=False, row_group_size=1_000_000, maintain_order=True
            )
        except pl.exceptions.PolarsError:  # polars wraps an OSError
            raise FileError(f"{path.name}: cannot be written: the disk may be full.") from None


def write_parquet(text: pl.DataFrame, path: Path) -> None:
    """Write the cells as columns of text, without statistics and metadata; an empty cell becomes null.

    Each column is rebuilt from its cells, so that the file cannot contain anything else.

    Raises:
        FileError: If the file cannot be written.
    """
    import polars as pl

    columns = [
        pl.Series(name, [cell or None for cell in text[name].to_list()], dtype=pl.String) for name in text.columns
    ]
    with create(path) as file:
        try:
            pl.DataFrame(columns).write_parquet(file, compression="zstd", statistics=False, row_group_size=1_000_000)
        except pl.exceptions.PolarsError:  # polars wraps an OSError
            raise FileError(f"{path.name}: cannot be written: the disk may be full.") from None
