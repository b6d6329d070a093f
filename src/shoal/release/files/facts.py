"""What a receiver needs to verify a release without typing anything: how its file and its cells are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.schema import Kind, Role
from shoal.tables import values

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["column_facts", "verification_facts"]


def verification_facts(release: Release) -> dict[str, Any]:
    """Return the facts that `shoal verify` reads from the manifest: settings, and nothing of the original.

    The layout names the columns with a hierarchy, but neither its labels nor the values below them: the release shows
    the labels that it uses, and the others could be values of the original.
    """
    request, schema = release.request, release.schema
    marks = next(((column.decimal, column.thousands) for column in schema.columns), (".", ""))
    return {
        "requirements": _requirements(release),
        "missing": [text for text in schema.missing if text],
        "decimal": marks[0],
        "thousands": marks[1],
        "keep_order": request.keep_order,
        "spreadsheet_safe": request.spreadsheet_safe,
        "layout": {
            "bounds": [name for name in release.ends if request.cells == "bounds"],
            "hierarchies": sorted({*release.labels, *release.paths}),
        },
    }


def column_facts(release: Release) -> list[dict[str, str]]:
    """Return the released columns with their roles; with their kinds if they are generalised or counted by a model."""
    counted = {str(spec["column"]) for spec in release.request.specs if "column" in spec}
    columns = []
    for column in release.schema.released:
        facts = {"name": column.name, "role": str(column.role)}
        if column.kind is not None and (column.role is Role.QI or column.name in counted):
            facts["kind"] = str(column.kind)
            if column.kind is Kind.DATE:
                facts["format"] = column.date_format
        columns.append(facts)
    return columns


def _requirements(release: Release) -> list[dict[str, Any]]:
    """Return the models as plain values; an order of values names only those that the release shows."""
    specs = []
    for spec in map(dict, release.request.specs):
        if "order" in spec:
            texts = release.text[str(spec["column"])].unique().to_list()
            shown = set(map(values.normalise, texts))
            spec["order"] = [text for text in spec["order"] if values.normalise(text) in shown]
        specs.append(spec)
    return specs
