"""The released ends of ranges: exact, round, or safe, which means that no end shows the value of a few people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded, PeopleCounts
from shoal.encoding.grid import DateScale, NumberScale, Scale, default_grid
from shoal.encoding.partition import RANGE, Cells, Partition
from shoal.schema import Column, Kind, Schema
from shoal.tables.values.forms import parse_texts

__all__ = [
    "CHOICES",
    "EXACT",
    "ROUND",
    "SAFE",
    "Ends",
    "Holders",
    "Movement",
    "RangeEnds",
    "ends_of_codes",
    "movements",
    "release_ends",
]

SAFE, ROUND, EXACT = CHOICES = ("safe", "round", "exact")

Ends = tuple[str, str]
End = tuple[str, float]  # as text and as number
Moved = dict[int, End]  # what replaces the value of a code
Shared = list[NDArray[np.bool_]]  # for each step of the grids, whether the point of each code is shared
Apart = Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_]]]  # pairs of sets of codes that no range may mix


@dataclass(frozen=True)
class RangeEnds:
    """The released ends of one attribute. Arrays have one element for each distinct cell; only ranges have ends.

    Attributes:
        texts: Both ends as they are written; None for a cell that is not a range.
        low: The number behind the lower end.
        high: The number behind the upper end.
        half_open: Whether the range lies below its upper end, which is then a point of a grid of numbers.
    """

    texts: tuple[Ends | None, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    half_open: NDArray[np.bool_]


@dataclass(frozen=True)
class Holders:
    """How many rows of a table, or people, have each known value of a number or date.

    Attributes:
        needed: How many must have the value of each code: k, or more if a row with this value asks for more.
        rows: The rows of each code.
        codes: If people are counted, a code of each person; every pair occurs once, in order of codes.
        people: The persons of these pairs.
        counted: In place of pairs, what was counted of the people of the whole table.
        a: The attribute.
    """

    needed: NDArray[np.int64]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64] | None = None
    people: NDArray[np.int64] | None = None
    counted: PeopleCounts | None = None
    a: int = 0

    @classmethod
    def of(cls, encoded: Encoded, a: int, k: int) -> Holders:
        """Count the holders of each value of an attribute, given by its place; k: how many a value needs at least."""
        n_known = len(encoded.attributes[a].known_values)
        rows = np.bincount(encoded.tuples[:, a], encoded.counts, n_known).astype(np.int64)[:n_known]
        needed = np.full(len(encoded.attributes[a].texts), k, dtype=np.int64)
        if encoded.asked:
            needed = np.maximum(needed, encoded.asked[a])
        elif encoded.personal_k is not None:
            np.maximum.at(needed, encoded.tuples[encoded.row_tuple, a], encoded.personal_k)
        needed = needed[:n_known]
        if encoded.people is None:
            return cls(needed, rows, counted=encoded.counted_people, a=a)
        n_people = int(encoded.people.max(initial=0)) + 1
        codes = encoded.tuples[encoded.row_tuple, a].astype(np.int64)
        pairs = np.unique((codes * n_people + encoded.people)[codes < n_known])
        return cls(needed, rows, *np.divmod(pairs, n_people))

    def in_runs(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the holders of runs of codes; starts: the first code of each run, the first of them 0."""
        if self.codes is None or self.people is None:
            return np.add.reduceat(self.rows, starts)
        runs = np.searchsorted(starts, self.codes, side="right") - 1
        n_people = int(self.people.max(initial=0)) + 1
        distinct = np.unique(runs * n_people + self.people)
        return np.bincount(distinct // n_people, minlength=len(starts))

    def are_enough(self, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for each code whether its run has as many holders as it needs; starts: as for `in_runs`."""
        if self.counted is not None:
            return self.counted.are_enough(self.a, starts, self.needed)
        holders = np.repeat(self.in_runs(starts), np.diff(starts, append=len(self.rows)))
        enough: NDArray[np.bool_] = holders >= self.needed
        return enough

    @property
    def of_codes(self) -> NDArray[np.int64]:
        """The holders of each code."""
        if self.counted is not None:
            return self.counted.of_codes[self.a][: len(self.rows)]
        return self.rows if self.codes is None else np.bincount(self.codes, minlength=len(self.rows))


def release_ends(
    encoded: Encoded,
    partition: Partition,
    schema: Schema,
    choice: str = EXACT,
    *,
    k: int = 1,
    apart: Mapping[int, Apart] | None = None,
    moves: Sequence[Movement] | None = None,
) -> tuple[RangeEnds, ...]:
    """Return the ends that the ranges of a partition show.

    - "exact": the least and the greatest value of the range.
    - "round": both ends are widened to the grid of the column, or to a round default. A column that has a grid of its
      own always has round ends.
    - "safe": an end that at least k rows of the table have (people, if people are counted) stays as it is. Any other
      moves outwards to the nearest point of a grid, the finest on which the values of at least k rows move to the same
      point. The steps of the grids are 1, 2, 5, 10, ... times the smallest unit of the column; for dates, they are
      calendar periods. An end that moves shows no value of its range, not even one that lies on the grid.

    A number moves to a point above it, which the range does not include: 25 becomes ``[25, 30)``. Dates move to the
    last day of a period, which the range includes.

    An end stays as it is if it would otherwise include values that a ban keeps apart from the range, or if its date
    format cannot write what lies beyond.

    Args:
        encoded: The table as codes.
        partition: Its groups and their cells.
        schema: The columns of the table.
        choice: "exact", "round" or "safe".
        k: How many rows must have a safe end; more if a row with its value asks for a larger k of its own.
        apart: By place of an attribute, the pairs of sets of codes that bans keep apart.
        moves: What `movements` returns for these arguments, if it is used several times.
    """
    moves = moves or movements(encoded, schema, choice, k)
    all_ends = []
    for a, (attribute, cells) in enumerate(zip(encoded.attributes, partition.cells, strict=True)):
        low, high = Moved(), Moved()
        ranges = np.flatnonzero(cells.form == RANGE)
        if len(ranges) and attribute.kind.is_measured:
            lows, highs = (
                np.flatnonzero(np.bincount(codes[ranges])).astype(np.int32) for codes in (cells.low, cells.high)
            )
            low, high = moves[a].of(lows, highs)
        all_ends.append(_ends(attribute, cells, ranges, low, high, (apart or {}).get(a, ())))
    return tuple(all_ends)


def ends_of_codes(encoded: Encoded, a: int, column: Column, choice: str, *, k: int) -> tuple[list[End], list[End]]:
    """Return the lower and the upper end that each known value of an attribute has as an end of a range."""
    attribute = encoded.attributes[a]
    codes = np.arange(len(attribute.known_values), dtype=np.int32)
    low, high = Movement(encoded, a, column, choice, k).of(codes, codes)
    own = [(attribute.texts[code], float(attribute.values[code])) for code in codes.tolist()]
    return [low.get(i, end) for i, end in enumerate(own)], [high.get(i, end) for i, end in enumerate(own)]


def movements(encoded: Encoded, schema: Schema, choice: str, k: int) -> tuple[Movement, ...]:
    """Return how the ends of ranges move, for each attribute; see `release_ends`."""
    columns = {column.name: column for column in schema.qi}
    return tuple(Movement(encoded, a, columns[own.name], choice, k) for a, own in enumerate(encoded.attributes))


@dataclass(frozen=True)
class Movement:
    """How the ends of the ranges of an attribute move. What belongs to the whole column is computed once.

    A column with bands has round ends on them. If its ranges must not leave a band, no end moves out of it.

    Attributes:
        encoded: The table as codes.
        a: The attribute.
        given: The column.
        choice: "exact", "round" or "safe".
        k: How many rows must have a safe end.
    """

    encoded: Encoded
    a: int
    given: Column
    choice: str
    k: int

    def of(self, lows: NDArray[np.int32], highs: NDArray[np.int32]) -> tuple[Moved, Moved]:
        """Return what replaces values as lower and as upper ends."""
        low, high = Moved(), Moved()
        if self.choice == EXACT and not self.column.grid:
            return low, high
        widening = self.widening
        if self.choice == ROUND or self.column.grid:
            low, high = widening.to_grid(lows, upper=False), widening.to_grid(highs, upper=True)
        else:
            low = widening.to_shared(lows[self.is_rare[lows]], self.shared_below, upper=False)
            high = widening.to_shared(highs[self.is_rare[highs]], self.shared_above, upper=True)
        if self.given.limits.coarsest:
            walls = Widening.of(self.attribute, replace(self.column, grid=self.given.limits.coarsest))
            first, last = walls.to_grid(lows, upper=False), walls.to_grid(highs, upper=True)
            low = {code: max(end, first.get(code, end), key=itemgetter(1)) for code, end in low.items()}
            high = {code: min(end, last.get(code, end), key=itemgetter(1)) for code, end in high.items()}
        return low, high

    def prepare(self) -> None:
        """Compute what belongs to the whole column, before several threads need it."""
        if self.attribute.ordered and self.attribute.kind.is_measured:
            none = np.empty(0, dtype=np.int32)
            self.of(none, none)

    @property
    def attribute(self) -> Attribute:
        """The attribute."""
        return self.encoded.attributes[self.a]

    @cached_property
    def column(self) -> Column:
        """The column, with its bands as its grid."""
        limits = self.given.limits
        return replace(self.given, grid=limits.uniform or limits.finest or self.given.grid)

    @cached_property
    def widening(self) -> Widening:
        """What moves values to grids."""
        return Widening.of(self.attribute, self.column)

    @cached_property
    def holders(self) -> Holders:
        """How many have each value."""
        return Holders.of(self.encoded, self.a, self.k)

    @cached_property
    def is_rare(self) -> NDArray[np.bool_]:
        """Whether too few have each value."""
        return self.holders.of_codes < self.holders.needed

    @cached_property
    def shared_below(self) -> Shared:
        """Which values move to a shared point below them."""
        return self.widening.shared(self.holders, upper=False)

    @cached_property
    def shared_above(self) -> Shared:
        """Which values move to a shared point above them."""
        return self.widening.shared(self.holders, upper=True)


@dataclass(frozen=True)
class Widening:
    """Moves the values of a column outwards to its grids.

    Attributes:
        column: The column.
        values: Its known values in order.
        scale: The grids over them.
        default: The grid to round to if the column has none.
    """

    column: Column
    values: NDArray[np.float64]
    scale: Scale
    default: str

    @classmethod
    def of(cls, attribute: Attribute, column: Column) -> Widening:
        """Return the widening of an attribute."""
        values = attribute.known_values
        texts = attribute.texts[: len(values)]
        default = default_grid(attribute.kind, attribute.span, column, texts)
        scale: Scale
        if attribute.kind is Kind.DATE:
            scale = DateScale.of(column, attribute.texts[: len(values)], values)
        else:
            scale = NumberScale.of(column, texts, values, column.grid or default)
        return cls(column, values, scale, default)

    def to_grid(self, codes: NDArray[np.int32], *, upper: bool) -> Moved:
        """Move values to the grid of the column, or to its default."""
        scale, step = self.scale, self.scale.steps(self.column.grid or self.default)[0]
        # A range lies below its upper end if that is a number, so a number on the grid moves to the next point.
        last = scale.units if self.column.kind is Kind.DATE else scale.after
        ends = scale.above(last, step) if upper else scale.below(scale.units, step)
        return self._written(codes, ends[codes], upper=upper)

    def band_starts(self, band: str) -> NDArray[np.float64]:
        """Return for each value where its band begins, for comparison."""
        starts: NDArray[np.float64] = self.scale.below(self.scale.units, self.scale.steps(band)[0]).astype(np.float64)
        return starts / 10**self.scale.digits if isinstance(self.scale, NumberScale) else starts

    def shared(self, holders: Holders, *, upper: bool) -> Shared:
        """Return for each step of the grids whether the values of as many as needed move to the point of each value."""
        scale, steps = self.scale, self.scale.steps()
        found = []
        for step in steps:
            # One place further out, so that a value on the grid moves too.
            ends = scale.above(scale.after, step) if upper else scale.below(scale.before, step)
            begins = np.append(True, ends[1:] != ends[:-1])
            found.append(holders.are_enough(np.flatnonzero(begins)) | (step == steps[-1]))
        return found

    def to_shared(self, codes: NDArray[np.int32], shared: Shared, *, upper: bool) -> Moved:
        """Move values that too few hold to points that the values of as many as needed move to.

        If even the coarsest grid has no such point, as for a lone value below 0, it is used all the same.
        """
        scale, moved, pending = self.scale, Moved(), codes
        for step, fits in zip(scale.steps(), shared, strict=True):
            if not len(pending):
                break
            fitting = pending[fits[pending]]
            if len(fitting):
                ends = scale.above(scale.after[fitting], step) if upper else scale.below(scale.before[fitting], step)
                moved |= self._written(fitting, ends, upper=upper, strictly=True)
                pending = pending[[code not in moved for code in pending.tolist()]]
        return moved

    def _written(self, codes: NDArray[np.int32], ends: NDArray[Any], *, upper: bool, strictly: bool = False) -> Moved:
        """Write the ends of codes as text and read them back; those that the date format cannot write are left out."""
        moved = Moved()
        kind = self.column.kind or Kind.NUMERIC
        distinct, places = np.unique(ends, return_inverse=True)  # many values move to the same point
        texts = [self.scale.text(int(end), upper=upper) for end in distinct.tolist()]
        read, misfits = parse_texts(self.column, kind, texts)
        if misfits:
            read = [
                None if none else own[0] for own, none in (parse_texts(self.column, kind, [text]) for text in texts)
            ]
        for code, place in zip(codes.tolist(), places.reshape(-1).tolist(), strict=True):
            number = read[place]
            if number is None:
                continue
            # Numbers are exact; a date format may drop what tells an end from the value, or its century.
            distance = (number - self.values[code]) * (1 if upper else -1) if kind is Kind.DATE else 1
            if distance > 0 or (distance == 0 and not strictly):
                moved[code] = texts[place], float(number)
        return moved


def _ends(
    attribute: Attribute, cells: Cells, ranges: NDArray[np.int64], low: Moved, high: Moved, apart: Apart
) -> RangeEnds:
    """Return the ends of the ranges of an attribute, given what replaces some of their values."""
    texts: list[Ends | None] = [None] * len(cells.form)
    numbers = np.zeros((2, len(cells.form)))
    half_open = np.zeros(len(cells.form), dtype=bool)
    moves_below = attribute.kind is not Kind.DATE
    for i in ranges.tolist():
        first, last = int(cells.low[i]), int(cells.high[i])
        own_low, own_high = ((attribute.texts[code], float(attribute.values[code])) for code in (first, last))
        new_low, new_high = low.get(first, own_low), high.get(last, own_high)
        if apart:
            n_mixed = _count_mixed(attribute, apart, own_low, own_high)
            if _count_mixed(attribute, apart, new_low, own_high) > n_mixed:
                new_low = own_low
            is_open = moves_below and new_high is not own_high
            if _count_mixed(attribute, apart, new_low, new_high, half_open=is_open) > n_mixed:
                new_high = own_high
        texts[i] = new_low[0], new_high[0]
        numbers[:, i] = new_low[1], new_high[1]
        half_open[i] = moves_below and new_high is not own_high
    return RangeEnds(tuple(texts), numbers[0], numbers[1], half_open)


def _count_mixed(attribute: Attribute, apart: Apart, low: End, high: End, *, half_open: bool = False) -> int:
    """Count the pairs of sets that a range mixes."""
    known_values = attribute.known_values
    end = np.searchsorted(known_values, high[1], side="left" if half_open else "right")
    inside = slice(np.searchsorted(known_values, low[1]), end)
    return sum(bool(one[inside].any() and other[inside].any()) for one, other in apart)
