"""The narrowest group around one row: what the row would show if only its own cells mattered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.decode import cell_texts
from shoal.encoding.ends import release_ends
from shoal.encoding.partition import tight_partition
from shoal.metrics.research_value import read_labels
from shoal.schema import Schema

__all__ = ["Box", "Surroundings"]

SLACK = 1e-12  # losses that differ by less are equal

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Box:
    """A group that covers a row.

    Attributes:
        loss: The mean loss (NCP) of its cells.
        inside: For each tuple, whether the group covers it.
        size: The number of rows, or of people, that it covers.
    """

    loss: float
    inside: NDArray[np.bool_]
    size: int


class Side(Protocol):
    """One attribute of a growing group."""

    def losses_with(self) -> Floats:
        """Return the loss of the cell if each tuple were added."""

    def add(self, at: int) -> None:
        """Add a tuple."""


@dataclass
class _Range:
    """The range of a number or date; missing and other values together make the cell "*"."""

    values: Floats
    missing: NDArray[np.bool_]
    span: float
    low: float
    high: float
    has_known: bool
    has_missing: bool

    @classmethod
    def around(cls, attribute: Attribute, codes: Ints, at: int) -> _Range:
        values, missing = attribute.values[codes], codes == attribute.missing
        is_missing = bool(missing[at])
        low = np.inf if is_missing else float(values[at])
        return cls(values, missing, attribute.span, low, -low if is_missing else low, not is_missing, is_missing)

    def losses_with(self) -> Floats:
        """Return the loss of the cell if each tuple were added."""
        low, high = np.minimum(self.values, self.low), np.maximum(self.values, self.high)
        widths = (high - low) / self.span if self.span > 0 else np.zeros(len(self.values))
        if self.has_known and self.has_missing:
            return np.ones(len(self.values))
        return np.where(self.missing, float(self.has_known), 1.0 if self.has_missing else widths)

    def add(self, at: int) -> None:
        """Add a tuple."""
        self.has_known, self.has_missing = self.has_known or not self.missing[at], self.has_missing or self.missing[at]
        if not self.missing[at]:
            self.low, self.high = min(self.low, float(self.values[at])), max(self.high, float(self.values[at]))


@dataclass
class _Set:
    """The set of the values of a category."""

    codes: Ints
    members: NDArray[np.bool_]

    @classmethod
    def around(cls, attribute: Attribute, codes: Ints, at: int) -> _Set:
        members = np.zeros(len(attribute.texts), dtype=bool)
        members[codes[at]] = True
        return cls(codes, members)

    def losses_with(self) -> Floats:
        """Return the loss of the cell if each tuple were added."""
        sizes = int(self.members.sum()) + ~self.members[self.codes]
        return np.where(sizes > 1, sizes / len(self.members), 0.0)

    def add(self, at: int) -> None:
        """Add a tuple."""
        self.members[self.codes[at]] = True


@dataclass
class _Node:
    """The lowest node of a hierarchy above the values."""

    levels: Ints  # of each tuple, the lowest on which it has the node of the row
    losses: Floats  # of the row's node on each level
    level: int = 0

    @classmethod
    def around(cls, attribute: Attribute, codes: Ints, at: int, losses: Floats) -> _Node:
        assert attribute.tree is not None
        nodes = attribute.tree.nodes
        own = nodes[:, codes[at]]
        same = nodes[:, codes] == own[:, None]
        return cls(np.argmax(same, axis=0), losses[own])

    def losses_with(self) -> Floats:
        """Return the loss of the cell if each tuple were added."""
        losses: Floats = self.losses[np.maximum(self.levels, self.level)]
        return losses

    def add(self, at: int) -> None:
        """Add a tuple."""
        self.level = max(self.level, int(self.levels[at]))


@dataclass(frozen=True)
class Surroundings:
    """A table around one of its rows.

    Attributes:
        encoded: The table as codes.
        schema: Its columns.
        at: The tuple of the row.
    """

    encoded: Encoded
    schema: Schema
    at: int

    @cached_property
    def _tuple_of_row(self) -> Ints:
        return self.encoded.row_tuple.astype(np.int64)

    def count(self, inside: NDArray[np.bool_]) -> int:
        """Count the rows, or the people, of some tuples."""
        if self.encoded.people is None:
            return int(self.encoded.counts[inside].sum())
        return len(np.unique(self.encoded.people[inside[self._tuple_of_row]]))

    def distances(self) -> Floats:
        """Return the mean loss of a group of the row and each tuple."""
        means: Floats = np.mean([side.losses_with() for side in self._sides()], axis=0)
        return means

    def narrowest(self, size: int, without: int | None = None) -> Box | None:
        """Return a narrow group of at least this size around the row; None if the table is smaller.

        In each step the group takes in the tuple that costs it least, and with it all that the wider cells cover. This
        need not be the narrowest group there is.

        Args:
            size: The number of rows, or of people.
            without: An attribute that does not count.
        """
        sides = [side for a, side in enumerate(self._sides()) if a != without]
        if not sides or self.count(np.ones(len(self.encoded.tuples), dtype=bool)) < size:
            return None
        while True:
            total = np.sum([side.losses_with() for side in sides], axis=0)
            inside = total <= total[self.at] + SLACK
            count = self.count(inside)
            if count >= size:
                return Box(float(total[self.at]) / len(sides), inside, count)
            chosen = int(np.argmin(np.where(inside, np.inf, total)))
            for side in sides:
                side.add(chosen)

    def texts(self, inside: NDArray[np.bool_]) -> list[str]:
        """Return the cells of a group of tuples, with exact ends."""
        labels = np.where(inside[self.encoded.row_tuple], 0, -1).astype(np.int32)
        partition = tight_partition(self.encoded, labels)
        ends = release_ends(self.encoded, partition, self.schema)
        parts = zip(self.encoded.attributes, partition.cells, ends, strict=True)
        return [cell_texts(attribute, cells, each)[cells.index[0]] for attribute, cells, each in parts]

    def _sides(self) -> list[Side]:
        return [self._side(attribute, a) for a, attribute in enumerate(self.encoded.attributes)]

    def _side(self, attribute: Attribute, a: int) -> Side:
        codes = self.encoded.tuples[:, a].astype(np.int64)
        if attribute.tree is not None:
            return _Node.around(attribute, codes, self.at, self._label_losses[a])
        return (_Range if attribute.ordered else _Set).around(attribute, codes, self.at)

    @cached_property
    def _label_losses(self) -> dict[int, Floats]:
        trees = {a: each for a, each in enumerate(self.encoded.attributes) if each.tree is not None}
        return {a: read_labels(attribute).losses for a, attribute in trees.items()}
