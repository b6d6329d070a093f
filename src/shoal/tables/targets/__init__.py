"""Where releases go: files, standard output, tables of a PostgreSQL database. All or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from shoal.tables.sources.url import is_url, parse_url
from shoal.tables.targets.base import Target

__all__ = ["find_target"]


def find_target(
    output: str | os.PathLike[str],
    *,
    force: bool = False,
    source: Path | None = None,
    committing: Callable[[], None] | None = None,
) -> Target:
    """Return the target for a path, the URL of a database table, or "-" for standard output.

    Args:
        output: The place of the release.
        force: Whether to replace an output that exists.
        source: The input of the run, which must not be the same file.
        committing: Called just before finished files are moved to their places.
    """
    if output == "-":
        from shoal.tables.targets.stream import StreamTarget

        return StreamTarget()
    if is_url(output):
        from shoal.tables.targets.database import TableTarget

        return TableTarget(parse_url(str(output)), force=force)
    from shoal.tables.targets.file import FileTarget

    return FileTarget(output, force=force, source=source, committing=committing)
