"""The verifier reads values by itself; on the forms that shoal releases, both read the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.schema import Column, Kind, Role
from shoal.tables.values.forms import find_form, parse_texts
from shoal.verification.cells import Cells
from shoal.verification.cells.forms import read_date, read_number, read_truth, with_form
from tests.forms import FORMS, Form

every_form = pytest.mark.parametrize("form", [pytest.param(form, id=name) for name, form in FORMS.items()])


def cells_of(form: Form) -> list[str]:
    return [form.cell(form.most * i // 40) for i in range(41)]


@every_form
def test_the_verifier_finds_the_form_by_itself(form: Form) -> None:
    texts = sorted(set(cells_of(form)))
    declared = Column("x", Role.QI, Kind(form.kind), order=form.settings.get("ordered", {}).get("x", ()))
    own, theirs = with_form(declared, texts), find_form(declared, texts).column
    assert (own.date_format, own.decimal, own.thousands, own.order) == (
        theirs.date_format, theirs.decimal, theirs.thousands, theirs.order,
    )  # fmt: skip
    cells = Cells.of(own)
    values, misfits = parse_texts(theirs, Kind(form.kind), texts)
    assert not misfits
    places = [cells.place(text) for text in texts]
    assert all(scale != "text" for scale, _ in places)
    by_value = sorted(range(len(texts)), key=lambda i: values[i])
    assert sorted(range(len(texts)), key=lambda i: places[i][1]) == by_value


@pytest.mark.parametrize(
    ("text", "marks", "number"),
    [
        ("$45,000", (".", ",", "$#"), 45000),
        ("-$5", (".", "", "$#"), -5),
        ("€ 1.234,5", (",", ".", "€ #"), 1234.5),
        ("170cm", (".", "", "# cm"), 170),
        ("170", (".", "", "cm"), 170),
        ("170 m", (".", "", "# cm"), None),
        ("P1DT0H0M1S", (".", "", "duration"), 86401),
        ("1 day", (".", "", "duration"), None),
        ("1,23", (".", ",", "#%"), None),
    ],
)
def test_numbers(text: str, marks: tuple[str, str, str], number: float | None) -> None:
    assert read_number(text, *marks) == number


def test_dates_and_truths() -> None:
    assert read_date("01/31/2016 12:30 am", "%m/%d/%Y %I:%M %p") == read_date("2016-01-31T00:30", "%Y-%m-%dT%H:%M")
    assert read_date("13/31/2016 12:30 AM", "%m/%d/%Y %I:%M %p") is None
    assert read_date("01/31/2016 13:30 AM", "%m/%d/%Y %I:%M %p") is None
    assert read_date("2016-01-31", "%Y-%m-%d %H:%M:%S") is not None
    assert read_date("2016-01-31", "%d.%m.%Y %H:%M") is None
    assert [read_truth(text) for text in ("YES", "0", "perhaps")] == [True, False, None]


def test_sets_of_ordered_categories_are_runs() -> None:
    cells = Cells("ordered", order=("low", "mid", "high"))
    assert cells.covers("mid", "{low, mid}")
    assert cells.covers("mid", "{low, mid, high}")
    assert not cells.covers("high", "{low, mid}")
    assert not cells.covers("low", "{low, high}")
    assert not cells.covers("mid", "{mid, low}")
    assert not cells.covers("mid", "[low, high]")
    assert cells.covers("mid", "mid")
    assert cells.covers("mid", "*")


def test_booleans_in_any_spelling() -> None:
    cells = Cells("boolean")
    assert cells.covers("Yes", "yes")
    assert cells.covers("TRUE", "{no, yes}")
    assert not cells.covers("No", "yes")
    assert not cells.covers("perhaps", "{no, yes}")


def test_what_is_declared_stays() -> None:
    declared = Column("x", Role.QI, Kind.DATE, "%d/%m/%Y")
    assert with_form(declared, ["12/31/2016"]) == declared
    assert with_form(replace(declared, kind=Kind.CATEGORICAL), ["12/31/2016"]).date_format == "%d/%m/%Y"
