"""The workbench: all projects of a machine, their private folders, and the workers. Plain Python, no web.

Settings are kept in a private folder of the user. Data lies in a folder of the running server that is deleted when it
ends, or by the next server if it was killed; only "keep the data here" moves it to the folder of its project.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from shoal.errors import FileError, InputError, UsageError
from shoal.tables.targets.folders import WorkFolder
from shoal.web.files import MOST_BYTES, MissingError, Upload, make_private
from shoal.web.projects import Project, check_name
from shoal.web.runs import Crew

__all__ = ["Workbench", "default_folder"]

PROJECTS, DATA = "projects", "data"
SESSION = "session-"
MOST_PROJECTS = 1_000


def default_folder() -> Path:
    """Return the folder of this user: SHOAL_HOME, or shoal in the folder for the data of programs."""
    if own := os.environ.get("SHOAL_HOME"):
        return Path(own)
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "shoal"


class Workbench:
    """All projects of a user; a context manager, whose end deletes the data that was not to be kept.

    Attributes:
        folder: The private folder.
        crew: The workers of the runs.
        is_local: Whether only this machine reaches the server, so that URLs of databases and raw rows are allowed.
        most_bytes: The most bytes of an upload.
    """

    def __init__(self, folder: Path | None = None, *, is_local: bool = True, most_bytes: int = MOST_BYTES) -> None:
        """Name the folder; entering the workbench makes it, and reads the projects.

        Args:
            folder: Where projects are kept; `default_folder` by default.
            is_local: Whether only this machine reaches the server.
            most_bytes: The most bytes of an upload.
        """
        self.folder = (folder or default_folder()).absolute()
        self.is_local = is_local
        self.most_bytes = most_bytes
        self.crew = Crew()
        self._projects: dict[str, Project] = {}
        self._lock = threading.RLock()
        busy = f"{self.folder}: another shoal serve works here. Use its page, or name another folder."
        self._session = WorkFolder(self.folder, SESSION, busy=busy)

    def __enter__(self) -> Self:
        """Make the private folders, delete what killed servers left, and read the projects.

        Raises:
            FileError: The folder cannot be used, is open to others, or another server works in it.
        """
        try:
            make_private(self.folder)
            state = self.folder.stat()
            if state.st_uid != os.geteuid():
                raise FileError(f"{self.folder}: belongs to another user. Name a folder of your own.")
            if state.st_mode & 0o077:
                self.folder.chmod(0o700)
            (self.folder / PROJECTS).mkdir(mode=0o700, exist_ok=True)
            self._session.__enter__()
        except OSError as error:
            raise FileError(f"{self.folder}: cannot be used: {error.strerror}.") from None
        for left in self.folder.glob(f"{SESSION}*"):
            if left != self._session.location:  # only one server works here, so this one was killed
                shutil.rmtree(left, ignore_errors=True)
        for folder in sorted((self.folder / PROJECTS).iterdir()):
            # What cannot be read, such as the project of a newer shoal, stays as it is.
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, UsageError):
                project = Project.restore(self, folder)
                self._projects[project.id] = project
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all workers, and delete the data that was not to be kept."""
        for project in self.projects():
            project.stop()
        self.crew.stop()
        self._session.__exit__(kind, error, trace)

    def settings_folder(self, id: str) -> Path:
        """Return the folder of the settings of a project."""
        return self.folder / PROJECTS / id

    def data_folder(self, id: str, *, kept: bool) -> Path:
        """Return the folder of the data of a project."""
        return self.settings_folder(id) / DATA if kept else self._session.location / id

    def projects(self) -> list[Project]:
        """Return all projects, the newest first. Instant."""
        return sorted(self._projects.values(), key=lambda project: -project.created)

    def create(self, name: str) -> Project:
        """Create an empty project; some milliseconds.

        Raises:
            UsageError: The name is empty or too long, or there are too many projects.
        """
        shown = check_name(name)
        with self._lock:
            if len(self._projects) >= MOST_PROJECTS:
                raise UsageError(f"there are {MOST_PROJECTS:,} projects already. Delete some.")
            project = Project(self, secrets.token_hex(8), shown)
            self._projects[project.id] = project
        project.save()
        return project

    def open(self, id: str) -> Project:
        """Return a project. Instant.

        Raises:
            UsageError: There is none with this id.
        """
        if id not in self._projects:
            raise MissingError("there is no such project. It may have been deleted.")
        return self._projects[id]

    def delete(self, id: str) -> None:
        """Delete a project with its settings, runs and data; cancels what is at work."""
        project = self.open(id)
        with self._lock:
            del self._projects[id]
        project.stop()
        for folder in (project.data, project.folder):
            shutil.rmtree(folder, ignore_errors=True)

    def export_zip(self, id: str, *, with_data: bool = False) -> Path:
        """Pack a project into a zip file in a private folder; return its path. Costs a copy of what it holds.

        Args:
            id: The project.
            with_data: Whether the table and the files of the runs go with it.
        """
        from shoal.web.packing import pack

        project = self.open(id)
        target = self._session.location / f"{secrets.token_hex(8)}.zip"
        pack(project, target, with_data=with_data)
        return target

    def import_zip(self, stream: BinaryIO, name: str | None = None) -> Project:
        """Create a project from a zip file that `export_zip` made, here or elsewhere.

        Raises:
            InputError: It is no such file, or holds more than it should.
        """
        from shoal.web.packing import unpack

        project = self.create(name or "imported")
        try:
            unpack(stream, project.folder, self.most_bytes)
            restored = Project.restore(self, project.folder, imported=(project.id, name))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.delete(project.id)
            raise InputError(f"the record of the project is not what shoal writes ({type(error).__name__}).") from None
        except BaseException:
            self.delete(project.id)
            raise
        with self._lock:
            self._projects[project.id] = restored
        restored.take_imported_data(project.folder / DATA)
        restored.save()
        return restored

    @property
    def scratch(self) -> Path:
        """A private folder that is deleted at the end."""
        return self._session.location

    def upload(self) -> Upload:
        """Begin an upload that belongs to no project yet."""
        return Upload(self._session.location / secrets.token_hex(8), self.most_bytes)
