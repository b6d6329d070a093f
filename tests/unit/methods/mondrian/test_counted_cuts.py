"""Cuts of which only the rows of each value are known are those that the kernel makes of tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.tree import plant
from shoal.methods import Mondrian, Run
from shoal.methods.mondrian import prepare
from shoal.methods.mondrian.counted_cuts import counted_cuts
from shoal.methods.mondrian.cuts_under_models import CHOICES
from shoal.methods.sections import Cut, Proposals, Ruling, Tree, TupleSection, cut_by
from shoal.models import KAnonymity
from tests.strategies import Sheet
from tests.unit.kernels.test_mondrian import as_groups, sheets_and_k
from tests.unit.kernels.test_mondrian_tree import trees


@st.composite
def tables_and_k(draw: st.DrawFn) -> tuple[Encoded, int]:
    """Draw a table of numbers, dates and categories, some with a hierarchy, with people or without, and k."""
    drawn: tuple[Sheet, int] = draw(sheets_and_k())
    encoded, k = drawn[0].encoded, drawn[1]
    attributes = []
    for attribute in encoded.attributes:
        paths = draw(trees(len(attribute.texts))) if draw(st.booleans()) else None
        attributes.append(replace(attribute, tree=plant(attribute.texts, paths)) if paths else attribute)
    people = None
    if draw(st.booleans()):
        n_rows = encoded.n_rows
        people = np.array(draw(st.lists(st.integers(0, 2 * k), min_size=n_rows, max_size=n_rows)), dtype=np.int32)
    return replace(encoded, attributes=tuple(attributes), people=people), k


def rule(encoded: Encoded, tuples: NDArray[np.int64], cut: Cut, k: int) -> Ruling:
    """Count the people of the parts of a cut, if there are any."""
    if encoded.people is None:
        return Ruling.ALLOWED
    inside = np.isin(encoded.row_tuple, tuples)
    parts = cut.parts[encoded.tuples[encoded.row_tuple[inside], cut.column]]
    people = np.bincount(np.unique(np.column_stack([parts, encoded.people[inside]]), axis=0)[:, 0])
    return Ruling.FEW_PEOPLE if people.min() < k else Ruling.ALLOWED


def histograms(encoded: Encoded, tuples: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [
        np.bincount(encoded.tuples[tuples, a], encoded.counts[tuples], len(attribute.texts)).astype(np.int64)
        for a, attribute in enumerate(encoded.attributes)
    ]


@given(drawn=tables_and_k())
def test_cuts_to_try_are_those_of_the_kernel(drawn: tuple[Encoded, int]) -> None:
    """All of them, in order: what models refuse is followed by the same cut."""
    encoded, k = drawn
    m = len(encoded.tuples)
    cuts = prepare(encoded.tuples, encoded.counts, encoded.attributes, encoded.people)
    starts, stops, tried = np.array([0]), np.array([m]), np.zeros(1, dtype=np.int32)
    expected = []
    while True:
        order, parts, cut = np.arange(m, dtype=np.int32), np.zeros(m, dtype=np.int32), np.zeros(1, dtype=np.uint8)
        cuts.propose(k, False, CHOICES, starts, stops, tried, order, parts, cut)
        if not cut[0]:
            break
        of_tuples = np.empty(m, dtype=np.int32)
        of_tuples[order] = parts
        expected.append(of_tuples.tolist())
    every, by_person, found = np.arange(m), encoded.people is not None, []
    proposals = Proposals(counted_cuts(histograms(encoded, every), encoded.attributes, k, CHOICES, by_person=by_person))
    while (proposed := proposals.next()) is not None:
        ruling = rule(encoded, every, proposed, k)
        if ruling is Ruling.ALLOWED:  # models refuse it
            found.append(proposed.parts[encoded.tuples[:, proposed.column]].tolist())
            ruling = Ruling.REFUSED
        proposals.hear(proposed, ruling)
    assert found == expected


@given(drawn=tables_and_k(), largest=st.integers(1, 30))
def test_segments_cut_by_counts_end_as_the_table_cut_at_once(drawn: tuple[Encoded, int], largest: int) -> None:
    """Large segments are cut by counts, and each of the others by itself, with the domains of the table."""
    encoded, k = drawn
    n_codes = [len(attribute.texts) for attribute in encoded.attributes]

    class Segment(TupleSection):
        """A section that counts rows."""

        def histograms(self) -> list[NDArray[np.int64]]:
            return histograms(encoded, self.tuples)

    def leaves(tree: Tree[Segment]) -> list[Segment]:
        return [tree.section] if tree.sides is None else [leaf for side in tree.sides for leaf in leaves(side)]

    whole = Segment(encoded.tuples, n_codes, np.arange(len(encoded.tuples)))
    found, by_person = [], encoded.people is not None

    def proposed(counts: Sequence[NDArray[np.int64]]) -> Iterator[Cut]:
        return counted_cuts(counts, encoded.attributes, k, by_person=by_person)

    tree = cut_by(whole, proposed, largest, lambda segment, cut: rule(encoded, segment.tuples, cut, k))
    for segment in leaves(tree):
        inside = np.isin(encoded.row_tuple, segment.tuples)
        own = Mondrian().cut(encoded.part(inside), k, (KAnonymity(k),), Run())
        found += [np.flatnonzero(inside)[group].tolist() for group in as_groups(own)]
    assert sorted(found) == as_groups(Mondrian().cut(encoded, k, (KAnonymity(k),), Run()))
