"""File formats of tables and releases: CSV (plain, gzip, Zstandard), Parquet, Arrow, Excel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import UsageError, setting
from shoal.tables.formats.sniff import Format, output_format, sniff
from shoal.tables.table import Table, from_frame
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["Format", "as_table", "output_format", "read_table"]


def as_table(data: Any, named: Sequence[str] = ()) -> Table:
    """Return a `Table`, a frame of any library, or the content of a file as a table.

    Args:
        data: The table.
        named: Columns that it has; a first line of a file that contains all of them is a header.
    """
    if isinstance(data, Table):
        return data
    return read_table(data, named=named) if isinstance(data, str | os.PathLike) else from_frame(data)


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    named: Sequence[str] = (),
    sheet: str | None = None,
    watch: Watch = UNWATCHED,
) -> Table:
    """Read a table from a file, every cell as text: CSV, also in gzip or Zstandard, Parquet, Arrow (Feather), Excel.

    Args:
        path: The file. Its content decides its format; its name must agree.
        delimiter: The delimiter of CSV, detected by default.
        encoding: The encoding of CSV, by default UTF-8.
        header: Whether the first line of CSV or Excel names the columns, detected by default.
        named: Columns that the file has; a first line that contains all of them is a header.
        sheet: The sheet of a workbook; by default the first visible one.
        watch: Hears of progress and may cancel.

    Raises:
        InputError: The content cannot be used, is not what the name says, or has a first line of which it cannot be
            told whether it names the columns.
        FileError: The file cannot be read, or needs more memory than is available.

    >>> import shoal
    >>> shoal.read_table(shoal.datasets.patients_path()).n_rows
    5000
    """
    from shoal.tables.csv import check_file, parse_csv, read_csv
    from shoal.tables.formats import memory_limit
    from shoal.tables.formats.compressed import read_compressed

    path = Path(path)
    stamp = check_file(path)
    form = sniff(path)
    textual = form in (Format.CSV, Format.GZIP, Format.ZSTD)
    _refuse_options(path, form, {"delimiter": delimiter, "encoding": encoding}, fits=textual)
    _refuse_options(path, form, {"sheet": sheet}, fits=form is Format.EXCEL)
    _refuse_options(path, form, {"header": header}, fits=textual or form is Format.EXCEL)
    if form is Format.CSV:
        with open(path, "rb") as file:
            sample = file.read(memory_limit.SAMPLE_BYTES)
        memory_limit.check_memory(path, stamp.size, memory_limit.count_cells(sample, stamp.size))
        return read_csv(path, delimiter=delimiter, encoding=encoding, header=header, named=named, watch=watch)
    if form in (Format.GZIP, Format.ZSTD):
        raw, stamp = read_compressed(path, form, watch)
        return parse_csv(
            raw, path, stamp, delimiter=delimiter, encoding=encoding, header=header, named=named, watch=watch
        )
    if form is Format.EXCEL:
        from shoal.tables.formats.excel import read_excel

        return read_excel(path, sheet=sheet, header=header, named=named, watch=watch)
    from shoal.tables.formats.columnar import read_columnar

    return read_columnar(path, form, watch)


def _refuse_options(path: Path, form: Format, options: dict[str, object], *, fits: bool) -> None:
    for name, value in options.items():
        if value is not None and not fits:
            raise UsageError(f"{path}: is {form}, which has no {name}. Leave out {setting(name)}.")
