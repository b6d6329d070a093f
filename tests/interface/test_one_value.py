"""A01: groups that share one sensitive value are noted, wherever the rows are."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal import LDiversity, hierarchy
from shoal.errors import Note
from shoal.methods import sections
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from
from shoal.tables.formats.writers import write_csv

ROLES: dict[str, Any] = {"k": 4, "qi": ["age", "town"], "sensitive": ["illness", "salary"]}
AGES = hierarchy.intervals([3])
CASES: dict[str, dict[str, Any]] = {
    "ranges": {},
    "bounds": {"cells": "bounds"},
    "centres": {"cells": "center", "spread": True},
    "suppression": {"suppression_limit": 0.1, "k": 9},
    "mondrian": {"method": "mondrian"},
    "a model of one column": {"models": [LDiversity("salary", l=2)]},
    "datafly": {"method": "datafly", "hierarchies": {"age": AGES}, "suppression_limit": 0.5},
}


def table_of_shared_values(n_rows: int) -> pl.DataFrame:
    """Illnesses that follow from the age for most people, and salaries that follow from nothing."""
    draw = random.Random(7)
    ages = [draw.randrange(20, 60) for _ in range(n_rows)]
    return pl.DataFrame(
        {
            "age": [str(age) for age in ages],
            "town": [draw.choice(["A", "B", "C", ""]) for _ in ages],
            "illness": [f"i{age // 3}" if draw.random() < 0.97 else "other" for age in ages],
            "salary": [str(draw.randrange(1000, 1003)) for _ in ages],
        }
    )


def notes_of(data: Path, output: Path, given: dict[str, Any], **more: Any) -> list[Note]:
    """Release a file in one go; return the notes on its sensitive columns."""
    models = given.get("models", ())
    settings = settings_from({name: value for name, value in (ROLES | given).items() if name != "models"})
    job = Job.from_settings(data, settings, output, make_run(settings, threads=2), models=models, **more)
    notes = job.execute().release.notes
    return [note for note in notes if isinstance(note, Note) and "share one value" in note.text]


@pytest.mark.parametrize("largest", [100_000, 40], ids=["one section", "several"])
@pytest.mark.parametrize("given", CASES.values(), ids=CASES)
def test_duckdb_notes_what_memory_notes(
    given: dict[str, Any], largest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", largest)
    write_csv(table_of_shared_values(900), tmp_path / "in.csv")
    expected = notes_of(tmp_path / "in.csv", tmp_path / "a.csv", given, engine="memory")
    assert notes_of(tmp_path / "in.csv", tmp_path / "b.csv", given, engine="duckdb") == expected
    assert len(expected) == 1
    assert expected[0].about == "column 'illness'"


def test_rows_in_their_order(tmp_path: Path) -> None:
    write_csv(table_of_shared_values(900), tmp_path / "in.csv")
    expected = notes_of(tmp_path / "in.csv", tmp_path / "a.csv", {}, engine="memory", keep_order=True)
    assert notes_of(tmp_path / "in.csv", tmp_path / "b.csv", {}, engine="duckdb", keep_order=True) == expected
    assert expected


def test_nothing_is_noted_of_diverse_groups(tmp_path: Path) -> None:
    write_csv(table_of_shared_values(900).with_columns(illness=pl.col("salary")), tmp_path / "in.csv")
    for engine in ("memory", "duckdb"):
        assert notes_of(tmp_path / "in.csv", tmp_path / f"{engine}.csv", {"k": 40}, engine=engine) == []
