"""Faults on a real cluster of two executor processes, and what a session leaves behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.methods import sections
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from
from shoal.spark import reading
from shoal.spark.engine import open_source, write_release
from shoal.spark.session import PINNED, open_session
from shoal.tables.formats.writers import write_csv
from shoal.tables.watch import Watch
from tests.spark.conftest import FAST
from tests.spark.test_release import text_of

CANARY = "canary7f3a"
GIVEN: dict[str, Any] = {"k": 5, "effort": "fast", "qi": ["place", "age"], "sensitive": ["illness"], "l": 2}


def canaries(n_rows: int) -> pl.DataFrame:
    """A table whose cells are easy to find in files."""
    return pl.DataFrame(
        {
            "place": [f"{CANARY}-p{n * 7 % 23}" for n in range(n_rows)],
            "age": [str(20 + n * 13 % 60) for n in range(n_rows)],
            "illness": [f"{CANARY}-i{n % 5}" for n in range(n_rows)],
        }
    )


def executors(application: str) -> list[int]:
    """Return the ids of the executor processes of an application, from /proc."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in words and application.encode() in words:
                found.append(int(folder.name))
    return found


class Killer:
    """Kills one executor in each of these stages of a run."""

    def __init__(self, application: str, stages: tuple[str, ...]) -> None:
        self._application, self._stages = application, set(stages)
        self.killed: list[str] = []

    def stage(self, name: str) -> None:
        """Hear of a stage; kill soon after it has begun."""
        if name in self._stages:
            self._stages.discard(name)
            threading.Thread(target=self._kill, args=(name,), daemon=True).start()

    def _kill(self, name: str) -> None:
        time.sleep(1)
        for process in executors(self._application)[:1]:
            os.kill(process, signal.SIGKILL)
            self.killed.append(name)


def holders(folder: Path) -> list[str]:
    """Return the files that contain a cell of the table."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and CANARY.encode() in path.read_bytes():
            found.append(str(path.relative_to(folder)))
    return found


def test_executors_killed_in_every_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are those of memory (S03), no log or temporary file has a cell (S06), and settings are pinned (S08)."""
    import pyspark

    monkeypatch.setattr(reading, "SPLIT_BYTES", 4_000)
    monkeypatch.setattr(sections, "LARGEST_SECTION", 200)  # several sections, which executors search
    source = tmp_path / "source.csv"
    write_csv(canaries(400), source)
    shoal.anonymize(source, **GIVEN).write(tmp_path / "memory.csv")
    events = tmp_path / "events"
    events.mkdir()
    more = {
        "spark.executor.memory": "1g",
        "spark.speculation": "true",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{events}",
    }
    before = (Path(pyspark.__file__).parent / "work").exists()
    with open_session("local-cluster[2,1,1024]", FAST | more) as spark:
        private = Path(spark.conf.get("spark.local.dir")).parent
        killer = Killer(spark.sparkContext.applicationId, ("counting", "grouping", "writing", "verifying"))
        settings = settings_from(GIVEN)
        watch = Watch(stage=killer.stage)
        with open_source(str(source), settings, spark) as opened:
            run = make_run(settings, threads=1, watch=watch)
            job = Job.from_settings(opened, settings, f"{tmp_path}/out/", run, engine="spark")
            _, target, _ = write_release(job, f"{tmp_path}/out/", watch=watch)
        assert killer.killed  # a stage may end before its executor does
        assert {name: spark.conf.get(name) for name in PINNED} == PINNED
        assert holders(private) == []
    assert text_of(target.path) == (tmp_path / "memory.csv").read_bytes().decode()
    assert list(events.iterdir())
    assert holders(events) == []
    assert not private.exists()
    assert (Path(pyspark.__file__).parent / "work").exists() == before
