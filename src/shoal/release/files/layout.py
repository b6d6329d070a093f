"""The layout of released cells in a file: ranges as two columns, other decimal marks, formulas escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.encoding.decode import Released
from shoal.errors import InternalError, UsageError, setting
from shoal.release.cells.centers import spread_name
from shoal.release.files.marks import Respelling, respellings, spread_mark
from shoal.schema import INPUT, Schema
from shoal.tables.bounds import merged
from shoal.tables.sources.base import Change, FileLayout
from shoal.tables.table import Factor, Table, factorize

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.release import Release
    from shoal.verification import Manifest

__all__ = ["SIGNED", "file_layout", "is_formula", "lay_out", "read_back", "spreadsheet_safe", "with_marks_of"]

# A cell that begins with one of these runs as a formula in some spreadsheet, unless it is a plain number.
RISKY = "=+-@\t\r\n\0＝＋－＠"
SIGNED = f"^[{re.escape(RISKY)}]"  # for a quick look at many cells
PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?")


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet would run a cell as a formula.

    >>> is_formula("=1+1"), is_formula("-5"), is_formula("@home")
    (True, False, True)
    """
    return text[:1] in RISKY and text != "" and not PLAIN_NUMBER.fullmatch(text)


def spreadsheet_safe(text: str) -> str:
    """Escape a cell that a spreadsheet would run as a formula: put a quote before it.

    A cell that looks escaped already gets one more quote, so that different cells stay different.

    >>> spreadsheet_safe("-5"), spreadsheet_safe("-5+cmd"), spreadsheet_safe("=1+1"), spreadsheet_safe("'=1+1")
    ('-5', "'-5+cmd", "'=1+1", "''=1+1")
    """
    sign = text.lstrip("'")[:1]
    return "'" + text if sign and sign in RISKY and not PLAIN_NUMBER.fullmatch(text) else text


def lay_out(
    released: Released,
    schema: Schema,
    *,
    bounds: bool,
    safe: bool,
    keep_order: bool,
    numbers: Mapping[str, Respelling],
    spread: Mapping[str, Factor] | None = None,
) -> Released:
    """Return the cells as they appear in the file.

    Args:
        released: The released cells.
        schema: The roles and kinds of the columns.
        bounds: Whether to write a column of ranges as two columns, NAME_min and NAME_max.
        safe: Whether to escape cells and names for spreadsheets.
        keep_order: Whether to keep the order of the rows; otherwise they are sorted by their cells.
        numbers: How the numbers of columns get another decimal mark.
        spread: By column, what follows it in the file: the standard deviation or the share of each row's group.

    Raises:
        UsageError: If the table already has a column with the name of a bound.
    """
    if not bounds and not safe and not numbers and not spread:
        return released
    import polars as pl

    factors: dict[str, Factor] = {}
    for column in schema.released:
        factor, there = released.table.factor(column.name), numbers.get(column.name)
        if bounds and column.name in released.bounds:
            ends: Mapping[str, tuple[str, str]] = released.bounds[column.name]
            for side, suffix in enumerate(("_min", "_max")):
                name = _bound_name(column.name + suffix, schema)
                factors[name] = _rename(factor, _respelled([ends[t][side] for t in factor.texts.to_list()], there))
        elif there is not None:
            factors[column.name] = _rename(factor, _respelled(factor.texts.to_list(), there))
        else:
            factors[column.name] = factor
        if spread and column.name in spread:
            factors[spread_name(column)] = spread[column.name]
    if safe:
        factors = {
            spreadsheet_safe(name): _rename(factor, [spreadsheet_safe(text) for text in factor.texts.to_list()])
            for name, factor in factors.items()
        }
    rows = released.source_rows
    order = np.arange(len(rows)) if keep_order else np.lexsort([f.ranks for f in reversed(factors.values())])
    factors = {name: Factor(factor.ranks[order], factor.texts) for name, factor in factors.items()}
    frame = pl.DataFrame({name: factor.texts.gather(factor.ranks) for name, factor in factors.items()})
    return Released(Table(frame, _factors=factors), rows[order], released.bounds)


