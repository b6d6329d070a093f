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
import polars as pl
from numpy.typing import NDArray

import shoal
from benchmarks.cases import BY_SQUARES, DEFAULT, MODELS, NO_BOUND, PARQUET, VARIANTS, Case
from benchmarks.child import Finished, run_child
from benchmarks.gap import measure_gaps
from benchmarks.reference import Beside
from benchmarks.report import Row
from benchmarks.score import Score, score_files
from benchmarks.workloads import Workloads
from shoal import methods, metrics
from shoal.encoding.decode import decode
from shoal.encoding.ends import EXACT, release_ends
from shoal.metrics.variance import sum_of_squares
from shoal.models import KAnonymity, PrivacyModel, model_from
from shoal.models.registry import parse_model
from shoal.release.cells.ends import choose_ends

__all__ = ["Bench", "MeasuringError", "shoal_command"]

# The largest difference allowed between shoal's own measure of a release and the score of its cells.
AGREEMENT = 1e-9


class MeasuringError(Exception):
    """A case failed: its row gives the reason, and the run continues."""


class Bench:
    """Runs the cases, which share the tables and a folder to write in.

    Attributes:
        units: The CPU seconds of the reference unit, as measured beside each case.
    """

    def __init__(self, workloads: Workloads, folder: Path) -> None:
        self._workloads = workloads
        self._folder = folder
        self._is_warm = False
        self.units: list[float] = []
        self._labels: dict[tuple[object, ...], NDArray[np.int32]] = {}

    def run(self, case: Case) -> Row:
        """Run a case; if it fails, return a row with the reason."""
        steps = {
            "kernel": self._kernel,
            "command": self._command,
            "gap": self._gap,
            "squares": self._squares,
            "stages": self._stages,
            "start": self._start,
            "demo": self._demo,
        }
        try:
            return steps[case.kind](case)
        except MeasuringError as error:
            return Row.of(case, error=str(error))

    def _kernel(self, case: Case) -> Row:
        """Time only the method, on codes; then decode, write and score its partition, with the ends of a release."""
        assert case.k is not None
        workload = self._workloads.get(case.subject)
        table, encoded = self._workloads.encoded(case.subject)
        name, options = VARIANTS[case.variant]
        method = methods.named(name, **options)
        models: tuple[PrivacyModel, ...] = (KAnonymity(case.k),)
        if case.form:
            models = (*models, model_from(parse_model(f"{case.form} {MODELS[case.form]}")))
        reference, cpu, wall = Beside(), [], []
        for _ in range(case.repetitions):
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            partition = method.partition(encoded, models, methods.Run(threads=case.threads or 1))
            cpu.append(time.process_time() - cpu_start)
            wall.append(time.perf_counter() - wall_start)
            reference.measure(cpu[-1])
        self._check_threads(case, partition.labels)
        # People and models: only the groups are compared, not what safe ends cost.
        choice = choose_ends(EXACT if case.form or workload.person else None, method, models)
        ends = release_ends(encoded, partition, workload.schema, choice, k=case.k)
        released = decode(encoded, partition, workload.schema, ends=ends).table
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
            **self._times(cpu, wall, reference),
        )

    def _squares(self, case: Case) -> Row:
        """Time only a method that lowers the sum of squares, on codes, and measure that of its groups."""
        assert case.k is not None
        try:
            _, encoded = self._workloads.encoded(case.subject)
        except ModuleNotFoundError as error:
            raise MeasuringError(f"{error.name} is not installed: pip install '.[dev]'") from error
        name, options = BY_SQUARES[case.variant]
        method, reference = methods.named(name, **options), Beside()
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        partition = method.partition(encoded, (KAnonymity(case.k),), methods.Run(threads=case.threads or 1))
        cpu, wall = time.process_time() - cpu_start, time.perf_counter() - wall_start
        reference.measure(cpu)
        return Row.of(
            case,
            rows=encoded.n_rows,
            distinct=len(encoded.tuples),
            squares=sum_of_squares(encoded, partition.entries),
            groups=partition.n_groups,
            **self._times([cpu], [wall], reference),
        )

    def _gap(self, case: Case) -> Row:
        """Compare the method with the optimum on small samples."""
        workload = self._workloads.get(case.subject)
        table, _ = self._workloads.encoded(case.subject)
        name, options = VARIANTS[case.variant]
        try:
            gaps = list(measure_gaps(table, workload.schema, methods.named(name, **options)))
        except ModuleNotFoundError as error:
            cure = "pip install '.[dev]' and run from the root of the repository"
            raise MeasuringError(f"{error.name} is not installed: {cure}") from error
        return Row.of(case, samples=len(gaps), gap=statistics.fmean(gaps), gap_most=max(gaps))

    def _command(self, case: Case) -> Row:
        """Run `shoal anonymize` from file to verified file, including start-up."""
        assert case.k is not None
        workload = self._workloads.get(case.subject)
        name, options = VARIANTS[case.variant]
        source, path = workload.path, self._folder / "command.csv"
        if case.form == PARQUET:
            source, path = workload.path.with_suffix(".parquet"), path.with_suffix(".parquet")
            pl.read_csv(workload.path, infer_schema=False).write_parquet(source)
        command = [*shoal_command(), "anonymize", str(source), "-o", str(path), "--force", "--json"]
        command += ["-k", str(case.k), *workload.arguments]
        if case.variant != DEFAULT:
            command += ["--method", name]
            for option, value in options.items():
                command += ["--option", f"{option}={value}"]
        command += ["--threads", str(case.threads)] if case.threads else []
        command += ["--no-bound"] if case.form == NO_BOUND else []
        child, figures = self._children(command, case.repetitions)
        result = json.loads(child.output)
        if case.form == PARQUET:
            pl.read_parquet(path).write_csv(path := path.with_suffix(".csv"))
        score = score_files(workload.path, path, workload.kinds)
        _check_score(case.k, score, result["measures"]["ncp"])
        return Row.of(case, rows=score.rows, loss=score.loss, groups=score.groups, **figures)

    def _stages(self, case: Case) -> Row:
        """Run from CSV file to verified CSV file in this process, and time each stage; start-up is not part of it."""
        assert case.k is not None
        workload = self._workloads.get(case.subject)
        name, options = VARIANTS[case.variant]
        kinds = {kind: [n for n, k in workload.kinds.items() if k == kind] for kind in ("numeric", "categorical")}
        times: dict[str, float] = {}
        current, begun = "other", time.process_time()

        def progress(stage: str, _: float) -> None:
            nonlocal current, begun
            now = time.process_time()
            times[current] = times.get(current, 0.0) + now - begun
            current, begun = stage, now

        reference = Beside()
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        release = shoal.anonymize(
            workload.path,
            k=case.k,
            qi=list(workload.kinds),
            sensitive=list(workload.sensitive),
            drop=list(workload.dropped),
            numeric=kinds["numeric"],
            categorical=kinds["categorical"],
            method=name,
            options=options,
            threads=case.threads or 1,
            bound=False,
            progress=progress,
        )
        release.write(self._folder / "stages.csv", force=True, progress=progress)
        progress("", 1.0)
        cpu, wall = time.process_time() - cpu_start, time.perf_counter() - wall_start
        reference.measure(cpu)
        figures = self._times([cpu], [wall], reference)
        stages = {stage: seconds / reference.unit for stage, seconds in times.items()}
        return Row.of(case, rows=release.measures.rows, loss=release.measures.ncp, stages=stages, **figures)

    def _demo(self, case: Case) -> Row:
        """Run `shoal demo`, which also writes a verified release of the patients table."""
        command = [*shoal_command(), "demo", "--folder", str(self._folder), "-k", str(case.k), "--json"]
        child, figures = self._children(command, case.repetitions)
        result = json.loads(child.output)
        workload = self._workloads.get(case.subject)
        score = score_files(workload.path, Path(result["output"]), workload.kinds)
        _check_score(case.k or 1, score, result["measures"]["ncp"])
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
        reference, children = Beside(), []
        for _ in range(repetitions):
            children.append(run_child(command, bytecode))
            reference.measure(children[-1].cpu_seconds)
        failed_children = [child for child in children if child.code]
        if failed_children:
            reason = failed_children[0].errors.strip().splitlines() or ["no reason given"]
            raise MeasuringError(f"exit code {failed_children[0].code}: {reason[-1]}")
        times = self._times([c.cpu_seconds for c in children], [c.wall_seconds for c in children], reference)
        return children[-1], times | {"peak_mb": max(child.peak_mb for child in children)}

    def _times(self, cpu: Sequence[float], wall: Sequence[float], reference: Beside) -> dict[str, float]:
        self.units.append(reference.unit)
        mean = statistics.fmean(cpu)
        return {"units": mean / reference.unit, "cpu_seconds": mean, "cpu_least": min(cpu), "wall_seconds": min(wall)}

    def _check_threads(self, case: Case, labels: NDArray[np.int32]) -> None:
        first = self._labels.setdefault((case.subject, case.k, case.variant, case.form), labels)
        if not np.array_equal(first, labels):
            raise MeasuringError(f"the groups with {case.threads} threads differ from those of the first run")


def shoal_command() -> list[str]:
    """Return how to start the command line: the installed script, or the package with this interpreter."""
    folder = str(Path(sys.executable).parent)
    script = shutil.which("shoal", path=os.pathsep.join([folder, os.environ.get("PATH", os.defpath)]))
    return [script] if script else [sys.executable, "-c", "from shoal.cli.main import run; run()"]


def _check_score(k: int, score: Score, measured_loss: float) -> None:
    if abs(score.loss - measured_loss) > AGREEMENT:
        raise MeasuringError(f"shoal measures a loss of {measured_loss!r}, the released cells give {score.loss!r}")
    if score.smallest_group < k:
        raise MeasuringError(f"the release has a group of {score.smallest_group} rows, fewer than {k}")
