"""Tables from standard input, SQLite, DuckDB and SPSS through the whole command line; columns that share a name."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

import shoal as library
from shoal.errors import InputError, UsageError
from tests.command import Shoal
from tests.naive.gate import naive_numbers

N_ROWS = 24
ROLES = ("-k", "3", "--qi", "age,sex", "--sensitive", "disease", "--others", "drop")


def patients() -> pl.DataFrame:
    rows = range(N_ROWS)
    return pl.DataFrame(
        {
            "name": [f"name{i:02}" for i in rows],
            "age": [30 + i * 7 % 12 for i in rows],
            "sex": ["fm"[i // 2 % 2] for i in rows],
            "disease": [("flu", "cold", "gout")[i % 3] for i in rows],
        }
    )


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> object:
    """Set what the next command reads from standard input."""

    def put(raw: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

    return put


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files, which must be empty after each command."""
    folder = tmp_path / "spool"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def release_of(shoal: Shoal, source: object, folder: Path, *words: str) -> bytes:
    out = folder / "expected.csv"
    ended = shoal("anonymize", source, "-o", out, "--force", *ROLES, *words)
    assert ended.code == 0, ended.err
    return out.read_bytes()


@pytest.mark.parametrize("form", ["csv", "parquet", "xlsx"])
def test_standard_input_gives_the_release_of_the_file(
    shoal: Shoal, tmp_path: Path, stdin: object, spool: Path, form: str
) -> None:
    data = tmp_path / f"data.{form}"
    frame = patients()
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "xlsx": frame.write_excel}[form](data)
    expected = release_of(shoal, data, tmp_path)
    stdin(data.read_bytes())  # type: ignore[operator]
    out = tmp_path / "out.csv"
    ended = shoal("anonymize", "-", "-o", out, *ROLES)
    assert ended.code == 0, ended.err
    assert out.read_bytes() == expected
    assert "shoal: standard input: " in ended.err
    assert str(spool) not in ended.err + ended.out
    stdin(data.read_bytes())  # type: ignore[operator]
    checked = shoal("verify", out, "--original", "-")
    assert checked.code == 0, checked.err
    assert list(spool.iterdir()) == []


def test_standard_input_in_the_other_commands(shoal: Shoal, tmp_path: Path, stdin: object, spool: Path) -> None:
    raw = patients().write_csv().encode()
    (tmp_path / "data.csv").write_bytes(raw)
    commands: list[tuple[object, ...]] = [
        ("init", "-", "-o", tmp_path / "shoal.toml"),
        ("describe", "-", "--qi", "sex"),
        ("risk", "-", "--qi", "sex"),
        ("verify", "-", "-k", "2", "--qi", "sex"),
        ("measure", "-", tmp_path / "data.csv", "--qi", "sex", "--json"),
        ("evaluate", tmp_path / "data.csv", "-", "--qi", "age,sex", "--queries", "10"),
        ("simulate", "-", "--qi", "sex", "--k", "2", "--repetitions", "10"),
        ("hierarchy", "propose", "-", "--column", "age"),
    ]
    for words in commands:
        stdin(raw)  # type: ignore[operator]
        ended = shoal(*words)
        assert ended.code == 0, (words, ended.err)
        assert str(spool) not in ended.err + ended.out, words
        assert list(spool.iterdir()) == [], words
        if words[0] == "init":
            assert "shoal anonymize - -o table-released.csv" in ended.out


def test_standard_input_is_private_while_it_is_read(tmp_path: Path) -> None:
    """The copy has mode 0600 and no name that tells anything, and is gone after a kill."""
    command = [sys.executable, "-m", "shoal", "describe", "-", "--qi", "age"]
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(b"age\n" + b"31\n" * 100_000)
        process.stdin.flush()
        copies: list[Path] = []
        while not copies and process.poll() is None:
            copies = list(tmp_path.rglob("standard-input"))
        assert [path.stat().st_mode & 0o777 for path in copies] == [0o600]
        assert copies[0].parent.stat().st_mode & 0o777 == 0o700
        process.terminate()
        assert process.wait() == 143
    assert list(tmp_path.rglob("standard-input")) == []


