"""Shoaling and Mondrian give the same bytes in memory and on DuckDB, which holds no row in Python."""

from __future__ import annotations

import gzip
import json
import random
import resource
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.errors import CancelledError, FileError, UsageError, VerificationError
from shoal.methods import sections
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources import dealing, duck_session, duckdb, numbering
from shoal.tables.sources.duck_session import DuckSession
from shoal.tables.watch import Watch

ODD = ["", " ", "a", "A", "á", "a\u0301", 'say "hi"', "two\nlines", "x,y", "0", "00", "NULL", "'", "%s", "=1+1"]
AGES = hierarchy.intervals(cuts=[[0, 10, 20, 30], [10]])


def odd_table(seed: int, n_rows: int) -> pl.DataFrame:
    """Values in several spellings, odd cells and names, and columns that are not in the order of their names."""
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "z other": [draw.choice(ODD) for _ in range(n_rows)],
            "Age": [
                draw.choice(["", "7", "07.0", "7.0", "10", "-3", "2.5e1", " 25", "11", "12"]) for _ in range(n_rows)
            ],
            "age": [draw.choice(ODD) for _ in range(n_rows)],
            'we"ird %s, näme': [draw.choice(["2020-01-31", "2020-02-01", "", "1999-12-31"]) for _ in range(n_rows)],
            "disease": [draw.choice(ODD) for _ in range(n_rows)],
            "number": [str(draw.randrange(10**6)) for _ in range(n_rows)],
            "name": [f"n{n}" for n in range(n_rows)],
            "who": [f"w{draw.randrange(max(8, n_rows // 2))}" for _ in range(n_rows)],
            "own k": [draw.choice(["", "4", "6", "06", "9"]) for _ in range(n_rows)],
        }
    )


QI = ["Age", "age", 'we"ird %s, näme']
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "large k": {"k": 40},
    "normal": {"effort": "normal"},
    "hierarchy": {"hierarchies": {"Age": AGES}},
    "weights": {"weights": {"Age": 3, "age": 0.5}},
    "derived weights": {"weights": "auto"},
    "risk": {"models": [shoal.MaximalRisk(0.125)]},
    "exact ends": {"ends": "exact"},
    "round ends": {"ends": "round"},
    "rules": {"rules": [{"column": "Age", "inflection": [10, 11]}]},
    "mondrian": {"method": "mondrian", "effort": None},
    "relaxed": {"method": "mondrian", "effort": None, "options": {"variant": "relaxed"}},
    "nested": {"options": {"non_overlapping": True}, "ends": "exact"},
    "variance": {"options": {"objective": "variance"}},
    "bottom-up": {"method": "bottom-up", "effort": None},
    "suppression": {"suppression_limit": 0.1},
    "diversity": {"models": [shoal.LDiversity("disease", l=3)]},
    "closeness": {"models": [shoal.TCloseness("disease", t=0.6)], "effort": "normal"},
    "two models, suppression": {
        "models": [shoal.EntropyLDiversity("disease", l=2), shoal.LDiversity("number", l=2)],
        "sensitive": ["disease", "number"],
        "insensitive": ["z other"],
        "suppression_limit": 0.05,
    },
    "strict cuts under a model": {
        "method": "mondrian",
        "effort": None,
        "models": [shoal.LDiversity("disease", l=3)],
        "suppression_limit": 0.02,
    },
    "all groups": {"models": [shoal.AverageRisk(0.05)]},
    "people": {"person": "who", "drop": ["name", "own k"]},
    "people and diversity": {
        "person": "who",
        "drop": ["name", "own k"],
        "models": [shoal.LDiversity("disease", l=2)],
    },
    "own k": {"k_column": "own k", "drop": ["name", "who"], "suppression_limit": 0.02},
    "people, own k, suppression": {
        "person": "who",
        "k_column": "own k",
        "drop": ["name"],
        "suppression_limit": 0.02,
    },
    "limits": {"max_width": {"Age": "20"}, "suppression_limit": 0.2},
    "target": {"target": "disease", "suppression_limit": 0.02},
}


