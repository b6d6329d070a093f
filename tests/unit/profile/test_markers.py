"""Suspected missing markers and look-alike texts."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.profile.columns import Distinct, distinct_values
from shoal.profile.markers import count_look_alike_sets, count_look_alikes, find_markers


def column(name: str, cells: list[str]) -> Distinct:
    return distinct_values(pl.Series(name, cells, dtype=pl.String))


def test_generic_words_and_signs_are_declared_with_their_spelling() -> None:
    found = find_markers([column("a", ["?", "x", "y", "Unknown"]), column("b", ["N/A", "-", "1", "2"])])
    assert found.declared == ("-", "?", "N/A", "Unknown")
    assert found.by_column == {"a": {"?": 1, "Unknown": 1}, "b": {"N/A": 1, "-": 1}}


def test_frequent_number_far_from_the_others_is_declared() -> None:
    ages = [str(20 + i % 60) for i in range(97)]
    assert find_markers([column("age", [*ages, "999", "999", "999"])]).declared == ("999",)
    assert find_markers([column("age", [*ages, "-1", "-1", "-1"])]).declared == ("-1",)
    assert find_markers([column("age", [*ages, "99", "99", "99"])]).declared == (), "99 is an age"
    assert find_markers([column("t", [*ages, "-9", "-1", "-1", "-3.5"])]).declared == (), "below zero is common here"


def test_number_that_is_a_value_in_another_column_is_told_and_not_declared() -> None:
    ages = column("age", [*(str(20 + i % 60) for i in range(97)), "999", "999", "999"])
    rent = column("rent", [str(900 + i) for i in range(200)])
    found = find_markers([ages, rent])
    assert found.declared == ()
    assert found.doubtful == (("age", "999"),)


def test_minus_beside_plus_and_namibia_are_values() -> None:
    found = find_markers([column("rhesus", ["+", "-", "+"]), column("note", ["-", "a", "b"])])
    assert found.declared == ()
    assert ("rhesus", "-") in found.doubtful
    countries = ["NA", "DE", "FR", "US", "BR", "SE", "CH", "AT"]
    assert find_markers([column("country", countries)]).declared == ()
    assert find_markers([column("country", ["NA", "Germany", "France"])]).declared == ("NA",)


def test_look_alikes_are_counted() -> None:
    assert count_look_alikes(pl.Series(["Berlin", "berlin", "Paris"])) == 2, "case"
    assert count_look_alikes(pl.Series(["a b", "a\u00a0b", "c"])) == 2, "no-break space"
    assert count_look_alikes(pl.Series(["ab", "a\u200bb", "c"])) == 2, "zero width"
    assert count_look_alikes(pl.Series(["Paris", "P\u0430ris", "Rom"])) == 2, "Cyrillic a"
    assert count_look_alikes(pl.Series(["a", "b", "ä"])) == 0
    assert count_look_alikes(pl.Series([], dtype=pl.String)) == 0


ONE_DISEASE = {
    "case": ["flu", "Flu", "FLU"],
    "blanks": ["flu", " flu", "flu\u00a0", "f lu"],
    "zero width": ["flu", "f\u200blu", "\ufefffl\u2060u", "flu\ufe0f"],
    "Unicode form": ["grippé", "grippe\u0301"],
    "full width": ["flu", "\uff46\uff4c\uff55"],
    "capital I": ["flu", "fIu"],
    "Cyrillic": ["asthma", "аsthmа", "ASTHMА"],
    "Greek": ["Non", "Νοn", "NON"],
    "Greek capitals": ["HEPATITIS", "ΗΕΡΑΤΙΤΙS"],
    "case of Greek": ["ΝΟΣΟΣ", "νοσοσ"],
    "case of Cyrillic": ["ГРИПП", "грипп"],
    "chain": ["fIu", "flu", "FLU", "ＦＬＵ"],
}


@pytest.mark.parametrize("name", ONE_DISEASE)
def test_values_that_a_reader_takes_for_one_are_one_set(name: str) -> None:
    others = ["cold", "mail", "mall", "COVID-19", "COVlD", "1", "10", "ä", "a"]
    texts = pl.Series([*ONE_DISEASE[name], *(text for text in others if text != "COVlD")])
    assert count_look_alike_sets(texts) == 1
    assert count_look_alike_sets(pl.concat([texts, pl.Series(["Cold", "COLD"])])) == 2


def test_different_values_are_no_set() -> None:
    assert count_look_alike_sets(pl.Series(["mail", "mall", "10", "1O", "a", "ä", "ILL", "LLL", "1.5", "1,5", ""])) == 0
    assert count_look_alike_sets(pl.Series([], dtype=pl.String)) == 0
