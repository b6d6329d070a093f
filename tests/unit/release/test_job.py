"""A job: what watches it and cancels it, how it is pickled, and the same release from every kind of input."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import CancelledError, UsageError
from shoal.methods import Run
from shoal.release.job import Job
from shoal.settings.settings import Settings
from shoal.tables.formats import writers
from shoal.tables.watch import Watch, make_watch

SETTINGS = Settings(k=3, qi=("age", "sex"), sensitive=("disease",), drop=("name",), numeric=("age",))
FULL_DOMAIN: dict[str, Any] = {
    "qi": ["age", "sex"],
    "sensitive": ["disease"],
    "drop": ["name"],
    "k": 3,
    "method": "optimal",
    "hierarchies": {"age": shoal.hierarchy.intervals(cuts=[[20, 30, 40, 50, 60, 80], [20, 40, 80]])},
}
STAGES = ("reading", "encoding", "grouping", "measuring", "writing", "verifying")


def patients(n_rows: int = 120) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"p{i}" for i in range(n_rows)],
            "age": [str(20 + i * 7 % 59) for i in range(n_rows)],
            "sex": [("F", "M")[i % 2] for i in range(n_rows)],
            "disease": [f"d{i % 5}" for i in range(n_rows)],
        }
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    writers.write_csv(patients(), path)
    return path


class Watcher:
    """Remembers what it hears, and cancels in a stage."""

    def __init__(self, cancel_in: str = "") -> None:
        self.heard: list[tuple[str, float]] = []
        self.cancel_in = cancel_in

    def progress(self, stage: str, share: float) -> None:
        self.heard.append((stage, share))

    def cancelled(self) -> bool:
        return bool(self.heard) and self.heard[-1][0] == self.cancel_in

    def run(self) -> Run:
        watch = make_watch(self.progress, self.cancelled)
        return Run(stage=watch.stage, progress=watch.progress, cancelled=watch.cancelled)


def test_progress_covers_every_stage_in_order(data: Path, tmp_path: Path) -> None:
    watcher = Watcher()
    Job.from_settings(data, SETTINGS, tmp_path / "out.csv", watcher.run()).execute()
    assert tuple(dict.fromkeys(stage for stage, _ in watcher.heard)) == STAGES
    assert all(0 <= share <= 1 for _, share in watcher.heard)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.parquet", "data.xlsx"])
def test_a_run_can_be_cancelled_in_every_stage(tmp_path: Path, stage: str, name: str) -> None:
    """Nothing is left behind, whatever the format of input and output."""
    writers.write_release(patients(), tmp_path / name, _format(name))
    before = set(tmp_path.iterdir())
    job = Job.from_settings(tmp_path / name, SETTINGS, tmp_path / f"out{name[4:]}", Watcher(stage).run())
    with pytest.raises(CancelledError):
        job.execute()
    assert set(tmp_path.iterdir()) == before


def _format(name: str) -> Any:
    from shoal.tables.formats.sniff import output_format

    return output_format(Path(name))


@pytest.mark.parametrize("stage", ["counting", "encoding", "writing", "verifying"])
def test_a_run_on_counts_can_be_cancelled(data: Path, tmp_path: Path, stage: str) -> None:
    watcher = Watcher(stage)
    options: dict[str, Any] = {"progress": watcher.progress, "cancelled": watcher.cancelled}

    def run() -> None:
        shoal.anonymize(data, engine="duckdb", **options, **FULL_DOMAIN).write(tmp_path / "out.csv", **options)

    with pytest.raises(CancelledError):
        run()
    assert set(tmp_path.iterdir()) == {data}


def test_cancel_from_python_is_an_error_of_shoal(data: Path) -> None:
    with pytest.raises(shoal.ShoalError, match="cancelled"):
        shoal.anonymize(patients(), qi=["age", "sex"], others="drop", k=3, cancelled=lambda: True)


def test_an_interrupt_of_the_user_stays_one(tmp_path: Path) -> None:
    def interrupt(stage: str, share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shoal.anonymize(patients(), qi=["age", "sex"], others="drop", k=3, progress=interrupt)


def test_big_tables_are_polled_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading, writing and verifying ask once a block, not once a table."""
    from shoal.tables import csv
    from shoal.tables.formats import writers

    writers.write_csv(patients(6000), tmp_path / "data.csv")
    monkeypatch.setattr(csv, "BLOCK_BYTES", 10_000)
    monkeypatch.setattr(writers, "BLOCK_ROWS", 500)
    watcher = Watcher()
    table = shoal.read_table(tmp_path / "data.csv")
    assert table.frame.equals(patients(6000))
    Job.from_settings(tmp_path / "data.csv", SETTINGS, tmp_path / "out.csv", watcher.run()).execute()
    calls = {stage: sum(name == stage for name, _ in watcher.heard) for stage in STAGES}
    assert calls["reading"] > 5
    assert calls["writing"] > 10
    assert calls["verifying"] > 5


