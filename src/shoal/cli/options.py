"""The options that several commands share, and how their texts become settings."""

from __future__ import annotations

import csv
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.errors import InputError, UsageError
from shoal.settings.settings import AUTO, Settings

if TYPE_CHECKING:
    from shoal.tables.table import Table

ROLES, KINDS, FILES, OUTPUT, RUN = "Columns", "Kinds", "Reading the file", "Output", "Running"
MODELS = "What each group must pass"

Names = list[str] | None
Qi = Annotated[
    Names,
    typer.Option(
        "--qi", help="Quasi-identifiers: columns that others may know, comma separated.", rich_help_panel=ROLES
    ),
]
Sensitive = Annotated[
    Names,
    typer.Option(
        "--sensitive",
        help="Columns that must not be learned about a person; released as they are.",
        rich_help_panel=ROLES,
    ),
]
Insensitive = Annotated[
    Names,
    typer.Option(
        "--insensitive", help="Columns that are neither known nor harmful; released as they are.", rich_help_panel=ROLES
    ),
]
Drop = Annotated[Names, typer.Option("--drop", help="Columns that name people; never released.", rich_help_panel=ROLES)]
Others = Annotated[
    str | None,
    typer.Option("--others", help="What to do with columns not named: drop or insensitive.", rich_help_panel=ROLES),
]
Numeric = Annotated[
    Names, typer.Option("--numeric", help="Quasi-identifiers to take as numbers.", rich_help_panel=KINDS)
]
Categorical = Annotated[
    Names, typer.Option("--categorical", help="Quasi-identifiers to take as categories.", rich_help_panel=KINDS)
]
Dates = Annotated[
    Names,
    typer.Option("--date", help="Quasi-identifiers to take as dates: born or born=%d.%m.%Y.", rich_help_panel=KINDS),
]
Missing = Annotated[
    Names,
    typer.Option(
        "--missing", help="Texts that stand for a missing value beside the empty cell: '?,NA'.", rich_help_panel=FILES
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", help="Cell separator; told from the file if left out.", rich_help_panel=FILES),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Text encoding; utf-8 if left out.", rich_help_panel=FILES)
]
OtherEncoding = Annotated[
    str | None,
    typer.Option("--encoding", help="Text encoding of files that are not utf-8.", rich_help_panel=FILES),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns; told from the file if left out.",
        rich_help_panel=FILES,
    ),
]
Decimal = Annotated[
    str | None, typer.Option("--decimal", help="Decimal mark in numbers; a point if left out.", rich_help_panel=FILES)
]
Thousands = Annotated[
    str | None, typer.Option("--thousands", help="Thousands mark in numbers; none if left out.", rich_help_panel=FILES)
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of an Excel file; the first if left out.", rich_help_panel=FILES)
]
Person = Annotated[
    str | None,
    typer.Option(
        "--person", help="Column that says which rows are one person's; k then counts people.", rich_help_panel=ROLES
    ),
]
AcceptUnique = Annotated[
    Names,
    typer.Option("--accept-unique", help="Insensitive columns that may leave with rare values.", rich_help_panel=ROLES),
]
HierarchyFiles = Annotated[
    Names,
    typer.Option(
        "--hierarchy", help="Hierarchy of a quasi-identifier: zip=zip.csv. May be repeated.", rich_help_panel=KINDS
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust-hierarchies", help="Take labels that are not true of their values.", rich_help_panel=KINDS),
]
Unknown = Annotated[
    str | None,
    typer.Option(
        "--unknown", help="Values that a hierarchy lacks: error or top (released as *).", rich_help_panel=KINDS
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT)]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", min=1, help="Threads to use; all cores if left out. Never changes the result.", rich_help_panel=RUN
    ),
]
K = Annotated[int | None, typer.Option("-k", help="Rows that must look alike at least; 5 is a common start.")]
L = Annotated[
    int | None,
    typer.Option("--l", help="Distinct values of every sensitive column in each group.", rich_help_panel=MODELS),
]
T = Annotated[
    str | None,
    typer.Option(
        "--t", help="How far each group may be from the table in every sensitive column: 0.2.", rich_help_panel=MODELS
    ),
]
Models = Annotated[
    Names,
    typer.Option(
        "--model",
        help="Another model: 'entropy-l disease l=2'. May be repeated.",
        rich_help_panel=MODELS,
    ),
]
KColumn = Annotated[
    str | None,
    typer.Option("--k-column", help="Column with each row's own k; never released.", rich_help_panel=MODELS),
]
Population = Annotated[
    Path | None,
    typer.Option("--population", help="Table of the population, for k-map and the like.", rich_help_panel=MODELS),
]
Config = Annotated[
    Path | None, typer.Option("--config", help="A shoal.toml; options given here come first.", rich_help_panel=RUN)
]


