"""What the settings and the manifest of a release ask of its file, for the commands that read a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.options import Place
from shoal.errors import FileError, Note, UsageError, VerificationError, join_problems, setting
from shoal.schema import INPUT, Column, Kind, Limits, Role, Schema
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shoal.hierarchy.base import Hierarchy
    from shoal.hierarchy.base import Rule as HierarchyRule
    from shoal.tables.table import Table
    from shoal.verification import Demand, Manifest

ManifestFile = Annotated[
    Path | None,
    typer.Option(
        "--manifest",
        metavar="FILE",
        help="The manifest of the release; the one beside it by default.",
        rich_help_panel=Panel.FILES,
    ),
]
NoManifest = Annotated[
    bool,
    typer.Option("--no-manifest", help="Ignore the manifest beside the release.", rich_help_panel=Panel.FILES),
]


def find_manifest(released: Place, manifest: Path | None, no_manifest: bool) -> Manifest | None:
    """Return the manifest of a release: the one that is named, or the one beside it."""
    if manifest is not None and no_manifest:
        raise UsageError("--manifest and --no-manifest contradict each other. Pass one of them.")
    _check_existence(released)
    from shoal import verification

    return verification.find_manifest(released, False if no_manifest else manifest)


def _check_existence(released: Place) -> None:
    """Refuse the path of no file at once: what the manifest beside it would have told is not missing."""
    try:
        if isinstance(released, Path):
            released.stat()
    except FileNotFoundError:
        raise FileError(f"{released}: no such file.") from None
    except (OSError, ValueError):
        pass  # whoever reads the file says what is wrong with it


BY_ROW = Note(
    "",
    "k counts people in this release, but the file shows only rows: the figures below are those of rows, and a person "
    "with several rows is easier to find",
)


def about_manifest(manifest: Manifest, demand: Demand | None = None) -> Note:
    """Return what was taken from a manifest, in one line.

    Args:
        manifest: The manifest.
        demand: What the release must meet, if it was compared with the original.
    """
    names = {
        "quasi-identifiers": manifest.names(Role.QI),
        "sensitive": manifest.names(Role.SENSITIVE),
    }
    parts = [f"k = {manifest.k}", *(f"{word} {', '.join(map(repr, some))}" for word, some in names.items() if some)]
    parts += [text if text.isprintable() else repr(text) for text in manifest.words[1:]]
    if demand is not None:
        from shoal.verification.demand import taken_for_comparison

        if words := taken_for_comparison(demand, manifest):
            parts.append(f"to compare with the original: {', '.join(words)}")
    return Note(manifest.place, f"taken from it: {'; '.join(parts)}")


def demand_of(
    settings: Settings, saved: Settings, manifest: Manifest | None, *, original: Path | None, keep_order: bool
) -> Demand:
    """Return what the settings ask of a release.

    Args:
        settings: The settings of the command, those of a shoal.toml included.
        saved: The settings of the shoal.toml alone; it gives every column its role.
        manifest: The manifest of the release.
        original: The original, if it is there; the person and the own k of a row are in it, and hierarchies are
            proposed from it.
        keep_order: Whether the rows are in the order of the original.
    """
    from shoal.verification import Demand
    from shoal.verification.verdict import read_limit

    if original is None and settings.k_column not in (None, saved.k_column):
        raise UsageError(f"the personal k of each row is in the original. Use {setting('original')} to give it.")
    if original is None and settings.person not in (None, saved.person):
        raise UsageError(f"the person of each row is in the original. Use {setting('original')} to give it.")
    is_complete = saved != Settings()
    limit = settings.suppression_limit
    if is_complete and limit is None:
        limit = 0
    # The roles may be those of the manifest alone.
    asked = settings if manifest is None else take_from_manifest(settings, manifest)
    hierarchies = _hierarchies(asked, original)
    return Demand(
        k=settings.k,
        roles=settings.roles,
        reading=_with_kinds(settings),
        complete=is_complete,
        others=settings.others,
        models=_models(settings, manifest),
        suppression_limit=None if limit is None else read_limit(limit),  # type: ignore[arg-type]
        labels={
            name: _labels_of(name, rule, settings) for name, rule in hierarchies.items() if name in asked.generalised
        },
        paths={
            name: _paths_of(name, rule, settings) for name, rule in hierarchies.items() if name not in asked.generalised
        },
        population=None if settings.population is None else readable(settings.population),
        rules=tuple(_plain_rule(rule) for rule in settings.data_rules() if rule.ban),
        bounds=settings.cells == "bounds",
        center=settings.center or "mean" if settings.cells == "center" else None,
        spread=bool(settings.spread),
        spreadsheet_safe=bool(settings.spreadsheet_safe),
        delimiter=None if settings.output_delimiter in (None, "input") else settings.output_delimiter,
        decimal=settings.output_decimal,
        keep_order=keep_order,
        has_marks=settings.decimal is not None or settings.thousands is not None,
        codings=settings.codings,
        limits={name: _levels(name, limits, hierarchies.get(name)) for name, limits in settings.limits.items()},
        ladders={
            name: _paths_of(name, rule, settings) for name, rule in hierarchies.items() if name in asked.generalised
        },
    )


def given_hierarchies(settings: Settings) -> dict[str, HierarchyRule]:
    """Return the hierarchies by column without those to be proposed, which need the original."""
    from shoal.hierarchy import Auto

    return {name: rule for name, rule in settings.rules().items() if not isinstance(rule, Auto)}


def has_proposals(settings: Settings) -> bool:
    """Return whether a hierarchy is to be proposed."""
    return len(given_hierarchies(settings)) < len(settings.rules())


def _hierarchies(settings: Settings, original: Place | None) -> Mapping[str, HierarchyRule]:
    """Return the hierarchies by column; those to be proposed are proposed from the original, or left out without it."""
    rules, given = settings.rules(), given_hierarchies(settings)
    if original is None or len(rules) == len(given):
        return given
    from shoal.cli import options as opt
    from shoal.encoding.encode import guess_kinds
    from shoal.hierarchy import propose_open
    from shoal.schema import Schema

    reading = settings.reading
    table = opt.read_one_of(original, reading, settings.generalised, original=True)
    schema = Schema.build(table.names, {Role.QI: settings.generalised}, reading=reading, others="insensitive")
    return propose_open(rules, table, guess_kinds(table, schema))[0]


def readable(path: Place) -> Any:
    """Return a path that the verifier reads; a file that only the tables of shoal read, as a frame of its texts."""
    from shoal import verification

    if isinstance(path, Path) and verification.can_read(path):
        return path
    from shoal.tables.formats import read_table

    return read_table(path).frame


def take_from_manifest(settings: Settings, manifest: Manifest) -> Settings:
    """Return settings that are completed by those of a manifest; roles only if the settings name no column."""
    reading = manifest.reading
    stated = Settings(
        k=manifest.k,
        numeric=reading.numeric,
        categorical=reading.categorical,
        dates=reading.dates,
        boolean=reading.boolean,
        ordered=reading.ordered,
        missing=reading.missing,
        decimal=reading.decimal,
        thousands=reading.thousands or None,
        recode={column.name: _recoding(column) for column in manifest.columns if column.codings},
    )
    if not settings.generalised:
        stated = replace(stated, qi=manifest.names(Role.QI), sensitive=manifest.names(Role.SENSITIVE))
    return settings.over(stated)


def _levels(name: str, limits: Limits, rule: HierarchyRule | None) -> Limits:
    """Return limits that give the levels of a hierarchy by their numbers."""
    from shoal.encoding.limits import level_of
    from shoal.hierarchy.base import Hierarchy

    if not isinstance(rule, Hierarchy):
        return limits
    fields = [field for field in Limits._fields[1:] if getattr(limits, field)]
    return limits._replace(**{field: str(level_of(name, field, getattr(limits, field), rule)) for field in fields})


def _recoding(column: Column) -> str:
    """Return the recoding that a manifest states as a setting; the bound of a share as a bound."""
    parts = [(coding.form, coding.given if coding.form == "rare" else coding.text) for coding in column.codings]
    return ",".join(f"{form}:{text}" for form, text in parts)


def require_true(released: Place, manifest: Manifest) -> None:
    """Raise a VerificationError if a file is not what its manifest states."""
    from shoal import verification

    verdict = verification.examine(released, verification.Demand(), manifest=manifest)
    if not verdict.ok:
        raise VerificationError(
            f"{released}: the file and its manifest do not agree. {join_problems(verdict.violations)}"
        )


def read_release(
    released: Place, manifest: Manifest | None, settings: Settings, counted: Sequence[str] | None = None
) -> Table:
    """Read a released file as its manifest describes it, or as the settings do; numbers have the marks of the settings.

    Args:
        released: The file.
        manifest: Its manifest; None if there is none.
        settings: The settings, which name the quasi-identifiers.
        counted: Columns besides these that are needed if the distinct rows of a large file are enough; None for all.
    """
    from shoal.cli import options as opt
    from shoal.release.files.layout import with_marks_of
    from shoal.release.files.reading import read_as_stated

    if manifest is not None:
        return read_as_stated(released, manifest, None if counted is None else (settings.generalised, counted))
    reading, qi = settings.reading, opt.require_qi(settings)
    table = opt.read_one_of(released, reading, qi, counted=counted)
    roles = {Role.QI: [name for name in qi if name in table.names]}
    schema = Schema.build(table.known_names, roles, reading=reading, others="insensitive")
    return with_marks_of(table, schema, settings.output_decimal or INPUT)


def _with_kinds(settings: Settings) -> Any:
    """Return the reading of the settings, with the kinds of columns that are not quasi-identifiers."""
    reading = settings.reading
    others = {name: kind for name, kind in settings.kinds.items() if name not in reading.kinds}

    def named(kind: Kind) -> tuple[str, ...]:
        return tuple(name for name, each in others.items() if each == kind)

    return replace(
        reading,
        numeric=(*reading.numeric, *named(Kind.NUMERIC)),
        categorical=(*reading.categorical, *named(Kind.CATEGORICAL)),
        boolean=(*reading.boolean, *named(Kind.BOOLEAN)),
    )


def _models(settings: Settings, manifest: Manifest | None) -> tuple[Any, ...]:
    """Return the models of the settings; l and t without a sensitive column apply to those of the manifest."""
    if manifest is not None and not settings.sensitive:
        settings = replace(settings, sensitive=manifest.names(Role.SENSITIVE))
    return settings.privacy_models()


def _plain_rule(rule: Any) -> dict[str, Any]:
    return {"column": rule.column, rule.form: getattr(rule, rule.form)}


def _labels_of(
    name: str, rule: HierarchyRule, settings: Settings
) -> Callable[[Sequence[str]], Mapping[str, frozenset[str]]]:
    return lambda texts: _bound(name, rule, settings, texts).values_under()


def _paths_of(
    name: str, rule: HierarchyRule, settings: Settings
) -> Callable[[Sequence[str]], Mapping[str, tuple[str, ...]]]:
    return lambda texts: _bound(name, rule, settings, texts).rows


def _bound(name: str, rule: HierarchyRule, settings: Settings, texts: Sequence[str]) -> Hierarchy:
    """Return the hierarchy over the values of a column; a value that it lacks is suppressed on every level."""
    from shoal.hierarchy.base import over_values
    from shoal.tables.values.forms import find_form

    missing = ("", *settings.missing)
    column = settings.reading.column(name, Role.QI)
    column = find_form(column, [text for text in texts if text not in missing]).column
    return over_values(rule, texts, column, column=name, unknown="top", missing=missing)
