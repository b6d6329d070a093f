"""Bins of charts: round, fine where the values are, and calendar units for dates."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.charts.bins import MOST_BINS, MOST_DATE_BINS, bins_of

DAY = 86_400.0


def seconds(day: date) -> float:
    return (datetime(day.year, day.month, day.day) - datetime.min).total_seconds()


def dated(first: date, days: int) -> dict[float, int]:
    return {seconds(first) + i * DAY: 1 for i in range(days)}


@given(st.dictionaries(st.floats(-1e12, 1e12), st.integers(1, 50), min_size=1, max_size=40), st.booleans())
def test_every_value_is_in_the_bin_that_holds_it(rows: dict[float, int], integers: bool) -> None:
    rows = {float(round(value)) if integers else value: count for value, count in rows.items()}
    bins = bins_of(rows, dates=False)
    assert len(bins.names) == len(bins.edges) - 1 <= MOST_BINS + 3
    for value in rows:
        at = bins.place(value)
        assert bins.edges[at] <= value < bins.edges[at + 1]
        assert bins.cover(value, value)[at] == 1
    assert bins.cover(min(rows), max(rows)).sum() == pytest.approx(1)


@given(st.dates(date(1, 1, 1), date(9999, 12, 31)), st.integers(0, 60_000))
def test_dates_lie_in_few_bins_of_the_calendar(first: date, days: int) -> None:
    last = min(first.toordinal() + days, date.max.toordinal())
    rows = {seconds(date.fromordinal(day)): 1 for day in {first.toordinal(), last}}
    bins = bins_of(rows, dates=True)
    assert len(bins.names) <= MOST_DATE_BINS
    assert len(set(bins.names)) == len(bins.names)
    for value in rows:
        assert bins.edges[bins.place(value)] <= value


@pytest.mark.parametrize(
    ("days", "least", "name"),
    [
        (10_000, 6, "2000 to 2001"),
        (1_000, 10, "2000 Q1"),
        (721, 8, "2000-01"),
        (100, 12, "2000-01-03 to 01-09"),
        (21, 21, "2000-01-03"),
    ],
)
def test_many_dates_are_more_than_a_few_bars(days: int, least: int, name: str) -> None:
    bins = bins_of(dated(date(2000, 1, 3), days), dates=True)
    assert len(bins.names) >= least
    assert name in bins.names


def test_times_of_day_are_binned_by_the_hour() -> None:
    bins = bins_of({float(timedelta(minutes=5 * i).total_seconds()): 1 for i in range(250)}, dates=True)
    assert bins.names[:2] == ("00:00", "01:00")


def test_far_ends_do_not_coarsen_the_middle() -> None:
    rows = {**{float(age): 20 for age in range(20, 70)}, 9_999.0: 3}
    bins = bins_of(rows, dates=False)
    assert bins.names == (*(f"{age} to {age + 4}" for age in range(20, 70, 5)), "70 and more")
    low = bins_of({-9_999.0: 3, **{age + 0.5: 20 for age in range(20, 70)}}, dates=False)
    assert low.names[0] == "below 20"
    days = {**dated(date(2020, 1, 1), 360), seconds(date(1900, 1, 1)): 1}
    assert bins_of(days, dates=True).names[:2] == ("before 2020-01", "2020-01")
