"""How to repeat a release: its settings as a shoal.toml, and the command that reads it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import counted
from shoal.models.registry import MODELS
from shoal.report.public import public_specs
from shoal.schema import INPUT, Kind, Limits, Role
from shoal.settings.settings import AUTO, Settings
from shoal.settings.write import to_toml

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["as_toml", "command"]


def command(release: Release, output: str, source: str) -> str:
    """Return the command line that repeats a release; it contains what a shoal.toml cannot."""
    words = ["shoal", "anonymize", source, "-o", output, "--config", "shoal.toml"]
    words += ["--keep-order"] * release.request.keep_order
    return shlex.join(words)


def as_toml(release: Release, *, private: bool) -> str:
    """Return the settings of a release as a shoal.toml.

    Args:
        release: The release.
        private: Whether to include the values that rules and orders name, and complete paths. Otherwise rules do not
            appear, orders name only values that the release shows, and files appear by name only.
    """
    rules = release.settings.constraints
    named = counted(len(rules), "rule names", "rules name")
    comments = {} if private else {"rules": [f"{named} values; only the private report lists them"]}
    order = [column.name for column in (*release.schema.qi, *release.schema.columns)]
    return to_toml(_settings(release, private), comments=comments if rules else {}, columns=order)


def _settings(release: Release, private: bool) -> Settings:
    """Return the settings that repeat a release: what the user gave, and what was chosen or detected."""
    request, settings, schema = release.request, release.settings, release.schema
    columns = [
        column
        for column in schema.columns
        if column.role is not Role.IDENTIFIER or settings.others != "drop" or column.name in settings.drop
    ]
    specs = request.specs if private else public_specs(release)
    shown = {column.name: column.form for column in release.public_figures.columns}
    forms = {column.name: column if private else shown[column.name] or column for column in schema.qi}
    marks = schema.marks

    def names(role: Role) -> tuple[str, ...]:
        return tuple(column.name for column in columns if column.role is role)

    def of_kind(kind: Kind) -> tuple[str, ...]:
        return tuple(name for name, column in forms.items() if column.kind is kind)

    return Settings(
        k=settings.k if settings.k is not None else None if settings.k_column else request.k,
        method=request.method,
        seed=request.seed,
        suppression_limit=float(request.suppression_limit) if request.suppression_limit else None,
        missing=settings.missing,
        others=settings.others,
        unknown=request.unknown if request.unknown != "error" else None,
        trust_hierarchies=settings.trust_hierarchies,
        ends=None if request.has_centers else request.ends,
        cells=request.cells if request.cells != "text" else None,
        center=request.center if request.has_centers else None,
        spread=request.spread or None,
        spreadsheet_safe=request.spreadsheet_safe or None,
        output_delimiter=request.output_delimiter if request.output_delimiter != "," else None,
        output_decimal=request.output_decimal if request.output_decimal != INPUT else None,
        population=_path(settings.population, private),
        weights=AUTO if settings.weights == AUTO else settings.column_weights(),
        target=request.target,
        options={name: value for name, value in request.options.items() if value not in (None, {}, ())},
        delimiter=settings.delimiter,
        encoding=settings.encoding,
        header=settings.header,
        sheet=settings.sheet,
        decimal=marks[0] if marks[0] != "." else None,
        thousands=marks[1] or None,
        models=tuple(spec for spec in specs if spec.get("name") in MODELS),
        constraints=settings.data_rules() if private else (),
        qi=tuple(column.name for column in schema.qi),
        sensitive=names(Role.SENSITIVE),
        insensitive=names(Role.INSENSITIVE),
        drop=names(Role.IDENTIFIER),
        person=next(iter(names(Role.PERSON)), None),
        k_column=next(iter(names(Role.PERSONAL_K)), None),
        numeric=of_kind(Kind.NUMERIC),
        categorical=of_kind(Kind.CATEGORICAL),
        dates={name: forms[name].date_format for name in of_kind(Kind.DATE)},
        boolean=of_kind(Kind.BOOLEAN),
        ordered={name: forms[name].order for name in of_kind(Kind.ORDERED) if len(forms[name].order) > 1},
        grids={column.name: column.grid for column in columns if column.grid},
        recode=settings.recode,
        **{field: getattr(settings, field) for field in Limits._fields},
        accept_unique=request.accept_unique,
        hierarchies={name: _path(rule, private) for name, rule in settings.hierarchies.items()},
        other_hierarchies=settings.other_hierarchies,
        signoff=settings.signoff,
    )


def _path(value: Any, private: bool) -> Any:
    """Return a path as it may be shown; other values stay as they are."""
    return Path(value).name if isinstance(value, str | os.PathLike) and not private else value
