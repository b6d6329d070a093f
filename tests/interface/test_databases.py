"""Tables in a database, in and out, and files counted by DuckDB, on the command line."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal as package
from shoal.errors import FileError, UsageError, VerificationError
from shoal.spark.reading import find_files
from shoal.tables.sources.postgres import PostgresSource
from shoal.tables.sources.session import connect
from shoal.tables.sources.url import parse_url
from tests.command import Outcome, Shoal
from tests.postgres import PASSWORD, Server

WORDS = ("-k", 5, "--qi", "age,sex,zip", "--sensitive", "disease", "--others", "insensitive", "--drop", "name")
CANARY = "Zebedee Canary"


def patients(n_rows: int, seed: int = 0) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        [
            {
                "name": f"{CANARY} {i}",
                "age": draw.randrange(20, 60),
                "sex": draw.choice(["f", "m", None, ""]),
                "zip": f"0{draw.randrange(2130, 2150)}",
                "smoker": draw.choice([True, False]),
                "visits": draw.choice([0.5, 1.0, 2.0]),
                "disease": draw.choice(["flu", "cold", None]),
            }
            for i in range(n_rows)
        ]
    )


@pytest.fixture
def table(server: Server) -> str:
    """A fresh table of 400 patients, with types, nulls and empty texts."""
    frame = patients(400)
    server.run(
        "drop schema public cascade",
        "create schema public",
        "grant all on schema public to public",
        "create table patients (name text, age int, sex text, zip char(8), smoker boolean, visits float8, "
        "disease text)",
    )
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.executemany("insert into patients values (%s, %s, %s, %s, %s, %s, %s)", frame.rows())
    return server.url("patients")


@pytest.fixture
def rules(tmp_path: Path) -> tuple[str, ...]:
    """Hierarchies of age and zip as files."""
    lines = [
        f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};{age // 20 * 20}-{age // 20 * 20 + 19};*" for age in range(20, 60)
    ]
    (tmp_path / "age.csv").write_text("\n".join(lines) + "\n")
    lines = [f"0{code};0{code // 10}*;*" for code in range(2130, 2150)]
    (tmp_path / "zip.csv").write_text("\n".join(lines) + "\n")
    words = ("--hierarchy", f"age={tmp_path / 'age.csv'}", "--hierarchy", f"zip={tmp_path / 'zip.csv'}")
    return (*words, "--trust-hierarchies", "--method", "optimal")


def file_of(tmp_path: Path) -> Path:
    """The same patients as a file, with the cells that the reader of a frame gives."""
    from shoal.tables.formats.writers import write_csv
    from shoal.tables.table import from_frame

    path = tmp_path / "patients.csv"
    path.unlink(missing_ok=True)
    write_csv(from_frame(patients(400)).frame, path)
    return path


def tables(server: Server) -> set[str]:
    return {
        row[0] for row in server.run("select relname::text from pg_class where relnamespace = 'public'::regnamespace")
    }


def quiet(ended: Outcome) -> None:
    """Neither a cell of the table nor the password stands in what was printed."""
    for text in (ended.out, ended.err):
        assert PASSWORD not in text
        assert "Canary" not in text
        assert "Traceback" not in text


def test_the_same_bytes_from_every_engine(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path
) -> None:
    """D03, W18 in spirit: a file in memory, the file by DuckDB, a typed table by PostgreSQL; gate passed each time."""
    path = file_of(tmp_path)
    ends = [
        shoal("anonymize", path, "-o", tmp_path / "memory.csv", *WORDS, *rules),
        shoal(
            "anonymize", path, "-o", tmp_path / "duck.csv", *WORDS, *rules, "--engine", "duckdb", "--memory", "500MB"
        ),
        shoal("anonymize", table, "-o", tmp_path / "table.csv", *WORDS, *rules),
        shoal("anonymize", table, "-o", tmp_path / "rows.csv", *WORDS, *rules, "--engine", "memory"),
    ]
    for ended in ends:
        assert ended.code == 0, ended.err
        quiet(ended)
    bodies = {(tmp_path / f"{name}.csv").read_bytes() for name in ("memory", "duck", "table", "rows")}
    assert len(bodies) == 1
    assert b"20-" in bodies.pop()
    dictionaries = [
        json.loads((tmp_path / f"{n}.csv.dictionary.json").read_text()) for n in ("memory", "duck", "table")
    ]
    assert dictionaries[0]["columns"] == dictionaries[1]["columns"] == dictionaries[2]["columns"]
    manifests = [json.loads((tmp_path / f"{n}.csv.manifest.json").read_text()) for n in ("memory", "duck", "table")]
    for manifest in manifests:
        manifest.pop("file"), manifest.pop("beside")
    assert manifests[0] == manifests[1] == manifests[2]
    assert [p for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_other_formats_of_a_counted_release(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path, suffix: str
) -> None:
    path = file_of(tmp_path)
    assert shoal("anonymize", path, "-o", tmp_path / f"m{suffix}", *WORDS, *rules).code == 0
    for name, data, more in (("d", path, ("--engine", "duckdb")), ("t", table, ())):
        ended = shoal("anonymize", data, "-o", tmp_path / f"{name}{suffix}", *WORDS, *rules, *more)
        assert ended.code == 0, ended.err
        one, other = (package.read_table(tmp_path / f"{n}{suffix}").frame for n in ("m", name))
        assert one.equals(other)


def test_a_release_inside_the_database(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path
) -> None:
    """O05, O09: types of untouched columns stay, missing quasi-identifiers are null, the manifest is the comment."""
    ended = shoal("anonymize", table, "-o", server.url("released"), *WORDS, *rules, "--json")
    assert ended.code == 0, ended.err
    quiet(ended)
    told = json.loads(ended.out)
    assert told["output"] == f"postgresql://owner:***@127.0.0.1:{server.port}/clinic?table=released"
    types = server.run(
        "select attname::text, atttypid::regtype::text from pg_attribute "
        "where attrelid = 'released'::regclass and attnum > 0"
    )
    assert types == [
        *(("age", "text"), ("sex", "text"), ("zip", "text"), ("smoker", "boolean"), ("visits", "double precision")),
        ("disease", "text"),
    ]
    sizes = server.run("select count(*) from released group by age, sex, zip")
    assert min(size for (size,) in sizes) >= 5
    assert sum(size for (size,) in sizes) == 400
    before = server.run("select smoker, visits, disease, count(*) from patients group by 1, 2, 3 order by 1, 2, 3")
    assert (
        server.run("select smoker, visits, disease, count(*) from released group by 1, 2, 3 order by 1, 2, 3") == before
    )
    assert server.run("select count(*) from released where sex = ''") == [(0,)]
    remark = server.run("select obj_description('released'::regclass)")[0][0]
    content = json.loads(remark)
    assert content["k"] == 5
    assert content["table"] == "released"
    assert PASSWORD not in remark
    # the same rows as in a file
    assert shoal("anonymize", table, "-o", tmp_path / "file.csv", *WORDS, *rules).code == 0
    with PostgresSource(parse_url(server.url("released"))).opened(tmp_path) as source:
        loaded = source.read().frame
    written = package.read_csv(tmp_path / "file.csv").frame
    assert Counter(loaded.iter_rows()) == Counter(written.iter_rows())
    # rows lie in the order of their cells, so that nothing is told about the source (L04)
    inside = [tuple(row) for row in server.run("select age, coalesce(sex, ''), zip from released order by ctid")]
    assert inside == sorted(inside)


@pytest.mark.parametrize(
    "asked",
    [
        ("--l", 2),
        ("--t", 0.4),
        ("--suppression-limit", 0.2, "--method", "datafly"),
        ("--suppression-limit", 0.05),
        ("--l", 2, "--suppression-limit", 0.1, "--method", "incognito"),
    ],
    ids=str,
)
def test_models_and_suppression_on_counts(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path, asked: tuple[object, ...]
) -> None:
    """C12, C18: rows are left out and sensitive values counted alike by all engines; the gate counts both again."""
    path = file_of(tmp_path)
    words = (*WORDS, *rules, *asked)
    ended = shoal("anonymize", path, "-o", tmp_path / "memory.csv", *words, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    for name, data, more in (("duck", path, ("--engine", "duckdb")), ("table", table, ())):
        ended = shoal("anonymize", data, "-o", tmp_path / f"{name}.csv", *words, *more, "--json")
        assert ended.code == 0, ended.err
        again = json.loads(ended.out)
        assert (tmp_path / f"{name}.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()
        assert again["suppressed_rows"] == told["suppressed_rows"]
        assert again["measures"] == told["measures"]
        assert again["levels"] == told["levels"]
    ended = shoal("anonymize", table, "-o", server.url("released"), *words)
    assert ended.code == 0, ended.err
    assert server.run("select count(*) from released") == [(told["rows"],)]


def test_methods_that_need_rows_read_the_table(shoal: Shoal, server: Server, table: str, tmp_path: Path) -> None:
    words = (*WORDS, "--method", "mondrian")
    assert shoal("anonymize", table, "-o", tmp_path / "out.csv", *words).code == 0
    ended = shoal("anonymize", table, "-o", server.url("released"), *words)
    assert ended.code == 0, ended.err
    with PostgresSource(parse_url(server.url("released"))).opened(tmp_path) as source:
        loaded = source.read().frame
    assert Counter(loaded.iter_rows()) == Counter(package.read_csv(tmp_path / "out.csv").frame.iter_rows())
    ended = shoal("anonymize", file_of(tmp_path), "-o", server.url("other"), *words)
    assert ended.code == 0, ended.err
    assert server.run("select count(*) from other") == [(400,)]


def test_a_file_counted_by_duckdb_goes_into_a_table(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path
) -> None:
    words = (*WORDS, *rules, "--engine", "duckdb")
    ended = shoal("anonymize", file_of(tmp_path), "-o", server.url("other"), *words)
    assert ended.code == 0, ended.err
    assert server.run("select count(*), count(disease) from other where age is not null") == [
        (400, 400 - patients(400)["disease"].null_count())
    ]


def test_a_table_of_another_database_is_streamed(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...]
) -> None:
    server.run("drop database if exists archive", "create database archive", database="postgres")
    ended = shoal("anonymize", table, "-o", server.url("released", database="archive"), *WORDS, *rules)
    assert ended.code == 0, ended.err
    assert server.run("select count(*) from released", database="archive") == [(400,)]


def test_a_table_that_exists_needs_force(shoal: Shoal, server: Server, table: str, rules: tuple[str, ...]) -> None:
    """O06: refused without --force, before anything is counted; with it, replaced; a view is never replaced."""
    server.run("create table released (x int)", "insert into released values (7)")
    ended = shoal("anonymize", table, "-o", server.url("released"), *WORDS, *rules)
    assert ended.code == 6
    assert "exists already" in ended.err
    quiet(ended)
    assert server.run("select x from released") == [(7,)]
    server.run("create view other as select * from released")
    ended = shoal("anonymize", table, "-o", server.url("released"), *WORDS, *rules, "--force")
    assert ended.code == 6
    assert "depend on it" in ended.err
    ended = shoal("anonymize", table, "-o", server.url("other"), *WORDS, *rules, "--force")
    assert ended.code == 6
    assert "is a view" in ended.err
    server.run("drop view other")
    assert shoal("anonymize", table, "-o", server.url("released"), *WORDS, *rules, "--force").code == 0
    assert server.run("select count(age) from released") == [(400,)]
    assert not [name for name in tables(server) if "staging" in name]


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_input_is_not_the_output(shoal: Shoal, server: Server, table: str, method: str) -> None:
    """B27: the source is never replaced by its release, not even with --force."""
    ended = shoal("anonymize", table, "-o", server.url("public.patients"), *WORDS, "--method", method, "--force")
    assert ended.code == 3
    assert "same table" in ended.err
    assert server.run("select count(name) from patients") == [(400,)]


HOSTILE = ['we"ird.tab%le', "'; drop table patients; --", "select", "naïve 表 %s %%", "x" * 63, "cell", "label"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(shoal: Shoal, server: Server, name: str, tmp_path: Path) -> None:
    """B07: names are quoted, never run, in schema, table and columns."""
    from urllib.parse import quote

    odd, other = ('"' + each.replace('"', '""') + '"' for each in (name, name[:55] + "_"))
    server.run(
        f"drop schema if exists {odd} cascade",
        f"create schema {odd}",
        f'create table {odd}.{odd} ({odd} text, "a%sb" int, c0 text, "n" text)',
        f"insert into {odd}.{odd} select i % 3, i % 2, 'v' || i % 2, 'x' from generate_series(1, 60) as i",
    )
    place = quote(f"{odd}.{odd}", safe="")
    words = (
        "-k",
        12,
        "--qi",
        odd,
        "--qi",
        "a%sb",
        "--sensitive",
        "c0",
        "--others",
        "insensitive",
    )
    words = (*words, "--method", "optimal", "--categorical", "a%sb")
    ended = shoal("anonymize", server.url(place), "-o", tmp_path / "out.csv", *words)
    assert ended.code == 0, ended.err
    released = quote(f"{odd}.released", safe="")
    ended = shoal("anonymize", server.url(place), "-o", server.url(released), *words)
    assert ended.code == 0, ended.err
    assert server.run(f"select count(*) from {odd}.released") == [(60,)]
    ended = shoal(
        "anonymize",
        server.url(place),
        "-o",
        server.url(quote(f"{odd}.{other}", safe="")),
        *words[:-4],
        "--method",
        "mondrian",
    )
    assert ended.code == 0, ended.err
    server.run(f"drop schema {odd} cascade")


def test_nulls_and_empty_texts_are_one_missing_value(shoal: Shoal, server: Server, tmp_path: Path) -> None:
    """C05, C06: three nulls and two empty texts are one group of five, in the file and in the table."""
    server.run(
        "drop table if exists missing, released",
        "create table missing (a text, b text)",
        "insert into missing values (null, 'x'), (null, 'x'), (null, 'x'), ('', 'x'), ('', 'x')",
        "insert into missing select 'v', 'y' from generate_series(1, 5)",
    )
    words = ("-k", 5, "--qi", "a,b", "--method", "optimal")
    ended = shoal("anonymize", server.url("missing"), "-o", tmp_path / "out.csv", *words)
    assert ended.code == 0, ended.err
    assert Counter((tmp_path / "out.csv").read_text().splitlines()[1:]) == {",x": 5, "v,y": 5}
    assert shoal("anonymize", server.url("missing"), "-o", server.url("released"), *words).code == 0
    assert server.run("select a, b, count(*) from released group by 1, 2 order by 2") == [(None, "x", 5), ("v", "y", 5)]


REFUSED: dict[str, tuple[str, int, str]] = {
    "no such table": ("nowhere", 6, "the table does not exist"),
    "no such schema": ("nowhere.patients", 6, "the table does not exist"),
    "no table named": ("", 2, "names no table"),
    "nested name": ("a.b.c", 2, "not a name or schema.name"),
    "long name": ("x" * 64, 2, "at most 63"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_table_is_one_line(shoal: Shoal, server: Server, table: str, tmp_path: Path, case: str) -> None:
    """B01: exit 6 for what is not there, exit 2 for what cannot be."""
    name, code, text = REFUSED[case]
    ended = shoal("anonymize", server.url(name), "-o", tmp_path / "out.csv", *WORDS)
    assert (ended.code, text in ended.err) == (code, True), ended.err
    assert len(ended.err.strip().splitlines()) == 1
    quiet(ended)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_server_login_or_database(shoal: Shoal, server: Server, table: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    urls = {
        server.url("patients").replace(str(server.port), "1"): "refused",
        server.url("patients").replace(PASSWORD, f"{PASSWORD}x"): "password authentication failed",
        server.url("patients", database="nowhere"): "does not exist",
        server.url("patients").replace("?", "?passcode=oops&"): "not a valid PostgreSQL URL",
        server.url("patients").replace("127.0.0.1", "no-such-host.invalid"): "cannot be reached",
    }
    for url, text in urls.items():
        for words in ((url, "-o", out), (file_of(tmp_path), "-o", url)):
            ended = shoal("anonymize", *words, *WORDS)
            assert ended.code in (2, 6)
            assert text in ended.err or "no reason" in ended.err, ended.err
            quiet(ended)
            assert "oops" not in ended.err
    ended = shoal("anonymize", "mysql://a:b@c/d", "-o", out, *WORDS)
    assert ended.code == 2
    assert "a:b" not in ended.err


def test_missing_permission(shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path) -> None:
    """O02: no right to read, to make tables, to replace another role's table; row-level security hides nothing."""
    server.run(
        "drop role if exists guest",
        f"create role guest login password '{PASSWORD}'",
        "revoke create on schema public from public",
    )
    try:
        source, target = server.url("patients", user="guest"), server.url("released", user="guest")
        for words in ((source, "-o", tmp_path / "out.csv"), (table, "-o", target)):
            ended = shoal("anonymize", *words, *WORDS, *rules)
            assert ended.code == 6, ended.err
            assert "the role may not" in ended.err
            quiet(ended)
        server.run("grant create on schema public to guest", "create table released (x int)")
        ended = shoal("anonymize", table, "-o", target, *WORDS, *rules, "--force")
        assert ended.code == 6
        assert "belongs to another role" in ended.err
        server.run("grant select on patients to guest")
        assert shoal("anonymize", source, "-o", tmp_path / "out.csv", *WORDS, *rules).code == 0
        server.run("alter table patients enable row level security", "create policy few on patients using (age < 40)")
        ended = shoal("anonymize", source, "-o", tmp_path / "other.csv", *WORDS, *rules)
        assert ended.code == 6
        assert "row-level security" in ended.err
    finally:
        server.run("drop owned by guest", "drop role guest", "grant create on schema public to public")


