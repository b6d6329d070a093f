"""Worker processes of a comparison: each receives the subject once, then one case after another.

They are plain child processes that run this module, so user scripts need no `if __name__ == "__main__"` guard. If a
child is killed or runs out of memory, only its own run is lost.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from shoal.evaluate.comparison.cases import Case
from shoal.evaluate.comparison.scoring import Subject, score

__all__ = ["run_cases", "serve"]

DIED = "the process ended before the run was finished: it was killed or ran out of memory."


class Worker:
    """A child process that scores cases of one subject."""

    def __init__(self, subject: bytes, threads: int) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from shoal.evaluate.comparison.workers import serve; serve()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback may contain cells
            env=os.environ | {"POLARS_MAX_THREADS": str(threads)},
        )
        self.case: Case | None = None
        self._send(subject)

    def give(self, case: Case) -> None:
        """Start a run."""
        self.case = case
        self._send(pickle.dumps(case))

    def take(self) -> dict[str, Any]:
        """Wait for the row of the current run and return it."""
        assert self.case is not None
        assert self.process.stdout is not None
        case, self.case = self.case, None
        try:
            row: dict[str, Any] = pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            return {"method": case.label, "k": case.k, "seed": case.seed, "added": False, "failed": DIED, "died": True}
        return row

    def stop(self) -> None:
        """Kill the child."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the child is gone; take() reports it
            self.process.stdin.write(message)
            self.process.stdin.flush()


def run_cases(subject: Subject, cases: Sequence[Case], jobs: int) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield each case with its row as soon as it is finished; `jobs` cases run in parallel."""
    pickled_subject = pickle.dumps(subject)
    remaining = list(reversed(cases))
    workers: list[Worker] = []
    with selectors.DefaultSelector() as ready:

        def start_worker() -> None:
            worker = Worker(pickled_subject, subject.threads)
            workers.append(worker)
            ready.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
            worker.give(remaining.pop())

        try:
            for _ in range(min(jobs, len(cases))):
                start_worker()
            while workers:
                for key, _ in ready.select():
                    worker: Worker = key.data
                    case = worker.case
                    assert case is not None
                    row = worker.take()
                    yield case, row
                    # After a learner, use a new process: its memory must not count for the next run.
                    if remaining and "died" not in row and subject.learner is None:
                        worker.give(remaining.pop())
                        continue
                    ready.unregister(key.fileobj)
                    workers.remove(worker)
                    worker.stop()
                    if remaining:
                        start_worker()
        finally:
            for worker in workers:
                worker.stop()


def serve() -> None:
    """Read cases from standard input until it ends, and write their rows to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops its workers
    source = sys.stdin.buffer
    rows = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep anything printed out of the rows
    threading.Thread(target=_end_with_parent, args=(rows.fileno(),), daemon=True).start()
    subject: Subject = pickle.load(source)
    for column in subject.schema.released:
        subject.table.factor(column.name)  # once, so that it does not count for any run
    while True:
        try:
            case: Case = pickle.load(source)
        except EOFError:
            return
        pickle.dump(score(subject, case), rows)
        rows.flush()


def _end_with_parent(rows: int) -> None:
    """End this process as soon as nobody reads its rows: the parent may have been killed."""
    poll = select.poll()
    poll.register(rows, 0)
    poll.poll()
    os._exit(1)
