"""Releases made for a target."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import UsageError
from shoal.methods import Shoaling

QI = ["job", "town", "age"]


def people(n: int = 240) -> pl.DataFrame:
    """Jobs 0 to 5 earn much, 6 to 11 little; towns tell nothing."""
    rows = [(f"j{i * 7 % 12:02}", f"t{i * 5 % 9}", 20 + i * 11 % 50) for i in range(n)]
    rich = ["yes" if (int(job[1:]) < 6) != (i % 10 == 0) else "no" for i, (job, _, _) in enumerate(rows)]
    return pl.DataFrame(rows, schema=["job", "town", "age"], orient="row").with_columns(rich=pl.Series(rich))


def mixed_jobs(release: shoal.Release) -> int:
    """Count the rows whose released job mixes both kinds of jobs."""
    cells = release.text["job"].to_list()
    return sum(len({int(job[1:]) < 6 for job in cell.strip("{}").split(", ")}) == 2 for cell in cells if cell[0] == "{")


def test_groups_keep_values_together_that_say_the_same_about_the_target() -> None:
    plain = shoal.anonymize(people(), qi=QI, sensitive=["rich"], k=8)
    made = shoal.anonymize(people(), qi=QI, sensitive=["rich"], k=8, target="rich")
    assert mixed_jobs(made) < 0.5 * mixed_jobs(plain)
    assert made.measures.smallest_group >= 8
    assert plain.measures.ncp <= made.measures.ncp < 1.5 * plain.measures.ncp


def test_order_of_rows_and_threads_do_not_matter() -> None:
    made = shoal.anonymize(people(), qi=QI, sensitive=["rich"], k=5, target="rich", threads=1).text
    again = shoal.anonymize(people().reverse(), qi=QI, sensitive=["rich"], k=5, target="rich", threads=2).text
    assert made.equals(again)


@pytest.mark.parametrize("target", ["age", "town"], ids=["numbers", "nine classes"])
def test_targets_of_numbers_and_of_several_classes(target: str) -> None:
    qi = [name for name in ("job", "rich", "town", "age") if name != target]
    made = shoal.anonymize(people(), qi=qi, sensitive=[target], k=6, target=target, suppression_limit=0.05)
    assert made.measures.smallest_group >= 6
    assert made.target_facts is not None
    assert made.target_facts.name == target


def test_files_name_the_target_and_l_but_no_share(tmp_path: Path) -> None:
    made = shoal.anonymize(people(), qi=QI, sensitive=["rich"], k=8, target="rich", cells="center", l=2)
    path = tmp_path / "out.csv"
    made.write(path, report=tmp_path / "r.html")
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    plain = shoal.anonymize(people(), qi=QI, sensitive=["rich"], k=8, cells="center", l=2)
    plain.write(tmp_path / "plain.csv")
    without = json.loads((tmp_path / "plain.csv.manifest.json").read_text())
    assert manifest["target"] == "rich"
    assert without["target"] is None
    assert set(manifest) == set(without)
    # Beside the target, only what follows from the release differs.
    differing = {key for key in manifest if manifest[key] != without[key]}
    assert differing <= {"file", "sha256", "beside", "target", "measures"}
    assert shoal.verify(path).ok
    report = (tmp_path / "r.html").read_text()
    assert "Made for rich: groups were preferred" in report
    assert "every group has at least 2 values of it (l = 2)" in report
    assert made.target_facts is not None
    assert made.target_facts.fewest == 2


def test_a_table_without_categories_gets_a_note() -> None:
    release = shoal.anonymize(people(), qi=["age"], sensitive=["rich"], others="drop", k=30, target="rich")
    assert any("changed nothing" in str(note) for note in release.notes)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"qi": [*QI, "rich"], "sensitive": []}, "a quasi-identifier cannot be the target"),
        ({"all_qi": True}, "a quasi-identifier cannot be the target"),
        ({"sensitive": [], "drop": ["rich"]}, "the column is not released"),
        ({"target": "riches"}, "no such column"),
        ({"method": "mondrian"}, "method 'mondrian' does not support .*target.*shoaling"),
        ({"method": Shoaling(objective="variance")}, "Leave out objective=variance"),
        ({"population": people(480), "models": [shoal.KMap(k=9)]}, "does not support a population"),
    ],
)
def test_what_cannot_be_a_target(given: dict[str, object], match: str) -> None:
    keywords = {"qi": QI, "sensitive": ["rich"], "k": 5, "target": "rich"} | given
    with pytest.raises(UsageError, match=match):
        shoal.anonymize(people(), **keywords)  # type: ignore[arg-type]


def test_a_target_that_duckdb_counts_steers_alike(tmp_path: Path) -> None:
    """What groups show of it is reported only if its rows are in memory."""
    path = tmp_path / "people.csv"
    people().write_csv(path)
    duck, memory = (
        shoal.anonymize(path, qi=QI, sensitive=["rich"], k=5, target="rich", engine=engine)
        for engine in ("duckdb", "memory")
    )
    assert duck.measures == memory.measures
    assert [note for note in duck.notes if "target" in str(note)] == [
        note for note in memory.notes if "target" in str(note)
    ]
    assert memory.target_facts is not None
    assert duck.target_facts is None
    with pytest.raises(UsageError, match="no such column"):
        shoal.anonymize(path, qi=QI, sensitive=["rich"], k=5, target="poor", engine="duckdb")
