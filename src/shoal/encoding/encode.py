"""The border between text and integers: encode() a table once, decode() what a method made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.decode import SUPPRESSION
from shoal.encoding.population import encode_population
from shoal.encoding.sensitive import encode_sensitive, guess_sensitive_kind, read_personal_k
from shoal.encoding.tree import plant
from shoal.errors import InputError, first_row, join_problems
from shoal.hierarchy.base import Rule, over_values
from shoal.schema import Column, Kind, Role, Schema
from shoal.tables import values
from shoal.tables.table import Table

__all__ = ["encode"]


def encode(
    table: Table,
    schema: Schema,
    hierarchies: Mapping[str, Rule] | None = None,
    *,
    unknown: str = "error",
    as_text: bool = False,
    population: Table | None = None,
) -> Encoded:
    """Turn the released columns of a table into codes.

    hierarchies: by column. unknown: what to do with values that a hierarchy lacks, "error" or "top". as_text: take
    every quasi-identifier as plain text, whatever its kind (for a table that is released unchanged). population: the
    table that this one was drawn from.
    """
    attributes: list[Attribute] = []
    codes: list[NDArray[np.int32]] = []
    problems: list[str] = []
    for column in schema.qi:
        raw, texts = table.factor(column.name)
        attribute, by_text, found = _attribute(column, texts.to_list(), schema.missing, as_text)
        problems += [_at_first_row(problem, raw, index) for problem, index in found]
        if attribute is not None:
            attribute = replace(attribute, column=column)
            codes.append(by_text[raw])
            rule = (hierarchies or {}).get(column.name)
            attributes.append(_with_hierarchy(attribute, codes[-1], rule, unknown, schema) if rule else attribute)
    if problems:
        raise InputError(join_problems(problems))
    others = {c.name: table.factor(c.name) for c in schema.released if c.role is not Role.QI}
    person = [table.factor(name).ranks for name in schema.names(Role.PERSON)]
    counted = [
        encode_sensitive(c, table.factor(c.name), schema.missing, (hierarchies or {}).get(c.name))
        for c in schema.columns
        if c.role is Role.SENSITIVE
    ]
    asked = [read_personal_k(name, table.factor(name), schema.missing) for name in schema.names(Role.PERSONAL_K)]
    # Names, not places, rank the other columns: their order in the table must not matter either.
    keys: list[NDArray[Any]] = [*codes, *(others[name].ranks for name in sorted(others)), *asked, *person]
    order = np.lexsort(keys[::-1])
    sorted_codes = np.ascontiguousarray(np.column_stack([column[order] for column in codes]))
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (sorted_codes[1:] != sorted_codes[:-1]).any(axis=1)
    starts = np.flatnonzero(begins)
    weights = None if table.weights is None else table.weights[order]
    per_row = np.ones(len(order), dtype=np.int64) if weights is None else weights
    return Encoded(
        attributes=tuple(attributes),
        tuples=np.ascontiguousarray(sorted_codes[starts]),
        counts=np.add.reduceat(per_row, starts),
        row_tuple=(np.cumsum(begins) - 1).astype(np.int32),
        order=order.astype(np.int64),
        people=person[0][order] if person else None,
        weights=weights,
        others=others,
        sensitive=tuple(replace(column, codes=column.codes[order]) for column in counted),
        personal_k=asked[0][order] if asked else None,
        population=None
        if population is None
        else encode_population(population, schema, tuple(attributes), hierarchies or {}),
    )


def _with_hierarchy(
    attribute: Attribute, codes: NDArray[np.int32], rule: Rule, unknown: str, schema: Schema
) -> Attribute:
    """Return the attribute with the tree that a hierarchy makes over its values."""

    def row_of(code: int) -> int:
        return int(np.argmax(codes == code)) + 1

    bound = over_values(
        rule,
        attribute.texts,
        numbers=attribute.kind is Kind.NUMERIC,
        column=attribute.name,
        unknown=unknown,
        missing=schema.missing,
        rows_of=row_of,
    )
    tree = plant(attribute.texts, [bound.rows[text] for text in attribute.texts])
    return replace(attribute, tree=tree, hierarchy=bound)


def guess_kinds(table: Table, schema: Schema) -> Schema:
    """Fill in the kinds that the user left open; a column that is all numbers but for a few is an InputError."""
    kinds, problems = {}, []
    for column in schema.qi:
        if column.kind is not None:
            continue
        raw, texts = table.factor(column.name)
        normal = [values.normalise(text) for text in texts.to_list()]
        known = [i for i, text in enumerate(normal) if text not in schema.missing]
        kinds[column.name], misfit = values.guess_kind([normal[i] for i in known], marks_of(column))
        if misfit is not None:
            kind = kinds[column.name]
            fault = (
                f"column {column.name!r} looks like {'numbers' if kind is Kind.NUMERIC else 'dates'}, but not every "
                f"value is one{{row}}. Mend it, name the marker with --missing, or say --categorical "
                f"{column.name}."
            )
            problems.append(_at_first_row(fault, raw, known[misfit]))
    if problems:
        raise InputError(join_problems(problems))
    return guess_sensitive_kinds(table, schema.with_kinds(kinds))


def guess_sensitive_kinds(table: Table, schema: Schema) -> Schema:
    """Fill in the kinds of the sensitive columns that the user left open."""
    return schema.with_kinds(
        {
            column.name: guess_sensitive_kind(column, table.factor(column.name).texts.to_list(), schema.missing)
            for column in schema.columns
            if column.role is Role.SENSITIVE
        }
    )


def marks_of(column: Column) -> values.Marks:
    """Return the marks in the numbers of a column."""
    return values.Marks(column.decimal, column.thousands)


def _at_first_row(problem: str, raw: NDArray[np.int32], index: int) -> str:
    return problem.replace("{row}", first_row(int(np.argmax(raw == index)) + 1))


def _attribute(
    column: Column, texts: Sequence[str], markers: Sequence[str], as_text: bool
) -> tuple[Attribute | None, NDArray[np.int32], list[tuple[str, int]]]:
    """Return the attribute, the code of each text, and the problems with an index of a text that shows each."""
    if as_text:
        whole = Attribute(column.name, Kind.CATEGORICAL, tuple(texts), np.empty(0), -1)
        return whole, np.arange(len(texts), dtype=np.int32), []
    normal = [values.normalise(text) for text in texts]
    known = [i for i, text in enumerate(normal) if text not in markers]
    absent = sorted(set(normal).difference(normal[i] for i in known))
    token = absent[0] if len(absent) == 1 else ""
    if column.kind in (Kind.NUMERIC, Kind.DATE):
        return _ordered_attribute(column, normal, known, token if absent else None)
    clashes = [i for i in known if normal[i] == SUPPRESSION or (normal[i][0] + normal[i][-1] == "{}")]
    if clashes:
        problem = (
            f"column {column.name!r}: {len(clashes)} distinct values read like a released cell ('*' or a set in "
            "braces){row}. Rename them."
        )
        return None, np.empty(0, dtype=np.int32), [(problem, clashes[0])]
    is_known = set(known)
    released = [text if i in is_known else token for i, text in enumerate(normal)]
    distinct = sorted(set(released))
    code_of = {text: code for code, text in enumerate(distinct)}
    by_text = np.array([code_of[text] for text in released], dtype=np.int32)
    return Attribute(column.name, Kind.CATEGORICAL, tuple(distinct), np.empty(0), -1), by_text, []


def _ordered_attribute(
    column: Column, normal: list[str], known: list[int], token: str | None
) -> tuple[Attribute | None, NDArray[np.int32], list[tuple[str, int]]]:
    assert column.kind is not None
    given = [normal[i] for i in known]
    if column.kind is Kind.NUMERIC:
        numbers, misfits = values.parse_numbers(given, marks_of(column))
        allowed = f"a number within float64, such as 42 or -1{column.decimal}5e3"
    else:
        numbers, misfits = values.parse_dates(given, column.date_format)
        allowed = f"a date in the format {column.date_format}"
    if misfits:
        problem = (
            f"column {column.name!r} is declared {column.kind}, but {len(misfits)} distinct values are not {allowed}"
            "{row}. Mend them, name markers with --missing, or declare another kind or date format."
        )
        return None, np.empty(0, dtype=np.int32), [(problem, known[misfits[0]])]
    spellings: dict[Any, list[str]] = {}
    for number, text in zip(numbers, given, strict=True):
        spellings.setdefault(number, []).append(text)
    distinct = sorted(spellings)
    code_of = {number: code for code, number in enumerate(distinct)}
    by_text = np.full(len(normal), len(distinct), dtype=np.int32)  # what is not known is missing: the last code
    by_text[known] = [code_of[number] for number in numbers]
    shown = [values.shortest(spellings[number]) for number in distinct]
    measured = [float(number) for number in distinct]
    if token is not None:
        shown.append(token)
        measured.append(0.0)
    missing = len(distinct) if token is not None else -1
    return Attribute(column.name, column.kind, tuple(shown), np.array(measured), missing), by_text, []