def test_a_writer_that_may_not_read_the_source(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...]
) -> None:
    """One role reads, another writes: the release then comes over as a file."""
    server.run("drop role if exists clerk", f"create role clerk login password '{PASSWORD}'")
    try:
        ended = shoal("anonymize", table, "-o", server.url("released", user="clerk"), *WORDS, *rules)
        assert ended.code == 0, ended.err
        assert server.run("select count(*) from released") == [(400,)]
    finally:
        server.run("drop owned by clerk", "drop role clerk")


def test_no_command_shows_a_password(server: Server, table: str, tmp_path: Path) -> None:
    """URLs where none is expected, in a process of its own: what typer says is looked at, too."""
    out = str(tmp_path / "o.csv")
    cases = [
        (2, ["verify", table, "-k", "2", "--qi", "a"]),
        (2, ["measure", table, table, "--qi", "a"]),
        (2, ["init", table]),
        (2, ["anonymize", "data.csv", table, "-o", out]),
        (2, ["anonymize", "data.csv", f"--sensitve={table}"]),
        (2, ["anonymize", "data.csv", "-o", out, "-k", table]),
        (6, ["anonymize", "--output", out, "-k", "2", "--qi", "age", "--config", table, table]),
        (2, ["--debug", "anonymize", table, "-k", "2", "--qi", "nothing", "-o", out]),
    ]
    for code, words in cases:
        ended = subprocess.run(
            [sys.executable, "-m", "shoal", *words],
            capture_output=True,
            text=True,
        )
        assert ended.returncode == code, ended.stderr
        joined = "".join((ended.stdout + ended.stderr).replace("│", "").split())
        assert PASSWORD not in joined


