"""Columns that would leave unchanged and name people: refused whatever their role, unless accepted by name."""

from __future__ import annotations

import random

import polars as pl
import pytest

import shoal

DRAW = random.Random(0)
N = 200
FIRST, LAST = ("Anna", "Peter", "Maria", "Paul", "Laura"), ("Albers", "Brandt", "Cordes", "Dorn", "Ebert")
AGE = [str(20 + i % 5) for i in range(N)]
TELLING = {
    "name": [f"{FIRST[i % 5]} {LAST[i // 5 % 5]}" for i in range(N)],
    "case_number": [f"13-{10_000 + i * 7}" for i in range(N)],
    "contact": [f"p{i}@example.org" for i in range(N)],
    "line": [f"0301 {1_000_000 + i * 13}" for i in range(N)],
    "where": [f"{i + 1} Elm Street" for i in range(N)],
    "row": [str(i + 1) for i in range(N)],
    "text": [f"came on day {i} with pain in the left arm and told of a son" for i in range(N)],
    "x": [f"k{i * 7919 % 100_003}z" for i in range(N)],
    "teacher": [LAST[i % 3] for i in range(N)],
}


def release(name: str, cells: list[str], **settings: object) -> shoal.Release:
    table = pl.DataFrame({"age": AGE, name: cells})
    return shoal.anonymize(table, qi=["age"], k=5, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
@pytest.mark.parametrize("name", TELLING)
def test_what_names_people_is_refused_in_every_role(name: str, role: str) -> None:
    with pytest.raises(shoal.errors.InfeasibleError, match=rf"column '{name}'.*accept_unique=\['{name}'\]") as caught:
        release(name, TELLING[name], **{role: [name]})
    assert not any(cell in str(caught.value) for cell in TELLING[name] if len(cell) > 3)
    notes = release(name, TELLING[name], **{role: [name]}, accept_unique=[name]).notes
    assert any(f"column '{name}'" in note and "as you accepted" in note for note in notes)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("cost", [f"{DRAW.uniform(10, 9000):.2f}" for _ in range(N)]),
        ("seen", [f"2020-0{i % 9 + 1}-{i % 28 + 1:02d} 0{i % 10}:{i % 60:02d}:{i * 7 % 60:02d}" for i in range(N)]),
    ],
)
def test_nearly_unique_numbers_and_dates_get_a_note(name: str, cells: list[str]) -> None:
    (note,) = [note for note in release(name, cells, sensitive=[name]).notes if "single out" in note]
    assert f"of {N}" in note


def test_ordinary_sensitive_columns_pass() -> None:
    for cells in (["flu", "cold", "asthma", "none"] * 50, [str(i % 40 * 100) for i in range(N)]):
        assert not [note for note in release("disease", cells, sensitive=["disease"]).notes if "single out" in note]


def test_exact_times_left_as_insensitive_are_named_with_their_rows() -> None:
    times = [f"2020-01-{i % 28 + 1:02d} {i % 24:02d}:{i % 60:02d}:{i * 7 % 60:02d}" for i in range(N)]
    with pytest.raises(shoal.errors.InfeasibleError, match=r"exact times; it singles out \d+ rows? of 200"):
        release("seen", times, insensitive=["seen"])


def test_answers_about_staff_are_no_names() -> None:
    assert release("nurse", ["yes" if i % 3 else "no" for i in range(N)], sensitive=["nurse"]).measures.ncp >= 0


FOREIGN = (
    ("Siobhan", "Zbigniew", "Katarzyna", "Ayşe", "Małgorzata", "Dmitri"),
    ("Adeyemi", "Wiśniewska", "Yılmaz", "Sato"),
)
FEW_FIRST = (*FIRST, "Hans", "Eva", "Tom", "Lisa", "Max", "Nina", "Olga", "Jan", "Ruth", "Karl")
FEW_LAST = (
    *("Schmidt", "Garcia", "Nowak", "Rossi", "Visser", "Silva", "Smith", "Weber", "Khan"),
    *("Patel", "Nguyen", "Jansen", "Wang", "Koch", "Ruiz"),
)
HIDDEN = {
    "lower case": [f"{FIRST[i % 5]} {LAST[i // 5 % 5]}".lower() for i in range(N)],
    "last, first": [f"{LAST[i % 5]}, {FIRST[i // 5 % 5]}".upper() for i in range(N)],
    "other languages": [f"{FOREIGN[0][i % 6]} {FOREIGN[1][i // 6 % 4]}" for i in range(N)],
    "first names in lower case": [FEW_FIRST[i % 15].lower() for i in range(N)],
    "last names": [FEW_LAST[i % 15] for i in range(N)],
    "titles": [f"{('Mr', 'Mrs', 'Dr')[i % 3]} {LAST[i % 5]}" for i in range(N)],
    "texts in most rows": [f"q{i * 7919 % 100_003}z" if i % 9 else "n/a" for i in range(N)],
    "row numbers in most rows": [str(i + 1) if i % 17 else "" for i in range(N)],
    "texts with names, repeated": [
        f"seen with {FIRST[i % 5]} at the ward, call her sister on day {i % 40}" for i in range(N)
    ],
}


@pytest.mark.parametrize("what", HIDDEN)
def test_names_are_found_by_their_values_alone(what: str) -> None:
    with pytest.raises(shoal.errors.InfeasibleError, match=r"accept_unique=\['status'\]"):
        release("status", HIDDEN[what], sensitive=["status"])


@pytest.mark.parametrize("form", ["{:.2f}", "{:.2f} €"])
def test_amounts_with_a_decimal_comma_are_numbers(form: str) -> None:
    cells = [form.format(DRAW.uniform(10, 9000)).replace(".", ",") for _ in range(N)]
    assert any("its numbers single out" in note for note in release("lohn", cells, sensitive=["lohn"]).notes)


def test_a_text_of_one_person_is_unique_however_many_rows_the_person_has() -> None:
    people = [f"P{i // 4}" for i in range(N)]
    own = ["".join("bcdfghjk"[(i // 4 * 7919 // 8**place) % 8] for place in range(5)) for i in range(N)]
    table = pl.DataFrame({"age": AGE, "who": people, "status": own})
    with pytest.raises(shoal.errors.InfeasibleError, match=r"'status'.*singles out 200 rows of 200"):
        shoal.anonymize(table, qi=["age"], person="who", sensitive=["status"], k=5)
    shoal.anonymize(table, qi=["age"], drop=["who"], sensitive=["status"], k=5)  # as if each row were a person


@pytest.mark.parametrize("name", ["name", "contact", "line"])
def test_names_among_the_quasi_identifiers_get_a_note(name: str) -> None:
    table = pl.DataFrame({"age": AGE, name: TELLING[name]})
    notes = shoal.anonymize(table, qi=["age", name], k=5).notes
    assert any(f"column '{name}'" in note and "in sets; drop it" in note for note in notes)


def test_places_and_jobs_among_the_quasi_identifiers_get_none() -> None:
    cells = [
        f"{('North', 'South', 'East', 'West')[i % 4]} {('port', 'field', 'ham', 'ton', 'bury')[i % 5]} {i % 3}"
        for i in range(N)
    ]
    table = pl.DataFrame(
        {"age": AGE, "town": cells, "job": [f"{('night', 'day')[i % 2]} {cells[i]}" for i in range(N)]}
    )
    assert not [note for note in shoal.anonymize(table, qi=["age", "town", "job"], k=5).notes if "in sets" in note]
