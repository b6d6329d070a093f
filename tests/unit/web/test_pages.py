"""The pages without a browser: settings as they show them, and the texts in every language."""

from __future__ import annotations

import re

import pytest

from scripts.make_catalogues import WEB, texts
from shoal.settings.settings import Settings
from shoal.web.pages.parts.choices import change_kind, change_model, kinds_of, model_of, roles_of, rule_words
from shoal.web.pages.parts.elements import TERM
from shoal.web.pages.parts.language import LANGUAGES, catalogue, parse_catalogue

PLACEHOLDER = re.compile(r"\{(\w+)\}")


def test_columns_without_a_role_are_shown_as_others_says() -> None:
    settings = Settings(qi=("age",), sensitive=("disease",), person="id")
    names = ("id", "age", "disease", "note")
    assert roles_of(settings, names) == {"id": "person", "age": "qi", "disease": "sensitive", "note": "identifier"}
    assert roles_of(Settings(others="insensitive"), ("note",)) == {"note": "insensitive"}


@pytest.mark.parametrize("kind", ["numeric", "categorical", "date", "boolean", "ordered"])
def test_column_has_the_kind_that_was_chosen_and_no_other(kind: str) -> None:
    column = {"name": "born", "kind": "categorical", "format": "%d.%m.%Y"}
    settings = Settings(numeric=("born", "age"), dates={"visit": "%Y"}, kinds={"born": "numeric"})
    changed = Settings(**{**vars(settings), **change_kind(settings, column, kind, ["S", "M"])})
    assert kinds_of(changed, [column]) == {"born": kind}
    assert changed.numeric == (("age", "born") if kind == "numeric" else ("age",))
    assert changed.dates == {"visit": "%Y"} | ({"born": "%d.%m.%Y"} if kind == "date" else {})


def test_one_sensitive_column_is_protected_otherwise_than_the_rest() -> None:
    """`l` holds for every sensitive column; changing one keeps it for the others, and models of other names stay."""
    entropy = {"name": "entropy-l", "column": "disease", "l": 2}
    settings = Settings(sensitive=("disease", "cost"), l=3, models=(entropy,))
    changed = Settings(**{**vars(settings), **change_model(settings, "disease", "t", 0.2)})
    assert (model_of(changed, "disease"), model_of(changed, "cost")) == (("t", 0.2), ("l", 3.0))
    assert changed.l is None
    assert entropy in changed.models
    assert len(changed.privacy_models()) == 3
    cleared = Settings(**{**vars(changed), **change_model(changed, "cost", "")})
    assert model_of(cleared, "cost") == ("", 0.0)


def test_rules_read_as_what_they_keep_apart() -> None:
    assert rule_words({"column": "age", "inflection": [64, 65]}) == "age: ... 64 | 65 ..."
    assert rule_words({"column": "town", "apart": [["Bonn", "Ulm"], "Aachen"]}) == "town: Bonn, Ulm | Aachen"


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "en"])
def test_every_text_is_translated_with_its_placeholders_and_explained_words(name: str) -> None:
    known = catalogue(name)
    assert set(known) == set(texts())
    for text, translated in known.items():
        assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(translated)), text
        assert sorted(key for key, _ in TERM.findall(text)) == sorted(key for key, _ in TERM.findall(translated)), text


def test_every_marked_word_has_an_explanation() -> None:
    glossary = (WEB / "pages" / "parts" / "glossary.py").read_text()
    explained = set(re.findall(r'^        "([a-z-]+)": \($', glossary, re.MULTILINE)) | set(
        re.findall(r'^        "([a-z-]+)": \(_', glossary, re.MULTILINE)
    )
    marked = {key for text in texts() for key, _ in TERM.findall(text)}
    for path in (WEB / "pages").glob("*.py"):
        marked |= {key for key, _ in TERM.findall(path.read_text())}
    assert explained
    assert marked - explained == set()


def test_fuzzy_and_empty_translations_are_left_out() -> None:
    text = '#, fuzzy\nmsgid "a"\nmsgstr "b"\n\nmsgid "c"\nmsgstr ""\n\nmsgid "d"\nmsgstr "e"\n'
    assert parse_catalogue(text) == {"d": "e"}
