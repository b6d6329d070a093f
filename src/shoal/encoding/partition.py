"""What every method returns: the group of each row, and what each group shows of each attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InternalError
from shoal.schema import Kind

if TYPE_CHECKING:
    from shoal.encoding.attributes import Attribute, Encoded

__all__ = [
    "NODE",
    "RANGE",
    "SET",
    "SUPPRESSED",
    "SUPPRESSION",
    "VALUE",
    "Cells",
    "Partition",
    "cell_losses",
    "node_losses",
    "recode",
    "suppress_cells",
    "tight_partition",
]

# The forms of a released cell.
VALUE, RANGE, SET, SUPPRESSED, NODE = range(5)
SUPPRESSION = "*"  # the text of a suppressed cell


@dataclass(frozen=True)
class Cells:
    """The distinct released cells of one attribute, and which of them each group shows.

    low, high: codes at the ends of a range; low alone for a value, and for a node of the
    attribute's tree. members[starts[i]:starts[i + 1]]: codes of a set.
    """

    index: NDArray[np.int32]  # one for each group
    form: NDArray[np.int8]  # one for each distinct cell, as are the rest
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]


@dataclass(frozen=True)
class Partition:
    """labels: the group of each canonical row, -1 where the row is suppressed; cells: one Cells for each attribute.

    levels: of a full-domain release, the level of each attribute by name. facts: what else a search found, for JSON.
    """

    labels: NDArray[np.int32]
    cells: tuple[Cells, ...]
    levels: Mapping[str, int] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.cells[0].index)


def tight_partition(encoded: Encoded, labels: NDArray[np.int32]) -> Partition:
    """Recode each group by its own values: a range from its least to its greatest, a set of those that occur.

    labels: one for each canonical row, -1 where it is suppressed; every group from 0 on has at least one row.
    """
    tuples, groups = distinct_members(encoded, labels)
    n_groups = int(labels.max()) + 1
    cells = (
        recode(attribute, encoded.tuples[tuples, i], groups, n_groups) for i, attribute in enumerate(encoded.attributes)
    )
    return Partition(labels, tuple(cells))


def distinct_members(encoded: Encoded, labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the pairs (tuple, group) that occur: rows of one tuple stand together, so most repeats are neighbours."""
    row_tuple = encoded.row_tuple
    new = np.ones(len(labels), dtype=bool)
    new[1:] = (row_tuple[1:] != row_tuple[:-1]) | (labels[1:] != labels[:-1])
    new &= labels >= 0
    return row_tuple[new], labels[new]


def recode(attribute: Attribute, codes: NDArray[np.int32], regions: NDArray[np.int32], n_regions: int) -> Cells:
    """Return the cells of regions that hold these codes: the smallest range or set over each region.

    With a hierarchy it is the lowest node above the region's values. A region of a number or date that holds missing
    and other values is suppressed there.
    """
    card = len(attribute.texts)
    keys = np.sort(regions.astype(np.int64) * card + codes)  # faster than np.unique, which hashes
    owner, code = np.divmod(keys[np.diff(keys, prepend=-1) != 0], card)
    starts = np.append(0, np.cumsum(np.bincount(owner, minlength=n_regions)))
    low, high, sizes = code[starts[:-1]], code[starts[1:] - 1], np.diff(starts)
    signature = low * card + high  # tells apart all cells but sets
    if attribute.tree is not None:
        low = high = attribute.tree.common(code, starts[:-1])
        signature = low
        form = np.where(sizes == 1, VALUE, NODE)
    elif attribute.ordered:
        signature[(sizes > 1) & (high == attribute.missing)] = -1
        form = np.where(sizes == 1, VALUE, np.where(signature < 0, SUPPRESSED, RANGE))
    else:
        form = np.where(sizes == 1, VALUE, SET)
        known: dict[bytes, int] = {}
        for region in np.flatnonzero(form == SET).tolist():
            content = code[starts[region] : starts[region + 1]].tobytes()
            signature[region] = card * card + known.setdefault(content, len(known))
    _, first, index = np.unique(signature, return_index=True, return_inverse=True)
    is_set = form[first] == SET
    members = [code[starts[region] : starts[region + 1]] for region in first[is_set].tolist()]
    lengths = np.zeros(len(first) + 1, dtype=np.int64)
    lengths[1:][is_set] = [len(content) for content in members]
    return Cells(
        index=index.astype(np.int32),
        form=form[first].astype(np.int8),
        low=low[first].astype(np.int32),
        high=high[first].astype(np.int32),
        starts=np.cumsum(lengths),
        members=np.concatenate([*members, np.empty(0, dtype=np.int64)]).astype(np.int32),
    )


def node_losses(attribute: Attribute) -> NDArray[np.float64]:
    """Return the loss of a cell at each node of an attribute's tree.

    A number or date loses the range of the values below its node, the label's own ends being known to measures alone.
    """
    if attribute.tree is None:
        raise InternalError(f"column {attribute.name!r} has no tree.")
    sizes = attribute.tree.sizes
    n_known = attribute.missing if attribute.missing >= 0 else len(attribute.texts)
    span = 0.0 if attribute.kind is Kind.CATEGORICAL or not n_known else float(np.ptp(attribute.values[:n_known]))
    if span <= 0:
        return np.where(sizes > 1, sizes / len(attribute.texts), 0.0)
    low, high = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
    for level in attribute.tree.nodes:
        np.minimum.at(low, level[:n_known], attribute.values[:n_known])
        np.maximum.at(high, level[:n_known], attribute.values[:n_known])
    losses = np.where(high > low, (high - low) / span, 0.0)
    losses[len(attribute.texts)] = 1.0  # the root
    return losses


def cell_losses(attribute: Attribute, cells: Cells) -> NDArray[np.float64]:
    """Return the loss (NCP) of each distinct cell of an attribute."""
    loss = np.where(cells.form == SUPPRESSED, 1.0, 0.0)
    if attribute.tree is not None:
        return np.where(cells.form == NODE, node_losses(attribute)[cells.low], loss)
    if attribute.ordered and attribute.span > 0:
        widths = attribute.values[cells.high] - attribute.values[cells.low]
        return np.where(cells.form == RANGE, widths / attribute.span, loss)
    return np.where(cells.form == SET, np.diff(cells.starts) / len(attribute.texts), loss)


def suppress_cells(cells: Cells, hidden: NDArray[np.bool_]) -> Cells:
    """Return the cells of one attribute with those of the hidden groups suppressed; hidden: one for each group."""
    if not hidden.any():
        return cells
    shown, index = np.unique(np.where(hidden, len(cells.form), cells.index), return_inverse=True)
    kept = shown[:-1]  # the last one is the suppressed cell
    sets = [cells.members[cells.starts[cell] : cells.starts[cell + 1]] for cell in kept.tolist()]
    return Cells(
        index=index.astype(np.int32),
        form=np.append(cells.form[kept], np.int8(SUPPRESSED)).astype(np.int8),
        low=np.append(cells.low[kept], 0).astype(np.int32),
        high=np.append(cells.high[kept], 0).astype(np.int32),
        starts=np.cumsum([0, *map(len, sets), 0]).astype(np.int64),
        members=np.concatenate([*sets, np.empty(0, dtype=np.int32)]).astype(np.int32),
    )
