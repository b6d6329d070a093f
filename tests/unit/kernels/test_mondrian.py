"""Mondrian's kernel and its single-dimensional variant, held against their plain twin on many small tables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.methods import Mondrian, Run
from shoal.methods.mondrian import prepare
from shoal.models import KAnonymity
from tests.naive import mondrian as naive
from tests.naive import recode
from tests.strategies import Sheet, sheets

EXAMPLES = settings().max_examples * 3


def twin_input(encoded: Encoded) -> tuple[list[tuple[int, ...]], list[naive.Attribute]]:
    """Return the rows of codes in canonical order, and the attributes as the twin knows them."""
    rows = [tuple(row) for row in encoded.tuples[encoded.row_tuple].tolist()]
    attributes: list[naive.Attribute] = []
    for attribute in encoded.attributes:
        if attribute.ordered:
            values = [Fraction(value) for value in attribute.values.tolist()]
            attributes.append(naive.Number(values, attribute.missing if attribute.missing >= 0 else None))
        else:
            attributes.append(naive.Category(len(attribute.texts)))
    return rows, attributes


def cut_order(encoded: Encoded, *beside: Sequence[int]) -> list[int]:
    """Return the canonical rows as a relaxed cut takes them: by tuple, then by what else tells rows apart."""
    return sorted(range(encoded.n_rows), key=lambda i: (encoded.row_tuple[i], *(values[i] for values in beside)))


def as_groups(labels: NDArray[np.int32]) -> list[list[int]]:
    """Return the rows of each group, groups by their first row."""
    groups: dict[int, list[int]] = {}
    for row, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(row)
    return sorted(groups.values())


def column_texts(encoded: Encoded) -> list[list[str]]:
    return [list(attribute.texts) for attribute in encoded.attributes]


@st.composite
def sheets_and_k(draw: st.DrawFn, max_rows: int = 60) -> tuple[Sheet, int]:
    sheet = draw(sheets(max_rows=max_rows))
    return sheet, draw(st.one_of(st.integers(1, min(4, sheet.n_rows)), st.integers(1, sheet.n_rows)))


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@settings(max_examples=EXAMPLES)
@given(drawn=sheets_and_k())
def test_groups_are_those_of_the_twin(variant: str, drawn: tuple[Sheet, int]) -> None:
    sheet, k = drawn
    encoded = sheet.encoded
    rows, attributes = twin_input(encoded)
    expected = getattr(naive, variant)(rows, attributes, k)
    partition = Mondrian(variant).partition(encoded, (KAnonymity(k),), Run())
    assert as_groups(partition.labels) == sorted(map(sorted, expected))
    cells = recode.tight_cells(
        rows,
        expected,
        column_texts(encoded),
        [attribute.ordered for attribute in encoded.attributes],
        [attribute.missing if attribute.missing >= 0 else None for attribute in encoded.attributes],
    )
    released = sorted(cells[g] for g, group in enumerate(expected) for _ in group)
    assert decode(encoded, partition, sheet.schema).table.frame.rows() == released


@settings(max_examples=EXAMPLES)
@given(drawn=sheets_and_k(max_rows=40))
def test_single_dimensional_parts_and_groups_are_those_of_the_twin(drawn: tuple[Sheet, int]) -> None:
    sheet, k = drawn
    encoded = sheet.encoded
    rows, attributes = twin_input(encoded)
    grid = naive.single_dimensional(rows, attributes, k)
    partition = Mondrian("single-dimensional").partition(encoded, (KAnonymity(k),), Run())
    assert as_groups(partition.labels) == sorted(map(sorted, grid.groups))
    # What is printed is the range or set of the part, which may be wider than the group's own.
    texts = column_texts(encoded)
    released = []
    for row in rows:
        cells = []
        for a, attribute in enumerate(encoded.attributes):
            part = next(part for part in grid.parts[a] if row[a] in part)
            missing = attribute.missing if attribute.missing >= 0 else None
            shown = recode.range_text(part, texts[a], missing) if attribute.ordered else recode.set_text(part, texts[a])
            cells.append(shown)
        released.append(tuple(cells))
    assert decode(encoded, partition, sheet.schema).table.frame.rows() == sorted(released)


@pytest.mark.parametrize("relaxed", [False, True])
@given(drawn=sheets_and_k(), pending_below=st.integers(0, 70))
def test_segments_left_for_later_end_as_if_cut_at_once(
    relaxed: bool, drawn: tuple[Sheet, int], pending_below: int
) -> None:
    """D02: what the threads cut side by side is what one pass would have cut."""
    sheet, k = drawn
    encoded = sheet.encoded
    codes = np.ascontiguousarray(encoded.tuples[encoded.row_tuple]) if relaxed else encoded.tuples
    counts = np.ones(len(codes), dtype=np.int64) if relaxed else encoded.counts
    cuts = prepare(codes, counts, encoded.attributes)

    def fresh() -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        return np.arange(len(codes), dtype=np.int32), np.zeros(len(codes), dtype=np.uint8)

    at_once, marks_at_once = fresh()
    cuts.split(k, relaxed, 0, at_once, marks_at_once)
    order, marks = fresh()
    cuts.split(k, relaxed, pending_below, order, marks)
    begins = np.flatnonzero(marks).tolist()
    for begin, end in zip(begins, [*begins[1:], len(codes)], strict=True):
        assert (marks[begin] == 2) == (end - begin < pending_below)
        if marks[begin] == 2:
            cuts.split(k, relaxed, 0, order[begin:end], marks[begin:end])
    assert (order == at_once).all()
    assert (marks == marks_at_once).all()
    assert set(marks_at_once.tolist()) <= {0, 1}


def test_no_tuples_are_no_groups() -> None:
    encoded = Sheet({"x": ["1"]}, {"x": "numeric"}).encoded
    order, marks = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint8)
    prepare(encoded.tuples, encoded.counts, encoded.attributes).split(2, False, 0, order, marks)
    assert len(order) == len(marks) == 0


def released_column(texts: list[str], kind: str, k: int, variant: str) -> list[str]:
    sheet = Sheet({"x": texts}, {"x": kind})
    encoded = sheet.encoded
    partition = Mondrian(variant).partition(encoded, (KAnonymity(k),), Run())
    return decode(encoded, partition, sheet.schema).table.frame["x"].to_list()


def test_median_is_the_lower_one() -> None:
    assert released_column(["1", "2", "3", "4"], "numeric", 2, "strict") == ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]
    assert released_column(["1", "2", "3"], "numeric", 1, "strict") == ["1", "2", "3"]


def test_strict_cut_keeps_rows_of_a_value_together() -> None:
    texts = ["1", "2", "2", "2", "2", "3"]
    assert released_column(texts, "numeric", 3, "strict") == ["[1, 3]"] * 6
    assert released_column(texts, "numeric", 3, "relaxed") == ["[1, 2]"] * 3 + ["[2, 3]"] * 3


def test_relaxed_cut_of_categories_that_no_two_sets_divide_still_leaves_k_rows_a_side() -> None:
    """C01: three values of two rows each cannot be dealt out three to three without dividing one."""
    assert released_column(list("aabbcc"), "categorical", 3, "strict") == ["{a, b, c}"] * 6
    assert released_column(list("aabbcc"), "categorical", 3, "relaxed") == ["{a, b}"] * 3 + ["{b, c}"] * 3


def test_missing_numbers_are_cut_off_first() -> None:
    assert released_column(["1", "2", "", ""], "numeric", 2, "strict") == ["", "", "[1, 2]", "[1, 2]"]


@pytest.mark.parametrize("variant", ["strict", "relaxed", "single-dimensional"])
def test_missing_numbers_too_few_to_be_cut_off_count_as_the_largest(variant: str) -> None:
    """C05: the row without a number is among those of the upper half, which shows nothing."""
    texts = ["1", "1", "2", "2", "3", ""]
    expected = {"relaxed": ["*"] * 3 + ["[1, 2]"] * 3}.get(variant, ["*", "*", "1", "1", "2", "2"])
    assert released_column(texts, "numeric", 2 if variant != "relaxed" else 3, variant) == expected


def test_relaxed_cut_runs_through_missing_numbers() -> None:
    """C05: missing counts as the largest value, and a relaxed cut divides the rows of the median."""
    assert released_column(["1", "", "", ""], "numeric", 2, "relaxed") == ["", "", "*", "*"]


@pytest.mark.parametrize("variant", ["strict", "relaxed", "single-dimensional"])
def test_numbers_beyond_the_precision_of_a_float_are_kept_apart(variant: str) -> None:
    """C12: 2^53 and 2^53 + 1 are two values, though one float."""
    texts = ["9007199254740992", "9007199254740993"]
    assert released_column(texts, "numeric", 2, variant) == ["[9007199254740992, 9007199254740993]"] * 2


@pytest.mark.parametrize("variant", ["strict", "relaxed", "single-dimensional"])
def test_widest_range_of_floats_is_cut_as_any_other(variant: str) -> None:
    """B13: larger numbers, whose difference would be no float, are refused."""
    texts = ["-8.9e307", "-8.8e307", "8.8e307", "8.9e307"]
    expected = ["[-8.9e307, -8.8e307]"] * 2 + ["[8.8e307, 8.9e307]"] * 2
    assert released_column(texts, "numeric", 2, variant) == expected
