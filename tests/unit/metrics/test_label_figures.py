"""Figures of the labels of a hierarchy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal import hierarchy
from shoal.encoding.attributes import Attribute
from shoal.encoding.encode import encode, guess_kinds
from shoal.errors import InternalError
from shoal.metrics.research_value import read_labels
from shoal.schema import Role, Schema
from shoal.tables.table import from_frame


def attribute(cells: list[str], paths: dict[str, tuple[str, ...]] | None) -> Attribute:
    table = from_frame(pl.DataFrame({"a": cells}))
    schema = guess_kinds(table, Schema.build(["a"], {Role.QI: ["a"]}))
    return encode(table, schema, {} if paths is None else {"a": hierarchy.from_dict(paths)}).attributes[0]


def test_numbers_have_the_range_that_the_label_declares() -> None:
    made = attribute(
        ["10", "12", "25", "30"],
        {"10": ("[10, 20)", "*"), "12": ("[10, 20)", "*"), "25": ("old", "*"), "30": ("old", "*")},
    )
    assert made.tree is not None
    figures = read_labels(made)
    at = {label: node for node, label in enumerate(made.tree.labels)}
    assert (figures.low[at["[10, 20)"]], figures.high[at["[10, 20)"]]) == (10, 19)
    assert figures.losses[at["[10, 20)"]] == pytest.approx(9 / 20)
    assert (figures.low[at["old"]], figures.high[at["old"]]) == (25, 30)  # no range: the values below it
    assert figures.losses[at["*"]] == 1
    assert (figures.losses[:4] == 0).all()


def test_categories_have_no_range() -> None:
    made = attribute(["a", "b", "c"], {"a": ("ab", "*"), "b": ("ab", "*"), "c": ("c", "*")})
    assert made.tree is not None
    figures = read_labels(made)
    assert np.isnan(figures.low).all()
    assert figures.losses[made.tree.labels.index("ab")] == pytest.approx(2 / 3)


def test_attribute_without_hierarchy_has_no_labels() -> None:
    with pytest.raises(InternalError, match="has no labels to read"):
        read_labels(attribute(["1", "2"], None))
