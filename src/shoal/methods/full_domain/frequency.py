"""Frequency sets: distinct rows of codes with their counts, and the engines that count the finest set.

Five rules hold for every engine (memory, DuckDB, PostgreSQL, Spark):

1. One query counts the finest set: `select <columns>, count(*) ... group by <columns>`. There is no other query.
2. The columns are the quasi-identifiers in the order of the schema, then what the models count: sensitive columns in
   the requested order, then the personal k, then the person.
3. Codes are those of `Encoded`: for a quasi-identifier the index in `Attribute.texts` (by value; categories by text; a
   missing number or date last), for a sensitive column the code of `Sensitive`, assigned in the same way. The code of a
   personal k is that k, 0 for none; the code of a person is its index among all people.
4. Rows are distinct and sorted by code, first column first; counts have 64 bits. So all engines return equal arrays.
5. Coarser sets are computed by `rolled`, never from the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.sensitive import Sensitive
from shoal.tables.sorting import pack, sort_keys, starts_of_runs

__all__ = ["NOTHING", "Counted", "FrequencyEngine", "FrequencySet", "LevelMap", "MemoryEngine"]

# The new code of each code of a column; None leaves the column unchanged.
LevelMap = NDArray[np.int32] | None
# Keys below this fit into signed 64-bit integers.
KEY_LIMIT = 2**62


@dataclass(frozen=True)
class FrequencySet:
    """Distinct rows of codes, sorted, with the number of table rows of each.

    Attributes:
        columns: The names; the first n_qi are quasi-identifiers, models count the others.
        n_qi: The number of quasi-identifiers.
        cards: The codes of column i are 0 .. cards[i] - 1.
        codes: The distinct rows, m x columns in C order.
        counts: The number of table rows of each.
    """

    columns: tuple[str, ...]
    n_qi: int
    cards: tuple[int, ...]
    codes: NDArray[np.int32]  # m x columns, C order
    counts: NDArray[np.int64]  # m

    @classmethod
    def counted(
        cls,
        columns: Sequence[str],
        n_qi: int,
        cards: Sequence[int],
        codes: NDArray[np.int32],
        counts: NDArray[np.int64],
    ) -> FrequencySet:
        """Sort rows of codes and sum the counts of equal rows."""
        order, starts = sorted_runs([codes[:, i] for i in range(len(cards))], cards)
        summed = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
        first = np.ascontiguousarray(codes[order[starts]])
        return cls(tuple(columns), n_qi, tuple(cards), first, summed.astype(np.int64))

    @property
    def n_rows(self) -> int:
        """Number of table rows."""
        return int(self.counts.sum())

    def rolled(self, maps: Sequence[LevelMap], new_cards: Sequence[int] | None = None) -> FrequencySet:
        """Return the coarser set after a map is applied to each quasi-identifier. Cost: one sort of the rows.

        Args:
            maps: A map for each quasi-identifier; other columns are unchanged.
            new_cards: The number of codes of each quasi-identifier afterwards, if known.
        """
        if len(maps) != self.n_qi:
            raise ValueError(f"{len(maps)} maps for {self.n_qi} quasi-identifiers")
        steps = [*maps, *[None] * (len(self.columns) - self.n_qi)]
        known_cards = new_cards or [int(step.max(initial=-1)) + 1 if step is not None else 0 for step in maps]
        cards = [card if step is None else new for card, step, new in zip(self.cards, maps, known_cards, strict=False)]
        cards += self.cards[self.n_qi :]
        span = math.prod(cards)
        if span < KEY_LIMIT:
            return self._rolled_by_key(steps, cards, span)
        columns = [column if step is None else step[column] for column, step in zip(self.codes.T, steps, strict=True)]
        return FrequencySet.counted(self.columns, self.n_qi, cards, np.column_stack(columns), self.counts)

    def _rolled_by_key(self, steps: Sequence[LevelMap], cards: Sequence[int], span: int) -> FrequencySet:
        from shoal.kernels.frequency import roll_up

        full_maps = [
            np.arange(card, dtype=np.int32) if step is None else step
            for card, step in zip(self.cards, steps, strict=True)
        ]
        weights = [math.prod(cards[i + 1 :]) if cards[i] > 1 else 0 for i in range(len(cards))]
        codes, counts = np.empty_like(self.codes), np.empty_like(self.counts)
        n = roll_up(
            self.codes,
            self.counts,
            np.concatenate(full_maps),
            np.cumsum([0, *self.cards], dtype=np.int64),
            np.array(weights, dtype=np.uint64),
            span,
            codes,
            counts,
        )
        return FrequencySet(self.columns, self.n_qi, tuple(cards), codes[:n].copy(), counts[:n].copy())

    def kept(self, quasi_identifiers: Sequence[int]) -> FrequencySet:
        """Return the set over some of the quasi-identifiers, given by index; other columns are unchanged."""
        places = [*quasi_identifiers, *range(self.n_qi, len(self.columns))]
        columns, cards = [self.columns[i] for i in places], [self.cards[i] for i in places]
        return FrequencySet.counted(columns, len(quasi_identifiers), cards, self.codes[:, places], self.counts)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each group; a group is a distinct row of quasi-identifiers."""
        if self.n_qi == len(self.columns):
            return np.arange(len(self.counts), dtype=np.int64)
        new = np.ones(len(self.counts), dtype=bool)
        new[1:] = (self.codes[1:, : self.n_qi] != self.codes[:-1, : self.n_qi]).any(axis=1)
        return np.flatnonzero(new).astype(np.int64)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of table rows of each group."""
        if self.n_qi == len(self.columns) or not len(self.counts):
            return self.counts
        return np.add.reduceat(self.counts, self.starts)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.starts)


def sorted_runs(
    columns: Sequence[NDArray[np.int32]], cards: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order that sorts the rows of these columns, and the start of each run of equal rows."""
    if not columns:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    key, n_keys = pack(columns, cards)
    order = sort_keys(key, n_keys)
    return order, np.flatnonzero(starts_of_runs(key[order]))


