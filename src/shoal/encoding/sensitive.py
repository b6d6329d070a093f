"""What privacy models count beside the quasi-identifiers: the values of sensitive columns, and each row's own k."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.tree import Tree, plant
from shoal.errors import InputError, first_row
from shoal.hierarchy.base import Hierarchy, Rule, over_values
from shoal.schema import Column, Kind
from shoal.tables import values
from shoal.tables.table import Factor

__all__ = ["Sensitive", "encode_sensitive", "guess_sensitive_kind", "read_personal_k"]


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: a code for each distinct value, in order of value (categories: of text).

    codes: one for each canonical row (or entry, see shoal.models.Groups). texts: of each code, composed and without
    outer blanks. values: the number behind each code of a number or date, empty for categories. missing: the code of
    the missing value, which is the last one; -1 where there is none. tree, hierarchy: over the codes and the texts,
    where one is given.
    """

    name: str
    kind: Kind
    texts: tuple[str, ...] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    missing: int
    codes: NDArray[np.int32] = field(repr=False)
    tree: Tree | None = field(default=None, repr=False)
    hierarchy: Hierarchy | None = field(default=None, repr=False)

    @property
    def n_values(self) -> int:
        """Number of distinct values, the missing one left out."""
        return len(self.texts) - (self.missing >= 0)


def guess_sensitive_kind(column: Column, texts: Collection[str], missing: Collection[str]) -> Kind:
    """Return the kind of a sensitive column: numbers or dates where all its values are, else a category."""
    if column.kind is not None:
        return column.kind
    known = [text for text in map(values.normalise, texts) if text not in missing]
    kind, misfit = values.guess_kind(known, values.Marks(column.decimal, column.thousands))
    return Kind.CATEGORICAL if misfit is not None or _keys(column, kind, known)[1] else kind


def encode_sensitive(column: Column, factor: Factor, missing: Collection[str], rule: Rule | None = None) -> Sensitive:
    """Return a sensitive column as codes, row by row of the table; a value has one code however it is spelled."""
    raw, texts = factor
    normal = [values.normalise(text) for text in texts.to_list()]
    kind = guess_sensitive_kind(column, normal, missing)
    known = [i for i, text in enumerate(normal) if text not in missing]
    keys, misfits = _keys(column, kind, [normal[i] for i in known])
    if misfits:
        row = int(np.argmax(raw == known[misfits[0]])) + 1
        raise InputError(
            f"column {column.name!r} is declared {kind}, but {len(misfits)} distinct values are not"
            f"{first_row(row)}. Mend them, name markers with --missing, or declare another kind."
        )
    spellings: dict[Any, list[str]] = {}
    for key, i in zip(keys, known, strict=True):
        spellings.setdefault(key, []).append(normal[i])
    distinct = sorted(spellings)
    code_of = {key: code for code, key in enumerate(distinct)}
    by_text = np.full(len(normal), len(distinct), dtype=np.int32)
    by_text[known] = [code_of[key] for key in keys]
    shown = [values.shortest(spellings[key]) for key in distinct]
    numbers = np.array([] if kind is Kind.CATEGORICAL else [float(key) for key in distinct])
    absent = len(known) < len(normal)
    shown += [""] * absent
    tree = bound = None
    if rule is not None:
        bound = over_values(rule, shown, numbers=kind is Kind.NUMERIC, column=column.name, missing=("", *missing))
        tree = plant(shown, [bound.rows[text] for text in shown])
    missing_code = len(distinct) if absent else -1
    return Sensitive(column.name, kind, tuple(shown), numbers, missing_code, by_text[raw], tree, bound)


def _keys(column: Column, kind: Kind, texts: list[str]) -> tuple[list[Any], list[int]]:
    if kind is Kind.NUMERIC:
        return values.parse_numbers(texts, values.Marks(column.decimal, column.thousands))
    if kind is Kind.DATE:
        return values.parse_dates(texts, column.date_format)
    return list(texts), []


def read_personal_k(name: str, factor: Factor, missing: Collection[str]) -> NDArray[np.int64]:
    """Return the k that each row asks for, 0 where the cell is missing."""
    raw, texts = factor
    asked = []
    for i, text in enumerate(map(values.normalise, texts.to_list())):
        if text in missing:
            asked.append(0)
            continue
        if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**62):
            row = int(np.argmax(raw == i)) + 1
            raise InputError(
                f"column {name!r} holds each row's own k, but the cell at row {row} is no whole number from 1 on. "
                "Mend it, or leave it empty: the row then asks for the k of all."
            )
        asked.append(int(text))
    return np.array(asked, dtype=np.int64)[raw]
