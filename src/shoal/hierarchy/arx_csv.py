"""Hierarchies in the CSV form of the ARX tool: one line a value, the value first, then its labels up to "*"."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from shoal.errors import InputError, UsageError
from shoal.hierarchy import files
from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.check import Line, build

__all__ = ["read_arx_csv", "write_arx_csv"]

DELIMITERS = (";", "\t", ",")


def read_arx_csv(
    path: str | os.PathLike[str], *, delimiter: str | None = None, encoding: str = "utf-8", trust: bool = False
) -> Hierarchy:
    """Read a hierarchy; one that is wrong anywhere is an InputError with the lines.

    delimiter: told from the file if left out. trust: take labels that are not true of their value.
    """
    path = Path(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise UsageError(f"delimiter {delimiter!r} is not one plain character. Use ; or a comma.")
    text = files.read_text(path, encoding)
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda d: _n_split(text, d, path))  # the first of them where several do
    return build(_lines(text, delimiter, path), source=str(path), trust=trust)


def _n_split(text: str, delimiter: str, path: Path) -> tuple[int, int]:
    """Return how many lines end in "*" with this delimiter, and how many it splits at all."""
    try:
        lines = _lines(text, delimiter, path)
    except InputError:
        return 0, 0
    return sum(line.labels[-1:] == (TOP,) for line in lines), sum(bool(line.labels) for line in lines)


def _lines(text: str, delimiter: str, path: Path) -> list[Line]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines = []
    number = 1
    try:
        for record in reader:
            if record:
                lines.append(Line(number, record[0], tuple(record[1:])))
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{path}, line {number}: {error}. Close every quote, and double each quote in a cell."
        ) from None
    return lines


def write_arx_csv(hierarchy: Hierarchy, path: str | os.PathLike[str]) -> None:
    """Write a hierarchy, `;` separated, whole or not at all; what stands at the path is replaced."""
    files.write_text(Path(path), arx_text(hierarchy))


def arx_text(hierarchy: Hierarchy) -> str:
    """Return the text of the file."""
    records = [(value, *labels) for value, labels in hierarchy.rows.items()]
    bare = any("\r" in cell for record in records for cell in record)  # which the csv module leaves unquoted
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=";", lineterminator="\n", quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL)
    writer.writerows(records)
    return file.getvalue()
