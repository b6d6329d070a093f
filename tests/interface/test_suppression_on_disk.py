"""Suppression in tables of several sections: DuckDB keeps tuples and groups on disk, and gives the bytes of memory."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.methods import sections
from shoal.methods.suppression.leaving import Bound
from shoal.release.counted_tables.duck.groups import DuckFound
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.release.counted_tables.duck.suppression import DuckHeld
from shoal.release.counted_tables.sections.suppression import SectionSuppression
from shoal.tables.formats.writers import write_csv
from tests.interface.test_sections_on_disk import LARGEST, LEAST_SQUARES, written

QI = ["age", "pay", "job"]


def table_with_outliers(n_rows: int = 600, n_values: int = 60, far: int = 5) -> pl.DataFrame:
    """Numbers and categories; a few rows are far from all others, some in company and some alone."""
    draw = random.Random(8)
    ages = [draw.randrange(20, 20 + n_values) + 400 * (i < far) for i in range(n_rows)]
    pays = [round(draw.expovariate(1 / 2000)) + 90_000 * (far <= i < 2 * far) for i in range(n_rows)]
    return pl.DataFrame(
        {
            "age": map(str, ages),
            "pay": [str(pay // 100) for pay in pays],
            "job": [f"job {draw.randrange(4) + 5 * (i % 90 == 7)}" for i in range(n_rows)],
            "disease": [f"d{draw.randrange(4)}" for _ in range(n_rows)],
            "note": [f"n{draw.randrange(200)}" for _ in range(n_rows)],
        }
    )


def with_ks_and_people(table: pl.DataFrame, greedy: int = 0) -> pl.DataFrame:
    """Some rows ask for more than k others, a few for more than there are; some people have several rows."""
    draw = random.Random(3)
    ks = [str(table.height + 1 if i < greedy else draw.choice(["", "", "", 3, 9])) for i in range(table.height)]
    return table.with_columns(own=pl.Series(ks), who=pl.Series([f"w{i * 4 // 5}" for i in range(table.height)]))


def tied_table() -> pl.DataFrame:
    """Groups of one age; three of them have a row whose pay no other group has."""
    rows = [(age, 1000 if i == 0 and age in (20, 150, 280) else 7) for age in range(300) for i in range(7)]
    rest = {"job": "job", "disease": "d0", "note": "n0"}
    columns = {"age": [str(age) for age, _ in rows], "pay": [str(pay) for _, pay in rows]}
    return pl.DataFrame(columns).with_columns(pl.lit(text).alias(name) for name, text in rest.items())


JOBS = hierarchy.from_dict({f"job {i}": [f"jobs {i // 3}", "any"] for i in range(9)})
GIVEN: dict[str, Any] = {
    "k": 4,
    "effort": "fast",
    "seed": 2,
    "qi": QI,
    "numeric": ["age", "pay"],
    "sensitive": ["disease"],
    "insensitive": ["note"],
    "accept_unique": ["note"],
    "suppression_limit": "0.02",
}
CASES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "sizes alone": (table_with_outliers(), GIVEN),
    "one row": (table_with_outliers(), GIVEN | {"suppression_limit": "0.0017"}),
    "many rows of a tuple": (table_with_outliers(1500, 6), GIVEN | {"qi": ["age", "job", "pay"], "k": 7}),
    "weights, bans": (
        table_with_outliers(),
        GIVEN | {"weights": {"age": 3}, "rules": [{"column": "age", "inflection": [40, 41], "ban": True}]},
    ),
    "ranges that do not overlap": (table_with_outliers(), GIVEN | {"options": {"non_overlapping": True}, "k": 7}),
    "diversity": (table_with_outliers(), GIVEN | {"models": [shoal.LDiversity("disease", l=3)]}),
    "personal k": (with_ks_and_people(table_with_outliers()), GIVEN | {"k_column": "own", "drop": ["who"]}),
    "personal k above the rows, closeness": (
        with_ks_and_people(table_with_outliers(), greedy=3),
        GIVEN | {"k_column": "own", "drop": ["who"], "models": [shoal.TCloseness("disease", t=0.45)]},
    ),
    "least squares, personal k above the rows": (
        with_ks_and_people(table_with_outliers(), greedy=3),
        GIVEN | {"k": 9, "k_column": "own", "drop": ["who"], "options": LEAST_SQUARES, "cells": "center"},
    ),
    "all that may leave ask for too much": (
        with_ks_and_people(table_with_outliers(), greedy=12),
        GIVEN | {"k_column": "own", "drop": ["who"]},
    ),
    "people": (with_ks_and_people(table_with_outliers()), GIVEN | {"person": "who", "drop": ["own"]}),
    "people, personal k and diversity": (
        with_ks_and_people(table_with_outliers(), greedy=2),
        GIVEN | {"person": "who", "k_column": "own", "models": [shoal.LDiversity("disease", l=2)]},
    ),
    "medians and their spread": (
        with_ks_and_people(table_with_outliers()),
        GIVEN | {"cells": "center", "center": "median", "spread": True, "k_column": "own", "drop": ["who"]},
    ),
    "limits": (table_with_outliers(), GIVEN | {"k": 7, "max_width": {"age": "100"}}),
    "limits that no row must leave, personal k": (
        with_ks_and_people(table_with_outliers()),
        GIVEN | {"max_width": {"age": "500"}, "k_column": "own", "drop": ["who"]},
    ),
    "limits for those whose personal k is not above the rows": (
        with_ks_and_people(table_with_outliers(), greedy=3),
        GIVEN | {"k": 5, "max_width": {"age": "100", "job": "2"}, "k_column": "own", "drop": ["who"]},
    ),
    "limits for people whose personal k is not above the rows": (
        with_ks_and_people(table_with_outliers(), greedy=3),
        GIVEN | {"k": 5, "max_width": {"age": "100"}, "k_column": "own", "person": "who"},
    ),
    "limits and closeness": (
        table_with_outliers(),
        GIVEN | {"k": 7, "max_width": {"pay": "400"}, "models": [shoal.TCloseness("disease", t=0.5)]},
    ),
    "closeness": (table_with_outliers(), GIVEN | {"models": [shoal.TCloseness("disease", t=0.4)]}),
}

CUT = GIVEN | {"method": "mondrian", "effort": None}
LONE = table_with_outliers(far=1)  # two rows, not near each other
CASES |= {
    "mondrian": (LONE, CUT),
    "mondrian, one row": (LONE, CUT | {"suppression_limit": "0.0017"}),
    # Three slices in different sections save the same; the limit has room for two.
    "mondrian, ties": (tied_table(), CUT | {"qi": ["age", "pay"], "drop": ["job"], "suppression_limit": "0.001"}),
    "mondrian, many rows of a tuple": (
        table_with_outliers(1500, 6),
        CUT | {"qi": ["age", "job", "pay"], "k": 7, "hierarchies": {"job": JOBS}},
    ),
    "mondrian, closeness": (LONE, CUT | {"models": [shoal.TCloseness("disease", t=0.4)]}),
    # The rows that leave before the search are enough to move medians.
    "mondrian, personal k above the rows": (
        with_ks_and_people(table_with_outliers(), greedy=30),
        CUT | {"k_column": "own", "drop": ["who"], "suppression_limit": "0.07"},
    ),
    "mondrian, people, personal k above the rows, diversity": (
        with_ks_and_people(table_with_outliers(), greedy=30),
        CUT
        | {"person": "who", "k_column": "own", "suppression_limit": "0.07"}
        | {"models": [shoal.LDiversity("disease", l=2)]},
    ),
    "mondrian, a population": (
        LONE,
        CUT | {"models": [shoal.KMap(9)], "population": pl.concat([LONE, LONE])},
    ),
    # Sections share combinations.
    "relaxed, many rows of a tuple": (
        table_with_outliers(1500, 6),
        CUT | {"options": {"variant": "relaxed"}, "qi": ["age", "job", "pay"], "k": 7},
    ),
    "relaxed, people, personal k above the rows, diversity": (
        with_ks_and_people(table_with_outliers(), greedy=3),
        CUT
        | {"options": {"variant": "relaxed"}, "person": "who", "k_column": "own"}
        | {"models": [shoal.LDiversity("disease", l=2)]},
    ),
    # Some rows are too far from all others.
    "mondrian, limits": (table_with_outliers(), CUT | {"k": 7, "max_width": {"age": "100"}}),
    "mondrian, limits, personal k and closeness": (
        with_ks_and_people(table_with_outliers()),
        CUT
        | {"k": 7, "max_width": {"age": "100", "pay": "400"}, "k_column": "own", "drop": ["who"]}
        | {"models": [shoal.TCloseness("disease", t=0.4)]},
    ),
    "mondrian, limits and declared domains": (
        table_with_outliers(),
        CUT
        | {"k": 7, "qi": ["age", "pay"], "drop": ["job"], "max_width": {"age": "100"}}
        | {"options": {"domains": "age=0:2000,pay=-100:2000"}},
    ),
}


@pytest.fixture(autouse=True)
def several_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", LARGEST)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The number of sections of each search on disk, and of those that rows leave."""
    found: list[tuple[int, int]] = []
    search = DuckSearcher.search_sections

    def noted(self: DuckSearcher, *given: Any) -> DuckFound:
        groups = search(self, *given)
        found.append((len(groups.parts), len(groups.left_out)))
        return groups

    monkeypatch.setattr(DuckSearcher, "search_sections", noted)
    return found


