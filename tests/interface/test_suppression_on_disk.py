"""Suppression in tables of several sections: DuckDB keeps tuples and groups on disk, and gives the bytes of memory."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.methods import sections
from shoal.release.counted_tables.duck_search import DuckSearcher
from shoal.release.counted_tables.filed_groups import DuckFound
from shoal.tables.formats.writers import write_csv
from tests.interface.test_sections_on_disk import LARGEST, written

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
    "diversity": (table_with_outliers(), GIVEN | {"models": [shoal.LDiversity("disease", l=3)]}),
    "closeness": (table_with_outliers(), GIVEN | {"models": [shoal.TCloseness("disease", t=0.4)]}),
    "order of the source": (table_with_outliers(), GIVEN | {"keep_order": True}),
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
    for threads in (1, 3):
        found = written(tmp_path / "source.csv", tmp_path / "out.csv", given, threads=threads, engine="duckdb")
        assert found == expected
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert {name: manifest[name] for name in ("measures", "suppressed_rows")} == {
        name: stated[name] for name in ("measures", "suppressed_rows")
    }
    assert searched[0] == searched[1]
    assert searched[0][0] > 2
    assert searched[0][1] >= 1
