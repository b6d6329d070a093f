"""Faults on real clusters of executor processes, and what a session leaves behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.methods import sections
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from
from shoal.spark import folder as folder_module
from shoal.spark import reading
from shoal.spark.engine import open_source, write_release
from shoal.spark.folder import FolderTarget
from shoal.spark.session import PINNED, open_session
from shoal.tables.formats.writers import write_csv
from shoal.tables.watch import Watch
from tests.spark.conftest import FAST
from tests.spark.releases import text_of

pytestmark = pytest.mark.usefixtures("no_session")

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


def processes(*words: str) -> list[int]:
    """Return the ids of the processes whose command has all these words, from /proc."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if all(word.encode() in command for word in words):
                found.append(int(folder.name))
    return found


def executors(application: str) -> list[int]:
    """Return the ids of the executor processes of an application."""
    return processes("CoarseGrainedExecutorBackend", application)


def python_workers(application: str) -> list[int]:
    """Return the ids of the Python processes that executors of an application started."""
    own, found = set(executors(application)), []
    for process in processes("pyspark.daemon"):
        with suppress(OSError, IndexError):
            parent = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            if parent in own:
                found.append(process)
    return found


SECTION = 200  # tuples; the table has several sections, which executors search
STAGES = ("counting", "grouping", "measuring", "writing", "verifying")


SOON = 0.3  # seconds


class Killer:
    """Kills a process of the cluster in each of these stages of a run, once its tasks run or soon after."""

    def __init__(self, context: Any, stages: Mapping[str, Callable[[str], list[int]]]) -> None:
        self._context, self._stages = context, dict(stages)
        self._threads: list[threading.Thread] = []
        self._current = ""
        self.killed: list[str] = []

    def stage(self, name: str) -> None:
        """Hear of a stage."""
        self._current = name
        if victims := self._stages.pop(name, None):
            self._threads.append(threading.Thread(target=self._kill, args=(name, victims), daemon=True))
            self._threads[-1].start()

    def _kill(self, name: str, victims: Callable[[str], list[int]]) -> None:
        began = time.monotonic()
        while self._current == name:
            is_time = self._is_running() or time.monotonic() > began + SOON  # Spark hears of short tasks too late
            found = victims(self._context.applicationId) if is_time else []
            if found:
                os.kill(found[0], signal.SIGKILL)
                self.killed.append(name)
                return
            time.sleep(0.01)

    def _is_running(self) -> bool:
        """Say whether tasks are running."""
        tracker = self._context.statusTracker()
        known = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return any(each is not None and each.numActiveTasks for each in known)

    def finish(self) -> list[str]:
        """Wait for the threads; return the stages in which a process was killed."""
        self._current = ""
        for thread in self._threads:
            thread.join()
        return self.killed


