"""The data dictionary of a release: the role of each column and the form of its cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table

__all__ = ["Seen", "as_markdown", "describe_columns"]

MEANINGS = {
    Role.QI: ("quasi-identifier", "recoded so that each combination occurs in at least k rows"),
    Role.SENSITIVE: ("sensitive", "unchanged from the original"),
    Role.INSENSITIVE: ("insensitive", "unchanged from the original"),
}


class Seen(NamedTuple):
    """Distinct cells of a released column, and rows in which its cell is missing."""

    distinct: int
    missing: int

    @classmethod
    def of(cls, table: Table, name: str, missing: Sequence[str]) -> Seen:
        """Count the cells of a column."""
        texts = table.factor(name).texts
        return cls(len(texts), int(table.counts(name)[texts.is_in(list(missing)).to_numpy()].sum()))


def describe_columns(
    cells: Mapping[str, Seen], schema: Schema, k: int, labelled: Collection[str], loss: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return what may be published about each released column: role, forms of its cells, and counts of at least k.

    Args:
        cells: Counts of each column.
        schema: The columns.
        k: Smallest count that may be published.
        labelled: Columns whose cells may be labels of a hierarchy.
        loss: Information loss of each quasi-identifier.
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
        f"# {name}: data dictionary",
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
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
