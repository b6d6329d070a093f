"""What may be counted out in public, and how figures are said."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.report.words import chance, fold_rare, hide_small, percent


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
