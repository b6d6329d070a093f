"""On DuckDB, Mondrian cuts large segments by counts; the bytes are those of memory, which cuts all tuples at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError
from shoal.methods import sections
from shoal.methods.sections import Cut, Ruling
from shoal.release.counted_tables.duck.groups import DuckFound
from shoal.release.counted_tables.duck.sections import DuckSection
from shoal.release.counted_tables.sections.search import SectionGroups
from shoal.tables.formats.writers import write_csv
from tests.contract.test_dealing import AGES, odd_table
from tests.interface.test_sections_on_disk import (
    GIVEN,
    LARGEST,
    MIXED,
    ZIPS,
    mixed_table,
    searched,
    several_sections,
    wide_table,
    written,
)

__all__ = ["searched", "several_sections"]

CUT = {"method": "mondrian", "effort": None}
RELAXED = CUT | {"options": {"variant": "relaxed"}}


def limited_table(n_rows: int) -> pl.DataFrame:
    """Every wide band of heights and births has rows, none of them missing; some rows ask for a k of their own."""
    table = mixed_table(n_rows).with_row_index("own k")
    heights = pl.when(pl.col("height") == "").then(pl.lit("171.5")).otherwise("height").cast(float).clip(140, 200)
    own_k = pl.when(pl.col("own k") % 50 == 0).then(pl.lit("9")).otherwise(pl.lit(""))
    return table.with_columns(heights.cast(str).alias("height"), own_k.alias("own k"))


ODD, BY_KIND = GIVEN | CUT, MIXED | CUT
CASES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "odd cells, safe ends": (odd_table(1, 900), ODD | {"ends": "safe", "hierarchies": {"Age": AGES}}),
    "numbers, dates, categories": (mixed_table(500), BY_KIND),
    "hierarchy of categories": (mixed_table(500), BY_KIND | {"hierarchies": {"zip": ZIPS}}),
    # Some segments are groups of more tuples than a section should have.
    "large k, keys beyond 64 bits": (
        wide_table(400),
        BY_KIND | {"k": 40, "qi": [f"q{i}" for i in range(12)], "missing": None},
    ),
    "closeness, not closed": (
        mixed_table(500),
        BY_KIND | {"models": [shoal.TCloseness("disease", t=0.15), shoal.GrassbergerLDiversity("disease", l=3)]},
    ),
    "diversity, personal k": (
        odd_table(1, 900),
        ODD | {"k_column": "own k", "drop": ["name", "who"], "models": [shoal.LDiversity("disease", l=10)]},
    ),
    "people with many rows": (
        mixed_table(500).with_columns(who=pl.col("height").str.slice(0, 2) + pl.col("zip").str.slice(0, 1)),
        BY_KIND | {"person": "who", "hierarchies": {"zip": ZIPS}},
    ),
    "people, diversity, personal k": (
        odd_table(1, 900).with_columns(who=pl.col("Age").str.slice(0, 1) + (pl.int_range(900) % 40).cast(pl.String)),
        ODD
        | {"person": "who", "k_column": "own k", "drop": ["name"]}
        | {"models": [shoal.LDiversity("disease", l=10), shoal.PSensitiveK("disease", p=2, k=5)]},
    ),
}
LIMITED: dict[str, dict[str, Any]] = {
    # A window of the hierarchy has several classes of heights; some windows have more tuples than a section.
    "limits of a hierarchy and of bands": {"hierarchies": {"zip": ZIPS}, "coarsest": {"zip": "1", "height": "25"}},
    "widths, beside a personal k and closeness": {
        "max_width": {"born": "25y", "height": "40"},
        "finest": {"born": "year"},
        "k_column": "own k",
        "models": [shoal.TCloseness("disease", t=0.2), shoal.LDiversity("disease", l=2)],
    },
}
# Several segments have values far inside their regions.
CASES["declared domains"] = (
    limited_table(900),
    BY_KIND
    | {"qi": ["height", "born", "zip"], "numeric": ["zip"], "others": "drop"}
    | {"options": {"domains": "height=100:900,zip=-1000:1000"}},
)
# Each window begins with the whole domain; several are cut by counts.
CASES["declared domains inside limits"] = (
    limited_table(900),
    BY_KIND
    | {"qi": ["height", "born", "zip"], "numeric": ["zip"], "others": "drop", "max_width": {"height": "30"}}
    | {"options": {"domains": "height=100:900,zip=-1000:1000"}},
)
CASES |= {name: (limited_table(900), BY_KIND | {"others": "drop"} | given) for name, given in LIMITED.items()}
# The cuts of some attributes would leave regions of few rows.
CASES["cuts through the whole table"] = (
    mixed_table(900).with_columns(pl.col("height").str.slice(0, 3), pl.col("zip").str.slice(1)),
    BY_KIND | {"k": 9, "options": {"variant": "single-dimensional"}, "ends": "safe", "suppression_limit": 0.05},
)


def frequent_table(times: int) -> pl.DataFrame:
    """Many rows have the combinations, diseases and own k of others, so that sections share the rows of some units."""
    return pl.concat([odd_table(1, 400), *[odd_table(1, 400).head(70)] * times])


FREQUENT = frequent_table(5)
BY_ROW: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "relaxed, frequent combinations": (FREQUENT, GIVEN | RELAXED),
    "relaxed, a hierarchy that lends rows": (
        pl.concat([mixed_table(150)] * 5),
        MIXED | RELAXED | {"k": 12, "hierarchies": {"zip": ZIPS}},
    ),
    "relaxed, diversity, personal k": (
        frequent_table(9),
        GIVEN
        | RELAXED
        | {"k_column": "own k", "drop": ["name", "who"], "hierarchies": {"Age": AGES}}
        | {"models": [shoal.LDiversity("z other", l=7)], "sensitive": ["disease", "z other"]}
        | {"insensitive": ["number"]},
    ),
    "relaxed, people, closeness, centres": (
        FREQUENT.with_columns(who=(pl.int_range(pl.len()) % 7).cast(pl.String)),
        GIVEN
        | RELAXED
        | {"person": "who", "drop": ["name", "own k"], "cells": "center", "spread": True}
        | {"models": [shoal.TCloseness("disease", t=0.5)]},
    ),
    "relaxed, a population": (
        FREQUENT,
        GIVEN | RELAXED | {"models": [shoal.KMap(60)], "population": pl.concat([FREQUENT, odd_table(7, 400)])},
    ),
    "relaxed, limits beside a personal k and diversity": (
        pl.concat([*[limited_table(300)] * 4, limited_table(300).head(99)]),
        BY_KIND
        | RELAXED
        | {"k": 12, "others": "drop", "k_column": "own k", "models": [shoal.LDiversity("disease", l=2)]}
        | {"hierarchies": {"zip": ZIPS}, "coarsest": {"zip": "1"}, "max_width": {"height": "40"}},
    ),
}
CASES |= BY_ROW
REFUSED = {"widths, beside a personal k and closeness", "closeness, not closed", "diversity, personal k"}
REFUSED |= {"people, diversity, personal k", "relaxed, diversity, personal k"}
FEW_PEOPLE = {"people with many rows", "people, diversity, personal k"}


@pytest.fixture
def rulings(monkeypatch: pytest.MonkeyPatch) -> list[Ruling]:
    """Of each proposed cut of a large segment, what becomes of it."""
    found: list[Ruling] = []
    rule = DuckSection.rule

    def noted(self: DuckSection, cut: Cut) -> Ruling:
        found.append(rule(self, cut))
        return found[-1]

    monkeypatch.setattr(DuckSection, "rule", noted)
    return found


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of each section, the tuples or units that begin in another one."""
    found: list[int] = []
    add = DuckFound.add

    def noted(self: DuckFound, tuples: pl.DataFrame, groups: SectionGroups) -> None:
        found.append(tuples.filter(pl.col("start") > 0).height if "start" in tuples.columns else 0)
        add(self, tuples, groups)

    monkeypatch.setattr(DuckFound, "add", noted)
    return found