def holders(folder: Path) -> list[str]:
    """Return the files that contain a cell of the table."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and CANARY.encode() in path.read_bytes():
            found.append(str(path.relative_to(folder)))
    return found


def release_twice(folder: Path) -> None:
    """Release a table on a local cluster; kill an executor in every stage, and at the second commit this process."""
    reading.SPLIT_BYTES = 4_000
    sections.LARGEST_SECTION = SECTION
    more = {
        "spark.executor.memory": "1g",
        "spark.speculation": "true",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder}/events",
    }
    with open_session("local-cluster[2,1,1024]", FAST | more) as spark:
        killer = Killer(spark.sparkContext, dict.fromkeys(STAGES, executors))
        write_parts(spark, folder / "source.csv", folder / "out", Watch(stage=killer.stage))
        facts = {
            "application": spark.sparkContext.applicationId,
            "killed": killer.finish(),
            "pinned": {name: spark.conf.get(name) for name in PINNED},
            "holders": holders(Path(spark.conf.get("spark.local.dir")).parent),
        }
        (folder / "facts.json").write_text(json.dumps(facts))
        folder_module._put = lambda staged, final: os.kill(os.getpid(), signal.SIGKILL)
        write_parts(spark, folder / "few.csv", folder / "released" / "out", Watch())


def write_parts(spark: Any, source: Path, output: Path, watch: Watch) -> Path:
    """Release a table in parts; return their folder."""
    settings = settings_from(GIVEN)
    with open_source(str(source), settings, spark) as opened:
        run = make_run(settings, threads=1, watch=watch)
        job = Job.from_settings(opened, settings, f"{output}/", run, engine="spark")
        return write_release(job, f"{output}/", watch=watch)[1].path


def test_executors_and_then_the_driver_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an executor killed in every stage, rows are those of memory (S03); a driver killed at commit leaves none.

    No log or temporary file has a cell (S06), and settings are pinned (S08). After the driver (S04), Java and executors
    end by themselves, and the next run removes what was staged.
    """
    import pyspark

    monkeypatch.setattr(sections, "LARGEST_SECTION", SECTION)
    write_csv(canaries(400), tmp_path / "source.csv")
    write_csv(canaries(60), tmp_path / "few.csv")
    shoal.anonymize(tmp_path / "source.csv", **GIVEN).write(tmp_path / "memory.csv")
    output, events = tmp_path / "released" / "out", tmp_path / "events"
    for folder in (output.parent, events):
        folder.mkdir()
    before = (Path(pyspark.__file__).parent / "work").exists()
    code = f"from pathlib import Path; from {__name__} import release_twice; release_twice(Path({str(tmp_path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert (facts["killed"], facts["pinned"], facts["holders"]) == (list(STAGES), PINNED, [])
    assert text_of(tmp_path / "out") == (tmp_path / "memory.csv").read_bytes().decode()
    assert list(events.iterdir())
    assert holders(events) == []
    assert not output.exists()
    assert any(path.name.startswith(".out.") for path in output.parent.iterdir())  # what was staged
    deadline = time.monotonic() + 60
    while processes(str(tmp_path)) or executors(facts["application"]):
        assert time.monotonic() < deadline, "processes of a killed driver are still there"
        time.sleep(0.2)
    with FolderTarget(output).staged():
        pass
    assert list(output.parent.iterdir()) == []
    assert (Path(pyspark.__file__).parent / "work").exists() == before


def answers(port: int) -> bool:
    """Say whether a process listens at a port of this machine."""
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and two workers, each a process of its own; yields the URL of the master."""
    from pyspark.find_spark_home import _find_spark_home

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    starter, url = f"{_find_spark_home()}/bin/spark-class", f"spark://127.0.0.1:{port}"
    more = {"SPARK_DAEMON_JAVA_OPTS": FAST["spark.driver.extraJavaOptions"], "SPARK_DAEMON_MEMORY": "256m"}
    more |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder), "PYSPARK_PYTHON": sys.executable}
    master = ["deploy.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0"]
    worker = ["deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
    with ExitStack() as stack, open(folder / "daemons.log", "wb") as log:
        for words in (master, [*worker, "-d", f"{folder}/a", url], [*worker, "-d", f"{folder}/b", url]):
            command = [starter, f"org.apache.spark.{words[0]}", *words[1:]]
            daemon = stack.enter_context(
                subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | more, cwd=folder)
            )
            stack.callback(daemon.kill)
            deadline = time.monotonic() + 120
            while words is master and not answers(int(port)):
                assert time.monotonic() < deadline, "the master does not answer"
                time.sleep(0.2)
        yield url


def test_worker_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python worker dies, and a worker of the cluster with its executor; the rows are those of memory (S03).

    Java has another language and time zone (S08).
    """
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=tr -Duser.region=TR -Duser.timezone=Asia/Tokyo")
    monkeypatch.setattr(reading, "SPLIT_BYTES", 4_000)
    (tmp_path / "cluster").mkdir()
    source = tmp_path / "source.csv"
    write_csv(canaries(300), source)
    shoal.anonymize(source, **GIVEN).write(tmp_path / "memory.csv")
    with standalone(tmp_path / "cluster") as url:
        local = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        with open_session(url, FAST | local | {"spark.executor.memory": "1g"}) as spark:
            victims = {"counting": python_workers, "writing": lambda _: processes("deploy.worker.Worker", url)}
            killer = Killer(spark.sparkContext, victims)
            parts = write_parts(spark, source, tmp_path / "out", Watch(stage=killer.stage))
            assert killer.finish() == ["counting", "writing"]
        assert len(processes("deploy.worker.Worker", url)) == 1
    assert text_of(parts) == (tmp_path / "memory.csv").read_bytes().decode()
