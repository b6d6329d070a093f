"""What every method returns: groups of rows, and what each group shows of each attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
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
    "Entries",
    "Partition",
    "cell_losses",
    "counted_again",
    "deal_rows",
    "node_losses",
    "one_by_one",
    "recode",
    "split_counts",
    "suppress_cells",
    "tight_partition",
]

# The forms of a released cell.
VALUE, RANGE, SET, SUPPRESSED, NODE = range(5)
SUPPRESSION = "*"  # the text of a suppressed cell


@dataclass(frozen=True)
class Cells:
    """The distinct released cells of one attribute, and which of them each group shows.

    Attributes:
        index: For each group, its cell. All other arrays have one element for each distinct cell.
        form: VALUE, RANGE, SET, SUPPRESSED or NODE.
        low: The code at the lower end of a range, the code of a value, or the node of the attribute's tree.
        high: The code at the upper end of a range.
        starts: Where the codes of a set begin in `members`, and one more at the end.
        members: The codes of all sets.
    """

    index: NDArray[np.int32]
    form: NDArray[np.int8]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]


@dataclass(frozen=True)
class Entries:
    """Rows of tuples in groups: the currency between methods, models and measures.

    Entries are sorted by tuple. The canonical rows of a tuple are dealt to its entries in order, so entries say for
    each row where it goes, whatever the method.

    Attributes:
        tuples: The tuple of each entry.
        rows: The number of its rows.
        groups: Its group, -1 if its rows are suppressed.
    """

    tuples: NDArray[np.int32]
    rows: NDArray[np.int64]
    groups: NDArray[np.int32]

    @classmethod
    def of_rows(cls, encoded: Encoded, labels: NDArray[np.int32]) -> Entries:
        """Return the entries of groups of rows; labels: the group of each canonical row, -1 if it is suppressed."""
        row_tuple = encoded.row_tuple
        begins = np.ones(len(labels), dtype=bool)
        begins[1:] = (row_tuple[1:] != row_tuple[:-1]) | (labels[1:] != labels[:-1])
        starts = np.flatnonzero(begins)
        weights = encoded.weights
        rows = np.diff(starts, append=len(labels)) if weights is None else np.add.reduceat(weights, starts)
        return cls(row_tuple[starts], rows.astype(np.int64), labels[starts])

    @classmethod
    def of_tuples(cls, encoded: Encoded, groups: NDArray[np.int32]) -> Entries:
        """Return the entries of groups of tuples; groups: that of each tuple, -1 if its rows are suppressed."""
        return cls(np.arange(len(groups), dtype=np.int32), encoded.counts, groups)

    def sizes(self, n_groups: int = 0) -> NDArray[np.int64]:
        """Return the number of rows of each group; there are at least `n_groups`."""
        kept = self.groups >= 0
        return np.bincount(self.groups[kept], weights=self.rows[kept], minlength=n_groups).astype(np.int64)

    def labels(self, weights: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        """Return the group of each canonical row.

        Args:
            weights: The number of source rows behind each canonical row of a counted table; by default one.
        """
        return deal_rows(self.rows, self.groups, weights)


@dataclass(frozen=True)
class Partition:
    """What a method returns: groups of rows, and what each group shows of each attribute.

    Attributes:
        entries: The rows of tuples in groups.
        cells: The released cells of each attribute.
        levels: The level of each attribute by name, for a full-domain release.
        facts: What else the search found, for JSON.
        weights: The number of source rows behind each canonical row, if the table was counted by a database.
    """

    entries: Entries
    cells: tuple[Cells, ...]
    levels: Mapping[str, int] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    weights: NDArray[np.int64] | None = field(default=None, repr=False)

    @classmethod
    def of_rows(
        cls,
        encoded: Encoded,
        labels: NDArray[np.int32],
        cells: tuple[Cells, ...],
        levels: Mapping[str, int] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Partition:
        """Return a partition from the group of each canonical row, -1 if it is suppressed."""
        return cls(Entries.of_rows(encoded, labels), cells, levels, facts or {}, encoded.weights)

    @classmethod
    def of_tuples(
        cls,
        encoded: Encoded,
        groups: NDArray[np.int32],
        cells: tuple[Cells, ...],
        levels: Mapping[str, int] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Partition:
        """Return a partition from the group of each tuple, -1 if its rows are suppressed."""
        return cls(Entries.of_tuples(encoded, groups), cells, levels, facts or {}, encoded.weights)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.cells[0].index)

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The group of each canonical row, -1 if the row is suppressed: a view of the entries."""
        return self.entries.labels(self.weights)


