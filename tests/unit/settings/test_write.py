"""shoal.toml out: the reader returns what was written."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shoal import hierarchy
from shoal.rules import Rule
from shoal.settings.read import read_config
from shoal.settings.settings import FIELDS, SIGNOFF, Settings
from shoal.settings.write import to_toml

COMPLETE = Settings(
    k=5,
    l=2,
    t=0.2,
    models=({"name": "k-map", "k": 3}, {"name": "entropy-l", "column": "disease", "l": 1.8}),
    k_column="own",
    population="people.csv",
    suppression_limit=0.02,
    constraints=({"column": "race", "apart": [["a"], ["b", "c"]], "importance": 2},),
    weights={"age": 2.5},
    all_qi=False,
    qi=("age", "a.b", 'zi"p', "born", "size", "smokes"),
    sensitive=("disease",),
    insensitive=("weight",),
    drop=("na me",),
    person="é",
    others="drop",
    numeric=("age",),
    categorical=("a.b",),
    dates={"born": "%d.%m.%Y"},
    boolean=("smokes",),
    ordered={"size": ("S", "M", "L")},
    units={"age": "# years"},
    missing=("?", "\x7f\n\t\\"),
    method="optimal",
    effort="fast",
    options={"maximum": {"age": 2}, "values": [0.5, 1], "subsets": True},
    target="disease",
    seed=3,
    delimiter="\t",
    encoding="cp1252",
    header=False,
    sheet="2024",
    duplicate_columns="number",
    decimal=",",
    thousands=".",
    accept_unique=("weight",),
    other_hierarchies="auto",
    hierarchies={"age": hierarchy.intervals(widths=[5, 10]), "a.b": "h/a.csv", 'zi"p': hierarchy.prefixes(lengths=[2])},
    trust_hierarchies=True,
    unknown="top",
    ends="round",
    snap=True,
    grids={"age": "5", "born": "year"},
    recode={"age": "bottom:1%,top:90"},
    max_width={"age": "10", "born": "5y"},
    finest={"born": "month"},
    coarsest={"a.b": "2"},
    uniform={'zi"p': "1"},
    cells="center",
    center="median",
    spread=True,
    spreadsheet_safe=True,
    output_delimiter=";",
    output_decimal=",",
    signoff={"who": "Ann", "when": "2026-11-16"},
    kinds={"disease": "categorical"},
)


def read_again(folder: Path, settings: Settings) -> Settings:
    path = folder / "shoal.toml"
    path.write_text(to_toml(settings), encoding="utf-8")
    return read_config(path)


def test_the_example_sets_every_field() -> None:
    for each in FIELDS:
        assert getattr(COMPLETE, each.name) not in (None, (), {}), each.name


def test_every_setting_returns(tmp_path: Path) -> None:
    again = read_again(tmp_path, COMPLETE)
    for each in FIELDS:
        expected: Any = getattr(COMPLETE, each.name)
        if each.name == "population":
            expected = tmp_path / expected
        if each.name == "hierarchies":
            expected = {**expected, "a.b": tmp_path / "h/a.csv"}
        assert getattr(again, each.name) == expected, each.name


def test_nothing_set_is_an_empty_file(tmp_path: Path) -> None:
    assert to_toml(Settings()) == ""
    assert read_again(tmp_path, Settings()) == Settings()


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)


@given(
    names=st.lists(TEXTS.filter(bool), min_size=1, max_size=4, unique=True),
    missing=st.lists(TEXTS, max_size=3),
    lines=st.dictionaries(st.sampled_from(SIGNOFF), TEXTS, max_size=3),
    value=st.one_of(TEXTS, st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)),
)
def test_any_text_returns(
    tmp_path_factory: Any, names: list[str], missing: list[str], lines: dict[str, str], value: object
) -> None:
    settings = Settings(
        qi=tuple(names), missing=tuple(missing), signoff=lines, options=dict.fromkeys(names, value), weights="auto"
    )
    assert read_again(tmp_path_factory.mktemp("toml"), settings) == settings


def test_values_of_python_become_plain(tmp_path: Path) -> None:
    settings = Settings(
        suppression_limit=Fraction(1, 50),  # type: ignore[arg-type]
        weights={"age": Fraction(2), "sex": Fraction(5, 2)},
        constraints=(Rule("race", apart=({"b", "a"}, {"c"})),),
        options={"order": ("x", "y")},
    )
    again = read_again(tmp_path, settings)
    assert (again.suppression_limit, again.weights) == (0.02, {"age": 2, "sex": 2.5})
    assert again.options == {"order": ["x", "y"]}
    assert again.constraints == ({"column": "race", "apart": [["a", "b"], ["c"]], "importance": 1, "ban": False},)


def test_comments_stand_above_their_keys() -> None:
    settings = Settings(k=5, qi=("age", "zip"), hierarchies={"zip": object()})
    text = to_toml(settings, header=["head"], comments={"k": ["the k"], "columns.age": ["years"], "rules": ["hidden"]})
    lines = text.splitlines()
    assert lines[0] == "# head"
    assert lines[lines.index("k = 5") - 1] == "# the k"
    assert lines[lines.index("[columns.age]") - 1] == "# years"
    assert lines[lines.index("[columns.zip]") - 1] == "# hierarchy: made in Python; pass the same one again"
    assert "# hidden" in lines


def test_order_of_columns() -> None:
    text = to_toml(Settings(qi=("a", "b"), drop=("c",)), columns=["c", "b", "b", "absent"])
    assert [line for line in text.splitlines() if line.startswith("[")] == ["[columns.c]", "[columns.b]", "[columns.a]"]


def test_settings_are_not_changed() -> None:
    before = dataclasses.replace(COMPLETE)
    to_toml(COMPLETE)
    assert before == COMPLETE
