"""The manifest of a release: what may be published about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.schema import Role

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["as_json", "dictionary_path", "manifest_of", "manifest_path", "paths_beside", "table_remark"]


def manifest_of(release: Release, name: str, sha256: str | None, signature: str | None) -> dict[str, Any]:
    """Return what may be published: no count from 1 to k - 1, nothing about the input except its keyed hash.

    Args:
        release: The release.
        name: The name of its file or table.
        sha256: The hash of its file; None if it is not a file.
        signature: The keyed hash of the input; None if there is no key.
    """
    from shoal import __version__

    request, schema, measures = release.request, release.schema, release.measures.as_dict()
    suppressed = measures.pop("suppressed_rows")
    if 0 < suppressed < request.k:
        suppressed = "<k"
        measures = {name: measures[name] for name in ("rows", "groups", "smallest_group", "c_avg")}
    content: dict[str, Any] = {
        "shoal": __version__,
        "file": name,
        "sha256": sha256,
        "k": request.k,
        "models": list(request.models),
        "suppression_limit": float(request.suppression_limit),
        "method": request.method,
        "options": dict(request.options),
        "seed": request.seed,
        "weights": {name: float(weight) for name, weight in request.weights.items()},
        "rules": [verdict.rule for verdict in release.rules],
        "cells": request.cells,
        "snap": request.snap,
        "accepted_unique_columns": list(request.accept_unique),
        "counts": "persons" if schema.names(Role.PERSON) else "rows, one taken for one person",
        "columns": [
            {"name": c.name, "role": str(c.role)} | ({"kind": str(c.kind)} if c.role is Role.QI else {})
            for c in schema.released
        ],
        "suppressed_rows": suppressed,
        "measures": measures,
    }
    return content | ({} if signature is None else {"input_hmac_sha256": signature})


def table_remark(content: dict[str, Any]) -> str:
    """Return the manifest of a release that is a table: without a file, there is no hash of one."""
    return as_json({"table" if name == "file" else name: fact for name, fact in content.items() if name != "sha256"})


def dictionary_path(path: Path, suffix: str) -> Path:
    """Return the path of the data dictionary of a release, as .json or as .md."""
    return path.with_name(f"{path.name}.dictionary{suffix}")


def manifest_path(path: Path) -> Path:
    """Return the path of the manifest of a release."""
    return path.with_name(path.name + ".manifest.json")


def paths_beside(path: Path) -> list[Path]:
    """Return the paths of all files that stand beside a release."""
    return [dictionary_path(path, ".json"), dictionary_path(path, ".md"), manifest_path(path)]


def as_json(content: dict[str, Any]) -> str:
    """Return a document as text."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
