"""Write a profile as a commented shoal.toml: the same bytes for the same table, and no cell but missing markers."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import Note, UsageError, counted, join_problems
from shoal.hierarchy import is_file
from shoal.profile.detect import Proposal
from shoal.profile.survey import PROPOSED_K, Profile, ProfiledColumn, Warned, warn_undecided
from shoal.schema import Kind, Role, unknown_column
from shoal.settings.fields import Form, Place
from shoal.settings.settings import FIELDS, Settings
from shoal.settings.write import to_toml

__all__ = ["apply_settings", "document", "document_for", "proposed_settings", "without_lost_columns"]

WIDTH = 110
OF_THE_TABLE = ("header", "roles", "decide")  # warnings that are written once, however many columns they name
COLUMN_PLACES = (Place.ROLE, Place.KIND, Place.COLUMN)
HEADER = """\
A proposal by shoal init, to be reviewed by someone who knows the table.

role = "identifier"   identifies a person: never released
role = "qi"           quasi-identifier, known to others: generalised until every row has its look-alikes
role = "sensitive"    nobody may learn it about a person: released unchanged
role = "insensitive"  neither known nor harmful: released unchanged
role = "person"       the person (or case) that the row belongs to: never released, and k counts people

A comment "decide:" marks a column whose role shoal cannot tell, and says why. It is dropped until you give it a role.

