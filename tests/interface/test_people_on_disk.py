"""On DuckDB, the people of a table of several sections are counted on disk; the bytes are those of memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError
from shoal.methods import sections
from shoal.release import notes
from shoal.report import figures
from shoal.risks.estimate import Risk, estimate
from shoal.tables.formats import blocks
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources import numbering
from shoal.tables.sources.duck import people
from shoal.verification.gate_streamed import tallies
from tests.contract.test_dealing import AGES, odd_table
from tests.interface import test_sections_on_disk
from tests.interface.test_mondrian_on_disk import limited_table
from tests.interface.test_sections_on_disk import GIVEN, LARGEST, MIXED, mixed_table, written

searched = test_sections_on_disk.searched
several_sections = test_sections_on_disk.several_sections
OF_PEOPLE: dict[str, Any] = {"person": "who", "drop": ["name", "own k"]}


def with_odd_ids(table: pl.DataFrame) -> pl.DataFrame:
    """Write ids in several ways: with outer blanks, missing, composed or not, with leading zeros."""
    draw = random.Random(4)

    def spelled(number: int) -> str:
        if number % 9 == 0:
            return draw.choice(["", "NULL", " NULL", "  "])
        name = [f"w{number}", f"w0{number}", f"m\u00fcller{number}", f"mu\u0308ller{number}"][number % 4]
        return draw.choice([name, name, f" {name}", f"{name}\u00a0"])

    ids = [spelled(draw.randrange(max(8, table.height // 3)) // 2) for _ in range(table.height)]
    return table.with_columns(who=pl.Series(ids))


CASES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "people": (odd_table(1, 300), GIVEN | OF_PEOPLE | {"effort": "normal"}),
    "odd ids, a hierarchy and diversity": (
        with_odd_ids(odd_table(1, 300)),
        GIVEN | OF_PEOPLE | {"hierarchies": {"Age": AGES}, "models": [shoal.LDiversity("disease", l=3)]},
    ),
    "odd ids, own k and closeness": (
        with_odd_ids(odd_table(2, 300)),
        GIVEN
        | {"person": "who", "k_column": "own k", "drop": ["name"], "models": [shoal.TCloseness("disease", t=0.4)]},
    ),
    "numbers, dates, categories": (with_odd_ids(mixed_table(300)), MIXED | {"person": "who"}),
    "centres, suppression and diversity": (
        with_odd_ids(mixed_table(300)),
        MIXED
        | {
            "person": "who",
            "cells": "center",
            "spread": True,
            "suppression_limit": 0.05,
            "models": [shoal.LDiversity("disease", l=2)],
        },
    ),
    "mondrian, medians, own k": (
        with_odd_ids(odd_table(1, 300)),
        GIVEN
        | {"method": "mondrian", "effort": None, "cells": "center", "center": "median", "spread": True}
        | {"person": "who", "k_column": "own k", "drop": ["name"]},
    ),
    "a limit, own k": (
        odd_table(1, 900),
        GIVEN | {"max_width": {"Age": "20"}, "person": "who", "k_column": "own k", "drop": ["name"]},
    ),
    "limits, suppression and diversity": (
        with_odd_ids(limited_table(300)).drop("own k"),
        MIXED
        | {
            "k": 4,
            "max_width": {"height": "30", "born": "20y"},
            "coarsest": {"height": "20"},
            "person": "who",
            "suppression_limit": 0.05,
            "models": [shoal.LDiversity("disease", l=2)],
        },
    ),
    "mondrian, limits and diversity": (
        with_odd_ids(limited_table(300)).drop("own k"),
        MIXED
        | {"method": "mondrian", "effort": None, "person": "who", "models": [shoal.LDiversity("disease", l=2)]}
        | {"max_width": {"born": "40y"}, "coarsest": {"height": "60"}, "finest": {"born": "year"}},
    ),
}


@pytest.mark.parametrize(("table", "given"), CASES.values(), ids=CASES)
def test_release_has_the_bytes_of_memory(
    table: pl.DataFrame, given: dict[str, Any], searched: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids as numbers, or as texts that Python normalises a few at a time; any threads, any memory limit."""
    write_csv(table, tmp_path / "source.csv")
    table.write_parquet(tmp_path / "source.parquet")
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    monkeypatch.setattr(people, "SLICE_ROWS", 7)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 5_000)  # a column becomes text when a further block is read
    monkeypatch.setattr(tallies, "MOST_RUNS", 100)
    for threads, limit, form, most in ((1, "500MB", "csv", 5), (4, "2GB", "parquet", numbering.MOST_TEXTS)):
        monkeypatch.setattr(numbering, "MOST_TEXTS", most)
        options: dict[str, Any] = {"engine": "duckdb", "memory": limit, "threads": threads}
        assert written(tmp_path / f"source.{form}", tmp_path / "out.csv", given, **options) == expected
    assert len(searched) == 2
    assert searched[0] == searched[1] > 2


