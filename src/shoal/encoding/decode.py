"""Turn a partition back into the text of released cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.grid import default_grid, snap
from shoal.encoding.partition import NODE, RANGE, SET, SUPPRESSED, VALUE, Cells, Partition
from shoal.errors import InternalError
from shoal.schema import Column, Schema
from shoal.tables.table import Factor, Table, factorize

__all__ = ["SUPPRESSION", "Released", "cell_text", "decode"]


SUPPRESSION = "*"


@dataclass(frozen=True)
class Released:
    """What decode() gives: the released cells as text, and the source row of each released row.

    bounds: for numbers and dates, the least and the greatest value that each released cell stands for.
    """

    table: Table
    source_rows: NDArray[np.int64]
    bounds: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)


def decode(
    encoded: Encoded, partition: Partition, schema: Schema, *, keep_order: bool = False, snapped: bool = False
) -> Released:
    """Turn a partition back into text: the released columns, rows in canonical order (or that of the source).

    snapped: the ends of ranges are widened to the column's grid, or to a round one of its own.
    """
    import polars as pl

    kept = np.flatnonzero(partition.labels >= 0)
    labels, rows = partition.labels[kept], encoded.order[kept]
    columns = {column.name: column for column in schema.qi}
    factors: dict[str, Factor] = {}
    bounds: dict[str, dict[str, tuple[str, str]]] = {}
    for attribute, cells in zip(encoded.attributes, partition.cells, strict=True):
        ends = [_ends(attribute, cells, i, columns[attribute.name], snapped) for i in range(len(cells.form))]
        shown = [
            cell_text(attribute, cells, i) if end is None else f"[{end[0]}, {end[1]}]" for i, end in enumerate(ends)
        ]
        if attribute.ordered:
            pairs = zip(shown, ends, strict=True)
            bounds[attribute.name] = {text: (text, text) if end is None else end for text, end in pairs}
        ranks, texts = factorize(pl.Series(shown, dtype=pl.String))
        factors[attribute.name] = Factor(ranks[cells.index][labels], texts)
    for name, (raw, texts) in encoded.others.items():
        factors[name] = Factor(raw[rows], texts)
    names = [column.name for column in schema.released]
    order = np.argsort(rows) if keep_order else np.lexsort([factors[name].ranks for name in reversed(names)])
    factors = {name: Factor(factors[name].ranks[order], factors[name].texts) for name in names}
    frame = pl.DataFrame({name: factor.texts.gather(factor.ranks) for name, factor in factors.items()})
    weights = None if encoded.weights is None else encoded.weights[kept][order]
    return Released(Table(frame, weights=weights, _factors=factors), rows[order], bounds)


def _ends(attribute: Attribute, cells: Cells, index: int, column: Column, snapped: bool) -> tuple[str, str] | None:
    """Return the ends of a range as they are released; None for any other cell."""
    if cells.form[index] != RANGE:
        return None
    low, high = str(attribute.texts[cells.low[index]]), str(attribute.texts[cells.high[index]])
    if not snapped:
        return low, high
    return snap(column, low, high, column.grid or default_grid(column.kind, attribute.span))


def cell_text(attribute: Attribute, cells: Cells, index: int) -> str:
    """Return the released text of one distinct cell of an attribute."""
    form, texts = cells.form[index], attribute.texts
    if form == VALUE:
        return str(texts[cells.low[index]])
    if form == SET:
        members = cells.members[cells.starts[index] : cells.starts[index + 1]]
        return "{" + ", ".join(_member_text(texts[code]) for code in members) + "}"
    if form == NODE and attribute.tree is not None:
        return str(attribute.tree.labels[cells.low[index]])
    if form == SUPPRESSED:
        return SUPPRESSION
    raise InternalError(f"attribute {attribute.name!r} has a cell of unknown form {form}.")


def _member_text(text: str) -> str:
    if text and not any(mark in text for mark in ',{}"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
