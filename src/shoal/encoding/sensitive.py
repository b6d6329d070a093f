"""What models count beside the quasi-identifiers: the values of sensitive columns, and each row's own k."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.dictionary import Dictionary, Distinct, marks_of, parse_texts
from shoal.encoding.tree import Tree, plant
from shoal.errors import InputError, setting
from shoal.hierarchy.base import Hierarchy, Rule, over_values
from shoal.schema import Column, Kind
from shoal.tables import values

__all__ = ["Sensitive", "guess_sensitive_kind", "personal_k_dictionary", "sensitive_dictionary"]

LARGEST_K = 2**62
DIGITS = re.compile("[0-9]{1,400}")


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: a code for each distinct value, in order of value (categories: of text).

    Attributes:
        name: The column.
        kind: Numbers, dates or categories.
        texts: The text of each code, composed and without outer blanks.
        values: The number behind each code of a number or date; empty for categories.
        missing: The code of the missing value, always the last code; -1 if no value is missing.
        codes: The code of each canonical row, or of each entry (see `shoal.models.Groups`).
        tree: The hierarchy over the codes, if there is one.
        hierarchy: The hierarchy over the texts, if there is one.
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
        """Number of distinct values that are not missing."""
        return len(self.texts) - (self.missing >= 0)


def guess_sensitive_kind(column: Column, texts: Collection[str], missing: Collection[str]) -> Kind:
    """Return the kind of a sensitive column: numbers or dates if all its values are, otherwise categories."""
    if column.kind is not None:
        return column.kind
    known_values = [text for text in map(values.normalise, texts) if text not in missing]
    kind, misfit = values.guess_kind(known_values, marks_of(column))
    return Kind.CATEGORICAL if misfit is not None or parse_texts(column, kind, known_values)[1] else kind


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
    kind = guess_sensitive_kind(column, normal, missing)
    known_values = [i for i, text in enumerate(normal) if text not in missing]
    in_order, texts, codes = distinct.code_values(distinct.read_values(column, kind, known_values), known_values)
    numbers = np.array([] if kind is Kind.CATEGORICAL else [float(key) for key in in_order])
    has_missing = len(known_values) < len(normal)
    texts += [""] * has_missing
    tree = bound = None
    if rule is not None:
        bound = over_values(rule, texts, numbers=kind is Kind.NUMERIC, column=column.name, missing=("", *missing))
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
            at_row = "" if distinct.first_row is None else f" at row {distinct.first_row(i)}"
            raise InputError(
                f"column {name!r} contains each row's own k, but the cell{at_row} is not a positive integer. Correct "
                f"it, or leave it empty to use {setting('k')} for the row."
            )
        personal_k.append(int(text))
    return Dictionary(name, distinct, np.array(personal_k, dtype=np.int64), None)
