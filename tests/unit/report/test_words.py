"""What may be counted out in public, and how figures are said."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.metrics.extent import ColumnExtent
from shoal.report.words import chance, extent_words, fold_rare, hide_small, percent, width_words


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(1, 11), st.integers(1, 6))
def test_no_count_below_k_is_shown_or_follows(counts: list[int], k: int, most: int) -> None:
    """R06, A18: what is folded has k rows together, and one name that is rarer than k is never folded alone."""
    names = [(f"n{i}", count) for i, count in enumerate(counts)]
    shown, folded, rows = fold_rare(names, k, most)
    assert all(count >= k for _, count in shown)
    assert len(shown) <= most
    assert rows == 0 or rows >= k
    hidden = sum(counts) - sum(count for _, count in shown) - rows
    if folded:
        assert hidden == 0
        assert folded > 1 or rows >= k
    else:
        assert hidden == 0 or sum(counts) < k or not shown


def test_rare_values_take_one_more_with_them() -> None:
    """R06: the total and the other cells would tell the single hidden one."""
    assert fold_rare([("a", 40), ("b", 20), ("c", 3)], 11, 10) == ([("a", 40)], 2, 23)
    assert fold_rare([("a", 11), ("b", 10)], 11, 10) == ([], 2, 21)
    assert fold_rare([("a", 10)], 11, 10) == ([], 0, 0)


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (1, "<k"), (10, "<k"), (11, 11)])
def test_counts_below_k_are_hidden(count: int, shown: object) -> None:
    """C21, R06."""
    assert hide_small(count, 11) == shown


def test_chances_are_rounded_up() -> None:
    """R05: 1/11 is above 0.09 and looks so."""
    assert chance(Fraction(1, 11)) == "9.1%"
    assert chance(Fraction(1, 3)) == "33.4%"


@given(st.floats(0, 1))
def test_percent_never_says_all_or_nothing_of_a_part(share: float) -> None:
    assert (percent(share) == "0%") == (share == 0)
    assert (percent(share) == "100%") == (share == 1)


@pytest.mark.parametrize(
    ("extent", "words"),
    [
        (ColumnExtent(4.12, None, "codes"), "c: 4.1 codes"),
        (ColumnExtent(40.0, 1168.8, "days"), "c: 3.2 years"),
        (ColumnExtent(3.0, 6.25, ""), "c: 6.2 wide"),
        (ColumnExtent(3.0, 12.0, "cm"), "c: 12 cm"),
        (ColumnExtent(3.0, 28503.0, "$"), "c: $28,503"),
        (ColumnExtent(1.25, None, "values"), "c: 1.25 values"),
        (ColumnExtent(1.0004, None, "codes"), "c: just over 1 code"),
        (ColumnExtent(1.0, None, "values"), "c: exact"),
        (ColumnExtent(1.0, 0.0, ""), "c: exact"),
        (ColumnExtent(None, None, "values"), ""),
    ],
)
def test_mean_cells_are_said_in_the_unit_of_the_column(extent: ColumnExtent, words: str) -> None:
    assert extent_words({"c": extent}) == words


def test_short_spans_are_said_in_hours_and_minutes() -> None:
    assert [width_words(s, dates=True) for s in (90, 7200, 43200, 86400)] == [
        "1.5 minutes",
        "120 minutes",
        "12 hours",
        "1 day",
    ]
