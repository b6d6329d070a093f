"""The files that tables come in and releases go out in: CSV (plain, gzip, Zstandard), Parquet, Arrow, Excel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from shoal.errors import UsageError
from shoal.tables.formats.sniff import Format, output_format, sniff
from shoal.tables.table import Table, from_frame

__all__ = ["Format", "as_table", "output_format", "read_table"]


def as_table(given: Any) -> Table:
    """Return a table, a frame of any library, or what a file holds, as a table."""
    if isinstance(given, Table):
        return given
    return read_table(given) if isinstance(given, str | os.PathLike) else from_frame(given)


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
) -> Table:
    """Read a table from a file, every cell as text: CSV, also in gzip or Zstandard, Parquet, Arrow (Feather), Excel.

    The content of the file tells its format; a name that says another one is an InputError. delimiter, encoding: of
    CSV, told from the file unless given. header: whether the first line (of CSV and Excel) names the columns. sheet:
    of a workbook; the first visible one unless given. A file that needs more memory than there is, is a FileError.

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
        return read_csv(path, delimiter=delimiter, encoding=encoding, header=header)
    if form in (Format.GZIP, Format.ZSTD):
        raw, stamp = read_compressed(path, form)
        return parse_csv(raw, path, stamp, delimiter=delimiter, encoding=encoding, header=header)
    if form is Format.EXCEL:
        from shoal.tables.formats.excel import read_excel

        return read_excel(path, sheet=sheet, header=header)
    from shoal.tables.formats.columnar import read_columnar

    return read_columnar(path, form)


def _refuse_options(path: Path, form: Format, options: dict[str, object], *, fits: bool) -> None:
    for name, value in options.items():
        if value is not None and not fits:
            raise UsageError(f"{path}: is {form}, which has no {name}. Leave --{name} out.")
