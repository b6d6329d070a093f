"""The ends of ranges: exact, round and safe."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.encoding.ends import CHOICES, ROUND, SAFE, release_ends
from shoal.encoding.grid import DATE_GRIDS, check_grid
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import UsageError
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.naive.ends import safe_date, safe_number
from tests.strategies import TAME_DATES, Sheet, odd_sheets, sheets


def partition_of(encoded: Encoded, data: st.DataObject, n_groups: int = 3) -> Partition:
    """Any groups, some rows suppressed."""
    n_rows = len(encoded.order)
    drawn = data.draw(st.lists(st.integers(-1, n_groups), min_size=n_rows, max_size=n_rows))
    drawn[0] = max(drawn[0], 0)
    order = sorted(set(drawn) - {-1})
    labels = [order.index(label) if label >= 0 else -1 for label in drawn]
    return tight_partition(encoded, np.array(labels, dtype=np.int32))


def one_column(texts: list[str], kind: Kind, **details: Any) -> tuple[Encoded, Schema]:
    """A table of one quasi-identifier."""
    schema = Schema.build(["x"], {Role.QI: ["x"]}, kinds={"x": kind})
    column = replace(schema.columns[0], **details)
    schema = replace(schema, columns=(column,))
    return encode(from_frame(pl.DataFrame({"x": texts})), schema), schema


def ends_of(texts: list[str], kind: Kind, choice: str = SAFE, k: int = 2, **details: Any) -> tuple[str, str]:
    """The ends of the range of a column whose rows are one group."""
    encoded, schema = one_column(texts, kind, **details)
    partition = tight_partition(encoded, np.zeros(len(texts), dtype=np.int32))
    (ends,) = release_ends(encoded, partition, schema, choice, k=k)
    assert ends.texts[0] is not None
    return ends.texts[0]


@given(sheet=sheets(max_rows=40, max_columns=1, kinds=("numeric", "date")), data=st.data())
def test_safe_ends_are_those_of_the_twin(sheet: Sheet, data: st.DataObject) -> None:
    """C16: people or rows, missing values, suppressed rows, rows with a k of their own."""
    encoded = sheet.encoded
    k, people = data.draw(st.integers(1, 6)), np.arange(len(encoded.order), dtype=np.int32)
    if data.draw(st.booleans()):
        n_rows = len(encoded.order)
        people = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows)), dtype=np.int32)
        encoded = replace(encoded, people=people)
    asked = np.full(len(encoded.order), k, dtype=np.int64)
    if data.draw(st.booleans()):
        n_rows = len(encoded.order)
        asked = np.array(data.draw(st.lists(st.integers(0, 8), min_size=n_rows, max_size=n_rows)), dtype=np.int64)
        encoded = replace(encoded, personal_k=asked)
    partition = partition_of(encoded, data)
    (ends,) = release_ends(encoded, partition, sheet.schema, SAFE, k=k)
    attribute, cells = encoded.attributes[0], partition.cells[0]
    texts = [attribute.texts[code] for code in encoded.tuples[encoded.row_tuple, 0].tolist()]
    known = [(text, person) for text, person in zip(texts, people.tolist(), strict=True) if text]
    decimals = max((len(text.partition(".")[2]) for text in attribute.texts), default=0)
    for i, pair in enumerate(ends.texts):
        if pair is None:
            continue
        own = [attribute.texts[code] for code in (cells.low[i], cells.high[i])]
        for text, value, upper in zip(pair, own, (False, True), strict=True):
            needed = max(k, *(own_k for own_k, each in zip(asked.tolist(), texts, strict=True) if each == value))
            if attribute.kind is Kind.DATE:
                days = [(date.fromisoformat(text), person) for text, person in known]
                assert date.fromisoformat(text) == safe_date(days, date.fromisoformat(value), needed, upper=upper)
            else:
                numbers = [(Fraction(text), person) for text, person in known]
                assert Fraction(text) == safe_number(numbers, Fraction(value), needed, decimals, upper=upper)


@given(sheet=odd_sheets(), data=st.data())
def test_ends_of_odd_tables_cover_their_values(sheet: Sheet, data: st.DataObject) -> None:
    """C16: whatever the numbers, ends move outwards, never inwards; the text is the number that measures use."""
    encoded = sheet.encoded
    partition = partition_of(encoded, data)
    for choice in CHOICES:
        all_ends = release_ends(encoded, partition, sheet.schema, choice, k=3)
        for attribute, cells, ends in zip(encoded.attributes, partition.cells, all_ends, strict=True):
            for i, pair in enumerate(ends.texts):
                if pair is None:
                    continue
                assert ends.low[i] <= attribute.values[cells.low[i]]
                assert ends.high[i] >= attribute.values[cells.high[i]]
                if attribute.kind is Kind.NUMERIC:
                    assert Fraction(pair[0]) <= Fraction(attribute.texts[cells.low[i]])
                    assert Fraction(pair[1]) >= Fraction(attribute.texts[cells.high[i]])
                    assert (float(Fraction(pair[0])), float(Fraction(pair[1]))) == (ends.low[i], ends.high[i])


@pytest.mark.parametrize(
    ("texts", "details", "safe", "round_"),
    [
        (["23", "45", "91"], {}, ("0", "100"), ("22", "92")),
        (["23", "24", "45", "90", "91"], {}, ("22", "92"), ("22", "92")),
        (["23", "23", "45", "91", "91"], {}, ("23", "91"), ("22", "92")),
        (["20", "40", "60"], {}, ("0", "100"), ("20", "62")),  # values on the grid move too
        (["23", "24", "45", "90", "91"], {"grid": "10"}, ("20", "100"), ("20", "100")),
        (["-3", "-1", "2"], {}, ("-5", "5"), ("-3", "3")),
        (["0.12", "0.13", "0.71"], {}, ("0.1", "1"), ("0.12", "0.72")),
        (["1,5", "2,5", "7,25"], {"decimal": ","}, ("0", "10"), ("1,4", "7,4")),
        (["1e300", "2e300", "9e300"], {}, ("0", "1" + "0" * 301), ("1" + "0" * 300, "92" + "0" * 299)),
        (["9007199254740993", "9007199254740995"], {}, None, ("9007199254740993", "9007199254740996")),
        (["8.5e307", "8e307", "-8.5e307"], {}, None, None),  # no number beyond them can be read
    ],
)
def test_ends_of_numbers(
    texts: list[str], details: dict[str, str], safe: tuple[str, str] | None, round_: tuple[str, str] | None
) -> None:
    """C16: without a grid, a round one is found."""
    for choice, expected in ((SAFE, safe), (ROUND, round_)):
        found = ends_of(texts, Kind.NUMERIC, choice, **details)
        if expected is not None:
            assert found == expected, choice


ISO = "%Y-%m-%d"


@pytest.mark.parametrize(
    ("texts", "form", "safe", "round_"),
    [
        (["1960-02-03", "1960-02-20", "1990-07-04"], ISO, ("1960-02-01", "1999-12-31"), ("1960-01-01", "1990-12-31")),
        (["1960-02-01", "1960-02-20", "1961-07-31"], ISO, ("1960-01-01", "1969-12-31"), ("1960-02-01", "1961-07-31")),
        (["2024-01-01", "2024-01-03", "2024-01-05"], ISO, ("2020-01-01", "2024-01-07"), ("2024-01-01", "2024-01-05")),
        (["0001-01-01", "0001-01-01", "9999-12-30", "9999-12-31"], ISO, ("0001-01-01", "9999-12-31"), None),
        (["0950-05-05", "0950-05-06"], ISO, ("0950-05-04", "0950-05-10"), ("0950-05-05", "0950-05-06")),
        (["31.12.68", "30.12.68", "01.01.69"], "%d.%m.%y", ("01.01.69", "31.12.68"), ("01.01.69", "31.12.68")),
        (["03/2020", "04/2020", "02/2021"], "%m/%Y", ("01/2020", "12/2029"), ("03/2020", "02/2021")),
        (["1984", "1985", "2001"], "%Y", ("1980", "2099"), ("1984", "2001")),
        (["2001", "2018", "2019"], "%Y", ("2000", "2099"), ("2001", "2019")),  # the decade ends with the value itself
        (["10:37", "10:41", "23:59", "23:59"], "%H:%M", ("10:30", "23:59"), ("10:30", "23:59")),
        (["00:00", "00:30"], "%H:%M", ("00:00", "00:59"), ("00:00", "00:30")),  # nothing lies before midnight
        (["2024-05-01 10:37:20.5", "2024-05-01 10:37:40.25"], "%Y-%m-%d %H:%M:%S.%f", None, None),
    ],
)
def test_ends_of_dates(
    texts: list[str], form: str, safe: tuple[str, str] | None, round_: tuple[str, str] | None
) -> None:
    """C16: a date format that cannot write what lies beyond keeps the end."""
    encoded, _ = one_column(texts, Kind.DATE, date_format=form)
    for choice, expected in ((SAFE, safe), (ROUND, round_)):
        ends = ends_of(texts, Kind.DATE, choice, date_format=form)
        if expected is not None:
            assert ends == expected, choice
        values = encoded.attributes[0].values
        around, _ = one_column([*ends, *texts], Kind.DATE, date_format=form)
        texts_around = around.attributes[0].texts
        assert {texts_around[0], texts_around[-1]} == set(ends), "the ends are the outermost dates"
        assert around.attributes[0].span >= values[-1] - values[0]


@given(
    days=st.lists(TAME_DATES, min_size=2, max_size=20, unique=True),
    grid=st.sampled_from(DATE_GRIDS),
    choice=st.sampled_from((SAFE, ROUND)),
)
def test_dates_keep_to_the_grid_of_their_column(days: list[str], grid: str, choice: str) -> None:
    low, high = (date.fromisoformat(end) for end in ends_of(days, Kind.DATE, choice, k=2, grid=grid))
    assert low <= date.fromisoformat(min(days)) <= date.fromisoformat(max(days)) <= high
    after = date.fromordinal(high.toordinal() + 1)
    for day in (low, after):
        assert grid not in ("month", "quarter", "year", "decade", "century") or day.day == 1
        assert grid != "quarter" or day.month in (1, 4, 7, 10)
        assert grid not in ("year", "decade", "century") or day.month == 1
        assert grid not in ("decade", "century") or day.year % (10 if grid == "decade" else 100) == 0


def test_four_rows_of_a_person_count_once() -> None:
    """C16: from 16 to 20 there are five rows, but only two people."""
    encoded, schema = one_column([str(age) for age in range(40)], Kind.NUMERIC)
    labels = np.where((encoded.order >= 20) & (encoded.order <= 25), 0, -1).astype(np.int32)
    people = (encoded.order // 4).astype(np.int32)
    for table, expected in ((encoded, ("15", "30")), (replace(encoded, people=people), ("10", "30"))):
        (ends,) = release_ends(table, tight_partition(table, labels), schema, SAFE, k=3)
        assert ends.texts == (expected,)


def test_ends_never_include_what_a_ban_keeps_apart() -> None:
    """A ban on mixing ages up to 17 and from 18 on holds for the cells too, so that no two groups look alike across."""
    frame = pl.DataFrame({"age": [*range(11, 18), *range(18, 40)], "sex": ["f"] * 29})
    ban = {"column": "age", "inflection": [17, 18], "ban": True}
    settings: dict[str, Any] = {"qi": ["age", "sex"], "k": 3, "numeric": ["age"]}
    free = shoal.anonymize(frame, **settings)
    banned = shoal.anonymize(frame, rules=[ban], **settings)
    for release, crosses in ((free, True), (banned, False)):
        cells = release.text["age"].unique().to_list()
        pairs = [(*map(int, text.strip("[])").split(", ")), text.endswith(")")) for text in cells]
        assert any(low <= 17 and high - is_open >= 18 for low, high, is_open in pairs) is crosses
    assert any("a ban or the date format" in note for note in banned.notes)
    assert banned.request.ends == SAFE


@pytest.mark.parametrize("grid", ["0", "-1", "x", "1e-999999999", "1e999999999", "1e401", "0.5e-400", "", "days"])
def test_grids_that_make_no_sense_are_refused(grid: str) -> None:
    with pytest.raises(UsageError, match="use a positive number, or second, minute"):
        check_grid("age", grid)


@pytest.mark.parametrize(
    ("kind", "texts", "grid"), [("dates", ["2020-01-01", "2020-01-02"], "5"), ("numbers", ["1", "2"], "year")]
)
def test_grids_of_another_kind_are_refused(kind: str, texts: list[str], grid: str) -> None:
    for choice in CHOICES:
        with pytest.raises(UsageError, match=f"of the {kind} in column 'x'"):
            ends_of(texts, Kind.DATE if kind == "dates" else Kind.NUMERIC, choice, grid=grid)
