"""What shoal says in the web app: settings are called as the pages call them."""

from __future__ import annotations

import re

import pytest

from scripts.make_catalogues import texts
from shoal.errors import Note, UsageError, setting
from shoal.settings.settings import FIELDS
from shoal.web.pages.parts.choices import DATE_STEPS, NUMBER_STEPS, interval_rule, interval_step
from shoal.web.words import NAMES, error_in_words, in_words

OPTION = re.compile(r"--\w|(?<!\w)-k\b|\w=\S")  # an option, or a keyword with its value


@pytest.mark.parametrize("name", [field.name for field in FIELDS])
@pytest.mark.parametrize("value", [None, True, 5, ["zip", "age"], "age=10"])
def test_no_setting_is_spelled_as_an_option_or_keyword(name: str, value: object) -> None:
    said = in_words(f"use {setting(name, value)} here")
    assert not re.search(r"--\w|(?<!\w)-k\b", said)
    assert not OPTION.search(said.replace("age=10", ""))
    assert name in NAMES or len(name) == 1 or name in said


def test_names_of_settings_stand_on_the_pages() -> None:
    """A name leads the user to a control: every one is a text of the pages, or begins with a word that is."""
    shown = {re.sub(r"\[\[[^]|]*\|?([^]]*)\]\]", r"\1", text) for text in texts()}
    for name, words in NAMES.items():
        head = words.partition(": ")[2] or words
        assert any(head in text for text in shown), name


def test_errors_and_notes_lose_their_marks_and_commands() -> None:
    error = UsageError(f"too few rows. Raise {setting('suppression_limit')} or set {setting('k', 3)}.")
    assert error_in_words(error) == "too few rows. Raise \u201cLeaving out rows\u201d or set k = 3."
    note = Note("column 'zip'", "{rows:row}", "see others (shoal hierarchy builtin zip lists them)", {"rows": 2})
    assert in_words(note) == "column 'zip': 2 rows; see others"


@pytest.mark.parametrize("kind", ["numeric", "date"])
def test_slider_of_intervals_finds_its_place_again(kind: str) -> None:
    for step in range(len(DATE_STEPS if kind == "date" else NUMBER_STEPS)):
        rule = interval_rule(kind, step)
        assert interval_step(kind, rule) == step
        assert rule.over(["1987-05-03" if kind == "date" else "7"]).height >= 2
    assert interval_step(kind, "auto") is None
