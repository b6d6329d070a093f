"""On DuckDB, cuts through the whole table are judged by counts of regions; the bytes are those of memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.release.counted_tables.searcher import Regions
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources import dealing
from tests.interface.test_mondrian_on_disk import limited_table
from tests.interface.test_sections_on_disk import MIXED, searched, several_sections, written

__all__ = ["searched", "several_sections"]

CUT = {"method": "mondrian", "effort": None, "options": {"variant": "single-dimensional"}}
GIVEN = MIXED | CUT | {"drop": ["own k"]}
OWN_K = {"k_column": "own k", "drop": None}


def table_of(n_rows: int) -> pl.DataFrame:
    """Values are few enough for cuts of several attributes; some rows ask for a k that no table can give."""
    table = limited_table(n_rows).with_columns(pl.col("height").str.slice(0, 3), pl.col("zip").str.slice(1))
    greedy = pl.int_range(n_rows) % (n_rows // 3) == 7
    return table.with_columns(pl.when(greedy).then(pl.lit("20000")).otherwise("own k").alias("greedy k"))


TABLE = table_of(600)
POPULATION = pl.concat([TABLE, TABLE.head(300)])
CLOSE = shoal.TCloseness("disease", t=0.25)
CASES: dict[str, dict[str, Any]] = {
    "diversity, closeness": {"models": [shoal.LDiversity("disease", l=3), CLOSE]},
    "not closed, personal k": OWN_K | {"models": [shoal.GrassbergerLDiversity("disease", l=3)]},
    "all groups": {"models": [shoal.AverageRisk(0.03)]},
    "lone rows, diversity": {"k": 1, "models": [shoal.SampleUniqueness(0.02), shoal.LDiversity("disease", l=2)]},
    "uniques of a population": {"k": 2, "models": [shoal.PopulationUniqueness(0.01, population=5000)]},
    "population": {"models": [shoal.KMap(12), shoal.DeltaPresence("0.4", 0.8)], "population": POPULATION},
    # The rows that stay are another table: its values, its distribution, its limits of groups.
    "rows leave": {
        "k_column": "greedy k",
        "drop": None,
        "suppression_limit": 0.02,
        "models": [CLOSE, shoal.AverageRisk(0.1)],
    },
    "limits": {"max_width": {"height": "40"}, "models": [shoal.LDiversity("disease", l=3)]},
    "limits of a set, personal k": OWN_K | {"max_width": {"job": "4", "height": "60"}},
    "limits, rows without room": {
        "max_width": {"height": "6"},
        "suppression_limit": 0.05,
        "models": [shoal.EntropyLDiversity("disease", l=2)],
    },
}


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """Of each time that regions are judged, whether some have no rows of some codes, and whether they pass."""
    found = []
    passes = DuckSearcher.regions_pass

    def noted(self: DuckSearcher, regions: Regions, judge: PartJudge) -> bool:
        found.append((any((own < 0).any() for own in regions.parts), passes(self, regions, judge)))
        return found[-1][1]

    monkeypatch.setattr(DuckSearcher, "regions_pass", noted)
    return found


@pytest.mark.parametrize("name", CASES)
def test_release_has_the_bytes_of_memory(
    name: str, searched: list[int], judged: list[tuple[bool, bool]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dealing, "SLICE_ROWS", 40)  # a region is in several slices, and a slice has several regions
    write_csv(TABLE, tmp_path / "source.csv")
    given = {n: v for n, v in (GIVEN | CASES[name]).items() if v is not None} | {"others": "drop"}
    given.pop("drop", None)
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    print("LINES", len(set(expected.split(b"\n"))), expected.count(b"\n"))
    assert written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine="duckdb", threads=2) == expected
    print("JUDGED", len(judged), sum(not p for _, p in judged), sum(c for c, _ in judged))
    assert len(searched) == 1
    assert searched[0] > 2
