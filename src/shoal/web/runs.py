"""Runs of a project: queued, watched, cancelled, and what they leave behind."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import tomllib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError, UsageError
from shoal.settings.read import parse_config
from shoal.settings.settings import Settings
from shoal.settings.write import to_toml
from shoal.tables.watch import Progress
from shoal.web.files import MissingError, make_private, named_files, with_files_in
from shoal.web.loaded import read_pairs
from shoal.web.tasks import AFTER
from shoal.web.workers import Worker, error_of

__all__ = ["FORMATS", "Crew", "Run", "RunState"]

MOST_AT_ONCE = 2  # runs that work at the same time; others wait
FORMATS = ("csv", "parquet", "xlsx", "csv.gz")
REPORT = "report.html"
FOREVER = 1e9  # seconds


class RunState(StrEnum):
    """Where a run is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self in (RunState.DONE, RunState.FAILED, RunState.CANCELLED)


class Crew:
    """The workers of a server: starts a few at once, in the order in which they were asked for."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._most = most
        self._waiting: deque[Run] = deque()
        self._working: set[Run] = set()
        self._lock = threading.RLock()

    def add(self, run: Run) -> None:
        """Have a run done as soon as a place is free."""
        with self._lock:
            self._waiting.append(run)
        self._next()

    def drop(self, run: Run) -> None:
        """Give the place of a run to the next one."""
        with self._lock:
            self._working.discard(run)
            if run in self._waiting:
                self._waiting.remove(run)
        self._next()

    def stop(self) -> None:
        """Cancel everything."""
        with self._lock:
            runs = [*self._waiting, *self._working]
        for run in runs:
            run.cancel()

    def _next(self) -> None:
        with self._lock:
            while self._waiting and len(self._working) < self._most:
                run = self._waiting.popleft()
                self._working.add(run)
                run.begin()


@dataclass(eq=False)
class Run:
    """One run of a project.

    Attributes:
        id: Its number in the project.
        settings: The settings that it has.
        place: The table: a path or a URL.
        folder: Its private folder; gone once the data is deleted.
        output: The name of the released file.
        crew: Who does it.
        changed: Called at its end.
        start: The folder from which the paths in place and settings start.
        is_local: Whether the cells of the original may be shown.
        state: Where it is.
        progress: Its stage and the share that is done.
        error: Why it failed.
        content: What the worker returned: "result" as `anonymize --json`, "facts" in words, "notes".
        began: When it was asked for, in seconds since 1970.
    """

    id: str
    settings: Settings
    place: str = field(repr=False)
    folder: Path
    output: str
    crew: Crew = field(repr=False)
    changed: Callable[[], None] = field(repr=False, default=lambda: None)
    start: Path | None = field(repr=False, default=None)
    is_local: bool = True
    state: RunState = RunState.QUEUED
    progress: Progress = field(default_factory=Progress, repr=False)
    error: ShoalError | None = None
    content: Mapping[str, Any] = field(default_factory=dict, repr=False)
    began: float = field(default_factory=time.time)
    _worker: Worker | None = field(default=None, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _over: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def stage(self) -> str:
        """The current stage, such as "grouping"."""
        return self.progress.stage

    @property
    def fraction(self) -> float:
        """The share of the run that is done, in [0, 1]; it never falls."""
        return 1.0 if self.state is RunState.DONE else self.progress.fraction

    @property
    def remaining_seconds(self) -> float | None:
        """The seconds that the rest will take; None while unknown."""
        return 0.0 if self.state.is_over else self.progress.remaining

    @property
    def seconds(self) -> float:
        """The seconds that the run took, or has taken so far."""
        return float(self.result["seconds"]) if "result" in self.content else self.progress.seconds

    @property
    def result(self) -> Mapping[str, Any]:
        """The same JSON as `shoal anonymize --json`; empty until the run is done."""
        return self.content.get("result", {})  # type: ignore[no-any-return]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the command line says about the result: (name, text) pairs."""
        return [(name, text) for name, text in self.content.get("facts", ())]

    @property
    def is_imported(self) -> bool:
        """Whether the run was made elsewhere, so that its figures are what the project file claims."""
        return bool(self.content.get("imported"))

    @property
    def notes(self) -> list[str]:
        """What to think about before the release is handed out."""
        return list(self.content.get("notes", ()))

    def begin(self) -> None:
        """Start the worker. Called by the crew."""
        with self._lock:
            if self.state is not RunState.QUEUED:
                return
            self.state, self.progress = RunState.RUNNING, Progress()
            values = {
                "place": self.place,
                "settings": named_files(self.settings),
                "output": self.folder / self.output,
                "report": self.folder / REPORT,
                "folder": self.folder,
                "threads": os.cpu_count() or 1,
            }
            make_private(self.folder)
            self._worker = Worker("make_release", values, self.folder, self._hear, self.start)

    def cancel(self) -> None:
        """End the run at once: kill its worker, and delete what it has written. Takes less than a second."""
        with self._lock:
            if self.state.is_over:
                return
            self.state = RunState.CANCELLED
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop()
        self._end()

    def wait(self, seconds: float | None = None) -> RunState:
        """Wait until the run is over, or for some seconds; return its state. For scripts and tests."""
        self._over.wait(seconds)
        return self.state

    def files(self) -> dict[str, Path]:
        """Return the files to download by name: release, manifest, dictionary, reports. Lists a folder.

        Empty unless the run is done, and once the data is deleted.
        """
        if self.state is not RunState.DONE or not self.folder.exists():
            return {}
        return {path.name: path for path in sorted(self.folder.iterdir()) if path.is_file() and path.suffix != ".arrow"}

    def report(self, *, private: bool = True) -> dict[str, Any]:
        """Return the JSON of the report: verdict, checks, risk, groups, loss, cells and, in private, before and after.

        Reads a small file. Empty once the data is deleted.
        """
        path = self.folder / ("report.private.json" if private else "report.json")
        return json.loads(path.read_text(encoding="utf-8")) if self.state is RunState.DONE and path.exists() else {}

    def before_after(self, start: int, count: int) -> dict[str, Any]:
        """Return a page of released rows beside the cells that they were made from; some milliseconds.

        Returns:
            "columns", "start", "of_rows" and "rows": for each row a list of cells {"after"} that, for a
            quasi-identifier, have "before" and "changed" too.

        Raises:
            UsageError: The run is not done, its data is deleted, or its rows never were in memory.
        """
        if not (self.folder / AFTER).exists() or self.state is not RunState.DONE:
            raise UsageError(f"run {self.id} has no rows to show. Run it again with the table loaded from a file.")
        return read_pairs(self.folder, start, count, masked=not self.is_local)

    def progress_dict(self) -> dict[str, Any]:
        """Return the progress of the run as plain values. Instant."""
        return {
            "id": self.id,
            "state": str(self.state),
            "stage": self.stage,
            "fraction": round(self.fraction, 4),
            "seconds": round(self.seconds, 1),
            "remaining_seconds": self.remaining_seconds and round(self.remaining_seconds, 1),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the run as plain values, without cells. Lists a folder."""
        return {
            **self.progress_dict(),
            "began": self.began,
            "error": None if self.error is None else {"kind": type(self.error).__name__, "text": str(self.error)},
            "result": dict(self.result) or None,
            "notes": self.notes,
            "files": list(self.files()),
        }

    def record(self) -> dict[str, Any]:
        """Return what is kept of a run that is over: its settings and figures, no cell."""
        error = None if self.error is None else {"kind": type(self.error).__name__, "text": self.error.text}
        kept = {"id": self.id, "state": str(self.state), "began": self.began, "output": self.output, "error": error}
        return kept | {"settings": to_toml(named_files(self.settings)), "content": self.content}

    @classmethod
    def restore(cls, record: Mapping[str, Any], place: str, runs: Path, files: Path, crew: Crew, is_local: bool) -> Run:
        """Return the run that `record` described; the folders are those of the runs and of the project."""
        id = str(int(record["id"]))
        settings = with_files_in(parse_config(tomllib.loads(record["settings"])), files)
        output = check_format(str(record["output"]).removeprefix("released."))
        run = cls(id, settings, place, runs / id, output, crew, is_local=is_local)
        run.state, run.began = RunState(record["state"]), float(record["began"])
        run.error = None if record["error"] is None else error_of(record["error"])
        run.content = dict(record["content"])
        run._over.set()
        return run

    def _hear(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            if self.state is not RunState.RUNNING:
                return
            if "stage" in message:
                self.progress.update(message["stage"], message["share"])
                return
            self._worker = None
            if "done" in message:
                self.content = message["done"]
                self.state = RunState.DONE
            else:
                self.error = error_of(message["error"])
                self.state = RunState.FAILED
        self._end()

    def _end(self) -> None:
        shutil.rmtree(self.folder if self.state is not RunState.DONE else self.folder / "scratch", ignore_errors=True)
        self.crew.drop(self)
        self.changed()
        self._over.set()


def check_content(content: Mapping[str, Any], *, imported: bool) -> dict[str, Any]:
    """Return what a run left, read from a file; mark it if the file came from elsewhere.

    Raises:
        ValueError: It is not what a worker writes.
    """
    result, notes, facts = (
        content.get(key, kind()) for key, kind in (("result", dict), ("notes", list), ("facts", list))
    )
    texts = [*notes, *(text for pair in facts for text in pair)]
    if not isinstance(result, dict) or not all(isinstance(text, str) for text in texts):
        raise ValueError("not the figures of a run")
    if result:
        release, seconds = [int(result[key]) for key in ("rows", "groups")], float(result["seconds"])
        if min(release) < 0 or not 0 <= seconds < FOREVER:
            raise ValueError("figures out of range")
    return {**content, "imported": True} if imported else dict(content)


def check_format(name: str) -> str:
    """Return the name of the released file for a format; refuse an unknown one."""
    if name not in FORMATS:
        raise UsageError(f"format {name!r} is not known. Use {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    return f"released.{name}"


def file_of(run: Run, name: str) -> Path:
    """Return one of the files of a run by its name; other paths do not exist here."""
    files = run.files()
    if name not in files:
        raise MissingError(f"run {run.id} has no file of this name. It has: {', '.join(files) or 'none'}.")
    return files[name]
