"""A release on Spark has the rows of memory, in order, and passes the gate as jobs of Spark."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
import shoal.spark
from shoal import hierarchy
from shoal.errors import FileError, UsageError, VerificationError
from shoal.methods import sections
from shoal.release.job import Job
from shoal.settings.keywords import settings_from
from shoal.spark import cells, folder
from shoal.spark.engine import open_source, write_release
from shoal.spark.parts import write_parts
from shoal.spark.search.searcher import SparkSearcher
from shoal.tables.csv import read_csv
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources.base import Dealing
from tests.contract.test_dealing import AGES, QI, SETTINGS, odd_table
from tests.interface.test_one_value import ROLES, table_of_shared_values
from tests.spark.releases import GIVEN, LAID_OUT, in_memory, on_spark, text_of

SHARED = "share one value"


def test_parts_have_the_rows_of_memory_for_any_partitions(source: Path, spark: Any, tmp_path: Path) -> None:
    """Classes are split over tasks; any number of them, adaptive or not, gives the same rows (S01, S05)."""
    expected = in_memory(source, tmp_path / "memory.csv")
    for partitions, adaptive in (("5", "true"), ("1", "false")):
        spark.conf.set("spark.sql.shuffle.partitions", partitions)
        spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        parts = on_spark(spark, str(source), f"{tmp_path}/parts.csv/", searched=True)
        assert text_of(parts) == expected
    manifest = json.loads((parts / "_manifest.json").read_text())
    assert set(manifest["parts"]) | {"_SUCCESS", "_manifest.json"} == {path.name for path in parts.iterdir()}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]  # nothing unfinished (S04)


def test_several_parquet_files_and_a_hierarchy(source: Path, spark: Any, tmp_path: Path) -> None:
    """Empty texts and nulls mean the same as in memory (S02)."""
    table = odd_table(1, 600)
    (tmp_path / "files").mkdir()
    for number in range(3):
        table.slice(number * 200, 200).write_parquet(tmp_path / "files" / f"{number}.parquet")
    given = {"hierarchies": {"Age": AGES}, "weights": {"age": 0.5}, "effort": None}
    in_memory(source, tmp_path / "memory.parquet", **given)
    parts = on_spark(spark, str(tmp_path / "files"), f"{tmp_path}/out.parquet/", **given)
    found = pl.concat([pl.read_parquet(path) for path in sorted(parts.glob("part-*.parquet"))])
    assert found.equals(pl.read_parquet(tmp_path / "memory.parquet"))


ONE_FILE = {
    "left out": SETTINGS["limits"] | LAID_OUT,
    "people": SETTINGS["people, own k, suppression"],
    "centres": SETTINGS["two models, suppression"] | {"suppression_limit": None, "cells": "center", "spread": True},
}


@pytest.mark.parametrize("case", ONE_FILE)
def test_groups_as_one_file(case: str, source: Path, spark: Any, tmp_path: Path) -> None:
    """The driver's gate reads what executors wrote beside the parts, rows that are left out included."""
    given = {name: each for name, each in (GIVEN | ONE_FILE[case]).items() if each is not None}
    shoal.anonymize(source, **given).write(tmp_path / "out.csv", report=tmp_path / "out.html")
    (tmp_path / "spark").mkdir()
    settings, output = settings_from(given), tmp_path / "spark" / "out.csv"
    with open_source(str(source), settings, spark) as opened:
        job = Job.from_settings(opened, settings, output, engine="spark", report=output.with_suffix(".html"))
        dealing = job.execute().release.recoding
    assert isinstance(dealing, Dealing)
    assert case == "left out" or dealing.searched is not None
    assert output.read_bytes() == (tmp_path / "out.csv").read_bytes()
    for name, parts in {"manifest": (), "": ("groups", "risk"), "private": ("source",)}.items():
        place = "out.csv.manifest.json" if name == "manifest" else f"out{'.' * bool(name)}{name}.json"
        here, there = (json.loads((folder / place).read_text()) for folder in (tmp_path, tmp_path / "spark"))
        if name == "manifest":
            del here["beside"], there["beside"]  # sensitive values are not counted by group for the report
        assert [there[each] for each in parts or there] == [here[each] for each in parts or here]


