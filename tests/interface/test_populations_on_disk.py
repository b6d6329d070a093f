"""Models of a population give the same bytes on DuckDB as in memory, and its gate counts the population itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, VerificationError
from shoal.methods import sections
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.tables.formats.writers import write_csv
from tests.contract.test_dealing import AGES, made, odd_table

TABLE = odd_table(1, 160)
PEOPLE = pl.concat([TABLE, odd_table(7, 400)])
CUT = {"method": "mondrian", "effort": None}
OF_PEOPLE = {"person": "who", "k_column": "own k", "drop": ["name"]}
MODELS: dict[str, tuple[dict[str, Any], bool]] = {
    "k-map": ({"models": [shoal.KMap(12)]}, True),
    "presence and diversity": ({"models": [shoal.DeltaPresence(0, 0.9), shoal.LDiversity("disease", l=2)]}, True),
    # The cells of some parts of cuts cover too few rows.
    "mondrian": ({**CUT, "models": [shoal.KMap(100)]}, True),
    "mondrian, presence and diversity": (
        {
            **CUT,
            "models": [shoal.DeltaPresence(0, 0.3), shoal.LDiversity("disease", l=3)],
            "hierarchies": {"Age": AGES},
        },
        True,
    ),
    "mondrian, not closed": ({**CUT, "models": [shoal.DeltaPresence(0.1, 0.6)]}, True),
    "limits, bounds": ({"models": [shoal.KMap(6)], "max_width": {"Age": "20"}, "cells": "bounds"}, True),
    "suppression": ({"models": [shoal.KMap(12)], "suppression_limit": 0.05}, True),
    "no model of it": ({}, True),
    "people, own k, presence and diversity": (
        {**OF_PEOPLE, "models": [shoal.DeltaPresence(0, 0.9), shoal.LDiversity("disease", l=2)]},
        True,
    ),
    "people, suppression": ({**OF_PEOPLE, "models": [shoal.KMap(12)], "suppression_limit": 0.05}, True),
    "people, mondrian": ({**OF_PEOPLE, **CUT, "models": [shoal.KMap(100), shoal.LDiversity("disease", l=2)]}, True),
    "people, mondrian, not closed": ({**OF_PEOPLE, **CUT, "models": [shoal.DeltaPresence(0.1, 0.6)]}, True),
}


@pytest.mark.parametrize(("given", "is_on_disk"), MODELS.values(), ids=MODELS)
def test_release_has_the_bytes_of_memory(
    given: dict[str, Any], is_on_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, searched = tmp_path / "source.csv", list[int]()
    write_csv(TABLE, path)
    monkeypatch.setattr(sections, "LARGEST_SECTION", 40)
    search = DuckSearcher.search_sections

    def noted(self: DuckSearcher, *asked: Any) -> Any:
        found = search(self, *asked)
        searched.append(len(found.parts))
        return found

    monkeypatch.setattr(DuckSearcher, "search_sections", noted)
    memory = made(path, tmp_path / "out.csv", k=2, population=PEOPLE, **given)
    (tmp_path / "there").mkdir()
    duck = made(path, tmp_path / "there" / "out.csv", k=2, population=PEOPLE, engine="duckdb", **given)
    assert duck[:2] == memory[:2]
    assert (max(searched, default=1) > 1) == is_on_disk


def test_rows_that_the_population_lacks_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that occurs more often than in the population counts, as one that does not occur there."""
    path, said = tmp_path / "source.csv", []
    write_csv(pl.concat([TABLE, TABLE.head(3)]), path)
    for engine, largest in (("memory", 40), ("duckdb", 40), ("duckdb", sections.LARGEST_SECTION)):
        monkeypatch.setattr(sections, "LARGEST_SECTION", largest)
        with pytest.raises(InputError, match="not in the population") as caught:
            made(path, tmp_path / "out.csv", k=2, population=TABLE.tail(-2), models=[shoal.KMap(2)], engine=engine)
        said.append(str(caught.value))
    assert said[0] == said[1] == said[2]
    assert said[0].startswith("5 rows")


@pytest.mark.parametrize("more", [{}, OF_PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("largest", [40, sections.LARGEST_SECTION])
def test_gate_counts_the_population_itself(
    largest: int, more: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C02: a search that believes that one covered row is enough publishes nothing."""
    path = tmp_path / "source.csv"
    write_csv(TABLE, path)
    monkeypatch.setattr(sections, "LARGEST_SECTION", largest)
    monkeypatch.setattr(shoal.KMap, "least_covered", property(lambda self: 1))
    with pytest.raises(VerificationError, match=r"k-map k=12: [0-9]+ of [0-9]+ groups fail"):
        made(path, tmp_path / "out.csv", k=2, population=PEOPLE, models=[shoal.KMap(12)], engine="duckdb", **more)
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}
