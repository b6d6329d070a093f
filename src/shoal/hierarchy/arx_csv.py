"""Hierarchies in the CSV format of the ARX tool: each line has a value and its labels up to "*"."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from shoal.errors import InputError, UsageError
from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.check import Line, build
from shoal.tables.csv import read_text
from shoal.tables.targets.text_file import write_text

__all__ = ["read_arx_csv", "write_arx_csv"]

DELIMITERS = (";", "\t", ",")


def read_arx_csv(
    path: str | os.PathLike[str], *, delimiter: str | None = None, encoding: str = "utf-8", trust: bool = False
) -> Hierarchy:
    """Read a hierarchy from an ARX CSV file.

    Args:
        path: The file.
        delimiter: The character between two cells; detected from the file by default.
        encoding: The encoding of the file.
        trust: Accept labels that do not contain their values.

    Raises:
        InputError: The hierarchy is malformed; the message gives the lines of all problems.
        UsageError: The delimiter or the encoding is not valid.
        FileError: The file cannot be read.
    """
    path = Path(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise UsageError(f"delimiter {delimiter!r} is not a single plain character. Use ';' or ','.")
    text = read_text(path, encoding)
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda candidate: _n_split(text, candidate, path))  # a tie: the first of them
    return build(_lines(text, delimiter, path), source=str(path), trust=trust)


def _n_split(text: str, delimiter: str, path: Path) -> tuple[int, int]:
    """Return how many lines end in "*" with this delimiter, and how many lines it splits."""
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
            f"{path}, line {number}: {error}. Close every quote, and double each quote inside a cell."
        ) from None
    return lines


def write_arx_csv(hierarchy: Hierarchy, path: str | os.PathLike[str]) -> None:
    """Write a hierarchy as an ARX CSV file with `;` as delimiter.

    Args:
        hierarchy: The hierarchy.
        path: The file. An existing one is replaced, completely or not at all.

    Raises:
        FileError: The file cannot be written.
    """
    write_text(Path(path), arx_text(hierarchy))


def arx_text(hierarchy: Hierarchy) -> str:
    """Return the content of the ARX CSV file of a hierarchy."""
    records = [(value, *labels) for value, labels in hierarchy.rows.items()]
    has_return = any("\r" in cell for record in records for cell in record)  # the csv module does not quote it
    file = io.StringIO(newline="")
    writer = csv.writer(
        file, delimiter=";", lineterminator="\n", quoting=csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL
    )
    writer.writerows(records)
    return file.getvalue()
