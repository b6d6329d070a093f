"""Every engine gives the same frequency sets and the same release of the same table."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal import hierarchy
from shoal.encoding.encode import encode, guess_kinds
from shoal.hierarchy.base import Rule
from shoal.methods.full_domain.frequency import Counted, FrequencyEngine, MemoryEngine
from shoal.release.counted_tables.pushdown import count_table
from shoal.schema import Role, Schema
from shoal.tables.csv import read_csv
from shoal.tables.formats import blocks, columnar
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources.base import Recoding, Source
from shoal.tables.sources.duckdb import DuckSource
from shoal.tables.sources.memory import TableSource
from shoal.tables.sources.postgres import PostgresSource
from shoal.tables.sources.url import parse_url
from shoal.tables.table import from_frame
from tests.postgres import Server

ODD = [
    "",
    " ",
    "a",
    "A",
    "á",
    "a\u0301",
    'say "hi"',
    "two\nlines",
    "x,y",
    "#1",
    "0",
    "00",
    "\\N",
    "\\.",
    "NULL",
    "'",
    "%s",
]
ENGINES = ("memory", "duckdb csv", "duckdb parquet", "postgresql")


def odd_table(seed: int, n_rows: int) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "Age": [draw.choice(["", "7", "07.0", "7.0", "10", "-3", "2.5e1", " 25"]) for _ in range(n_rows)],
            "age": [draw.choice(ODD) for _ in range(n_rows)],
            'we"ird %s, näme': [draw.choice(["2020-01-31", "2020-02-01", "", "1999-12-31"]) for _ in range(n_rows)],
            "disease": [draw.choice(ODD) for _ in range(n_rows)],
        }
    )


def schema_of(frame: pl.DataFrame) -> Schema:
    roles = {Role.QI: frame.columns[:3][::-1], Role.SENSITIVE: ["disease"]}
    return Schema.build(frame.columns, roles, missing=["NULL"])


@contextmanager
def opened(engine: str, frame: pl.DataFrame, folder: Path, server: Server | None) -> Iterator[Source]:
    """Lay a table of text where an engine finds it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if engine == "postgresql":
        assert server is not None
        load(server, "odd", frame)
        with PostgresSource(parse_url(server.url("odd"))).opened(folder) as source:
            yield source
        return
    if engine == "memory":
        yield TableSource(from_frame(frame))
        return
    path = folder / ("data.csv" if engine == "duckdb csv" else "data.parquet")
    if path.suffix == ".csv":
        write_csv(frame, path)
    else:
        frame.write_parquet(path)
    spool = folder / "private"
    spool.mkdir()
    duck = DuckSource(path, memory=10**9, threads=2, header=True if path.suffix == ".csv" else None)
    with duck.opened(spool) as source:
        yield source
    assert list(spool.iterdir()) == []


def load(server: Server, table: str, frame: pl.DataFrame) -> None:
    """Make a table of text and fill it; the empty text stays one, and is no null."""
    columns = ", ".join('"' + name.replace('"', '""') + '" text' for name in frame.columns)
    server.run(f"drop table if exists {table}", f"create table {table} ({columns})")
    server.copy(table, frame)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_rows", [1, 40, 3000])
