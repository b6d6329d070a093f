"""Cache of the runs of earlier comparisons: one small file per run, addressed by content.

The files contain measures, column names and reasons of failures, never a cell. Their names are keyed hashes, so that
nobody who obtains a file can test which table it belongs to.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from pathlib import Path
from typing import Any

from shoal.errors import FileError, setting
from shoal.tables.targets.text_file import store_text

__all__ = ["Cache"]


class Cache:
    """A folder of finished runs; a cache without a folder stores nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._key = b"" if folder is None else _key(folder)

    def find(self, fingerprint: str, case: dict[str, Any]) -> dict[str, Any] | None:
        """Return the stored row of a run, or None."""
        if self.folder is None:
            return None
        try:
            row = json.loads(self._path(fingerprint, case).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # missing or damaged: the run is repeated
            return None
        return row if isinstance(row, dict) else None

    def keep(self, fingerprint: str, case: dict[str, Any], row: dict[str, Any]) -> None:
        """Store the row of a finished run atomically."""
        if self.folder is not None:
            store_text(self._path(fingerprint, case), json.dumps(row, ensure_ascii=False))

    def _path(self, fingerprint: str, case: dict[str, Any]) -> Path:
        assert self.folder is not None
        content = json.dumps([fingerprint, case], sort_keys=True, default=str)
        return self.folder / f"{hmac.new(self._key, content.encode(), 'sha256').hexdigest()}.json"


def _key(folder: Path) -> bytes:
    """Return the secret key of a cache; create folder and key if they do not exist."""
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
        raise FileError(
            f"{folder}: cannot store a cache there: {error.strerror}. Name another folder: {setting('cache')}."
        ) from None
