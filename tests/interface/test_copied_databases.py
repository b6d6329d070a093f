"""Tables of SQLite, DuckDB and PostgreSQL, copied block by block and counted by DuckDB."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import shoal as package
from shoal.errors import FileError, InputError, TooLargeError, UsageError, VerificationError
from shoal.tables.formats.database_file import duckdb_file, sqlite_file
from shoal.tables.sources import duck_session, numbering, postgres
from shoal.tables.sources.dealing import DuckDealer
from tests.command import Shoal
from tests.interface.test_databases import CANARY, patients
from tests.postgres import PASSWORD, Server

COLUMNS = "name varchar, age integer, sex varchar, zip varchar, smoker boolean, visits float, disease varchar"
WAYS: dict[str, dict[str, Any]] = {
    "shoaling": {"sensitive": ["disease"]},
    "mondrian, diversity": {
        "method": "mondrian",
        "sensitive": ["disease"],
        "models": [package.LDiversity("disease", l=2)],
    },
    "centres": {"sensitive": ["disease"], "cells": "center", "spread": True},
    "order": {"sensitive": ["disease"], "keep_order": True},
    "datafly": {"method": "datafly", "insensitive": ["disease"], "suppression_limit": 0.2, "hierarchies": "auto"},
}


@pytest.fixture
def places(tmp_path: Path, server: Server) -> dict[str, str]:
    """The same patients, with types and nulls, in a file of SQLite, a file of DuckDB and on a server."""
    import psycopg

    rows = patients(400, seed=2).rows()
    lite, duck = sqlite3.connect(tmp_path / "clinic.db"), duckdb.connect(tmp_path / "clinic.duckdb")
    for file in (lite, duck):
        file.execute(f"create table patients ({COLUMNS})")
        file.executemany("insert into patients values (?, ?, ?, ?, ?, ?, ?)", rows)
        file.commit()
        file.close()
    server.run("drop schema public cascade", "create schema public", "grant all on schema public to public")
    server.run(f"create table patients ({COLUMNS.replace('float', 'float8')})", "analyze patients")
    with psycopg.connect(server.url(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.executemany("insert into patients values (%s, %s, %s, %s, %s, %s, %s)", rows)
    return {
        "sqlite": f"sqlite:///{tmp_path}/clinic.db?table=patients",
        "duckdb": f"duckdb:///{tmp_path}/clinic.duckdb?table=patients",
        "postgres": server.url("patients"),
    }


def made(url: str, folder: Path, **given: Any) -> tuple[bytes, bytes]:
    """Write a release; return its bytes and those of its manifest."""
    folder.mkdir()
    options: dict[str, Any] = {"k": 5, "qi": ["age", "sex", "zip"], "others": "insensitive", "drop": ["name"], **given}
    package.anonymize(url, **options).write(folder / "out.csv")
    return (folder / "out.csv").read_bytes(), (folder / "out.csv.manifest.json").read_bytes()


@pytest.mark.parametrize("given", WAYS.values(), ids=WAYS)
def test_copied_table_has_the_bytes_of_memory(
    given: dict[str, Any], places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read in small blocks. The databases are only read."""
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name, url in places.items():
        expected = made(url, tmp_path / f"{name} memory", engine="memory", **given)
        monkeypatch.setattr(duckdb_file, "BLOCK_ROWS", 37)
        monkeypatch.setattr(sqlite_file, "BLOCK_ROWS", 41)
        monkeypatch.setattr(postgres, "BLOCK_BYTES", 1000)
        monkeypatch.setattr(numbering, "MOST_TEXTS", 5)
        found = made(url, tmp_path / f"{name} duckdb", engine="duckdb", memory="500MB", **given)
        assert found == expected, name
        monkeypatch.undo()
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_no_block_is_kept(places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that does not fit into memory is refused there, and copied block by block for DuckDB."""
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "10kB")
    monkeypatch.setattr(duck_session, "ALLOWANCE", 10**9)
    for name, url in places.items():
        with pytest.raises(TooLargeError, match=r"needs about .* of memory") as caught:
            made(url, tmp_path / f"{name} memory", sensitive=["disease"], engine="memory")
        assert PASSWORD not in str(caught.value)
        limited = made(url, tmp_path / f"{name} limited", sensitive=["disease"], memory="500MB")
        assert made(url, tmp_path / name, sensitive=["disease"]) == limited
        assert PASSWORD not in package.anonymize(url, k=5, qi=["age", "sex"], others="drop").notes[0].text


def test_odd_integers_are_noted(tmp_path: Path) -> None:
    """B10: SQLite stores a text in a column of integers; both engines say how many there are."""
    with sqlite3.connect(tmp_path / "odd.db") as connection:
        connection.execute("create table t (age integer, zip text)")
        rows = [(n % 4 if n % 9 else "old", f"{n % 3}") for n in range(60)]
        connection.executemany("insert into t values (?, ?)", rows)
    connection.close()
    options: dict[str, Any] = {"k": 3, "qi": ["age", "zip"], "categorical": ["age"]}
    url = f"sqlite:///{tmp_path}/odd.db?table=t"
    notes = [
        [str(note) for note in package.anonymize(url, engine=engine, **options).notes]
        for engine in ("memory", "duckdb")
    ]
    assert any("declared as integers" in note for note in notes[0])
    assert notes[0] == notes[1]


def test_what_cannot_be_read_is_refused(places: dict[str, str], tmp_path: Path, server: Server) -> None:
    """Errors name the table and no cell; a URL never shows its password."""
    with duckdb.connect(tmp_path / "odd.duckdb") as file:
        file.execute("create table lists (age integer[]); create table empty (age integer)")
    options: dict[str, Any] = {"k": 5, "qi": ["age"], "others": "drop", "engine": "duckdb"}
    cases: list[tuple[str, type[Exception], str]] = [
        (f"duckdb:///{tmp_path}/odd.duckdb?table=lists", InputError, "has type INTEGER"),
        (f"duckdb:///{tmp_path}/odd.duckdb?table=empty", InputError, "no data rows"),
        (f"duckdb:///{tmp_path}/odd.duckdb?table=none", InputError, "no table or view 'none'"),
        (f"sqlite:///{tmp_path}/none.db?table=t", FileError, "no such file|does not exist|cannot be read"),
        (server.url("none"), FileError, "the table does not exist"),
    ]
    for url, kind, words in cases:
        with pytest.raises(kind, match=words) as caught:
            package.anonymize(url, **options)
        assert PASSWORD not in str(caught.value)
    with pytest.raises(UsageError, match="a database, which has no delimiter"):
        package.anonymize(places["sqlite"], delimiter=";", **options)
    with pytest.raises(UsageError, match="reads files and databases"):
        package.anonymize(pl.DataFrame({"age": ["1"] * 9}), **options)


@pytest.mark.parametrize("name", ["sqlite", "duckdb", "postgres"])
def test_gate_reads_the_database_again(
    name: str, places: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C02: a row of the copy that is not a row of the database does not leave, and no cell is shown."""
    deal = DuckDealer.deal

    def tampered(self: DuckDealer, dealing: Any, written: Path) -> None:
        deal(self, dealing, written)
        written.write_bytes(written.read_bytes().replace(b",flu\n", b",cold\n", 1))

    monkeypatch.setattr(DuckDealer, "deal", tampered)
    with pytest.raises(VerificationError, match="not made from the rows of the source") as caught:
        made(places[name], tmp_path / "there", sensitive=["disease"], engine="duckdb")
    assert CANARY not in str(caught.value)
    assert list((tmp_path / "there").iterdir()) == []


def test_release_of_a_server_goes_to_a_server(places: dict[str, str], server: Server, shoal: Shoal) -> None:
    """The table itself is refused as output; another one has the released rows."""
    words = ["-k", "5", "--qi", "age,sex,zip", "--sensitive", "disease", "--others", "drop", "--engine", "duckdb"]
    refused = shoal("anonymize", places["postgres"], "-o", places["postgres"], "--force", *words)
    assert (refused.code, "input and output are the same table" in refused.err) == (3, True)
    ended = shoal("anonymize", places["postgres"], "-o", server.url("released"), *words)
    assert ended.code == 0, ended.err
    groups = "select count(*) as n from released group by age, sex, zip"
    assert server.run(f"select sum(n), min(n) >= 5 from ({groups}) as g") == [(400, True)]
