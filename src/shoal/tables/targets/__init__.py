"""Where releases go: files, standard output, tables of a PostgreSQL database. All or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from shoal.errors import UsageError, setting
from shoal.tables.sources.url import is_file_url, is_url, parse_url
from shoal.tables.targets.base import Target

__all__ = ["find_target"]


def find_target(
    output: str | os.PathLike[str],
    *,
    force: bool = False,
    inputs: Iterable[Path] = (),
    beside: Callable[[Path], Sequence[Path]] = lambda path: (),
) -> Target:
    """Return the target for a path, the URL of a database table, or "-" for standard output.

    Args:
        output: The place of the release.
        force: Whether to replace an output that exists.
        inputs: The files that the run reads, none of which may be replaced.
        beside: Returns the paths of the files that stand beside a release that is a file.
    """
    if output == "-":
        from shoal.tables.targets.stream import StreamTarget

        return StreamTarget()
    if is_file_url(output):
        raise UsageError(f"{output}: releases are not written into database files. Name another {setting('output')}.")
    if isinstance(output, str) and output.endswith("/"):
        raise UsageError(
            f"{output}: ends with '/', which names a folder of parts. Use {setting('engine', 'spark')}, or name a file."
        )
    if is_url(output):
        from shoal.tables.targets.database import TableTarget

        return TableTarget(parse_url(str(output)), force=force)
    from shoal.tables.targets.file import FileTarget

    return FileTarget(output, beside(Path(output)), inputs=inputs, force=force)
