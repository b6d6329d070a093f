"""What every method returns: the group of each row, and what each group shows of each attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from shoal.encoding import Attribute, Encoded

__all__ = [
    "NODE",
    "RANGE",
    "SET",
    "SUPPRESSED",
    "VALUE",
    "Cells",
    "Partition",
    "cell_losses",
    "recode",
    "tight_partition",
]

# The forms of a released cell.
VALUE, RANGE, SET, SUPPRESSED, NODE = range(5)


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
    """labels: the group of each canonical row, -1 where the row is suppressed; cells: one Cells for each attribute."""

    labels: NDArray[np.int32]
    cells: tuple[Cells, ...]

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
    owner, code = np.divmod(np.unique(regions.astype(np.int64) * card + codes), card)
    starts = np.searchsorted(owner, np.arange(n_regions + 1))
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


def cell_losses(attribute: Attribute, cells: Cells) -> NDArray[np.float64]:
    """Return the loss (NCP) of each distinct cell of an attribute."""
    loss = np.where(cells.form == SUPPRESSED, 1.0, 0.0)
    if attribute.tree is not None:
        sizes = attribute.tree.sizes[cells.low]
        return np.where((cells.form == NODE) & (sizes > 1), sizes / len(attribute.texts), loss)
    if attribute.ordered and attribute.span > 0:
        widths = attribute.values[cells.high] - attribute.values[cells.low]
        return np.where(cells.form == RANGE, widths / attribute.span, loss)
    return np.where(cells.form == SET, np.diff(cells.starts) / len(attribute.texts), loss)
