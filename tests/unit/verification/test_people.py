"""Columns of a released file that seem to name people are noted, and do not fail the verification."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import shoal
from shoal.verification import describe
from shoal.verification.examination.people import people_notes
from shoal.verification.reading.coded import code_columns


@pytest.mark.parametrize(
    ("cell", "seems"),
    [
        (lambda i: f"p{i}@example.org", "e-mail addresses"),
        (lambda i: f"+49 221 {100000 + i}", "phone numbers"),
        (lambda i: f"Anna Name{i}", "names or keys"),
        (lambda i: f"P-{i:05d}", "names or keys"),
        (lambda i: f"{i * 13}.50", ""),
        (lambda i: f"2024-01-{i % 28 + 1:02d}", ""),
        (lambda i: ("flu", "cold", "asthma")[i % 3], ""),
        (lambda i: "", ""),
    ],
)
def test_column_that_seems_to_name_people(cell: Callable[[int], str], seems: str) -> None:
    table = code_columns({"age": ["20-29"] * 100, "x": [cell(i) for i in range(100)]})
    notes = people_notes(table, ["age"])
    assert [note.about for note in notes] == (["column 'x'"] if seems else [])
    assert all(seems in note.text and "Anna" not in note for note in notes)
    assert not people_notes(table, ["age", "x"])


def test_verify_without_a_manifest_names_such_columns_and_passes(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    file.write_text("age,who\n" + "".join(f"20-29,Anna Name{i}\n" for i in range(30)))
    verdict = shoal.verify(file, qi=["age"], k=5)
    assert verdict.ok
    assert any("column 'who': the cells seem to be names or keys" in str(note) for note in verdict.notes)
    assert [note.about for note in describe(file, qi=["age"]).notes] == ["column 'who'"]


@pytest.mark.parametrize(
    ("name", "cells", "seems"),
    [
        ("nazwisko", ["Wrona", "Sikora", "Lis", "Mazur", "Kot", "Bąk", "Zając", "Dudek"], True),
        ("x", [f"{first} {last}" for first in ("Anna", "Peter") for last in ("Lund", "Roe", "Kim", "Ode")], True),
        ("lastName", ["Lund", "Roe", "Kim", "Ode", "Berg", "Falk", "Holm", "Dahl"], True),
        ("ward", ["Surgery", "Neurology", "Cardiology", "Urology", "Oncology", "Ent", "Eye", "Icu"], False),
        (
            "city",
            ["San Jose", "New York", "Los Angeles", "El Paso", "Fort Worth", "Las Vegas", "St Paul", "Rome"],
            False,
        ),
        ("name", ["A1", "B2", "C3", "D4", "E5", "F6", "G7", "H8"], False),
    ],
)
def test_names_that_repeat_are_noted(name: str, cells: list[str], seems: bool) -> None:
    table = code_columns({"age": ["20-29"] * 80, name: cells * 10})
    notes = people_notes(table, ["age"])
    assert ["names of people" in note.text for note in notes] == [True] * seems
