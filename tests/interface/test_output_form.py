"""The form of a released file: its delimiter, and the types of the columns that are released unchanged."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal as library
from shoal.errors import VerificationError
from shoal.verification.gate import gate
from shoal.verification.manifest.manifest import sha256_of
from tests.command import Shoal

ILLS = ("flu", "a|b", "c,d")
TABLE = "name;age;cost;disease\n" + "".join(f"n{i};{20 + i % 9};{i % 4},5;{ILLS[i % 3]}\n" for i in range(24))
ROLES = ("-k", "4", "--qi", "age", "--sensitive", "disease,cost", "--others", "drop")


def make(shoal: Shoal, folder: Path, name: str, *words: str) -> Path:
    (folder / "data.csv").write_text(TABLE)
    out = folder / name
    ended = shoal("anonymize", folder / "data.csv", "-o", out, "--force", *ROLES, *words)
    assert ended.code == 0, ended.err
    return out


@pytest.mark.parametrize(("word", "delimiter"), [(";", ";"), ("tab", "\t"), ("input", ";"), ("|", "|"), (",", ",")])
def test_the_release_has_the_delimiter_and_every_command_reads_it(
    shoal: Shoal, tmp_path: Path, word: str, delimiter: str
) -> None:
    out = make(shoal, tmp_path, "out.csv", "--output-delimiter", word)
    assert out.read_text().splitlines()[0] == delimiter.join(["age", "cost", "disease"])
    plain = make(shoal, tmp_path, "plain.csv")
    read = pl.read_csv(out, separator=delimiter, infer_schema=False)
    assert read.equals(pl.read_csv(plain, infer_schema=False))
    assert json.loads(Path(f"{out}.manifest.json").read_text())["layout"]["delimiter"] == delimiter
    data = tmp_path / "data.csv"
    for words in (
        ("verify", out, "--original", data),
        ("verify", out, "--no-manifest", "-k", "4", "--qi", "age", "--output-delimiter", word),
        ("measure", data, out),
        ("measure", data, out, "--no-manifest", "--qi", "age"),
        ("risk", out),
        ("describe", out),
        ("evaluate", data, out, "--queries", "10"),
    ):
        ended = shoal(*words)
        assert ended.code == 0, (words, ended.err)
    assert library.read_release(out).equals(library.read_release(plain))


def test_another_delimiter_than_the_manifest_states_is_refused(shoal: Shoal, tmp_path: Path) -> None:
    out = make(shoal, tmp_path, "out.csv", "--output-delimiter", ";")
    manifest = Path(f"{out}.manifest.json")
    content = json.loads(manifest.read_text())
    for delimiter, code in ((",", 5), ("a", 3), ("", 5), (7, 3)):
        content["layout"]["delimiter"] = delimiter
        manifest.write_text(json.dumps(content))
        assert shoal("verify", out).code == code, delimiter


def test_cells_are_quoted_for_the_delimiter_and_no_others(shoal: Shoal, tmp_path: Path) -> None:
    text = make(shoal, tmp_path, "out.csv.gz", "--output-delimiter", "|").read_bytes()
    lines = gzip.decompress(text).decode().splitlines()
    assert any('"a|b"' in line for line in lines)
    assert all('"c,d"' not in line for line in lines)
    out = make(shoal, tmp_path, "out.csv", "--output-delimiter", "|")
    out.write_text(out.read_text().replace("|c,d\n", '|"c,d"\n', 1))
    manifest = Path(f"{out}.manifest.json")
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content | {"sha256": sha256_of(out)}))
    ended = shoal("verify", out)
    assert ended.code == 5
    assert "quotes around a cell that needs none" in ended.err


def test_what_has_no_delimiter(shoal: Shoal, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(TABLE)
    for name in ("out.parquet", "out.xlsx"):
        words = ("anonymize", tmp_path / "data.csv", "-o", tmp_path / name, *ROLES)
        ended = shoal(*words, "--output-delimiter", ";")
        assert ended.code == 2
        assert "has no delimiter" in ended.err
    for wrong in ("ab", "x", '"'):
        ended = shoal("anonymize", tmp_path / "data.csv", "-o", tmp_path / "o.csv", *ROLES, "--output-delimiter", wrong)
        assert ended.code == 2
        assert "--output-delimiter" in ended.err


def typed() -> pl.DataFrame:
    rows = range(24)
    day = date(2020, 1, 1)
    return pl.DataFrame(
        {
            "age": [20 + i % 9 for i in rows],
            "visits": pl.Series([None if i == 3 else i % 4 for i in rows], dtype=pl.Int16),
            "cost": [i % 4 + 0.5 for i in rows],
            "small": pl.Series([0.1] * 24, dtype=pl.Float32),
            "day": [day + timedelta(days=i % 4) for i in rows],
            "at": [datetime(2020, 1, 1, 12 * (i % 2), 30 * (i % 2)) for i in rows],
            "zone": pl.Series([datetime(2020, 1, 1, 12)] * 24, dtype=pl.Datetime("ns", "Europe/Berlin")),
            "time": [time(12, 30)] * 24,
            "paid": [i % 3 == 0 for i in rows],
            "price": pl.Series([Decimal("1.20")] * 24, dtype=pl.Decimal(6, 2)),
            "text": ["0213", "02139"] * 12,
        }
    )


SENSITIVE = [name for name in typed().columns if name != "age"]
KEPT = {name: dtype for name, dtype in typed().schema.items() if name != "age"} | {"zone": pl.Datetime("us", "UTC")}


@pytest.mark.parametrize("source", ["polars", "pandas", "pyarrow", "in.parquet", "in.arrow"])
def test_unchanged_columns_of_parquet_keep_their_type(tmp_path: Path, source: str) -> None:
    data: Any = typed()
    if source == "pandas":
        data = data.select("age", "visits", "cost", "at", "paid", "text").to_pandas()
    elif source == "pyarrow":
        data = data.to_arrow()
    elif source != "polars":
        data.write_parquet(tmp_path / source) if source == "in.parquet" else data.write_ipc(tmp_path / source)
        data = tmp_path / source
    names = ["visits", "cost", "at", "paid", "text"] if source == "pandas" else SENSITIVE
    release = library.anonymize(data, qi=["age"], sensitive=names, k=4)
    release.write(tmp_path / "out.parquet")
    schema = dict(pl.read_parquet_schema(tmp_path / "out.parquet"))
    assert schema.pop("age") == pl.String
    if source == "pandas":
        assert schema == {
            "visits": pl.Float64,
            "cost": pl.Float64,
            "at": schema["at"],
            "paid": pl.Boolean,
            "text": pl.String,
        }
        assert isinstance(schema["at"], pl.Datetime)
    else:
        assert schema == KEPT | ({"zone": pl.Datetime("ns", "UTC")} if source == "in.parquet" else {})
    written = pl.read_parquet(tmp_path / "out.parquet")
    expected = typed().select(names).with_columns(pl.col("zone").dt.convert_time_zone("UTC") if "zone" in names else [])
    for name in names:
        assert sorted(written[name].cast(pl.String).fill_null("")) == sorted(
            expected[name].cast(written[name].dtype).cast(pl.String).fill_null("")
        ), name
    assert pq.read_table(tmp_path / "out.parquet").schema.field("paid").type == pa.bool_()
    assert pd.read_parquet(tmp_path / "out.parquet")["cost"].dtype == "float64"
    library.verify(tmp_path / "out.parquet", original=data if source in ("pandas", "in.parquet") else None)
    assert library.read_release(tmp_path / "out.parquet").schema["cost"] == pl.Float64


def test_columns_of_text_and_quasi_identifiers_stay_text(tmp_path: Path) -> None:
    typed().write_csv(tmp_path / "data.csv")
    library.anonymize(tmp_path / "data.csv", qi=["age"], sensitive=SENSITIVE, k=4).write(tmp_path / "out.parquet")
    assert set(pl.read_parquet_schema(tmp_path / "out.parquet").values()) == {pl.String}


@pytest.mark.parametrize("fault", ["value", "null", "nan", "zero", "qi"])
def test_a_wrong_typed_cell_is_caught(tmp_path: Path, fault: str) -> None:
    data = (
        typed()
        .with_columns(cost=pl.when(pl.col("visits") == 1).then(0.0).otherwise("cost"))
        .select("age", "visits", "cost")
    )
    release = library.anonymize(data, qi=["age"], sensitive=["visits", "cost"], k=4)
    out = tmp_path / "out.parquet"
    release.write(out)
    frame = pl.read_parquet(out)
    first = pl.int_range(pl.len()) == 0
    zero = pl.col("cost") == 0.0
    changed = {
        "value": frame.with_columns(visits=pl.when(first).then(9).otherwise("visits").cast(pl.Int16)),
        "null": frame.with_columns(visits=pl.when(first).then(None).otherwise("visits").cast(pl.Int16)),
        "nan": frame.with_columns(cost=pl.when(first).then(float("nan")).otherwise("cost")),
        "zero": frame.with_columns(cost=pl.when(zero).then(-0.0).otherwise("cost")),
        "qi": frame.with_columns(age=pl.lit(20)),
    }[fault]
    with open(out, "wb") as file:
        changed.lazy().sink_parquet(file, compression="zstd", statistics=False, maintain_order=True)
    manifest = Path(f"{out}.manifest.json")
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(content | {"sha256": sha256_of(out)}))
    with pytest.raises(VerificationError) as caught:
        library.verify(out, original=data)
    if fault in ("nan", "zero"):
        assert "a float that is not a number, or a negative zero" in str(caught.value)
    source = {name: release.original.frame[name].to_list() for name in data.columns}
    assert not gate(out, release.schema, 4, source, release.file_rows, release.claims()).ok
