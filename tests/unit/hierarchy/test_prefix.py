"""Codes by their first characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError, UsageError
from shoal.hierarchy import prefixes


def test_each_level_hides_more() -> None:
    assert prefixes([4, 3, 2]).over(["02139"]).rows["02139"] == ("0213*", "021**", "02***", "*")
    assert prefixes(mask=1).over(["02139"]).rows["02139"] == ("0213*", "021**", "02***", "0****", "*")


def test_short_codes_stay_as_they_are_until_a_level_is_shorter() -> None:
    rows = prefixes([4, 2]).over(["02139", "0213", "021", "0"]).rows
    assert rows["0213"] == ("0213", "02**", "*")
    assert rows["021"] == ("021", "02*", "*")
    assert rows["0"] == ("0", "0", "*")


def test_mask_counts_from_the_end_of_each_code_and_leaves_one_character() -> None:
    rows = prefixes(mask=2).over(["ABCDE", "ABC", "A"]).rows
    assert rows == {"ABCDE": ("ABC**", "A****", "*"), "ABC": ("A**", "A**", "*"), "A": ("A", "A", "*")}


def test_codes_that_contain_the_mask_are_refused() -> None:
    """C22: a hidden character must not look like a real one."""
    with pytest.raises(InputError, match=r"column 'zip': 2 values are empty or contain '\*'.*\(first at row 2\)"):
        prefixes(mask=1).over(["02139", "0213*", "*"], column="zip", rows_of=lambda i: i + 1)
    assert prefixes(mask=1).over(["021", "*"], unknown="top").rows["*"] == ("*", "*", "*")


@pytest.mark.parametrize("arguments", [{}, {"lengths": []}, {"lengths": [2, 3]}, {"lengths": [2, 2]}, {"lengths": [0]}])
def test_wrong_lengths_are_refused(arguments: dict[str, list[int]]) -> None:
    with pytest.raises(UsageError, match="prefixes"):
        prefixes(**arguments)
    with pytest.raises(UsageError, match="mask=0"):
        prefixes(mask=0)


CODES = st.lists(st.text("0123AB", min_size=1, max_size=7), min_size=1, max_size=25, unique=True)
RULES = st.one_of(
    st.integers(1, 3).map(lambda mask: prefixes(mask=mask)),
    st.sets(st.integers(1, 6), min_size=1).map(lambda lengths: prefixes(sorted(lengths, reverse=True))),
)


@given(CODES, RULES)
def test_prefixes_nest_are_true_and_never_only_a_star(codes: list[str], rule: object) -> None:
    """C15 and C22 for codes."""
    hierarchy = rule.over(codes)  # type: ignore[attr-defined]
    above: dict[tuple[int, str], tuple[str, ...]] = {}
    for code, labels in hierarchy.rows.items():
        for level, label in enumerate(labels[:-1]):
            assert label != "*"
            assert len(label) == len(code)
            assert code.startswith(label.rstrip("*"))
            assert above.setdefault((level, label), labels[level:]) == labels[level:]
    for label, values in hierarchy.values_under().items():
        if label != "*":
            prefix = label.rstrip("*")
            assert values == {c for c in codes if len(c) == len(label) and c.startswith(prefix)}