def test_types_without_a_text_are_refused(shoal: Shoal, server: Server, tmp_path: Path) -> None:
    server.run(
        "drop table if exists typed",
        "create table typed (a int, b json, c int[], d date)",
        "insert into typed select i % 2, '{}', '{1}', '2020-01-01' from generate_series(1, 10) as i",
    )
    words = ("-k", 2, "--qi", "a,d", "--method", "optimal")
    ended = shoal("anonymize", server.url("typed"), "-o", tmp_path / "out.csv", *words, "--others", "insensitive")
    assert ended.code == 3
    assert "column 'b' has type json" in ended.err
    assert "column 'c' has type _int4" in ended.err
    assert shoal("anonymize", server.url("typed"), "-o", tmp_path / "out.csv", *words, "--others", "drop").code == 0
    server.run("insert into typed values (1, '{}', '{1}', 'infinity')")
    ended = shoal("anonymize", server.url("typed"), "-o", tmp_path / "out2.csv", *words, "--others", "drop")
    assert ended.code == 3
    assert "years 1 to 9999" in ended.err


def test_empty_tables_and_too_few_rows(shoal: Shoal, server: Server, tmp_path: Path) -> None:
    """B02, B03."""
    server.run("drop table if exists empty", "create table empty (a int)")
    for method in ("optimal", "mondrian"):
        ended = shoal(
            "anonymize", server.url("empty"), "-o", tmp_path / "o.csv", "-k", 2, "--qi", "a", "--method", method
        )
        assert ended.code == 3
        assert "no data rows" in ended.err
    server.run("insert into empty values (1)")
    ended = shoal(
        "anonymize", server.url("empty"), "-o", tmp_path / "o.csv", "-k", 2, "--qi", "a", "--method", "optimal"
    )
    assert ended.code == 4


