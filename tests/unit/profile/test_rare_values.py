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
}


def release(name: str, cells: list[str], **settings: object) -> shoal.Release:
    table = pl.DataFrame({"age": AGE, name: cells})
    return shoal.anonymize(table, qi=["age"], k=5, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
@pytest.mark.parametrize("name", TELLING)
def test_what_names_people_is_refused_in_every_role(name: str, role: str) -> None:
    with pytest.raises(shoal.errors.InfeasibleError, match=f"column '{name}'.*accept_unique=") as caught:
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
    (note,) = [note for note in release(name, cells, sensitive=[name]).notes if "nearly every row" in note]
    assert f"of {N}" in note


def test_ordinary_sensitive_columns_pass() -> None:
    for cells in (["flu", "cold", "asthma", "none"] * 50, [str(i % 40 * 100) for i in range(N)]):
        assert not [note for note in release("disease", cells, sensitive=["disease"]).notes if "singles out" in note]


def test_exact_times_left_as_insensitive_are_named_with_their_rows() -> None:
    times = [f"2020-01-{i % 28 + 1:02d} {i % 24:02d}:{i % 60:02d}:{i * 7 % 60:02d}" for i in range(N)]
    with pytest.raises(shoal.errors.InfeasibleError, match=r"exact times; it singles out \d+ rows? of 200"):
        release("seen", times, insensitive=["seen"])
