"""On DuckDB, limits of sets are planned from counts; the bytes are those of memory, which plans as it does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InfeasibleError
from shoal.tables.formats.writers import write_csv
from tests.interface.test_mondrian_on_disk import limited_table
from tests.interface.test_sections_on_disk import MIXED, searched, several_sections, written

__all__ = ["searched", "several_sections"]

CUT = {"method": "mondrian", "effort": None}
LIMITED = MIXED | {"k": 5, "drop": ["own k"]}


def rare_jobs(n_rows: int, *sizes: int) -> pl.DataFrame:
    """Some jobs have few rows; the rows of a tuple differ in their disease."""
    draw = random.Random(8)
    table = limited_table(n_rows).with_columns(pl.col("height").str.slice(0, 2), pl.col("born").str.slice(0, 3) + "0")
    jobs = table["job"].to_list()
    rows = iter(draw.sample(range(n_rows), sum(sizes)))
    for number, size in enumerate(sizes):
        for _ in range(size):
            jobs[next(rows)] = f"rare {number}"
    return table.with_columns(job=pl.Series(jobs))


def of_people(table: pl.DataFrame) -> pl.DataFrame:
    """Most people have a single row; a few have several with rare jobs."""
    is_rare = pl.col("job").str.starts_with("rare")
    few = pl.concat_str(pl.lit("r"), pl.int_range(table.height) % 7)
    return table.with_columns(
        who=pl.when(is_rare).then(few).otherwise(pl.concat_str(pl.lit("w"), pl.int_range(table.height) * 9 // 10))
    )


OWN_K = {"k_column": "own k", "drop": None}
CASES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "a rare value joins rows of frequent ones": (rare_jobs(500, 1, 2, 3), LIMITED | {"max_width": {"job": "2"}}),
    "several limits, diversity and own k": (
        rare_jobs(500, 4, 1, 3),
        LIMITED
        | OWN_K
        | {"k": 3, "max_width": {"job": "2", "height": "30"}, "models": [shoal.LDiversity("disease", l=2)]},
    ),
    "values without room leave": (
        rare_jobs(500, 1, 2, 3),
        LIMITED | {"max_width": {"job": "1", "height": "40"}, "suppression_limit": "0.04"},
    ),
    "mondrian, rare values share windows": (
        rare_jobs(500, 1, 4, 2, 3),
        LIMITED | CUT | {"max_width": {"job": "2", "height": "60"}},
    ),
    # Together, the rare values would still be too few.
    "mondrian, rare values join frequent ones": (rare_jobs(500, 1, 2), LIMITED | CUT | {"max_width": {"job": "2"}}),
    "mondrian, values without room leave": (
        rare_jobs(500, 1, 2, 3),
        LIMITED | CUT | {"max_width": {"job": "1", "height": "40"}, "suppression_limit": "0.04"},
    ),
    # The people of rare values are fewer together than one by one.
    "people": (of_people(rare_jobs(500, 4, 4, 3, 2, 5)), LIMITED | {"person": "who", "max_width": {"job": "3"}}),
    "people, own k, several limits": (
        of_people(rare_jobs(500, 4, 1, 3)),
        LIMITED | OWN_K | {"k": 3, "person": "who", "max_width": {"job": "2", "height": "40"}},
    ),
    "people without room leave": (
        of_people(rare_jobs(500, 1, 2, 3)),
        LIMITED | {"person": "who", "max_width": {"job": "1", "height": "60"}, "suppression_limit": "0.04"},
    ),
    "mondrian, people": (
        of_people(rare_jobs(500, 4, 4, 3, 2, 5)),
        LIMITED | CUT | {"person": "who", "max_width": {"job": "3", "height": "60"}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_release_has_the_bytes_of_memory(name: str, searched: list[int], tmp_path: Path) -> None:
    """Rows whose limited values no window has room for leave together."""
    table, given = CASES[name]
    write_csv(table, tmp_path / "source.csv")
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    for threads, limit in ((1, "500MB"), (4, "2GB")):
        options: dict[str, Any] = {"engine": "duckdb", "memory": limit, "threads": threads}
        assert written(tmp_path / "source.csv", tmp_path / "out.csv", given, **options) == expected
    assert len(searched) == 2
    assert searched[0] == searched[1] > 2
    if "suppression_limit" in given:
        assert not any(text in expected for text in (b"rare 0", b"rare 1", b"rare 2"))


def test_windows_with_lent_rows_are_planned_in_memory(searched: list[int], tmp_path: Path) -> None:
    """More values are rare than frequent: codes do not tell which rows of a frequent value join which rare ones."""
    write_csv(rare_jobs(500, *[1] * 12), tmp_path / "source.csv")
    given = LIMITED | CUT | {"max_width": {"job": "2"}}
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    assert written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine="duckdb") == expected
    assert not searched


@pytest.mark.parametrize("method", [{}, CUT], ids=["shoaling", "mondrian"])
def test_limits_that_cannot_be_kept_are_refused_as_in_memory(
    method: dict[str, Any], searched: list[int], tmp_path: Path
) -> None:
    write_csv(rare_jobs(500, 1, 2), tmp_path / "source.csv")
    refusals = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(InfeasibleError, match="The nearest that can be kept: ") as refused:
            written(
                tmp_path / "source.csv",
                tmp_path / "out.csv",
                LIMITED | method | {"max_width": {"job": "1"}},
                engine=engine,
            )
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]
    assert not searched


def test_people_of_combinations_are_those_of_rows(searched: list[int], tmp_path: Path) -> None:
    """A refusal tries ends of ranges and other widths, each with the people who have them."""
    write_csv(of_people(rare_jobs(500, 1, 2)), tmp_path / "source.csv")
    given = LIMITED | {"person": "who", "ends": "safe", "max_width": {"job": "1", "height": "12"}}
    refusals = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(InfeasibleError, match="The nearest that can be kept: ") as refused:
            written(tmp_path / "source.csv", tmp_path / "out.csv", given, engine=engine)
        refusals.append(str(refused.value))
    assert refusals[0] == refusals[1]
