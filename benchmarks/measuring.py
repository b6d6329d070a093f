"""Run one case and return its row of figures."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import DEFAULT, VARIANTS, Case
from benchmarks.child import Finished, run_child
from benchmarks.gap import measure_gaps
from benchmarks.reference import Beside
from benchmarks.report import Row
from benchmarks.score import Score, score_files
from benchmarks.workloads import Workloads
from shoal import methods, metrics
from shoal.encoding.decode import decode
from shoal.models import KAnonymity

__all__ = ["Bench", "MeasuringError", "shoal_command"]

# How far shoal's own measure of a release may lie from the score of its cells.
AGREEMENT = 1e-9


class MeasuringError(Exception):
    """A case did not end as it must: its row says why, and the run goes on."""


class Bench:
    """What the cases of a run share: the tables, and a folder to write in. units: CPU seconds of the unit of each."""

    def __init__(self, workloads: Workloads, folder: Path) -> None:
        self._workloads = workloads
        self._folder = folder
        self._is_warm = False
        self.units: list[float] = []
        self._labels: dict[tuple[object, ...], NDArray[np.int32]] = {}

    def run(self, case: Case) -> Row:
        """Run a case; one that fails gives a row with the reason."""
        steps = {
            "kernel": self._kernel,
            "command": self._command,
            "gap": self._gap,
            "start": self._start,
            "demo": self._demo,
        }
        try:
            return steps[case.kind](case)
        except MeasuringError as error:
            return Row.of(case, error=str(error))

    def _kernel(self, case: Case) -> Row:
        """Time the method alone on codes; then decode, write and score what it found."""
        assert case.k is not None
        workload = self._workloads.get(case.subject)
        table, encoded = self._workloads.encoded(case.subject)
        name, options = VARIANTS[case.variant]
        method, models = methods.named(name, **options), (KAnonymity(case.k),)
        beside, cpu, wall = Beside(), [], []
        for _ in range(case.repetitions):
            began = time.perf_counter(), time.process_time()
            partition = method.partition(encoded, models, methods.Run(threads=case.threads or 1))
            cpu.append(time.process_time() - began[1])
            wall.append(time.perf_counter() - began[0])
            beside.measure(cpu[-1])
        self._check_threads(case, partition.labels)
        released = decode(encoded, partition, workload.schema).table
        path = self._folder / "kernel.csv"
        released.frame.write_csv(path)
        score = score_files(workload.path, path, workload.kinds)
        _check_score(case.k, score, metrics.measure_tables(table, released, workload.schema, k=case.k).ncp)
        return Row.of(
            case,
            rows=encoded.n_rows,
            distinct=len(encoded.tuples),
            loss=score.loss,
            groups=score.groups,
            **self._times(cpu, wall, beside),
        )

    def _gap(self, case: Case) -> Row:
        """Try the method on small samples, against the least possible loss."""
        workload = self._workloads.get(case.subject)
        table, _ = self._workloads.encoded(case.subject)
        name, options = VARIANTS[case.variant]
        try:
            gaps = list(measure_gaps(table, workload.schema, methods.named(name, **options)))
        except ModuleNotFoundError as error:
            raise MeasuringError(f"{error.name} is missing: pip install '.[dev]', and run from the root") from error
        return Row.of(case, samples=len(gaps), gap=statistics.fmean(gaps), gap_most=max(gaps))

    def _command(self, case: Case) -> Row:
        """Run `shoal anonymize` from CSV file to verified CSV file, start-up included."""
        assert case.k is not None
        workload = self._workloads.get(case.subject)
        name, options = VARIANTS[case.variant]
        path = self._folder / "command.csv"
        command = [*shoal_command(), "anonymize", str(workload.path), "-o", str(path), "--force", "--json"]
        command += ["-k", str(case.k), *workload.arguments]
        if case.variant != DEFAULT:
            command += ["--method", name]
            for option, value in options.items():
                command += ["--option", f"{option}={value}"]
        command += ["--threads", str(case.threads)] if case.threads else []
        ended, figures = self._children(command, case.repetitions)
        told = json.loads(ended.output)
        score = score_files(workload.path, path, workload.kinds)
        _check_score(case.k, score, told["measures"]["ncp"])
        return Row.of(case, rows=score.rows, loss=score.loss, groups=score.groups, **figures)

    def _demo(self, case: Case) -> Row:
        """Run `shoal demo`, which ends in a verified release of the patients table too."""
        command = [*shoal_command(), "demo", "--folder", str(self._folder), "-k", str(case.k), "--json"]
        ended, figures = self._children(command, case.repetitions)
        told = json.loads(ended.output)
        workload = self._workloads.get(case.subject)
        score = score_files(workload.path, Path(told["output"]), workload.kinds)
        _check_score(case.k or 1, score, told["measures"]["ncp"])
        return Row.of(case, rows=score.rows, loss=score.loss, groups=score.groups, **figures)

    def _start(self, case: Case) -> Row:
        """Start a process that does next to nothing."""
        commands = {
            "python": [sys.executable, "-c", "pass"],
            "import": [sys.executable, "-c", "import shoal"],
            "help": [*shoal_command(), "--help"],
        }
        return Row.of(case, **self._children(commands[case.subject], case.repetitions)[1])

    def _children(self, command: Sequence[str], repetitions: int) -> tuple[Finished, dict[str, float]]:
        bytecode = self._folder / "bytecode"
        if not self._is_warm:
            self._is_warm = True
            run_child([*shoal_command(), "--help"], bytecode)
            run_child([*shoal_command(), "demo", "--folder", str(self._folder)], bytecode)
        beside, ended = Beside(), []
        for _ in range(repetitions):
            ended.append(run_child(command, bytecode))
            beside.measure(ended[-1].cpu_seconds)
        failed = [child for child in ended if child.code]
        if failed:
            reason = failed[0].errors.strip().splitlines() or ["no reason given"]
            raise MeasuringError(f"exit code {failed[0].code}: {reason[-1]}")
        times = self._times([c.cpu_seconds for c in ended], [c.wall_seconds for c in ended], beside)
        return ended[-1], times | {"peak_mb": max(child.peak_mb for child in ended)}

    def _times(self, cpu: Sequence[float], wall: Sequence[float], beside: Beside) -> dict[str, float]:
        self.units.append(beside.unit)
        mean = statistics.fmean(cpu)
        return {"units": mean / beside.unit, "cpu_seconds": mean, "cpu_least": min(cpu), "wall_seconds": min(wall)}

    def _check_threads(self, case: Case, labels: NDArray[np.int32]) -> None:
        first = self._labels.setdefault((case.subject, case.k, case.variant), labels)
        if not np.array_equal(first, labels):
            raise MeasuringError(f"{case.threads} threads found other groups than the run before")


def shoal_command() -> list[str]:
    """Return how the command line is started: the installed script, or the package with this interpreter."""
    beside = str(Path(sys.executable).parent)
    script = shutil.which("shoal", path=os.pathsep.join([beside, os.environ.get("PATH", os.defpath)]))
    return [script] if script else [sys.executable, "-c", "from shoal.cli.main import run; run()"]


def _check_score(k: int, score: Score, own: float) -> None:
    if abs(score.loss - own) > AGREEMENT:
        raise MeasuringError(f"shoal measures a loss of {own!r}, the released cells give {score.loss!r}")
    if score.smallest_group < k:
        raise MeasuringError(f"the release has a group of {score.smallest_group} rows, fewer than {k}")
