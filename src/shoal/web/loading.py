"""The table of a project: how it arrives, a worker reads and profiles it, and its settings with undo and redo."""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shoal.errors import ShoalError, UsageError
from shoal.settings.read import read_config
from shoal.settings.settings import Settings
from shoal.tables.sources.url import is_file_url, is_url, mask
from shoal.tables.watch import Progress
from shoal.web.files import Upload, display_name, make_private
from shoal.web.loaded import MASK, Loaded, Uniques
from shoal.web.tasks import PROPOSED
from shoal.web.workers import Worker, error_of

if TYPE_CHECKING:
    from shoal.web.workbench import Workbench

__all__ = ["READING", "SOURCE", "History", "ProjectTable"]

BUILTIN_TABLES = ("patients", "visits")
READING = ("delimiter", "encoding", "header", "sheet", "duplicate_columns", "decimal", "thousands", "missing")
PIECE = 1 << 20
SOURCE = "source"  # the folder of the file as it arrived
MOST_STEPS = 200  # back


class History:
    """The settings of a project and the ways back and forth between them. Every call is instant."""

    def __init__(self, settings: Settings) -> None:
        self._steps = [settings]
        self._current = 0

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._steps[self._current]

    @property
    def can_undo(self) -> bool:
        """Whether there is a step back."""
        return self._current > 0

    @property
    def can_redo(self) -> bool:
        """Whether a step was taken back."""
        return self._current + 1 < len(self._steps)

    def put(self, settings: Settings) -> None:
        """Make these settings current; what was undone before is forgotten."""
        if settings == self.settings:
            return
        self._steps = [*self._steps[: self._current + 1], settings][-MOST_STEPS:]
        self._current = len(self._steps) - 1

    def undo(self) -> Settings:
        """Go one step back, if there is one."""
        self._current = max(0, self._current - 1)
        return self.settings

    def redo(self) -> Settings:
        """Go one step forth again, if one was taken back."""
        self._current = min(len(self._steps) - 1, self._current + 1)
        return self.settings


