"""What earlier runs of a comparison gave: one small file a run, found again by the content that it came from.

The files hold measures, names of columns and reasons, never a cell. Their names are keyed hashes, so that whoever gets
hold of one cannot try out which table it belongs to.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from pathlib import Path
from typing import Any

from shoal.errors import FileError
from shoal.tables.targets.text_file import write_text

__all__ = ["Cache"]


class Cache:
    """A folder of finished runs; None: nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._key = b"" if folder is None else _key(folder)

    def find(self, fingerprint: str, case: dict[str, Any]) -> dict[str, Any] | None:
        """Return the row of a run that was finished before."""
        if self.folder is None:
            return None
        try:
            row = json.loads(self._path(fingerprint, case).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there, or not whole: the run is made again
            return None
        return row if isinstance(row, dict) else None

    def keep(self, fingerprint: str, case: dict[str, Any], row: dict[str, Any]) -> None:
        """Keep the row of a finished run, whole or not at all."""
        if self.folder is not None:
            write_text(self._path(fingerprint, case), json.dumps(row, ensure_ascii=False), mode=0o600)

    def _path(self, fingerprint: str, case: dict[str, Any]) -> Path:
        assert self.folder is not None
        told = json.dumps([fingerprint, case], sort_keys=True, default=str)
        return self.folder / f"{hmac.new(self._key, told.encode(), 'sha256').hexdigest()}.json"


def _key(folder: Path) -> bytes:
    """Return the secret of a cache; made with its folder."""
    path = folder / "key"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
        except FileExistsError:
            pass
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{folder}: no cache can be kept there: {error.strerror}. Name another with --cache.") from None
