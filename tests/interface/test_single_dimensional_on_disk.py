"""On DuckDB, cuts through the whole table are judged by counts of regions; the bytes are those of memory."""

from __future__ import annotations

from dataclasses import replace
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
from tests.interface.test_sections_on_disk import LARGEST, MIXED, searched, several_sections, written

__all__ = ["searched", "several_sections"]

CUT = {"method": "mondrian", "effort": None, "options": {"variant": "single-dimensional"}}
GIVEN = MIXED | CUT | {"others": "drop"}


def table_of(n_rows: int) -> pl.DataFrame:
    """Cuts of several attributes pass; some rows ask for a k that no table can give, one is far from all others."""
    table = limited_table(n_rows).with_columns(pl.col("height").str.slice(0, 3), pl.col("born").str.slice(0, 4))
    greedy, far = (pl.int_range(n_rows) % (n_rows // parts) == 7 for parts in (3, 1))
    return table.with_columns(
        pl.when(greedy).then(pl.lit("20000")).otherwise("own k").alias("greedy k"),
        height=pl.when(far).then(pl.lit("50")).otherwise("height"),
    )


TABLE = table_of(600)
POPULATION = pl.concat([TABLE, TABLE.head(300)])
CLOSE = shoal.TCloseness("disease", t=0.25)
CASES: dict[str, dict[str, Any]] = {
    "diversity, closeness": {"models": [shoal.LDiversity("disease", l=3), CLOSE]},
    "not closed, personal k": {"k_column": "own k", "models": [shoal.GrassbergerLDiversity("disease", l=3)]},
    "all groups": {"models": [shoal.AverageRisk(0.03)]},
    "lone rows, diversity": {"k": 1, "models": [shoal.SampleUniqueness(0.02), shoal.LDiversity("disease", l=2)]},
    "uniques of a population": {"k": 2, "models": [shoal.PopulationUniqueness(0.01, population=5000)]},
    "population": {"models": [shoal.KMap(12), shoal.DeltaPresence("0.4", 0.8)], "population": POPULATION},
    # The rows that stay are another table: its values, its distribution, its limits of groups.
    "rows leave": {
        "k_column": "greedy k",
        "suppression_limit": 0.02,
        "models": [CLOSE, shoal.AverageRisk(0.1)],
    },
    # Some windows are cut by counts, others in a section; the row that is far away has no room.
    "limits": {
        "max_width": {"height": "40"},
        "suppression_limit": 0.02,
        "models": [shoal.LDiversity("disease", l=3), CLOSE],
    },
    "limits of a set, personal k": {"k_column": "own k", "max_width": {"job": "4"}},
}
# Models that are asked for sizes alone.
BY_SIZES = {"all groups", "uniques of a population"}


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each time that regions are judged, whether they pass the models, whatever their sizes are."""
    found: list[bool] = []
    passes = DuckSearcher.regions_pass

    def noted(self: DuckSearcher, regions: Regions, judge: PartJudge) -> bool:
        is_passing = passes(self, regions, judge)
        found.append(is_passing or passes(self, regions, replace(judge, models=judge.models[1:])))
        return is_passing

    monkeypatch.setattr(DuckSearcher, "regions_pass", noted)
    return found


@pytest.mark.parametrize("name", CASES)
def test_release_has_the_bytes_of_memory(
    name: str, searched: list[int], judged: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models refuse some cuts, which a limit runs through its windows; rows that leave are in no region."""
    monkeypatch.setattr(dealing, "SLICE_ROWS", 40)  # a region is in several slices, and a slice has several regions
    write_csv(TABLE, tmp_path / "source.csv")
    given = GIVEN | CASES[name]
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    assert written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine="duckdb") == expected
    assert len(searched) == 1
    assert searched[0] > 2
    assert (False in judged) == (name not in BY_SIZES)
    assert (expected.count(b"\n") - 1 < TABLE.height) == ("suppression_limit" in given)


def test_no_stage_has_all_tuples_in_memory(
    searched: list[int], heights: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Python fetches is a section, or has a row for each cell; regions that models judge pass in slices."""
    monkeypatch.setattr(dealing, "SLICE_ROWS", 40)
    write_csv(TABLE, tmp_path / "source.csv")
    written(tmp_path / "source.csv", tmp_path / "out.csv", GIVEN | CASES["diversity, closeness"], engine="duckdb")
    n_tuples = TABLE.select(MIXED["qi"]).n_unique()
    most_cells = sum(TABLE[name].n_unique() for name in MIXED["qi"])
    assert searched[0] >= n_tuples / LARGEST
    assert max(heights) <= max(most_cells, TABLE.height // MIXED["k"]) < n_tuples


def test_table_that_no_cut_divides_is_refused_as_in_memory(searched: list[int], tmp_path: Path) -> None:
    """A model that is not closed is asked about the table as one group."""
    write_csv(TABLE, tmp_path / "source.csv")
    given = GIVEN | {"models": [shoal.GrassbergerLDiversity("disease", l="5.5"), shoal.LDiversity("disease", l=2)]}
    refusals = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(InfeasibleError, match="mondrian found no groups that pass entropy") as refused:
            written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine=engine)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]
    assert not searched
