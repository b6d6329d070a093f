"""From codes back to text: the released cells of a partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.ends import Ends, RangeEnds, release_ends
from shoal.encoding.partition import NODE, SET, SUPPRESSED, SUPPRESSION, VALUE, Cells, Partition
from shoal.errors import InternalError
from shoal.schema import Schema
from shoal.tables.sorting import pack, sort_keys
from shoal.tables.table import Factor, RankedTable, Table, factorize
from shoal.tables.values import member_text

__all__ = ["SUPPRESSION", "Ends", "Released", "cell_texts", "decode"]


@dataclass(frozen=True)
class Released:
    """The released cells as text.

    Attributes:
        table: The released columns.
        source_rows: The source row of each released row.
        bounds: For each column of numbers or dates, the least and the greatest value that each released cell covers.
        groups: The group of each released row.
        group_cells: For each quasi-identifier, the cell of each group.
    """

    table: Table
    source_rows: NDArray[np.int64]
    bounds: Mapping[str, Mapping[str, Ends]] = field(default_factory=dict)
    groups: NDArray[np.int32] | None = None
    group_cells: Mapping[str, Factor] = field(default_factory=dict)


def decode(
    encoded: Encoded,
    partition: Partition,
    schema: Schema,
    *,
    keep_order: bool = False,
    ends: Sequence[RangeEnds] | None = None,
    centers: Mapping[str, Sequence[str]] | None = None,
) -> Released:
    """Turn a partition into the text of the released columns.

    Args:
        encoded: The table as codes.
        partition: The groups and their cells.
        schema: The columns of the table.
        keep_order: Keep the rows in the order of the source; otherwise they are sorted by their released cells.
        ends: The ends of the ranges of each attribute, from `release_ends`; exact by default.
        centers: By attribute, the cell of each group, if it is the centre of the group and not what the partition says.
    """
    import polars as pl

    group_cells: dict[str, Factor] = {}  # the cell that each group shows, by attribute
    bounds: dict[str, dict[str, Ends]] = {}
    ends = ends or release_ends(encoded, partition, schema)
    for attribute, cells, range_ends in zip(encoded.attributes, partition.cells, ends, strict=True):
        if centers is not None:
            group_cells[attribute.name] = factorize(pl.Series(centers[attribute.name], dtype=pl.String))
            continue
        texts = cell_texts(attribute, cells, range_ends)
        if attribute.ordered and attribute.kind.is_measured:
            pairs = zip(texts, range_ends.texts, strict=True)
            bounds[attribute.name] = {text: (text, text) if pair is None else pair for text, pair in pairs}
        factor = factorize(pl.Series(texts, dtype=pl.String))
        group_cells[attribute.name] = Factor(factor.ranks[cells.index], factor.texts)
    names = [column.name for column in schema.released]
    labels = partition.labels
    kept = np.flatnonzero(labels >= 0)
    all_kept = len(kept) == len(labels)
    labels, rows = (labels, encoded.order) if all_kept else (labels[kept], encoded.order[kept])
    order = np.argsort(rows) if keep_order else _sorted_order(names, group_cells, labels, encoded.others, rows)
    labels, rows = labels[order], rows[order]
    factors = {
        name: Factor(group_cells[name].ranks[labels], group_cells[name].texts)
        if name in group_cells
        else Factor(encoded.others[name].ranks[rows], encoded.others[name].texts)
        for name in names
    }
    if (weights := encoded.weights) is not None:
        weights = weights[order] if all_kept else weights[kept][order]
        return Released(RankedTable(factors, weights), rows, bounds, labels, group_cells)
    frame = pl.DataFrame({name: factor.cells() for name, factor in factors.items()})
    return Released(Table(frame, _factors=factors), rows, bounds, labels, group_cells)


def _sorted_order(
    names: Sequence[str],
    group_cells: Mapping[str, Factor],
    labels: NDArray[np.int32],
    others: Mapping[str, Factor],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the order that sorts rows by their released cells, column after column.

    Neighbouring quasi-identifiers are sorted once for each group instead of once for each row.
    """
    columns: list[NDArray[Any]] = []
    cards: list[int] = []
    for in_groups, run in groupby(names, lambda name: name in group_cells):
        if in_groups:
            factors = [group_cells[name] for name in run]
            key, _ = pack([factor.ranks for factor in factors], [len(factor.texts) for factor in factors])
            distinct, rank = np.unique(key, return_inverse=True)
            columns.append(rank[labels])
            cards.append(len(distinct))
        else:
            for name in run:
                columns.append(others[name].ranks[rows])
                cards.append(len(others[name].texts))
    return sort_keys(*pack(columns, cards))


def cell_texts(attribute: Attribute, cells: Cells, ends: RangeEnds) -> list[str]:
    """Return the released text of each distinct cell of an attribute.

    Args:
        attribute: The attribute.
        cells: Its cells.
        ends: The ends of its ranges, from `release_ends`.
    """
    texts = attribute.texts
    is_ranked = attribute.kind.is_ranked
    quoted = [member_text(text) for text in texts] if is_ranked or (cells.form == SET).any() else []
    labels = () if attribute.tree is None else attribute.tree.labels
    forms, lows, highs, starts = (each.tolist() for each in (cells.form, cells.low, cells.high, cells.starts))
    shown = []
    for i, pair in enumerate(ends.texts):
        if pair is not None and is_ranked:
            shown.append("{" + ", ".join(quoted[lows[i] : highs[i] + 1]) + "}")
        elif pair is not None and pair[0] == pair[1] and not ends.half_open[i]:
            shown.append(pair[0])  # a band of a single day
        elif pair is not None:
            shown.append(f"[{pair[0]}, {pair[1]}{')' if ends.half_open[i] else ']'}")
        elif forms[i] == VALUE:
            shown.append(str(texts[lows[i]]))
        elif forms[i] == SET:
            members = cells.members[starts[i] : starts[i + 1]].tolist()
            shown.append("{" + ", ".join([quoted[code] for code in members]) + "}")
        elif forms[i] == NODE and labels:
            shown.append(str(labels[lows[i]]))
        elif forms[i] == SUPPRESSED:
            shown.append(SUPPRESSION)
        else:
            raise InternalError(f"attribute {attribute.name!r} has a cell of unknown form {forms[i]}.")
    return shown
