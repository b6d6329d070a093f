"""The data dictionary beside a release: the role of each column and the forms of its cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.errors import visible
from shoal.schema import Kind, Role, Schema

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["CellCounts", "as_markdown", "count_cells", "describe_columns"]

# What Markdown would interpret: an underscore only at the edge of a word, a colon and a dot only in links.
MARKUP = re.compile(r"[\\`*\[\]#|~$]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)
MEANINGS = {
    Role.QI: ("quasi-identifier", "recoded so that each combination occurs in at least k rows"),
    Role.SENSITIVE: ("sensitive", "unchanged from the original"),
    Role.INSENSITIVE: ("insensitive", "unchanged from the original"),
}


class CellCounts(NamedTuple):
    """Counts of one released column.

    Attributes:
        distinct: Number of distinct cells; 0 for a column that is released unchanged.
        missing: Number of rows whose cell is a missing value.
    """

    distinct: int
    missing: int


def count_cells(release: Release, plain: Path) -> dict[str, CellCounts]:
    """Count the cells of each released column.

    Args:
        release: The release.
        plain: The release as a CSV file. It is read only if its rows are not in memory.
    """
    import polars as pl

    missing = list(release.schema.missing)
    weights = release.original.weights
    unchanged = [column.name for column in release.schema.released if column.role is not Role.QI]
    counts = {}
    for name in release.text.columns:
        is_missing = release.text[name].is_in(missing).to_numpy()
        rows = is_missing.sum() if weights is None else weights[release.source_rows][is_missing].sum()
        counts[name] = CellCounts(0 if name in unchanged else release.text[name].n_unique(), int(rows))
    if release.recoding is not None and unchanged:
        n_missing = pl.col(unchanged).fill_null("").is_in(missing).sum()
        row = pl.scan_csv(plain, infer_schema=False, glob=False).select(n_missing).collect(engine="streaming")
        counts |= {name: CellCounts(0, int(row[name].item())) for name in unchanged}
    return counts


def describe_columns(
    cells: Mapping[str, CellCounts], schema: Schema, k: int, labelled: Collection[str], loss: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return what may be published about each released column: role, forms of its cells, and counts of at least k.

    Args:
        cells: The counts of each released column.
        schema: The columns.
        k: The smallest count that may be published.
        labelled: The columns that have a hierarchy.
        loss: The information loss of each quasi-identifier.
    """
    columns = []
    for column in schema.released:
        counts = cells[column.name]
        entry: dict[str, Any] = {
            "name": column.name,
            "role": str(column.role),
            "meaning": ": ".join(MEANINGS[column.role]),
        }
        if column.role is Role.QI:
            entry["kind"] = str(column.kind)
            entry["cells"] = _forms(column.kind, column.name in labelled)
            entry["distinct_cells"] = counts.distinct
            entry["loss"] = loss[column.name]
            if column.kind is Kind.DATE:
                entry["format"] = column.date_format
        entry["missing"] = counts.missing if counts.missing == 0 or counts.missing >= k else "<k"
        columns.append(entry)
    return columns


def _forms(kind: Kind | None, has_labels: bool) -> list[str]:
    if has_labels:
        return ["value", "label of the hierarchy", "* (suppressed)"]
    if kind is Kind.CATEGORICAL:
        return ["value", "set {a, b}", "* (suppressed)"]
    return ["value", "range [low, high], both ends included", "* (suppressed)"]


def as_markdown(name: str, content: dict[str, Any]) -> str:
    """Return the dictionary as a Markdown page."""
    lines = [
        f"# {_escape(name)}: data dictionary",
        "",
        f"{content['rows']:,} rows. Each combination of quasi-identifier cells occurs in at least {content['k']} rows.",
        "",
        "| column | role | kind | cells | missing |",
        "|---|---|---|---|---|",
    ]
    for column in content["columns"]:
        cells = ", ".join(column.get("cells", ["unchanged from the original"]))
        kind = column.get("kind", "")
        lines.append(f"| {_escape(column['name'])} | {column['role']} | {kind} | {cells} | {column['missing']} |")
    lines += ["", *(f"- {role}: {meaning}" for role, (_, meaning) in MEANINGS.items())]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    r"""Return a name as Markdown that shows it and obeys nothing in it: no markup, HTML, links or control characters.

    >>> print(_escape("birth_date"), _escape("*a*|<b>"), _escape("[x](http://y)"))
    birth_date \*a\*\|&lt;b> \[x\](http\://y)
    """
    shown = visible(text, keep="").replace("&", "&amp;")
    return MARKUP.sub(r"\\\g<0>", shown).replace("<", "&lt;")