def test_what_standard_input_cannot_be(shoal: Shoal, tmp_path: Path, stdin: object, spool: Path) -> None:
    stdin(b"")  # type: ignore[operator]
    empty = shoal("anonymize", "-", "-o", tmp_path / "out.csv", *ROLES)
    assert (empty.code, empty.err) == (3, "shoal: standard input: no data rows: the file is empty.\n")
    stdin(b"age,sex\n31,f\n")  # type: ignore[operator]
    twice = shoal("measure", "-", "-", "--qi", "age")
    assert twice.code == 2
    assert "standard input can be read only once" in twice.err
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_database_files_give_the_release_of_the_same_csv(shoal: Shoal, tmp_path: Path, engine: str) -> None:
    frame = patients()
    frame.write_csv(tmp_path / "data.csv")
    rows, path = frame.rows(), tmp_path / "a file.db"
    url = f"{engine}:///{tmp_path}/a%20file.db?table=patients"
    connection = sqlite3.connect(path) if engine == "sqlite" else duckdb.connect(path)
    connection.execute("create table patients (name varchar, age integer, sex varchar, disease varchar)")
    connection.executemany("insert into patients values (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    expected = release_of(shoal, tmp_path / "data.csv", tmp_path)
    assert release_of(shoal, url, tmp_path) == expected
    out = tmp_path / "expected.csv"
    for words in (
        ("verify", out, "--original", url),
        ("measure", url, out),
        ("risk", url, "--qi", "age,sex"),
        ("init", url, "-o", tmp_path / "shoal.toml"),
        ("compare", url, "--qi", "sex", "--methods", "mondrian", "-k", "2", "--no-cache", "--jobs", "1"),
    ):
        ended = shoal(*words)
        assert ended.code == 0, (words, ended.err)
    assert shoal("anonymize", url, "-o", url, *ROLES).code == 2
    on_disk = shoal("anonymize", url, "-o", tmp_path / "d.csv", "--engine", "duckdb", "--memory", "500MB", *ROLES)
    assert on_disk.code == 0, on_disk.err
    assert (tmp_path / "d.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    assert shoal("anonymize", url, "-o", tmp_path / "o.csv", "--delimiter", ";", *ROLES).code == 2
    assert shoal("verify", out, "--original", path).code == 3


def test_an_output_never_replaces_the_database(shoal: Shoal, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"  # a database may have any name
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (age integer)")
        connection.executemany("insert into t values (?)", [(n % 3,) for n in range(12)])
    connection.close()
    before = path.read_bytes()
    words = ("-k", "2", "--qi", "age", "--force")
    ended = shoal("anonymize", f"sqlite:///{path}?table=t", "-o", path, *words)
    assert ended.code == 3
    assert "input and output are the same file" in ended.err
    assert path.read_bytes() == before


def test_spss_labels_are_released_and_verified(shoal: Shoal, tmp_path: Path) -> None:
    coded = pl.col("sex").replace_strict({"f": 2.0, "m": 1.0}, return_dtype=pl.Float64)
    frame = patients().with_columns(coded).to_pandas()
    labels = {"sex": {1: "m", 2: "f"}}
    pyreadstat.write_sav(frame, tmp_path / "data.sav", variable_value_labels=labels)
    patients().write_csv(tmp_path / "data.csv")
    expected = release_of(shoal, tmp_path / "data.csv", tmp_path)
    assert release_of(shoal, tmp_path / "data.sav", tmp_path) == expected
    checked = shoal("verify", tmp_path / "expected.csv", "--original", tmp_path / "data.sav")
    assert checked.code == 0, checked.err
    with pytest.raises(InputError, match=r"file of SPSS, which the verifier does not read\. Pass the table as a frame"):
        library.verify(tmp_path / "expected.csv", original=tmp_path / "data.sav")


def test_columns_that_share_a_name(shoal: Shoal, tmp_path: Path) -> None:
    text = "age,sex,value,value,value_2\n" + "".join(f"{30 + n % 4},{'fm'[n % 2]},1,2,3\n" for n in range(12))
    (tmp_path / "data.csv").write_text(text)
    words = ("-k", "3", "--qi", "age,sex", "--sensitive", "value_3", "--others", "drop")
    refused = shoal("anonymize", tmp_path / "data.csv", "-o", tmp_path / "out.csv", *words)
    assert refused.code == 3
    assert "columns 3, 4 have the same name" in refused.err
    assert "--duplicate-columns number" in refused.err
    for engine in ((), ("--engine", "duckdb", "--method", "datafly", "--suppression-limit", "0.5")):
        made = shoal(
            "anonymize",
            tmp_path / "data.csv",
            "-o",
            tmp_path / "out.csv",
            "--force",
            *words,
            *engine,
            "--duplicate-columns",
            "number",
        )
        assert made.code == 0, made.err
        assert "columns that share a name were numbered: 'value_3'" in made.err
        assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["duplicate_columns"] == "number"
        assert pl.read_csv(tmp_path / "out.csv")["value_3"].to_list() == [2] * 12
        assert shoal("verify", tmp_path / "out.csv", "--original", tmp_path / "data.csv").code == 0
    (tmp_path / "data.csv").write_text(text.replace(",1,2,3", ",1,7,3"))
    assert shoal("verify", tmp_path / "out.csv", "--original", tmp_path / "data.csv").code == 5


@pytest.mark.parametrize(
    "names", [["a", "a"], ["a", "a_2", "a", "a"], ["a", "b", "a", "b", "a_3", "a"], ["a_2", "a", "a_2", "a"]]
)
def test_reader_verifier_and_twin_number_alike(tmp_path: Path, names: list[str]) -> None:
    from shoal.tables.header import number_doubles
    from shoal.verification.reading.names import numbered

    expected = naive_numbers(names)
    assert len(set(expected)) == len(names)
    assert [new for old, new in zip(names, expected, strict=True) if names.count(old) == 1] == [
        name for name in names if names.count(name) == 1
    ]
    assert list(number_doubles(names)) == numbered(names) == expected


def test_frames_with_columns_that_share_a_name() -> None:
    cells = {"age": [30, 30, 31, 31], "value": [1, 2, 3, 4]}
    pandas = pd.DataFrame(cells).set_axis(["age", "age"], axis=1)
    arrow = pa.table(list(cells.values()), names=["age", "age"])
    for frame in (pandas, arrow):
        with pytest.raises(InputError, match="duplicate_columns='number'"):
            library.anonymize(frame, qi=["age"], k=2, others="drop")
        made = library.anonymize(
            frame, qi=["age"], insensitive=["age_2"], accept_unique=["age_2"], k=2, duplicate_columns="number"
        )
        assert [str(name) for name in getattr(made.frame, "column_names", made.frame.columns)] == ["age", "age_2"]
        library.verify(
            made.frame, qi=["age"], k=2, original=frame, reading=library.schema.Reading(duplicate_columns="number")
        )
    with pytest.raises(UsageError, match="duplicate_columns='both' is not known"):
        library.anonymize(pandas, qi=["age"], k=2, duplicate_columns="both")