def test_full_domain_release_as_one_file(source: Path, spark: Any, tmp_path: Path) -> None:
    """Levels of hierarchies are counted on Spark; one file has the bytes of memory."""
    given: dict[str, Any] = {
        "method": "datafly",
        "effort": None,
        "qi": ["Age"],
        "others": "drop",
        "hierarchies": {"Age": AGES},
        "suppression_limit": 0.2,
        "recode": {"Age": "top:11", "disease": "rare:25"},
        "models": [shoal.LDiversity("disease", l=2)],
        "insensitive": [],
        "drop": ["name", "age", "who", "own k"],
        "accept_unique": [],
    }
    models = given.pop("models")
    expected = shoal.anonymize(source, models=models, **GIVEN | given)
    expected.write(tmp_path / "out.csv")
    settings = settings_from(GIVEN | given)
    (tmp_path / "spark").mkdir()
    with open_source(str(source), settings, spark) as opened:
        output = tmp_path / "spark" / "out.csv"
        Job.from_settings(opened, settings, output, models=models, engine="spark").execute()
        on_parts = Job.from_settings(opened, settings, f"{tmp_path}/parts/", models=models, engine="spark")
        _, target, _ = write_release(on_parts, f"{tmp_path}/parts/")
    assert output.read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert text_of(target.path) == output.read_bytes().decode()


def test_spark_frame_in_and_out(source: Path, spark: Any, tmp_path: Path) -> None:
    """Columns that are not recoded keep their type, and the verifier reads the frame itself."""
    table = odd_table(1, 600).with_columns(pl.col("number").cast(pl.Int64))
    frame = spark.createDataFrame(table.to_arrow()).repartition(3)
    with shoal.spark.anonymize(frame, folder=tmp_path, **GIVEN) as release:
        assert dict(release.frame.dtypes)["number"] == "bigint"
        rows = pl.DataFrame(pl.from_arrow(release.frame.toArrow()))
        assert release.verdict.ok
    expected = in_memory(source, tmp_path / "memory.csv")
    (tmp_path / "again.csv").unlink(missing_ok=True)
    write_csv(rows.select(pl.all().cast(pl.String).fill_null("")), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes().decode() == expected
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith("shoal-")} == set()


def test_groups_that_share_one_value_are_noted(spark: Any, tmp_path: Path) -> None:
    """A01: as in memory, for parts of a release of groups and of a full-domain release."""
    write_csv(table_of_shared_values(900), tmp_path / "in.csv")
    datafly = {"method": "datafly", "hierarchies": {"age": hierarchy.intervals([3])}, "suppression_limit": 0.5}
    for given in ({}, datafly):
        expected = [note for note in shoal.anonymize(tmp_path / "in.csv", **ROLES | given).notes if SHARED in str(note)]
        with shoal.spark.anonymize(str(tmp_path / "in.csv"), spark=spark, folder=tmp_path, **ROLES | given) as release:
            assert [note for note in release.notes if SHARED in str(note)] == expected
        assert len(expected) == 1


