"""Numbers, dates and texts of any length: parsed in linear time, and bounded before exact arithmetic begins."""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta
from fractions import Fraction

import pytest

import shoal
from shoal.errors import InputError, UsageError
from shoal.hierarchy.scale import Dates
from shoal.schema import Kind, Reading
from shoal.tables.values import Marks, exact_fraction, guess_kind, normalise, parse_dates, parse_numbers
from shoal.verification.cells import Cells

HUGE = ("1e999999999", "1e-999999999", "0e999999999", "1" * 30_000, "0." + "1" * 30_000, "1e400", "1e308", "1e-500")


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_a_number_out_of_range_is_not_a_number(text: str) -> None:
    """B13: neither its digits nor its exponent are worked out."""
    assert parse_numbers(["1", text])[1] == [1]
    assert exact_fraction(text) is None


def test_numbers_of_the_full_range_are_numbers() -> None:
    """B13."""
    texts = ["8e307", "-8e307", "1e-320", "123456789012345678901234567890", "1.", ".5", "+7", "1e5"]
    numbers, misfits = parse_numbers(texts)
    assert not misfits
    assert float(numbers[0]) == 8e307
    assert guess_kind(texts) == (Kind.NUMERIC, None)


@pytest.mark.parametrize(
    ("value", "fraction"),
    [
        ("0.2", Fraction(1, 5)),
        (" 1/11 ", Fraction(1, 11)),
        (0.1, Fraction(1, 10)),
        (3, Fraction(3)),
        ("1e-3", Fraction(1, 1000)),
        (10**400, None),
        (True, None),
        ("1/0", None),
        ("²", None),
        ("nan", None),
        (float("inf"), None),
        ("1_000", None),
        (None, None),
    ],
)
def test_exact_fraction(value: object, fraction: Fraction | None) -> None:
    assert exact_fraction(value) == fraction


def test_long_texts_are_composed_like_short_ones() -> None:
    """C14: and a run of combining marks, which Python sorts in quadratic time, ends."""
    text = "e\u0323\u0301o\u0302\u0300ﬁ가\u1100\u1161" * 50
    assert normalise(text) == unicodedata.normalize("NFC", text)
    run = "a" + "\u0301\u0327" * 200_000
    assert len(normalise(run)) == len(run) - 1
    assert unicodedata.is_normalized("NFC", normalise("a" + "\u0301\u0327" * 500))


def test_long_texts_are_no_dates() -> None:
    assert parse_dates(["2020-01-01", "1" * 100_000], "%d %m %Y")[1] == [0, 1]


MARKS = ["5", "e", "-", "+", " ", "", "..", "x", '"', "[", "*", "\n", "٣"]


@pytest.mark.parametrize("mark", MARKS)
def test_a_decimal_mark_is_a_mark(mark: str) -> None:
    """B10: with 5 as decimal mark, 152 would be released as 1.2."""
    with pytest.raises(UsageError, match="are not marks of numbers"):
        Reading(decimal=mark)


@pytest.mark.parametrize("mark", [mark for mark in MARKS if mark not in ("", " ")])
def test_a_thousands_mark_is_a_mark(mark: str) -> None:
    with pytest.raises(UsageError, match="are not marks of numbers"):
        Reading(thousands=mark)


def test_marks_in_use_are_allowed() -> None:
    for decimal, thousands in ((",", "."), (".", ","), (",", " "), (".", "'"), (".", "’"), (",", "\u202f"), (".", "_")):
        reading = Reading(decimal=decimal, thousands=thousands)
        number = f"1{thousands}234{decimal}5"
        assert Marks(*reading.marks).plain(number) == "1234.5"
    with pytest.raises(UsageError, match="differs from it"):
        Reading(decimal=",", thousands=",")


@pytest.mark.parametrize("delimiter", ["5", "a", "", "ab", '"', "\n", "\0", "é"])
def test_a_delimiter_is_not_made_of_cells(delimiter: str) -> None:
    with pytest.raises(UsageError, match="delimiter"):
        Reading(delimiter=delimiter)


@pytest.mark.parametrize("encoding", ["klingon", "base64", "idna", "unicode_escape", "utf-8\0", "undefined"])
def test_an_encoding_is_one_of_text_files(encoding: str) -> None:
    with pytest.raises(UsageError, match="is not known"):
        Reading(encoding=encoding)


@pytest.mark.parametrize("form", ["%Q", "%d%d", "%", "", "%d" * 200, "%Y" + "x" * 200])
def test_a_date_format_can_be_used(form: str) -> None:
    """B14."""
    with pytest.raises(UsageError, match="date format"):
        Reading(dates={"born": form})
    assert Reading(dates={"born": "%d.%m.%Y"}).dates