def test_the_session_is_read_only(server: Server, table: str, tmp_path: Path) -> None:
    import psycopg

    with PostgresSource(parse_url(table)).opened(tmp_path) as source:
        for statement in ("create table x (y int)", "delete from public.patients", "create temp table x (y int)"):
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                source.connection.execute(f"savepoint s; {statement}".encode())
            source.connection.rollback()


def test_only_counts_leave_the_database_while_searching(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...]
) -> None:
    """The server's own log: a dry run asks for groups and counts, never for rows."""
    server.run("alter role owner set log_statement = 'all'", "alter role owner set log_min_duration_statement = -1")
    log = server.folder / "log"
    try:
        begin = log.stat().st_size
        assert shoal("anonymize", table, *WORDS, *rules, "--dry-run").code == 0
        said = log.read_text()[begin:]
    finally:
        server.run("alter role owner reset all")
    asked = [part for part in said.split("LOG:") if '"public"."patients"' in part]
    assert len(asked) > 3
    assert all("group by" in part for part in asked), said
    assert "Canary" not in said


@pytest.mark.parametrize("target", ["file", "table"])
def test_a_dropped_connection(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path, target: str, monkeypatch: Any
) -> None:
    """The server ends the sessions while the release is made: exit 6, nothing is left."""
    from shoal.tables.sources import postgres

    made = postgres.select_recoded

    def cut(*arguments: Any, **named: Any) -> Any:
        server.run(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'shoal'",
            "select pg_sleep(0.2)",
        )
        return made(*arguments, **named)

    monkeypatch.setattr("shoal.tables.sources.postgres.select_recoded", cut)
    monkeypatch.setattr("shoal.tables.targets.database.select_recoded", cut)
    before = tables(server)
    output = tmp_path / "out.csv" if target == "file" else server.url("released")
    ended = shoal("anonymize", table, "-o", output, *WORDS, *rules)
    assert ended.code == 6
    assert "connection was lost" in ended.err
    quiet(ended)
    assert tables(server) == before
    assert not (tmp_path / "out.csv").exists()


