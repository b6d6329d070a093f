"""On DuckDB, the tuples and groups of a table of several sections stay on disk; the bytes are those of memory."""

from __future__ import annotations

import gc
import json
import pickle
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.errors import CancelledError, FileError, VerificationError
from shoal.methods import sections
from shoal.release.counted_tables.duck.groups import DuckFound
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from
from shoal.tables.formats.writers import write_csv
from shoal.tables.sources import duck_session, numbering
from shoal.tables.watch import Watch
from tests.contract.test_dealing import AGES, QI, odd_table

LARGEST = 60
ZIPS = hierarchy.prefixes([2, 1])
GIVEN: dict[str, Any] = {
    "k": 4,
    "effort": "fast",
    "seed": 3,
    "qi": QI,
    "numeric": ["Age"],
    "sensitive": ["disease"],
    "insensitive": ["z other", "number"],
    "drop": ["name", "who", "own k"],
    "accept_unique": ["number", "z other", "disease"],
    "missing": ["NULL", ""],
}


def mixed_table(n_rows: int) -> pl.DataFrame:
    """Numbers, dates, categories and values of a hierarchy; nearly every row is a tuple of its own."""
    draw = random.Random(5)
    return pl.DataFrame(
        {
            "height": [draw.choice(["", f"{draw.gauss(170, 20):.3f}"]) for _ in range(n_rows)],
            "born": [
                f"19{draw.randrange(30, 99)}-0{draw.randrange(1, 9)}-{draw.randrange(10, 28)}" for _ in range(n_rows)
            ],
            "zip": [f"{draw.randrange(40):03}" for _ in range(n_rows)],
            "job": [f"job {draw.randrange(9)}" for _ in range(n_rows)],
            "disease": [f"d{draw.randrange(5)}" for _ in range(n_rows)],
        }
    )


def wide_table(n_rows: int) -> pl.DataFrame:
    """Twelve columns of fifty values: more combinations than a 64-bit number can tell apart."""
    draw = random.Random(6)
    columns = {f"q{i}": [f"v{draw.randrange(50)}" for _ in range(n_rows)] for i in range(12)}
    return pl.DataFrame(columns | {"disease": [f"d{draw.randrange(5)}" for _ in range(n_rows)]})


LEAST_SQUARES = {"objective": "variance"}
DISEASES = sorted(set(odd_table(1, 900)["disease"]))
MIXED: dict[str, Any] = {
    "k": 3,
    "effort": "fast",
    "qi": ["height", "born", "zip", "job"],
    "sensitive": ["disease"],
    "missing": [""],
}
CASES: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "odd cells": (odd_table(1, 900), GIVEN),
    "exact ends": (odd_table(1, 900), GIVEN | {"ends": "exact"}),
    "hierarchy, weights": (odd_table(1, 900), GIVEN | {"hierarchies": {"Age": AGES}, "weights": {"age": 0.5}}),
    "numbers, dates, categories": (mixed_table(700), MIXED),
    "hierarchy of categories, target": (
        mixed_table(700),
        MIXED | {"hierarchies": {"zip": ZIPS}, "effort": "normal", "target": "disease"},
    ),
    "bans, derived weights": (
        odd_table(1, 900),
        GIVEN | {"rules": [{"column": "Age", "inflection": [10, 11], "ban": True}], "weights": "auto"},
    ),
    "diversity, rare values": (odd_table(1, 900), GIVEN | {"models": [shoal.LDiversity("disease", l=10)]}),
    "closeness, not closed": (
        mixed_table(700),
        MIXED | {"models": [shoal.TCloseness("disease", t=0.3), shoal.GrassbergerLDiversity("disease", l=3)]},
    ),
    "ordered values": (
        odd_table(1, 900),
        GIVEN | {"models": [shoal.TCloseness("disease", t=0.5, distance="ordered", order=tuple(DISEASES))]},
    ),
    "frequent tuples": (
        odd_table(1, 900),
        GIVEN | {"qi": ["Age", QI[2]], "drop": [*GIVEN["drop"], "age"], "models": [shoal.TCloseness("disease", t=0.1)]},
    ),
    "personal k": (odd_table(1, 900), GIVEN | {"k_column": "own k", "drop": ["name", "who"]}),
    "limits beside a model and a personal k": (
        odd_table(1, 900),
        GIVEN
        | {
            "max_width": {"Age": "20"},
            "finest": {QI[2]: "month"},
            "k_column": "own k",
            "drop": ["name", "who"],
            "models": [shoal.LDiversity("disease", l=3)],
        },
    ),
    "medians and their spread": (
        mixed_table(500),
        MIXED | {"cells": "center", "center": "median", "spread": True, "models": [shoal.LDiversity("disease", l=2)]},
    ),
    "ranges that do not overlap": (
        mixed_table(700),
        MIXED | {"options": {"non_overlapping": True}, "hierarchies": {"zip": ZIPS}},
    ),
    "ranges that do not overlap, beside a model and a personal k": (
        odd_table(1, 900),
        GIVEN
        | {
            "options": {"non_overlapping": True},
            "k_column": "own k",
            "drop": ["name", "who"],
            "models": [shoal.LDiversity("disease", l=3)],
        },
    ),
    "least squares": (
        mixed_table(700),
        MIXED | {"options": LEAST_SQUARES, "cells": "center", "hierarchies": {"zip": ZIPS}, "weights": {"height": 3}},
    ),
    "least squares beside a model, a personal k, a ban and a limit": (
        odd_table(1, 900),
        GIVEN
        | {
            "options": LEAST_SQUARES,
            "k_column": "own k",
            "drop": ["name", "who"],
            "models": [shoal.LDiversity("disease", l=3)],
            "max_width": {"Age": "20"},
            "rules": [{"column": "Age", "inflection": [10, 11], "ban": True}],
        },
    ),
    "keys beyond 64 bits": (
        wide_table(400),
        MIXED | {"qi": [f"q{i}" for i in range(12)], "missing": None},
    ),
}


