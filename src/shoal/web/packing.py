"""One zip file that carries a project elsewhere: settings and figures, and the data only if asked for."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import BinaryIO

from shoal.errors import InputError
from shoal.web.files import FILES, TooLargeError, Upload
from shoal.web.projects import CONFIG, RECORD, Project

__all__ = ["DATA", "pack", "unpack"]

DATA = "data"
# What a project may hold. Anything else, such as a path that leads out of the folder, is refused.
NAME = r"(?!\.)[^/\\\x00-\x1f]{1,200}"
ENTRIES = re.compile(rf"project\.json|shoal\.toml|files/{NAME}|data/source/{NAME}|data/runs/[1-9]\d{{0,8}}/{NAME}")
MOST_ENTRIES = 10_000
MOST_SMALL = 64 << 20  # bytes of an entry that is not data
PIECE = 1 << 20


def pack(project: Project, target: Path, *, with_data: bool) -> None:
    """Write a project to a zip file.

    Args:
        project: The project.
        target: The file to write, in a private folder.
        with_data: Whether the table and the files of the runs go with it.
    """
    project.save()
    record = json.loads((project.folder / RECORD).read_text(encoding="utf-8")) | {"file": {}, "keep_data": False}
    with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        if with_data and (table := project.table_file()) is not None:
            archive.write(table, f"{DATA}/source/{table.name}")
        archive.writestr(RECORD, json.dumps(record))
        archive.write(project.folder / CONFIG, CONFIG)
        for name in project.hierarchy_files():
            archive.write(project.folder / FILES / name, f"{FILES}/{name}")
        for run in project.runs() if with_data else ():
            for name, path in run.files().items():
                archive.write(path, f"{DATA}/runs/{run.id}/{name}")


def unpack(stream: BinaryIO, folder: Path, most_bytes: int) -> None:
    """Extract a zip file that `pack` made, entry by entry, into a folder.

    Raises:
        InputError: It is not a zip file, or has an entry that no project has.
        TooLargeError: It holds more than this server accepts, or than the disk has room for.
    """
    refused = "not a project of shoal: {}. Choose a zip file that the page Projects has saved."
    try:
        with zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES or len({entry.filename for entry in entries}) < len(entries):
                raise InputError(refused.format("it has too many entries"))
            if {RECORD, CONFIG} - {entry.filename for entry in entries}:
                raise InputError(refused.format(f"it has no {RECORD} or no {CONFIG}"))
            if any(not ENTRIES.fullmatch(entry.filename) for entry in entries):
                raise InputError(refused.format("it has an entry that no project has"))
            left = most_bytes
            for entry in entries:
                bound = left if entry.filename.startswith(f"{DATA}/") else min(left, MOST_SMALL)
                left -= _extract(archive, entry, folder / entry.filename, bound)
    except TooLargeError:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise InputError(refused.format(f"it cannot be read ({type(error).__name__})")) from None


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, most: int) -> int:
    """Write an entry as a plain file, whatever it was; return its size. Bounded like an upload."""
    upload = Upload(path, most)
    try:
        with archive.open(entry) as source:
            while piece := source.read(PIECE):
                upload.write(piece)
        upload.finish(may_be_empty=True)
    except BaseException:
        upload.abort()
        raise
    return upload.n_bytes
