"""File formats of tables and releases: CSV (plain, gzip, Zstandard), Parquet, Arrow, Excel; statistics, databases."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import UsageError, setting
from shoal.schema import NUMBERED
from shoal.tables.bounds import merge_bounds
from shoal.tables.formats.sniff import STATISTICS, Format, output_format, sniff
from shoal.tables.sources.url import is_file_url, is_url, mask, parse_file_url
from shoal.tables.table import Table, from_frame
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["Format", "as_table", "output_format", "read_table", "refuse_options"]


def as_table(data: Any, named: Sequence[str] = (), *, duplicate_columns: str | None = None) -> Table:
    """Return a `Table`, a frame of any library, or the content of a file as a table.

    A named column that it has as two, NAME_min and NAME_max, becomes one column of ranges.

    Args:
        data: The table.
        named: Columns that it has; a first line of a file that contains all of them is a header.
        duplicate_columns: "number" numbers columns that share a name; otherwise they are an error.
    """
    if isinstance(data, Table):
        return merge_bounds(data, named)
    if isinstance(data, str | os.PathLike):
        return merge_bounds(read_table(data, named=named, duplicate_columns=duplicate_columns), named)
    check_duplicates(duplicate_columns)
    return merge_bounds(from_frame(data, numbered=duplicate_columns == NUMBERED), named)


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    named: Sequence[str] = (),
    sheet: str | None = None,
    duplicate_columns: str | None = None,
    watch: Watch = UNWATCHED,
) -> Table:
    """Read a table from a file, every cell as text.

    The file is CSV, also in gzip or Zstandard, Parquet, Arrow (Feather), Excel, SPSS, Stata or SAS.

    Args:
        path: The file. Its content decides its format; its name must agree. Or a table in a file of SQLite or DuckDB:
            "sqlite:///clinic.db?table=patients", "duckdb:///clinic.duckdb?table=ward.patients".
        delimiter: The delimiter of CSV, detected by default.
        encoding: The encoding of CSV, by default UTF-8.
        header: Whether the first line of CSV or Excel names the columns, detected by default.
        named: Columns that the file has; a first line that contains all of them is a header.
        sheet: The sheet of a workbook; by default the first visible one.
        duplicate_columns: "number" numbers columns that share a name: a, a_2, a_3; otherwise they are an error.
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

    check_duplicates(duplicate_columns)
    options = {"delimiter": delimiter, "encoding": encoding, "header": header, "sheet": sheet}
    if is_file_url(path):
        from shoal.tables.formats.database_file import read_database_file

        refuse_options(path, "a database", options)
        return read_database_file(parse_file_url(str(path)), watch)
    if is_url(path):
        raise UsageError(f"{mask(str(path))}: only anonymize reads tables of a server. Pass a file here.")
    path = Path(path)
    stamp = check_file(path)
    form = sniff(path)
    textual = form in (Format.CSV, Format.GZIP, Format.ZSTD)
    fitting = ("delimiter", "encoding", "header") if textual else ("header", "sheet") if form is Format.EXCEL else ()
    refuse_options(path, form, {name: value for name, value in options.items() if name not in fitting})
    naming: dict[str, Any] = {"header": header, "named": named, "duplicate_columns": duplicate_columns, "watch": watch}
    if form is Format.CSV:
        with open(path, "rb") as file:
            sample = file.read(memory_limit.SAMPLE_BYTES)
        memory_limit.check_memory(path, stamp.size, memory_limit.count_cells(sample, stamp.size))
        return read_csv(path, delimiter=delimiter, encoding=encoding, **naming)
    if form in (Format.GZIP, Format.ZSTD):
        raw, stamp = read_compressed(path, form, watch)
        return parse_csv(raw, path, stamp, delimiter=delimiter, encoding=encoding, **naming)
    if form is Format.EXCEL:
        from shoal.tables.formats.excel import read_excel

        return read_excel(path, sheet=sheet, **naming)
    if form in STATISTICS:
        from shoal.tables.formats.statistics_file import read_statistics

        return read_statistics(path, form, watch)
    from shoal.tables.formats.columnar import read_columnar

    return read_columnar(path, form, watch)


def check_duplicates(choice: str | None) -> None:
    """Refuse an unknown way to treat columns that share a name."""
    if choice not in (None, "error", NUMBERED):
        raise UsageError(f"{setting('duplicate_columns', choice)} is not known. Use error or {NUMBERED}.")


def refuse_options(path: str | os.PathLike[str], form: str, options: dict[str, Any]) -> None:
    """Refuse options of reading that a format does not have."""
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{path}: is {form}, which has no {name}. Leave out {setting(name)}.")