FAULTS = {
    "a row is lost": "delete from {s} where ctid = (select min(ctid) from {s})",
    "a row is doubled": "insert into {s} select * from {s} limit 1",
    "a label is wrong": "update {s} set age = '20-29' where ctid = (select min(ctid) from {s} where age <> '20-29')",
    "a group is below k": "update {s} set zip = '02139' where ctid = (select min(ctid) from {s})",
    "a sensitive cell is changed": "update {s} set disease = 'plague' where ctid = (select min(ctid) from {s})",
    "cells are emptied": "update {s} set visits = null where ctid in (select ctid from {s} limit 3)",
    "a column is added": "alter table {s} add column name text",
    "a column is lost": "alter table {s} drop column disease",
}


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_gate_in_the_database_stops_a_broken_release(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], fault: str, method: str, monkeypatch: Any
) -> None:
    """C02: made in the database or loaded into it, a staging table that is not true is exit 5 and gone."""
    from shoal.tables.targets.database import TableTarget

    for name in ("stage_recoded", "stage_file"):
        stage = getattr(TableTarget, name)

        def broken(self: TableTarget, *words: Any, stage: Any = stage) -> None:
            stage(self, *words)
            self.connection.execute(FAULTS[fault].format(s=f'public."{self.staging[1]}"').encode())

        monkeypatch.setattr(TableTarget, name, broken)
    server.run("create table released (x int)", "insert into released values (7)")
    ended = shoal("anonymize", table, "-o", server.url("released"), *WORDS, *rules[:-1], method, "--force")
    assert ended.code == 5, ended.err
    quiet(ended)
    assert server.run("select x from released") == [(7,)]
    assert not [name for name in tables(server) if "staging" in name]