@pytest.mark.parametrize("name", CASES)
def test_release_has_the_bytes_of_memory(
    name: str, searched: list[int], rulings: list[Ruling], shared: list[int], tmp_path: Path
) -> None:
    """Any number of threads, any memory limit, CSV or Parquet, hierarchies, models, people and a personal k."""
    table, given = CASES[name]
    write_csv(table, tmp_path / "source.csv")
    table.write_parquet(tmp_path / "source.parquet")
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    by_number = list(CASES).index(name) % 2  # every case has one of the two
    threads, limit, form = ((1, "500MB", "csv"), (4, "2GB", "parquet"))[by_number]
    options: dict[str, Any] = {"engine": "duckdb", "memory": limit, "threads": threads}
    assert written(tmp_path / f"source.{form}", tmp_path / "out.csv", given, **options) == expected
    assert len(searched) == 1
    assert searched[0] > 2
    assert (Ruling.REFUSED in rulings) == (name in REFUSED)
    assert (Ruling.FEW_PEOPLE in rulings) == (name in FEW_PEOPLE)
    assert (sum(shared) > 0) == (name in BY_ROW)


@pytest.mark.parametrize("name", BY_ROW)
def test_rows_counted_by_duckdb_are_divided_as_in_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single section: its rows are laid out in the order of those in memory, whatever their other columns are."""
    table, given = CASES[name]
    monkeypatch.setattr(sections, "LARGEST_SECTION", table.height)
    write_csv(table, tmp_path / "source.csv")
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    assert written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine="duckdb") == expected


def test_no_stage_has_all_tuples_in_memory(searched: list[int], heights: list[int], tmp_path: Path) -> None:
    """What Python fetches is a segment, or has a row for each cell, or for each sensitive value of a part."""
    table = mixed_table(900).with_columns(pl.col("height").str.slice(0, 3), pl.col("born").str.slice(0, 4))
    write_csv(table, tmp_path / "source.csv")
    given = BY_KIND | {"models": [shoal.LDiversity("disease", l=2)]}
    written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine="duckdb")
    n_tuples = table.select(MIXED["qi"]).n_unique()
    most_cells = sum(table[name].n_unique() for name in MIXED["qi"])
    assert searched[0] >= n_tuples / LARGEST
    assert max(heights) <= max(most_cells, table.height // MIXED["k"]) < n_tuples


def test_goal_that_no_groups_meet_is_refused_as_in_memory(searched: list[int], tmp_path: Path) -> None:
    """A model that is not closed is asked after the cuts: nothing was cut, and the table as one group fails."""
    write_csv(mixed_table(400), tmp_path / "source.csv")
    given = BY_KIND | {"models": [shoal.GrassbergerLDiversity("disease", l="5.5")]}
    with pytest.raises(InfeasibleError, match="mondrian found no groups that pass") as expected:
        written(tmp_path / "source.csv", tmp_path / "out.csv", given)
    with pytest.raises(InfeasibleError) as refusal:
        written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine="duckdb")
    assert str(refusal.value) == str(expected.value)
