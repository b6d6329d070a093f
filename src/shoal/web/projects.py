"""A project: a table, its settings with undo and redo, its runs and what they made. Plain Python, no web.

Methods are safe to call from several threads. Those that say "waits" or name a duration above some milliseconds belong
into a thread of their own (`asyncio.to_thread`), the others may be called by an event loop.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shoal.errors import UsageError
from shoal.settings.read import parse_config, parse_toml, read_config
from shoal.settings.settings import FIELDS, Settings
from shoal.settings.write import to_plain, to_toml
from shoal.web.files import (
    FILES,
    MissingError,
    check_paths,
    display_name,
    make_private,
    named_files,
    receive_file,
    with_files_in,
    with_role,
)
from shoal.web.loaded import Loaded
from shoal.web.loading import READING, SOURCE, History, ProjectTable
from shoal.web.runs import Run, check_content, check_format
from shoal.web.workers import Assistant

if TYPE_CHECKING:
    from shoal.web.workbench import Workbench

__all__ = ["CONFIG", "RECORD", "Project", "check_name"]

RECORD = "project.json"
CONFIG = "shoal.toml"
LONGEST_NAME = 100
MOST_WAITING = 10  # runs of a project that are not over
IDLE_SECONDS = 60.0  # that an assistant stays without a question


class Project(ProjectTable):
    """One project of a workbench; make one with `Workbench.create`.

    Attributes:
        id: Unguessable.
        name: What the user calls it.
        created: Seconds since 1970.
        keep_data: Whether the data stays on this machine after the server ends; see `set_keep_data`.
        error: Why the table could not be loaded; None if it could.
        loading: The progress of the worker that reads the table.
        version: Grows with every change, so that a second tab can tell that it is out of date.
    """

    def __init__(self, bench: Workbench, id: str, name: str, created: float | None = None) -> None:
        super().__init__(bench, id)
        self.name = name
        self.created = time.time() if created is None else created
        self._runs: dict[str, Run] = {}
        self._assistant: Assistant | None = None

    @property
    def can_undo(self) -> bool:
        """Whether `undo` changes anything."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether `redo` changes anything."""
        return self._history.can_redo

    def change(self, **changes: Any) -> Settings:
        """Set fields of the settings; each call is one step of undo. Writes the settings: some milliseconds.

        Args:
            changes: By name of a field of `Settings`, its new value; None or empty leaves it open.

        Returns:
            The new settings.

        Raises:
            UsageError: A field does not exist, or a value is wrong. Nothing changes then.
        """
        known = {field.name for field in FIELDS}
        if unknown := set(changes) - known:
            raise UsageError(f"there is no setting {sorted(unknown)[0]!r}.")
        return self.replace_settings(replace(self.settings, **changes))

    def set_role(self, columns: Iterable[str], role: str) -> Settings:
        """Give columns a role ("qi", "sensitive", "insensitive", "identifier", "person", "k"), in one step of undo."""
        return self.replace_settings(with_role(self.settings, tuple(columns), role, self._loaded().names))

    def replace_settings(self, settings: Settings) -> Settings:
        """Make these the settings, in one step of undo.

        Raises:
            UsageError: A value is wrong, or a file is named that is not one of the project.
        """
        _ = settings.reading, settings.limits, settings.codings  # refuses what cannot be read
        settings.column_weights()
        settings.data_rules()
        replace(settings, l=None, t=None, k_column=None).privacy_models()  # l and t may wait for a sensitive column
        check_paths(settings, self.folder)
        with self._lock:
            self._history.put(settings)
            self.save()
        return settings

    def replace_toml(self, text: str | bytes) -> Settings:
        """Make the text of a shoal.toml the settings; like `replace_settings`."""
        content = parse_toml(text.encode() if isinstance(text, str) else text, Path(CONFIG))
        return self.replace_settings(parse_config(content, "settings", self.folder))

    def undo(self) -> Settings:
        """Go back one step, if there is one."""
        with self._lock:
            self._history.undo()
            self.save()
        return self.settings

    def redo(self) -> Settings:
        """Take back an undo, if there is one."""
        with self._lock:
            self._history.redo()
            self.save()
        return self.settings

    def toml(self) -> str:
        """Return the settings as a shoal.toml, for download; files appear by their names. Some milliseconds."""
        return to_toml(named_files(self.settings), columns=self._table.names if self._table else ())

    def plain_settings(self) -> dict[str, Any]:
        """Return the settings as plain values in the form of a shoal.toml; some milliseconds."""
        return to_plain(named_files(self.settings))

    # Hierarchies

    def add_hierarchy(self, stream: BinaryIO | Iterable[bytes], filename: str) -> str:
        """Keep the file of a hierarchy (ARX CSV or UTD XML) with the settings; return the name to use for it.

        Args:
            stream: Its content, at most 64 MB.
            filename: Its name; an earlier file of this name is replaced.
        """
        return receive_file(stream, filename, self.folder / FILES)

    def hierarchy_files(self) -> list[str]:
        """Return the names of the hierarchy files of this project."""
        folder = self.folder / FILES
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def use_hierarchy(self, column: str, rule: str | None) -> Settings:
        """Give a column a hierarchy: "auto", "builtin:NAME", the name of a file, or None for none. One undo step."""
        from shoal import hierarchy

        value: Any = self.folder / FILES / display_name(rule) if hierarchy.is_file(rule) and rule else rule
        others = {name: each for name, each in self.settings.hierarchies.items() if name != column}
        return self.change(hierarchies=others if value is None else {**others, column: value})

    def hierarchy(self, column: str, rule: Any = "auto") -> dict[str, Any]:
        """Lay out a hierarchy over the values of a column.

        Waits for a worker, which reads the table first: 1 s, some seconds for 1,000,000 rows. The next question within
        a minute takes some milliseconds.

        Args:
            column: The column.
            rule: "auto" for a proposal, "builtin:NAME", the name of a file of the project, or a rule of
                `shoal.hierarchy`.

        Returns:
            "rows" (each value with its labels from level 1 up, at most 2,000), "values", "height", "labels" (how many
            on each level), "notes".
        """
        from shoal import hierarchy

        if isinstance(rule, str) and hierarchy.is_file(rule):
            rule = Path(FILES) / display_name(rule)
        settings = self.settings
        values = {"place": self._place(), "settings": named_files(settings), "column": column, "rule": rule}
        found = self._ask("show_hierarchy", values, f"hierarchy of {column}")
        return found if self._bench.is_local else {**found, "rows": {}, "shown": 0}

    # Runs

    def start_run(self, format: str = "csv") -> Run:
        """Start a run with the current settings; it waits while two others work. Returns at once.

        Args:
            format: Of the released file: "csv", "csv.gz", "parquet" or "xlsx".
        """
        output = check_format(format)
        with self._lock:
            if sum(not run.state.is_over for run in self._runs.values()) >= MOST_WAITING:
                raise UsageError(f"{MOST_WAITING} runs of this project wait or work already. Cancel some.")
            id = str(max(map(int, self._runs), default=0) + 1)
            place = self._place()
            folder, crew = self.data / "runs" / id, self._bench.crew
            run = Run(id, self.settings, place, folder, output, crew, self.save, self._start(), self._bench.is_local)
            self._runs[id] = run
        self._bench.crew.add(run)
        return run

    def _start(self) -> Path:
        """Return the folder from which paths start, with copies of the files that the settings name."""
        folder = self.data / SOURCE
        names = self.hierarchy_files()
        if names:
            make_private(folder / FILES)
        for name in names:
            shutil.copyfile(self.folder / FILES / name, folder / FILES / name)
        return folder

    def runs(self) -> list[Run]:
        """Return all runs of the project, oldest first; also those of earlier days, whose files may be gone."""
        return list(self._runs.values())

    def run(self, id: str) -> Run:
        """Return a run.

        Raises:
            UsageError: There is none with this id.
        """
        if id not in self._runs:
            raise MissingError("the project has no run of this id.")
        return self._runs[id]

    def command_line(self, run: Run | None = None) -> str:
        """Return the command that repeats a run, with the downloaded shoal.toml beside the table."""
        output = run.output if run else "released.csv"
        words = ["shoal", "anonymize", self._file.get("name") or "DATA.csv", "-o", output]
        return shlex.join([*words, "--config", "shoal.toml", "--report", "report.html"])

    def python_code(self, run: Run | None = None) -> str:
        """Return the Python that repeats a run, with the downloaded shoal.toml beside the table."""
        output = run.output if run else "released.csv"
        table = self._file.get("name") or "DATA.csv"
        return (
            "import shoal\n\n"
            f'release = shoal.anonymize({table!r}, config="shoal.toml")\n'
            f'release.write({output!r}, report="report.html")\n'
        )

    def forecast(self, **changes: Any) -> dict[str, Any]:
        """Estimate loss and risk of a run with changed settings, with an interval. Waits for a worker: about 1 s.

        Args:
            changes: As for `change`; the settings of the project stay as they are.
        """
        return self.forecast_for(replace(self.settings, **changes))

    def forecast_for(self, settings: Settings) -> dict[str, Any]:
        """Estimate loss and risk of a run with other settings; like `forecast`."""
        check_paths(settings, self.folder)
        values = {"place": self._place(), "settings": named_files(settings)}
        return self._ask("forecast", values, "forecast")

    def _ask(self, task: str, values: dict[str, Any], subject: str) -> dict[str, Any]:
        """Have the assistant of this project do a task; it ends when it is not asked for a while."""
        start = self._start()
        with self._lock:
            if self._assistant is None:
                self._assistant = Assistant(self.data, start)
            assistant = self._assistant
        try:
            return assistant.ask(task, values, subject)
        finally:
            timer = threading.Timer(IDLE_SECONDS + 1, assistant.stop, [IDLE_SECONDS])
            timer.daemon = True
            timer.start()

    # Keeping and deleting

    def rename(self, name: str) -> None:
        """Give the project another name."""
        self.name = check_name(name)
        self.save()

    def set_keep_data(self, keep: bool) -> None:
        """Keep the data here after the server ends, or do not. Moves a folder on one disk."""
        with self._lock:
            if keep == self.keep_data:
                return
            if any(not run.state.is_over for run in self._runs.values()) or self.state == "loading":
                raise UsageError("a run is at work. Wait for its end, or cancel it.")
            self._dismiss()
            before = self.data
            self.keep_data = keep
            if before.exists():
                make_private(self.data.parent)
                before.rename(self.data)
            for run in self._runs.values():
                run.folder = self.data / "runs" / run.id
            self._table = Loaded.read(self.data)
            self.save()

    def delete_data(self) -> None:
        """Delete the table and the files of all runs now; settings and figures stay."""
        self.stop()
        shutil.rmtree(self.data, ignore_errors=True)
        with self._lock:
            self._table, self._file = None, {}
            self.save()

    def stop(self) -> None:
        """Cancel what is at work. Takes less than a second."""
        self.stop_loading()
        for run in self.runs():
            run.cancel()

    def stop_loading(self) -> None:
        """End the workers that read the table or hold it in memory. Takes less than a second."""
        super().stop_loading()
        self._dismiss()

    def _dismiss(self) -> None:
        """End the assistant, which may hold the table in memory."""
        assistant, self._assistant = self._assistant, None
        if assistant is not None:
            assistant.stop()

    def save(self) -> None:
        """Write settings, runs and facts, but no cell, to the folder of the project."""
        with self._lock:
            self.version += 1
            record = {
                "id": self.id,
                "name": self.name,
                "created": self.created,
                "keep_data": self.keep_data,
                "file": self._file if self.keep_data and self.table_file() is not None else {},
                "runs": [run.record() for run in self._runs.values() if run.state.is_over],
            }
            make_private(self.folder)
            _write(self.folder / RECORD, json.dumps(record))
            _write(self.folder / CONFIG, to_toml(named_files(self.settings)))

    @classmethod
    def restore(cls, bench: Workbench, folder: Path, imported: tuple[str, str | None] | None = None) -> Project:
        """Return the project that `save` wrote to a folder; its table too, if the data was kept.

        Args:
            bench: The workbench.
            folder: The folder of the project.
            imported: For a project that comes from elsewhere, its new id and, if it is to have another, its name.
        """
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        id, name = imported or (str(record["id"]), None)
        created = None if imported else float(record["created"])
        project = cls(bench, id, check_name(name or str(record["name"])), created)
        project._history = History(with_files_in(read_config(folder / CONFIG), folder))
        if imported is None and record["keep_data"]:
            project.keep_data, project._file = True, record["file"]
            project._table = Loaded.read(project.data) if project._file else None
        for each in record["runs"]:
            place, runs = project._file.get("place", ""), project.data / "runs"
            run = Run.restore(each, place, runs, folder, bench.crew, bench.is_local)
            run.content = check_content(run.content, imported=imported is not None)
            project._runs[run.id] = run
        return project

    def take_imported_data(self, folder: Path) -> None:
        """Take the data that a zip file brought: load its table anew, and keep the files of its runs."""
        if (folder / "runs").exists():
            make_private(self.data)
            (folder / "runs").rename(self.data / "runs")
        reading = {name: getattr(self.settings, name) for name in READING}
        for table in (folder / "source").glob("*"):
            with open(table, "rb") as stream:
                self.load_file(stream, table.name, **reading)
        shutil.rmtree(folder, ignore_errors=True)


def check_name(name: str) -> str:
    """Return the name of a project without blanks around it; refuse one that cannot be shown."""
    shown = " ".join(name.split())
    if not shown or len(shown) > LONGEST_NAME or not shown.isprintable():
        raise UsageError(f"a project needs a name of 1 to {LONGEST_NAME} printable characters.")
    return shown


def _write(path: Path, text: str) -> None:
    """Replace a file, so that a crash leaves the old one or the new one."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    part.replace(path)