@pytest.mark.parametrize(
    "more",
    [{}, {"cells": "center", "spread": True, "recode": {"height": "bottom:5%,top:90%"}}],
    ids=["ranges", "centres and outliers"],
)
def test_no_stage_has_all_people_in_memory(
    more: dict[str, Any], searched: list[int], heights: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Python fetches from DuckDB or gives it is a section, or has a row for each cell or group."""
    table = mixed_table(500).with_columns(pl.col("height").str.slice(0, 3), pl.col("born").str.slice(0, 4))
    table = table.with_columns(who=pl.Series([f"w{i * 2 // 3}" for i in range(500)]).shuffle(3))
    write_csv(table, tmp_path / "source.csv")
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 5_000)
    monkeypatch.setattr(numbering, "MOST_TEXTS", 200)
    monkeypatch.setattr(notes, "SAMPLE_ROWS", 100)  # rows that are looked at for revealing columns
    written(tmp_path / "source.csv", tmp_path / "out.csv", MIXED | {"person": "who"} | more, engine="duckdb")
    most_cells = sum(table[name].n_unique() for name in MIXED["qi"])
    assert searched[0] >= 500 / LARGEST
    assert max(heights) <= max(most_cells, 500 // MIXED["k"]) < table["who"].n_unique()


@pytest.mark.parametrize("n_people", [2, 5])
def test_too_few_people_are_refused_as_in_memory(n_people: int, tmp_path: Path) -> None:
    """Fewer than k, or than another model needs."""
    table = mixed_table(300).with_columns(who=pl.Series([f"w{i % n_people}" for i in range(300)]))
    write_csv(table, tmp_path / "source.csv")
    given = MIXED | {"person": "who", "models": [shoal.MaximalRisk(0.1)]}
    refusals = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(InfeasibleError) as refused:
            written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine=engine)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]


def test_limits_with_too_few_people_are_refused_as_in_memory(searched: list[int], tmp_path: Path) -> None:
    """Rows are enough in every window, but people are not; every width that the message tries is counted on disk."""
    table = limited_table(300).with_columns(who=pl.col("height").str.slice(0, 2))
    write_csv(table, tmp_path / "source.csv")
    by_person, found = {"person": "who", "drop": ["own k"]}, []
    for width, of_whom in (("20", {"drop": ["own k", "who"]}), ("20", by_person), ("90", by_person)):
        given = MIXED | {"ends": "exact", "max_width": {"height": width, "born": "50y"}} | of_whom
        outcomes: list[object] = []
        for engine in ("memory", "duckdb"):
            try:
                outcomes.append(written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine=engine))
            except InfeasibleError as refusal:
                outcomes.append(str(refusal))
        assert outcomes[0] == outcomes[1]
        found.append(isinstance(outcomes[0], str))
    assert found == [False, True, False]
    assert len(searched) == 2


def test_table_of_k_people_in_each_tuple_is_released_as_it_is(searched: list[int], tmp_path: Path) -> None:
    """Rows are enough in every tuple of the other table, but people are not."""
    table = pl.DataFrame(
        {
            "q": [f"v{i % 40}" for i in range(400)],
            "who": [f"w{i // 40}" for i in range(400)],
            "disease": [f"d{i % 5}" for i in range(400)],
        }
    )
    few = table.with_columns(who=pl.concat_str(pl.lit("w"), pl.col("q"), pl.int_range(400) // 160))
    given = {"k": 4, "effort": "fast", "qi": ["q"], "sensitive": ["disease"], "person": "who"}
    for number, each in enumerate((table, few)):
        write_csv(each, tmp_path / f"{number}.csv")
        expected = written(tmp_path / f"{number}.csv", tmp_path / "memory.csv", given)
        assert written(tmp_path / f"{number}.csv", tmp_path / "out.csv", given, engine="duckdb") == expected
        assert len(searched) == number
    assert sections.LARGEST_SECTION == LARGEST


def test_report_has_the_risks_of_memory(searched: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the release and of the original count people, not rows."""
    write_csv(with_odd_ids(mixed_table(300)), tmp_path / "source.csv")
    found: list[Risk] = []

    def noted(*given: Any, **more: Any) -> Risk:
        found.append(estimate(*given, **more))
        return found[-1]

    monkeypatch.setattr(figures, "estimate", noted)
    given, by_engine = MIXED | {"person": "who"}, []
    for engine in ("memory", "duckdb"):
        found.clear()
        report = tmp_path / f"{engine}.html"
        written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine=engine, report=report)
        by_engine.append([*found])
    assert searched
    assert by_engine[0] == by_engine[1]
    assert {risk.counts for risk in by_engine[1]} == {"persons"}
