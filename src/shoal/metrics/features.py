"""Released cells as numbers: what a cell covers, and the features of a learner.

A cell covers values, each with the same share: a range covers all numbers between its ends, a set its members, a label
of a hierarchy the values below it, and `*` the whole column. A number or date (in days since 1970-01-01), an ordered
category (its rank from 0) or a boolean (0 or 1) becomes one feature, the midpoint of its cell. A category becomes one
feature for each value of the column, the share of the cell that falls on the value. The features of `*` are the means
of the other cells of the fitted table. The same holds for a missing number, which also has the value 1 in a feature of
its own; a missing category is the empty value. A category that the fitted table lacks is 0 in every feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, UsageError, setting
from shoal.metrics.released_cells import SUPPRESSED, CategoryReader, OrderedReader, numbers_of
from shoal.schema import Column, Kind, Schema
from shoal.tables import values
from shoal.tables.table import Table
from shoal.tables.values.forms import find_form

__all__ = [
    "Categories",
    "CategoryScale",
    "Labels",
    "NumberScale",
    "Numbers",
    "NumericEncoding",
    "Scale",
    "encode_release",
    "fill_kinds",
    "fit_encoding",
    "fit_scale",
    "to_library",
]

Labels = Mapping[str, Mapping[str, frozenset[str]]]
Floats = NDArray[np.float64]

DAY = 86400.0
EPOCH = 719162 * DAY  # 1970-01-01 in the seconds of encoded dates
MOST_CELLS = 100_000_000  # largest matrix of shares or features: 0.8 GB


@dataclass(frozen=True)
class Numbers:
    """What the rows of a column of numbers or dates cover.

    Attributes:
        name: The column.
        low: The least number of each cell; that of the column if the cell has none.
        high: The greatest number of each cell; that of the column if the cell has none.
        missing: Whether the value of a row is missing.
        starred: Whether the cell of a row is suppressed.
        step: The gap between neighbouring numbers: 1 if all are integers (dates: days), otherwise 0.
        date_format: How dates are written; None for numbers.
    """

    name: str
    low: Floats
    high: Floats
    missing: NDArray[np.bool_]
    starred: NDArray[np.bool_]
    step: float
    date_format: str | None = None

    @property
    def middle(self) -> Floats:
        """The midpoint of each cell."""
        return (self.low + self.high) / 2

    def inside(self, least: float, most: float) -> Floats:
        """Return the share of each cell that lies between two numbers, both included; 0 for a missing number."""
        common = np.minimum(self.high, most) - np.maximum(self.low, least) + self.step
        width = self.high - self.low + self.step
        within = (self.low >= least) & (self.high <= most)
        share = np.where(width > 0, np.clip(common, 0, None) / np.where(width > 0, width, 1), within)
        return np.where(self.missing, 0.0, share)


@dataclass(frozen=True)
class Categories:
    """What the rows of a column of categories cover.

    Attributes:
        name: The column.
        values: Its values.
        shares: For each distinct cell, its share of each value.
        ranks: The distinct cell of each row.
        starred: Whether a distinct cell is suppressed.
    """

    name: str
    values: tuple[str, ...]
    shares: Floats
    ranks: NDArray[np.int32]
    starred: NDArray[np.bool_]

    def inside(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return the share of each cell that falls on chosen values."""
        shares: Floats = (self.shares @ chosen.astype(np.float64))[self.ranks]
        return shares


