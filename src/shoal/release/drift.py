"""Does a table still look like the one that a shoal.toml was made for?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from shoal.errors import InputError, join_problems
from shoal.settings.settings import Settings
from shoal.tables import values
from shoal.tables.table import Table

__all__ = ["check_columns", "check_drift"]


def check_drift(table: Table, saved: Settings) -> None:
    """Refuse a table that is not the one that a file was made for; see check_columns."""
    check_columns(table.names, lambda name: table.factor(name).texts.to_list(), saved)


def check_columns(names: Sequence[str], texts_of: Callable[[str], Iterable[str]], saved: Settings) -> None:
    """Refuse a table that has lost or gained columns, or whose columns changed their kind; all of it at once.

    texts_of: gives the distinct cells of a column. saved: the settings as the file gives them, before any argument.
    New columns are no drift where the file says what becomes of others.
    """
    alone = [name for name in (saved.person, saved.k_column) if name]
    named = [*saved.qi, *saved.sensitive, *saved.insensitive, *saved.drop, *alone]
    gone = [name for name in named if name not in names]
    new = [name for name in names if name not in named] if named and saved.others is None else []
    problems = [f"column {name!r} is gone" for name in gone] + [f"column {name!r} is new" for name in new]
    declared = dict(saved.kinds) | dict.fromkeys(saved.numeric, "numeric")
    marks = values.Marks(saved.decimal or ".", saved.thousands or "")
    for name, kind in declared.items():
        if kind == "numeric" and name in names and not _is_numeric(texts_of(name), saved.missing, marks):
            problems.append(f"column {name!r} was numeric and is no longer")
    if problems:
        raise InputError(
            "the table is not the one that the configuration was made for:\n"
            + join_problems(problems)
            + "\nEdit the configuration, or make a new one with shoal init."
        )


def _is_numeric(texts: Iterable[str], missing: tuple[str, ...], marks: values.Marks) -> bool:
    known = [text for text in map(values.normalise, texts) if text not in ("", *missing)]
    return all(marks.plain(text) is not None for text in known)