def deal_rows(
    rows: NDArray[np.int64], groups: NDArray[np.int32], weights: NDArray[np.int64] | None = None
) -> NDArray[np.int32]:
    """Deal consecutive rows to entries; return the group of each row.

    Args:
        rows: The number of source rows of each entry, in order.
        groups: The group of each entry.
        weights: The number of source rows behind each row; by default one.
    """
    if weights is None:
        return np.repeat(groups, rows)
    ends = np.cumsum(rows)
    row_ends = np.cumsum(weights)
    if not _are_among(ends, row_ends):
        raise InternalError("an entry ends inside a row that was counted several times.")
    return groups[np.searchsorted(ends, row_ends)]


def _are_among(ends: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    """Say whether ascending numbers occur among others, which are ascending and end no earlier."""
    return bool((others[np.searchsorted(others, ends)] == ends).all())


def split_counts(encoded: Encoded, partition: Partition) -> tuple[Encoded, Partition]:
    """Split the canonical rows of a counted table where entries end, so that each row belongs to one group."""
    if encoded.weights is None:
        return encoded, partition
    row_ends, entry_ends = np.cumsum(encoded.weights), np.cumsum(partition.entries.rows)
    if _are_among(entry_ends, row_ends):
        return encoded, partition
    ends = np.union1d(row_ends, entry_ends)
    rows, weights = np.searchsorted(row_ends, ends), np.diff(ends, prepend=0)
    return _take(encoded, rows, weights), replace(partition, weights=weights)


def _take(encoded: Encoded, rows: NDArray[np.int64], weights: NDArray[np.int64] | None) -> Encoded:
    """Return a table of some canonical rows, also several times the same, with weights of their own."""
    return replace(
        encoded,
        row_tuple=encoded.row_tuple[rows],
        order=encoded.order[rows],
        weights=weights,
        people=None if encoded.people is None else encoded.people[rows],
        sensitive=tuple(replace(column, codes=column.codes[rows]) for column in encoded.sensitive),
        personal_k=None if encoded.personal_k is None else encoded.personal_k[rows],
    )


def one_by_one(encoded: Encoded) -> Encoded:
    """Return the rows of a counted table one by one, for searches that tell the rows of a tuple apart."""
    if encoded.weights is None:
        return encoded
    return _take(encoded, np.repeat(np.arange(len(encoded.order)), encoded.weights), None)


def counted_again(counted: Encoded, partition: Partition) -> tuple[Encoded, Partition]:
    """Return a counted table and a partition of its single rows, both with the rows of a group counted together.

    Args:
        counted: The counted table.
        partition: A partition of `one_by_one(counted)`.
    """
    assert counted.weights is not None
    rows, labels = np.repeat(np.arange(len(counted.order)), counted.weights), partition.labels
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = (rows[1:] != rows[:-1]) | (labels[1:] != labels[:-1])
    starts = np.flatnonzero(begins)
    weights, rows, labels = np.diff(starts, append=len(begins)).astype(np.int64), rows[starts], labels[starts]
    split = _take(counted, rows, weights)
    return split, replace(partition, entries=Entries(split.row_tuple, weights, labels), weights=weights)


def tight_partition(encoded: Encoded, groups: Entries | NDArray[np.int32]) -> Partition:
    """Generalise each group to its own values: the range from the least to the greatest, or the set that occurs.

    Args:
        encoded: The table as codes.
        groups: Entries, or the group of each canonical row (-1 if it is suppressed). Every group from 0 on must have a
            row.
    """
    entries = groups if isinstance(groups, Entries) else Entries.of_rows(encoded, groups)
    kept = entries.groups >= 0
    tuples, labels = entries.tuples[kept], entries.groups[kept]
    n_groups = int(labels.max(initial=-1)) + 1
    cells = (
        recode(attribute, encoded.tuples[tuples, i], labels, n_groups) for i, attribute in enumerate(encoded.attributes)
    )
    return Partition(entries, tuple(cells), weights=encoded.weights)


def distinct_members(encoded: Encoded, labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the pairs (tuple, group) that occur; labels: the group of each canonical row. Some pairs may repeat."""
    entries = Entries.of_rows(encoded, labels)
    kept = entries.groups >= 0
    return entries.tuples[kept], entries.groups[kept]


def recode(attribute: Attribute, codes: NDArray[np.int32], regions: NDArray[np.int32], n_regions: int) -> Cells:
    """Return the smallest range or set that covers each region.

    With a hierarchy it is the lowest node above the values of the region. If a region of a number or date contains
    missing and other values, its cell is suppressed.

    Args:
        attribute: The attribute.
        codes: Codes that occur.
        regions: The region of each of them.
        n_regions: The number of regions; each contains a code.
    """
    card = len(attribute.texts)
    keys = np.sort(regions.astype(np.int64) * card + codes)  # faster than np.unique, which hashes
    owner, code = np.divmod(keys[np.diff(keys, prepend=-1) != 0], card)
    starts = np.append(0, np.cumsum(np.bincount(owner, minlength=n_regions)))
    low, high, sizes = code[starts[:-1]], code[starts[1:] - 1], np.diff(starts)
    signature = low * card + high  # differs for all cells except sets
    if attribute.tree is not None:
        low = high = attribute.tree.common(code, starts[:-1])
        signature = low
        form = np.where(sizes == 1, VALUE, NODE)
    elif attribute.ordered:
        signature[(sizes > 1) & (high == attribute.missing)] = -1
        form = np.where(sizes == 1, VALUE, np.where(signature < 0, SUPPRESSED, RANGE))
    else:
        form = np.where(sizes == 1, VALUE, SET)
        sets = np.flatnonzero(form == SET)
        signature[sets] = card * card + _number_sets(code, starts, sets, card)
    first, index = _number(signature)
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


def _number(signatures: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number distinct signatures, -1 or more, in ascending order; return the first index of each, and each number."""
    most = int(signatures.max(initial=-1)) + 2
    if most > 4 * len(signatures):
        _, firsts, index = np.unique(signatures, return_index=True, return_inverse=True)
        return firsts, index
    first = np.full(most, -1)  # a table is quicker than a sort
    first[signatures[::-1] + 1] = np.arange(len(signatures) - 1, -1, -1)
    known = first >= 0
    return first[known], (np.cumsum(known) - 1)[signatures + 1]


def _number_sets(
    codes: NDArray[np.int64], starts: NDArray[np.int64], regions: NDArray[np.int64], card: int
) -> NDArray[np.int64]:
    """Number the sets of codes of some regions: equal sets have equal numbers, which ascend with the first region.

    Args:
        codes: The codes of each region, region after region, ascending.
        starts: Where the codes of each region begin, and one more at the end.
        regions: The regions.
        card: The number of possible codes.
    """
    if card < 64 and len(regions):
        masks = np.bitwise_or.reduceat(np.int64(1) << codes, starts[:-1])[regions]
        _, first, index = np.unique(masks, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[index]
    numbers: dict[bytes, int] = {}
    ends = zip(starts[regions].tolist(), starts[regions + 1].tolist(), strict=True)
    return np.array([numbers.setdefault(codes[a:b].tobytes(), len(numbers)) for a, b in ends], dtype=np.int64)


def node_losses(attribute: Attribute) -> NDArray[np.float64]:
    """Return the loss of a cell at each node of an attribute's tree.

    The loss of a number or date is the range of the values below its node; only measures know the ends of its label.
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
    """Return the cells of one attribute with those of some groups suppressed; hidden: whether, for each group."""
    if not hidden.any():
        return cells
    distinct, index = np.unique(np.where(hidden, len(cells.form), cells.index), return_inverse=True)
    kept = distinct[:-1]  # the last one is the suppressed cell
    sets = [cells.members[cells.starts[cell] : cells.starts[cell + 1]] for cell in kept.tolist()]
    return Cells(
        index=index.astype(np.int32),
        form=np.append(cells.form[kept], np.int8(SUPPRESSED)).astype(np.int8),
        low=np.append(cells.low[kept], 0).astype(np.int32),
        high=np.append(cells.high[kept], 0).astype(np.int32),
        starts=np.cumsum([0, *map(len, sets), 0]).astype(np.int64),
        members=np.concatenate([*sets, np.empty(0, dtype=np.int32)]).astype(np.int32),
    )
