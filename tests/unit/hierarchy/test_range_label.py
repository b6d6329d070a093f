"""Labels that look like ranges."""

from __future__ import annotations

from decimal import Decimal

import pytest

from shoal.hierarchy.range_label import is_true_of, parse_span


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("20-24", "20 24 22.5", "19 24.5 25"),
        ("20 - 24", "24", "25"),
        ("20–24", "24", "25"),
        ("20~24", "24", "25"),
        ("20..24", "24", "25"),
        ("20 to 24", "20", "19"),
        ("[20, 25)", "20 24.999", "25 19.999"),
        ("[20:25)", "20", "25"),
        ("[20, 25]", "25", "26"),
        ("(20, 25]", "25", "20"),
        ("[20, 25[", "20", "25"),
        ("]20, 25]", "25", "20"),
        ("[20-25)", "20", "25"),
        ("-10--5", "-10 -5", "5 -11"),
        ("[-10, -5)", "-10", "-5"),
        (">=90", "90 1000", "89.9"),
        ("≥ 90", "90", "89"),
        (">90", "90.1", "90"),
        ("90+", "90", "89"),
        ("<20", "19 -5", "20"),
        ("<=20", "20", "21"),
        ("[0.1, 0.3)", "0.1 0.29999999999999999", "0.3"),
    ],
)
def test_ranges_contain_what_they_say(label: str, inside: str, outside: str) -> None:
    span = parse_span(label)
    assert span is not None
    assert all(span.contains(Decimal(text)) for text in inside.split())
    assert not any(span.contains(Decimal(text)) for text in outside.split())


@pytest.mark.parametrize("label", ["young", "20", "A00-A09", "7th-8th", "*", "", "20-", "[20", "2020-01-01", "1-2-3"])
def test_other_labels_are_not_ranges(label: str) -> None:
    assert parse_span(label) is None


@pytest.mark.parametrize(
    ("label", "value", "true"),
    [
        ("15-19", "20", False),
        ("15-19", "adult", True),  # not a number: the label cannot be judged
        ("[2020-01-01, 2021-01-01)", "2020-12-31", True),
        ("[2020-01-01, 2021-01-01)", "2021-01-01", False),
        ("<2020-01-01", "2020-01-01", False),
        ("02000-02999", "02139", True),
        ("03000-03999", "02139", False),
        ("01-03", "0111", True),  # a code of four digits, a range of codes of two digits: not quantities
        ("021**", "02139", True),
        ("031**", "02139", False),
        ("Asia*", "Japan", True),
    ],
)
def test_truth_of_a_label(label: str, value: str, true: bool) -> None:
    assert is_true_of(label, value) is true
