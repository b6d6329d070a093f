"""What the cells of a column are found to be."""

from __future__ import annotations

import pytest

from shoal.errors import for_command_line
from shoal.schema import Column, Kind, Role
from shoal.tables.values import parse_dates
from shoal.tables.values.forms import find_form, parse_texts


def column(**facts: object) -> Column:
    return Column("x", Role.QI, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["2016/01/01 00:47:36", "2016/12/31 23:59:59"], "%Y/%m/%d %H:%M:%S"),
        (["01/31/2016 02:30 PM"], "%m/%d/%Y %I:%M %p"),
        (["1/5/2016 2:30 pm", "12/25/2016 11:30 AM"], "%m/%d/%Y %I:%M %p"),
        (["31.01.2016"], "%d.%m.%Y"),
        (["31/01/2016 14:30"], "%d/%m/%Y %H:%M"),
        (["Dec-2015", "jan-2016"], "%b-%Y"),
        (["December 2015", "May 2016"], "%B %Y"),
        (["2015-12"], "%Y-%m"),
        (["12:30", "7:05"], "%H:%M"),
        (["12:30:05"], "%H:%M:%S"),
        (["12:30 PM", "1:05 am"], "%I:%M %p"),
        (["31JAN2016"], "%d%b%Y"),
        (["Jan 5, 2020"], "%b %d, %Y"),
        (["2020-01-31T12:30:00Z"], "%Y-%m-%dT%H:%M:%SZ"),
        (["2020-01-31 12:30:00+01:00"], "%Y-%m-%d %H:%M:%S+01:00"),
        (["2020-01-31", "2020-01-31 12:30:00"], "%Y-%m-%d %H:%M:%S"),
        (["2020-01-31", "2020-01-31 12:30:00", "2020-01-31 12:30:00.25"], "%Y-%m-%d %H:%M:%S.%f"),
    ],
)
def test_dates(texts: list[str], form: str) -> None:
    found = find_form(column(), texts)
    assert (found.column.kind, found.column.date_format) == (Kind.DATE, form)
    assert not found.question
    assert find_form(column(kind=Kind.DATE), texts).column == found.column  # declared without its format


@pytest.mark.parametrize(
    ("texts", "marks", "numbers"),
    [
        (["170 cm", "99cm"], (".", "", "# cm"), [170, 99]),
        (["$45,000", "$1,234.50", "-$5"], (".", ",", "$#"), [45000, 1234.5, -5]),
        (["40%", "5.5%"], (".", "", "#%"), [40, 5.5]),
        (["€ 1.234,50", "€ 3,00"], (",", ".", "€ #"), [1234.5, 3]),
        (["1 234 kr", "99 kr"], (".", " ", "# kr"), [1234, 99]),
        (["EUR 45.000", "EUR 60.000"], (",", ".", "EUR #"), [45000, 60000]),
        (["1,234,567", "3"], (".", ",", ""), [1234567, 3]),
        (["1'234'567.5"], (".", "'", ""), [1234567.5]),
        ([f"{n} rooms" for n in range(5)], (".", "", "# rooms"), [0, 1, 2, 3, 4]),
        (["P1DT2H3M4.5S", "P-1DT23H59M59S"], (".", "", "duration"), [93784.5, -1]),
    ],
)
def test_numbers(texts: list[str], marks: tuple[str, str, str], numbers: list[float]) -> None:
    found = find_form(column(), texts)
    assert (found.column.kind, found.column.marks) == (Kind.NUMERIC, marks)
    assert parse_texts(found.column, Kind.NUMERIC, texts) == (numbers, [])


@pytest.mark.parametrize(
    "texts",
    [
        ["25", "-3.5", "1e3"],
        ["2020-01-31"],
        ["0", "1"],
        ["20160131", "20160201"],
    ],
)
def test_plain_numbers_and_iso_dates_stay_as_they_were(texts: list[str]) -> None:
    found = find_form(column(), texts).column
    assert found == column(kind=Kind.DATE if "-" in texts[0] else Kind.NUMERIC)