def test_changed_part_fails_the_gate(source: Path, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict is about the bytes of the parts; a failed one leaves nothing (S01, S04)."""

    def damaged(rows: Any, rendering: Any, place: Path, form: Any) -> Any:
        parts = write_parts(rows, rendering, place, form)
        path = place / parts[-1].name
        lines = path.read_text().split("\n")
        lines[-2] = lines[-2].replace(lines[-2].split(",")[-1], "zzz")
        path.write_text("\n".join(lines))
        return parts

    monkeypatch.setattr(folder, "write_parts", damaged)
    with pytest.raises(VerificationError, match="part"):
        on_spark(spark, str(source), f"{tmp_path}/parts.csv/")
    assert {path.name for path in tmp_path.iterdir()} == {"source.csv"}


def test_gate_counts_people_itself(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executors count the people who share a bound once more; one that they do not share is found (C02)."""
    of_ten_rows = pl.Series([str(i // 10) for i in range(100)])
    write_csv(odd_table(4, 100).with_columns(number=of_ten_rows, who=of_ten_rows), tmp_path / "source.csv")
    monkeypatch.setattr(SparkSearcher, "count_holders", lambda *asked: 10**6)
    given: dict[str, Any] = {"recode": {"number": "top:90%"}, "person": "who", "drop": ["name", "own k"]}
    with pytest.raises(VerificationError, match="states another bound"):
        on_spark(spark, f"{tmp_path}/source.csv", f"{tmp_path}/parts.csv/", **given)
    assert {path.name for path in tmp_path.iterdir()} == {"source.csv"}


def few_values(n_rows: int) -> pl.DataFrame:
    """Columns of few values, which nearly every row combines in its own way, and people of two rows."""
    draw = random.Random(n_rows)
    columns = {f"q{i}": [f"v{draw.randrange(6)}" for _ in range(n_rows)] for i in range(8)}
    return pl.DataFrame(columns | {"who": [f"w{i // 2}" for i in range(n_rows)]})


def test_what_the_driver_fetches_does_not_grow_with_the_rows(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units, people and groups stay on executors: four times the rows, nearly all distinct, and as much as before."""
    from pyspark.sql.classic.dataframe import DataFrame

    fetched, fetch = [0], DataFrame.toArrow

    def counted(frame: Any) -> Any:
        table = fetch(frame)
        fetched[0] += table.nbytes
        return table

    monkeypatch.setattr(DataFrame, "toArrow", counted)
    found = []
    for n_rows in (400, 1600):
        monkeypatch.setattr(sections, "LARGEST_SECTION", n_rows // 2)  # as many sections in both
        write_csv(few_values(n_rows), tmp_path / f"{n_rows}.csv")
        fetched[0] = 0
        *names, sensitive, person = few_values(1).columns
        more = dict.fromkeys(["insensitive", "drop", "numeric", "accept_unique"])
        more |= {"qi": names, "sensitive": [sensitive], "models": [shoal.LDiversity(sensitive, l=3)]}
        more |= {"person": person}
        on_spark(spark, str(tmp_path / f"{n_rows}.csv"), f"{tmp_path}/{n_rows}/", searched=True, **more)
        found.append(fetched[0])
    assert found[1] < 2 * found[0]


def test_tables_of_any_tool_are_examined_on_executors(source: Path, spark: Any, tmp_path: Path) -> None:
    in_memory(source, tmp_path / "out.csv")
    released = tmp_path / "out.csv"
    frame = spark.createDataFrame(read_csv(released, delimiter=",", encoding="utf-8", header=True).frame.to_arrow())
    found, expected = shoal.spark.risk(frame, qi=QI), shoal.risk(released, qi=QI)
    assert (found.groups, found.prosecutor, found.met) == (expected.groups, expected.prosecutor, expected.met)
    reading: dict[str, Any] = {"numeric": ["Age"], "missing": ["NULL", ""]}
    measured = shoal.spark.measure(str(source), str(released), qi=QI, k=5, spark=spark, **reading)
    before = shoal.measure(source, released, qi=QI, k=5, **reading)
    assert (measured.groups, measured.dm, measured.md) == (before.groups, before.dm, before.md)
    assert measured.ncp == pytest.approx(before.ncp)
    with pytest.raises(UsageError, match="rows, which stay on Spark"):
        shoal.spark.measure(str(source), str(released), qi=QI, spark=spark, weights="auto")
    for data in (frame, str(released)):
        verdict = shoal.spark.verify(data, qi=QI, k=5, spark=spark)
        assert (verdict.rows, verdict.groups) == (600, found.groups)
        assert verdict.unchecked
    with pytest.raises(VerificationError, match="k=50"):
        shoal.spark.verify(frame, qi=QI, k=50)
    with pytest.raises(VerificationError, match="disease"):
        shoal.spark.verify(frame, qi=QI, k=5, models=[shoal.LDiversity("disease", l=9)])


REFUSED: dict[str, dict[str, Any]] = {
    "a method that groups rows": {"method": "mnqia", "effort": None},
}


@pytest.mark.parametrize("given", REFUSED.values(), ids=REFUSED)
def test_what_spark_cannot_do_is_refused(given: dict[str, Any], source: Path, spark: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="memory"):
        on_spark(spark, str(source), f"{tmp_path}/parts.csv/", **given)
    assert {path.name for path in tmp_path.iterdir()} == {"source.csv"}


def test_dictionaries_without_room_on_the_driver_are_refused(
    source: Path, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S07: a quasi-identifier with a value for nearly every row does not fill the driver's memory."""
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "10kB")
    with pytest.raises(FileError, match=r"more than 16 distinct cells need more than .* of memory on the driver"):
        on_spark(spark, str(source), f"{tmp_path}/parts.csv/")
    assert {path.name for path in tmp_path.iterdir()} == {"source.csv"}


def test_files_of_one_table_have_the_same_columns(spark: Any, tmp_path: Path) -> None:
    write_csv(odd_table(1, 50), tmp_path / "a.csv")
    write_csv(odd_table(1, 50).rename({"disease": "illness"}), tmp_path / "b.csv")
    with pytest.raises(shoal.errors.InputError, match="not those of the first file"):
        on_spark(spark, str(tmp_path), f"{tmp_path}/parts.csv/")


def test_cells_of_a_closed_frame_are_not_read(spark: Any) -> None:
    frame = cells.FrameCells(spark.range(3))
    with pytest.raises(AssertionError, match="closed"):
        frame.columns(["id"])
