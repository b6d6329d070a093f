"""The data dictionary beside a release: the role of each column and the forms of its cells."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import counted, visible
from shoal.release.cells.centers import spread_name
from shoal.release.files.manifest import form_facts
from shoal.release.files.marks import with_decimal
from shoal.report.public import BASIS
from shoal.report.words import hide_small, rounded, sized
from shoal.schema import Column, Kind, Role
from shoal.tables.formats.columnar import scan_released
from shoal.tables.sources.base import CellCounter, Dealing

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["as_markdown", "dictionary_of"]

# What Markdown would interpret: an underscore only at the edge of a word, a colon and a dot only in links.
MARKUP = re.compile(r"[\\`*\[\]#|~$]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
MEANINGS = {
    Role.QI: ("quasi-identifier", "recoded so that at least k rows or people share each combination"),
    Role.SENSITIVE: ("sensitive", "unchanged from the original"),
    Role.INSENSITIVE: ("insensitive", "unchanged from the original"),
}
BOUNDS = [
    "value in both columns",
    "ends of a range in NAME_min and NAME_max; the upper one may lie above all values, as 30 does for [25, 30)",
    "* in both columns (suppressed)",
]


def dictionary_of(release: Release, name: str, plain: Path) -> dict[str, Any]:
    """Return what may be published about each released column: role, forms of its cells, and counts of at least k.

    Args:
        release: The release.
        name: The name of its file.
        plain: The release as a CSV file. It is read only if its rows are not in memory.
    """
    figures, n_missing = release.public_figures, _count_missing(release, plain)
    shown = {column.name: column for column in figures.columns}
    columns = []
    for column in release.schema.released:
        entry: dict[str, Any] = {
            "name": column.name,
            "role": str(column.role),
            "meaning": _meaning(column, centers=figures.centers),
        }
        if column.name in shown:
            cells = shown[column.name]
            entry["kind"] = str(cells.kind)
            in_bounds = release.request.cells == "bounds" and column.name in release.ends
            entry["cells"] = BOUNDS if in_bounds else _forms(release, cells.kind, column.name)
            entry["distinct_cells"] = cells.distinct
            if not figures.centers:
                entry |= {"loss": rounded(cells.loss), "loss_basis": BASIS}
            form = cells.form or column
            form = with_decimal(form, release.request.output_decimal) if column.name in release.numbers else form
            entry |= form_facts(form, release.schema.marks)
        if column.codings:
            entry["recoded"] = [coding.words for coding in column.codings if coding.text]
        entry["missing"] = hide_small(n_missing[column.name], figures.k)
        columns.append(entry)
        if column.name in release.spread:
            columns.append(_spread_entry(column, shown[column.name].extent.unit))
    counts = "persons" if release.schema.names(Role.PERSON) else "rows"
    return {"file": name, "rows": figures.rows, "k": figures.k, "counts": counts, "columns": columns}


def _spread_entry(column: Column, unit: str) -> dict[str, Any]:
    """Return the entry of the column with the spread of another."""
    if column.kind is not None and column.kind.is_measured:
        words = f"standard deviation of {column.name} in the group of the row{f', in {unit}' if unit else ''}"
    else:
        words = f"share of the group of the row that has the value of {column.name} shown"
    return {"name": spread_name(column), "role": str(column.role), "meaning": words, "cells": [words], "missing": ""}


def _meaning(column: Column, *, centers: bool) -> str:
    role, words = MEANINGS[column.role]
    if centers and column.role is Role.QI:
        words = "the centre of the row's group, shared by at least k rows or people, and not true of each row"
    is_recoded = column.role is not Role.QI and column.codings
    return f"{role}: {'unchanged but for recoded outliers' if is_recoded else words}"


def _count_missing(release: Release, plain: Path) -> dict[str, int]:
    """Count the missing cells of each released column; `plain` is read if the rows are not in memory."""
    import polars as pl

    missing = list(release.schema.missing)
    counts = {}
    for name in release.table.names:
        is_missing = release.table.factor(name).texts.is_in(missing).to_numpy()
        counts[name] = int(release.table.counts(name)[is_missing].sum())
    unchanged = [column.name for column in release.schema.released if column.role is not Role.QI]
    dealer = release.source.dealer()
    if isinstance(release.recoding, Dealing) and isinstance(dealer, CellCounter):
        counts |= {name: dealer.count_cells(name, missing) for name in unchanged}
    elif release.recoding is not None and unchanged:
        n_missing = pl.col(unchanged).fill_null("").is_in(missing).sum()
        row = scan_released(plain).select(n_missing).collect(engine="streaming")
        counts |= {name: int(row[name].item()) for name in unchanged}
    return counts


def _forms(release: Release, kind: Kind | None, name: str) -> list[str]:
    if release.request.has_centers:
        is_measured = kind is not None and kind.is_measured
        median = "median of the group" if kind is Kind.ORDERED else "most frequent value of the group"
        return [f"{release.request.center} of the group" if is_measured else median]
    if name in release.settings.labelled:
        return ["value", "label of the hierarchy", "* (suppressed)"]
    if kind is not None and kind.is_ranked:
        return ["value", "set {a, b} of neighbours in the order", "* (suppressed)"]
    if kind is None or not kind.is_measured:
        return ["value", "set {a, b}", "* (suppressed)"]
    return ["value", "range [low, high], both ends included", "range [low, high) without its end", "* (suppressed)"]


def as_markdown(name: str, content: dict[str, Any]) -> str:
    """Return the dictionary as a Markdown page."""
    lines = [
        f"# {_escape(name)}: data dictionary",
        "",
        f"{counted(content['rows'], 'row')}. At least {sized(content['k'], content['counts'])} share each combination "
        "of quasi-identifier cells.",
        "",
        "| column | role | kind | cells | missing |",
        "|---|---|---|---|---|",
    ]
    for column in content["columns"]:
        plain = [] if column.get("recoded") else ["unchanged from the original"]
        cells = ", ".join([*column.get("cells", plain), *map(_escape, column.get("recoded", ()))])
        kind = column.get("kind", "")
        lines.append(f"| {_escape(column['name'])} | {column['role']} | {kind} | {cells} | {column['missing']} |")
    lines += [
        "",
        *dict.fromkeys(
            f"- {c['role']}: {c['meaning'].partition(': ')[2]}" for c in content["columns"] if ": " in c["meaning"]
        ),
    ]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    r"""Return a name as Markdown that shows it and obeys nothing in it: no markup, HTML, links or control characters.

    >>> print(_escape("birth_date"), _escape("*a*|<b>"), _escape("[x](http://y)"))
    birth_date \*a\*\|&lt;b> \[x\](http\://y)
    """
    shown = visible(text, keep="").replace("&", "&amp;")
    return MARKUP.sub(r"\\\g<0>", shown).replace("<", "&lt;")
