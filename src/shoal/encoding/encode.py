"""From text to codes: dictionaries from distinct cells, then the codes of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

import numpy as np

from shoal.encoding.attributes import Attribute, Encoded, attribute_dictionary
from shoal.encoding.dictionary import Dictionary, Distinct
from shoal.encoding.population import encode_population
from shoal.encoding.sensitive import (
    Sensitive,
    person_dictionary,
    personal_k_dictionary,
    read_sensitive,
    sensitive_dictionary,
)
from shoal.errors import InputError, Note, join_problems, setting
from shoal.hierarchy.base import Rule
from shoal.schema import Kind, Role, Schema
from shoal.tables.sorting import pack, sort_keys, starts_of_runs
from shoal.tables.table import Table
from shoal.tables.values.forms import find_form
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["Dictionaries", "encode", "encode_rows", "guess_kinds", "guess_sensitive_kinds", "make_dictionaries"]

Made = TypeVar("Made")
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True)
class Dictionaries:
    """The dictionaries of a table: all that is needed to encode any block of its rows.

    Attributes:
        schema: The columns of the table.
        attributes: Of the quasi-identifiers, in the order of the schema.
        sensitive: Of the sensitive columns.
        personal_k: Of the column of personal k, if there is one.
        person: Of the person column, if there is one.
    """

    schema: Schema
    attributes: tuple[Dictionary[Attribute], ...]
    sensitive: tuple[Dictionary[Sensitive], ...] = ()
    personal_k: Dictionary[None] | None = None
    person: Dictionary[None] | None = None


def encode(
    table: Table,
    schema: Schema,
    hierarchies: Mapping[str, Rule] | None = None,
    *,
    unknown: str = "error",
    as_text: bool = False,
    population: Table | None = None,
    watch: Watch = UNWATCHED,
) -> Encoded:
    """Turn the released columns of a table into codes.

    Args:
        table: The table.
        schema: Its columns; the kinds of quasi-identifiers must be known.
        hierarchies: By column.
        unknown: What to do with values that a hierarchy lacks: "error" or "top".
        as_text: Keep every cell as it is, whatever its kind (for a table that is released unchanged).
        population: The table that this one was drawn from.
        watch: Hears of progress, column by column, and may cancel.

    Raises:
        InputError: Some values do not suit their columns; the message names all of them.
    """
    n_columns, n_read = len(schema.columns), 0

    def distinct_of(name: str) -> Distinct:
        nonlocal n_read
        n_read += 1
        watch.step(min(1.0, n_read / n_columns))
        return Distinct.of(table, name)

    dictionaries = make_dictionaries(schema, distinct_of, hierarchies, unknown=unknown, as_text=as_text)
    watch.check()
    encoded = encode_rows(dictionaries, table)
    watch.check()
    if population is None:
        return encoded
    people = encode_population(population, schema, encoded.attributes, hierarchies or {})
    return replace(encoded, population=people)


def make_dictionaries(
    schema: Schema,
    distinct_of: Callable[[str], Distinct],
    hierarchies: Mapping[str, Rule] | None = None,
    *,
    unknown: str = "error",
    as_text: bool = False,
) -> Dictionaries:
    """Return the dictionaries of a table from its distinct cells.

    Args:
        schema: The columns; the kinds of quasi-identifiers must be known.
        distinct_of: Returns the distinct cells of a column.
        hierarchies: By column.
        unknown: What to do with values that a hierarchy lacks: "error" or "top".
        as_text: Keep every cell as it is, whatever its kind.

    Raises:
        InputError: Some values do not suit their columns; the message names all of them.
    """
    rules = hierarchies or {}
    problems: list[str] = []

    def attempt(make: Callable[Arguments, Made], *args: Arguments.args, **options: Arguments.kwargs) -> list[Made]:
        try:
            return [make(*args, **options)]
        except InputError as error:
            problems.append(error.text)
            return []

    attributes: list[Dictionary[Attribute]] = []
    for column in schema.qi:
        distinct, rule = distinct_of(column.name), rules.get(column.name)
        attributes += attempt(
            attribute_dictionary,
            column,
            distinct,
            markers=schema.missing,
            rule=rule,
            unknown=unknown,
            as_text=as_text,
        )
    sensitive: list[Dictionary[Sensitive]] = []
    for column in schema.columns:
        if column.role is Role.SENSITIVE:
            distinct, rule = distinct_of(column.name), rules.get(column.name)
            sensitive += attempt(sensitive_dictionary, column, distinct, schema.missing, rule)
    personal_k: list[Dictionary[None]] = []
    for name in schema.names(Role.PERSONAL_K):
        personal_k += attempt(personal_k_dictionary, name, distinct_of(name), schema.missing)
    if problems:
        raise InputError(join_problems(problems))
    person = [person_dictionary(name, distinct_of(name), schema.missing) for name in schema.names(Role.PERSON)]
    return Dictionaries(
        schema,
        tuple(attributes),
        tuple(sensitive),
        personal_k[0] if personal_k else None,
        person[0] if person else None,
    )


def encode_rows(dictionaries: Dictionaries, block: Table) -> Encoded:
    """Return the codes of a block of rows; its domains are those of the dictionaries, not of the block.

    Args:
        dictionaries: Of the whole table.
        block: Some or all rows of the table, with all its columns.

    Raises:
        InputError: The block contains a cell that the dictionaries lack.
    """
    schema = dictionaries.schema
    attributes = tuple(each.meaning for each in dictionaries.attributes)
    codes = [each.codes(block.factor(each.name)) for each in dictionaries.attributes]
    others = {c.name: block.factor(c.name) for c in schema.released if c.role is not Role.QI}
    columns, cards = list(codes), [len(attribute.texts) for attribute in attributes]
    # Sorted by name, because the order of columns in the table must not affect the order of rows.
    for name in sorted(others):
        columns.append(others[name].ranks)
        cards.append(len(others[name].texts))
    personal_k = people = None
    if dictionaries.personal_k is not None:
        personal_k = dictionaries.personal_k.codes(block.factor(dictionaries.personal_k.name))
        distinct_k, ranks_k = np.unique(personal_k, return_inverse=True)
        columns.append(ranks_k)
        cards.append(len(distinct_k))
    if dictionaries.person is not None:
        people = dictionaries.person.codes(block.factor(dictionaries.person.name))
        columns.append(people)
        cards.append(len(dictionaries.person.values))
    order = sort_keys(*pack(columns, cards))
    begins = starts_of_runs(pack(codes, cards[: len(codes)])[0][order])
    starts = np.flatnonzero(begins)
    weights = None if block.weights is None else block.weights[order]
    counts = np.diff(starts, append=len(order)) if weights is None else np.add.reduceat(weights, starts)
    first_rows = order[starts]
    return Encoded(
        attributes=attributes,
        tuples=np.ascontiguousarray(np.column_stack([column[first_rows] for column in codes]), dtype=np.int32),
        counts=counts.astype(np.int64),
        row_tuple=(np.cumsum(begins, dtype=np.int32) - 1).astype(np.int32),
        order=order,
        people=None if people is None else people[order],
        weights=weights,
        others=others,
        sensitive=tuple(
            replace(each.meaning, codes=each.codes(block.factor(each.name))[order]) for each in dictionaries.sensitive
        ),
        personal_k=None if personal_k is None else personal_k[order],
        dictionaries=dictionaries.attributes,
        counted=(
            *dictionaries.sensitive,
            *(each for each in (dictionaries.personal_k, dictionaries.person) if each is not None),
        ),
    )


def guess_kinds(table: Table, schema: Schema, notes: list[Note] | None = None) -> Schema:
    """Return the schema with the kinds and forms of quasi-identifiers that the user left open, found in the cells.

    Args:
        table: The table.
        schema: Its columns.
        notes: Receives a note about each column that is read as categories although it looks like something else.

    Raises:
        InputError: Nearly all values of a quasi-identifier are numbers (or dates), but not all; or its dates may begin
            with the day or the month.
    """
    columns, problems = {}, []
    commas = table.dialect is not None and table.dialect.delimiter == ";"
    for column in schema.qi:
        if column.kind is None and column.name in table.orders:
            column = replace(column, kind=Kind.ORDERED, order=table.orders[column.name])
        distinct = Distinct.of(table, column.name)
        known_values = [i for i, text in enumerate(distinct.normalised) if text not in schema.missing]
        found = find_form(column, [distinct.normalised[i] for i in known_values], commas=commas)
        columns[column.name] = found.column
        if found.note is not None and notes is not None:
            notes.append(found.note)
        if found.question:
            problems.append(found.question)
        if found.misfit is not None:
            problems.append(
                f"column {column.name!r} looks like {'numbers' if found.column.kind is Kind.NUMERIC else 'dates'}, but "
                f"some values are not{distinct.first(known_values[found.misfit])}. Correct them, declare a marker of "
                f"missing values with {setting('missing')}, or pass {setting('categorical', [column.name])}."
            )
    if problems:
        raise InputError(join_problems(problems))
    return guess_sensitive_kinds(table, schema.with_columns(columns))


def guess_sensitive_kinds(table: Table, schema: Schema) -> Schema:
    """Return the schema with the kinds of sensitive columns that the user left open, found in the cells."""
    return schema.with_columns(
        {
            column.name: read_sensitive(column, table.factor(column.name).texts.to_list(), schema.missing)
            for column in schema.columns
            if column.role is Role.SENSITIVE
        }
    )
