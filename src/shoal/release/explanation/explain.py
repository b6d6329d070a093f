"""Explain one row of a released file, with what its manifest says."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from shoal.encoding.encode import guess_kinds
from shoal.errors import UsageError, setting
from shoal.hierarchy import AUTO, Auto, is_file, read
from shoal.hierarchy.base import Rule, for_columns
from shoal.hierarchy.propose import propose_open
from shoal.release.explanation import Explanation, explain_row
from shoal.release.files.layout import read_back
from shoal.schema import Reading, ReadingKeywords, Role, Schema, check_k, column_names
from shoal.tables.formats import as_table
from shoal.tables.table import Table
from shoal.verification import Manifest, find_manifest

__all__ = ["explain", "explain_tables"]

Hierarchies = Mapping[str, Rule | str | os.PathLike[str]] | str


def explain(
    released: Any,
    original: Any,
    row: int,
    *,
    qi: Sequence[str] | None = None,
    k: int | None = None,
    person: str | None = None,
    hierarchies: Hierarchies | None = None,
    manifest: str | os.PathLike[str] | bool | None = None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Explanation:
    """Explain why the cells of one row are as wide as they are. The result contains original cells: keep it private.

    Args:
        released: The release: the path of a file, or a frame. The manifest beside a file says what is not given here.
        original: The original: a frame, or the path of a file.
        row: The row of the original, from 1.
        qi: The quasi-identifiers.
        k: The k of the release.
        person: The column of the original that identifies people, if k counts people.
        hierarchies: Hierarchies by column, as for `anonymize`; "auto" proposes them again.
        manifest: The path of the manifest; False ignores the one beside the file.
        cell_keywords: How cells are read: `numeric`, `categorical`, `dates`, `boolean`, `ordered`, `units`, `missing`,
            `decimal` and `thousands`; see `shoal.schema.ReadingKeywords`.

    Raises:
        UsageError: An argument is wrong or missing, or the original has no such row.
        InputError: A table cannot be used as it is.
        FileError: A file cannot be read.

    >>> import polars as pl, shoal
    >>> before = pl.DataFrame({"age": [20, 24, 40, 60]})
    >>> after = pl.DataFrame({"age": ["[20, 24]", "[20, 24]", "[40, 60]", "[40, 60]"]})
    >>> found = shoal.explain(after, before, 2, qi=["age"], k=2)
    >>> found.groups[0].columns[0].shown, found.groups[0].neighbours[0].row
    ('[20, 24]', 3)
    """
    stated = find_manifest(released, manifest) if isinstance(released, str | os.PathLike) else None
    if stated is not None:
        qi, k = qi or stated.names(Role.QI), stated.k if k is None else k
    if not qi or k is None:
        raise UsageError(
            f"there is no manifest that says what the release promises. Give {setting('qi')} and {setting('k')}."
        )
    qi = column_names("qi", qi)
    given = Reading.of_cells(**cell_keywords)
    tables = as_table(original, qi), as_table(released, qi)
    if stated is not None:
        tables = tables[0], read_back(tables[1], stated)
    reading = given if stated is None else _complete(given, stated.reading)
    rules = _rules(hierarchies, qi)
    return explain_tables(*tables, row, qi=qi, k=k, person=person, rules=rules, reading=reading, stated=stated)


def explain_tables(
    original: Table,
    released: Table,
    row: int,
    *,
    qi: Sequence[str],
    k: int,
    person: str | None,
    rules: Mapping[str, Rule],
    reading: Reading,
    stated: Manifest | None,
) -> Explanation:
    """Explain one row of a release from tables in memory; see `explain`.

    Args:
        original: The original.
        released: The release, without escapes, and with ranges in one column.
        row: The row of the original, from 1.
        qi: The quasi-identifiers.
        k: The k of the release.
        person: The column that identifies people, if k counts people.
        rules: Hierarchies by column; those to be proposed are proposed from the original.
        reading: How cells are read.
        stated: The manifest, if there is one.
    """
    if stated is not None and stated.center is not None:
        raise UsageError(
            "the cells are centres of groups and cover no row, so the group of a row cannot be told. Make a release "
            f"with {setting('cells', 'text')} and otherwise the same settings, and explain its rows."
        )
    for table, which in ((original, "original"), (released, "release")):
        if absent := [name for name in qi if name not in table.names]:
            raise UsageError(f"column {absent[0]!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")
    roles = {Role.QI: qi} | ({Role.PERSON: [person]} if person else {})
    schema = guess_kinds(original, Schema.build(original.names, roles, reading=reading, others="drop"))
    bound, _ = propose_open(for_columns(rules.items(), qi), original, schema)
    if absent := [name for name in (stated.labelled if stated else ()) if name in qi and name not in rules]:
        raise UsageError(
            f"column {absent[0]!r} was generalised along a hierarchy, which the manifest does not contain. Give it "
            f"with {setting('hierarchies')} or {setting('config')}."
        )
    others = [name for name in released.names if name not in qi and name in original.names]
    return explain_row(original, released, row, schema, k=check_k(k), hierarchies=bound, others=others)


def _complete(given: Reading, known: Reading) -> Reading:
    """Return how cells are read: as given, else as the manifest says."""
    unnamed = [name for name in known.kinds if name not in given.kinds]

    def lists(name: str) -> tuple[str, ...]:
        return (*getattr(given, name), *(each for each in getattr(known, name) if each in unnamed))

    def mappings(name: str) -> dict[str, Any]:
        stated = {key: value for key, value in getattr(known, name).items() if key in unnamed}
        return {**stated, **getattr(given, name)}

    return replace(
        known,
        numeric=lists("numeric"),
        categorical=lists("categorical"),
        boolean=lists("boolean"),
        dates=mappings("dates"),
        ordered=mappings("ordered"),
        units=mappings("units"),
        missing=tuple(dict.fromkeys((*given.missing, *known.missing))),
    )


def _rules(hierarchies: Hierarchies | None, qi: Sequence[str]) -> dict[str, Rule]:
    """Return the hierarchies by column; paths are read."""
    if isinstance(hierarchies, str):
        if hierarchies != AUTO:
            raise UsageError(f"hierarchies={hierarchies!r} is not known. Use {AUTO!r}, or a hierarchy for each column.")
        return {name: Auto() for name in qi}
    rules: dict[str, Any] = dict(hierarchies or {})
    for name, rule in rules.items():
        if isinstance(rule, str) and rule == AUTO:
            rules[name] = Auto()
        elif is_file(rule) or isinstance(rule, str):
            rules[name] = read(rule, column=name)
    return rules
