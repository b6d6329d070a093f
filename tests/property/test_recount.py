"""Random tables, settings and methods: every release that is written is recounted by another checker.

CI draws a sample; the nightly run sets SHOAL_TABLES to more, and the profile of hypothesis draws other ones each night.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InfeasibleError, InputError, UsageError
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.base import over_values
from shoal.schema import Column, Role
from tests.contract.subjects import METHODS
from tests.naive import models as naive
from tests.naive.cells import plain
from tests.naive.recount import Promise, Row, recount
from tests.strategies import Sheet, odd_sheets

TABLES = int(os.environ.get("SHOAL_TABLES", "150"))
FORMATS = (".csv", ".csv", ".csv", ".csv.gz", ".parquet")
outcomes: Counter[str] = Counter()

NAMES = st.one_of(
    st.sampled_from(["a b", "é", "*", "x_min", "=1", "'=1", 'say "x"', "a,b", "a;b", "a\nb", "[red]", "\x1b[1m", "🐟"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6),
)


@dataclass(frozen=True)
class Wish:
    """A table, what is asked for it, and what the release then promises."""

    sheet: Sheet
    options: dict[str, Any]
    promise: Promise
    ending: str
    extra: dict[str, list[str]] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, list[str]]:
        return self.sheet.columns | self.extra

    @property
    def rows(self) -> list[Row]:
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]


@st.composite
def wishes(draw: st.DrawFn) -> Wish:
    """Draw a table with people, sensitive and dropped columns, hierarchies, models, and anything that can be asked."""
    sheet = _renamed(draw, draw(odd_sheets(max_rows=draw(st.sampled_from((8, 16, 24))), max_columns=3)))
    n_rows, extra = sheet.n_rows, {}
    options: dict[str, Any] = {**sheet.arguments, "sensitive": sheet.sensitive}
    facts: dict[str, Any] = {"kinds": sheet.kinds, "unchanged": sheet.sensitive, "missing": ("", *sheet.missing)}
    most = n_rows + (draw(st.integers(0, 7)) == 0)  # now and then more than the table has rows
    facts["k"] = options["k"] = draw(st.integers(2, max(2, min(6, most))))
    method = options["method"] = METHODS[draw(st.sampled_from(sorted(METHODS)))]
    if draw(st.booleans()):
        extra["dropped"] = [f"n{i}" for i in range(n_rows)]
        options["drop"] = ["dropped"]
    if draw(st.integers(0, 3)) == 0:
        n_people = max(1, n_rows // draw(st.sampled_from((1, 2, 3))))
        extra["person"] = draw(st.permutations([f"p{i % n_people}" for i in range(n_rows)]))
        facts["person"] = options["person"] = "person"
    if draw(st.integers(0, 4)) == 0:
        extra["own k"] = draw(st.lists(st.sampled_from(["1", "2", "3", ""]), min_size=n_rows, max_size=n_rows))
        facts["own_k"] = options["k_column"] = "own k"
    if sheet.sensitive and draw(st.integers(0, 2)) == 0:
        model, fails = draw(st.sampled_from(_models(sheet)))
        options["models"], facts["fails"] = [model], [fails]
    if draw(st.integers(0, 2)) == 0:
        rules = {name: rule for name in sheet.qi if (rule := _hierarchy(draw, sheet, name)) is not None}
        options["hierarchies"] = rules
        facts["paths"] = {name: rule.rows for name, rule in rules.items()}
    facts["limit"] = options["suppression_limit"] = draw(
        st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(method.name == "datafly")])
    )
    for name, key in (("keep_order", "in_order"), ("spreadsheet_safe", "safe"), ("snap", "")):
        if draw(st.integers(0, 5)) == 0:
            options[name] = True
            facts |= {key: True} if key else {}
    if draw(st.integers(0, 7)) == 0:
        options["cells"], facts["bounded"] = "bounds", True
    if draw(st.integers(0, 7)) == 0:
        options["weights"] = draw(st.sampled_from(["auto", {sheet.qi[0]: 2.5}]))
    return Wish(sheet, options, Promise(**facts), draw(st.sampled_from(FORMATS)), extra)


def _renamed(draw: st.DrawFn, sheet: Sheet) -> Sheet:
    """Give some columns odd names."""
    names = {name: draw(NAMES) if draw(st.integers(0, 3)) == 0 else name for name in sheet.names}
    if len({*names.values(), "dropped", "person", "own k"}) < len(names) + 3:
        return sheet
    cells = {names[name]: column for name, column in sheet.columns.items()}
    return Sheet(cells, {names[name]: kind for name, kind in sheet.kinds.items()}, sheet.missing)


def _hierarchy(draw: st.DrawFn, sheet: Sheet, name: str) -> Hierarchy | None:
    """Draw a hierarchy over the values of a column: labels of one or two levels, then the root."""
    markers = ("", *sheet.missing)
    values = sorted({plain(cell) for cell in sheet.columns[name]} - set(markers))
    if sheet.kinds[name] != "categorical" or not values or draw(st.booleans()):
        return None
    labels = {value: f"label {draw(st.integers(0, 2))}" for value in values}
    paths = {value: (labels[value], "*") for value in values}
    try:
        tree = Hierarchy(paths)
        return over_values(tree, [*values, ""], Column(name, Role.QI), column=name, missing=markers)
    except InputError:  # a value equals a label, or has the form of one that does not contain it
        return None


Fails = Callable[[list[Row], list[Row]], bool]


def _models(sheet: Sheet) -> list[tuple[Any, Fails]]:
    """Return models of the first sensitive column, each with its meaning in plain Python."""
    name = sheet.sensitive[0]
    markers = ("", *sheet.missing)

    def of(rows: list[Row]) -> list[object]:
        return [None if (text := plain(row[name])) in markers else text for row in rows]

    half = Fraction(1, 2)
    return [
        (shoal.LDiversity(name, l=2), lambda group, every: naive.fails_distinct(of(group), 2)),
        (shoal.LDiversity(name, l=3), lambda group, every: naive.fails_distinct(of(group), 3)),
        (shoal.EntropyLDiversity(name, l="1.5"), lambda group, every: naive.fails_entropy(of(group), Fraction(3, 2))),
        (shoal.AlphaK(name, alpha=half, k=1), lambda group, every: naive.fails_alpha_k(of(group), half, 1)),
        (
            shoal.TCloseness(name, t=half, distance="equal"),
            lambda group, every: naive.equal_distance(of(group), of(every)) > half,
        ),
    ]


@settings(max_examples=TABLES)
@given(wish=wishes())
def test_every_release_keeps_its_promise(wish: Wish) -> None:
    """C01, C03, C04, C05, C06, C15: whatever the table and the settings, by every method; or a known refusal."""
    import polars as pl

    frame = pl.DataFrame(wish.columns, schema=dict.fromkeys(wish.columns, pl.String))
    try:
        release = shoal.anonymize(frame, **wish.options)
    except (UsageError, InputError, InfeasibleError) as error:
        outcomes[type(error).__name__] += 1
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"release{wish.ending}"
        try:
            release.write(path)
        except UsageError:
            outcomes["not written"] += 1
            return
        outcomes["released"] += 1
        assert recount(path, wish.rows, release.file_rows.tolist(), wish.promise) == []
        manifest = json.loads(Path(f"{path}.manifest.json").read_text())
    assert manifest["k"] >= wish.promise.k
    assert manifest["measures"]["rows"] == len(release.file_rows)


def test_most_tables_are_released() -> None:
    """The sample tells something: it is not all refusals. Runs after the test above, in the same process."""
    if sum(outcomes.values()) < min(TABLES, 100):
        pytest.skip("the releases were made by another process")
    assert outcomes["released"] > 0.4 * sum(outcomes.values()), outcomes


ROWS = [{"age": str(20 + i // 3), "sex": "fm"[i // 3 % 2], "ill": "ab"[i % 3 // 2]} for i in range(12)]
PROMISE = Promise({"age": "numeric", "sex": "categorical"}, ["ill"], 3)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: rows[:-1],
        lambda rows: [*rows[:-1], {**rows[-1], "ill": "c"}],
        lambda rows: [*rows[:-1], {**rows[-1], "age": "24"}],
        lambda rows: [*rows[:-1], {**rows[-1], "age": "[10, 12]"}],
        lambda rows: [*rows[:-1], {**rows[-1], "sex": "{f, x}"}],
        lambda rows: rows[::-1],
        lambda rows: [{**row, "name": "x"} for row in rows],
    ],
)
def test_checker_finds_faults(spoil: Callable[[list[Row]], list[Row]], tmp_path: Path) -> None:
    """A checker that accepts everything would prove nothing."""

    def write(rows: list[Row]) -> Path:
        path = tmp_path / "release.csv"
        lines = [list(rows[0]), *(list(row.values()) for row in rows)]
        path.write_text("".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines))
        return path

    assert recount(write(list(ROWS)), ROWS, range(12), PROMISE) == []
    spoiled = spoil(list(ROWS))
    assert recount(write(spoiled), ROWS, range(len(spoiled)), PROMISE) != []