@pytest.mark.parametrize(("table", "given"), CASES.values(), ids=CASES)
def test_release_has_the_bytes_of_memory(
    table: pl.DataFrame, given: dict[str, Any], searched: list[tuple[int, int]], tmp_path: Path
) -> None:
    """So do its manifest and the measures; the gate sees the rows that were left out."""
    write_csv(table, tmp_path / "source.csv")
    expected = written(tmp_path / "source.csv", tmp_path / "out.csv", given)
    stated = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    n_left_out = table.height - (len(expected.splitlines()) - 1)
    assert 1 <= n_left_out <= float(given["suppression_limit"]) * table.height
    found = written(tmp_path / "source.csv", tmp_path / "out.csv", given, threads=3, engine="duckdb")
    assert found == expected
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert {name: manifest[name] for name in ("measures", "suppressed_rows")} == {
        name: stated[name] for name in ("measures", "suppressed_rows")
    }
    assert len(searched) == 1
    assert searched[0][0] > 2
    assert searched[0][1] >= 1


@pytest.mark.parametrize(
    "name", ["sizes alone", "mondrian, limits and declared domains", "relaxed, many rows of a tuple"]
)
def test_release_of_a_closed_source_and_its_copy(name: str, searched: list[tuple[int, int]], tmp_path: Path) -> None:
    """Rows in the order of the source; measures are those of memory, and a copy searches again."""
    table, given = CASES[name]
    given = {each: value for each, value in given.items() if value is not None}
    write_csv(table, tmp_path / "source.csv")
    expected = shoal.anonymize(tmp_path / "source.csv", keep_order=True, **given)
    expected.write(tmp_path / "out.csv")
    release = shoal.anonymize(tmp_path / "source.csv", keep_order=True, engine="duckdb", threads=1, **given)
    assert release.measures == expected.measures
    assert release.measures.sse == pytest.approx(expected.measures.sse)
    assert release.measures.suppressed_rows >= 1
    for each in (release, pickle.loads(pickle.dumps(release))):
        each.write(tmp_path / "on disk.csv", force=True)
        assert (tmp_path / "on disk.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert len(searched) == 2


def test_no_row_leaves_if_groups_would_fail_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups are compared with the distribution of the release; the groups before outliers left are released."""
    write_csv(table_with_outliers(), tmp_path / "source.csv")
    seen: list[int] = []
    given = CASES["diversity"][1]
    expected = written(tmp_path / "source.csv", tmp_path / "out.csv", given | {"suppression_limit": None})

    def fails(self: DuckHeld, bounds: list[Bound], totals: list[Any]) -> bool:
        seen.append(sum(int(own.sum()) for own in totals))
        return False

    monkeypatch.setattr(DuckHeld, "pass_then", fails)
    found = written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine="duckdb")
    assert found == expected
    assert 588 <= seen[0] < 600


def test_no_stage_has_all_entries_in_memory(
    heights: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What DuckDB adds up over all sections has a row for each sum or section; files are private and go away."""
    table = table_with_outliers()
    write_csv(table, tmp_path / "source.csv")
    modes: set[int] = set()
    show = SectionSuppression.show

    def shown(self: SectionSuppression, held: pl.DataFrame, bound: Bound) -> Any:
        heights.append(held.height)
        modes.update(path.stat().st_mode & 0o777 for path in tmp_path.rglob("held-*/*"))
        return show(self, held, bound)

    monkeypatch.setattr(SectionSuppression, "show", shown)
    written(tmp_path / "source.csv", tmp_path / "out.csv", GIVEN, engine="duckdb")
    n_tuples = table.select(QI).n_unique()
    most_cells = sum(table[name].n_unique() for name in table.columns)
    assert max(heights) <= max(table.height // GIVEN["k"], most_cells) < n_tuples
    assert modes == {0o600}
    assert not list(tmp_path.rglob("held-*"))
