"""Ranges as two columns of bounds: every command reads them, frames have them, and they come back typed."""

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
from shoal.errors import UsageError, VerificationError
from tests.command import Shoal

QI = ["age", "born", "sex"]
ROWS = 24


def patients() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [None if i == 7 else 20 + i * 7 % 30 for i in range(ROWS)],
            "born": [date(1990, 1 + i % 12, 1 + i) for i in range(ROWS)],
            "sex": [("f", "m", "")[i * 5 // 3 % 3] for i in range(ROWS)],
            "disease": [("flu", "cold", "gout")[i % 3] for i in range(ROWS)],
        }
    )


def write(folder: Path, cells: str, name: str = "out.csv") -> library.Release:
    patients().write_csv(folder / "data.csv")
    # Exact ends: the upper end of a half-open range is not one of its values, but bounds have no bracket to say so.
    release = library.anonymize(patients(), qi=QI, sensitive=["disease"], k=3, cells=cells, ends="exact")
    release.write(folder / name, force=True)
    return release


@pytest.mark.parametrize("with_manifest", [True, False])
@pytest.mark.parametrize("form", ["out.csv", "out.parquet", "out.xlsx"])
def test_every_command_reads_bounds_as_it_reads_ranges(
    shoal: Shoal, tmp_path: Path, with_manifest: bool, form: str
) -> None:
    answers: dict[str, list[Any]] = {}
    for cells in ("text", "bounds"):
        write(tmp_path, cells, form)
        roles = () if with_manifest else ("--no-manifest", "--qi", "age,born,sex")
        out, data = tmp_path / form, tmp_path / "data.csv"
        k = () if with_manifest else ("-k", "3")
        sensitive = () if with_manifest else ("--sensitive", "disease")
        for command in (
            ("measure", data, out, "--json"),
            ("evaluate", data, out, "--json", "--queries", "20"),
            ("risk", out, "--json"),
            ("describe", out, "--json", *sensitive),
            ("verify", out, "--original", data, "--json", *k),
        ):
            ended = shoal(*command, *roles)
            assert ended.code == 0, (command, ended.err)
            answer = json.loads(ended.out)
            for key in ("seconds", "notes", "unchecked"):
                answer.pop(key, None)
            answers.setdefault(command[0], []).append(answer)
    for command, (of_text, of_bounds) in answers.items():
        assert of_bounds == of_text, command


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_frames_have_typed_bounds_and_can_be_checked(kind: str) -> None:
    frame: Any = patients()
    frame = frame.to_pandas() if kind == "pandas" else frame.to_arrow() if kind == "pyarrow" else frame
    release = library.anonymize(frame, qi=QI, sensitive=["disease"], k=3, cells="bounds")
    made = release.frame
    names = made.column_names if kind == "pyarrow" else list(made.columns)
    assert names == ["age_min", "age_max", "born_min", "born_max", "sex", "disease"]
    if kind == "polars":
        assert made.schema["age_min"] == pl.Int64
        assert made.schema["born_max"] == pl.Date
    elif kind == "pandas":
        assert pd.api.types.is_numeric_dtype(made["age_min"])
        assert pd.api.types.is_datetime64_any_dtype(made["born_min"])
    else:
        assert made.schema.field("age_max").type == pa.int64()
    library.verify(made, qi=QI, k=3, original=frame)
    assert library.describe(made, qi=QI).k >= 3
    assert library.risk(made, qi=QI).uniques == 0
    measured = library.measure(frame, made, qi=QI)
    assert measured.ncp >= release.measures.ncp - 1e-9
    assert measured.smallest_group >= 3


def test_a_frame_with_a_false_bound_is_refused() -> None:
    release = library.anonymize(patients(), qi=["age", "sex"], k=3, cells="bounds", others="drop")
    false = release.frame.with_columns(age_min=pl.col("age_max"))
    with pytest.raises(VerificationError, match="age"):
        library.verify(false, qi=["age", "sex"], k=1, original=patients())