def test_two_runs_do_not_write_the_same_table(shoal: Shoal, server: Server, table: str, rules: tuple[str, ...]) -> None:
    """O07: the second run ends with exit 6."""
    from shoal.tables.targets.database import TableTarget

    with TableTarget(parse_url(server.url("released"))):
        ended = shoal("anonymize", table, "-o", server.url("public.released"), *WORDS, *rules)
        assert ended.code == 6
        assert "another run" in ended.err
    assert shoal("anonymize", table, "-o", server.url("released"), *WORDS, *rules).code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_the_target_as_it_was(
    server: Server, table: str, rules: tuple[str, ...], number: int
) -> None:
    """O03, O04: the server undoes what was not committed; no staging table is left."""
    server.run("create table released (x int)", "insert into released values (7)")
    trap = (
        "from shoal import verification\nimport time, sys\n"
        "def check(*a, **b):\n    print('staged', flush=True)\n    a[0].execute(b'select pg_sleep(30)')\n"
        "verification.check_recoded = check\nfrom shoal.cli.supervisor import main\nmain()"
    )
    words = [
        sys.executable,
        "-c",
        trap,
        "anonymize",
        table,
        "-o",
        server.url("released"),
        *map(str, WORDS),
        *rules,
        "--force",
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ})
    assert process.stdout is not None
    assert process.stdout.readline() == b"staged\n"
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert process.returncode in (128 + number, -number), error
    for _ in range(100):
        if not server.run("select 1 from pg_stat_activity where application_name = 'shoal' and state <> 'idle'"):
            break
        server.run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'shoal'")
        time.sleep(0.1)
    assert server.run("select x from released") == [(7,)]
    assert not [name for name in tables(server) if "staging" in name]


