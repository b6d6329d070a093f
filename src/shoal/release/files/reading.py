"""A released file as a frame to work with: ranges as two typed columns, sets as lists."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import verification
from shoal.encoding.partition import SUPPRESSION
from shoal.errors import UsageError, VerificationError, join_problems
from shoal.metrics.released_cells import numbers_of
from shoal.release.cells.centers import spread_name
from shoal.release.files.layout import read_back
from shoal.release.files.marks import spread_mark
from shoal.schema import Column, Kind, Role
from shoal.tables.formats import Format, read_table
from shoal.tables.formats.sniff import sniff
from shoal.tables.sources.counted import read_counted
from shoal.tables.table import Table, factorize
from shoal.tables.values import normalise

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.release import Release
    from shoal.verification import Manifest

__all__ = ["read_as_stated", "read_release", "read_typed", "typed_columns"]

LIBRARIES = ("polars", "pandas", "pyarrow")
LARGEST_WHOLE = 2**63
Ends = tuple[str, str, bool]  # the ends of a range as text, and whether the upper one is left out


def read_release(
    path: str | os.PathLike[str], *, library: str = "polars", manifest: str | os.PathLike[str] | None = None
) -> Any:
    """Read a release of shoal as a frame with typed columns; the manifest beside it says what its columns are.

    ==========================  ====================================================================================
    released column             columns of the frame
    ==========================  ====================================================================================
    quasi-identifier, numbers   NAME_min and NAME_max: integers if all ends are whole numbers, floats otherwise
    quasi-identifier, dates     NAME_min and NAME_max: dates, or datetimes if an end has a time
    quasi-identifier, other     NAME: lists of text, with one element for a single value
    any quasi-identifier,       NAME: the centre of the row's group, a number, date or text; NAME_sd or NAME_share, a
    cells="center"              float, if the release has the spread of its groups
    with a hierarchy            NAME: text, the labels as they are
    any other                   NAME: text; in a Parquet or Excel file, the type that the file has
    ==========================  ====================================================================================

    Both bounds belong to the range; of a half-open range [20, 25) of whole numbers the upper one is 24. A suppressed
    cell (``*``) and a missing value are null in both bounds. In a list, null stands for a missing value; the list of a
    suppressed cell is null itself. Missing texts of the other columns are null.

    Args:
        path: The released file.
        library: The library of the frame: "polars", "pandas" or "pyarrow".
        manifest: The path of the manifest; the one beside the file by default.

    Returns:
        The frame. Its rows are in the order of the file.

    Raises:
        UsageError: There is no manifest, or the library is not known.
        VerificationError: The file is not what its manifest states.
        InputError: The file or the manifest cannot be read.

    >>> import polars as pl, shoal
    >>> ages = pl.DataFrame({"age": [20, 22, 40, 41], "sex": ["f", "m", "f", "f"]})
    >>> path = getfixture("tmp_path") / "out.csv"
    >>> _ = shoal.anonymize(ages, qi=["age", "sex"], k=2, ends="exact").write(path)
    >>> shoal.read_release(path).rows()
    [(20, 22, ['f', 'm']), (20, 22, ['f', 'm']), (40, 41, ['f']), (40, 41, ['f'])]
    """
    if library not in LIBRARIES:
        raise UsageError(f"library={library!r} is not known. Use {', '.join(map(repr, LIBRARIES))}.")
    path = Path(path)
    stated = verification.find_manifest(path, manifest if manifest is not None else True)
    assert stated is not None
    verdict = verification.examine(path, verification.Demand(), manifest=stated)
    if not verdict.ok:
        raise VerificationError(f"{path}: the file and its manifest do not agree. {join_problems(verdict.violations)}")
    frame = _typed(read_as_stated(path, stated), stated)
    if library == "polars":
        return frame
    return frame.to_pandas() if library == "pandas" else frame.to_arrow()


def read_as_stated(
    path: str | os.PathLike[str], manifest: Manifest, counted: tuple[Sequence[str], Sequence[str]] | None = None
) -> Table:
    """Read a released file as its manifest describes it, two columns of bounds as one of ranges.

    Args:
        path: The file.
        manifest: Its manifest.
        counted: The quasi-identifiers and further columns of which the distinct rows are enough if the file is large;
            None for all rows and columns.
    """
    is_text = sniff(Path(path)) in (Format.CSV, Format.GZIP)
    options: dict[str, Any] = {"delimiter": manifest.delimiter, "encoding": "utf-8", "header": True} if is_text else {}
    table = read_table(path, **options) if counted is None else read_counted(path, *counted, **options)
    return read_back(table, manifest)


def _typed(table: Table, manifest: Manifest) -> pl.DataFrame:
    import polars as pl

    missing = {"", *map(normalise, manifest.missing)}
    columns: list[pl.Series] = []
    for column in manifest.columns:
        texts = table.frame[column.name]
        if manifest.center and column.role is Role.QI:
            has_spread = column.name in manifest.spread
            frame = table.frame
            if has_spread:
                mark = spread_mark(column, manifest.marks[0], manifest.decimal)
                frame = frame.with_columns(pl.col(spread_name(column)).str.replace(mark, ".", literal=True))
            dtype = table.types.get(column.name)
            columns += center_of(column, frame, [*missing], dtype, spread=has_spread)
            continue
        is_labelled = column.name in manifest.labelled or column.role is not Role.QI
        if is_labelled:
            columns.append(_plain(texts, missing, table.types.get(column.name)))
        elif column.kind in (Kind.NUMERIC, Kind.DATE):
            ranks, distinct = factorize(texts)
            ends = typed_ends(column, [_ends_of(column, text, missing) for text in distinct.to_list()])
            columns += [each.gather(ranks) for each in ends]
        else:
            ranks, distinct = factorize(texts)
            members = [_members(text, missing) for text in distinct.to_list()]
            columns.append(pl.Series(column.name, members, dtype=pl.List(pl.String)).gather(ranks))
    return pl.DataFrame(columns)


def _plain(texts: pl.Series, missing: set[str], dtype: Any) -> pl.Series:
    """Return a column that is not made of ranges or sets; a type of the file is restored from the texts."""
    import polars as pl

    ranks, distinct = factorize(texts)
    cells = [None if normalise(text) in missing else text for text in distinct.to_list()]
    known = pl.Series(texts.name, cells, dtype=pl.String).gather(ranks)
    if dtype is None:
        return known
    from shoal.tables.formats.typed_cells import typed_column

    typed = typed_column(known.fill_null(""), dtype)
    return known if typed is None else typed


def typed_ends(column: Column, ends: Sequence[Ends | None]) -> list[pl.Series]:
    """Return the lower and the upper ends of a column as two typed columns, NAME_min and NAME_max.

    Args:
        column: The column, of numbers or dates.
        ends: The ends of each distinct cell; None if it is suppressed or missing.
    """
    import polars as pl

    known = [pair for pair in dict.fromkeys(ends) if pair is not None]
    series = []
    for side, suffix in enumerate(("_min", "_max")):
        values, dtype = _values(column, [str(pair[side]) for pair in known], [side == 1 and pair[2] for pair in known])
        value_of: dict[Ends | None, Any] = dict(zip(known, values, strict=True))
        series.append(pl.Series(column.name + suffix, [value_of.get(pair) for pair in ends], dtype=dtype))
    common: dict[Any, Any] = {
        frozenset({pl.Int64, pl.Float64}): pl.Float64,
        frozenset({pl.Date, pl.Datetime("us")}): pl.Datetime("us"),
    }
    shared = common.get(frozenset(each.dtype for each in series))
    return series if shared is None else [each.cast(shared) for each in series]


def bounds_of(column: Column, lows: pl.Series, highs: pl.Series, missing: Sequence[str]) -> list[pl.Series]:
    """Return two columns of bounds as they are written, typed."""
    import numpy as np

    low_ranks, low_texts = factorize(lows)
    high_ranks, high_texts = factorize(highs)
    n_highs = max(len(high_texts), 1)
    distinct, ranks = np.unique(low_ranks.astype(np.int64) * n_highs + high_ranks, return_inverse=True)
    of_low, of_high = low_texts.gather(distinct // n_highs), high_texts.gather(distinct % n_highs)
    empty = {SUPPRESSION, *missing}
    pairs = zip(of_low.to_list(), of_high.to_list(), strict=True)
    ends = typed_ends(column, [None if low in empty else (low, high, False) for low, high in pairs])
    return [each.gather(ranks) for each in ends]


def typed_columns(release: Release, text: pl.DataFrame) -> dict[str, list[pl.Series]]:
    """Return the columns that are typed whatever the original has: two bounds, or a centre and its spread.

    Args:
        release: The release.
        text: Its cells as a file has them, with the marks of the original.
    """
    schema, types, missing = release.schema, release.original.types, release.schema.missing
    if release.request.has_centers:
        spread = bool(release.spread)
        return {c.name: center_of(c, text, missing, types.get(c.name), spread=spread) for c in schema.qi}
    return {
        column.name: bounds_of(column, text[f"{column.name}_min"], text[f"{column.name}_max"], missing)
        for column in schema.qi
        if column.name in release.ends
    }


def read_typed(release: Release, text: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of a written file as the frame of a release, with typed bounds and centres.

    Args:
        release: The release.
        text: The cells of its file, with the marks of the original.
    """
    import polars as pl

    if release.request.cells == "text":
        return text.with_columns(pl.col([column.name for column in release.schema.qi]).replace("", None))
    typed = {each.name: each for columns in typed_columns(release, text).values() for each in columns}
    own = [column.name for column in release.schema.qi if column.name in text.columns]
    return pl.DataFrame(
        [
            typed.get(name, each.replace("", None) if name in own else each)
            for name, each in zip(text.columns, text, strict=True)
        ]
    )


