"""Options that several commands share besides the settings, and the files that a command reads."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import terminal
from shoal.cli.streams import spool_input
from shoal.cli.supervisor import memory_limit
from shoal.errors import FileError, InputError, UsageError, setting
from shoal.schema import check_threads
from shoal.settings.fields import Panel
from shoal.tables.bounds import merge_bounds
from shoal.tables.sources.url import is_file_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.schema import Reading
    from shoal.settings.settings import Settings
    from shoal.tables.table import Table

LEAST_BYTES = 1 << 30  # address space that polars and its threads reserve on any table
ROOMY_BYTES = 2 << 30
FORMATS = (
    "CSV (also .gz, .zst), Parquet, Arrow, Excel, SPSS, Stata or SAS; sqlite:///FILE?table=NAME, likewise duckdb; or - "
    "for standard input."
)
TABLE_HELP = f"The table: {FORMATS}"


def table_place(text: str) -> Path | str:
    """Return where a table is: a path, the URL of a table in a file, or a private copy of standard input for -."""
    if text == "-":
        path = spool_input()
        terminal.call_it(path, "standard input")
        return path
    return text if is_file_url(text) else Path(text)


Place = Path | str  # what `table_place` returns; a command line accepts no union of types
Data = Annotated[Any, typer.Argument(parser=table_place, metavar="DATA", help=TABLE_HELP)]
Original = Annotated[Any, typer.Argument(parser=table_place, metavar="ORIGINAL", help=f"The original table: {FORMATS}")]
Released = Annotated[
    Any, typer.Argument(parser=table_place, metavar="RELEASED", help=f"The release, made by any tool: {FORMATS}")
]

Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="memory|spark",
        help="With spark, executors read the tables: files, folders of parts, or patterns.",
        rich_help_panel=Panel.RUN,
    ),
]
DiskEngine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="memory|duckdb",
        help="Engine that counts the rows of a file; by default duckdb for a file that does not fit into memory.",
        rich_help_panel=Panel.RUN,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", help="Memory limit of DuckDB, such as 4GB; chooses --engine duckdb.", rich_help_panel=Panel.RUN
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Where Spark runs, such as local[4] or spark://host:7077; by default on all cores of this machine.",
        rich_help_panel=Panel.RUN,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=Panel.OUTPUT)
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.", rich_help_panel=Panel.OUTPUT)]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="Number of threads; all cores by default. The result does not depend on it.",
        rich_help_panel=Panel.RUN,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="COLUMN", help="Column of classes that learners predict.", rich_help_panel=Panel.ROLES
    ),
]
Threshold = Annotated[
    str,
    typer.Option(
        "--threshold",
        help="Largest acceptable probability of re-identification: 0.2, 1/11 or cell-size-11.",
        rich_help_panel=Panel.MODELS,
    ),
]


def use_threads(threads: int | None) -> int:
    """Tell polars how many threads to use (it asks once, when it is loaded) and return the number."""
    count = check_threads(threads)
    if limit := memory_limit():
        if limit < LEAST_BYTES:
            raise FileError(
                f"the memory of this process is limited to {limit >> 20:,} MB (ulimit -v), of which its libraries "
                f"reserve {LEAST_BYTES >> 20:,} MB. Raise the limit."
            )
        count = 1 if limit < ROOMY_BYTES else count  # each thread reserves memory of its own
    os.environ["POLARS_MAX_THREADS"] = str(count)
    return count


def require_qi(settings: Settings) -> tuple[str, ...]:
    """Return the quasi-identifiers; refuse settings without any."""
    if not settings.generalised:
        raise UsageError(f"no quasi-identifier is named. Name them with {setting('qi', ['age', 'sex', 'zip'])}.")
    return settings.generalised


def read_file(path: Place, reading: Reading) -> Table:
    """Read a table as the settings say."""
    from shoal.tables.formats import read_table

    return read_table(
        path,
        delimiter=reading.delimiter,
        encoding=reading.encoding,
        header=reading.header,
        named=reading.named,
        sheet=reading.sheet,
        duplicate_columns=reading.duplicate_columns,
    )


def check_master(engine: str | None, master: str | None) -> None:
    """Refuse the place of a cluster without the engine that runs there."""
    if master is not None and engine != "spark":
        raise UsageError(f"{setting('master')} is for {setting('engine', 'spark')}. Add that, or leave it out.")


def is_on_spark(engine: str | None, master: str | None, *places: Any) -> bool:
    """Return whether executors read the tables of a command that examines a release; places: of these tables."""
    check_master(engine, master)
    if engine not in (None, "memory", "spark"):
        raise UsageError(f"{setting('engine', engine)} is not known here. Use 'memory' or 'spark'.")
    for place in places if engine != "spark" else ():
        if isinstance(place, Path) and os.path.isdir(place):
            from shoal.spark.folder import MANIFEST

            if (place / MANIFEST).is_file():
                raise UsageError(f"{place}: is a release in parts. Examine it with {setting('engine', 'spark')}.")
    return engine == "spark"


def read_one_of(
    path: Place,
    reading: Reading,
    columns: Sequence[str],
    *,
    original: bool = False,
    counted: Sequence[str] | None = None,
) -> Table:
    """Read one of several files of a command; the settings may describe only another one.

    A release is often written differently from its original: shoal writes UTF-8 with commas and a header, whatever it
    read. So the file is read as it presents itself; the delimiter, encoding and header of the settings apply only if
    that fails or does not give the columns. A column that the file has as two of bounds becomes one of ranges.

    Args:
        path: The file.
        reading: How the settings say that files are read.
        columns: The columns that the file must have.
        original: Whether it is the original, which the settings describe. A workbook then must have the sheet of the
            settings; another workbook may have a single sheet of any name.
        counted: Columns besides these that are needed if the distinct rows of a large file are enough; None for all.
    """
    from shoal.tables.formats import Format, read_table
    from shoal.tables.formats.excel import visible_sheets
    from shoal.tables.formats.sniff import sniff
    from shoal.tables.sources.counted import read_counted

    doubles = reading.duplicate_columns
    if isinstance(path, str):
        return merge_bounds(read_table(path), columns)
    if reading.sheet is not None and os.path.isfile(path) and sniff(path) is Format.EXCEL:
        try:
            table = read_table(
                path, sheet=reading.sheet, header=reading.header, named=columns, duplicate_columns=doubles
            )
            return merge_bounds(table, columns)
        except UsageError:
            if original or len(visible_sheets(path)) > 1:
                raise
    reading = replace(reading, sheet=None, named=tuple(columns))
    is_described = (reading.delimiter, reading.encoding, reading.header) != (None, None, None)
    try:
        if counted is None:
            table = read_table(path, named=columns, duplicate_columns=doubles)
        else:
            table = read_counted(path, columns, counted, duplicate_columns=doubles)
        table = merge_bounds(table, columns)
    except InputError:
        if not is_described:
            raise
        return merge_bounds(read_file(path, reading), columns)
    if is_described and not set(columns) <= set(table.names):
        with contextlib.suppress(InputError, UsageError):
            described_table = merge_bounds(read_file(path, reading), columns)
            if set(columns) <= set(described_table.names):
                return described_table
    return table