def test_every_engine_gives_the_sets_of_memory(
    engine: str, n_rows: int, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C05, C06, D03: odd cells, missing ones of several kinds, names that SQL would fold or take for its own."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(columnar, "BLOCK_CELLS", 777)
    server = request.getfixturevalue("server") if engine == "postgresql" else None
    frame = odd_table(n_rows, n_rows)
    schema = schema_of(frame)
    path = tmp_path / "whole.csv"
    write_csv(frame, path)
    table = read_csv(path, header=True)
    assert table.frame.equals(frame)
    rules: dict[str, Rule] = {"Age": hierarchy.intervals(cuts=[[0, 10, 20, 30], [10]])}
    memory = MemoryEngine(encode(table, guess_kinds(table, schema), rules))
    with opened(engine, frame, tmp_path / "there", server) as source:
        assert source.names == tuple(frame.columns)
        counted = count_table(source, schema, ["disease"])
        assert counted.n_rows == n_rows
        assert_same(memory, MemoryEngine(encode(counted, guess_kinds(counted, schema), rules)))
        assert Counter(source.read().frame.iter_rows()) == Counter(frame.iter_rows())


def assert_same(one: FrequencyEngine, other: FrequencyEngine) -> None:
    for a, b in zip(one.attributes, other.attributes, strict=True):
        assert (a.name, a.kind, a.texts, a.missing) == (b.name, b.kind, b.texts, b.missing)
        assert (a.tree is None) == (b.tree is None)
        if a.tree is not None and b.tree is not None:
            assert np.array_equal(a.tree.nodes, b.tree.nodes)
    for counted in (Counted(), Counted(("disease",))):
        first, second = one.finest(counted), other.finest(counted)
        assert (first.columns, first.n_qi, first.cards) == (second.columns, second.n_qi, second.cards)
        assert first.codes.dtype == second.codes.dtype == np.int32
        assert first.counts.dtype == second.counts.dtype == np.int64
        assert np.array_equal(first.codes, second.codes)
        assert np.array_equal(first.counts, second.counts)
    assert one.sensitive("disease").texts == other.sensitive("disease").texts


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_writes_the_same_bytes(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """D03: recoded, some groups left out, sorted by the bytes of their cells."""
    server = request.getfixturevalue("server") if engine == "postgresql" else None
    frame = odd_table(1, 2000)
    maps = {"age": {cell: cell.strip()[:1] for cell in ODD if cell != "A"}, "Age": dict.fromkeys(frame["Age"], "*")}
    kept = tuple((label, "*") for label in sorted(set(maps["age"].values())) if label != "a")
    names = tuple(frame.columns)
    recoded = frame.with_columns(
        pl.col("age").replace_strict(maps["age"], default=None), pl.lit("*").alias("Age")
    ).filter(pl.col("age").is_not_null() & (pl.col("age") != "a"))
    write_csv(recoded.sort(names), tmp_path / "expected.csv")
    with opened(engine, frame, tmp_path / "there", server) as source:
        source.write(Recoding(names, maps, kept), tmp_path / "written.csv")
        source.write(Recoding(("age",), {"age": {cell: cell for cell in ODD}}), tmp_path / "one.csv")
    assert (tmp_path / "written.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    write_csv(frame.select("age").sort("age"), tmp_path / "alone.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()


@pytest.mark.parametrize("engine", ENGINES)
def test_facts_are_counted(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue("server") if engine == "postgresql" else None
    frame = pl.DataFrame({"x": ["b"] * 3 + [""] * 2 + ["a"], "y": ["1"] * 6})
    with opened(engine, frame, tmp_path / "there", server) as source:
        facts = source.facts("x", 3, ["", "a"])
    assert (facts.sample, facts.distinct, facts.rare, facts.missing) == (("", "a", "b"), 3, 2, 3)


MOMENT = datetime(2020, 1, 31, 12, 30, 0, 500000)
TYPED: dict[str, tuple[str, Any, list[Any]]] = {
    "int2": ("smallint", pl.Int16, [-3, 0, 32767]),
    "int8": ("bigint", pl.Int64, [9007199254740993, 0, -1]),
    "numeric": (
        "numeric(24, 2)",
        pl.Decimal(24, 2),
        [Decimal("1.50"), Decimal("-0.10"), Decimal("12345678901234567.89")],
    ),
    "float8": (
        "float8",
        pl.Float64,
        [
            *(0.1, -0.0, 30.0, 1e15, 1234567890123456.0, 123456789012345.6, 1e16, 1e-4, 1e-5, 5e-324, 2 / 3),
            *(1.7976931348623157e308, float("nan"), float("inf"), float("-inf")),
        ],
    ),
    "float4": ("float4", pl.Float32, [0.1, -0.0, 16777216.0, 1e10, 3.4e38, 1e-10, 2 / 3, float("nan"), float("inf")]),
    "boolean": ("boolean", pl.Boolean, [True, False]),
    "date": ("date", pl.Date, [date(2020, 1, 31), date(1, 1, 1), date(9999, 12, 31)]),
    "timestamp": (
        "timestamp",
        pl.Datetime("us"),
        [datetime(2020, 1, 31), datetime(2020, 1, 31, 12, 30), MOMENT, datetime(1, 1, 1, 0, 0, 1)],
    ),
    "timestamptz": (
        "timestamptz",
        pl.Datetime("us", "UTC"),
        [datetime(2020, 1, 31, tzinfo=UTC), MOMENT.replace(tzinfo=UTC), datetime(1950, 6, 1, 23, 59, tzinfo=UTC)],
    ),
    "time": ("time", pl.Time, [time(12, 30), time(0, 0, 0, 1), time(23, 59, 59)]),
    "text": ("text", pl.String, ["", "a b", "é"]),
    "varchar": ("varchar(5)", pl.String, ["", "ab ", "é"]),
}


@pytest.mark.parametrize("name", TYPED)
def test_typed_columns_read_as_from_a_frame(name: str, server: Server, tmp_path: Path) -> None:
    """C08, C09: one text for one value, by the maker's SQL and by the verifier's reader; null is the empty text."""
    import psycopg

    from shoal.verification import table_rows

    kind, dtype, values = TYPED[name]
    values = [*values, None]
    server.run("drop table if exists typed", f"create table typed (number int, value {kind})")
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for number, value in enumerate(values):
            connection.execute("insert into typed values (%s, %s)", (number, value))
    frame = pl.DataFrame({"number": list(range(len(values))), "value": pl.Series(values, dtype=dtype)})
    expected = dict(from_frame(frame).frame.iter_rows())
    with PostgresSource(parse_url(server.url("typed"))).opened(tmp_path) as source:
        read = dict(source.read().frame.iter_rows())
        rows = [
            row for chunk in table_rows(source.connection, ("public", "typed"), ["number", "value"]) for row in chunk
        ]
    assert read == expected
    assert dict(map(tuple, rows)) == expected


def test_other_types_read_as_their_text(server: Server, tmp_path: Path) -> None:
    from shoal.verification import table_rows

    server.run(
        "drop table if exists typed",
        "create type mood as enum ('sad', 'very happy')",
        "create domain zip as text check (value <> 'x')",
        "create domain zip2 as zip",
        "create table typed (a mood, b zip2, c char(6), d uuid, e numeric)",
        "insert into typed values ('very happy', '02139', 'ab', '123e4567-e89b-12d3-a456-426614174000', 'NaN')",
    )
    expected = ["very happy", "02139", "ab", "123e4567-e89b-12d3-a456-426614174000", ""]
    with PostgresSource(parse_url(server.url("typed"))).opened(tmp_path) as source:
        assert list(source.read().frame.row(0)) == expected
        assert next(table_rows(source.connection, ("public", "typed"), source.names)) == [expected]
    server.run("drop table typed", "drop domain zip2", "drop domain zip", "drop type mood")