def center_of(
    column: Column, text: pl.DataFrame, missing: Sequence[str], dtype: Any = None, *, spread: bool
) -> list[pl.Series]:
    """Return a column of centres, typed, and the column of its spread, if there is one.

    Args:
        column: The column.
        text: The cells of the release.
        missing: The texts that mean a missing value.
        dtype: The type of the column in the original; a column that fits it keeps it.
        spread: Whether a column of standard deviations or shares belongs to it; its decimal mark is a point.
    """
    import polars as pl

    from shoal.tables.formats.typed_cells import keeps_type, typed_column

    empty, texts = {SUPPRESSION, *missing}, text[column.name]
    ranks, distinct_texts = factorize(texts)
    shown = ["" if normalise(cell) in empty else cell for cell in distinct_texts.to_list()]
    known = pl.Series(column.name, shown, dtype=pl.String).gather(ranks)
    typed = typed_column(known, dtype) if dtype is not None and keeps_type(dtype) else None
    if typed is None and column.kind in (Kind.NUMERIC, Kind.DATE):
        distinct = [cell for cell in dict.fromkeys(shown) if cell]
        values, kind = _values(column, distinct, [False] * len(distinct))
        if kind == pl.Int64 and any(column.decimal in cell for cell in distinct):
            values, kind = [float(value) for value in values], pl.Float64
        value_of = dict(zip(distinct, values, strict=True))
        typed = pl.Series(column.name, [value_of.get(cell) for cell in shown], dtype=kind).gather(ranks)
    columns = [texts.replace("", None).alias(column.name) if typed is None else typed]
    if spread:
        name = spread_name(column)
        columns.append(text[name].replace("", None).cast(pl.Float64).alias(name))
    return columns


