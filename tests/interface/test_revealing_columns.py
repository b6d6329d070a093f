"""DuckDB finds the columns that reveal a quasi-identifier in the rows that the memory engine looks at."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.methods import sections
from shoal.release import notes
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources import numbering

N_ROWS = 400
GIVEN: dict[str, Any] = {
    "k": 4,
    "effort": "fast",
    "qi": ["age", "city"],
    "sensitive": ["disease"],
    "insensitive": ["region", "code"],
    "accept_unique": ["code", "disease"],
}


def houses() -> pl.DataFrame:
    """Regions reveal cities; the members of a household have one age."""
    draw = random.Random(3)
    members = [draw.randrange(60) for _ in range(N_ROWS)]
    cities = [draw.randrange(6) for _ in range(N_ROWS)]
    return pl.DataFrame(
        {
            "age": [str(20 + member) for member in members],
            "city": [f"city {city}" for city in cities],
            "region": [f"region {city if draw.random() < 0.995 else 0}" for city in cities],
            "disease": [f"d{draw.randrange(80)}" for _ in range(N_ROWS)],
            "code": [str(draw.randrange(10**6)) for _ in range(N_ROWS)],
            "house": [f"h{member}" for member in members],
        }
    )


@pytest.mark.parametrize("largest", [40, sections.LARGEST_SECTION])
@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ({"drop": ["house"]}, 20_000),
        ({"drop": ["house"], "recode": {"region": "rare:80"}}, 50),
        ({"person": "house", "k": 3}, 50),
    ],
    ids=["all rows", "a sample of recoded rows", "people"],
)
def test_notes_are_those_of_memory(
    given: dict[str, Any], rows: int, largest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "source.csv"
    write_csv(houses(), path)
    monkeypatch.setattr(sections, "LARGEST_SECTION", largest)
    monkeypatch.setattr(notes, "SAMPLE_ROWS", rows)
    looked_at, about = [], notes.about_revealing

    def noted(coded: Any, schema: Any) -> list[Any]:
        """Keep the rows that are looked at, whatever their order."""
        columns = [coded[name].codes.tolist() for name in sorted(coded)]
        looked_at.append(([coded[name].n_values for name in sorted(coded)], sorted(zip(*columns, strict=True))))
        return about(coded, schema)

    monkeypatch.setattr(notes, "about_revealing", noted)
    memory = shoal.anonymize(path, **(GIVEN | given))
    monkeypatch.setattr(numbering, "MOST_TEXTS", 100)
    duck = shoal.anonymize(path, engine="duckdb", **(GIVEN | given))
    assert looked_at[0] == looked_at[1]
    assert len(looked_at) == 2
    assert len(looked_at[0][1]) < N_ROWS or rows > N_ROWS
    said = [[str(note) for note in each.notes if "reveal" in str(note)] for each in (memory, duck)]
    assert said[0] == said[1]
    assert [str(note) for note in duck.notes] == [str(note) for note in memory.notes]
    if not given.get("recode"):
        assert any("'region'" in note for note in said[0])
