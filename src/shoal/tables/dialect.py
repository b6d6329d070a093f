"""Detect how a CSV file is written: its delimiter, and whether its first line contains the column names."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from shoal.errors import InputError, setting
from shoal.schema import Dialect, check_delimiter
from shoal.tables.header import find_header, number_doubles

__all__ = ["detect"]

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_RECORDS = 200


def detect(
    sample: bytes,
    is_complete: bool,
    *,
    delimiter: str | None,
    header: bool | None,
    named: Sequence[str] = (),
    numbered: bool = False,
    place: str,
) -> Dialect:
    """Detect the dialect of a file from its beginning.

    Args:
        sample: The first bytes of the file.
        is_complete: Whether the sample is the complete file; otherwise its last record may be cut off.
        delimiter: The delimiter; detected if it is None.
        header: Whether the first line contains the column names; detected if it is None.
        named: The columns that the settings name, which a header contains.
        numbered: Whether columns that share a name are numbered.
        place: The file, for messages.

    Returns:
        The dialect, without the encoding.

    Raises:
        UsageError: If the delimiter is not one ASCII character.
        InputError: If the file is empty, the delimiter does not split its lines and another one does, or it cannot be
            told whether the first line is a header.
    """
    if delimiter is not None:
        check_delimiter(delimiter)
    text = sample.decode("utf-8", errors="ignore")
    if not text.strip("\r\n"):
        raise InputError(f"{place}: no data rows: the file is empty.")
    records_by_delimiter = {d: _records(text, d, is_complete) for d in ([delimiter] if delimiter else DELIMITERS)}
    best_delimiter = max(
        records_by_delimiter,
        key=lambda d: (_agreement(records_by_delimiter[d]), -DELIMITERS.index(d) if d in DELIMITERS else 0),
    )
    records = records_by_delimiter[best_delimiter]
    if delimiter is not None and len(records[0]) == 1:
        better_delimiter = max(DELIMITERS, key=lambda d: _agreement(_records(text, d, is_complete)))
        if better_delimiter != delimiter and len(_records(text, better_delimiter, is_complete)[0]) > 1:
            raise InputError(
                f"{place}: with delimiter {delimiter!r} the file has only one column; with {better_delimiter!r} it has "
                "more. "
                f"Leave out {setting('delimiter')}, or use {setting('delimiter', better_delimiter)}."
            )
    inner = [cell for record in records for cell in record[1:]]
    initial_space = bool(inner) and all(cell.startswith(" ") for cell in inner)
    if initial_space:
        records = [[record[0], *(cell.lstrip(" ") for cell in record[1:])] for record in records]
    if numbered:
        records = [list(number_doubles(records[0])), *records[1:]]
    has_header = find_header(records, header=header, named=named, place=place)
    return Dialect(best_delimiter, header=has_header, initial_space=initial_space, numbered=numbered)


def _records(text: str, delimiter: str, is_complete: bool) -> list[list[str]]:
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if record:
                records.append(record)
            if len(records) > SAMPLE_RECORDS:
                return records[:-1]
    except csv.Error:
        pass  # the strict scan of the file reports the problem better
    return (records if is_complete or len(records) < 2 else records[:-1]) or [[text]]


def _agreement(records: list[list[str]]) -> tuple[float, int]:
    """Return the share of records as wide as the first, and the width; a single column scores 0."""
    width = len(records[0])
    if width == 1:
        return (0.0, 1)
    return (sum(len(record) == width for record in records) / len(records), width)
