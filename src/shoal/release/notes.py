"""Notes about a table and its release. They contain names of columns and counts, never cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import Released
from shoal.errors import InputError, Note, counted, setting
from shoal.methods.base import Method
from shoal.methods.full_domain.base import FullDomain
from shoal.metrics.association import Twin
from shoal.models import PrivacyModel
from shoal.profile.columns import Coded
from shoal.profile.markers import SPELLINGS, count_look_alike_sets, count_look_alikes
from shoal.profile.persons import likely_person
from shoal.profile.singling_out import find_dependencies
from shoal.release.files.layout import SIGNED, is_formula
from shoal.release.release import Request
from shoal.report.warnings import about_groups, about_settings
from shoal.schema import Role, Schema
from shoal.tables.table import Factor, Table

__all__ = [
    "SAMPLE_ROWS",
    "about_levels",
    "about_release",
    "about_revealing",
    "about_search",
    "about_table",
    "about_target",
    "about_unchanged",
    "about_unread",
    "mix",
]

SAMPLE_ROWS = 20_000
PERSON_CODE = "\x00person"  # no column of a table has this name
MOST_HINTS = 3  # notes of one kind
MIXER = np.uint64(0x9E3779B97F4A7C15)  # spreads the cells of a row over all bits
FREQUENT = 0.01  # share of the rows from which a text such as "?" deserves a note


def about_table(
    table: Table,
    schema: Schema,
    models: Sequence[PrivacyModel] = (),
    *,
    joint: bool = True,
    revealing: Callable[[], list[Note]] | None = None,
) -> list[Note]:
    """Note look-alike values, undeclared missing-value markers and revealing columns.

    Args:
        table: The table.
        schema: Its columns.
        models: The privacy models.
        joint: Whether its rows show which values occur together; without this, no column is called revealing.
        revealing: Finds the columns that reveal others, if the table has not all of them; see `about_revealing`.
    """
    found = revealing() if revealing is not None else _dependencies(table, schema) if joint else []
    return [
        *_look_alikes(table, schema),
        *_false_diversity(table, models),
        *_markers(table, schema),
        *found,
    ]


def about_unchanged(models: Sequence[PrivacyModel]) -> Note:
    """Note that the table meets the request without any change."""
    requirements = " and ".join(model.describe() for model in models)
    return Note("", f"the table already meets {requirements}; nothing was changed")


def about_levels(method: Method, encoded: Encoded) -> list[Note]:
    """Note the columns that a full-domain method can only keep or suppress, because they have no hierarchy."""
    names = [attribute.name for attribute in encoded.attributes if attribute.tree is None]
    if not isinstance(method, FullDomain) or not names:
        return []
    place = f"column{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
    text = f"no hierarchy: {method.name} releases the values of such a column as they are, or '*' in every row"
    cure = f"{setting('hierarchies', 'auto', option='--hierarchies')} proposes hierarchies"
    return [Note(place, text, f"{cure}; {setting('hierarchies')} takes your own")]


def about_unread(error: InputError) -> Note:
    """Note that cells were compared as text only, because they cannot be read as the values of their columns."""
    return Note("", f"the cells were only compared as text, because they cannot be read as values: {error.text}")


def _look_alikes(table: Table, schema: Schema) -> Iterator[Note]:
    for column in schema.qi:
        count = count_look_alikes(table.factor(column.name).texts.str.strip_chars().unique())
        if count:
            yield Note(
                f"column {column.name!r}",
                "{values:value differs|values differ} from another one only in case, blanks or look-alike letters",
                "give them one spelling",
                {"values": count},
            )


def _false_diversity(table: Table, models: Sequence[PrivacyModel]) -> Iterator[Note]:
    """Note sensitive values that a model counts as different but a reader takes for one."""
    for name in dict.fromkeys(name for model in models for name in model.columns):
        count = count_look_alike_sets(table.factor(name).texts)
        if count:
            yield Note(
                f"column {name!r}",
                "{sets:set|sets} of values differ only in case, blanks, invisible characters or look-alike letters, so "
                f"the groups may be less diverse than {_listed(models, name)} counts",
                "give each of them one spelling before the release",
                {"sets": count},
            )


def _listed(models: Sequence[PrivacyModel], name: str) -> str:
    return " and ".join(dict.fromkeys(model.describe() for model in models if name in model.columns))


def _formulas(released: Released, schema: Schema) -> Iterator[Note]:
    """Note cells and names that a spreadsheet would run as a formula."""
    names = [column.name for column in schema.released if column.name in released.table.names]
    count = sum(map(is_formula, names))
    for name in names:
        texts = released.table.factor(name).texts
        signed = np.flatnonzero(texts.str.contains(SIGNED).to_numpy())
        rows = released.table.counts(name)[signed] if len(signed) else ()
        count += sum(n for n, text in zip(rows, texts.gather(signed).to_list(), strict=True) if is_formula(text))
    if count:
        yield Note(
            "",
            "{cells:cell begins|cells begin} like a formula, which a spreadsheet runs when it opens a CSV file",
            f"use {setting('spreadsheet_safe', True)} to make them harmless",
            {"cells": int(count)},
        )


def _markers(table: Table, schema: Schema) -> Iterator[Note]:
    for column in schema.qi:
        suspects = table.factor(column.name).texts.is_in(list(SPELLINGS - set(schema.missing))).to_numpy()
        rows = int(table.counts(column.name)[suspects].sum())
        if rows >= FREQUENT * table.n_rows:
            yield Note(
                f"column {column.name!r}",
                "{cells:cell looks like a missing value but counts|cells look like missing values but count} as "
                "ordinary",
                f"declare the marker with {setting('missing')}",
                {"cells": rows},
            )


def _dependencies(table: Table, schema: Schema) -> list[Note]:
    """Note columns that are released unchanged and reveal a quasi-identifier; see `about_revealing`."""
    released = [column.name for column in schema.released]
    rows = _sample(table, released, schema.names(Role.PERSON))
    coded = {}
    for name in released:
        ranks, texts = table.factor(name)
        coded[name] = Coded(ranks[rows].astype(np.int64), len(texts))
    return about_revealing(coded, schema)


def about_revealing(coded: Mapping[str, Coded], schema: Schema) -> list[Note]:
    """Note columns that are released unchanged and reveal a quasi-identifier.

    Args:
        coded: By released column, some rows of it: a sample, and one row of each person. The income of a household,
            which all its members share, reveals nothing about the region.
        schema: The columns.
    """
    names = [column.name for column in schema.qi]
    untouched = [name for name in coded if name not in names]
    revealed: dict[str, list[str]] = {}
    for dependency in find_dependencies(coded, names, untouched):
        revealed.setdefault(dependency.column, []).append(dependency.target)
    ranked = sorted(revealed, key=lambda name: -len(revealed[name]))
    notes = []
    for name in ranked[:MOST_HINTS]:
        targets = revealed[name]
        shown = f"{targets[0]!r}" + (f" and {counted(len(targets) - 1, 'other')}" if len(targets) > 1 else "")
        text = f"reveals quasi-identifier {shown} and is released unchanged"
        notes.append(Note(f"column {name!r}", text, "drop it, or make it a quasi-identifier"))
    if len(ranked) > MOST_HINTS:
        more = ", ".join(map(repr, ranked[MOST_HINTS:]))
        notes.append(Note("", f"further columns that reveal quasi-identifiers and are released unchanged: {more}"))
    return notes


def _sample(table: Table, names: Sequence[str], person: Sequence[str]) -> Any:
    """Return the rows to look at, one of each person, which make the same table however the rows are ordered."""
    step = table.height // SAMPLE_ROWS
    if step < 2 and not person:
        return slice(None)
    order = np.argsort(mix([table.factor(name).ranks for name in names]))
    if person:
        _, first = np.unique(table.factor(person[0]).ranks[order], return_index=True)
        order = order[np.sort(first)]
    return order[:: max(1, len(order) // SAMPLE_ROWS)]


def mix(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a number for each row that depends on all of its cells; columns: the ranks of cells."""
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for ranks in columns:
        mixed = (mixed ^ ranks.astype(np.uint64)) * MIXER
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _people(table: Table, released: Released, schema: Schema, k: int) -> Iterator[Note]:
    """Note that people seem to have several rows, and how many groups hold fewer than k of them."""
    import polars as pl

    person = likely_person(table, schema)
    if person is None:
        return
    ranks, texts = table.factor(person.name)
    names = [column.name for column in schema.qi if column.name in released.table.names]
    frame = released.table.frame.select(names).with_columns(
        pl.Series(PERSON_CODE, ranks[released.source_rows].astype(np.int64))
    )
    people = frame.group_by(names).agg(pl.col(PERSON_CODE).n_unique())[PERSON_CODE]
    small = int((people < k).sum())
    if small:
        text = (
            "the rows belong to {people:person|people}, as it seems, but k counts rows: {small} of {groups:group holds|"
            f"groups hold}} fewer than {k} people"
        )
        counts = {"people": int((texts != "").sum()), "small": small, "groups": len(people)}
        yield Note(f"column {person.name!r}", text, f"count people with {setting('person', person.name)}", counts)