@pytest.mark.parametrize("cells", ["text", "bounds"])
@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.xlsx"])
def test_read_release_gives_typed_bounds_and_lists(tmp_path: Path, cells: str, name: str) -> None:
    release = write(tmp_path, cells, name)
    frame = library.read_release(tmp_path / name)
    assert frame.schema["age_min"] == frame.schema["age_max"] == pl.Int64
    assert frame.schema["born_min"] == frame.schema["born_max"] == pl.Date
    assert frame.schema["sex"] == pl.List(pl.String)
    bounds = library.anonymize(patients(), qi=QI, sensitive=["disease"], k=3, cells="bounds", ends="exact").frame
    columns = ["age_min", "age_max", "born_min", "born_max"]
    assert frame.select(columns).sort(columns).equals(bounds.select(columns).sort(columns))
    assert frame.height == release.measures.rows
    assert {member for members in frame["sex"].drop_nulls() for member in members} <= {"f", "m", None}
    assert any(len(members) > 1 for members in frame["sex"].drop_nulls())


def test_read_release_in_other_libraries_and_its_errors(tmp_path: Path) -> None:
    write(tmp_path, "text")
    assert isinstance(library.read_release(tmp_path / "out.csv", library="pandas"), pd.DataFrame)
    assert isinstance(library.read_release(tmp_path / "out.csv", library="pyarrow"), pa.Table)
    with pytest.raises(UsageError, match="library='dask' is not known"):
        library.read_release(tmp_path / "out.csv", library="dask")
    manifest = tmp_path / "out.csv.manifest.json"
    elsewhere = manifest.rename(tmp_path / "m.json")
    with pytest.raises(UsageError, match="no manifest"):
        library.read_release(tmp_path / "out.csv")
    assert library.read_release(tmp_path / "out.csv", manifest=elsewhere).height == ROWS
    with open(tmp_path / "out.csv", "a") as file:
        file.write("*,*,*,flu\n")
    with pytest.raises(VerificationError, match="do not agree"):
        library.read_release(tmp_path / "out.csv", manifest=elsewhere)


def test_read_release_of_half_open_ranges_decimals_and_labels(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": [str(20 + i % 10) for i in range(12)],
            "cost": [f"1{i % 4},5" for i in range(12)],
            "zip": [f"0213{i % 4}" for i in range(12)],
            "odd": ['a, "b"', "two\nlines", "d"] * 4,
        }
    )
    hierarchies = {"zip": library.hierarchy.prefixes(mask=1)}
    release = library.anonymize(
        frame, qi=["age", "cost", "zip", "odd"], k=6, decimal=",", hierarchies=hierarchies, method="mondrian"
    )
    release.write(tmp_path / "out.csv")
    read = library.read_release(tmp_path / "out.csv")
    assert read.schema["cost_min"] == pl.Float64
    assert read.schema["zip"] == pl.String
    assert set(read["cost_min"]) <= {10.5, 11.5, 12.5, 13.5}
    assert {member for members in read["odd"].drop_nulls() for member in members} <= {'a, "b"', "two\nlines", "d"}


def test_measure_with_declared_domains(shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("age,born,sex\n20,2000-01-01,f\n30,2000-01-11,m\n")
    (tmp_path / "out.csv").write_text('age,born,sex\n"[20, 30]","[2000-01-01, 2000-01-11]","{f, m}"\n' * 1)
    with open(tmp_path / "out.csv", "a") as file:
        file.write('"[20, 30]","[2000-01-01, 2000-01-11]","{f, m}"\n')
    words = ("measure", tmp_path / "data.csv", tmp_path / "out.csv", "--qi", "age,born,sex", "--json")
    plain = json.loads(shoal(*words).out)["measures"]["per_attribute"]
    assert plain == {"age": 1.0, "born": 1.0, "sex": 1.0}
    domains = ("--domain", "age=0:100", "--domain", "born=2000-01-01:2000-04-10", "--domain", 'sex=f:m:x:"y:z"')
    wide = json.loads(shoal(*words, *domains).out)["measures"]["per_attribute"]
    assert wide == {"age": 0.1, "born": 0.1, "sex": 0.5}
    for wrong in ("age=100:0", "age=a:b", "age=1:2:3", "age=5"):
        ended = shoal(*words, "--domain", wrong)
        assert ended.code == 2, wrong
        assert "domain" in ended.err
    assert shoal(*words, "--domain", "zip=1:2").code == 2