@pytest.mark.parametrize(
    "texts",
    [
        ["T1", "T2", "T3"],
        ["C50.1", "C50.2"],
        ["02139", "10001"],
        ["007 kg", "012 kg"],
        ["25-34", "35-44"],
        ["<=50K", ">50K"],
        ["192.168.0.1", "10.0.0.1"],
        ["1,2", "2,3", "1"],
        ["5 rooms", "6 rooms"],  # two values of an unknown word
        ["yes", "no", "perhaps"],
        ["2016-13-01", "2016-12-99"],
        [],
    ],
)
def test_what_is_not_certain_is_a_category(texts: list[str]) -> None:
    assert find_form(column(), texts).column.kind is Kind.CATEGORICAL


@pytest.mark.parametrize(
    ("texts", "what", "cure"),
    [
        (["45,000", "60,000"], "may mark thousands or decimals", "--thousands , or --decimal ,"),
        (["12,5", "13,75"], "a comma for the decimals", "--decimal ,"),
        (["170 cm", "180"], "with and without the unit 'cm'", "--unit x=cm"),
        (["170 cm", "1.8 m", "3 m"], "the units 'cm' and 'm'", "convert them to one unit"),
        (["31.01.16", "01.02.75"], "two digits", "--date x=%d.%m.%y"),
        ([*(f"{n}:30" for n in range(10, 20)), "noon"], "1 of 11 values are not", "--missing"),
        ([*(f"${n}" for n in range(10)), "a lot"], "1 of 11 values are not", "--missing"),
        (["2020-01-31 11:30:00+01:00", "2020-06-30 11:30:00+02:00"], "several time zones", "UTC"),
    ],
)
def test_a_note_says_how_to_declare_a_mixed_column(texts: list[str], what: str, cure: str) -> None:
    found = find_form(column(), texts)
    assert found.column.kind is Kind.CATEGORICAL
    assert found.note is not None
    assert what in found.note.text
    assert cure in for_command_line(found.note.cure)


def test_day_and_month_that_cannot_be_told_apart() -> None:
    found = find_form(column(), ["01/02/2016", "03/04/2016"])
    assert "--date x=%d/%m/%Y or --date x=%m/%d/%Y" in for_command_line(found.question)
    assert found.certain.kind is Kind.CATEGORICAL
    assert find_form(column(kind=Kind.DATE, date_format="%m/%d/%Y"), ["01/02/2016"]).question == ""


@pytest.mark.parametrize(
    ("unit", "texts", "form"),
    [
        ("cm", ["170 cm", "180"], "# cm"),
        ("cm", ["170cm", "180"], "#cm"),
        ("$", ["$45,000", "60,000"], "$#"),
        ("kg", ["5", "6"], "# kg"),
        ("$#", ["$5", "6"], "$#"),
    ],
)
def test_a_declared_unit_may_be_missing_from_cells(unit: str, texts: list[str], form: str) -> None:
    found = find_form(column(kind=Kind.NUMERIC, unit=unit), texts).column
    assert found.unit == form
    assert not parse_texts(found, Kind.NUMERIC, texts)[1]


@pytest.mark.parametrize("texts", [["Yes", "no"], ["TRUE", "False", "true"], ["Y", "n", "yes"], ["ja", "Nein"]])
def test_booleans(texts: list[str]) -> None:
    found = find_form(column(), texts).column
    assert found.kind is Kind.BOOLEAN
    ranks, misfits = parse_texts(found, Kind.BOOLEAN, texts)
    assert (set(ranks), misfits) == ({0.0, 1.0}, [])


def test_fractions_of_a_second_are_exact() -> None:
    """Neighbouring microseconds differ; a float of so many seconds would not tell them apart."""
    texts = ["2016-01-01 00:00:00.000001", "2016-01-01 00:00:00.000002"]
    first, second = parse_dates(texts, "%Y-%m-%d %H:%M:%S.%f")[0]
    assert second - first == pytest.approx(1e-6)
    assert first < second