def test_blocks_of_a_file_are_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quoted line feeds, blank lines and faults do not depend on where a block ends."""
    from shoal.errors import InputError
    from shoal.tables import csv

    monkeypatch.setattr(csv, "BLOCK_BYTES", 7)
    path = tmp_path / "t.csv"
    path.write_text('\n\na,b\n"x\ny",1\n\n"""q""\n\n",2\né,3\n')
    table = shoal.read_table(path)
    assert table.frame.rows() == [("x\ny", "1"), ('"q"\n\n', "2"), ("é", "3")]
    assert any("3 blank lines" in note for note in table.notes)
    path.write_text("a,b\n1,2\n1\n1,2\n3\n4\n")
    with pytest.raises(InputError, match=r"line 3: 1 cell, but the first line has 2 \(3 such rows\)"):
        shoal.read_table(path, header=True)
    path.write_text('a,b\n1,2\n1,"2\n1,2\n')
    with pytest.raises(InputError, match="line 3: a quote opens here"):
        shoal.read_table(path, header=True)
    path.write_bytes(b"a,b\n1,2\n1,\xff\n")
    with pytest.raises(InputError, match="byte 10 is not utf-8"):
        shoal.read_table(path, header=True)


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_a_run_is_pickled_without_its_callbacks() -> None:
    run = Watcher("grouping").run()
    copy = again(Run(seed=7, threads=2, stage=run.stage, progress=run.progress, cancelled=lambda: True))
    assert (copy.seed, copy.threads) == (7, 2)
    assert copy == Run(seed=7, threads=2)
    copy.check()
    assert again(Watch(cancelled=lambda: True)) == Watch()


def test_a_job_is_pickled_before_it_runs(data: Path, tmp_path: Path) -> None:
    watcher = Watcher()
    job = Job.from_settings(data, SETTINGS, tmp_path / "out.csv", watcher.run())
    outcome = again(job).execute()
    assert watcher.heard == []
    assert outcome.manifest == tmp_path / "out.csv.manifest.json"
    assert again(outcome.release).measures == outcome.release.measures
    frame_job = again(Job.from_settings(patients(), SETTINGS))
    assert frame_job.execute().release.text.equals(outcome.release.text)


MAKERS: dict[str, Callable[[Path], shoal.Release]] = {
    "frame": lambda path: shoal.anonymize(patients(), qi=["age", "sex"], others="drop", k=3),
    "file": lambda path: shoal.anonymize(path, qi=["age", "sex"], others="drop", k=3),
    "models": lambda path: shoal.anonymize(path, qi=["age"], sensitive=["disease"], others="drop", k=3, l=2, t=0.5),
    "memory": lambda path: shoal.anonymize(path, **FULL_DOMAIN),
    "duckdb": lambda path: shoal.anonymize(path, engine="duckdb", **FULL_DOMAIN),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_release_is_pickled(kind: str, data: Path, tmp_path: Path) -> None:
    """The copy can be written, passes the gate, and works out its lower bound."""
    release = MAKERS[kind](data)
    copy = again(release)
    assert copy.lower_bound == release.lower_bound
    assert copy.frame.equals(release.frame)
    copy.write(tmp_path / "copy.csv")
    release.write(tmp_path / "first.csv")
    assert (tmp_path / "copy.csv").read_bytes() == (tmp_path / "first.csv").read_bytes()
    assert again(copy).notes == release.notes


def test_engines_give_the_same_release_to_python(data: Path, tmp_path: Path) -> None:
    memory, duck = MAKERS["memory"](data), MAKERS["duckdb"](data)
    assert duck.measures == memory.measures
    assert duck.frame.equals(memory.frame)
    for release, name in ((memory, "memory"), (duck, "duckdb")):
        release.write(tmp_path / f"{name}.csv", report=tmp_path / f"{name}.html", key=b"a secret of 24 bytes...")
    assert (tmp_path / "duckdb.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()
    assert "<tr>" in duck._repr_html_()
    with pytest.raises(UsageError, match="to_numeric needs the rows"):
        duck.to_numeric()


def test_a_file_that_changed_is_not_written(data: Path, tmp_path: Path) -> None:
    release = MAKERS["duckdb"](data)
    data.write_text(data.read_text() + "x,20,F,d1\n")
    with pytest.raises(shoal.errors.InputError, match="the file changed after it was read"):
        release.write(tmp_path / "out.csv")


def test_engines_of_frames_are_refused() -> None:
    with pytest.raises(UsageError, match="reads files"):
        shoal.anonymize(patients(), engine="duckdb", **FULL_DOMAIN)
    with pytest.raises(UsageError, match="memory= is for files and databases"):
        shoal.anonymize(patients(), memory="1GB", **FULL_DOMAIN)
    with pytest.raises(UsageError, match=r"memory= limits engine='duckdb'"):
        shoal.anonymize(patients(), engine="memory", memory="1GB", **FULL_DOMAIN)
