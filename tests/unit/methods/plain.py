"""Encoded tables as the plain twins know them."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.encode import encode
from shoal.hierarchy import Hierarchy
from shoal.schema import Kind
from shoal.tables.table import from_frame
from tests.naive import leftovers
from tests.strategies import Sheet, sheets


def with_trees(sheet: Sheet, shape: int) -> Encoded:
    """The table with a random hierarchy over some of its categories, in which some values are "*" early."""
    draw = random.Random(shape)
    rules = {}
    for name in sheet.named("categorical"):
        if draw.random() < 0.7:
            height = draw.randint(1, 3)
            parent = {text: text for text in sheet.columns[name]}
            rows: dict[str, tuple[str, ...]] = dict.fromkeys(parent, ())
            for level in range(1, height):
                above = {label: f"{level}{draw.randint(0, 2)}" for label in sorted(set(parent.values()))}
                parent = {text: above[label] for text, label in parent.items()}
                rows = {text: (*labels, parent[text]) for text, labels in rows.items()}
            rules[name] = Hierarchy({text: (*labels, "*") for text, labels in rows.items()})
            if draw.random() < 0.3:
                text = min(rows)
                rules[name] = Hierarchy({**rules[name].rows, text: ("*",) * height})
    return encode(from_frame(sheet.frame), sheet.schema, rules)


def code_rows(encoded: Encoded) -> list[tuple[int, ...]]:
    """The rows of codes in canonical order."""
    return [tuple(row) for row in encoded.tuples[encoded.row_tuple].tolist()]


def numbers_of(attribute: Attribute) -> tuple[Fraction | None, ...] | None:
    """The number behind each code of a number or date."""
    if attribute.kind is Kind.CATEGORICAL:
        return None
    values = map(Fraction, attribute.values.tolist())
    return tuple(None if code == attribute.missing else value for code, value in enumerate(values))


def priced(encoded: Encoded) -> list[leftovers.Attribute]:
    """The attributes as the twin that prices groups knows them."""
    made = []
    for attribute in encoded.attributes:
        levels = None if attribute.tree is None else tuple(map(tuple, attribute.tree.nodes.tolist()))
        made.append(leftovers.Attribute(len(attribute.texts), numbers_of(attribute), levels))
    return made


def as_groups(labels: NDArray[np.int32]) -> list[list[int]]:
    """The rows of each group, groups by their first row."""
    groups: dict[int, list[int]] = {}
    for row, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(row)
    return sorted(rows for label, rows in groups.items() if label >= 0)


@st.composite
def sheets_and_k(draw: st.DrawFn, max_rows: int = 40, max_columns: int = 4) -> tuple[Sheet, int]:
    """Draw a tame table and a k that it can meet."""
    sheet = draw(sheets(max_rows=max_rows, max_columns=max_columns))
    return sheet, draw(st.one_of(st.integers(1, min(4, sheet.n_rows)), st.integers(1, sheet.n_rows)))
