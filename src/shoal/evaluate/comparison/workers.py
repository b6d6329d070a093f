"""Processes that make the runs of a comparison: each gets the subject once, then one case after the other.

They are plain children that run this module, so that a script needs no guard around its main part. A child that dies,
killed or out of memory, costs its own run alone.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from shoal.evaluate.comparison.scoring import Case, Subject, score

__all__ = ["run_cases", "serve"]

DIED = "its process ended before the run did: killed, or out of memory."


class Worker:
    """A child process that scores cases of one subject."""

    def __init__(self, subject: bytes, threads: int) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from shoal.evaluate.comparison.workers import serve; serve()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback may hold cells
            env=os.environ | {"POLARS_MAX_THREADS": str(threads)},
        )
        self.case: Case | None = None
        self._send(subject)

    def give(self, case: Case) -> None:
        """Begin a run."""
        self.case = case
        self._send(pickle.dumps(case))

    def take(self) -> dict[str, Any]:
        """Return the row of the run that was begun."""
        assert self.case is not None
        assert self.process.stdout is not None
        case, self.case = self.case, None
        try:
            row: dict[str, Any] = pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            return {"method": case.label, "k": case.k, "seed": case.seed, "added": False, "failed": DIED, "died": True}
        return row

    def stop(self) -> None:
        """End the child, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is gone, which take() tells
            self.process.stdin.write(message)
            self.process.stdin.flush()


def run_cases(subject: Subject, cases: Sequence[Case], jobs: int) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Give each case with its row as it is finished; jobs: how many run side by side."""
    packed = pickle.dumps(subject)
    left = list(reversed(cases))
    workers: list[Worker] = []
    with selectors.DefaultSelector() as ready:

        def begin() -> None:
            worker = Worker(packed, subject.threads)
            workers.append(worker)
            ready.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
            worker.give(left.pop())

        try:
            for _ in range(min(jobs, len(cases))):
                begin()
            while workers:
                for key, _ in ready.select():
                    worker: Worker = key.data
                    case = worker.case
                    assert case is not None
                    row = worker.take()
                    yield case, row
                    # What a learner leaves in memory must not be charged to the next run.
                    if left and "died" not in row and subject.learner is None:
                        worker.give(left.pop())
                        continue
                    ready.unregister(key.fileobj)
                    workers.remove(worker)
                    worker.stop()
                    if left:
                        begin()
        finally:
            for worker in workers:
                worker.stop()


def serve() -> None:
    """Score cases from standard input until it ends; the rows go to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began this ends it
    source = sys.stdin.buffer
    rows = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that is printed gets among the rows
    subject: Subject = pickle.load(source)
    for column in subject.schema.released:
        subject.table.factor(column.name)  # once, so that no run is charged for it
    while True:
        try:
            case: Case = pickle.load(source)
        except EOFError:
            return
        pickle.dump(score(subject, case), rows)
        rows.flush()