class Counted(NamedTuple):
    """What a set counts beside the quasi-identifiers: sensitive columns by name, the personal k, people."""

    sensitive: tuple[str, ...] = ()
    personal_k: bool = False
    people: bool = False


NOTHING = Counted()


class FrequencyEngine(Protocol):
    """Counts the rows of one table, under the rules at the top of this module."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers in the order of the schema, with their hierarchies."""

    def finest(self, counted: Counted = NOTHING) -> FrequencySet:
        """Count the table by its quasi-identifiers and what the models need."""

    def sensitive(self, name: str) -> Sensitive:
        """Return the meaning of the codes of a sensitive column; its own codes are not used."""


@dataclass(frozen=True)
class MemoryEngine:
    """Counts an encoded table."""

    encoded: Encoded

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers in the order of the schema, with their hierarchies."""
        return self.encoded.attributes

    def finest(self, counted: Counted = NOTHING) -> FrequencySet:
        """Count the table by its quasi-identifiers and what the models need."""
        encoded = self.encoded
        names = [attribute.name for attribute in encoded.attributes]
        cards = [len(attribute.texts) for attribute in encoded.attributes]
        if counted == NOTHING:  # the tuples are distinct and sorted already
            return FrequencySet(tuple(names), len(names), tuple(cards), encoded.tuples, encoded.counts)
        more: list[tuple[str, NDArray[Any], int]] = [
            (name, self.sensitive(name).codes, len(self.sensitive(name).texts)) for name in counted.sensitive
        ]
        if counted.personal_k and encoded.personal_k is not None:
            more.append(("k", encoded.personal_k, int(encoded.personal_k.max()) + 1))
        if counted.people and encoded.people is not None:
            more.append(("person", encoded.people, int(encoded.people.max()) + 1))
        codes = np.column_stack([encoded.tuples[encoded.row_tuple], *(column for _, column, _ in more)])
        rows = np.ones(len(codes), dtype=np.int64) if encoded.weights is None else encoded.weights
        columns = [*names, *(name for name, _, _ in more)]
        return FrequencySet.counted(
            columns, len(names), [*cards, *(card for _, _, card in more)], codes.astype(np.int32), rows
        )

    def sensitive(self, name: str) -> Sensitive:
        """Return the meaning of the codes of a sensitive column."""
        return next(column for column in self.encoded.sensitive if column.name == name)