def made(path: Path, output: Path, **given: Any) -> tuple[bytes, dict[str, Any], list[str]]:
    """Write a release; return its bytes, its manifest and its notes."""
    options: dict[str, Any] = {
        "k": 5,
        "effort": "fast",
        "seed": 3,
        "sensitive": ["disease"],
        "insensitive": ["z other", "number"],
        "drop": ["name", "who", "own k"],
        **given,
    }
    release = shoal.anonymize(
        path,
        qi=QI,
        numeric=["Age"],
        accept_unique=["number", "z other", "disease"],
        missing=["NULL", ""],
        **{name: value for name, value in options.items() if value is not None},
    )
    release.write(output, force=True)
    manifest = json.loads(output.with_name(output.name + ".manifest.json").read_text())
    return output.read_bytes(), manifest, [str(note) for note in release.notes]


@pytest.mark.parametrize("given", SETTINGS.values(), ids=SETTINGS)
def test_release_has_the_bytes_of_memory(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any number of threads, any memory limit, one section or several, ranks or texts in the sort."""
    path = tmp_path / "source.csv"
    write_csv(odd_table(1, 700), path)
    monkeypatch.setattr(sections, "LARGEST_SECTION", 40)
    memory = made(path, tmp_path / "memory.csv", **given)
    for threads, limit, most in ((1, "500MB", 5), (4, "2GB", numbering.MOST_TEXTS)):
        monkeypatch.setattr(numbering, "MOST_TEXTS", most)
        monkeypatch.setattr(dealing, "SLICE_ROWS", 97)
        (tmp_path / "there").mkdir(exist_ok=True)
        duck = made(path, tmp_path / "there" / "memory.csv", engine="duckdb", memory=limit, threads=threads, **given)
        assert duck[0] == memory[0]
        assert duck[1] == memory[1]


@pytest.mark.parametrize("name", ["out.csv.gz", "out.parquet"])
def test_formats_have_the_bytes_or_the_cells_of_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "source.parquet"
    odd_table(2, 300).write_parquet(path)
    made(path, tmp_path / name)
    (tmp_path / "there").mkdir()
    made(path, tmp_path / "there" / name, engine="duckdb")
    read = pl.read_parquet if name.endswith("parquet") else pl.read_csv
    assert read(tmp_path / name).equals(read(tmp_path / "there" / name))


@pytest.mark.parametrize("n_rows", [5, 6, 11])
def test_small_tables(n_rows: int, tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    write_csv(odd_table(n_rows, n_rows), path)
    assert made(path, tmp_path / "a.csv")[0] == made(path, tmp_path / "b.csv", engine="duckdb")[0]


def test_table_that_meets_the_goal_is_released_as_it_is(tmp_path: Path) -> None:
    """Cells keep their spelling, and DuckDB deals every row to the group of its own cells."""
    path = tmp_path / "source.csv"
    write_csv(pl.concat([odd_table(1, 60)] * 6), path)
    memory = made(path, tmp_path / "a.csv")
    assert made(path, tmp_path / "b.csv", engine="duckdb")[0] == memory[0]
    assert "07.0" in memory[0].decode()


def test_frame_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    frame = pl.DataFrame({"age": [str(n % 23) for n in range(200)]})
    write_csv(frame, path)
    duck = shoal.anonymize(path, k=4, qi=["age"], engine="duckdb")
    memory = shoal.anonymize(path, k=4, qi=["age"])
    assert duck.frame["age"].to_list() == memory.text["age"].to_list()
    assert duck.measures == memory.measures
    assert duck.table.n_rows == 200
    assert duck.lower_bound == memory.lower_bound


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "people": ({"method": "mdav", "effort": None, "person": "who"}, "groups rows"),
    "mnqia": ({"method": "mnqia"}, "groups rows"),
    "full-domain bounds": ({"method": "datafly", "hierarchies": {"Age": AGES}, "cells": "bounds"}, "cells"),
}


@pytest.mark.parametrize(("given", "named"), REFUSED.values(), ids=REFUSED)
def test_what_needs_rows_is_refused(given: dict[str, Any], named: str, tmp_path: Path) -> None:
    path = tmp_path / "source.csv"
    write_csv(odd_table(1, 50), path)
    options: dict[str, Any] = {"sensitive": ["disease"], "others": "drop"} | given
    with pytest.raises(UsageError, match=named) as caught:
        shoal.anonymize(path, k=2, qi=QI, engine="duckdb", **options)
    assert "engine='memory'" in str(caught.value)


@pytest.mark.parametrize("name", ["source.csv", "source.csv.gz", "source.parquet"])
def test_file_beyond_memory_goes_to_duckdb(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run says so, and the release is that of memory."""
    path, table = tmp_path / name, odd_table(3, 2000)
    if name.endswith(".parquet"):
        table.write_parquet(path)
    else:
        write_csv(table, plain := tmp_path / "plain.csv")
        path.write_bytes(gzip.compress(plain.read_bytes()) if name.endswith(".gz") else plain.read_bytes())
    memory = made(path, tmp_path / "a.csv")
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "1MB")
    monkeypatch.setattr(duck_session, "ALLOWANCE", 10**9)
    beyond = made(path, tmp_path / "b.csv")
    assert beyond[0] == memory[0]
    assert any("DuckDB counted and sorted it on disk" in note for note in beyond[2])
    assert not any("DuckDB" in note for note in memory[2])
    with pytest.raises(FileError, match=r"of memory.*cannot stay on disk either: method 'mnqia' groups rows"):
        made(path, tmp_path / "c.csv", method="mnqia", effort=None)
    with pytest.raises(UsageError, match="'Aged'"):
        shoal.anonymize(path, k=3, qi=["Aged"], others="drop")
    with pytest.raises(FileError, match="of memory"):
        made(path, tmp_path / "d.csv", engine="memory")
    assert not (tmp_path / "c.csv").exists()


