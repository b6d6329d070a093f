"""Centres of groups: exact, in the form of their column, and whatever the order of the rows."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import UsageError
from shoal.models import KMap
from shoal.release.cells import centers
from tests.naive.centers import PlainCenters

QI = ["age", "cost", "born", "city"]


def table(seed: int, n_rows: int = 70) -> pl.DataFrame:
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [chance.choice(["", "", "?", *map(str, range(-5, 60))]) for _ in range(n_rows)],
            "cost": [f"{chance.randrange(10**5) / 100:.2f}" for _ in range(n_rows)],
            "born": [str(date(1950, 1, 1) + timedelta(days=chance.randrange(9000))) for _ in range(n_rows)],
            "city": [chance.choice("aabbbcdé") for _ in range(n_rows)],
            "person": [f"p{chance.randrange(n_rows // 2)}" for _ in range(n_rows)],
        }
    )


def center(frame: Any, **options: Any) -> shoal.Release:
    roles = {"qi": QI, "others": "drop", "missing": ["?"], "method": "mondrian", "k": 3} | options
    return shoal.anonymize(frame, cells="center", **roles)


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("choice", ["mean", "median"])
def test_centres_are_those_of_the_statistics_module(choice: str, people: bool) -> None:
    for seed in range(4):
        frame = table(seed)
        options = {"person": "person", "method": "shoaling"} if people else {"drop": ["person"]}
        release = center(frame, center=choice, spread=True, keep_order=True, **options)
        assert release.groups is not None
        members = defaultdict(list)
        for row, group in enumerate(release.groups.tolist()):
            members[group].append(row)
        for column in release.schema.qi:
            texts = frame[column.name].to_list()
            plain = PlainCenters(column, release.schema.missing, texts, choice)
            spread = release.spread[column.name]
            for rows in members.values():
                known = [row for row in rows if not plain.cells.is_missing(texts[row])]
                n_known = len({frame["person"][row] for row in known}) if people else len(known)
                expected = plain.center([texts[row] for row in rows], n_known, 3)
                for row in rows:
                    assert plain.shown(release.text[column.name][row]) == expected
                    told = plain.spread([texts[each] for each in rows], expected)
                    assert spread.texts[int(spread.ranks[row])] == told


def test_bytes_do_not_depend_on_the_order_of_rows() -> None:
    frame = table(5)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    one, other = (center(each, spread=True, drop=["person"]) for each in (frame, shuffled))
    assert one.file_text.equals(other.file_text)


def test_of_equally_frequent_values_the_rarer_one_is_shown_then_the_first() -> None:
    frame = pl.DataFrame({"age": [1, 1, 50, 50, 50, 50], "city": ["x", "y", "x", "x", "b", "a"]})
    release = shoal.anonymize(frame, qi=["age", "city"], k=2, cells="center", keep_order=True, rules=[])
    by_group = dict(zip(release.groups.tolist(), release.frame["city"], strict=True))  # type: ignore[union-attr]
    assert by_group[int(release.groups[0])] == "y"  # type: ignore[index]
    pair = shoal.anonymize(frame[4:], qi=["age", "city"], k=2, cells="center")
    assert pair.frame["city"].to_list() == ["a", "a"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2", "2", "2"], "2"),  # 1.75
        (["1", "2"], "2"),  # half to even
        (["2", "3"], "2"),
        (["-1", "-2"], "-2"),
        (["0.1", "0.25", "0.4", "0.5"], "0.31"),  # 0.3125
        (["1.0", "2.0", "4.0"], "2.0"),
        (["1.25", "1.2500000000000001"], "1.25"),  # 15 significant digits
        (["123456789012345678901", "123456789012345678905"], "123456789012345678903"),
        (["170 cm", "171 cm", "173 cm"], "171 cm"),
        (["$1,000.50", "$3,000.50"], "$2,000.50"),
        (["5%", "10%"], "8%"),
        (["2020-02-28", "2020-03-01"], "2020-02-29"),
        (["Jan-2010", "Mar-2010", "Mar-2010"], "Feb-2010"),
        (["2020-01", "2020-12", "2020-12"], "2020-08"),
        (["08:00", "09:01"], "08:30"),
        (["08:00:00", "08:00:03"], "08:00:02"),
        (["2020-01-01 10:00:00", "2020-01-01 12:00:00", "2020-01-02 00:00:00"], "2020-01-01 15:00:00"),
        (["2020-01-01 00:00:00", "2020-01-04 00:00:00", "2020-01-06 00:00:00"], "2020-01-04 00:00:00"),
        (["3/1/2016", "3/20/2016", "3/21/2016"], "3/14/2016"),
        (["P1DT0H0M0S", "P2DT0H0M0S"], "P1DT12H0M0S"),
        (["yes", "no", "yes"], "yes"),
    ],
)
def test_a_centre_has_the_form_and_the_precision_of_its_column(cells: list[str], expected: str) -> None:
    frame = pl.DataFrame({"value": cells * 2, "one": ["x"] * 2 * len(cells)})
    numeric = ["value"] if expected.lstrip("-").replace(".", "").isdigit() else []
    release = shoal.anonymize(frame, qi=["value", "one"], k=2 * len(cells), cells="center", numeric=numeric)
    assert release.text["value"].unique().to_list() == [expected]


def test_ordered_categories_show_their_lower_median() -> None:
    frame = pl.DataFrame({"size": ["S", "M", "L", "L"], "one": ["x"] * 4})
    release = shoal.anonymize(
        frame, qi=["size", "one"], k=4, cells="center", spread=True, ordered={"size": ["S", "M", "L"]}
    )
    assert release.frame["size"].unique().to_list() == ["M"]
    assert release.frame["size_share"].unique().to_list() == [0.25]


def test_a_number_that_too_few_have_is_empty() -> None:
    frame = pl.DataFrame({"age": [1, 2, 3, None, None], "one": ["x"] * 5})
    shown = [
        shoal.anonymize(frame.head(n), qi=["age", "one"], k=k, cells="center", method="mondrian").frame["age"].to_list()
        for n, k in ((5, 3), (5, 4))
    ]
    assert shown == [[2] * 5, [None] * 5]


def test_frames_keep_numbers_dates_and_times() -> None:
    frame = pl.DataFrame(
        {
            "n": [1, 2, 4, 5],
            "x": [1.0, 2.5, 3.0, 4.5],
            "day": [date(2020, 1, 1 + i) for i in range(4)],
            "at": [datetime(2020, 1, 1, i, 30) for i in range(4)],
            "clock": [time(i, 30) for i in range(4)],
            "ok": [True, True, True, False],
        }
    )
    made = shoal.anonymize(frame, qi=frame.columns, k=4, cells="center").frame
    assert made.schema == frame.schema
    assert made.row(0) == (3, 2.8, date(2020, 1, 3), datetime(2020, 1, 1, 2, 0), time(2, 0), True)
    assert len({made.row(i) for i in range(4)}) == 1


def test_groups_with_the_same_centres_look_alike_and_are_counted_so() -> None:
    frame = pl.DataFrame({"age": [10, 20, 14, 16], "zone": ["a", "a", "a", "a"]})
    release = shoal.anonymize(frame, qi=["age", "zone"], k=2, cells="center")
    assert release.groups is not None
    assert len(set(release.groups.tolist())) in (1, 2)
    assert release.measures.groups == release.frame.n_unique()
    shown = shoal.anonymize(frame, qi=["age", "zone"], k=2, cells="center", spread=True)
    assert shown.measures.groups == shown.frame.n_unique()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ends": "safe"}, "no ends"),
        ({"snap": True}, "no ends"),
        ({"grids": {"age": "5"}}, "no ends"),
        ({"finest": {"age": "5"}}, "finer than any band"),
        ({"uniform": {"age": "5"}}, "finer than any band"),
        ({"models": [KMap(4)], "population": table(1)}, "a centre covers one value"),
        ({"center": "mode"}, "center"),
    ],
)
def test_settings_without_a_meaning_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        center(table(1), drop=["person"], **options)


def test_centres_must_be_asked_for_and_their_names_must_be_free() -> None:
    frame = table(1).with_columns(age_sd=pl.lit("1"))
    with pytest.raises(UsageError, match="already has a column 'age_sd'"):
        center(frame, spread=True)
    with pytest.raises(UsageError, match=r"center.*cells='center'"):
        shoal.anonymize(frame, qi=QI, others="drop", k=3, center="median")


def test_rounding_of_deviations_and_shares() -> None:
    assert [centers._deviation(Fraction(v)) for v in (0, 1, 2, 10**6, Fraction(99, 100), Fraction(1, 10**6))] == [
        *("0.0", "1.0", "1.4", "1000.0", "0.99", "0.001")
    ]
    assert centers._deviation(Fraction("0.9901")) == "1.0"  # 0.995...
    assert [centers._share(n, 200) for n in (0, 1, 199, 200)] == ["0.0", "0.01", "0.99", "1.0"]
