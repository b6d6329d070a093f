"""The manifest of a release: what may be published about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.release.files.facts import verification_facts
from shoal.report.public import public_rules, public_specs
from shoal.schema import Column, Kind, Role

if TYPE_CHECKING:
    from shoal.release.release import Release

FORMAT = 2  # of the manifest

__all__ = ["as_json", "dictionary_path", "form_facts", "manifest_of", "manifest_path", "paths_beside", "table_remark"]


def manifest_of(release: Release, name: str, sha256: str | None, input_hash: str | None) -> dict[str, Any]:
    """Return what may be published: settings, and figures that follow from the release.

    Args:
        release: The release.
        name: The name of its file or table.
        sha256: The hash of its file; None if it is not a file.
        input_hash: The keyed hash of the input; None if there is no key.
    """
    from shoal import __version__

    request, schema, figures = release.request, release.schema, release.public_figures
    marks = schema.marks
    content: dict[str, Any] = {
        "shoal": __version__,
        "format": FORMAT,
        "file": name,
        "sha256": sha256,
        "k": figures.k,
        "models": list(request.models),
        "requirements": public_specs(release),
        "suppression_limit": float(request.suppression_limit),
        "method": request.method,
        "options": dict(request.options),
        "seed": request.seed,
        "weights": figures.published_weights,
        "target": request.target,
        "rules": [rule.public_text for rule in public_rules(release)],
        "cells": request.cells,
        "center": request.center if request.has_centers else None,
        "ends": None if request.has_centers else request.ends,
        "keep_order": request.keep_order,
        "spreadsheet_safe": request.spreadsheet_safe,
        "missing": [text for text in schema.missing if text],
        "decimal": marks[0],
        "thousands": marks[1],
        "duplicate_columns": release.settings.duplicate_columns,
        "accepted_unique_columns": list(request.accept_unique),
        "counts": "persons" if schema.names(Role.PERSON) else "rows, one taken for one person",
        "columns": _columns(release),
        "suppressed_rows": figures.suppressed,
        "measures": figures.measures(),
        **verification_facts(release),
    }
    return content | ({} if input_hash is None else {"input_hmac_sha256": input_hash})


def _columns(release: Release) -> list[dict[str, Any]]:
    """Return the released columns; kinds of quasi-identifiers, and of sensitive columns that a model counts."""
    shown = {column.name: column.form for column in release.public_figures.columns}
    counted = {str(spec["column"]) for spec in release.request.specs if "column" in spec}
    columns = []
    for column in release.schema.released:
        entry: dict[str, Any] = {"name": column.name, "role": str(column.role)}
        form = shown.get(column.name) or (column if column.name in counted else None)
        if form is not None and form.kind is not None:
            entry |= {"kind": str(form.kind)} | form_facts(form, release.schema.marks)
        if column.codings:
            entry["recode"] = [coding._asdict() for coding in column.codings]
        if any(column.limits):
            entry["limits"] = {name: text for name, text in column.limits._asdict().items() if text}
        columns.append(entry)
    return columns


def form_facts(column: Column, marks: tuple[str, str]) -> dict[str, Any]:
    """Return how the values of a column are written, apart from plain numbers and categories.

    Args:
        column: The column.
        marks: The decimal and the thousands mark of the table.
    """
    if column.kind is Kind.DATE:
        return {"format": column.date_format}
    if column.kind is Kind.ORDERED:
        return {"order": list(column.order)}
    if column.kind is not Kind.NUMERIC:
        return {}
    unit = {"unit": column.unit} if column.unit else {}
    own = {"decimal": column.decimal, "thousands": column.thousands}
    return unit | (own if (column.decimal, column.thousands) != marks else {})


def table_remark(content: dict[str, Any]) -> str:
    """Return the manifest of a release that is a table: without a file, there is no hash of one."""
    return as_json({"table" if name == "file" else name: fact for name, fact in content.items() if name != "sha256"})


def dictionary_path(path: Path, suffix: str) -> Path:
    """Return the path of the data dictionary of a release, as .json or as .md."""
    return path.parent / f"{path.name}.dictionary{suffix}"


def manifest_path(path: Path) -> Path:
    """Return the path of the manifest of a release."""
    return path.parent / f"{path.name}.manifest.json"


def paths_beside(path: Path) -> list[Path]:
    """Return the paths of all files that stand beside a release."""
    return [dictionary_path(path, ".json"), dictionary_path(path, ".md"), manifest_path(path)]


def as_json(content: dict[str, Any]) -> str:
    """Return a document as text."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
