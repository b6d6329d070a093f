"""The built-in hierarchies: facts that can be counted, and values in every spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal import hierarchy
from shoal.errors import InputError, UsageError
from shoal.hierarchy.builtin import BUILTINS, COUNTRIES, ICD10, STATES, lookup, matching
from shoal.hierarchy.check import Line, build


@pytest.mark.parametrize("rule", [COUNTRIES, STATES], ids=lambda rule: rule.name)
def test_tables_are_hierarchies_and_every_form_has_the_same_labels(rule: lookup.LookupHierarchy) -> None:
    """Levels nest, no label is a value, and no spelling belongs to two rows."""
    by_form = {form: rule.over(rule.values(form)) for form in rule.forms}
    for form, bound in by_form.items():
        lines = [Line(i, value, labels) for i, (value, labels) in enumerate(bound.rows.items(), 1)]
        assert build(lines, source=form).rows == bound.rows
        assert list(bound.rows.values()) == list(by_form[rule.forms[0]].rows.values())
    facts = lookup.read_facts(rule.name)
    spellings = [row[form] for row in facts for form in rule.forms]
    spellings += [other for row in facts for other in row["others"].split("|") if other]
    keys = [lookup._key(text) for text in spellings]
    assert len(set(keys)) == len(keys), {key for key in keys if keys.count(key) > 1}


def test_countries_are_those_of_the_un() -> None:
    """The UN has 248 countries and areas in 5 regions and 17 subregions; Antarctica is in none, Taiwan is added."""
    bound = COUNTRIES.over(COUNTRIES.values())
    assert len(bound.rows) == 248 + 1
    assert set(bound.labels(3)) == {"Africa", "Americas", "Asia", "Europe", "Oceania", "Antarctica (area)"}
    assert len(bound.labels(2)) == 17 + 1
    assert bound.rows["Kenya"] == ("Eastern Africa", "Sub-Saharan Africa", "Africa", "*")
    assert bound.rows["Germany"] == ("Western Europe", "Western Europe", "Europe", "*")


@pytest.mark.parametrize("text", ["United States", "united-states", "USA", "us", "840", "The United States of America"])
def test_countries_are_known_by_many_spellings(text: str) -> None:
    assert COUNTRIES.over([text]).rows[text][0] == "Northern America"


def test_codes_may_have_lost_their_zeros() -> None:
    rows = COUNTRIES.over(["4", "004", "AF"]).rows
    assert rows["4"] == rows["004"] == rows["AF"] == ("Southern Asia", "Southern Asia", "Asia", "*")


def test_states_are_those_of_the_census() -> None:
    bound = STATES.over(STATES.values("code"))
    assert len(bound.rows) == 51 + 5
    assert (len(bound.labels(1)), len(bound.labels(2))) == (9 + 1, 4 + 1)
    assert bound.rows["MA"] == ("New England", "Northeast", "*")
    assert STATES.over(["massachusetts", "25"]).rows["25"] == bound.rows["MA"]


@pytest.mark.parametrize(
    ("code", "labels"),
    [
        ("E11.9", ("E11.-", "E08-E14", "E00-E90")),
        ("e119", ("E11.-", "E08-E14", "E00-E90")),
        ("A00", ("A00.-", "A00-A09", "A00-B99")),
        ("C50", ("C50.-", "C50-C50", "C00-D49")),
        ("M1A.0XX0", ("M1A.-", "M05-M14", "M00-M99")),
        ("D3A", ("D3A.-", "D3A-D3A", "C00-D49")),
        ("U07.1", ("U07.-", "U00-U49", "U00-U85")),
        ("Y99", ("Y99.-", "Y90-Y99", "V00-Y99")),
    ],
)
def test_icd_codes_climb_to_block_and_chapter(code: str, labels: tuple[str, ...]) -> None:
    assert ICD10.over([code]).rows[code] == (*labels, "*")


def test_icd_blocks_lie_in_their_chapters_and_do_not_overlap() -> None:
    blocks = [(row["block"], row["chapter"]) for row in lookup.read_facts("icd10")]
    assert len({chapter for _, chapter in blocks}) == 22
    for block, chapter in blocks:
        assert chapter[:3] <= block[:3] <= block[-3:] <= chapter[-3:]
        assert all(ICD10.over([code]).rows[code][1:3] == (block, chapter) for code in (block[:3], block[-3:]))
    with pytest.raises(InputError, match="2 values are not a code of ICD-10"):
        ICD10.over(["A0", "flu", "A00"])


def test_zip_and_longer_zip_meet() -> None:
    rows = hierarchy.builtin("zip").over(["02139", "02139-4307", "021394307", "021"]).rows
    assert rows["02139"] == rows["02139-4307"] == rows["021394307"] == ("02139*", "021*", "0*", "*")
    assert rows["021"] == ("021", "021*", "0*", "*"), "a code that is shorter joins where its length is shown"
    codes = hierarchy.builtin("codes").over(["SW1A 1AA", "SW1A"]).rows
    assert codes["SW1A 1AA"][3:] == codes["SW1A"][3:] == ("SW1A*", "SW1*", "SW*", "S*", "*")


def test_ages_and_dates_are_intervals() -> None:
    assert hierarchy.builtin("ages").over(["34"]).rows["34"] == ("[30, 35)", "[30, 40)", "[20, 40)", "[0, 40)", "*")
    born = hierarchy.builtin("dates", date_format="%d.%m.%Y").over(["11.02.1984"]).rows["11.02.1984"]
    assert born[:2] == ("[01.02.1984, 01.03.1984)", "[01.01.1984, 01.04.1984)")
    assert born[2:] == ("[01.01.1984, 01.01.1985)", "[01.01.1980, 01.01.1990)", "*")


def test_every_hierarchy_works_and_an_unknown_name_is_refused() -> None:
    for name, facts in BUILTINS.items():
        rule = hierarchy.read(f"builtin:{name}")
        assert rule == hierarchy.builtin(name)
        if facts.examples:
            assert len(rule.over(facts.examples).rows) == len(facts.examples)
    with pytest.raises(UsageError, match=r"'planets' is not a built-in hierarchy\. They are: countries"):
        hierarchy.builtin("planets")


@pytest.mark.parametrize(
    ("column", "values", "found"),
    [
        ("born_in", ["Kenya", "Peru", "France"], "countries"),
        ("country", ["KE", "PE", "FR"], "countries"),
        ("x", ["KE", "PE", "FR"], None),  # short codes may mean anything
        ("state", ["CA", "GA", "IN"], "us-states"),
        ("x", ["Ohio", "Texas", "Utah"], "us-states"),
        ("icd_code", ["A00", "B20", "C50"], "icd-10"),
        ("part", ["A00", "B20", "C50"], None),
        ("country", ["Kenya", "Peru", "Atlantis"], None),
        ("country", ["Kenya", "Peru"], None),
    ],
)
def test_tables_are_recognised_only_without_doubt(column: str, values: list[str], found: str | None) -> None:
    assert matching(column, values) == found


def test_facts_are_small() -> None:
    files = list(Path(lookup.__file__).parent.glob("*.csv"))
    assert len(files) == 3
    assert all(file.stat().st_size < 200_000 for file in files)