def _values(column: Column, ends: Sequence[str], are_open: Sequence[bool]) -> tuple[list[Any], Any]:
    """Return the values of ends, and their type; text if one of them is no number or date."""
    import polars as pl

    numbers, misfits = numbers_of(column, ends)
    if misfits:
        return list(ends), pl.String
    if column.kind is Kind.DATE:
        moments = [datetime.min + timedelta(seconds=seconds) for seconds in numbers]
        if all(moment.time() == datetime.min.time() for moment in moments):
            days = [moment - timedelta(days=is_open) for moment, is_open in zip(moments, are_open, strict=True)]
            return [day.date() for day in days], pl.Date
        return moments, pl.Datetime("us")
    if all(number == int(number) and abs(number) < LARGEST_WHOLE for number in numbers):
        return [int(number) - is_open for number, is_open in zip(numbers, are_open, strict=True)], pl.Int64
    return [float(number) for number in numbers], pl.Float64


def _ends_of(column: Column, text: str, missing: set[str]) -> Ends | None:
    """Return the ends of a released cell; a single value is both."""
    if text == SUPPRESSION or normalise(text) in missing:
        return None
    if text[0] == "[" and text[-1] in "])":
        parts = text[1:-1].split(", ")
        for cut in range(1, len(parts)):  # a date may contain the separator itself
            low, high = ", ".join(parts[:cut]), ", ".join(parts[cut:])
            if not numbers_of(column, [low, high])[1]:
                return low, high, text[-1] == ")"
    return text, text, False


def _members(text: str, missing: set[str]) -> list[str | None] | None:
    """Return the values of a released cell; None if it is suppressed."""
    if text == SUPPRESSION:
        return None
    is_set = text[:1] + text[-1:] == "{}"
    members = next(csv.reader([text[1:-1]], skipinitialspace=True), []) if is_set else [text]
    return [None if normalise(member) in missing else member for member in members]
