"""What is counted beside the quasi-identifiers: values of sensitive columns, each row's own k, and people."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.dictionary import Dictionary, Distinct
from shoal.encoding.tree import Tree, plant
from shoal.errors import InputError, at_row, setting
from shoal.hierarchy.base import Hierarchy, Rule, over_values
from shoal.schema import Column, Kind
from shoal.tables import values
from shoal.tables.values.forms import find_form, parse_texts
from shoal.tables.values.people import person_codes

__all__ = ["Sensitive", "person_dictionary", "personal_k_dictionary", "read_sensitive", "sensitive_dictionary"]

LARGEST_K = 2**62
DIGITS = re.compile("[0-9]{1,400}")


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: a code for each distinct value, in order of value (categories: of text).

    Attributes:
        name: The column.
        kind: Numbers, dates, categories, booleans or ordered categories.
        texts: The text of each code, composed and without outer blanks.
        values: The number behind each code of a number or date, the rank behind that of an ordered category; empty
            for categories.
        missing: The code of the missing value, always the last code; -1 if no value is missing.
        codes: The code of each canonical row, or of each entry (see `shoal.models.Groups`).
        tree: The hierarchy over the codes, if there is one.
        hierarchy: The hierarchy over the texts, if there is one.
        totals: The number of rows of each code in the whole table, if `codes` are those of a section of it.
    """

    name: str
    kind: Kind
    texts: tuple[str, ...] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    missing: int
    codes: NDArray[np.int32] = field(repr=False)
    tree: Tree | None = field(default=None, repr=False)
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    totals: NDArray[np.int64] | None = field(default=None, repr=False)

    def count(self, weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the number of rows of each code in the whole table; weights: of the codes, by default 1."""
        if self.totals is not None:
            return self.totals
        return np.bincount(self.codes, weights, minlength=len(self.texts)).astype(np.int64)

    @property
    def n_values(self) -> int:
        """Number of distinct values that are not missing."""
        return len(self.texts) - (self.missing >= 0)


def read_sensitive(column: Column, texts: Collection[str], missing: Collection[str]) -> Column:
    """Return a sensitive column with its kind: numbers or dates if all its values are, otherwise categories."""
    known_values = list(dict.fromkeys(text for text in map(values.normalise, texts) if text not in missing))
    if column.kind is not None:
        return find_form(column, known_values).column
    found = find_form(column, known_values).certain
    kind = found.kind or Kind.CATEGORICAL
    if not kind.is_measured or parse_texts(found, kind, known_values)[1]:
        return replace(column, kind=Kind.CATEGORICAL)
    return found


def sensitive_dictionary(
    column: Column, distinct: Distinct, missing: Collection[str], rule: Rule | None = None
) -> Dictionary[Sensitive]:
    """Return the dictionary of a sensitive column; all spellings of a value have the same code.

    Args:
        column: How its cells are read.
        distinct: Its distinct cells.
        missing: The texts that mark a missing value.
        rule: Its hierarchy.

    Raises:
        InputError: A value does not suit the declared kind, or is not in the hierarchy.
    """
    normal = distinct.normalised
    column = read_sensitive(column, normal, missing)
    kind = column.kind or Kind.CATEGORICAL
    known_values = [i for i, text in enumerate(normal) if text not in missing]
    in_order, texts, codes = distinct.code_values(distinct.read_values(column, kind, known_values), known_values)
    numbers = np.array([] if kind is Kind.CATEGORICAL else [float(key) for key in in_order])
    has_missing = len(known_values) < len(normal)
    texts += [""] * has_missing
    tree = bound = None
    if rule is not None:
        bound = over_values(rule, texts, column, column=column.name, missing=("", *missing))
        tree = plant(texts, [bound.rows[text] for text in texts])
    no_rows = np.empty(0, dtype=np.int32)
    missing_code = len(in_order) if has_missing else -1
    meaning = Sensitive(column.name, kind, tuple(texts), numbers, missing_code, no_rows, tree, bound)
    return Dictionary(column.name, distinct, codes, meaning)


def personal_k_dictionary(name: str, distinct: Distinct, missing: Collection[str]) -> Dictionary[None]:
    """Return the k behind each distinct cell of a column of personal k, 0 for a missing one.

    Raises:
        InputError: A cell is not a positive integer.
    """
    personal_k = []
    for i, text in enumerate(distinct.normalised):
        if text in missing:
            personal_k.append(0)
            continue
        if not (DIGITS.fullmatch(text) and 0 < int(text) < LARGEST_K):
            row = "" if distinct.first_row is None else at_row(distinct.first_row(i))
            raise InputError(
                f"column {name!r} contains each row's own k, but the cell{row} is not a positive integer. Correct "
                f"it, or leave it empty to use {setting('k')} for the row."
            )
        personal_k.append(int(text))
    return Dictionary(name, distinct, np.array(personal_k, dtype=np.int64), None)


def person_dictionary(name: str, distinct: Distinct, missing: Collection[str]) -> Dictionary[None]:
    """Return the person behind each distinct id."""
    return Dictionary(name, distinct, person_codes(distinct.texts, missing), None)
