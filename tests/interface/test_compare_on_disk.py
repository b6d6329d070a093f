"""Comparisons on DuckDB: one open table for all runs, and the figures of memory."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal as library
from shoal import hierarchy
from shoal.errors import UsageError
from shoal.evaluate.comparison.cases import Case
from shoal.evaluate.comparison.scoring import Subject, score
from shoal.methods import sections
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources.duckdb import DuckSource
from tests.command import Shoal
from tests.contract.test_dealing import AGES, odd_table
from tests.interface.test_sections_on_disk import GIVEN

UNTIMED = ("cpu_seconds", "seconds", "peak_memory", "cached")
ROLES = {name: value for name, value in GIVEN.items() if name not in ("k", "effort", "seed")}
FAST = "shoaling:effort=fast"
PEOPLE = {"person": "who", "drop": ["name", "own k"], "suppression_limit": 0.05}
CASES: dict[str, dict[str, Any]] = {
    "sections on disk": {"methods": [FAST, "mondrian", "mondrian:variant=relaxed", "datafly"], "k": [3, 7]},
    "people, suppression": PEOPLE | {"methods": [FAST, "mondrian"], "k": [3, 4], "threshold": "1/7"},
    "models, weights, too large a k": {
        "methods": [FAST],
        "k": [3, 2000],
        "models": [library.LDiversity("disease", l=3)],
        "weights": "auto",
    },
    "hierarchies for those that need them": {
        "methods": [FAST, "datafly"],
        "k": 3,
        "hierarchies": {"Age": AGES},
        "hierarchies_for": "needed",
    },
}


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.csv"
    write_csv(odd_table(1, 500), path)
    return path


@pytest.fixture
def small_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make sections small, also for runs in memory, which then stay in this process."""

    def run_here(subject: Subject, cases: list[Case], _: int) -> Iterator[tuple[Case, dict[str, Any]]]:
        return ((case, score(subject, case)) for case in cases)

    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    module = importlib.import_module("shoal.evaluate.comparison.compare")  # the name in its package is a function
    monkeypatch.setattr(module, "run_cases", run_here)


def figures(comparison: library.Comparison) -> list[dict[str, Any]]:
    return comparison.frame.drop(UNTIMED).to_dicts()


@pytest.mark.usefixtures("small_sections")
@pytest.mark.parametrize("case", CASES)
def test_figures_are_those_of_memory(odd: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, copy_cells = [], DuckSource._copy_cells

    def counted(*given: Any) -> None:
        opened.append(given)
        copy_cells(*given)

    monkeypatch.setattr(DuckSource, "_copy_cells", counted)
    given = ROLES | CASES[case]
    here = library.compare(odd, **given)
    on_disk = library.compare(odd, engine="duckdb", memory="1GB", **given)
    assert figures(on_disk) == figures(here)
    assert on_disk.frame["failed"].null_count() > 0
    assert (on_disk.n_rows, on_disk.counts) == (here.n_rows, here.counts)
    assert len(opened) == 1


@pytest.mark.usefixtures("small_sections")
def test_failed_run_leaves_nothing_to_the_next(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = figures(library.compare(odd, methods=FAST, k=[3, 7], **ROLES))
    group, n_calls = SectionSearch.group, 0

    def fail_once(self: SectionSearch, *given: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 3:
            raise RuntimeError("a cell")
        return group(self, *given)

    monkeypatch.setattr(SectionSearch, "group", fail_once)
    failed, done = figures(library.compare(odd, engine="duckdb", jobs=1, methods=FAST, k=[3, 7], **ROLES))
    assert "a bug in shoal" in failed["failed"]
    assert "a cell" not in failed["failed"]
    assert done == expected[1]


def test_file_that_does_not_fit_is_compared_on_disk(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data, page = tmp_path / "data.csv", tmp_path / "page.html"
    library.datasets.patients().head(150).write_csv(data)
    words = ("compare", data, "--qi", "birth_date,sex,zip", "--methods", "mondrian,mnqia", "-k", "2,5", "--json")
    plain = json.loads(shoal(*words, "--jobs", 1).out)
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "1kB")
    ended = shoal(*words, "--report", page)
    assert ended.code == 0, ended.err
    assert "DuckDB counted and sorted it on disk" in ended.err
    assert "<svg" in page.read_text()
    runs = json.loads(ended.out)["runs"]
    for run, expected in zip(runs, plain["runs"], strict=True):
        if run["method"] == "mnqia":
            assert "needs the rows in memory" in run["failed"]
        else:
            assert {**run, **dict.fromkeys(UNTIMED)} == {**expected, **dict.fromkeys(UNTIMED)}
    again = json.loads(shoal(*words).out)["runs"]
    assert [run["cached"] for run in again] == [True] * 4
    advice = json.loads(shoal("advise", *words[1:4], "-k", "2,5", "--max-risk", "0.3", "--json").out)
    assert advice["recommended"]["k"] == 5


def test_what_needs_rows_is_refused(odd: Path) -> None:
    for wrong in ({"target": "disease"}, {"add": {"other": pl.DataFrame({"Age": ["3"]})}}):
        with pytest.raises(UsageError, match="needs the rows in memory"):
            library.compare(odd, engine="duckdb", **wrong, **ROLES)
    with pytest.raises(UsageError, match="Use memory or duckdb"):
        library.compare(odd, engine="spark", **ROLES)
    with pytest.raises(UsageError, match="Pass a path"):
        library.compare(odd_table(1, 20), engine="duckdb", **ROLES)
    with pytest.raises(UsageError, match="choose that engine"):
        library.compare(odd, engine="memory", memory="1GB", **ROLES)


def test_other_hierarchies_are_other_runs(odd: Path, tmp_path: Path) -> None:
    given = ROLES | {"methods": "datafly", "k": 3, "engine": "duckdb", "cache": tmp_path / "kept"}
    steps = [library.compare(odd, **given, hierarchies={"Age": hierarchy.intervals([n])}).frame for n in (5, 5, 20)]
    assert [step["cached"][0] for step in steps] == [False, True, False]
