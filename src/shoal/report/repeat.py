"""How to make the same release again: the settings as a shoal.toml, and the command that reads it."""

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
    """Return the command line that makes a release again; what a shoal.toml cannot be met stands in it."""
    words = ["shoal", "anonymize", source, "-o", output, "--config", "shoal.toml"]
    words += ["--keep-order"] * release.request.keep_order
    return shlex.join(words)


def as_toml(release: Release, *, private: bool) -> str:
    """Return the settings of a release as a shoal.toml.

    private: with the values that rules name, and with paths as they were given; otherwise rules are left out and
    files appear by their names alone.
    """
    return "\n".join(_lines(release, private)) + "\n"


def _lines(release: Release, private: bool) -> Iterator[str]:
    request, settings = release.request, release.settings
    asked = settings.k if settings.k is not None else None if settings.k_column else request.k
    plain = {
        "k": asked,
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
        yield from ("", f"# {len(settings.constraints)} rules: they name values, and stand in the private report alone")
    for rule in settings.data_rules() if private else ():
        given = {name: value for name, value in asdict(rule).items() if value is not None}
        yield from ("", "[[rules]]")
        yield from pairs(given)
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


def _hierarchy(given: Any, private: bool) -> Iterator[str]:
    if isinstance(given, str | os.PathLike):
        yield from pairs({"hierarchy": _path(given, private)})
    elif isinstance(given, PrefixHierarchy):
        yield from pairs({"prefixes": {"lengths": list(given.lengths)} if given.lengths else {"mask": given.mask}})
    elif isinstance(given, IntervalHierarchy) and given.widths:
        fields = {"widths": list(given.widths), "origin": given.origin or None, "unit": given.unit}
        yield from pairs({"intervals": {name: value for name, value in fields.items() if value is not None}})
    else:
        yield "# hierarchy: made in Python; give the same one again"


def _file(release: Release) -> dict[str, Any]:
    """Return how the file was said to be written; what was told from its bytes is told from them again."""
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


def _path(given: Any, private: bool) -> str | None:
    if not isinstance(given, str | os.PathLike):
        return None
    return str(given) if private else Path(given).name


def _section(name: str, content: Mapping[str, Any]) -> Iterator[str]:
    if any(value is not None for value in content.values()):
        yield from ("", f"[{name}]")
        yield from pairs(content)