@pytest.fixture(autouse=True)
def several_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", LARGEST)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of sections of each search on disk."""
    found: list[int] = []
    search = DuckSearcher.search_sections

    def noted(self: DuckSearcher, *given: Any) -> DuckFound:
        groups = search(self, *given)
        found.append(len(groups.parts))
        return groups

    monkeypatch.setattr(DuckSearcher, "search_sections", noted)
    return found


def written(data: Path, output: Path, given: dict[str, Any], threads: int = 2, **more: Any) -> bytes:
    """Release a file in one go, as the command line does; return the bytes."""
    settings = settings_from({name: value for name, value in given.items() if value is not None and name != "models"})
    run, models = make_run(settings, threads=threads), given.get("models", ())
    Job.from_settings(data, settings, output, run, models=models, force=True, **more).execute()
    return output.read_bytes()


@pytest.mark.parametrize(("table", "given"), CASES.values(), ids=CASES)
def test_release_has_the_bytes_of_memory(
    table: pl.DataFrame, given: dict[str, Any], searched: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any number of threads, any memory limit, CSV or Parquet, numbers or texts, models, rules and limits."""
    write_csv(table, tmp_path / "source.csv")
    table.write_parquet(tmp_path / "source.parquet")
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    for threads, limit, form, most in ((1, "500MB", "csv", 5), (4, "2GB", "parquet", numbering.MOST_TEXTS)):
        monkeypatch.setattr(numbering, "MOST_TEXTS", most)
        options: dict[str, Any] = {"engine": "duckdb", "memory": limit, "threads": threads}
        assert written(tmp_path / f"source.{form}", tmp_path / "out.csv", given, **options) == expected
    assert len(searched) == 2
    assert searched[0] == searched[1] > 2


def test_report_counts_groups_as_in_memory(searched: list[int], tmp_path: Path) -> None:
    """The sizes of groups and tuples are counted on disk; a report does not claim what was not counted."""
    write_csv(odd_table(1, 900), tmp_path / "source.csv")
    given, found = GIVEN | {"models": [shoal.LDiversity("disease", l=3)], "sensitive": ["disease", "z other"]}, []
    given |= {"insensitive": ["number"]}
    for engine in ("memory", "duckdb"):
        report = tmp_path / engine / "out.html"
        report.parent.mkdir()
        written(tmp_path / "source.csv", report.with_suffix(".csv"), given, engine=engine, report=report)
        found.append([json.loads(report.with_suffix(end).read_text()) for end in (".json", ".private.json")])
    assert searched
    (public, private), (own, own_private) = found
    for name in ("groups", "risk", "conventions", "reached", "loss", "cells"):
        assert own[name] == public[name]
    assert own_private["source"] == private["source"]
    assert own_private["before_after"] == private["before_after"]
    for name in ("criteria", "mistakes"):
        assert [each.get("answer") for each in own[name]] == [each.get("answer") for each in public[name]]
    assert "No group shares one value of 'z other'" in own["criteria"][2]["words"]
    assert "were not counted" in own["criteria"][2]["words"]


def test_delimiter_of_the_input(searched: list[int], tmp_path: Path) -> None:
    (tmp_path / "source.csv").write_bytes(mixed_table(500).write_csv(separator=";").encode())
    given = MIXED | {"output_delimiter": "input"}
    expected = written(tmp_path / "source.csv", tmp_path / "a.csv", given)
    assert b";" in expected
    assert written(tmp_path / "source.csv", tmp_path / "b.csv", given, engine="duckdb") == expected
    assert searched


def test_parquet_has_the_cells_of_memory(searched: list[int], tmp_path: Path) -> None:
    mixed_table(500).write_parquet(tmp_path / "source.parquet")
    written(tmp_path / "source.parquet", tmp_path / "a.parquet", MIXED)
    written(tmp_path / "source.parquet", tmp_path / "b.parquet", MIXED, engine="duckdb")
    assert searched
    assert pl.read_parquet(tmp_path / "a.parquet").equals(pl.read_parquet(tmp_path / "b.parquet"))


@pytest.mark.parametrize("given", [MIXED, MIXED | {"cells": "center", "spread": True}], ids=["ranges", "centres"])
def test_release_of_a_closed_source_is_written(
    given: dict[str, Any], searched: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its groups are kept as long as it is, and searched again for a copy."""
    (tmp_path / "private").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))
    write_csv(mixed_table(500), tmp_path / "source.csv")
    expected = written(tmp_path / "source.csv", tmp_path / "memory.csv", given)
    release = shoal.anonymize(tmp_path / "source.csv", engine="duckdb", **given)
    release.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert release.frame.height == 500
    assert len(searched) == 1
    pickle.loads(pickle.dumps(release)).write(tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == expected
    assert searched == [searched[0]] * 2
    assert len(list((tmp_path / "private").iterdir())) == 1
    del release
    gc.collect()
    assert list((tmp_path / "private").iterdir()) == []


def test_no_stage_has_all_tuples_in_memory(searched: list[int], heights: list[int], tmp_path: Path) -> None:
    """What Python fetches from DuckDB or gives it is a section, or has a row for each cell or group."""
    table = mixed_table(900).with_columns(pl.col("height").str.slice(0, 3), pl.col("born").str.slice(0, 4))
    write_csv(table, tmp_path / "source.csv")
    written(tmp_path / "source.csv", tmp_path / "out.csv", MIXED, engine="duckdb")
    n_tuples = table.select(MIXED["qi"]).n_unique()
    most_cells = sum(table[name].n_unique() for name in MIXED["qi"])
    assert searched[0] >= n_tuples / LARGEST
    assert max(heights) <= max(most_cells, table.height // MIXED["k"]) < n_tuples


def test_too_many_cells_for_the_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """O08: the message has the figure, before the search; nothing is left."""
    write_csv(mixed_table(500), tmp_path / "source.csv")
    monkeypatch.setattr(duck_session, "CELL_BYTES", 10**7)
    with pytest.raises(
        FileError, match=r"distinct cells and up to 1\d\d groups need about [0-9.]+ GB.*memory='[0-9.]+ GB'"
    ):
        written(tmp_path / "source.csv", tmp_path / "out.csv", MIXED, engine="duckdb", memory="500MB")
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}


def test_files_of_groups_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """O09: nobody else can read them, and they are gone after a success and after an error."""
    write_csv(mixed_table(500), tmp_path / "source.csv")
    modes: set[int] = set()
    add = DuckFound.add

    def looked_at(self: DuckFound, *given: Any) -> None:
        add(self, *given)
        modes.update(path.stat().st_mode & 0o777 for path in (self.parts[-1], self.parts[-1].parent))

    monkeypatch.setattr(DuckFound, "add", looked_at)
    written(tmp_path / "source.csv", tmp_path / "out.csv", MIXED, engine="duckdb")
    assert modes == {0o600, 0o700}
    names = {each.name for each in tmp_path.iterdir()}

    def fails(self: DuckFound, ranks: Sequence[Any]) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(DuckFound, "ranked", fails)
    with pytest.raises(OSError, match="No space"):
        written(tmp_path / "source.csv", tmp_path / "out.csv", MIXED, engine="duckdb")
    assert {each.name for each in tmp_path.iterdir()} == names


def test_search_of_a_section_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller cancels while threads search; they end, and nothing is left."""
    write_csv(mixed_table(500), tmp_path / "source.csv")
    begun: list[float] = []
    group = SectionSearch.group

    def endless(self: SectionSearch, *given: Any) -> Any:
        begun.append(time.monotonic())
        while not self.run.cancelled():
            time.sleep(0.01)
        return group(self, *given)

    monkeypatch.setattr(SectionSearch, "group", endless)
    settings = settings_from(MIXED)
    watch = Watch(cancelled=lambda: bool(begun) and time.monotonic() > begun[0] + 0.3)
    job = Job.from_settings(
        tmp_path / "source.csv",
        settings,
        tmp_path / "out.csv",
        make_run(settings, threads=2, watch=watch),
        engine="duckdb",
    )
    with pytest.raises(CancelledError):
        job.execute()
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}


def test_groups_of_other_tuples_fail_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(mixed_table(500), tmp_path / "source.csv")
    entries = DuckFound._entries

    def swapped(self: DuckFound) -> Iterator[tuple[Path, pl.DataFrame, list[Any]]]:
        """Give the entries of a section the cells of others."""
        for part, frame, places in entries(self):
            yield part, frame, [place[::-1].copy() for place in places]

    monkeypatch.setattr(DuckFound, "_entries", swapped)
    with pytest.raises(VerificationError):
        written(tmp_path / "source.csv", tmp_path / "out.csv", MIXED, engine="duckdb")
    assert {each.name for each in tmp_path.iterdir()} == {"source.csv"}


def test_table_of_one_section_stays_in_memory(
    searched: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", 10_000)
    write_csv(mixed_table(300), tmp_path / "source.csv")
    written(tmp_path / "source.csv", tmp_path / "out.csv", MIXED, engine="duckdb")
    assert not searched