LONG = """
from shoal.cli.quick import use_light_dataclasses
use_light_dataclasses()  # as the command does before it loads anything
from shoal.tables.sources.duckdb import DuckSource
def count(self, names):
    print("counting", flush=True)
    return self.session.ask("select count(*) from range(1000000000000) as a(n) where hash(n) = 1")
DuckSource.count = count
from shoal.cli.supervisor import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_count_of_a_file_leaves_nothing(
    shoal: Shoal, rules: tuple[str, ...], tmp_path: Path, number: int
) -> None:
    """O03, O04, L17: a long query ends at once; what a killed run left is removed, by itself or by the next."""
    words = ["anonymize", str(file_of(tmp_path)), "-o", str(tmp_path / "out.csv"), *map(str, WORDS), *rules]
    words += ["--engine", "duckdb"]
    process = subprocess.Popen([sys.executable, "-c", LONG, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"counting\n"
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert process.returncode in (128 + number, -number), error
    if number != signal.SIGKILL:
        assert all(path.is_file() for path in tmp_path.iterdir())
    for _ in range(100):  # after kill -9, the process that works ends by itself
        if not any(path.is_dir() for path in tmp_path.iterdir()):
            break
        time.sleep(0.1)
    assert shoal(*words).code == 0
    assert all(path.is_file() for path in tmp_path.iterdir())


def test_a_database_in_another_encoding(shoal: Shoal, server: Server, tmp_path: Path) -> None:
    """B11: text is text whatever the server stores it in; rows leave in the order of their UTF-8 bytes."""
    server.run("drop database if exists latin", database="postgres")
    server.run("create database latin encoding 'LATIN1' locale 'C' template template0", database="postgres")
    server.run(
        "create table t (a text, b text)",
        "insert into t select x, x from unnest(array['é', 'z', 'ÿ', 'a', 'µ']) as x, generate_series(1, 4)",
        database="latin",
    )
    ended = shoal(
        "anonymize",
        server.url("t", database="latin"),
        "-o",
        tmp_path / "o.csv",
        "-k",
        3,
        "--qi",
        "a,b",
        "--method",
        "optimal",
    )
    assert ended.code == 0, ended.err
    assert (tmp_path / "o.csv").read_text().splitlines()[1::4] == ["a,a", "z,z", "µ,µ", "é,é", "ÿ,ÿ"]


def test_psycopg_is_an_extra(shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "psycopg" else find(name, *more)
    )
    for words in (
        ("postgresql://u@h/d?table=t", "-o", tmp_path / "o.csv"),
        (file_of(tmp_path), "-o", "postgres://h/d?table=t"),
    ):
        ended = shoal("anonymize", *words, *WORDS)
        assert ended.code == 2
        assert "pip install 'shoal[sql]'" in ended.err
        assert len(ended.err.strip().splitlines()) == 1


def test_engines_say_what_they_cannot_do(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path
) -> None:
    path, out = file_of(tmp_path), tmp_path / "out.csv"
    cases = [
        ((path, "--engine", "oracle"), "not known"),
        ((path, "--engine", "memory", "--memory", "1GB"), "--memory limits"),
        ((path, "--memory", "10"), "is less than any run takes"),
        ((path, "--engine", "duckdb", "--memory", "much"), "not a size"),
        ((path, "--engine", "duckdb", "--method", "mnqia"), "'mnqia' groups rows"),
        ((path, "--engine", "duckdb", *rules, "--keep-order"), "--keep-order"),
        ((path, "--engine", "duckdb", *rules, "--cells", "bounds"), "--cells bounds"),
    ]
    for words, text in cases:
        ended = shoal("anonymize", words[0], "-o", out, *WORDS, *words[1:])
        assert ended.code == 2, ended.err
        assert text in ended.err
    ended = shoal("anonymize", path, "-o", tmp_path / "o.xlsx", *WORDS, *rules, "--engine", "duckdb")
    assert ended.code == 2
    ended = shoal("anonymize", table, "-o", server.url("released"), *WORDS, *rules, "--keep-order")
    assert ended.code == 2
    assert "--keep-order" in ended.err
    assert shoal("anonymize", table, "-o", out, *WORDS, *rules, "--keep-order").code == 0  # by rows


def test_standard_output_and_dry_run(
    shoal: Shoal, server: Server, table: str, rules: tuple[str, ...], tmp_path: Path
) -> None:
    assert shoal("anonymize", table, "-o", tmp_path / "out.csv", *WORDS, *rules).code == 0
    ended = shoal("anonymize", table, "-o", "-", *WORDS, *rules)
    assert ended.out == (tmp_path / "out.csv").read_text()
    assert shoal("anonymize", file_of(tmp_path), *WORDS, *rules, "--dry-run", "--engine", "duckdb").code == 0


def test_connect_and_errors_from_python(server: Server, table: str, tmp_path: Path) -> None:
    gone = PostgresSource(parse_url(server.url("gone")))
    with pytest.raises(FileError, match="the table does not exist"), gone.opened(tmp_path):
        pass
    with pytest.raises(UsageError, match="names 2 tables"):
        parse_url("postgresql://h/d?table=a&table=b")
    assert parse_url("postgresql://u:p@ss:w/rd@h/d?table=t").shown == "postgresql://u:***@h/d?table=t"
    assert PASSWORD not in repr(parse_url(server.url("x")))
    connect(parse_url(table), read_only=True).close()
    assert VerificationError.exit_code == 5


MILLION = """
import resource, sys
from shoal.cli.main import run
try:
    run()
