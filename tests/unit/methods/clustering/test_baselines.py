"""Bottom-up, top-down and Euclidean clustering, compared with their plain twins."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.kernels.clustering.merge import Merging
from shoal.methods import BottomUp, Euclidean, Run, TopDown
from shoal.methods.counter_random import draws, mix
from shoal.methods.prices import lay_forms
from shoal.models import KAnonymity
from shoal.schema import Kind
from tests.naive import bottom_up, leftovers, top_down
from tests.strategies import Sheet
from tests.unit.methods.plain import priced, sheets_and_k, with_trees


def groups_of(encoded: Encoded, labels: NDArray[np.int32]) -> list[bottom_up.Group]:
    """The groups as pairs of a tuple and how many of its rows."""
    rows_of_group: dict[int, dict[int, int]] = {}
    for number, label in zip(encoded.row_tuple.tolist(), labels.tolist(), strict=True):
        rows = rows_of_group.setdefault(label, {})
        rows[number] = rows.get(number, 0) + 1
    return sorted(sorted(rows.items()) for rows in rows_of_group.values())


def singles(encoded: Encoded) -> list[bottom_up.Group]:
    return [[(number, rows)] for number, rows in enumerate(encoded.counts.tolist())]


def ncp_price(encoded: Encoded, weights: dict[str, Fraction] | None = None) -> bottom_up.Price:
    attributes = priced(encoded)
    weight = [(weights or {}).get(attribute.name, Fraction(1)) for attribute in encoded.attributes]

    def price(rows: Sequence[bottom_up.Row]) -> Fraction:
        losses = (leftovers.ncp({row[a] for row in rows}, attribute) for a, attribute in enumerate(attributes))
        return sum((w * lost for w, lost in zip(weight, losses, strict=True)), Fraction(0))

    return price


def raw_price(encoded: Encoded) -> bottom_up.Price:
    attributes = priced(encoded)
    days = [86400 if a.kind is Kind.DATE else 1 for a in encoded.attributes]

    def raw(codes: set[int], attribute: leftovers.Attribute, unit: int) -> Fraction:
        if len(codes) == 1:
            return Fraction(0)
        share = leftovers.ncp(codes, attribute)
        if attribute.values is None or attribute.levels is not None:
            return share * attribute.card - 1
        numbers = [value for value in attribute.values if value is not None]
        return share * (max(numbers) - min(numbers)) / unit

    def price(rows: Sequence[bottom_up.Row]) -> Fraction:
        cells = enumerate(zip(attributes, days, strict=True))
        return sum((raw({row[a] for row in rows}, attribute, unit) for a, (attribute, unit) in cells), Fraction(0))

    return price


@given(drawn=sheets_and_k(max_rows=30, max_columns=3), shape=st.integers(0, 5))
def test_bottom_up_groups_are_those_of_the_twin(drawn: tuple[Sheet, int], shape: int) -> None:
    sheet, k = drawn
    encoded = with_trees(sheet, shape)
    tuples = [tuple(row) for row in encoded.tuples.tolist()]
    weights = {name: Fraction(1 + i, 3) for i, name in enumerate(sheet.qi)} if shape % 2 else {}
    expected = bottom_up.merge(singles(encoded), tuples, ncp_price(encoded, weights), k, splits=True)
    partition = BottomUp().partition(encoded, (KAnonymity(k),), Run(weights=weights))
    assert groups_of(encoded, partition.labels) == sorted(expected)


@given(drawn=sheets_and_k(max_rows=30, max_columns=3), shape=st.integers(0, 5))
def test_euclidean_groups_are_those_of_the_twin(drawn: tuple[Sheet, int], shape: int) -> None:
    sheet, k = drawn
    encoded = with_trees(sheet, shape)
    tuples = [tuple(row) for row in encoded.tuples.tolist()]
    expected = bottom_up.merge(singles(encoded), tuples, raw_price(encoded), k, splits=False)
    partition = Euclidean().partition(encoded, (KAnonymity(k),), Run())
    assert groups_of(encoded, partition.labels) == sorted(expected)


@given(drawn=sheets_and_k(max_rows=30, max_columns=3), shape=st.integers(0, 5))
def test_top_down_groups_are_those_of_the_twin(drawn: tuple[Sheet, int], shape: int) -> None:
    sheet, k = drawn
    encoded = with_trees(sheet, shape)
    tuples = [tuple(row) for row in encoded.tuples.tolist()]
    price = ncp_price(encoded)
    lots = draws(mix(shape), np.arange(len(tuples))).tolist()
    table = [piece for single in singles(encoded) for piece in single]
    parts = top_down.split(table, tuples, price, k, lots)
    expected = bottom_up.merge(parts, tuples, price, k, splits=True)
    partition = TopDown().partition(encoded, (KAnonymity(k),), Run(seed=shape))
    assert groups_of(encoded, partition.labels) == sorted(expected)


@given(drawn=sheets_and_k(max_rows=24, max_columns=3), shape=st.integers(0, 20), splits=st.booleans())
def test_groups_that_share_tuples_merge_as_in_the_twin(drawn: tuple[Sheet, int], shape: int, splits: bool) -> None:
    """A tuple whose rows are in several groups: its pieces join when they meet, and no row is lost."""
    sheet, k = drawn
    encoded = with_trees(sheet, shape)
    numbers = draws(mix(shape), np.arange(sheet.n_rows)) % 9  # rows of one tuple begin in several groups
    begun = groups_of(encoded, np.unique(numbers, return_inverse=True)[1].astype(np.int32))
    pieces = [(number, rows, group) for group, members in enumerate(begun) for number, rows in members]
    tuples, rows, groups = (np.array(column) for column in zip(*pieces, strict=True))
    forms = lay_forms(encoded, most=2**61 // len(encoded.attributes))
    merging = Merging(encoded.tuples, tuples.astype(np.int32), rows, groups.astype(np.int32), forms, k, splits)
    while merging.merge(2):
        pass
    room = 4 * sheet.n_rows
    out = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int32)
    n_pieces = merging.pieces(*out)
    groups_made: dict[int, bottom_up.Group] = {}
    for number, n, group in zip(*(column[:n_pieces].tolist() for column in out), strict=True):
        groups_made.setdefault(group, []).append((number, n))
    codes = [tuple(row) for row in encoded.tuples.tolist()]
    expected = bottom_up.merge(begun, codes, ncp_price(encoded), k, splits=splits)
    assert sorted(groups_made.values()) == sorted(expected)
    counts = np.bincount(out[0][:n_pieces], weights=out[1][:n_pieces], minlength=len(codes))
    assert counts.tolist() == encoded.counts.tolist()


def test_stray_among_many_equal_rows_takes_few_of_them() -> None:
    """A union of 2 k rows or more is split, so that one stray does not spoil a thousand rows."""
    encoded = Sheet({"x": ["1"] * 1000 + ["9"]}, {"x": "numeric"}).encoded
    for method in (BottomUp(), TopDown()):
        labels = method.partition(encoded, (KAnonymity(10),), Run()).labels
        with_stray = labels == labels[-1]
        assert with_stray.sum() < 20


def test_large_numbers_outweigh_all_else_in_euclidean_clustering() -> None:
    """[S1] Table 10: ranges are not normalised, so a gain of 100 outweighs fifty years."""
    rows = [("20", "0"), ("70", "10"), ("21", "100"), ("71", "110")]
    columns = {"age": [age for age, _ in rows], "gain": [gain for _, gain in rows]}
    encoded = Sheet(columns, dict.fromkeys(columns, "numeric")).encoded
    by_ranges = Euclidean().partition(encoded, (KAnonymity(2),), Run())
    by_loss = BottomUp().partition(encoded, (KAnonymity(2),), Run())
    assert groups_of(encoded, by_ranges.labels) == [[(0, 1), (2, 1)], [(1, 1), (3, 1)]]
    assert groups_of(encoded, by_loss.labels) == [[(0, 1), (1, 1)], [(2, 1), (3, 1)]]


@pytest.mark.parametrize("method", [BottomUp(), TopDown(), Euclidean()])
def test_loss_is_exact_for_numbers_with_decimals(method: BottomUp | TopDown | Euclidean) -> None:
    """0.1 + 0.2 and 0.3 are compared as decimals, not as binary fractions."""
    encoded = Sheet({"x": ["0.1", "0.2", "0.3", "0.4"]}, {"x": "numeric"}).encoded
    labels = method.partition(encoded, (KAnonymity(2),), Run()).labels
    assert labels[0] == labels[1]
    assert labels[2] == labels[3]