@dataclass(frozen=True)
class NumberScale:
    """How the cells of a column of numbers or dates are read: its ends, its mean, and whether values are missing."""

    column: Column
    reader: OrderedReader
    low: float
    high: float
    mean: float
    step: float
    has_missing: bool
    markers: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return (self.column.name, f"{self.column.name} missing") if self.has_missing else (self.column.name,)

    def read(self, table: Table) -> Numbers:
        """Return what the rows of a table cover in this column."""
        ranks, texts = table.factor(self.column.name)
        cells = [values.normalise(text) for text in texts.to_list()]
        missing = np.array([cell in self.markers for cell in cells])
        starred = np.array([cell in SUPPRESSED for cell in cells]) & ~missing
        ends = np.full((len(cells), 2), (self.low, self.high))
        known_values = np.flatnonzero(~(missing | starred))
        known_ends = _all_ends(self.reader, [cells[i] for i in known_values])
        if None in known_ends:
            raise _unreadable(self.column, int(np.argmax(ranks == known_values[known_ends.index(None)])) + 1)
        if known_ends:
            ends[known_values] = known_ends
        form = self.column.date_format if self.column.kind is Kind.DATE else None
        low, high = ends[ranks, 0], ends[ranks, 1]
        return Numbers(self.column.name, low, high, missing[ranks], starred[ranks], self.step, form)

    def matrix(self, table: Table) -> Floats:
        """Return the features of the rows of a table."""
        read = self.read(table)
        number = np.where(read.missing | read.starred, self.mean, read.middle)
        return np.column_stack([number, read.missing.astype(np.float64)] if self.has_missing else [number])

    def bounds(self, table: Table) -> tuple[Floats, Floats]:
        """Return the least and the greatest possible value of each feature of each row."""
        read = self.read(table)
        if not self.has_missing:
            return read.low[:, None], read.high[:, None]
        absent = read.missing.astype(np.float64)
        return np.column_stack([read.low, absent]), np.column_stack([read.high, absent])