finally:
    sys.stderr.write(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
"""


@pytest.mark.slow
def test_a_million_rows_from_every_engine(server: Server, tmp_path: Path, record_property: Any) -> None:
    """O08: the same bytes; what memory each took is noted with the test, and not judged."""
    draw = np.random.default_rng(5)
    n = 1_000_000
    frame = pl.DataFrame(
        {
            "age": draw.integers(18, 90, n).astype(str),
            "zip": draw.integers(10_000, 10_400, n).astype(str),
            "sex": draw.choice(["f", "m", ""], n),
            "disease": draw.choice([f"d{i}" for i in range(30)], n),
        }
    )
    frame.write_csv(tmp_path / "big.csv")
    server.run("drop table if exists big", "create table big (age text, zip text, sex text, disease text)")
    server.copy("big", frame)
    (tmp_path / "zip.csv").write_text("".join(f"{code};{code // 100}**;*\n" for code in range(10_000, 10_400)))
    words = ["-k", "50", "--qi", "age,zip,sex", "--sensitive", "disease", "--hierarchy", f"zip={tmp_path / 'zip.csv'}"]
    words += ["--trust-hierarchies", "--method", "optimal"]
    runs = {
        "duckdb": [str(tmp_path / "big.csv"), "--engine", "duckdb", "--memory", "500MB"],
        "postgresql": [server.url("big")],
        "memory": [str(tmp_path / "big.csv")],
    }
    bodies = set()
    for name, given in runs.items():
        out = tmp_path / f"{name}.csv"
        ended = subprocess.run(
            [sys.executable, "-c", MILLION, "anonymize", *given, "-o", str(out), *words], capture_output=True, text=True
        )
        assert ended.returncode == 0, ended.stderr
        record_property(name, ended.stderr.splitlines()[-1])
        bodies.add(out.read_bytes())
    assert len(bodies) == 1


def test_hints_that_lead_on(shoal: Shoal, tmp_path: Path) -> None:
    """A folder of parts needs Spark; Spark reads no database; errors about counted rows name no row (C05)."""
    path = file_of(tmp_path)
    ended = shoal("anonymize", path, "-o", f"{tmp_path}/parts.csv/", *WORDS)
    assert ended.code == 2
    assert "names a folder of parts. Use --engine spark" in ended.err
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "_manifest.json").write_text("{}")
    for words in (("verify",), ("risk", "--qi", "age"), ("measure", "--qi", "age", path)):
        ended = shoal(*words, tmp_path / "parts")
        assert ended.code == 2
        assert "is a release in parts. Examine it with --engine spark" in ended.err
    with pytest.raises(UsageError, match="Spark does not read databases"):
        find_files(f"sqlite:///{tmp_path}/x.db?table=t", {})
    rows = [f"{n % 3},{'0' if n == 150 else 2}" for n in range(1, 200)]
    (tmp_path / "ks.csv").write_text("\n".join(["age,kk", *rows]) + "\n")
    for engine, place in (("memory", "the cell at row 150 is not"), ("duckdb", "the cell is not")):
        ended = shoal(
            "anonymize", tmp_path / "ks.csv", "-o", tmp_path / "o.csv", "-k", 2, "--qi", "age", "--k-column", "kk",
            "--engine", engine,
        )  # fmt: skip
        assert ended.code == 3
        assert place in ended.err
