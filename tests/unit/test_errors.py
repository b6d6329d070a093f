"""Errors and notes: one text, spelled for Python and for the command line."""

from __future__ import annotations

import doctest
import pickle

import pytest

from shoal import errors
from shoal.errors import CancelledError, InputError, InternalError, Note, UsageError, file_path, first_row, setting


def test_docstring_examples_run() -> None:
    result = doctest.testmod(errors)
    assert (result.attempted > 0, result.failed) == (True, 0)


@pytest.mark.parametrize(
    ("mention", "python", "command"),
    [
        (setting("missing"), "missing=", "--missing"),
        (setting("k", 5), "k=5", "-k 5"),
        (setting("person", "patient id"), "person='patient id'", "--person 'patient id'"),
        (setting("categorical", ["zip", "ward"]), "categorical=['zip', 'ward']", "--categorical zip,ward"),
        (setting("keep_order", True), "keep_order=True", "--keep-order"),
        (setting("header", False), "header=False", "--no-header"),
        (setting("hierarchies"), "hierarchies=", "--hierarchy"),
    ],
)
def test_a_setting_is_spelled_for_whoever_reads(mention: str, python: str, command: str) -> None:
    error = UsageError(f"column 'a': use {mention}.")
    assert str(error) == f"column 'a': use {python}."
    assert error.for_command_line() == f"column 'a': use {command}."


@pytest.mark.parametrize("error", [UsageError(f"try {setting('k', 5)}"), CancelledError(), InternalError("oh.")])
def test_errors_survive_pickling(error: errors.ShoalError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.for_command_line()) == (type(error), str(error), error.for_command_line())


def test_notes_survive_pickling_and_hide_small_counts_by_field() -> None:
    note = Note("column '{rows}'", "{rows} of 7 rows repeat", setting("person", "id"), {"rows": 3})
    copy = pickle.loads(pickle.dumps(note))
    assert (copy, copy.about, dict(copy.counts)) == (note, note.about, {"rows": 3})
    assert note == "column '{rows}': 3 of 7 rows repeat; person='id'"
    assert note.for_command_line() == "column '{rows}': 3 of 7 rows repeat; --person id"
    assert note.public(5) == "column '{rows}': fewer than 5 of 7 rows repeat; person='id'"
    assert note.public(3) == note


def test_row_numbers_are_dropped_where_rows_were_only_counted() -> None:
    error = InputError(f"2 values are not numbers{first_row(18)}. Name them with {setting('missing')}.")
    assert str(error) == "2 values are not numbers (first at row 18). Name them with missing=."
    bare = error.without_rows()
    assert (type(bare), str(bare)) == (InputError, "2 values are not numbers. Name them with missing=.")
    assert bare.for_command_line() == "2 values are not numbers. Name them with --missing."


@pytest.mark.parametrize(
    "text",
    ["{n} rows repeat", "there are {n}", "rows:{n}", "({n})", "a={n}", "{n}%", "in {n}th place", "'{n}' {n} x{n}y"],
)
def test_a_public_note_hides_small_counts_whatever_its_wording(text: str) -> None:
    note = Note("column '7'", text, "see 7", {"n": 3})
    assert "3" in note
    assert "3" not in note.public(5)
    assert "fewer than 5" in note.public(5)
    assert "7" in note.public(5), "only counts are hidden"
    assert "".join(note.sentences(5)).count("3") == 0


def test_a_public_note_names_files_without_folders_and_no_row() -> None:
    note = Note(file_path("/home/ann/secret project/zip.csv"), f"a label is too long{first_row(3)}")
    assert note == "/home/ann/secret project/zip.csv: a label is too long (first at row 3)"
    assert note.public(5) == "zip.csv: a label is too long"


def test_a_note_gives_sentences() -> None:
    note = Note("column 'a'", "{n} cells are blank", f"use {setting('missing', ['?'])}", {"n": 12})
    assert note.sentences() == ("Column 'a': 12 cells are blank.", "Use missing=['?'].")
    assert Note("", "nothing was changed").sentences() == ("Nothing was changed.", "")
