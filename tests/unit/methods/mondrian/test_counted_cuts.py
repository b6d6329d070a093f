"""Cuts of which only the rows of each value are known are those that the kernel makes of tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.tree import plant
from shoal.methods import Mondrian, Run
from shoal.methods.mondrian import prepare
from shoal.methods.mondrian.counted_cuts import counted_cuts
from shoal.methods.mondrian.cuts_under_models import CHOICES
from shoal.methods.mondrian.in_sections import Segment
from shoal.methods.sections import Cut, Proposals, Ruling, cut_by, number_units
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


def whole_of(encoded: Encoded) -> Segment:
    every = np.arange(encoded.n_rows)
    return Segment(every, encoded, number_units(encoded, ()), every >= 0)


def rule(segment: Segment, cut: Cut, k: int) -> Ruling:
    """Count the people of the parts of a cut, if there are any."""
    if segment.part.people is None:
        return Ruling.ALLOWED
    pairs = np.unique(np.column_stack([segment.parts(cut), segment.part.people]), axis=0)
    return Ruling.FEW_PEOPLE if np.bincount(pairs[:, 0]).min() < k else Ruling.ALLOWED


@pytest.mark.parametrize("relaxed", [False, True])
@given(drawn=tables_and_k())
def test_cuts_to_try_are_those_of_the_kernel(relaxed: bool, drawn: tuple[Encoded, int]) -> None:
    """All of them, in order: what models refuse is followed by the same cut."""
    encoded, k = drawn
    n, whole = encoded.n_rows, whole_of(encoded)
    rows = np.argsort(whole.units, kind="stable")
    people = None if encoded.people is None else encoded.people[rows]
    codes = np.ascontiguousarray(encoded.tuples[encoded.row_tuple[rows]])
    cuts = prepare(codes, np.ones(n, dtype=np.int64), encoded.attributes, people)
    starts, stops, tried = np.array([0]), np.array([n]), np.zeros(1, dtype=np.int32)
    expected = []
    while True:
        order, parts, cut = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32), np.zeros(1, dtype=np.uint8)
        cuts.propose(k, relaxed, CHOICES, starts, stops, tried, order, parts, cut)
        if not cut[0]:
            break
        of_rows = np.empty(n, dtype=np.int32)
        of_rows[rows[order]] = parts
        expected.append(of_rows.tolist())
    found, by_person = [], people is not None
    proposals = Proposals(
        counted_cuts(whole.histograms(), encoded.attributes, k, CHOICES, by_person=by_person, relaxed=relaxed)
    )
    while (proposed := proposals.next()) is not None:
        proposed = proposed if proposed.loan is None else whole.locate(proposed)
        ruling = rule(whole, proposed, k)
        if ruling is Ruling.ALLOWED:  # models refuse it
            found.append(whole.parts(proposed).tolist())
            ruling = Ruling.REFUSED
        proposals.hear(proposed, ruling)
    assert found == expected


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@given(drawn=tables_and_k(), largest=st.integers(1, 30))
def test_segments_cut_by_counts_end_as_the_table_cut_at_once(
    variant: str, drawn: tuple[Encoded, int], largest: int
) -> None:
    """Large segments are cut by counts, and each of the others by itself, with the domains of the table."""
    encoded, k = drawn
    method, found, by_person = Mondrian(variant), [], encoded.people is not None

    def proposed(counts: Sequence[NDArray[np.int64]]) -> Iterator[Cut]:
        return counted_cuts(counts, encoded.attributes, k, by_person=by_person, relaxed=method.divides_values)

    tree = cut_by(whole_of(encoded), proposed, largest, lambda segment, cut: rule(segment, cut, k), Segment.locate)
    for segment in tree.leaves():
        own = method.cut(segment.part, k, (KAnonymity(k),), Run())
        found += [segment.rows[group].tolist() for group in as_groups(own)]
    assert sorted(found) == as_groups(method.cut(encoded, k, (KAnonymity(k),), Run()))


def lone_column(counts: list[int], paths: list[tuple[str, ...]] | None = None) -> Encoded:
    """Return a table of one column of numbers, or of one with a hierarchy, whose values have so many rows."""
    texts = [str(10 + value) for value, rows in enumerate(counts) for _ in range(rows)]
    encoded = Sheet({"x": texts}, {"x": "categorical" if paths else "numeric"}).encoded
    attribute = encoded.attributes[0]
    tree = plant(attribute.texts, paths) if paths else None
    return replace(encoded, attributes=(replace(attribute, tree=tree),))


FAMILIES = [("a", "*"), ("a", "*"), ("b", "*"), ("c", "*")]
LENT: dict[str, tuple[Encoded, int, list[int], int]] = {
    # Below the median code are 2 rows of 11; it lends 3 of its 7.
    "the median": (lone_column([2, 7, 2]), 5, [1], 3),
    "more rows than half of the segment": (lone_column([9, 1]), 2, [0], 5),
    "nothing, if values end at the half": (lone_column([2, 3, 5]), 2, [], 0),
    # The pool lacks two rows, which the child of two values lends.
    "a child of several values": (lone_column([3, 4, 2, 1], FAMILIES), 5, [0, 1], 2),
    "nothing, if the pool is large enough": (lone_column([3, 4, 3, 2], FAMILIES), 5, [], 0),
}


@pytest.mark.parametrize(("encoded", "k", "lenders", "lent"), LENT.values(), ids=LENT)
def test_part_0_borrows_the_first_rows(encoded: Encoded, k: int, lenders: list[int], lent: int) -> None:
    whole = whole_of(encoded)
    cut = next(counted_cuts(whole.histograms(), encoded.attributes, k, relaxed=True))
    assert (cut.loan is None) == (lent == 0)
    if cut.loan is None:
        return
    assert (cut.loan.codes.tolist(), cut.loan.rows) == (lenders, lent)
    parts, codes = whole.parts(whole.locate(cut)), whole.codes(0)
    borrowed = np.flatnonzero(np.isin(codes, lenders) & (parts == 0))
    assert borrowed.tolist() == np.flatnonzero(np.isin(codes, lenders))[:lent].tolist()
    assert (parts[~np.isin(codes, lenders)] == cut.parts[codes[~np.isin(codes, lenders)]]).all()


@pytest.mark.parametrize(("largest", "is_cut"), [(8, False), (9, True)])
def test_child_that_lends_rows_keeps_k(largest: int, is_cut: bool) -> None:
    encoded = lone_column([largest, 5, 1], FAMILIES[1:])
    cuts = list(counted_cuts(whole_of(encoded).histograms(), encoded.attributes, 5, relaxed=True))
    assert bool(cuts) == is_cut


def test_rows_of_one_value_are_divided_again() -> None:
    """Segments of several rows of one tuple cannot be cut; ones with a neighbour are, at a place inside it."""
    encoded = lone_column([1, 12, 1])
    divided = [each.rows.tolist() for each in cut_down(encoded, 3)]
    assert divided == [[0, 1, 2], [3, 4, 5, 6], [7, 8, 9], [10, 11, 12, 13]]


def cut_down(encoded: Encoded, k: int) -> list[Segment]:
    """Return the segments that counts alone cut."""

    def proposed(counts: Sequence[NDArray[np.int64]]) -> Iterator[Cut]:
        return counted_cuts(counts, encoded.attributes, k, relaxed=True)

    return cut_by(whole_of(encoded), proposed, 0, lambda segment, cut: Ruling.ALLOWED, Segment.locate).leaves()


def test_lent_rows_leave_with_part_0() -> None:
    """Parts are separated by halves; the pool and the child that lends are in one half first, then apart."""
    encoded = lone_column([6, 9, 5, 4, 1], [("a", "*"), ("b", "*"), ("c", "*"), ("d", "*"), ("e", "*")])
    found = cut_down(encoded, 5)
    texts = encoded.attributes[0].texts
    values = [[texts[code] for code in each.codes(0).tolist()] for each in found]
    assert values == [["13"] * 4 + ["14"], ["11"] * 9, ["10"] * 6, ["12"] * 5]
    lending = lone_column([6, 9, 3, 1], [("a", "*"), ("b", "*"), ("c", "*"), ("d", "*")])
    values = [[texts[code] for code in each.codes(0).tolist()] for each in cut_down(lending, 5)]
    assert values == [["11"] + ["12"] * 3 + ["13"], ["11"] * 8, ["10"] * 6]
