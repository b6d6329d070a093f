"""Check that a table still looks like the one that a shoal.toml was made for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from shoal.errors import InputError, join_problems
from shoal.schema import Kind, Role
from shoal.settings.settings import Settings
from shoal.tables import values
from shoal.tables.table import Table
from shoal.tables.values.forms import find_form

__all__ = ["check_columns", "check_drift"]


def check_drift(table: Table, saved: Settings) -> None:
    """Raise an InputError if a table does not match its saved settings; see `check_columns`."""
    check_columns(table.names, lambda name: table.factor(name).texts.to_list(), saved)


def check_columns(names: Sequence[str], texts_of: Callable[[str], Iterable[str]], saved: Settings) -> None:
    """Check that no column was lost, added or changed from numeric to another kind.

    Args:
        names: The columns of the table.
        texts_of: Returns the distinct cells of a column.
        saved: The settings of the file, before any argument. If they set `others`, the table may have new columns.

    Raises:
        InputError: If the table does not match; it lists all differences.
    """
    special_columns = [name for name in (saved.person, saved.k_column) if name]
    named_columns = [*saved.qi, *saved.sensitive, *saved.insensitive, *saved.drop, *special_columns]
    missing_columns = [name for name in named_columns if name not in names]
    new_columns = (
        [name for name in names if name not in named_columns] if named_columns and saved.others is None else []
    )
    problems = [f"column {name!r} is missing" for name in missing_columns] + [
        f"column {name!r} is new" for name in new_columns
    ]
    declared = dict(saved.kinds) | dict.fromkeys(saved.numeric, "numeric")
    for name, kind in declared.items():
        if kind == "numeric" and name in names and not _is_numeric(name, texts_of(name), saved):
            problems.append(f"column {name!r} is no longer numeric")
    if problems:
        raise InputError(
            "the table is not the one that the configuration was made for:\n"
            + join_problems(problems)
            + "\nEdit the configuration, or create a new one with shoal init."
        )


def _is_numeric(name: str, texts: Iterable[str], saved: Settings) -> bool:
    values_present = [text for text in map(values.normalise, texts) if text not in ("", *saved.missing)]
    column = replace(saved.reading.column(name, Role.QI), kind=Kind.NUMERIC)
    marks = values.Marks(*find_form(column, values_present).column.marks)
    return all(marks.plain(text) is not None for text in values_present)
