"""The data dictionary beside a release: what each column is and what its cells look like."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from shoal.schema import Kind, Role, Schema
from shoal.tables.table import Table

__all__ = ["Seen", "as_markdown", "describe_columns"]

MEANINGS = {
    Role.QI: "quasi-identifier: recoded until each combination stands in at least k rows",
    Role.SENSITIVE: "sensitive: as in the original",
    Role.INSENSITIVE: "insensitive: as in the original",
}


class Seen(NamedTuple):
    """How many distinct cells a released column shows, and how many of its rows are missing ones."""

    distinct: int
    missing: int

    @classmethod
    def of(cls, table: Table, name: str, missing: Sequence[str]) -> Seen:
        """Look at a column of a table."""
        texts = table.factor(name).texts
        return cls(len(texts), int(table.counts(name)[texts.is_in(list(missing)).to_numpy()].sum()))


def describe_columns(
    cells: Mapping[str, Seen], schema: Schema, k: int, labelled: Collection[str], loss: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return what may be published about each column: its role, the forms of its cells, and counts of at least k.

    cells: what the release shows of each column. labelled: the columns that a hierarchy gives labels. loss: of each
    quasi-identifier.
    """
    columns = []
    for column in schema.released:
        seen = cells[column.name]
        told: dict[str, Any] = {"name": column.name, "role": str(column.role), "meaning": MEANINGS[column.role]}
        if column.role is Role.QI:
            told["kind"] = str(column.kind)
            told["cells"] = _forms(column.kind, column.name in labelled)
            told["distinct_cells"] = seen.distinct
            told["loss"] = loss[column.name]
            if column.kind is Kind.DATE:
                told["format"] = column.date_format
        told["missing"] = seen.missing if seen.missing == 0 or seen.missing >= k else "<k"
        columns.append(told)
    return columns


def _forms(kind: Kind | None, has_labels: bool) -> list[str]:
    if has_labels:
        return ["value", "label of the hierarchy", "* (suppressed)"]
    if kind is Kind.CATEGORICAL:
        return ["value", "set {a, b}", "* (suppressed)"]
    return ["value", "range [low, high], both ends included", "* (suppressed)"]


def as_markdown(name: str, content: dict[str, Any]) -> str:
    """Return the dictionary as a page."""
    lines = [
        f"# {name}: data dictionary",
        "",
        f"{content['rows']:,} rows. Each combination of quasi-identifier cells stands in at least {content['k']} rows.",
        "",
        "| column | role | kind | cells | missing |",
        "|---|---|---|---|---|",
    ]
    for column in content["columns"]:
        cells = ", ".join(column.get("cells", ["as in the original"]))
        kind = column.get("kind", "")
        lines.append(f"| {_escape(column['name'])} | {column['role']} | {kind} | {cells} | {column['missing']} |")
    lines += ["", *(f"- {role}: {meaning.partition(': ')[2]}" for role, meaning in MEANINGS.items())]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