@dataclass(frozen=True)
class CategoryScale:
    """How the cells of a column of categories are read: its values in order, and the mean share of each."""

    column: Column
    reader: CategoryReader
    values: tuple[str, ...]
    mean: tuple[float, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(f"{self.column.name}={value}" for value in self.values)

    def read(self, table: Table) -> Categories:
        """Return what the rows of a table cover in this column."""
        ranks, texts = table.factor(self.column.name)
        place = {value: i for i, value in enumerate(self.values)}
        if len(texts) * len(self.values) > MOST_CELLS:
            raise UsageError(
                f"column {self.column.name!r} has {len(self.values):,} values in {len(texts):,} different cells, too "
                "many to spread. Omit it, or give it coarser values."
            )
        shares = np.zeros((len(texts), len(self.values)))
        starred = np.zeros(len(texts), dtype=bool)
        for i, raw in enumerate(texts.to_list()):
            cell = values.normalise(raw)
            starred[i] = _is_star(self.reader, cell)
            known_values = [place[member] for member in _members(self.reader, cell) if member in place]
            shares[i, known_values] = 1 / max(len(known_values), 1)
        return Categories(self.column.name, self.values, shares, ranks, starred)

    def matrix(self, table: Table) -> Floats:
        """Return the features of the rows of a table."""
        read = self.read(table)
        shares = np.where(read.starred[:, None], np.array(self.mean), read.shares)
        return shares[read.ranks]

    def bounds(self, table: Table) -> tuple[Floats, Floats]:
        """Return the least and the greatest possible value of each feature of each row."""
        read = self.read(table)
        return np.floor(read.shares)[read.ranks], np.ceil(read.shares)[read.ranks]


Scale = NumberScale | CategoryScale


@dataclass(frozen=True)
class NumericEncoding:
    """How the columns of a table become the features of a learner, as the module describes."""

    scales: tuple[Scale, ...]
    features: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [feature for scale in self.scales for feature in scale.features]
        repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
        if repeated:
            raise UsageError(f"{len(repeated)} features would have the name of another. Rename columns with '='.")
        object.__setattr__(self, "features", tuple(names))

    def matrix(self, table: Table) -> Floats:
        """Return the features of the rows of a table, one column a feature."""
        n_cells = table.height * len(self.features)
        if n_cells > MOST_CELLS:
            widest = max(self.scales, key=lambda scale: len(scale.features))
            raise UsageError(
                f"{table.height:,} rows x {len(self.features):,} features are too many; column "
                f"{widest.column.name!r} alone has {len(widest.features):,}. Omit it, or give it coarser values."
            )
        return np.column_stack([scale.matrix(table) for scale in self.scales])

    def bounds(self, table: Table) -> tuple[Floats, Floats]:
        """Return the least and the greatest possible value of each feature; equal if a cell is a single value."""
        ends = [scale.bounds(table) for scale in self.scales]
        return np.column_stack([low for low, _ in ends]), np.column_stack([high for _, high in ends])


def fit_encoding(
    table: Table, schema: Schema, names: Sequence[str] | None = None, labels: Labels | None = None
) -> NumericEncoding:
    """Fit an encoding to the values of a table; it serves any table with the same columns.

    Args:
        table: The table.
        schema: Its columns; the kinds must be known (see `fill_kinds`).
        names: The columns to encode; by default all that are released.
        labels: By column, the values below each label of its hierarchy; without them, a label of a category is treated
            as a value.

    Raises:
        UsageError: A column is not in the table, or there are none.
    """
    columns = {column.name: column for column in schema.columns}
    chosen = [column.name for column in schema.released] if names is None else list(names)
    absent = [name for name in chosen if name not in columns or name not in table.names]
    if absent or not chosen:
        problem = f"column {absent[0]!r} is not in the table" if absent else "no column is named"
        raise UsageError(f"features: {problem}. Its columns: {', '.join(table.names[:30])}.")
    return NumericEncoding(
        tuple(fit_scale(table, columns[name], schema.missing, (labels or {}).get(name, {})) for name in chosen)
    )


def fit_scale(
    table: Table, column: Column, missing: Sequence[str], labels: Mapping[str, frozenset[str]] | None = None
) -> Scale:
    """Return how a column is read, fitted to the values of a table, original or released."""
    cells = sorted({values.normalise(text) for text in table.factor(column.name).texts.to_list()})
    if column.kind not in (None, Kind.CATEGORICAL):
        return _fit_numbers(table, column, cells, tuple(missing), labels or {})
    return _fit_categories(table, column, cells, frozenset(missing), labels or {})


def _fit_categories(
    table: Table, column: Column, cells: Sequence[str], missing: frozenset[str], labels: Mapping[str, frozenset[str]]
) -> CategoryScale:
    bare = CategoryReader(frozenset(), missing, labels)
    members = {member for cell in cells if not _is_star(bare, cell) for member in _shown(bare, cell)}
    scale = CategoryScale(column, CategoryReader(frozenset(members), missing, labels), tuple(sorted(members)))
    read = scale.read(table)
    rows = table.counts(column.name) * ~read.starred
    return replace(scale, mean=tuple((rows @ read.shares / max(rows.sum(), 1)).tolist()))


def _fit_numbers(
    table: Table, column: Column, cells: Sequence[str], missing: tuple[str, ...], labels: Mapping[str, frozenset[str]]
) -> NumberScale:
    known_values = [cell for cell in cells if cell not in missing and cell not in SUPPRESSED]
    numbers = _ordered_reader(column, labels, missing)
    ends = _all_ends(numbers, known_values)
    if None in ends:
        texts = table.frame[column.name].to_list()
        row = next(i for i, text in enumerate(texts, 1) if values.normalise(text) == known_values[ends.index(None)])
        raise _unreadable(column, row)
    flat = [end for pair in ends if pair is not None for end in pair] or [0.0]
    step = 1.0 if all(number == int(number) for number in flat) else 0.0
    has_missing = any(cell in missing for cell in cells)
    scale = NumberScale(column, numbers, min(flat), max(flat), 0.0, step, has_missing, missing)
    read = scale.read(table)
    middles = np.sort(read.middle[~(read.missing | read.starred)])  # sorted, so that row order does not matter
    return replace(scale, mean=float(middles.mean()) if len(middles) else 0.0)


def fill_kinds(table: Table, schema: Schema, names: Sequence[str]) -> Schema:
    """Return the schema with open kinds guessed from the cells of a table, original or released."""
    columns = {}
    for column in schema.columns:
        if column.name in names and column.kind is None and column.name in table.names:
            texts = {values.normalise(text) for text in table.factor(column.name).texts.to_list()}
            known_values = [text for text in sorted(texts) if text not in schema.missing and text not in SUPPRESSED]
            ends = [end for text in known_values for end in _written_ends(text)]
            columns[column.name] = find_form(column, list(dict.fromkeys(ends))).certain
    return schema.with_columns(columns)


def encode_release(
    released: Table, original: Table, schema: Schema, labels: Labels, columns: Sequence[str] | None, domain: str
) -> Any:
    """Return released cells as a frame of features; see `Release.to_numeric`."""
    if domain not in ("release", "original"):
        raise UsageError(f"domain={domain!r} is not known. Use 'release' or 'original'.")
    names = [column.name for column in schema.released] if columns is None else list(columns)
    source = original if domain == "original" else released
    known_values = labels if domain == "original" else None
    encoding = fit_encoding(source, fill_kinds(source, schema, names), names, known_values)
    library = original.native.library if original.native is not None else "polars"
    return to_library(encoding.features, encoding.matrix(released), library)


def to_library(features: Sequence[str], matrix: Floats, library: str) -> Any:
    """Return a matrix as a frame of a library: "polars", "pandas" or "pyarrow"."""
    import polars as pl

    frame = pl.DataFrame({name: np.ascontiguousarray(matrix[:, i]) for i, name in enumerate(features)})
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(matrix, columns=list(features))
    return frame.to_arrow() if library == "pyarrow" else frame


def _ordered_reader(column: Column, labels: Mapping[str, frozenset[str]], missing: Sequence[str]) -> OrderedReader:
    ends = {}
    for label, below in labels.items():
        inside = numbers_of(column, [text for text in below if text not in missing])[0]
        if inside:
            ends[label] = (float(min(inside)), float(max(inside)))
    return OrderedReader(column, 0.0, 0.0, step=DAY if column.kind is Kind.DATE else 1.0, labels=ends)


def _all_ends(reader: OrderedReader, cells: Sequence[str]) -> list[tuple[float, float] | None]:
    """Return the ends of each cell, None if it cannot be read; dates in days since 1970-01-01."""
    numbers, misfits = numbers_of(reader.column, cells)
    if not misfits:  # only single values, as in an original
        all_ends: list[tuple[float, float] | None] = [(float(number), float(number)) for number in numbers]
    else:
        all_ends = [reader.bounds(cell) for cell in cells]
    if reader.column.kind is not Kind.DATE:
        return all_ends
    return [None if ends is None else ((ends[0] - EPOCH) / DAY, (ends[1] - EPOCH) / DAY) for ends in all_ends]


def _members(reader: CategoryReader, cell: str) -> frozenset[str]:
    """Return the values of the column that a cell covers."""
    if cell in reader.domain:
        return frozenset({cell})
    if cell in reader.missing:
        return frozenset({""}) & reader.domain
    return reader.domain if _is_star(reader, cell) else reader.members(cell) & reader.domain


def _is_star(reader: CategoryReader, cell: str) -> bool:
    return cell in SUPPRESSED and cell not in reader.missing and cell not in reader.domain


def _shown(reader: CategoryReader, cell: str) -> frozenset[str]:
    """Return the values that a cell names: the members of a set, the values below a label, or itself."""
    if cell in reader.labels:
        return frozenset("" if text in reader.missing else text for text in reader.labels[cell])
    if cell in reader.missing:
        return frozenset({""})
    return reader.members(cell) if cell[:1] + cell[-1:] == "{}" else frozenset({cell})


def _written_ends(text: str) -> list[str]:
    """Return the texts of both ends of a range of ours, or the text itself."""
    if text[:1] == "[" and text[-1:] in ("]", ")"):
        parts = text[1:-1].split(", ")
        if len(parts) == 2:
            return parts
    return [text]


def _unreadable(column: Column, row: int) -> InputError:
    return InputError(
        f"column {column.name!r}, row {row}: the cell is not a {column.kind} value, a range such as [25, 40] or *. "
        f"Pass the hierarchy of its label with {setting('hierarchies')}, or pass "
        f"{setting('categorical', [column.name])}."
    )
