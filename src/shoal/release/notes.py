"""What the user should know about a table and its release, in words and counts, never in cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import Released
from shoal.profile.columns import Coded
from shoal.profile.markers import SPELLINGS, count_look_alikes
from shoal.profile.singling_out import find_dependencies
from shoal.release.release import Request
from shoal.schema import Role, Schema
from shoal.tables.table import Table

__all__ = ["about_release", "about_search", "about_table"]

SAMPLE_ROWS = 20_000
NEARLY_UNIQUE = 0.5  # distinct values per row from which a dropped column seems to name people
FREQUENT = 0.01  # share of the rows from which a text such as "?" is worth a word


def about_table(table: Table, schema: Schema) -> list[str]:
    """Return what is odd about a table: look-alike texts, undeclared markers, columns that give others away."""
    return [
        *_look_alikes(table, schema),
        *_markers(table, schema),
        *_dependencies(table, schema),
        *_repeated_identifiers(table, schema),
    ]


def _look_alikes(table: Table, schema: Schema) -> Iterator[str]:
    for column in schema.qi:
        count = count_look_alikes(table.factor(column.name).texts.str.strip_chars().unique())
        if count:
            yield (
                f"column {column.name!r}: {count} values differ in case, blanks or look-alike letters alone; give them "
                "one spelling"
            )


def _markers(table: Table, schema: Schema) -> Iterator[str]:
    for column in schema.qi:
        suspects = table.factor(column.name).texts.is_in(list(SPELLINGS - set(schema.missing))).to_numpy()
        rows = int(table.counts(column.name)[suspects].sum())
        if rows >= FREQUENT * table.n_rows:
            yield (
                f"column {column.name!r}: {rows} cells read like a marker of a missing value and are taken as a value; "
                "declare it with --missing"
            )


def _dependencies(table: Table, schema: Schema) -> Iterator[str]:
    """Name the columns that leave as they are and give a quasi-identifier away."""
    step = max(1, table.frame.height // SAMPLE_ROWS)
    coded = {}
    for column in schema.released:
        ranks, texts = table.factor(column.name)
        coded[column.name] = Coded(ranks[::step].astype(np.int64), len(texts))
    names = [column.name for column in schema.qi]
    untouched = [name for name in coded if name not in names]
    for found in find_dependencies(coded, names, untouched):
        yield (
            f"column {found.column!r} gives quasi-identifier {found.target!r} away and leaves as it is; drop it or "
            "make it a quasi-identifier"
        )


def _repeated_identifiers(table: Table, schema: Schema) -> Iterator[str]:
    """Name the dropped columns that are nearly unique but not quite: the same person may stand in several rows."""
    if schema.names(Role.PERSON):
        return
    for name in schema.names(Role.IDENTIFIER):
        ranks, texts = table.factor(name)
        known = int((~texts.is_in(list(schema.missing))).to_numpy()[ranks].sum())
        distinct = int((~texts.is_in(list(schema.missing))).sum())
        if NEARLY_UNIQUE * known <= distinct < known:
            yield (
                f"column {name!r} repeats in {known - distinct:,} rows: one person may have several; if it tells whose "
                f"a row is, say --person {name}"
            )


def about_release(released: Released, encoded: Encoded, schema: Schema, request: Request) -> list[str]:
    """Return what the user should know before handing a release out."""
    notes = []
    if request.k < 3:
        notes.append(f"k={request.k} hides little; 5 is a common start")
    if request.keep_order:
        notes.append("rows keep their order, which can tell people apart for those who know it; leave --keep-order out")
    if not schema.names(Role.PERSON):
        notes.append("one row is taken for one person; where a person has several, name the column with --person")
    single = 0 if request.snap else _single_ends(released, encoded)
    if single:
        notes.append(f"{single:,} ranges end at a value that only one row has; --snap widens them to a round grid")
    if request.method == "mnqia" and request.options.get("variant") == "sensitive":
        notes.append(_diversity(released, schema))
    return notes


def about_search(facts: Mapping[str, Any]) -> list[str]:
    """Return what the user should know of a search for research value: what it left out, and where it may err."""
    notes = [
        f"column {name!r} fails on every level allowed, even alone, and is released as '*'; drop it, or allow more"
        for name in facts.get("dropped", ())
    ]
    if facts.get("rising"):
        told = ", ".join(map(repr, facts["rising"]))
        notes.append(
            f"research values of {told} rise with a level: only --subsets and optimal are sure to find the best"
        )
    return notes


def _diversity(released: Released, schema: Schema) -> str:
    """Tell how many values of each sensitive column every group holds at least."""
    import polars as pl

    names = schema.names(Role.SENSITIVE)
    groups = released.table.frame.group_by([column.name for column in schema.qi]).agg(pl.col(names).n_unique())
    least = [f"{groups[name].min()!s} {'values ' if i == 0 else ''}of {name!r}" for i, name in enumerate(names)]
    return f"every group holds at least {' and '.join(least)}"


def _single_ends(released: Released, encoded: Encoded) -> int:
    """Count the ranges that end at a value of one row."""
    single = 0
    for i, attribute in enumerate(encoded.attributes):
        if attribute.ordered:
            rows = np.bincount(encoded.tuples[:, i], weights=encoded.counts, minlength=len(attribute.texts))
            alone = {text for text, count in zip(attribute.texts, rows.tolist(), strict=True) if count == 1}
            ends = released.bounds.get(attribute.name, {}).values()
            single += sum(low in alone or high in alone for low, high in ends if low != high)
    return single
