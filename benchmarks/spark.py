"""A release on a Spark cluster of two executors on this machine: CPU of all its processes by stage, memory, shuffles.

python -m benchmarks.spark [--record] [rows ...]          by default 1,000,000 and 5,000,000 rows

The table is Adult made bigger; eight quasi-identifiers, k = 5. CPU is that of the driver, of Java and of every executor
and Python worker, from the start of the command to its end. --record keeps the figures in
benchmarks/results/spark.json and writes docs/reference/spark-scale.md, with an estimate for a billion rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from typing import IO, Any
from unittest.mock import patch

from benchmarks.big_table import COLUMNS, write_big_table
from benchmarks.reference import measure_unit
from benchmarks.spark_page import PAGE, RESULTS, record
from benchmarks.workloads import find_adult

TICKS = os.sysconf("SC_CLK_TCK")
MASTER = "local-cluster[2,1,2048]"
ROWS = (1_000_000, 5_000_000)
PAUSE = 0.5  # seconds between two looks at the processes
CHILD = "child"


class Session:
    """The processes of a command that leads a session of its own: CPU seconds by stage, and the peak of each kind."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._ticks: dict[int, int] = {}
        self.stage = "start"
        self.stages: dict[str, int] = {}
        self.peaks: dict[str, int] = {}

    def look(self) -> None:
        """Add up what the processes have used so far; a process that ended keeps what it had used."""
        before = sum(self._ticks.values())
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if int(fields[3]) == self._leader:
                self._ticks[int(folder.name)] = int(fields[11]) + int(fields[12])
                kind = _kind(words)
                self.peaks[kind] = max(self.peaks.get(kind, 0), int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
        self.stages[self.stage] = self.stages.get(self.stage, 0) + sum(self._ticks.values()) - before

    def listen(self, lines: IO[str]) -> None:
        """Hear of the stages of the command."""
        for line in lines:
            self.stage = line.strip()

    @property
    def seconds(self) -> dict[str, float]:
        """The CPU seconds of all processes, by stage."""
        return {name: ticks / TICKS for name, ticks in self.stages.items()}


def _kind(words: bytes) -> str:
    if b"CoarseGrainedExecutorBackend" in words:
        return "executor"
    if b"org.apache.spark" in words:
        return "Java of the driver"
    return "Python worker" if b"pyspark" in words else "driver"


def run_child(source: str, folder: str) -> None:
    """Make one release in parts, and name each stage on standard output as it begins."""
    from pyspark.sql.classic.dataframe import DataFrame

    from shoal.release.job import Job
    from shoal.release.make import make_run
    from shoal.settings.keywords import settings_from
    from shoal.spark.engine import open_source, write_release
    from shoal.spark.search import sections
    from shoal.spark.search.cutting import cut_tuples
    from shoal.spark.session import open_session
    from shoal.tables.watch import Watch

    names = [name for name in COLUMNS if name != "salary"]
    settings = settings_from({"k": 5, "qi": names, "sensitive": ["salary"], "effort": "fast"})
    watch = Watch(stage=lambda name: print(name, flush=True))
    events = Path(folder) / "events"
    events.mkdir()
    more = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{events}",
    }
    output = f"{folder}/out.parquet/"
    counts: dict[str, int] = {}

    def cut(tuples: Any, packing: Any, plan: Any, n_tuples: int, *others: Any) -> Any:
        cuts = cut_tuples(tuples, packing, plan, n_tuples, *others)
        counts.update(tuples=n_tuples, sections=len(cuts.numbers()))
        return cuts

    fetch = DataFrame.toArrow

    def to_arrow(frame: DataFrame) -> Any:
        table = fetch(frame)
        counts["fetched"] = counts.get("fetched", 0) + table.nbytes
        return table

    DataFrame.toArrow = to_arrow  # type: ignore[assignment, method-assign]
    with (
        patch.object(sections, "cut_tuples", cut),
        open_session(MASTER, more) as spark,
        open_source(source, settings, spark) as opened,
    ):
        run = make_run(settings, threads=1, watch=watch)
        job = Job.from_settings(opened, settings, output, run, engine="spark")
        release, _, _ = write_release(job, output, watch=watch)
    facts = {"groups": release.measures.groups, "loss": release.measures.ncp, **counts}
    (Path(folder) / "facts.json").write_text(json.dumps(facts))


def shuffled_bytes(events: Path) -> int:
    """Return the bytes that the tasks of a run wrote for other tasks, from its event log."""
    total = 0
    for path in events.rglob("*"):
        if not path.is_file() or path.name.startswith("."):
            continue
        for line in path.read_text(errors="replace").splitlines():
            event: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
            if event.get("Event") == "SparkListenerTaskEnd":
                metrics = event.get("Task Metrics") or {}
                total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


def measure(source: Path, folder: Path) -> dict[str, Any]:
    """Return the CPU seconds by stage, the elapsed seconds, the peak memory and the shuffled bytes of one release."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.spark", CHILD, str(source), str(folder)]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True) as process:
        session = Session(process.pid)
        assert process.stdout is not None
        Thread(target=session.listen, args=(process.stdout,), daemon=True).start()
        while process.poll() is None:
            session.look()
            time.sleep(PAUSE)
    if process.returncode:
        raise SystemExit(f"the command ended with {process.returncode}.")
    facts: dict[str, Any] = json.loads((folder / "facts.json").read_text())
    seconds = time.perf_counter() - start
    return facts | {
        "stages": session.seconds,
        "seconds": round(seconds),
        "peaks": session.peaks,
        "shuffled": shuffled_bytes(folder / "events"),
    }


def main(words: list[str]) -> None:
    """Measure releases of these sizes and print what was found."""
    if {"-h", "--help"}.intersection(words):
        print(__doc__)
        return
    if words[:1] == [CHILD]:
        run_child(*words[1:])
        return
    adult = find_adult()
    if adult is None:
        raise SystemExit("Adult is not there. shoal.datasets.adult(download=True) fetches it.")
    for rows in [int(word) for word in words if word.isdigit()] or ROWS:
        with tempfile.TemporaryDirectory() as temporary:
            source = Path(temporary) / "big.csv"
            write_big_table(adult, rows, source)
            before = measure_unit()
            found = measure(source, Path(temporary)) | {"rows": rows, "bytes": source.stat().st_size}
        unit = (before + measure_unit()) / 2
        stages = {name: round(seconds / unit, 1) for name, seconds in found["stages"].items()}
        figures = found | {"stages": stages, "unit": round(unit, 2), "load": round(os.getloadavg()[0], 1)}
        print(json.dumps(figures), flush=True)
        if "--record" in words:
            record(figures, RESULTS, PAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
