"""The levels of each attribute, and the sets that a vector of levels gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.errors import UsageError
from shoal.methods.full_domain.frequency import FrequencySet
from shoal.metrics.label_figures import LabelFigures, read_labels

__all__ = ["Ladder", "Sets", "Vector", "ladders", "level_limits"]

# A place on each ladder; 0 is the most specific place that is left.
Vector = tuple[int, ...]
# What is kept for further roll-ups: so many sets, with so many rows in all, each so much smaller than its source.
KEPT_SETS = 512
KEPT_ROWS = 4_000_000
WORTH_KEEPING = 0.8

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Ladder:
    """The levels of one attribute that a search may use, from the most specific up.

    maps: for each level, the group of each code, without gaps. nodes: for each level, the node of the attribute's tree
    (level 0: the code) behind each group; -1 where the level is "*" without a tree. first: the level in the hierarchy
    of the first level here; what users see counts from the hierarchy's own level 0. height: of the whole hierarchy.
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
        """Number of levels that a search may use."""
        return len(self.maps)

    @cached_property
    def figures(self) -> LabelFigures:
        """What the labels of the hierarchy cover."""
        return read_labels(self.attribute)

    def n_groups(self, place: int) -> int:
        """Return the number of groups on a level; one past the last level is one group."""
        return len(self.nodes[place]) if place < self.n_levels else 1

    def trimmed(self, low: int, high: int) -> Ladder:
        """Return the levels from low to high, both as the hierarchy counts them."""
        begin, end = low - self.first, high - self.first + 1
        return Ladder(self.attribute, self.maps[begin:end], self.nodes[begin:end], low, self.height)

    def step(self, place: int, other: int) -> Ints:
        """Return the group on a higher level of each group on a lower one; one past the last level is one group."""
        above = np.zeros(len(self.nodes[place]), dtype=np.int32)
        if other < self.n_levels:
            above[self.maps[place]] = self.maps[other]
        return above


def ladders(
    attributes: Sequence[Attribute],
    minimum: Mapping[str, int] | None = None,
    maximum: Mapping[str, int] | None = None,
) -> tuple[Ladder, ...]:
    """Return the ladders of attributes; one without hierarchy has two levels, the value and "*"."""
    made = []
    for attribute in attributes:
        codes = np.arange(len(attribute.texts), dtype=np.int32)
        table = [codes, np.full(len(codes), -1, dtype=np.int32)] if attribute.tree is None else attribute.tree.nodes
        nodes, maps = zip(*(np.unique(level, return_inverse=True) for level in table), strict=True)
        height = len(maps) - 1
        whole = Ladder(attribute, tuple(m.astype(np.int32) for m in maps), nodes, 0, height)
        low, high = (minimum or {}).get(attribute.name, 0), (maximum or {}).get(attribute.name, height)
        if not 0 <= low <= high <= height:
            raise UsageError(
                f"levels of {attribute.name!r}: from {low} to {high} is not possible. It has the levels 0 (the value) "
                f"to {height} ('*')."
            )
        made.append(whole.trimmed(low, high))
    known = {attribute.name for attribute in attributes}
    strange = sorted({*(minimum or {}), *(maximum or {})} - known)
    if strange:
        raise UsageError(f"levels of {strange[0]!r}: not a quasi-identifier. They are: {', '.join(map(repr, known))}.")
    return tuple(made)


def level_limits(given: Mapping[str, int] | str, option: str) -> dict[str, int]:
    """Read levels by attribute: a mapping, or a text such as age=1,zip=2 (a colon does in place of =).

    >>> level_limits("age=1,zip:2", "minimum")
    {'age': 1, 'zip': 2}
    """
    if isinstance(given, str):
        pairs = [part.replace(":", "=").rpartition("=") for part in given.split(",") if part.strip()]
        given = {name.strip(): level for name, _, level in pairs}  # type: ignore[misc]
    try:
        return {str(name): int(level) for name, level in given.items()}
    except (TypeError, ValueError):
        raise UsageError(f"{option} levels: write name=level for each attribute, as in age=1,zip=2.") from None


class Sets:
    """The frequency sets of level vectors, each rolled up from the smallest one known that is not coarser.

    A vector may hold, for any attribute, the place one past its last level: the attribute is then left out.
    """

    def __init__(self, finest: FrequencySet, ladders: Sequence[Ladder], *, at_bottom: bool = False) -> None:
        """finest: over the codes or, at_bottom, over the groups of the lowest level of each ladder."""
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

    def at(self, vector: Vector) -> FrequencySet:
        """Return the set of a vector."""
        wanted = np.array(vector, dtype=np.int16)
        below = np.flatnonzero((self._vectors[: len(self._sets)] <= wanted).all(axis=1))
        best = int(below[np.argmin(self._lengths[below])])
        source = self._vectors[best].tolist()
        if tuple(source) == vector:
            return self._sets[best]
        maps = [None if a == b else self._step(i, a, b) for i, (a, b) in enumerate(zip(source, vector, strict=True))]
        cards = [ladder.n_groups(place) for ladder, place in zip(self.ladders, vector, strict=True)]
        made = self._sets[best].rolled(maps, cards)
        if len(made.counts) <= WORTH_KEEPING * self._lengths[best]:
            self._keep(wanted, made)
        return made

    def _step(self, attribute: int, place: int, other: int) -> Ints:
        key = attribute, place, other
        if key not in self._steps:
            self._steps[key] = self.ladders[attribute].step(place, other)
        return self._steps[key]

    def _keep(self, vector: NDArray[np.int16], made: FrequencySet) -> None:
        """Keep a set for further roll-ups; where there are too many, the older half goes, but never the first."""
        held = len(self._sets)
        if held == KEPT_SETS or self._lengths[1:held].sum() + len(made.counts) > max(KEPT_ROWS, self._lengths[0]):
            stays = [0, *range(1 + (held + 1) // 2, held)]
            self._sets = [self._sets[i] for i in stays]
            held = len(stays)
            self._lengths[:held] = self._lengths[stays]
            self._vectors[:held] = self._vectors[stays]
        self._sets.append(made)
        self._lengths[held] = len(made.counts)
        self._vectors[held] = vector
