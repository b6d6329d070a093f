"""A release on a Spark cluster of two executors on this machine: CPU of all its processes, and their memory.

python -m benchmarks.spark [rows ...]          by default 100,000 and 5,000,000 rows

The table is Adult made bigger; eight quasi-identifiers, k = 5. CPU is that of the driver, of Java and of every executor
and Python worker, from the start of the command to its end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.big_table import COLUMNS, write_big_table
from benchmarks.reference import measure_unit
from benchmarks.workloads import find_adult

TICKS = os.sysconf("SC_CLK_TCK")
MASTER = "local-cluster[2,1,2048]"
ROWS = (100_000, 5_000_000)
PAUSE = 0.5  # seconds between two looks at the processes


class Session:
    """The processes of a command that leads a session of its own: CPU seconds, and the peak memory of each kind."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._ticks: dict[int, int] = {}
        self.peaks: dict[str, int] = {}

    def look(self) -> None:
        """Add up what the processes have used so far; a process that ended keeps what it had used."""
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

    @property
    def seconds(self) -> float:
        """The CPU seconds of all processes."""
        return sum(self._ticks.values()) / TICKS


def _kind(words: bytes) -> str:
    if b"CoarseGrainedExecutorBackend" in words:
        return "executor"
    if b"org.apache.spark" in words:
        return "Java of the driver"
    return "Python worker" if b"pyspark" in words else "driver"


def measure(source: Path, folder: Path) -> tuple[float, float, dict[str, int]]:
    """Return the CPU seconds, the elapsed seconds and the peak memory of one release in parts."""
    qi = ",".join(name for name in COLUMNS if name != "salary")
    words = ["anonymize", source, "-o", f"{folder}/out.parquet/", "-k", 5, "--qi", qi, "--sensitive", "salary"]
    words += ["--effort", "fast", "--engine", "spark", "--master", MASTER, "--force"]
    start = time.perf_counter()
    command = [sys.executable, "-m", "shoal", *map(str, words)]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL) as process:
        session = Session(process.pid)
        while process.poll() is None:
            session.look()
            time.sleep(PAUSE)
    if process.returncode:
        raise SystemExit(f"the command ended with {process.returncode}.")
    return session.seconds, time.perf_counter() - start, session.peaks


def main(sizes: list[int]) -> None:
    """Measure releases of these sizes and print a table."""
    adult = find_adult()
    if adult is None:
        raise SystemExit("Adult is not there. shoal.datasets.adult(download=True) fetches it.")
    print(f"{MASTER}; one unit is {(unit := measure_unit()):.2f} CPU seconds")
    print("| rows | units | seconds | peak memory |\n|---|---|---|---|")
    for rows in sizes:
        with tempfile.TemporaryDirectory() as temporary:
            source = Path(temporary) / "big.csv"
            write_big_table(adult, rows, source)
            cpu, seconds, peaks = measure(source, Path(temporary))
        memory = ", ".join(f"{kind} {peak / 1e6:,.0f} MB" for kind, peak in sorted(peaks.items()))
        print(f"| {rows:,} | {cpu / unit:,.0f} | {seconds:,.0f} | {memory} |", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or list(ROWS))
