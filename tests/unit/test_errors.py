"""Errors and notes: one text, spelled for Python and for the command line."""

from __future__ import annotations

import doctest
import pickle

import pytest

from shoal import errors
from shoal.errors import CancelledError, InternalError, Note, UsageError, setting


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