def file_layout(release: Release) -> FileLayout:
    """Return how a file shows the columns of a release whose rows are dealt to groups; see `lay_out`."""
    request, schema = release.request, release.schema
    columns: dict[str, list[tuple[str, Change]]] = {}
    for column in schema.released:
        there = release.numbers.get(column.name)
        if request.cells == "bounds" and column.name in release.ends:
            ends = release.ends[column.name]
            columns[column.name] = [
                (_bound_name(column.name + suffix, schema), partial(_side_of, ends=ends, side=side, there=there))
                for side, suffix in enumerate(("_min", "_max"))
            ]
        elif there is not None:
            columns[column.name] = [(column.name, partial(_respelled, there=there))]
        if column.name in release.spread:
            name, mark = spread_name(column), spread_mark(column, schema.marks[0], request.output_decimal)
            if mark != ".":
                columns[name] = [(name, partial(_with_mark, mark=mark))]
    if request.spreadsheet_safe:
        names = [column.name for column in schema.released]
        names += [spread_name(column) for column in schema.qi if column.name in release.spread]
        forms = {name: columns.get(name, [(name, list)]) for name in names}
        columns = {
            name: [(spreadsheet_safe(shown), partial(_made_safe, change=change)) for shown, change in each]
            for name, each in forms.items()
        }
    return FileLayout(columns, release.delimiter, request.keep_order, request.has_centers)


def _side_of(texts: list[str], ends: Mapping[str, tuple[str, str]], side: int, there: Respelling | None) -> list[str]:
    """Return one side of each range, as a file shows it."""
    return _respelled([ends[text][side] for text in texts], there)


def _made_safe(texts: list[str], change: Change) -> list[str]:
    """Escape what another form makes of texts."""
    return [spreadsheet_safe(text) for text in change(texts)]


def _with_mark(texts: list[str], mark: str) -> list[str]:
    return [text.replace(".", mark) for text in texts]


def _bound_name(name: str, schema: Schema) -> str:
    """Return the name of a column of bounds; raise a UsageError if the table has such a column already."""
    if name in (other.name for other in schema.columns):
        raise UsageError(f"{setting('cells', 'bounds')}: the table already has a column {name!r}. Rename it.")
    return name


def read_back(table: Table, manifest: Manifest) -> Table:
    """Return the table that a written file represents, as its manifest describes it.

    Escaping quotes are removed, two columns of bounds become one of ranges, and numbers get the marks of the original.

    Args:
        table: The table as it is in the file.
        manifest: The manifest of the file.
    """
    bounds, safe, decimal = manifest.bounds, manifest.spreadsheet_safe, manifest.decimal
    if not bounds and not safe and decimal == INPUT:
        return table
    import polars as pl

    frame = table.frame
    if safe:
        frame = pl.DataFrame({_unescaped(name): _renamed(frame[name], _unescaped) for name in frame.columns})
    frame = merged(frame, bounds)
    columns = tuple(column for column in manifest.columns if column.name in manifest.numbers)
    return with_marks_of(_with(table, frame), Schema(columns, manifest.missing, marks=manifest.marks), decimal)


def with_marks_of(table: Table, schema: Schema, decimal: str) -> Table:
    """Return a released table with numbers as the original writes them.

    Args:
        table: The table; a column of it that the schema lacks stays as it is.
        schema: The columns, with the marks of the original.
        decimal: The decimal mark of the table, or "input".
    """
    if decimal == INPUT:
        return table
    frame = table.frame
    for name, there in respellings(schema, decimal).items():
        if name in frame.columns:
            distinct = frame[name].unique().to_list()
            if (texts := there.back.texts(distinct)) is not None:
                new = dict(zip(distinct, texts, strict=True))
                frame = frame.with_columns(_renamed(frame[name], new.__getitem__))
    return _with(table, frame)


def _with(table: Table, frame: pl.DataFrame) -> Table:
    """Return a frame as a table, counted like another one."""
    return Table(frame, weights=table.weights, first_rows=table.first_rows, header=table.header)


def _respelled(texts: list[str], there: Respelling | None) -> list[str]:
    changed = texts if there is None else there.texts(texts)
    if changed is None:
        raise InternalError("an end of a range is not a number, although the range is.")
    return changed


def _unescaped(text: str) -> str:
    return text[1:] if text[:1] == "'" and spreadsheet_safe(text[1:]) == text else text


def _renamed(column: pl.Series, change: Callable[[str], str]) -> pl.Series:
    import polars as pl

    texts = column.unique().to_list()
    return column.replace_strict(texts, [change(text) for text in texts], return_dtype=pl.String)


def _rename(factor: Factor, texts: list[str]) -> Factor:
    import polars as pl

    ranks, distinct = factorize(pl.Series(texts, dtype=pl.String))
    return Factor(ranks[factor.ranks], distinct)
