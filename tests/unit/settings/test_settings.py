"""The table of settings, and how settings merge."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import replace

import pytest

import shoal
from shoal.errors import UsageError, setting
from shoal.models import EntropyLDiversity
from shoal.settings.fields import Form, Place
from shoal.settings.keywords import SettingsKeywords, settings_from
from shoal.settings.settings import FIELDS, Settings

BY_NAME = {each.name: each for each in FIELDS}


def test_every_field_is_described_once() -> None:
    assert [each.name for each in FIELDS] == [each.name for each in dataclasses.fields(Settings)]
    for each in FIELDS:
        assert each.help.endswith("."), each.name
        assert bool(each.option) == bool(each.commands), each.name
        value = getattr(Settings(), each.name)
        assert value == (() if each.form.is_list else {} if each.form.is_mapping else None), each.name


def test_errors_spell_the_options_as_commands_do() -> None:
    for each in FIELDS:
        if each.option:
            assert setting(each.name).endswith(f"\ue001{each.option}\ue002"), each.name


def test_keys_of_the_file_are_unambiguous() -> None:
    for place in Place:
        keys = [each.key for each in FIELDS if each.place is place]
        assert len(set(keys)) == len(keys), place


def test_keywords_for_editors_are_those_of_the_table() -> None:
    own = set(inspect.signature(shoal.anonymize).parameters) - {"settings"}
    expected = {each.keyword for each in FIELDS if each.keyword}
    assert {"k", "method"} <= own
    assert set(SettingsKeywords.__annotations__) == expected - own


def test_docstring_lists_every_keyword() -> None:
    text = shoal.anonymize.__doc__ or ""
    for keyword in SettingsKeywords.__annotations__:
        assert f" {keyword}: " in text, keyword
    assert "{settings}" not in text


def test_keywords_come_before_the_file() -> None:
    merged = Settings(k=3, qi=("age",), missing=("?",)).over(Settings(k=9, qi=("sex",), seed=4, missing=("NA",)))
    assert (merged.k, merged.seed, merged.missing) == (3, 4, ("?",))
    assert merged.qi == ("age", "sex")


def test_a_column_keeps_the_role_and_kind_given_first() -> None:
    given = Settings(qi=("age",), numeric=("age",))
    merged = given.over(Settings(sensitive=("age", "disease"), categorical=("age",), dates={"age": "%Y"}))
    assert (merged.qi, merged.sensitive) == (("age",), ("disease",))
    assert (merged.numeric, merged.categorical, merged.dates) == (("age",), (), {})


def test_a_role_on_the_command_line_replaces_person_and_own_k() -> None:
    merged = Settings(qi=("patient",), drop=("wish",)).over(Settings(person="patient", k_column="wish"))
    assert (merged.qi, merged.person, merged.k_column) == (("patient",), None, None)
    merged = Settings(person="id").over(Settings(qi=("id", "age"), person="other"))
    assert (merged.qi, merged.person) == (("age",), "id")


ROLES = ("qi", "sensitive", "insensitive", "drop")
SAVED = Settings(
    qi=("age", "zip"),
    sensitive=("disease",),
    insensitive=("note",),
    drop=("name",),
    person="id",
    k_column="wish",
    others="drop",
    numeric=("age",),
)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("column", SAVED.named)
def test_a_role_replaces_that_of_the_columns_it_names_and_no_others(role: str, column: str) -> None:
    merged = Settings(**{role: (column,)}).over(SAVED)  # type: ignore[arg-type]
    assert column in getattr(merged, role)
    for each in ROLES:
        kept = [name for name in getattr(SAVED, each) if name != column]
        assert set(getattr(merged, each)) == {*kept, *([column] if each == role else [])}
    assert merged.person == (None if column == "id" else "id")
    assert merged.k_column == (None if column == "wish" else "wish")
    assert merged.others == "drop"


def test_others_replaces_others_and_nothing_else() -> None:
    assert Settings(others="insensitive").over(SAVED) == replace(SAVED, others="insensitive")


def test_a_person_that_gives_way_is_dropped_not_released() -> None:
    """C18: it identified people a moment ago."""
    merged = Settings(person="patient", others="insensitive").over(SAVED)
    assert (merged.person, merged.drop) == ("patient", ("name", "id"))
    merged = Settings(k_column="own_k").over(SAVED)
    assert (merged.k_column, merged.drop) == ("own_k", ("name", "wish"))
    merged = Settings(person="patient", qi=("id",)).over(SAVED)
    assert (merged.person, merged.qi, merged.drop) == ("patient", ("id", "age", "zip"), ("name",))


def test_what_describes_a_quasi_identifier_goes_with_its_role() -> None:
    saved = replace(SAVED, hierarchies={"zip": "zip.csv", "age": "age.csv"}, grids={"zip": "5"}, weights={"zip": 2.0})
    dropped = Settings(drop=("zip",)).over(saved)
    assert (dropped.hierarchies, dropped.grids, dropped.weights) == ({"age": "age.csv"}, {}, {})
    hidden = Settings(sensitive=("zip",)).over(saved)
    assert (set(hidden.hierarchies), hidden.grids, hidden.weights) == ({"zip", "age"}, {}, {})
    given = Settings(drop=("zip",), weights={"zip": 3.0}).over(saved)
    assert given.weights == {"zip": 3.0}, "what is asked for is not ignored"


def test_a_new_quasi_identifier_keeps_the_kind_of_the_file() -> None:
    merged = Settings(qi=("weight",)).over(Settings(sensitive=("weight", "cost"), kinds={"weight": "numeric"}))
    assert (merged.qi, merged.sensitive, merged.numeric, merged.kinds) == (("weight",), ("cost",), ("weight",), {})


@pytest.mark.parametrize("name", ["options", "weights", "hierarchies", "grids", "signoff"])
def test_mappings_merge_key_by_key(name: str) -> None:
    merged = Settings(**{name: {"a": "1"}}).over(Settings(**{name: {"a": "2", "b": "3"}}))
    assert getattr(merged, name) == {"a": "1", "b": "3"}


def test_derived_weights_and_weights_by_column_exclude_each_other() -> None:
    assert Settings(weights="auto").over(Settings(weights={"age": 2})).weights == "auto"
    assert Settings(weights={"age": 2}).over(Settings(weights="auto")).weights == {"age": 2}
    assert Settings().over(Settings(weights="auto")).weights == "auto"


def test_accepted_columns_merge_by_column() -> None:
    assert Settings(accept_unique=("a",)).over(Settings(accept_unique=("b", "a"))).accept_unique == ("a", "b")


def test_models_merge_by_name_and_column() -> None:
    """A model on the command line never removes another one of the file."""
    file = Settings(models=({"name": "k-map", "k": 20}, {"name": "entropy-l", "column": "disease", "l": 2}))
    merged = Settings(models=({"name": "entropy-l", "column": "disease", "l": 3},)).over(file)
    assert merged.models == ({"name": "k-map", "k": 20}, {"name": "entropy-l", "column": "disease", "l": 3})
    merged = Settings(models=(EntropyLDiversity("disease", l=4),)).over(file)
    assert merged.models == ({"name": "k-map", "k": 20}, EntropyLDiversity("disease", l=4))


def test_false_turns_off_what_the_file_turns_on() -> None:
    assert Settings(snap=False).over(Settings(snap=True)).snap is False


def test_keywords_become_settings() -> None:
    settings = settings_from({"qi": ["age"], "dates": ["born"], "missing": "NA", "rules": [], "k": None, "grids": None})
    assert settings == Settings(qi=("age",), dates={"born": "%Y-%m-%d"}, missing=("NA",))


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"sensetive_": ["a"]}, "'sensetive_' is not a setting. Did you mean 'sensitive'?"),
        ({"qi": "age"}, "qi='age' is a text. Give a list of column names."),
        ({"qi": 5}, "qi: a int is not a list"),
        ({"grids": ["age"]}, "grids: a list is not a mapping"),
    ],
)
def test_wrong_keywords_are_refused(keywords: dict[str, object], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings_from(keywords)
    assert text in str(caught.value)


def test_forms_are_lists_mappings_or_single_values() -> None:
    assert not [form for form in Form if form.is_list and form.is_mapping]
