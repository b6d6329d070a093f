"""Tell how a CSV file is written: its delimiter, and whether its first line names the columns."""

from __future__ import annotations

import csv
import io
import re

from shoal.errors import InputError, UsageError
from shoal.schema import Dialect

__all__ = ["detect", "has_header", "numbered_names"]

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_RECORDS = 200
NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")


def numbered_names(width: int) -> tuple[str, ...]:
    """Name the columns of a file without header: column1, column2, ..."""
    return tuple(f"column{i + 1}" for i in range(width))


def detect(sample: bytes, whole: bool, *, delimiter: str | None, header: bool | None, place: str) -> Dialect:
    """Tell the dialect from the beginning of a file; what is given is taken as it is.

    whole: the sample is the whole file, so its last record is complete.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()):
        raise UsageError(f"delimiter {delimiter!r} is not one plain character. Use , ; | or a tab.")
    text = sample.decode("utf-8", errors="ignore")
    if not text.strip("\r\n"):
        raise InputError(f"{place}: no data rows: the file is empty.")
    tried = {d: _records(text, d, whole) for d in ([delimiter] if delimiter else DELIMITERS)}
    chosen = max(tried, key=lambda d: (_agreement(tried[d]), -DELIMITERS.index(d) if d in DELIMITERS else 0))
    records = tried[chosen]
    if delimiter is not None and len(records[0]) == 1:
        better = max(DELIMITERS, key=lambda d: _agreement(_records(text, d, whole)))
        if better != delimiter and len(_records(text, better, whole)[0]) > 1:
            raise InputError(
                f"{place}: with delimiter {delimiter!r} the file has one column; {better!r} gives more. "
                f"Leave --delimiter out, or use --delimiter {better!r}."
            )
    inner = [cell for record in records for cell in record[1:]]
    initial_space = bool(inner) and all(cell.startswith(" ") for cell in inner)
    return Dialect(
        delimiter=chosen,
        header=has_header(records) if header is None else header,
        initial_space=initial_space,
    )


def _records(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if record:
                records.append(record)
            if len(records) > SAMPLE_RECORDS:
                return records[:-1]
    except csv.Error:
        pass  # what the strict scan of the whole file says about this place is better
    return (records if whole or len(records) < 2 else records[:-1]) or [[text]]


def _agreement(records: list[list[str]]) -> tuple[float, int]:
    """Share of records as wide as the first (one column counts nothing), then the width."""
    width = len(records[0])
    if width == 1:
        return (0.0, 1)
    return (sum(len(record) == width for record in records) / len(records), width)


def has_header(records: list[list[str]]) -> bool:
    """Tell a header: no column of numbers begins with a number, or the file has one line alone."""
    first, rest = records[0], records[1:]
    if not rest:
        return True
    numeric = [
        i for i in range(len(first)) if all(len(r) > i and (not r[i].strip() or NUMBER.fullmatch(r[i])) for r in rest)
    ]
    numeric = [i for i in numeric if any(r[i].strip() for r in rest)]
    return not numeric or not all(NUMBER.fullmatch(first[i]) for i in numeric)