Then: shoal anonymize DATA.csv -o OUT.csv --config shoal.toml
The comments contain counts and shares, but no cell of the table other than missing markers.
"""
K_COMMENT = "Smallest group: every row has at least k-1 look-alikes. A larger k protects better and loses more."
MISSING_COMMENT = "CHECK: these texts seem to mean a missing value, in every column, besides the empty cell."


def apply_settings(profile: Profile, settings: Settings) -> Profile:
    """Return the profile with the roles, kinds and missing markers that the user gave in place of the proposed ones."""
    roles: dict[str, Role] = {}
    for field in FIELDS:
        if field.place is Place.ROLE:
            value = getattr(settings, field.name)
            roles |= dict.fromkeys((value,) if isinstance(value, str) else value or (), Role(field.key))
    kinds = {**settings.kinds, **settings.reading.kinds}
    columns = []
    for column in profile.columns:
        facts, proposal = column.facts, column.proposal
        role, kind = roles.get(column.name, proposal.role), Kind(kinds.get(column.name, proposal.kind))
        if column.name in roles or column.name in kinds:
            proposal = Proposal(role, kind, "from your settings")
        if column.name in settings.dates:
            facts = replace(facts, date_format=settings.dates[column.name])
        columns.append(ProfiledColumn(facts, proposal))
    others = (warned for warned in profile.warnings if warned.about != "decide")
    warnings = (*others, *warn_undecided(columns))
    missing = settings.missing or profile.missing
    return replace(profile, columns=tuple(columns), missing=missing, warnings=warnings)


def without_lost_columns(
    settings: Settings, saved: Settings, names: Sequence[str]
) -> tuple[Settings, tuple[Note, ...]]:
    """Leave out the columns of a file that the table no longer has.

    Args:
        settings: The merged settings.
        saved: The settings of the file.
        names: The columns of the table.

    Returns:
        The settings, and a note for each column left out.

    Raises:
        UsageError: If an option names a column that the table does not have.
    """
    lost = [name for name in _columns(settings) if name not in names]
    misspelt = [name for name in lost if name not in _columns(saved)]
    if misspelt:
        raise UsageError(join_problems([unknown_column(name, names) for name in misspelt]))
    values: dict[str, Any] = {}
    for field in (field for field in FIELDS if field.place in COLUMN_PLACES or field.form is Form.WEIGHTS):
        value = getattr(settings, field.name)
        if isinstance(value, tuple):
            values[field.name] = tuple(name for name in value if name not in lost)
        elif isinstance(value, Mapping):
            values[field.name] = {name: field for name, field in value.items() if name not in lost}
        elif value in lost:
            values[field.name] = None
    notes = [Note(f"column {name!r}", "is not in the table; the proposal leaves it out") for name in lost]
    return replace(settings, **values), tuple(notes)


def _columns(settings: Settings) -> list[str]:
    """Return the columns that settings name, each once."""
    names: dict[str, None] = {}
    for field in FIELDS:
        if field.place in COLUMN_PLACES:
            value = getattr(settings, field.name)
            names |= dict.fromkeys((value,) if isinstance(value, str) else value or ())
    return list(names)


def document(profile: Profile, settings: Settings | None = None) -> str:
    """Return the text of the shoal.toml.

    Args:
        profile: The profile, with the user's settings applied.
        settings: What the user gave; the file contains it too.
    """
    names = [column.name for column in profile.columns]
    general = [_sentences(w) for w in profile.warnings if not w.columns or w.about in OF_THE_TABLE]
    comments = {"k": [K_COMMENT], **({"missing": [MISSING_COMMENT]} if profile.missing else {})}
    for column in profile.columns:
        warnings = [w for w in profile.warnings if column.name in w.columns and w.about not in OF_THE_TABLE]
        comments[f"columns.{column.name}"] = list(_wrap(_remarks(column, warnings)))
    header = [*HEADER.splitlines(), *([""] if general else []), *_wrap(general)]
    return to_toml(
        (settings or Settings()).over(proposed_settings(profile)), header=header, comments=comments, columns=names
    )


def proposed_settings(profile: Profile) -> Settings:
    """Return the profile as settings."""
    values: dict[str, Any] = {}
    for field in FIELDS:
        if field.place is Place.ROLE:
            names = profile.names(Role(field.key))
            values[field.name] = names if field.form.is_list else next(iter(names), None)
    kinds = {kind: [c for c in profile.columns if c.proposal.kind is kind] for kind in Kind}
    if profile.dialect is not None:
        dialect = profile.dialect
        written = {"delimiter": dialect.delimiter, "encoding": dialect.encoding} if profile.sheet is None else {}
        values |= {**written, "header": dialect.header}
    return Settings(
        k=PROPOSED_K,
        missing=profile.missing,
        numeric=tuple(column.name for column in kinds[Kind.NUMERIC]),
        categorical=tuple(column.name for column in kinds[Kind.CATEGORICAL]),
        dates={column.name: column.facts.date_format or "" for column in kinds[Kind.DATE]},
        boolean=tuple(column.name for column in kinds[Kind.BOOLEAN]),
        **values,
    )


def _remarks(column: ProfiledColumn, warnings: Iterable[Warned]) -> Iterator[str]:
    facts, reason = column.facts, column.proposal.reason
    yield f"decide: {reason}." if column.proposal.decide else f"{reason[0].upper()}{reason[1:]}."
    yield (
        f"{counted(facts.distinct, 'distinct value')}; {facts.missing_share:.1%} of the cells are missing; "
        f"{facts.unique_share:.1%} of the others occur in one row only."
    )
    yield from (f"CHECK: {_sentences(warning)}" for warning in warnings)


def _sentences(warning: Warned) -> str:
    return " ".join(warning.text.sentences()).strip()


def _wrap(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def document_for(path: Path, profile: Profile, settings: Settings) -> str:
    """Return the text of the shoal.toml at a path, from whose folder the paths in it start."""
    return document(profile, _relative(settings, path.parent))


def _relative(settings: Settings, folder: Path) -> Settings:
    """Return the settings with paths that start from the folder of the new file."""

    def relative(value: Any) -> Any:
        return os.path.relpath(value, folder) if isinstance(value, str | os.PathLike) else value

    hierarchies = {name: relative(rule) if is_file(rule) else rule for name, rule in settings.hierarchies.items()}
    return replace(settings, hierarchies=hierarchies, population=relative(settings.population))