def about_release(
    table: Table, released: Released, schema: Schema, request: Request, spread: Mapping[str, Factor]
) -> list[Note]:
    """Note what the user should know before handing out a release; spread: of its centres, if they show it."""
    notes = [
        *_people(table, released, schema, request.k),
        *about_groups(released.table, schema, request, spread),
        *about_settings(request, request.k),
    ]
    if not request.spreadsheet_safe:
        notes += _formulas(released, schema)
    if request.method == "mnqia" and request.options.get("variant") == "sensitive":
        notes.append(_diversity(released, schema))
    return notes


def about_search(facts: Mapping[str, Any]) -> list[Note]:
    """Note what a search for research value suppressed, and whether it may have missed the best release."""
    notes = [
        Note(
            f"column {name!r}",
            "fails on every allowed level, even on its own, and is released as '*'",
            "drop it, or allow more levels",
        )
        for name in facts.get("dropped", ())
    ]
    if facts.get("rising"):
        names = ", ".join(map(repr, facts["rising"]))
        text = f"the research value of {names} rises with the level, so this search may miss the best release"
        notes.append(Note("", text, "method optimal, or the option subsets, is sure to find it"))
    return notes


def _diversity(released: Released, schema: Schema) -> Note:
    """Note how many values of each sensitive column every group contains at least."""
    import polars as pl

    names = schema.names(Role.SENSITIVE)
    groups = released.table.frame.group_by([column.name for column in schema.qi]).agg(pl.col(names).n_unique())
    counts = {f"values{i}": int(groups[name].min() or 0) for i, name in enumerate(names)}  # type: ignore[arg-type]
    parts = [f"{{{key}{':value' * (i == 0)}}} of {names[i]!r}" for i, key in enumerate(counts)]
    return Note("", f"every group contains at least {' and '.join(parts)}", counts=counts)


def about_target(request: Request, encoded: Encoded, twins: tuple[Twin, ...]) -> list[Note]:
    """Note which columns the target steered, or that it steered none."""
    if request.target is None:
        return []
    names = list(dict.fromkeys(encoded.attributes[twin.place].name for twin in twins))
    if not names:
        text = "changed nothing: no category among the quasi-identifiers tells anything about it"
        return [Note(f"target {request.target!r}", text, f"leave out {setting('target')}")]
    text = f"the search preferred groups whose values of {', '.join(map(repr, names))} say the same about it"
    return [Note(f"target {request.target!r}", text)]
