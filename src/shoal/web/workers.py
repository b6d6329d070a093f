"""Worker processes: each does its task, reports its progress through a pipe, and can be ended at any moment.

A worker is a plain child process that runs this module. It ends with the server, cannot take more memory than its
limit, and keeps its temporary files in the folder of its task.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal.errors import CancelledError, FileError, InternalError, ShoalError, place_of
from shoal.tables.watch import Watch
from shoal.web.files import make_private
from shoal.web.words import error_in_words

__all__ = ["Assistant", "Worker", "error_of", "work"]

NICE = 5  # the server answers first
REPORT_SECONDS = 0.1  # between two reports of progress
LEAST_MEMORY = 1 << 30
DIED = "the worker process ended before it was finished: it was killed or ran out of memory."


class Worker:
    """A child process that does a task, or one after another; `listen` hears of its progress and of its end."""

    def __init__(
        self,
        task: str,
        values: Mapping[str, Any],
        folder: Path,
        listen: Callable[[dict[str, Any]], None],
        start: Path | None = None,
        memory: int | None = None,
    ) -> None:
        """Start the process.

        Args:
            task: The name of a function of `shoal.web.tasks`; empty for a worker that waits for `give`.
            values: Its keyword arguments.
            folder: A private folder for its temporary files.
            listen: Called from another thread with {"stage", "share"} for progress, and at the end of a task once
                with {"done": result} or {"error": {"kind", "text"}}. Not called after `stop`.
            start: The folder from which relative paths start, so that no message shows where the private folder is.
            memory: The most memory that it may take, in bytes; by default what is available.
        """
        code = f"import sys; sys.path[:] = {sys.path!r}; from shoal.web.workers import work; work()"
        scratch = folder / "scratch"
        make_private(scratch)
        self._listen = listen
        self._stopped = threading.Event()
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback may contain cells
            start_new_session=True,  # Ctrl-C is for the server, which ends its workers
            cwd=start or folder,
            env=os.environ | {"TMPDIR": str(scratch)},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        messages = [pickle.dumps(memory), *([pickle.dumps((task, dict(values)))] if task else [])]
        threading.Thread(target=self._send, args=(b"".join(messages), bool(task)), daemon=True).start()

    def stop(self) -> None:
        """Kill the process and wait until it is gone."""
        self._stopped.set()
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # what was never read is lost
            self.process.stdin.close()
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def give(self, task: str, values: Mapping[str, Any]) -> None:
        """Give a task to a worker that was started without one; it may have done others before."""
        self._send(pickle.dumps((task, dict(values))), last=False)

    def _send(self, message: bytes, last: bool) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(
            BrokenPipeError, ValueError
        ):  # the child is gone or was stopped; the reader reports it
            self.process.stdin.write(message)
            self.process.stdin.flush()
            if last:
                self.process.stdin.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        last: dict[str, Any] = {}
        with self.process.stdout as lines:
            for line in lines:
                last = json.loads(line)
                if not self._stopped.is_set():
                    self._listen(last)
        self.process.wait()
        if not self._stopped.is_set() and "done" not in last and "error" not in last:
            self._listen({"error": _described(FileError(DIED))})


class Assistant:
    """A worker that stays for a while, so that the next question about the same table is answered at once."""

    def __init__(self, folder: Path, start: Path) -> None:
        self._folder, self._start = folder, start
        self._worker: Worker | None = None
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._newest: Counter[str] = Counter()  # by subject
        self._used = 0.0

    def ask(self, task: str, values: Mapping[str, Any], subject: str) -> dict[str, Any]:
        """Have a task done and wait for its result. Of several questions on a subject, only the newest is answered.

        Raises:
            CancelledError: A newer question on the subject came, or the assistant was stopped.
        """
        with self._counting:
            self._newest[subject] += 1
            number = self._newest[subject]
        with self._lock:
            if number != self._newest[subject]:
                raise CancelledError("a newer question replaced this one.")
            if self._worker is None or self._worker.process.poll() is not None:
                self._answers = queue.SimpleQueue()
                self._worker = Worker("", {}, self._folder, self._hear, self._start)
            self._worker.give(task, values)
            answer = self._answers.get()
            self._used = time.monotonic()
        if answer is None:
            raise CancelledError
        if "error" in answer:
            raise error_of(answer["error"])
        done: dict[str, Any] = answer["done"]
        return done

    def stop(self, idle: float = 0.0) -> None:
        """End the worker, unless it is at work or was used in the last seconds.

        Args:
            idle: The seconds that it may stay unused; 0 ends it in any case.
        """
        worker = self._worker
        if worker is None or (idle and (self._lock.locked() or time.monotonic() - self._used < idle)):
            return
        self._worker = None
        worker.stop()
        self._answers.put(None)

    def _hear(self, message: dict[str, Any]) -> None:
        if "stage" not in message:
            self._answers.put(message)


def _described(error: ShoalError) -> dict[str, Any]:
    return {"kind": type(error).__name__, "text": error_in_words(error), "code": error.exit_code}


def error_of(description: Mapping[str, Any]) -> ShoalError:
    """Return the error that a worker described."""
    from shoal import errors

    kind = getattr(errors, description["kind"], InternalError)
    error: ShoalError = kind.__new__(kind)
    ShoalError.__init__(error, description["text"])
    return error


def work() -> None:
    """Do the task that standard input describes, and report to standard output. Called in the child process."""
    reports = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep anything printed out of the reports
    threading.Thread(target=_end_with_parent, args=(reports.fileno(),), daemon=True).start()
    os.nice(NICE)
    _limit_memory(pickle.load(sys.stdin.buffer))

    def send(message: dict[str, Any]) -> None:
        reports.write(json.dumps(message) + "\n")
        reports.flush()

    while True:
        try:
            task, values = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        send(_answer(task, values, send))


def _answer(task: str, values: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Do a task; return its result, or the error that ended it."""
    try:
        from shoal.web import tasks

        return {"done": getattr(tasks, task)(**values, watch=_watch(send))}
    except ShoalError as error:
        return {"error": _described(error)}
    except MemoryError:
        return {"error": _described(FileError("not enough memory for this table. Use fewer columns."))}
    except BaseException as error:  # a panic of native code is not an Exception
        return {"error": _described(InternalError(f"{type(error).__name__} in {place_of(error)}."))}


def _watch(send: Callable[[dict[str, Any]], None]) -> Watch:
    """Return a watch that reports a few times a second."""
    stage, sent = "", 0.0

    def begin(name: str) -> None:
        nonlocal stage, sent
        stage, sent = name, time.monotonic()
        send({"stage": stage, "share": 0.0})

    def step(share: float) -> None:
        nonlocal sent
        if time.monotonic() - sent >= REPORT_SECONDS:
            sent = time.monotonic()
            send({"stage": stage, "share": round(share, 4)})

    return Watch(stage=begin, progress=step)


def _limit_memory(most: int | None) -> None:
    """Bound the memory of this process, so that a large table cannot take that of the whole machine."""
    import resource

    from shoal.tables.formats.memory_limit import available_memory

    limit = most or available_memory()
    if limit is None:
        return
    limit = max(LEAST_MEMORY, limit)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with contextlib.suppress(ValueError, OSError):  # a limit that exists already is lower
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _end_with_parent(reports: int) -> None:
    """End this process as soon as nobody reads its reports: the server may have been killed."""
    poll = select.poll()
    poll.register(reports, 0)
    poll.poll()
    os._exit(1)
