"""Tables in files of SQLite and DuckDB: names, types, loose typing, and what is refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import polars as pl
import pytest

import shoal
from shoal.errors import FileError, InputError, UsageError

SECRET = "Zyx-Secret"


def sqlite_file(path: Path, *statements: str) -> str:
    """Make a database with SQL; return the beginning of its URL."""
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return f"sqlite:///{path}?table="


def duckdb_file(path: Path, *statements: str) -> str:
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return f"duckdb:///{path}?table="


def test_sqlite_gives_each_value_its_text_and_type(tmp_path: Path) -> None:
    url = sqlite_file(
        tmp_path / "a.db",
        'create table "odd ""name.x" (age integer, score real, name text, other blob)',
        """insert into "odd ""name.x" values (30, 2, 'Ménière', null), (null, 2.5, '', null)""",
    )
    table = shoal.read_table(f"{url}%22odd %22%22name.x%22")
    assert table.frame.rows() == [("30", "2.0", "Ménière", ""), ("", "2.5", "", "")]
    assert table.types == {"age": pl.Int64, "score": pl.Float64}


def test_sqlite_text_in_a_column_of_integers_stays_as_it_is_and_is_noted(tmp_path: Path) -> None:
    url = sqlite_file(
        tmp_path / "a.db", "create table t (age integer)", f"insert into t values (30), ('{SECRET}'), ('31')"
    )
    table = shoal.read_table(f"{url}t")
    assert table.frame["age"].to_list() == ["30", SECRET, "31"]  # SQLite itself makes 31 an integer
    assert table.types == {}
    assert "column 'age': is declared as integers, but 1 cell is text; all are read as they are" in table.notes
    assert not any(SECRET in note for note in table.notes)


def test_views_and_schemas_are_read(tmp_path: Path) -> None:
    url = sqlite_file(
        tmp_path / "a.db", "create table t (a)", "insert into t values (1)", "create view v as select a from t"
    )
    assert shoal.read_table(f"{url}main.v").frame.rows() == [("1",)]
    url = duckdb_file(
        tmp_path / "a.duckdb",
        "create schema ward",
        'create table ward."t.x" as select 1 as a',
        'create view v as select a + 1 as b from ward."t.x"',
    )
    assert shoal.read_table(f"{url}ward.%22t.x%22").frame.rows() == [("1",)]
    assert shoal.read_table(f"{url}v").frame.rows() == [("2",)]


def test_duckdb_gives_each_value_its_text_and_type(tmp_path: Path) -> None:
    cells = {
        "i": ("7::tinyint", "7", pl.Int8),
        "u": ("7::ubigint", "7", pl.UInt64),
        "h": ("170141183460469231731687303715884105727::hugeint", "170141183460469231731687303715884105727", None),
        "f": ("0.1::float", "0.1", pl.Float32),
        "g": ("0.1::double", "0.1", pl.Float64),
        "d": ("1.20::decimal(5, 2)", "1.20", pl.Decimal(5, 2)),
        "day": ("date '2020-01-02'", "2020-01-02", pl.Date),
        "at": ("timestamp '2020-01-02 03:04:05.6'", "2020-01-02 03:04:05.600000", pl.Datetime("us")),
        "ns": ("timestamp_ns '2020-01-02 03:04:05.123456789'", "2020-01-02 03:04:05.123456789", pl.Datetime("ns")),
        "zone": ("timestamptz '2020-01-02 03:04:05+02'", "2020-01-02 01:04:05+00:00", pl.Datetime("us", "UTC")),
        "t": ("time '01:02:03'", "01:02:03", pl.Time),
        "b": ("true", "True", pl.Boolean),
        "e": ("'low'::mood", "low", None),
        "s": ("'é'", "é", None),
    }
    chosen = ", ".join(f"{sql} as {name}" for name, (sql, _, _) in cells.items())
    url = duckdb_file(
        tmp_path / "a.duckdb",
        "create type mood as enum ('low', 'high')",
        f"create table t as select {chosen}",
        "insert into t (i) values (null)",
    )
    table = shoal.read_table(f"{url}t")
    assert table.frame.rows() == [tuple(text for _, text, _ in cells.values()), ("",) * len(cells)]
    assert table.types == {name: dtype for name, (_, _, dtype) in cells.items() if dtype is not None}


def test_what_has_no_text_is_refused_without_a_cell(tmp_path: Path) -> None:
    url = sqlite_file(tmp_path / "a.db", "create table t (a, b)", f"insert into t values (1, cast('{SECRET}' as blob))")
    with pytest.raises(InputError, match="column 'b' contains a BLOB"):
        shoal.read_table(f"{url}t")
    url = sqlite_file(tmp_path / "b.db", "create table t (a)", "insert into t values (cast(x'c328' as text))")
    with pytest.raises(InputError, match="column 'a' contains text that is not valid Unicode"):
        shoal.read_table(f"{url}t")
    url = duckdb_file(
        tmp_path / "a.duckdb", f"create table t as select [1] as a, '{SECRET}'::blob as b, interval 1 day as c, 1 as d"
    )
    with pytest.raises(
        InputError, match=r"'a' has type INTEGER.*\n.*'b' has type BLOB.*\n.*'c' has type INTERVAL"
    ) as caught:
        shoal.read_table(f"{url}t")
    assert "'d'" not in str(caught.value)
    url = duckdb_file(tmp_path / "b.duckdb", "create table t as select date '-infinity' as a")
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        shoal.read_table(f"{url}t")


def test_a_view_of_duckdb_cannot_read_other_files(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(f"a\n{SECRET}\n")
    url = duckdb_file(tmp_path / "a.duckdb", f"create view v as select * from read_csv('{tmp_path}/other.csv')")
    with pytest.raises(InputError, match="cannot be read as a DuckDB database"):
        shoal.read_table(f"{url}v")


def test_the_file_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    url = sqlite_file(path, "pragma journal_mode = wal", "create table t (a)", "insert into t values (1)")
    duck = duckdb_file(tmp_path / "a.duckdb", "create table t as select 1 as a")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    shoal.read_table(f"{url}t")
    shoal.read_table(f"{duck}t")
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("url", "error", "match"),
    [
        ("sqlite:///{0}/a.db?table=zz", InputError, "no table or view 'zz'. Its tables: 't'"),
        ("sqlite:///{0}/a.db?table=other.t", InputError, "no table or view 't'"),
        ("duckdb:///{0}/a.duckdb?table=zz", InputError, "Its tables: 't', 'ward.u'"),
        ("duckdb:///{0}/a.db?table=t", InputError, "is not a DuckDB database"),
        ("sqlite:///{0}/a.duckdb?table=t", InputError, "is not an SQLite database"),
        ("sqlite:///{0}/a.db", UsageError, "names no table"),
        ("sqlite:///{0}/a.db?table=t&table=u", UsageError, "names 2 tables"),
        ("sqlite:///{0}/a.db?table=t&mode=rw", UsageError, "parameter 'mode'"),
        ("sqlite://{0}", UsageError, "names no table"),
        ("sqlite:///?table=t", UsageError, "names no file"),
        ("sqlite:///{0}/none.db?table=t", FileError, "no such file"),
        ("mysql://host/db?table=t", UsageError, "read from files and from PostgreSQL"),
        ("postgresql://ann:pw@host/db?table=t", UsageError, "ann:.{3}@host.*only anonymize"),
        ("{0}/a.db", InputError, "Name its table: sqlite:///FILE"),
        ("{0}/a.duckdb", InputError, "Name its table: duckdb:///FILE"),
    ],
)
def test_urls_that_name_nothing(tmp_path: Path, url: str, error: type[Exception], match: str) -> None:
    sqlite_file(tmp_path / "a.db", "create table t (a)", "insert into t values (1)")
    duckdb_file(
        tmp_path / "a.duckdb", "create table t as select 1 as a", "create schema ward", "create table ward.u (a int)"
    )
    with pytest.raises(error, match=match):
        shoal.read_table(url.format(tmp_path))


def test_an_absolute_path_with_three_slashes_is_explained(tmp_path: Path) -> None:
    sqlite_file(tmp_path / "a.db", "create table t (a)")
    with pytest.raises(FileError, match=f"four slashes: sqlite:///{tmp_path}/a.db"):
        shoal.read_table(f"sqlite:///{str(tmp_path)[1:]}/a.db?table=t")


def test_an_empty_table_has_no_rows(tmp_path: Path) -> None:
    url = sqlite_file(tmp_path / "a.db", "create table t (a)")
    with pytest.raises(InputError, match="no data rows"):
        shoal.read_table(f"{url}t")


def test_a_view_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B13: memory is bounded by what is available, not by what a view claims."""
    endless = (
        "with recursive n(i) as (select 1 union all select i + 1 from n) select i, printf('%01000d', i) as t from n"
    )
    url = sqlite_file(tmp_path / "a.db", f"create view v as {endless}")
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "300MB")
    with pytest.raises(FileError, match="of memory"):
        shoal.read_table(f"{url}v")
    url = duckdb_file(tmp_path / "a.duckdb", "create table t as select repeat('x', 100000) as a from range(1000)")
    with pytest.raises((InputError, FileError), match=r"of memory|expands"):
        shoal.read_table(f"{url}t")