def test_workbook_beyond_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB does not read it, so the message is that of memory."""
    path = tmp_path / "source.xlsx"
    odd_table(3, 200).rename({"age": "years"}).write_excel(path)
    monkeypatch.setenv("SHOAL_MEMORY_LIMIT", "10kB")
    with pytest.raises(FileError, match=r"needs about .* of memory.*DuckDB does not read an Excel workbook"):
        shoal.anonymize(path, k=2, qi=["Age", "years"], others="drop")
    with pytest.raises(FileError, match=r"needs about .* of memory"):
        shoal.compare(path, qi=["Age", "years"], k=[2], methods=["mondrian"], others="drop")


def test_what_does_not_fit_is_refused_before_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many tuples for the memory limit, too little space on the disk: the message has the figure."""
    path, output = tmp_path / "source.csv", tmp_path / "out.csv"
    write_csv(odd_table(3, 500), path)
    monkeypatch.setattr(duck_session, "TUPLE_BYTES", 10**7)
    with pytest.raises(FileError, match=r"combinations need about [0-9.]+ GB of memory.*memory='[0-9.]+ GB'"):
        made(path, output, engine="duckdb", memory="500MB")
    monkeypatch.undo()
    monkeypatch.setattr(duckdb, "DISK_OF_TEXT", 10**14)
    with pytest.raises(FileError, match=r"needs about [0-9.]+ GB on the disk"):
        made(path, output, engine="duckdb")
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}


def test_full_disk_leaves_the_old_output(tmp_path: Path) -> None:
    """O01: no file may grow beyond a limit, which is met by cells, tables of DuckDB, sorted rows or the release."""
    path, output = tmp_path / "source.csv", tmp_path / "out.csv"
    write_csv(odd_table(6, 2000), path)
    output.write_text("old")
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    for limit in (1_000, 8_000, 20_000, 60_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(FileError):
                made(path, output, engine="duckdb")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, hard))
        assert output.read_text() == "old"
        assert {each.name for each in tmp_path.iterdir()} == {"source.csv", "out.csv"}


def test_run_is_cancelled_inside_a_query(tmp_path: Path) -> None:
    """The query would take hours; it ends within a second of the caller's cancelling it, and nothing is left."""
    path = tmp_path / "source.csv"
    write_csv(odd_table(6, 50), path)
    private = tmp_path / "private"
    private.mkdir()
    begun = time.monotonic()
    watch = Watch(cancelled=lambda: time.monotonic() > begun + 1)
    session = duck_session.DuckSession(str(path), private, watch)
    with pytest.raises(CancelledError):
        session.ask("select count(*) from range(10000000) as a, range(10000000) as b where a.range + b.range = -1")
    assert time.monotonic() - begun < 2
    session.close()
    assert list(private.iterdir()) == []


def test_rows_that_go_to_another_group_fail_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, output = tmp_path / "source.csv", tmp_path / "out.csv"
    write_csv(odd_table(4, 300), path)
    load = DuckSession.load

    def swapped(self: DuckSession, name: str, frame: pl.DataFrame) -> None:
        """Deal the rows of one tuple to the groups of another."""
        load(self, name, frame.with_columns(pl.col("g").reverse()) if name == "tuples" else frame)

    monkeypatch.setattr(DuckSession, "load", swapped)
    with pytest.raises(VerificationError):
        made(path, output, engine="duckdb")
    assert not output.exists()
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}