def split_names(texts: Iterable[str] | None) -> tuple[str, ...]:
    """Split comma-separated names; a name that holds a comma stands in double quotes."""
    return tuple(name.strip() for text in texts or () for name in next(csv.reader([text], skipinitialspace=True), []))


def split_dates(texts: Iterable[str] | None) -> dict[str, str]:
    """Split born=%d.%m.%Y,died into names and formats; the format is ISO where none is given."""
    pairs = (name.partition("=") for name in split_names(texts))
    return {name: form or "%Y-%m-%d" for name, _, form in pairs}


def split_kinds(
    numeric: Iterable[str] | None,
    categorical: Iterable[str] | None,
    date: Iterable[str] | None,
    missing: Iterable[str] | None,
) -> dict[str, Any]:
    """Return what the options say of how cells are read, by the names that settings and functions share."""
    return {
        "numeric": split_names(numeric),
        "categorical": split_names(categorical),
        "dates": split_dates(date),
        "missing": split_names(missing),
    }


def split_pairs(texts: Iterable[str] | None, option: str) -> dict[str, str]:
    """Split name=value pairs of an option that may be repeated."""
    pairs = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise UsageError(f"{option} {text!r} has no value. Write {option} name=value.")
        if name in pairs:
            raise UsageError(f"{option} names column {name!r} twice. Name it once.")
        pairs[name] = value
    return pairs


def split_weights(texts: Iterable[str] | None) -> dict[str, str] | str:
    """Split the weights of columns, or return the word for those that the table itself gives."""
    names = split_names(texts)
    return AUTO if names == (AUTO,) else split_pairs(names, "--weights")


def split_models(texts: Iterable[str] | None) -> tuple[dict[str, object], ...]:
    """Read models as they are written on the command line."""
    if not texts:
        return ()
    from shoal.models import parse_model

    return tuple(map(parse_model, texts))


def method_options(texts: Iterable[str] | None, **named: object) -> dict[str, object]:
    """Return the options of the method: those of --option, and those that have an option of their own."""
    return split_pairs(texts, "--option") | {name: value for name, value in named.items() if value is not None}


def use_threads(threads: int | None) -> int:
    """Tell polars how many threads to use (it asks once, when it is loaded) and return the number."""
    count = threads or os.cpu_count() or 1
    os.environ["POLARS_MAX_THREADS"] = str(count)
    return count


def finish_undisturbed() -> None:
    """Heed signals no more: the release moves to its place, and its exit code must be that of a release."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def file_settings(delimiter: str | None, encoding: str | None, header: bool | None) -> Settings:
    """Return the settings of how a file is read; a tab may be written as tab."""
    if delimiter in ("\\t", "tab"):
        delimiter = "\t"
    return Settings(delimiter=delimiter, encoding=encoding, header=header)


def read_given(path: Path, encoding: str | None) -> Table:
    """Read a table that is compared with another: in the encoding that was given, unless its bytes are UTF-8.

    Of an original and its release often only one is in an encoding of its own.
    """
    from shoal.tables.formats import read_table

    try:
        return read_table(path)
    except InputError:
        if encoding is None:
            raise
        return read_table(path, encoding=encoding)
