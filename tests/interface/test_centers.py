"""Releases of centres: every command knows them, plain tools read them, and what is false in them is found."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal as library
from shoal.errors import VerificationError
from tests.command import Shoal

ROWS = 60
QI = ["age", "born", "sex", "city"]


def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + i * 7 % 41 for i in range(ROWS)],
            "born": [date(1990, 1 + i % 12, 1 + i % 28) for i in range(ROWS)],
            "sex": ["fm"[i * 5 // 3 % 2] for i in range(ROWS)],
            "city": ["Rome" if i == 31 else ("Oslo", "Bonn")[i % 2] for i in range(ROWS)],
            "disease": [("flu", "cold", "gout")[i % 3] for i in range(ROWS)],
        }
    )


def write(folder: Path, name: str = "out.csv", **options: Any) -> library.Release:
    people().write_csv(folder / "data.csv")
    release = library.anonymize(
        people(), qi=QI, sensitive=["disease"], k=4, cells="center", effort="fast", **{"spread": True, **options}
    )
    release.write(folder / name, force=True)
    return release


@pytest.mark.parametrize("form", ["out.csv", "out.parquet", "out.xlsx"])
def test_every_command_knows_centres(shoal: Shoal, tmp_path: Path, form: str) -> None:
    release = write(tmp_path, form)
    out, data = tmp_path / form, tmp_path / "data.csv"
    answers = {}
    for command in (
        ("measure", data, out),
        ("evaluate", data, out, "--queries", "20"),
        ("risk", out),
        ("describe", out),
        ("verify", out, "--original", data),
    ):
        ended = shoal(*command, "--json")
        assert ended.code == 0, (command, ended.err)
        answers[command[0]] = json.loads(ended.out)
    measured = answers["measure"]
    assert measured["measures"]["ncp"] is None
    assert measured["measures"]["centers"]["city"]["vanished"] == 1
    assert measured["groups"] == answers["verify"]["groups"] == release.measures.groups
    assert 0.5 < measured["measures"]["centers"]["age"]["sd_ratio"] < 1
    assert answers["risk"]["prosecutor"]["max"] <= 0.25
    assert any("not true of each row" in note for note in map(str, answers["verify"]["unchecked"]))
    explained = shoal("explain", out, "--original", data, "--row", "3")
    assert explained.code == 2
    assert "cover no row" in explained.err


def test_anonymize_says_what_centres_are_and_what_vanished(shoal: Shoal, tmp_path: Path) -> None:
    people().write_csv(tmp_path / "data.csv")
    words = ("anonymize", tmp_path / "data.csv", "-o", tmp_path / "out.csv", "-k", 4, "--qi", ",".join(QI))
    ended = shoal(*words, "--sensitive", "disease", "--cells", "center", "--report", tmp_path / "r.html")
    assert ended.code == 0, ended.err
    assert "not true of each row" in ended.out
    assert "city 1 of 3" in ended.out
    assert "Rome" not in ended.out + ended.err
    assert "all values behind a mean" in ended.err
    public, private = (json.loads((tmp_path / name).read_text()) for name in ("r.json", "r.private.json"))
    assert private["centers"]["columns"][3]["vanished"] == ["Rome"]
    assert public["centers"] == {"choice": "mean", "spread": False, "columns": []}
    assert "Rome" in (tmp_path / "r.private.html").read_text()
    assert "Rome" not in (tmp_path / "r.html").read_text()
    assert "not true of each row" in (tmp_path / "r.html").read_text()
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert (manifest["cells"], manifest["center"], manifest["ends"]) == ("center", "mean", None)
    assert "ncp" not in manifest["measures"]
    refused = shoal(
        *words, "--cells", "center", "--force", "--engine", "duckdb", "--others", "drop", "--method", "optimal"
    )
    assert refused.code == 2
    assert "--cells center depends on rows" in refused.err


def test_plain_tools_read_a_plain_table(tmp_path: Path) -> None:
    for name in ("out.csv", "out.parquet", "out.xlsx"):
        write(tmp_path, name)
    text = pd.read_csv(tmp_path / "out.csv", parse_dates=["born"])
    book, parquet = pd.read_excel(tmp_path / "out.xlsx"), pl.read_parquet(tmp_path / "out.parquet")
    assert list(text) == [*("age", "age_sd", "born", "born_sd", "sex", "sex_share", "city", "city_share", "disease")]
    for frame in (text, book):
        assert pd.api.types.is_integer_dtype(frame["age"])
        assert pd.api.types.is_numeric_dtype(frame["age_sd"])
    assert pd.api.types.is_datetime64_any_dtype(text["born"])
    assert parquet.schema["age"] == pl.Int64
    assert parquet.schema["born"] == pl.Date
    assert parquet["age"].sort().to_list() == sorted(text["age"]) == sorted(book["age"])
    for name in ("out.csv", "out.parquet", "out.xlsx"):
        read = library.read_release(tmp_path / name)
        assert read.schema["age"] == pl.Int64
        assert read.schema["born"] == pl.Date
        assert read.schema["sex_share"] == pl.Float64
        assert read["born"].sort().to_list() == parquet["born"].sort().to_list()


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_frames_are_typed_in_every_library(kind: str) -> None:
    frame: Any = people()
    frame = frame.to_pandas() if kind == "pandas" else frame.to_arrow() if kind == "pyarrow" else frame
    release = library.anonymize(frame, qi=QI, sensitive=["disease"], k=4, cells="center", effort="fast")
    made = release.frame
    assert isinstance(made, {"polars": pl.DataFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table}[kind])
    read = pl.DataFrame(made) if kind != "pyarrow" else pl.from_arrow(made)
    assert isinstance(read, pl.DataFrame)
    assert read.schema["age"].is_integer()
    assert read.schema["born"].is_temporal()
    library.verify(made, qi=QI, k=4, original=frame, cells="center")
    assert library.measure(frame, made, qi=QI, cells="center").centers["age"].sd_ratio is not None
    assert release.to_numeric(["age"]).shape == (ROWS, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": pl.col("age") + 1}, "mean"),
        ({"age": pl.col("age") + 100}, "not the centre of any rows"),
        ({"age": pl.lit("[20, 30]")}, "not the centre of any rows"),
        ({"city": pl.lit("Rome")}, "more groups than the original has rows"),
        ({"city": pl.lit("Paris")}, "not the centre of any rows"),
        ({"disease": pl.lit("flu")}, "cannot be matched"),
    ],
)
def test_centres_that_no_groups_have_are_found_without_the_groups(change: dict[str, Any], words: str) -> None:
    release = library.anonymize(people(), qi=QI, sensitive=["disease"], k=4, cells="center", effort="fast")
    false = release.frame.with_columns(**change)
    with pytest.raises(VerificationError, match=words):
        library.verify(false, qi=QI, k=1, sensitive=["disease"], original=people(), cells="center")


def test_rows_in_order_are_compared_with_the_rows_that_share_their_cells() -> None:
    for center in ("mean", "median"):
        options: dict[str, Any] = {"cells": "center", "center": center, "keep_order": True}
        release = library.anonymize(people(), qi=QI, sensitive=["disease"], k=4, effort="fast", **options)
        library.verify(release.frame, qi=QI, k=4, original=people(), **options)
        ages = release.frame["age"]
        swapped = ages.replace(ages.min(), 0).replace(ages.max(), ages.min()).replace(0, ages.max())
        with pytest.raises(VerificationError, match=r"not the centre|is not that of the original"):
            library.verify(release.frame.with_columns(age=swapped), qi=QI, k=1, original=people(), **options)


def test_a_manifest_cannot_turn_ranges_into_centres(shoal: Shoal, tmp_path: Path) -> None:
    write(tmp_path)
    config = 'k = 4\n[columns.age]\nrole = "qi"\n' + "".join(f'[columns.{n}]\nrole = "qi"\n' for n in QI[1:])
    (tmp_path / "shoal.toml").write_text(config + '[columns.disease]\nrole = "sensitive"\n')
    ended = shoal("verify", tmp_path / "out.csv", "--config", tmp_path / "shoal.toml")
    assert ended.code == 5
    assert "centres (mean) in the manifest" in ended.err


def with_ids(ids: list[str]) -> pl.DataFrame:
    return people().with_columns(pid=pl.Series(ids))


def test_people_behind_centres_are_counted_as_far_as_other_columns_tell(tmp_path: Path) -> None:
    """Four rows have a disease of one person: no group of them alone can be one of four people."""
    ids = [f"p{i // 2}" for i in range(ROWS)]
    rare = pl.int_range(ROWS) < 4
    table = with_ids(["p0"] * 4 + ids[4:]).with_columns(disease=pl.when(rare).then(pl.lit("rare")).otherwise("disease"))
    table = table.with_columns(age=pl.when(rare).then(99).otherwise("age"))
    table.write_csv(tmp_path / "data.csv")
    options: dict[str, Any] = {"qi": ["age"], "sensitive": ["disease"], "others": "drop", "cells": "center"}
    for person, fails in (({}, True), ({"person": "pid"}, False)):
        out = tmp_path / f"{fails}.csv"
        library.anonymize(tmp_path / "data.csv", k=4, **options, **person).write(out)
        assert library.verify(out, original=tmp_path / "data.csv").ok
        if fails:
            with pytest.raises(VerificationError, match=r"1 of [0-9]+ groups .*1 person"):
                library.verify(out, original=tmp_path / "data.csv", person="pid")
            continue
        verdict = library.verify(out, original=tmp_path / "data.csv", person="pid")
        assert verdict.counts_people
        assert any("the people behind the centres" in str(note) for note in verdict.unchecked)


def test_people_of_rows_in_order_are_known(tmp_path: Path) -> None:
    """Every person has three rows, which nothing but their place tells from others."""
    table = with_ids([f"p{i // 3}" for i in range(ROWS)]).with_columns(age=pl.int_range(ROWS) // 3)
    options: dict[str, Any] = {"qi": ["age"], "others": "drop", "cells": "center", "keep_order": True}
    by_rows = library.anonymize(table, k=3, **options)
    by_people = library.anonymize(table, k=3, person="pid", **options)
    asked: dict[str, Any] = {"qi": ["age"], "k": 3, "original": table, "person": "pid", "cells": "center"}
    library.verify(by_people.frame, **asked, keep_order=True)
    library.verify(by_rows.frame, **asked)
    with pytest.raises(VerificationError, match="person"):
        library.verify(by_rows.frame, **asked, keep_order=True)
