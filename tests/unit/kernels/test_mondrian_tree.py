"""Mondrian's kernel with hierarchies and people, held against its twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.encoding.attributes import Encoded
from shoal.encoding.tree import plant
from shoal.methods import Mondrian, Run
from shoal.models import KAnonymity
from tests.naive import mondrian_tree as naive
from tests.strategies import Sheet
from tests.unit.kernels.test_mondrian import as_groups, cut_order, sheets_and_k, twin_input


@st.composite
def trees(draw: st.DrawFn, n_codes: int) -> list[tuple[str, ...]]:
    """Draw a hierarchy over codes: each level puts nodes of the one below together."""
    nodes = list(range(n_codes))
    paths: list[list[str]] = [[] for _ in nodes]
    for level in range(draw(st.integers(0, 3))):
        merged = {node: draw(st.integers(0, max(1, len(set(nodes)) // 2))) for node in sorted(set(nodes))}
        nodes = [merged[node] for node in nodes]
        for path, node in zip(paths, nodes, strict=True):
            path.append(f"{level}.{node}")
    return [(*path, "*") for path in paths]


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@given(drawn=sheets_and_k(), data=st.data())
def test_groups_with_hierarchies_and_people_are_those_of_the_twin(
    variant: str, drawn: tuple[Sheet, int], data: st.DataObject
) -> None:
    """C18 where people are drawn."""
    sheet, k = drawn
    encoded = sheet.encoded
    rows, plain = twin_input(encoded)
    attributes: list[naive.Attribute] = []
    planted = []
    for attribute, twin in zip(encoded.attributes, plain, strict=True):
        if data.draw(st.booleans()):
            paths = data.draw(trees(len(attribute.texts)))
            attributes.append(naive.Tree(paths))
            planted.append(replace(attribute, tree=plant(attribute.texts, paths)))
        else:
            attributes.append(twin)
            planted.append(attribute)
    people = None
    if data.draw(st.booleans()):
        few = st.integers(0, max(1, encoded.n_rows // 2))
        people = data.draw(st.lists(few, min_size=encoded.n_rows, max_size=encoded.n_rows))
    k = min(k, len(set(people))) if people else k
    with_people = np.array(people, dtype=np.int32) if people else None
    changed: Encoded = replace(encoded, attributes=tuple(planted), people=with_people)
    order = cut_order(encoded, *([people] if people else []))
    who = [people[i] for i in order] if people else None
    found = naive.cut([rows[i] for i in order], attributes, k, variant == "relaxed", who)
    expected = [[order[i] for i in group] for group in found]
    partition = Mondrian(variant).partition(changed, (KAnonymity(k),), Run())
    assert as_groups(partition.labels) == sorted(map(sorted, expected))
