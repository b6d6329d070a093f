"""A table that already meets the goal says, checks and refuses all that one below the goal does.

Both tables have the same columns and nearly the same rows: in the table above the goal every combination of
quasi-identifiers occurs k times, in the one below it one row has a value of its own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import Release, Rule
from shoal.errors import ShoalError
from shoal.schema import Kind
from tests.contract.subjects import METHODS, suppression_limit

K = 4
ZIP = shoal.hierarchy.prefixes([4, 2])
UNCHANGED = "the table already meets"
# What only a change can cause: ends of ranges, and what the search did.
OF_A_CHANGE = ("as an end of a range", "that only one row", "no hierarchy: ")  # an unchanged table needs no hierarchies
ROLES: dict[str, Any] = {
    "qi": ["age", "sex", "zip", "seen"],
    "sensitive": ["disease"],
    "insensitive": ["ward"],
    "drop": ["name", "email"],
    "k": K,
}


def people(*, above: bool, n_groups: int = 4) -> pl.DataFrame:
    """Return a table whose groups all have k rows; below the goal, the first row has an age of its own."""
    rows = [
        {
            "age": str(30 + group),
            "sex": "fmFM"[group % 4],  # look-alikes
            "zip": ["02139", "?", "02140", "?"][group % 4],  # a marker that nobody declared
            "seen": f"2020-0{group + 1}-01",
            "disease": ["flu", "cold", "ulcer", "asthma"][row % 4],
            "ward": f"w{group % 2}",
            "name": f"n{(group * K + row) * 3 // 4}",  # nearly unique, but repeats
            "email": f"p{group * K + row}@x.org",
            "own": "2",
        }
        for group in range(n_groups)
        for row in range(K)
    ]
    if not above:
        rows[0]["age"] = "29"
    return pl.DataFrame(rows)


def outcome(above: bool, **settings: Any) -> Release | tuple[type, str]:
    """Return the release, or the error with its text."""
    table = people(above=above)
    others = [settings.get("person"), settings.get("k_column"), *settings.get("insensitive", ())]
    drop = [name for name in ("own", "name", "email") if name not in others]
    try:
        return shoal.anonymize(table, **({**ROLES, "drop": drop} | settings))
    except ShoalError as error:
        return type(error), str(error)


def both(**settings: Any) -> tuple[Release, Release]:
    """Return the releases of the two tables; the first is unchanged, the second is not."""
    above, below = outcome(True, **settings), outcome(False, **settings)
    assert isinstance(above, Release), above
    assert isinstance(below, Release), below
    released = above.text.sort(pl.all()).rows()
    assert released == people(above=True).select(above.text.columns).sort(pl.all()).rows()
    assert below.measures.ncp > 0
    return above, below


def comparable(release: Release) -> list[str]:
    notes = [note for note in release.notes if not note.startswith(UNCHANGED)]
    return sorted(re.sub(r"association [0-9.]+", "", note) for note in notes if not any(w in note for w in OF_A_CHANGE))


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "people": {"person": "email", "method": "mondrian"},
    "repeated people": {"person": "name", "k": 3, "method": "mondrian"},
    "models": {"l": 2, "t": 0.9},
    "personal k": {"k_column": "own"},
    "weights": {"weights": {"age": 2}},
    "derived weights": {"weights": "auto"},
    "rules": {"rules": [Rule("age", range=(0, 32)), Rule("sex", apart=("f", "m"), importance=2)]},
    "ban": {"rules": [Rule("sex", apart=("f", "m"), ban=True)]},
    "accepted": {"accept_unique": ["disease"]},
    "order": {"keep_order": True},
    "snap": {"snap": True},
    "little k": {"k": 2},
    "suppression": {"suppression_limit": 0.01},
    "hierarchy": {"hierarchies": {"zip": ZIP}},
    "missing": {"missing": ["?"]},
    "effort": {"effort": "fast"},
    "sensitive variant": {"method": "mnqia", "options": {"variant": "sensitive"}},
    "full-domain": {"method": "optimal"},
    "all": {"all_qi": True, "sensitive": [], "insensitive": [], "others": "drop", "k": 2},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_both_tables_get_the_same_notes_and_figures(name: str) -> None:
    """C28: apart from the note that nothing was changed."""
    above, below = both(**SETTINGS[name])
    assert comparable(above) == comparable(below)
    assert [note.startswith(UNCHANGED) for note in above.notes].count(True) == 1
    assert not any(note.startswith(UNCHANGED) for note in below.notes)
    assert [column.kind for column in above.schema.columns] == [column.kind for column in below.schema.columns]
    assert above.schema == below.schema
    assert above.request.__dict__ | {"weights": {}} == below.request.__dict__ | {"weights": {}}
    assert set(above.request.weights) == set(below.request.weights)
    assert [verdict.rule for verdict in above.rules] == [verdict.rule for verdict in below.rules]
    assert all(verdict.kept for verdict in above.rules)
    assert (above.levels is None) == (below.levels is None)
    assert set(above.levels or ()) == set(below.levels or ())


def test_what_is_noted() -> None:
    """The table has something to say about each of these; names that repeat beside a unique key are no person key."""
    above, _ = both(weights="auto")
    for words in ("look-alike", "looks like missing values", "nearly the same"):
        assert any(words in note.replace("look like", "looks like") for note in above.notes), words
    assert not any("person=" in note for note in above.notes)


def test_people_are_counted_on_both_sides() -> None:
    """A group of k rows with fewer people is below the goal, however often its rows repeat."""
    table = people(above=True).with_columns(name=pl.Series([f"n{i // 2}" for i in range(16)]))
    made = shoal.anonymize(table, **(ROLES | {"person": "name", "drop": ["email", "own"], "method": "mondrian"}))
    assert not any(note.startswith(UNCHANGED) for note in made.notes)
    assert made.measures.ncp > 0


REFUSED: dict[str, dict[str, Any]] = {
    "rule of no column": {"because": "not a quasi-identifier", "rules": [Rule("nobody", apart=("f", "m"))]},
    "rule of no value": {"because": "not a value of the column", "rules": [Rule("sex", apart=("f", "x"))]},
    "rule of another kind": {"because": "the column is numeric", "rules": [Rule("age", apart=("30", "31"))]},
    "rules unsupported": {
        "because": "does not support rules",
        "rules": [Rule("sex", apart=("f", "m"))],
        "method": "mondrian",
    },
    "ban unsupported": {
        "because": "does not support bans",
        "rules": [Rule("sex", apart=("f", "m"), ban=True)],
        "method": "optimal",
    },
    "weight of no column": {"because": "not a quasi-identifier", "weights": {"nobody": 2}},
    "weight of another role": {"because": "not a quasi-identifier", "weights": {"disease": 2}},
    "weights unsupported": {"because": "does not support weights", "weights": {"age": 2}, "method": "mondrian"},
    "derived weights unsupported": {"because": "does not support weights", "weights": "auto", "method": "mondrian"},
    "people unsupported by a variant": {
        "because": "cannot count people",
        "person": "email",
        "method": "mondrian",
        "options": {"variant": "single-dimensional"},
    },
    "model unsupported": {
        "because": "cannot honour",
        "method": "sbca",
        "models": [{"name": "average-risk", "limit": 0.25}],
    },
    "model of no column": {
        "because": "not among the sensitive",
        "models": [{"name": "entropy-l", "column": "age", "l": 2}],
    },
    "model of domains": {"because": "cannot honour", "method": "mondrian", "options": {"domains": "age=0:100"}, "l": 2},
    "hierarchies unsupported": {
        "because": "does not support hierarchies",
        "method": "mondrian",
        "options": {"variant": "single-dimensional"},
        "hierarchies": {"zip": ZIP},
    },
    "no sensitive column": {
        "because": "needs a sensitive column",
        "method": "mnqia",
        "options": {"variant": "sensitive"},
        "sensitive": [],
        "insensitive": [],
        "others": "drop",
    },
    "level of no column": {
        "because": "not a quasi-identifier",
        "method": "optimal",
        "options": {"maximum": "nobody=1"},
    },
    "value of no column": {
        "because": "not a quasi-identifier",
        "method": "rv-global",
        "options": {"values": {"nobody": [1]}},
    },
    "accepted without need": {"because": "not released unchanged", "accept_unique": ["age"]},
    "hierarchy of no column": {"because": "column has this name", "hierarchies": {"nobody": ZIP}},
    "rare values": {"because": "in fewer than k", "insensitive": ["ward", "name"]},
    "looks like an identifier": {"because": "looks like", "insensitive": ["ward", "email"], "accept_unique": []},
    "personal k that is none": {"because": "is not a positive integer", "k_column": "name"},
    "too few rows": {"because": "cannot be met", "k": 17},
    "too few people": {"because": "rows of only", "k": 5, "person": "ward", "insensitive": [], "method": "mondrian"},
    "population that lacks rows": {"because": "not in the population", "population": people(above=True).head(1)},
    "grid of no column": {"because": "not in the table", "grids": {"nobody": "5"}},
    "kind of no column": {"because": "not in the table", "numeric": ["nobody"]},
}


@pytest.mark.parametrize("name", REFUSED)
def test_both_tables_are_refused_for_the_same_reason(name: str) -> None:
    """C28: what is wrong with the settings does not depend on whether the table meets the goal."""
    settings = dict(REFUSED[name])
    reason = settings.pop("because")
    above, below = outcome(True, **settings), outcome(False, **settings)
    assert isinstance(above, tuple), "released"
    assert isinstance(below, tuple), "released"
    assert above[0] is below[0]
    assert reason in above[1]
    assert drop_counts(above[1]) == drop_counts(below[1])


def drop_counts(text: str) -> str:
    return "".join(letter for letter in text if not letter.isdigit())


LIMITS: dict[str, dict[str, Any]] = {
    "minimum": {"method": "optimal", "options": {"minimum": "sex=1"}},
    "choose": {"method": "rv-global", "options": {"choose": 2}},
}


@pytest.mark.parametrize("name", LIMITS)
def test_options_that_ask_for_more_than_the_goal_are_honoured(name: str) -> None:
    """C28: a level that the user demands is demanded of every table."""
    made = outcome(True, **LIMITS[name])
    assert isinstance(made, Release), made
    assert not any(note.startswith(UNCHANGED) for note in made.notes)
    assert made.measures.ncp > 0


def test_bounds_are_two_columns_in_both() -> None:
    above, below = (outcome(each, cells="bounds") for each in (True, False))
    assert isinstance(above, Release)
    assert isinstance(below, Release)
    assert above.file_text.columns == below.file_text.columns
    assert above.file_text["age_min"].to_list() == above.file_text["age_max"].to_list()
    assert above.measures.ncp == 0


@pytest.mark.parametrize("name", METHODS)
def test_files_beside_the_release_say_the_same(name: str, tmp_path: Path) -> None:
    """Manifest, data dictionary and report have the same keys, columns and kinds for every method."""
    method = METHODS[name]
    limit = suppression_limit(method)
    texts: dict[bool, dict[str, Any]] = {}
    for above in (True, False):
        made = outcome(above, method=method, suppression_limit=limit)
        assert isinstance(made, Release), made
        out = tmp_path / f"{above}.csv"
        made.write(out)
        texts[above] = json.loads(out.with_name(f"{out.name}.manifest.json").read_text())
        texts[above]["dictionary"] = json.loads(out.with_name(f"{out.name}.dictionary.json").read_text())
        if name == "shoaling":
            frame = pl.read_csv(out, infer_schema=False)
            assert shoal.verify(frame, qi=ROLES["qi"], k=K).ok
    assert texts[True].keys() == texts[False].keys()
    assert texts[True]["columns"] == texts[False]["columns"]
    assert [column["kind"] for column in texts[True]["columns"] if "kind" in column] == [
        Kind.NUMERIC,
        Kind.CATEGORICAL,
        Kind.CATEGORICAL,
        Kind.DATE,
    ]
    for one, other in zip(*(texts[above]["dictionary"]["columns"] for above in (True, False)), strict=True):
        assert {key: one[key] for key in one if key not in ("distinct_cells", "loss", "missing")} == {
            key: other[key] for key in other if key not in ("distinct_cells", "loss", "missing")
        }


def test_both_tables_are_alike_where_rows_are_only_counted(tmp_path: Path) -> None:
    """C28: with an engine that counts the rows of a file."""
    releases = []
    for above in (True, False):
        path = tmp_path / f"{above}.csv"
        people(above=above).write_csv(path)
        settings = ROLES | {"drop": ["name", "email", "own"], "method": "optimal", "engine": "duckdb"}
        releases.append(shoal.anonymize(path, **settings, weights={"age": 2}))
        with pytest.raises(shoal.errors.UsageError, match="not a quasi-identifier"):
            shoal.anonymize(path, **settings, weights={"nobody": 2})
    one, other = releases
    assert [note for note in one.notes if note.startswith(UNCHANGED)]
    places = {str(tmp_path / f"{above}.csv"): "file" for above in (True, False)}

    def notes(release: Release) -> list[str]:
        return [
            note.replace(path, name) for note in comparable(release) for path, name in places.items() if path in note
        ] + [note for note in comparable(release) if not any(path in note for path in places)]

    assert notes(one) == notes(other)
    assert one.schema == other.schema
    assert one.levels == dict.fromkeys(ROLES["qi"], 0)


def test_cells_that_are_released_already_stay_as_they_are() -> None:
    """C28: a release of a release with the settings of the first one; a note says what could not be read."""
    first = outcome(False)
    assert isinstance(first, Release)
    settings = ROLES | {"drop": [], "numeric": ["age"], "dates": ["seen"]}
    second = shoal.anonymize(first.text, **settings)
    assert second.text.write_csv() == first.text.write_csv()
    assert any("only compared as text" in note for note in second.notes)
    with pytest.raises(shoal.errors.InputError, match="declared numeric"):
        shoal.anonymize(first.text, **settings, rules=[Rule("sex", apart=("f", "m"))])
