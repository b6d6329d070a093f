"""Intervals of numbers and dates."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError, UsageError
from shoal.hierarchy import intervals
from shoal.hierarchy.range_label import parse_span
from shoal.tables.values import Marks


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("20", ("[20, 25)", "[20, 30)", "[20, 40)", "*")),
        ("24.999", ("[20, 25)", "[20, 30)", "[20, 40)", "*")),
        ("25", ("[25, 30)", "[20, 30)", "[20, 40)", "*")),
        ("-0.5", ("[-5, 0)", "[-10, 0)", "[-20, 0)", "*")),
        ("0", ("[0, 5)", "[0, 10)", "[0, 20)", "*")),
        ("1e2", ("[100, 105)", "[100, 110)", "[100, 120)", "*")),
    ],
)
def test_widths_are_half_open(value: str, labels: tuple[str, ...]) -> None:
    """C15: the bound belongs to the interval that begins with it."""
    assert intervals([5, 10, 20]).over([value]).rows[value] == labels


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("17", ("<18", "<40", "*")),
        ("-1000", ("<18", "<40", "*")),
        ("18", ("[18, 25)", "<40", "*")),
        ("39.9", ("[25, 40)", "<40", "*")),
        ("40", ("[40, 65)", ">=40", "*")),
        ("65", (">=65", ">=40", "*")),
        ("1e300", (">=65", ">=40", "*")),
    ],
)
def test_cuts_cover_everything(value: str, labels: tuple[str, ...]) -> None:
    """C15: below the first and above the last cut too."""
    assert intervals(cuts=[[18, 25, 40, 65], [40]]).over([value]).rows[value] == labels


def test_bounds_are_exact_decimals() -> None:
    """C10."""
    rows = intervals([0.1, "0.5"]).over([f"0.{i}" for i in range(10)] + ["0.30000000000000004"]).rows
    assert rows["0.3"][0] == rows["0.30000000000000004"][0] == "[0.3, 0.4)"
    assert rows["0.7"] == ("[0.7, 0.8)", "[0.5, 1)", "*")
    assert max(len(label) for labels in rows.values() for label in labels) == len("[0.1, 0.2)")


def test_origin_moves_the_intervals() -> None:
    assert intervals([10], origin=5).over(["14", "4"]).rows == {"14": ("[5, 15)", "*"), "4": ("[-5, 5)", "*")}


def test_labels_do_not_depend_on_the_other_values() -> None:
    """L18."""
    rule = intervals([5, 10])
    assert rule.over(["7"]).rows["7"] == rule.over(["7", "1000", "-3"]).rows["7"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"widths": [5, 8]}, "the cut at 8 lies inside [5, 10) of level 1"),
        ({"widths": [10, 5]}, "the cut at 5 lies inside [0, 10) of level 1"),
        ({"widths": [5, 5]}, "[0, 5) is also an interval of level 1"),
        ({"cuts": [[18, 40], [30]]}, "the cut at 30 lies inside [18, 40) of level 1"),
        ({"cuts": [[18, 40], [50]]}, "the cut at 50 lies inside >=40 of level 1"),
        ({"cuts": [[40, 18]]}, "the bounds 40 and 18 are reversed"),
        ({"cuts": [[18, 18]]}, "the bounds 18 and 18 are reversed or equal"),
        ({"cuts": [[18], []]}, "level 2 has no cuts"),
        ({"ranges": [[(0, 10), (12, 20)]]}, "gap between the bounds 10 and 12"),
        ({"ranges": [[(0, 10), (9, 20)]]}, "overlap between the bounds 9 and 10"),
        ({"ranges": [[(10, 0)]]}, "the bounds 10 and 0 are reversed"),
        ({"ranges": [[(0, None), (10, 20)]]}, "open end inside: the bounds an open end and 10 meet"),
        ({"ranges": [[(0, 10), (10, 20)], [(0, 30)]]}, "the bounds 30 and 20 are the ends of levels 2 and 1"),
        ({"ranges": [[(0, 10), (10, 20)], [(0, 5), (5, 20)]]}, "the cut at 5 lies inside [0, 10) of level 1"),
        (
            {"cuts": [["2021-01-01", "2020-01-01"]], "unit": "date"},
            "the bounds 2021-01-01 and 2020-01-01 are reversed",
        ),
    ],
)
def test_gap_overlap_reversed_and_open_end_are_refused_with_both_bounds(arguments: dict[str, Any], text: str) -> None:
    """B21."""
    with pytest.raises(InputError) as e:
        intervals(**arguments)
    assert text in str(e.value)


def test_ranges_end_where_they_say() -> None:
    """B21: a value beyond the last bound is refused with the bounds; an open end covers it."""
    with pytest.raises(InputError, match=r"column 'age': 1 value is outside the intervals, which cover \[0, 20\)") as e:
        intervals(ranges=[[(0, 10), (10, 20)]]).over(["5", "20"], column="age", rows_of=lambda i: 10 * i)
    assert "(first at row 10)" in str(e.value)
    assert intervals(ranges=[[(0, 10), (10, None)]]).over(["20"]).rows["20"] == (">=10", "*")


def test_values_that_are_not_numbers_are_refused_or_go_to_the_top() -> None:
    """B18."""
    rule = intervals([5])
    with pytest.raises(InputError, match=r"column 'age': 2 values are not a number \(first at row 2\)"):
        rule.over(["1", "x", "y"], column="age", rows_of=lambda i: i + 1)
    assert rule.over(["1", "x"], unknown="top").rows["x"] == ("*", "*")
    assert rule.over(["?"], missing=["?"]).rows["?"] == ("*", "*")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"widths": []},
        {"widths": [5], "cuts": [[1]]},
        {"widths": [0]},
        {"widths": ["wide"]},
        {"widths": [True]},
        {"widths": [float("nan")]},
        {"cuts": [["x"]]},
        {"widths": [1], "unit": "fortnight"},
        {"widths": [1.5], "unit": "year"},
        {"cuts": [["soon"]], "unit": "date"},
        {"widths": [1], "unit": "year", "origin": "2020-04-02"},
    ],
)
def test_wrong_arguments_are_usage_errors(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        intervals(**arguments)


@pytest.mark.parametrize(
    ("unit", "widths", "labels"),
    [
        ("day", [1, 2], ("[2020-05-06, 2020-05-07)", "[2020-05-06, 2020-05-08)", "*")),
        ("week", [1], ("[2020-05-04, 2020-05-11)", "*")),
        ("month", [1, 12], ("[2020-05-01, 2020-06-01)", "[2020-01-01, 2021-01-01)", "*")),
        ("quarter", [1], ("[2020-04-01, 2020-07-01)", "*")),
        (
            "year",
            [1, 10, 100],
            ("[2020-01-01, 2021-01-01)", "[2020-01-01, 2030-01-01)", "[2000-01-01, 2100-01-01)", "*"),
        ),
    ],
)
def test_units_of_the_calendar(unit: str, widths: list[int], labels: tuple[str, ...]) -> None:
    assert intervals(widths, unit=unit).over(["2020-05-06"]).rows["2020-05-06"] == labels


def test_dates_are_shown_in_the_format_of_the_column() -> None:
    rule = intervals([1], unit="year", date_format="%d.%m.%Y", origin=date(2019, 4, 1))
    assert rule.over(["31.03.2020"]).rows["31.03.2020"] == ("[01.04.2019, 01.04.2020)", "*")
    short = intervals([1], unit="year", date_format="%d.%m.%y")
    assert short.over(["31.03.68"]).rows["31.03.68"] == ("[01.01.68, 2069-01-01)", "*")  # .69 would be 1969


def test_calendar_has_ends() -> None:
    rows = intervals([1, 10], unit="year").over(["0001-01-01", "9999-12-31"]).rows
    assert rows["0001-01-01"] == ("[0001-01-01, 0002-01-01)", "<0010-01-01", "*")
    assert rows["9999-12-31"] == (">=9999-01-01", ">=9990-01-01", "*")


def test_times_of_day_fall_to_their_side_of_a_cut() -> None:
    rule = intervals(cuts=[[datetime(2020, 1, 1, 12)]], unit="date", date_format="%Y-%m-%d %H:%M")
    assert rule.over(["2020-01-01 11:59"]).rows["2020-01-01 11:59"] == ("<2020-01-01 12:00", "*")
    assert rule.over(["2020-01-01 12:00"]).rows["2020-01-01 12:00"] == (">=2020-01-01 12:00", "*")


def test_marks_of_numbers() -> None:
    rule = intervals(["0.5", 1], marks=Marks(",", "."))
    assert rule.over(["1.234,7"]).rows["1.234,7"] == ("[1.234,5, 1.235)", "[1.234, 1.235)", "*")


NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.sampled_from(["0", "-0", "1e5", "-1.5e-7", ".5", "5.", "0.30000000000000004", "1e300", "1e-400"]),
)
WIDTHS = st.tuples(
    st.sampled_from(["0.1", "0.25", "1", "5", "7", "0.003"]), st.lists(st.integers(2, 5), max_size=3)
).map(lambda drawn: widening(*drawn))


def widening(first: str, factors: list[int]) -> list[Decimal]:
    widths = [Decimal(first)]
    for factor in factors:
        widths.append(widths[-1] * factor)
    return widths


def check_nested(rows: dict[str, tuple[str, ...]]) -> None:
    """Two values that share a label share all labels above."""
    above: dict[tuple[int, str], tuple[str, ...]] = {}
    for labels in rows.values():
        assert labels[-1] == "*"
        for level, label in enumerate(labels):
            assert above.setdefault((level, label), labels[level:]) == labels[level:]


@given(st.lists(NUMBERS, min_size=1, max_size=20, unique=True), WIDTHS, st.sampled_from([0, 3, "-0.5", "0.07"]))
def test_widths_nest_and_contain_their_values(values: list[str], widths: list[Decimal], origin: Any) -> None:
    """C15, C10."""
    rows = dict(intervals(widths, origin=origin).over(values).rows)
    check_nested(rows)
    for value, labels in rows.items():
        for width, label in zip(widths, labels, strict=False):
            span = parse_span(label)
            assert span is not None
            assert span.contains(Decimal(value))
            assert Fraction(span.high) - Fraction(span.low) == Fraction(width)  # type: ignore[arg-type]


@given(
    st.lists(NUMBERS, min_size=1, max_size=20, unique=True),
    st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=6, unique=True),
    st.randoms(use_true_random=False),
)
def test_cuts_nest_and_contain_their_values(values: list[str], cuts: list[Decimal], random: Any) -> None:
    """C15: disjoint and covering, since a value and each cut fall into one interval on each level."""
    finest = sorted(cuts)
    coarser = sorted(random.sample(finest, random.randint(1, len(finest))))
    rows = dict(intervals(cuts=[finest, coarser]).over([*values, *map(str, finest)]).rows)
    check_nested(rows)
    for value, labels in rows.items():
        for label in labels[:-1]:
            span = parse_span(label)
            assert span is not None
            assert span.contains(Decimal(value))


@given(
    st.lists(st.dates(date(1, 1, 1), date(9999, 12, 31)), min_size=1, max_size=15, unique=True),
    st.sampled_from(["day", "week", "month", "quarter", "year"]),
    st.lists(st.integers(2, 10), max_size=2),
)
def test_dates_nest_and_contain_their_values(days: list[date], unit: str, factors: list[int]) -> None:
    rows = dict(intervals(widening("1", factors), unit=unit).over([day.isoformat() for day in days]).rows)
    check_nested(rows)
    for value, labels in rows.items():
        for label in labels[:-1]:
            span = parse_span(label)
            assert span is not None
            assert span.contains(value)


def test_neighbouring_days_are_separated_at_each_end_of_a_month() -> None:
    first = date(2020, 2, 1)
    days = [first - timedelta(1), first, date(2020, 2, 29), date(2020, 3, 1)]
    rows = intervals([1], unit="month").over([day.isoformat() for day in days]).rows
    assert [labels[0][1:8] for labels in rows.values()] == ["2020-01", "2020-02", "2020-02", "2020-03"]
