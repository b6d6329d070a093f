"""How to repeat a release: its settings as a shoal.toml, and the command that reads them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.hierarchy.interval import IntervalHierarchy
from shoal.hierarchy.prefix import PrefixHierarchy
from shoal.models.registry import MODELS
from shoal.schema import Column, Kind, Role
from shoal.settings.settings import AUTO
from shoal.settings.toml import key, pairs

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["as_toml", "command"]


def command(release: Release, output: str, source: str) -> str:
    """Return the command that repeats a release; it contains the options that a shoal.toml cannot."""
    words = ["shoal", "anonymize", source, "-o", output, "--config", "shoal.toml"]
    words += ["--keep-order"] * release.request.keep_order
    return shlex.join(words)


def as_toml(release: Release, *, private: bool) -> str:
    """Return the settings of a release as a shoal.toml.

    Args:
        release: The release.
        private: Whether to include rules, which name values, and the folders of files.
    """
    return "\n".join(_lines(release, private)) + "\n"


def _lines(release: Release, private: bool) -> Iterator[str]:
    request, settings = release.request, release.settings
    k = settings.k if settings.k is not None else None if settings.k_column else request.k
    plain = {
        "k": k,
        "method": request.method,
        "seed": request.seed,
        "suppression_limit": float(request.suppression_limit) if request.suppression_limit else None,
        "missing": list(settings.missing) or None,
        "others": settings.others,
        "unknown": request.unknown if request.unknown != "error" else None,
        "trust_hierarchies": settings.trust_hierarchies,
        "snap": request.snap or None,
        "cells": request.cells if request.cells != "text" else None,
        "spreadsheet_safe": request.spreadsheet_safe or None,
        "population": _path(settings.population, private),
        "weights": AUTO if settings.weights == AUTO else None,
    }
    yield from pairs(plain)
    options = {name: value for name, value in request.options.items() if value not in (None, {}, ())}
    yield from _section("options", options)
    yield from _section("weights", settings.column_weights())
    yield from _section("file", _file(release))
    for spec in request.specs:
        if spec.get("name") in MODELS:
            yield from ("", "[[models]]")
            yield from pairs(spec)
    if settings.constraints and not private:
        yield from ("", f"# {len(settings.constraints)} rules, which name values, are only in the private report")
    for rule in settings.data_rules() if private else ():
        content = {name: value for name, value in asdict(rule).items() if value is not None}
        yield from ("", "[[rules]]")
        yield from pairs(content)
    yield from _columns(release, private)
    yield from _section("signoff", dict(settings.signoff))


def _columns(release: Release, private: bool) -> Iterator[str]:
    schema, settings = release.schema, release.settings
    untouched = [column for column in schema.columns if column.role is not Role.QI]
    for column in (*schema.qi, *untouched):
        if column.role is Role.IDENTIFIER and settings.others == "drop" and column.name not in settings.drop:
            continue
        yield from ("", f"[columns.{key(column.name)}]")
        yield from pairs(_column(column, column.name in release.request.accept_unique))
        hierarchy = settings.hierarchies.get(column.name)
        if hierarchy is not None:
            yield from _hierarchy(hierarchy, private)


def _column(column: Column, accepted: bool) -> dict[str, Any]:
    is_qi = column.role is Role.QI
    return {
        "role": str(column.role),
        "kind": str(column.kind) if is_qi and column.kind else None,
        "format": column.date_format if is_qi and column.kind is Kind.DATE else None,
        "grid": column.grid or None,
        "accept_unique": accepted or None,
    }


def _hierarchy(hierarchy: Any, private: bool) -> Iterator[str]:
    if isinstance(hierarchy, str | os.PathLike):
        yield from pairs({"hierarchy": _path(hierarchy, private)})
    elif isinstance(hierarchy, PrefixHierarchy):
        lengths = hierarchy.lengths
        yield from pairs({"prefixes": {"lengths": list(lengths)} if lengths else {"mask": hierarchy.mask}})
    elif isinstance(hierarchy, IntervalHierarchy) and hierarchy.widths:
        fields = {"widths": list(hierarchy.widths), "origin": hierarchy.origin or None, "unit": hierarchy.unit}
        yield from pairs({"intervals": {name: value for name, value in fields.items() if value is not None}})
    else:
        yield "# hierarchy: made in Python; pass the same one again"


def _file(release: Release) -> dict[str, Any]:
    """Return the file settings that the user gave; the others are detected again."""
    settings = release.settings
    marks = next(((column.decimal, column.thousands) for column in release.schema.columns), (".", ""))
    return {
        "delimiter": settings.delimiter,
        "encoding": settings.encoding,
        "header": settings.header,
        "sheet": settings.sheet,
        "decimal": marks[0] if marks[0] != "." else None,
        "thousands": marks[1] or None,
    }


def _path(path: Any, private: bool) -> str | None:
    if not isinstance(path, str | os.PathLike):
        return None
    return str(path) if private else Path(path).name


def _section(name: str, content: Mapping[str, Any]) -> Iterator[str]:
    if any(value is not None for value in content.values()):
        yield from ("", f"[{name}]")
        yield from pairs(content)
