"""The levels of each attribute, and the frequency sets of level vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.errors import UsageError
from shoal.methods.full_domain.frequency import Counted, FrequencySet
from shoal.metrics.research_value import LabelFigures, levels_of, read_labels
from shoal.tables.sources.base import GroupCounter, Grouping

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CountedTable", "Ladder", "QuerySets", "Sets", "Vector", "ladders", "level_limits"]

# A place on each ladder; 0 is the most specific level that the search may use.
Vector = tuple[int, ...]
# Roll-up cache: maximum sets, maximum total rows, maximum size relative to the source.
KEPT_SETS = 512
KEPT_ROWS = 4_000_000
WORTH_KEEPING = 0.8

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Ladder:
    """The levels of one attribute that a search may use, most specific first.

    Attributes:
        attribute: The attribute.
        maps: For each level, the group of each code; groups are numbered without gaps.
        nodes: For each level, the node of the attribute's tree (level 0: the code) of each group; -1 for "*" without a
            tree.
        first: The number of the first level in the hierarchy, which counts from 0.
        height: The height of the hierarchy.
    """

    attribute: Attribute
    maps: tuple[Ints, ...]
    nodes: tuple[Ints, ...]
    first: int
    height: int

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.attribute.name

    @property
    def n_levels(self) -> int:
        """The number of levels that a search may use."""
        return len(self.maps)

    @cached_property
    def figures(self) -> LabelFigures:
        """What the labels of the hierarchy cover."""
        return read_labels(self.attribute)

    def n_groups(self, place: int) -> int:
        """Return the number of groups at a level; the place after the last level has one group."""
        return len(self.nodes[place]) if place < self.n_levels else 1

    def trimmed(self, low: int, high: int) -> Ladder:
        """Return the levels from low to high, both as the hierarchy numbers them."""
        begin, end = low - self.first, high - self.first + 1
        return Ladder(self.attribute, self.maps[begin:end], self.nodes[begin:end], low, self.height)

    def step(self, place: int, other: int) -> Ints:
        """Return the group at a higher level of each group at a lower one; after the last level all are one group."""
        above = np.zeros(len(self.nodes[place]), dtype=np.int32)
        if other < self.n_levels:
            above[self.maps[place]] = self.maps[other]
        return above


def ladders(
    attributes: Sequence[Attribute],
    minimum: Mapping[str, int] | None = None,
    maximum: Mapping[str, int] | None = None,
) -> tuple[Ladder, ...]:
    """Return the levels of each attribute; without a hierarchy these are the value and "*".

    Args:
        attributes: The attributes.
        minimum: The lowest level by name.
        maximum: The highest level by name.

    Raises:
        UsageError: A level does not exist, or a name is not a quasi-identifier.
    """
    built = []
    for attribute in attributes:
        levels = levels_of(attribute)
        height = len(levels) - 1
        maps, nodes = tuple(level.groups for level in levels), tuple(level.nodes for level in levels)
        ladder = Ladder(attribute, maps, nodes, 0, height)
        low, high = (minimum or {}).get(attribute.name, 0), (maximum or {}).get(attribute.name, height)
        if not 0 <= low <= high <= height:
            raise UsageError(
                f"levels of {attribute.name!r}: from {low} to {high} is not possible. Its levels are 0 (the value) to "
                f"{height} ('*')."
            )
        built.append(ladder.trimmed(low, high))
    names = [attribute.name for attribute in attributes]
    unknown_names = sorted({*(minimum or {}), *(maximum or {})} - set(names))
    if unknown_names:
        listed = ", ".join(map(repr, names))
        raise UsageError(f"levels of {unknown_names[0]!r}: not a quasi-identifier. Quasi-identifiers: {listed}.")
    return tuple(built)


def level_limits(limits: Mapping[str, int] | str, option: str) -> dict[str, int]:
    """Read levels by attribute.

    Args:
        limits: A mapping, or a text such as age=1,zip=2 (a colon works like =).
        option: The name of the option, for the message.

    Raises:
        UsageError: The levels cannot be read.

    >>> level_limits("age=1,zip:2", "minimum")
    {'age': 1, 'zip': 2}
    """
    if isinstance(limits, str):
        pairs = [part.replace(":", "=").rpartition("=") for part in limits.split(",") if part.strip()]
        limits = {name.strip(): level for name, _, level in pairs}  # type: ignore[misc]
    try:
        return {str(name): int(level) for name, level in limits.items()}
    except (TypeError, ValueError):
        raise UsageError(f"{option} levels: write name=level for each attribute, as in age=1,zip=2.") from None


class Sets:
    """The frequency sets of level vectors, each rolled up from the smallest known set that is not coarser.

    The place after the last level of an attribute leaves the attribute out.
    """

    def __init__(self, finest: FrequencySet, ladders: Sequence[Ladder], *, at_bottom: bool = False) -> None:
        """Start from the finest set: over the codes or, if at_bottom, over the groups of the lowest levels."""
        self.ladders = tuple(ladders)
        self.n_rows = finest.n_rows
        self._steps: dict[tuple[int, int, int], Ints] = {}
        raised = [ladder.maps[0] if ladder.first and not at_bottom else None for ladder in self.ladders]
        self._sets = [finest.rolled(raised)]
        self._lengths = np.zeros(KEPT_SETS, dtype=np.int64)
        self._lengths[0] = len(self._sets[0].counts)
        self._vectors = np.zeros((KEPT_SETS, len(self.ladders)), dtype=np.int16)

    @property
    def absent(self) -> Vector:
        """The vector that leaves every attribute out."""
        return tuple(ladder.n_levels for ladder in self.ladders)

    def narrowed(self, bottom: Vector, ladders: Sequence[Ladder]) -> Sets:
        """Return the sets of other ladders that begin at a vector."""
        return Sets(self.at(bottom), ladders, at_bottom=True)

    def rows_below(self, vector: Vector, least: int) -> int | None:
        """Return the rows in groups of fewer than `least` rows; None if that takes as long as the set itself."""
        return None

    def at(self, vector: Vector) -> FrequencySet:
        """Return the set of a vector."""
        target = np.array(vector, dtype=np.int16)
        below = np.flatnonzero((self._vectors[: len(self._sets)] <= target).all(axis=1))
        best = int(below[np.argmin(self._lengths[below])])
        source = self._vectors[best].tolist()
        if tuple(source) == vector:
            return self._sets[best]
        maps = [None if a == b else self._step(i, a, b) for i, (a, b) in enumerate(zip(source, vector, strict=True))]
        cards = [ladder.n_groups(place) for ladder, place in zip(self.ladders, vector, strict=True)]
        rolled = self._sets[best].rolled(maps, cards)
        if len(rolled.counts) <= WORTH_KEEPING * self._lengths[best]:
            self._keep(target, rolled)
        return rolled

    def _step(self, attribute: int, place: int, other: int) -> Ints:
        key = attribute, place, other
        if key not in self._steps:
            self._steps[key] = self.ladders[attribute].step(place, other)
        return self._steps[key]

    def _keep(self, vector: NDArray[np.int16], frequencies: FrequencySet) -> None:
        """Cache a set for further roll-ups; if the cache is full, drop the older half except the first set."""
        n_sets = len(self._sets)
        if n_sets == KEPT_SETS or self._lengths[1:n_sets].sum() + len(frequencies.counts) > max(
            KEPT_ROWS, self._lengths[0]
        ):
            stays = [0, *range(1 + (n_sets + 1) // 2, n_sets)]
            self._sets = [self._sets[i] for i in stays]
            n_sets = len(stays)
            self._lengths[:n_sets] = self._lengths[stays]
            self._vectors[:n_sets] = self._vectors[stays]
        self._sets.append(frequencies)
        self._lengths[n_sets] = len(frequencies.counts)
        self._vectors[n_sets] = vector


@dataclass(frozen=True)
class CountedTable:
    """A table that can be counted where it lies.

    Attributes:
        counter: What counts it.
        frame: Its distinct rows as text.
    """

    counter: GroupCounter
    frame: pl.DataFrame

    def codes(self, encoded: Encoded, counted: Counted) -> list[tuple[str, dict[str, int]]]:
        """Return the code of each cell, by quasi-identifier and by the sensitive columns that models count."""
        tuples = encoded.tuples[encoded.row_tuple]
        columns = [(attribute.name, tuples[:, i]) for i, attribute in enumerate(encoded.attributes)]
        columns += [
            (each.name, each.codes) for name in counted.sensitive for each in encoded.sensitive if each.name == name
        ]
        order = encoded.order.tolist()
        return [(name, dict(zip(self.frame[name][order].to_list(), of.tolist(), strict=True))) for name, of in columns]


class QuerySets(Sets):
    """The frequency sets of level vectors, each counted by a query of its own where the table lies.

    This is how Morton's thesis tests a generalisation string: the levels are columns of the table, and one statement
    groups by one column for each attribute. A test that needs only the sizes of groups fetches a single number.
    """

    def __init__(
        self,
        finest: FrequencySet,
        ladders: Sequence[Ladder],
        counter: GroupCounter,
        codes: Sequence[tuple[str, Mapping[str, int]]],
        groupings: dict[tuple[int, bytes], Grouping] | None = None,
    ) -> None:
        """Describe the sets.

        Args:
            finest: The finest set; only the names of its columns and its number of rows are used.
            ladders: The levels of each quasi-identifier.
            counter: What counts the table.
            codes: By column of the finest set, the code of each cell.
            groupings: Groupings that the counter is prepared for; None prepares it for these ladders.
        """
        self.ladders = tuple(ladders)
        self.n_rows = finest.n_rows
        self._finest = finest
        self._counter = counter
        self._codes = codes
        if groupings is None:
            groupings = self._all_groupings()
            counter.prepare_groups(list(groupings.values()))
        self._groupings = groupings

    def narrowed(self, bottom: Vector, ladders: Sequence[Ladder]) -> Sets:
        """Return the sets of other ladders; levels that the counter is not prepared for prepare it anew."""
        maps = [(i, groups.tobytes()) for i, ladder in enumerate(ladders) for groups in ladder.maps if groups.any()]
        known = self._groupings if all(key in self._groupings for key in maps) else None
        return QuerySets(self._finest, ladders, self._counter, self._codes, known)

    def at(self, vector: Vector) -> FrequencySet:
        """Count the set of a vector."""
        places, groupings = self._asked(vector)
        extra = list(range(self._finest.n_qi, len(self._codes)))
        groupings += [self._groupings[i, b""] for i in extra]
        found, counts = self._counter.count_groups(groupings)
        codes = np.zeros((len(counts), len(self._codes)), dtype=np.int32)
        codes[:, [*places, *extra]] = found
        cards = [ladder.n_groups(place) for ladder, place in zip(self.ladders, vector, strict=True)]
        cards += self._finest.cards[self._finest.n_qi :]
        return FrequencySet.counted(self._finest.columns, self._finest.n_qi, cards, codes, counts)

    def rows_below(self, vector: Vector, least: int) -> int:
        """Return the rows in groups of fewer than `least` rows."""
        return self._counter.rows_below(self._asked(vector)[1], least)

    def _asked(self, vector: Vector) -> tuple[list[int], list[Grouping]]:
        """Return the attributes that split the table at a vector, and their groupings."""
        levels = zip(self.ladders, vector, strict=True)
        places = [i for i, (ladder, place) in enumerate(levels) if ladder.n_groups(place) > 1]
        return places, [self._groupings[i, self.ladders[i].maps[vector[i]].tobytes()] for i in places]

    def _all_groupings(self) -> dict[tuple[int, bytes], Grouping]:
        groupings = {}
        for i, (name, codes) in enumerate(self._codes):
            if i >= self._finest.n_qi:
                groupings[i, b""] = Grouping(name, codes)
                continue
            for groups in self.ladders[i].maps:
                groupings[i, groups.tobytes()] = Grouping(
                    name, {cell: int(groups[code]) for cell, code in codes.items()}
                )
        return groupings
