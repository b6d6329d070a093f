"""How released cells are laid out in a file: ranges as two columns, formulas made harmless for spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from shoal.encoding.decode import Released
from shoal.errors import UsageError
from shoal.schema import Schema
from shoal.tables.table import Factor, Table, factorize

__all__ = ["lay_out", "spreadsheet_safe"]

# What a spreadsheet takes for the beginning of a formula, also in its full-width form; a plain number is none.
RISKY = "=+-@\t\r\n\0＝＋－＠"
PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?")


def spreadsheet_safe(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula: a quote before what would be one.

    >>> spreadsheet_safe("-5"), spreadsheet_safe("-5+cmd"), spreadsheet_safe("=1+1")
    ('-5', "'-5+cmd", "'=1+1")
    """
    return "'" + text if text[:1] and text[0] in RISKY and not PLAIN_NUMBER.fullmatch(text) else text


def lay_out(released: Released, schema: Schema, *, bounds: bool, safe: bool, keep_order: bool) -> Released:
    """Return the cells as they go into the file, rows sorted by them (unless they keep their order).

    bounds: a column of ranges becomes two, NAME_min and NAME_max. safe: cells and names for spreadsheets.
    """
    if not bounds and not safe:
        return released
    import polars as pl

    factors: dict[str, Factor] = {}
    for column in schema.released:
        factor = released.table.factor(column.name)
        if bounds and column.name in released.bounds:
            ends: Mapping[str, tuple[str, str]] = released.bounds[column.name]
            for side, suffix in enumerate(("_min", "_max")):
                name = column.name + suffix
                if name in (other.name for other in schema.columns):
                    raise UsageError(f"cells as bounds: the table has a column {name!r} already. Rename it.")
                factors[name] = _rename(factor, [ends[text][side] for text in factor.texts.to_list()])
        else:
            factors[column.name] = factor
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


def _rename(factor: Factor, texts: list[str]) -> Factor:
    import polars as pl

    ranks, distinct = factorize(pl.Series(texts, dtype=pl.String))
    return Factor(ranks[factor.ranks], distinct)