IGNORED = [
    *("%Y-W%W", "%Y-W%U", "W%W", "%Y %W %d", "%W %a", "%G-W%V", "%V-%u", "%G-%m-%d", "%G %W %u"),  # weeks
    *("%a", "%A", "%w", "%Y %a", "%m-%d %a", "%j %a", "%Y-%m-%d %j", "%Y-%m %j"),  # days
    *("%H:%M %p", "%I:%M", "%I", "%Y-%m-%d %p", "%H %I %p", "%Y %y", "%m %b", "%b %B"),  # times, and parts twice
    *("%Y-%m-%d %H:%M%z", "%Y-%m-%d %Z", "%H:%M %z", "%c %Y", "%x %j", "%H %X"),  # zones, and parts twice
    *("%Y-%d", "%Y %H", "%d %M", "%Y-%m-%d %M", "%H:%S"),  # gaps
]


@pytest.mark.parametrize("form", IGNORED)
def test_a_date_format_determines_the_date_that_it_prints(form: str) -> None:
    """strptime ignores or guesses a part of these, and would give different values the same date."""
    with pytest.raises(UsageError, match="date format"):
        Reading(dates={"born": form})
    with pytest.raises(UsageError, match="date format"):
        Dates(form)


DETERMINED = [
    *("%Y", "%y", "%m", "%d", "%Y-%m", "%m/%Y", "%d.%m", "%H:%M", "%M:%S", "%S.%f", "%d %B %Y", "%b %d, %Y", "%Y%m%d"),
    *("%Y-%j", "%y%j %H:%M", "%G-W%V-%u", "%G-W%V %a", "%Y-W%W-%w", "%Y %U %A", "%a, %d %b %Y", "%Y-%j %w"),
    *("%Y-%m-%dT%H:%M:%SZ", "%d/%m/%y %I:%M %p", "%Y-%m-%d %H:%M:%S.%f", "%I %p", "100%% %Y", "%Y %%z"),
    *("%j", "%j %H", "%c", "%x", "%X", "%x %X"),
]


@pytest.mark.parametrize("form", DETERMINED)
def test_a_date_format_that_determines_its_dates_is_read_as_printed(form: str) -> None:
    assert Reading(dates={"born": form}).dates == {"born": form}
    moments = [datetime(2020, 1, 1), datetime(2020, 2, 29, 12), datetime(1999, 12, 31, 23, 59, 59, 500_000)]
    texts = [moment.strftime(form) for moment in moments if form != "%d.%m" or moment.day != 29]
    seconds, misfits = parse_dates(texts, form)
    assert not misfits
    moments = [datetime.min + timedelta(microseconds=int(place * 10**6)) for place in seconds]
    assert [moment.strftime(form) for moment in moments] == texts
    cells = Cells("date", form)
    assert all(cells.place(text)[0] == "date" for text in texts)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2023-366", "%Y-%j"),
        ("2023-W53-1", "%G-W%V-%u"),
        ("2023-W00-3", "%Y-W%W-%w"),
        ("Mon, 03 Jan 2024", "%a, %d %b %Y"),
        ("1052024", "%d%m%Y"),  # 1 May, read as 10 May
        ("2024-W17", "%Y-W%W"),  # of a manifest
        ("10:00 PM", "%H:%M %p"),
        ("2024-01-01 10:00+0500", "%Y-%m-%d %H:%M%z"),
    ],
)
def test_a_text_that_is_read_as_another_date_is_not_a_date(text: str, form: str) -> None:
    assert parse_dates([text], form)[1] == [0]
    assert Cells("date", form).place(text) == ("text", text)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("5/1/2024", "%d/%m/%Y"),
        ("5 JANUARY  2024", "%d %B %Y"),
        ("2024-01-05 00:00:07.5", "%Y-%m-%d %H:%M:%S.%f"),
        ("7.050 s", "%S.%f s"),
        ("9:05 pm", "%I:%M %p"),
        ("930", "%H%M"),
    ],
)
def test_a_date_may_be_padded_or_not(text: str, form: str) -> None:
    assert parse_dates([text], form)[1] == []
    assert Cells("date", form).place(text)[0] == "date"


def test_a_personal_k_of_5000_digits_is_refused() -> None:
    """B23: Python refuses to convert so many digits."""
    import polars as pl

    frame = pl.DataFrame({"age": ["1", "1", "2", "2"], "mine": ["2", "2", "2", "9" * 5000]})
    with pytest.raises(InputError, match="own k, but the cell at row 4 is not a positive integer"):
        shoal.anonymize(frame, qi=["age"], k_column="mine", k=2)
