"""The table as the search of shoaling sees it: codes, rows, and what it costs to put values together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding import Attribute, Encoded
from shoal.partition import NODE, RANGE, SET, SUPPRESSED, Cells, Partition
from shoal.schema import Kind

__all__ = ["Problem", "Recoding", "prepare", "total_loss"]

# Price of a row that has lost everything: twice of it fits 32 bits, and prices times rows 64.
FULL_PRICE = 2**29

Ints = NDArray[np.int32]


class Recoding(IntEnum):
    """How the values of an attribute are put together; the kernels know the numbers."""

    SET = 0
    RANGE = 1
    TREE = 2


@dataclass(frozen=True)
class Problem:
    """The table as the kernels see it: attributes in order of what a random pair costs, the dearest first.

    kinds: how each attribute is recoded: SET of its values, RANGE of its numbers or dates, or node of its TREE,
    whose codes stand in the order of its leaves. places: of each code of a range, how much of the price of the
    whole lies below it; of a tree, the price of the code together with the next. units: the price of a value of a
    set; of the whole of a range or tree.
    """

    codes: Ints
    counts: NDArray[np.int64]
    places: Ints
    offsets: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    units: Ints
    k: int

    @property
    def prices(self) -> tuple[Ints, NDArray[np.int64], NDArray[np.uint8], Ints]:
        """What every kernel needs to price a set of tuples."""
        return self.places, self.offsets, self.kinds, self.units

    def distances(self, one: int) -> NDArray[np.int64]:
        """Return the price of a row of each tuple together with one."""
        total = np.zeros(len(self.codes), dtype=np.int64)
        for a in range(self.codes.shape[1]):
            column = self.codes[:, a]
            places = self.places[self.offsets[a] : self.offsets[a + 1]]
            if self.kinds[a] == Recoding.RANGE:
                total += np.minimum(np.abs(places[column] - places[column[one]]), self.units[a])
            elif self.kinds[a] == Recoding.TREE:
                own = int(column[one])
                right = np.maximum.accumulate(np.append(0, places[own:-1]))
                left = np.maximum.accumulate(np.append(0, places[:own][::-1]))[:0:-1]
                total += np.append(left, right)[column]
            else:
                total += np.where(column != column[one], 2 * int(self.units[a]), 0)
        return total


def prepare(encoded: Encoded, k: int, weights: Sequence[float] = ()) -> Problem:
    """Price the attributes; weights: one for each, all alike where none are given."""
    shares = np.array(weights or [1.0] * len(encoded.attributes))
    full = np.floor(FULL_PRICE * (shares / shares.sum())).astype(np.int64)
    priced = [_price(attribute, int(full[a])) for a, attribute in enumerate(encoded.attributes)]
    codes = [each.ranks[encoded.tuples[:, a]] for a, each in enumerate(priced)]
    dear = [each.mean_of_pairs(np.bincount(c, weights=encoded.counts)) for each, c in zip(priced, codes, strict=True)]
    order = sorted(range(len(dear)), key=lambda a: (-dear[a], a))
    return Problem(
        codes=np.column_stack([codes[a] for a in order]).astype(np.int32),
        counts=encoded.counts,
        places=np.concatenate([priced[a].places for a in order]),
        offsets=np.cumsum([0, *(len(priced[a].places) for a in order)], dtype=np.int64),
        kinds=np.array([priced[a].kind for a in order], dtype=np.uint8),
        units=np.array([priced[a].unit for a in order], dtype=np.int32),
        k=k,
    )


@dataclass(frozen=True)
class Priced:
    """An attribute and its prices. ranks: the code that each of its codes has in the search."""

    kind: Recoding
    places: Ints
    unit: int
    ranks: NDArray[np.int64]

    def mean_of_pairs(self, rows: NDArray[Any]) -> float:
        """Return about what two random rows cost together; rows: of each code."""
        if self.kind is Recoding.RANGE:
            below = np.cumsum(rows)[:-1] / rows.sum()
            return float((np.minimum(np.diff(self.places), self.unit) * below * (1 - below)).sum())
        unlike = 1 - float(((rows / rows.sum()) ** 2).sum())
        return unlike * (self.unit if self.kind is Recoding.SET else self.unit / 2)


def _price(attribute: Attribute, full: int) -> Priced:
    """Price an attribute whose whole costs this much."""
    n_codes = len(attribute.texts)
    ranks = np.arange(n_codes)
    if attribute.tree is not None:
        order = np.lexsort(attribute.tree.nodes)  # the leaves of each node side by side
        ranks[order] = np.arange(n_codes)
        pairs = np.column_stack([order[:-1], order[1:]]).ravel()
        above = attribute.tree.common(pairs, np.arange(0, len(pairs), 2))
        rises = np.floor(node_losses(attribute)[above] * full).astype(np.int32)
        return Priced(Recoding.TREE, np.append(rises, np.int32(0)), full, ranks)
    if attribute.ordered:
        return Priced(Recoding.RANGE, _places(attribute, full), full, ranks)
    return Priced(Recoding.SET, np.zeros(n_codes, dtype=np.int32), full // n_codes, ranks)


def _places(attribute: Attribute, full: int) -> Ints:
    """Return where each number lies in the range; a missing one so far out that any range to it costs the whole."""
    place = np.zeros(len(attribute.texts), dtype=np.int32)
    if attribute.ordered:
        n_known = attribute.missing if attribute.missing >= 0 else len(place)
        if attribute.span > 0:
            known = attribute.values[:n_known]
            place[:n_known] = np.floor((known - known[0]) / attribute.span * full)
        place[n_known:] = 2 * full
    return place


def node_losses(attribute: Attribute) -> NDArray[np.float64]:
    """Return the loss of a cell at each node of an attribute's tree.

    A number or date loses the range of the values below its node, the label's own ends being known to measures alone.
    """
    assert attribute.tree is not None
    sizes = attribute.tree.sizes
    if attribute.kind is Kind.CATEGORICAL or attribute.span <= 0:
        return np.where(sizes > 1, sizes / len(attribute.texts), 0.0)
    n_known = attribute.missing if attribute.missing >= 0 else len(attribute.texts)
    low, high = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
    for level in attribute.tree.nodes:
        np.minimum.at(low, level[:n_known], attribute.values[:n_known])
        np.maximum.at(high, level[:n_known], attribute.values[:n_known])
    losses = np.where(high > low, (high - low) / attribute.span, 0.0)
    losses[len(attribute.texts)] = 1.0  # the root
    return losses


def total_loss(encoded: Encoded, partition: Partition) -> float:
    """Return the NCP of all rows and attributes, with hierarchies as they are."""
    rows = np.bincount(partition.labels, minlength=partition.n_groups)
    losses = (_losses(a, cells)[cells.index] for a, cells in zip(encoded.attributes, partition.cells, strict=True))
    return float(sum((loss * rows).sum() for loss in losses))


def _losses(attribute: Attribute, cells: Cells) -> NDArray[np.float64]:
    """Return the loss of each distinct cell."""
    loss = np.where(cells.form == SUPPRESSED, 1.0, 0.0)
    if attribute.tree is not None:
        return np.where(cells.form == NODE, node_losses(attribute)[cells.low], loss)
    if attribute.ordered and attribute.span > 0:
        widths = attribute.values[cells.high] - attribute.values[cells.low]
        return np.where(cells.form == RANGE, widths / attribute.span, loss)
    return np.where(cells.form == SET, np.diff(cells.starts) / len(attribute.texts), loss)
