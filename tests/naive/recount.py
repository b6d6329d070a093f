"""A checker of written releases that shares nothing with shoal or its gate: it reads the bytes and counts again.

It knows the original rows, what the release promises, and which original row each released row says it comes from.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tests.naive.cells import number, plain, seconds
from tests.naive.cover import covers

Row = Mapping[str, str]
FORMULA = tuple("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")


@dataclass(frozen=True)
class Promise:
    """What a release promises about its original.

    Attributes:
        kinds: The quasi-identifiers with their kinds.
        unchanged: The columns that are released as they are.
        k: The smallest group.
        missing: The markers of missing values.
        person: The column of people, if k counts people.
        own_k: The column of personal k.
        paths: By column with a hierarchy, the labels of each value.
        limit: The largest share of rows that may be missing.
        fails: The models: whether a group of rows fails in a release of these rows.
        in_order: Whether rows keep the order of the original.
        bounded: Whether ranges are written as two columns.
        safe: Whether formulas are escaped.
    """

    kinds: Mapping[str, str]
    unchanged: Sequence[str]
    k: int
    missing: Sequence[str] = ("",)
    person: str | None = None
    own_k: str | None = None
    paths: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    limit: Fraction = Fraction(0)
    fails: Sequence[Callable[[list[Row], list[Row]], bool]] = ()
    in_order: bool = False
    bounded: bool = False
    safe: bool = False


def read_release(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV or Parquet file."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        columns = [["" if cell is None else str(cell) for cell in column.to_pylist()] for column in table.columns]
        return table.column_names, [list(row) for row in zip(*columns, strict=True)]
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    return header, rows


def recount(path: Path, original: Sequence[Row], sources: Sequence[int], promise: Promise) -> list[str]:
    """Return what is wrong with a written release; nothing if it keeps its promise.

    Args:
        path: The release.
        original: The rows of the original.
        sources: For each released row, the original row that it says it comes from.
        promise: What it promises.
    """
    header, rows = read_release(path)
    if promise.safe:
        header, rows = [bare(name) for name in header], [[bare(cell) for cell in row] for row in rows]
    faults = []
    expected = sorted([*promise.kinds, *promise.unchanged])
    released = [dict(zip(header, row, strict=True)) for row in rows]
    if promise.bounded:
        released = [merge_bounds(row, promise) for row in released]
    if released and sorted(released[0]) != expected:
        faults.append(f"columns {sorted(released[0])}, not {expected}")
        return faults
    if len(sources) != len(released) or len(set(sources)) != len(sources):
        faults.append("a released row has no source, or two have the same")
        return faults
    if len(original) - len(released) > promise.limit * len(original):
        faults.append(f"{len(original) - len(released)} of {len(original)} rows are missing")
    if promise.in_order and list(sources) != sorted(sources):
        faults.append("the rows are not in order")
    if not promise.in_order and rows != sorted(rows):
        faults.append("the rows are not sorted")
    for row, source in zip(released, sources, strict=True):
        faults += [f"column {name!r}: {row[name]!r}" for name in wrong_cells(row, original[source], promise)]
    return faults + wrong_groups(released, [original[source] for source in sources], promise)


def bare(cell: str) -> str:
    """Remove the quote that escapes a formula."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA) else cell


def merge_bounds(row: Row, promise: Promise) -> dict[str, str]:
    """Write two bounds as a range again."""
    merged = dict(row)
    for name in promise.kinds:
        if name not in merged and f"{name}_min" in merged:
            low, high = merged.pop(f"{name}_min"), merged.pop(f"{name}_max")
            merged[name] = low if low == high else f"[{low}, {high}]"
    return merged


def wrong_cells(row: Row, source: Row, promise: Promise) -> list[str]:
    """Return the columns in which a released row is not true of its source."""
    wrong = [name for name in promise.unchanged if row[name] != source[name]]
    for name, kind in promise.kinds.items():
        cell, value = row[name], source[name]
        if cell == value:
            continue
        labels = [] if name not in promise.paths else labels_of(plain(value), promise.paths[name], kind)
        if cell not in labels and not covers(cell, value, kind, missing=promise.missing):
            wrong.append(name)
    return wrong


def labels_of(value: str, paths: Mapping[str, Sequence[str]], kind: str) -> Sequence[str]:
    """Return the labels of a value; a hierarchy of numbers knows a number by any of its spellings."""
    if value in paths or kind == "categorical":
        return paths.get(value, ("*",))
    measure = number if kind == "numeric" else seconds
    try:
        equal = [spelling for spelling in paths if measure(spelling) == measure(value)]
    except ValueError:
        return ("*",)
    return paths[equal[0]] if equal else ("*",)


def wrong_groups(released: Sequence[Row], originals: Sequence[Row], promise: Promise) -> list[str]:
    """Return the groups that break k, a personal k or a model."""
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, row in enumerate(released):
        groups[tuple(row[name] for name in promise.kinds)].append(i)
    faults = []
    for members in groups.values():
        sources = [originals[i] for i in members]
        size = len(members) if promise.person is None else len(Counter(row[promise.person] for row in sources))
        own = [int(row[promise.own_k] or 0) for row in sources] if promise.own_k else [0]
        if size < max(promise.k, *own):
            faults.append(f"a group of {size}, of {max(promise.k, *own)}")
        faults += ["a group fails a model" for fails in promise.fails if fails(sources, list(originals))]
    return faults