class ProjectTable:
    """The part of a project that is about its table. Attributes: see `Project`."""

    def __init__(self, bench: Workbench, id: str) -> None:
        self.id = id
        self.keep_data = False
        self.error: ShoalError | None = None
        self.version = 0
        self.loading = Progress()
        self._bench = bench
        self._lock = threading.RLock()
        self._history = History(Settings())
        self._file: dict[str, Any] = {}  # "name", and "place": its name in the folder, or a URL
        self._worker: Worker | None = None
        self._settled = threading.Event()
        self._table: Loaded | None = None

    @property
    def state(self) -> str:
        """Where the table is: "empty", "loading", "ready" or "failed"."""
        if self._worker is not None:
            return "loading"
        return "ready" if self._table is not None else "failed" if self.error is not None else "empty"

    @property
    def folder(self) -> Path:
        """The private folder of the settings."""
        return self._bench.settings_folder(self.id)

    @property
    def data(self) -> Path:
        """The private folder of the data; deleted at the end unless `keep_data`."""
        return self._bench.data_folder(self.id, kept=self.keep_data)

    def upload(self) -> Upload:
        """Begin an upload; `load_upload` loads it once it has arrived. Costs nothing."""
        return Upload(self.data / secrets.token_hex(8), self._bench.most_bytes)

    def load_upload(self, upload: Upload, filename: str, **reading: Any) -> None:
        """Load a file that has arrived; a worker reads and profiles it, see `state` and `wait_loaded`.

        Args:
            upload: The upload, not finished yet.
            filename: Its name on the user's machine; shown, and used for its ending.
            reading: How to read it: sheet, delimiter, encoding, header, decimal, thousands, missing.
        """
        arrived = upload.finish()
        self._forget_table()
        name = display_name(filename)
        (self.data / SOURCE).mkdir(mode=0o700)
        arrived.replace(self.data / SOURCE / name)
        self._load(name, name, reading)

    def load_file(self, stream: BinaryIO | Iterable[bytes], filename: str, **reading: Any) -> None:
        """Load a file from a stream, which is copied first (costs one copy of it); else like `load_upload`."""
        upload = self.upload()
        pieces = iter(lambda: stream.read(PIECE), b"") if hasattr(stream, "read") else stream
        try:
            for piece in pieces:
                upload.write(piece)
        except BaseException:
            upload.abort()
            raise
        self.load_upload(upload, filename, **reading)

    def load_builtin(self, name: str) -> None:
        """Load a built-in table, "patients" or "visits"; else like `load_upload`."""
        from shoal import datasets

        if name not in BUILTIN_TABLES:
            raise UsageError(f"there is no built-in table {name!r}. Use {' or '.join(BUILTIN_TABLES)}.")
        path = datasets.patients_path() if name == "patients" else datasets.visits_path()
        with open(path, "rb") as stream:
            self.load_file(stream, path.name)

    def load_url(self, url: str) -> None:
        """Load a table of a database by its URL, which is never written to disk; else like `load_upload`.

        Raises:
            UsageError: It is no URL of a table, or the server is open to other machines.
        """
        if not self._bench.is_local:
            raise UsageError("a server that others can reach opens no URLs. Send the table as a file.")
        if not is_url(url) and not is_file_url(url):
            raise UsageError("not the URL of a table. Write postgresql://user@host/database?table=schema.name.")
        self._forget_table()
        self._load(url, mask(url), {})

    def reload(self, **reading: Any) -> None:
        """Read the same table again in another way, such as `sheet="2025"` or `header=False`; else like a load."""
        if not self._file:
            raise UsageError("no table is loaded. Load one first.")
        self._load(self._file["place"], self._file["name"], reading)

    def wait_loaded(self, seconds: float | None = None) -> str:
        """Wait until the table is read or failed; return the state. For scripts and tests."""
        self._settled.wait(seconds)
        return self.state

    @property
    def table(self) -> dict[str, Any] | None:
        """Facts of the loaded table: name, rows, columns, sheets, notes; None if there is none. Instant."""
        if self._table is None:
            return None
        facts = self._table.facts
        return {
            "name": self._file.get("name", ""),
            "rows": self._table.n_rows,
            "columns": list(self._table.names),
            "sheets": facts.get("sheets", []),
            "notes": facts["notes"],
            "kept": self.keep_data,
        }

    def rows(self, start: int, count: int) -> list[list[str]]:
        """Return a page of at most 500 rows of cells; some milliseconds for any table."""
        rows = self._loaded().rows(start, count)
        return rows if self._bench.is_local else [[MASK] * len(row) for row in rows]

    def profile(self) -> dict[str, Any]:
        """Return the profile of the table; instant, because the worker made it on loading.

        Returns:
            As `shoal init --json`: "columns" (name, role, kind, format, reason, decide, distinct, missing_share,
            unique_share, sparkline ...), "combinations" that single rows out, and "warnings". Each column has
            "missing" and "unique" (rows that it singles out) as counts too.
        """
        facts = self._loaded().facts
        columns = [
            {**column, "missing": facts["missing"][column["name"]], "unique": facts["unique"][column["name"]]}
            for column in facts["profile"]["columns"]
        ]
        return {**facts["profile"], "columns": columns}

    def uniques(self, qi: Iterable[str] | None = None, person: str | None = None) -> Uniques:
        """Count the rows and people that are unique; up to a second for 1,000,000 rows.

        Args:
            qi: The quasi-identifiers; those of the settings by default.
            person: The column of people; that of the settings by default.
        """
        settings = self.settings
        return self._loaded().uniques(tuple(settings.qi if qi is None else qi), person or settings.person)

    def values(self, column: str, most: int = 200) -> list[tuple[str, int]]:
        """Return the most frequent values of a column with their rows; about 0.1 s for 1,000,000 rows."""
        values = self._loaded().values(column, most)
        return values if self._bench.is_local else [(MASK, rows) for _, rows in values]

    @property
    def settings(self) -> Settings:
        """The current settings; the same value that a shoal.toml holds. Instant."""
        return self._history.settings

    def table_file(self) -> Path | None:
        """Return the file of the table; None if it came from a database, or is gone."""
        path = self.data / SOURCE / self._file.get("place", "")
        return path if path.parent == self.data / SOURCE and path.is_file() else None

    def save(self) -> None:
        """Write settings, runs and facts, but no cell, to the folder of the project."""
        raise NotImplementedError

    def _loaded(self) -> Loaded:
        if self._table is None:
            raise UsageError("no table is loaded. Load one first.")
        return self._table

    def _place(self) -> str:
        self._loaded()
        if "place" not in self._file:
            raise UsageError("the table is no longer here. Load it again.")
        return str(self._file["place"])

    def _forget_table(self) -> None:
        self.stop_loading()
        with self._lock:
            self._table, self._file, self.error = None, {}, None
            shutil.rmtree(self.data / SOURCE, ignore_errors=True)

    def _load(self, place: str, name: str, reading: dict[str, Any]) -> None:
        """Start the worker that reads and profiles the table."""
        if unknown := set(reading) - set(READING):
            raise UsageError(f"{sorted(unknown)[0]!r} does not say how to read a table. Use {', '.join(READING)}.")
        settings = Settings(**{name: value for name, value in reading.items() if value is not None})
        _ = settings.reading  # refuses marks, delimiters and encodings that are wrong
        self.stop_loading()
        with self._lock:
            self._file = {"name": name, "place": place}
            self.error, self.loading = None, Progress()
            self._settled.clear()
            make_private(self.data / SOURCE)
            values = {"place": place, "settings": settings, "folder": self.data}
            self._worker = Worker("load", values, self.data, self._hear, self.data / SOURCE)

    def _hear(self, message: dict[str, Any]) -> None:
        with self._lock:
            if "stage" in message:
                self.loading.update(message["stage"], message["share"])
                return
            shutil.rmtree(self.data / "scratch", ignore_errors=True)
            if "error" in message:
                self.error = error_of(message["error"])
                self._table = None
            else:
                self._accept(message["done"])
            self.save()
            self._worker = None  # last: the state stays "loading" until all is there
        self._settled.set()

    def _accept(self, facts: dict[str, Any]) -> None:
        """Take the table that the worker has read, and the settings that it proposes."""
        self._table = Loaded(self.data, facts)
        self._table.save()
        proposed = read_config(self.data / PROPOSED)
        self._history.put(proposed if not self._fits() else self._as_read(proposed))

    def _fits(self) -> bool:
        """Say whether the settings were made for a table with these columns."""
        named = self.settings.named
        return bool(named) and set(named) <= set(self._loaded().names)

    def _as_read(self, proposed: Settings) -> Settings:
        return replace(self.settings, **{name: getattr(proposed, name) for name in READING})

    def stop_loading(self) -> None:
        """End the worker that reads the table, if there is one. Takes less than a second."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop()
            self._settled.set()
