"""Sections of a large table: which tuples are searched together.

A section is cut in two where that most lowers the mean price of a random pair of its tuples. The decision needs the
number of tuples of each code and nothing else, so that every engine cuts the same sections: one that has the tuples in
memory, and one that asks a database for the counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from math import fsum
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.errors import InfeasibleError
from shoal.kernels.shoaling.prices import RECODINGS
from shoal.models import PrivacyModel
from shoal.tables.sorting import pack

__all__ = [
    "LARGEST_SECTION",
    "Cut",
    "Division",
    "Loan",
    "PriceList",
    "Proposals",
    "Ruling",
    "Section",
    "Tree",
    "TupleSection",
    "cut_by",
    "has_several",
    "number_units",
    "priced_cuts",
]

# Tuples. A constant: the sections, and with them the release, must not depend on memory or threads.
LARGEST_SECTION = 100_000
SMALLEST_SHARE = 8  # no side of a cut is smaller than this fraction of the largest section

Counts = NDArray[np.int64]
Result = TypeVar("Result")
# Places, offsets, kinds and units; see `shoal.methods.shoaling.pricing.Prices`.
PriceList = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]


def has_several(encoded: Encoded, models: Sequence[PrivacyModel]) -> bool:
    """Say whether the engines that count the units of a table cut it into sections."""
    return len(encoded.order) > LARGEST_SECTION and len(np.unique(number_units(encoded, models))) > LARGEST_SECTION


def number_units(encoded: Encoded, models: Sequence[PrivacyModel]) -> NDArray[np.int64]:
    """Return a number for each canonical row that the rows of its unit share: those that models cannot tell apart."""
    names = {name for model in models for name in model.columns}
    told_apart = [encoded.row_tuple, *(column.codes for column in encoded.sensitive if column.name in names)]
    if encoded.personal_k is not None:
        told_apart.append(np.unique(encoded.personal_k, return_inverse=True)[1].astype(np.int32))
    told_apart += [] if encoded.people is None else [encoded.people]
    return pack(told_apart, [int(codes.max(initial=0)) + 1 for codes in told_apart])[0]


class Loan(NamedTuple):
    """The rows that one part of a cut lends to part 0: the first ones with some codes.

    Rows are in the order of their tuples, then of their units, then of their other cells.

    Attributes:
        codes: The codes.
        rows: How many rows.
        last: Where the engine has the last of these rows: the numbers that sort its unit, and its number in the unit,
            from 1 on. Empty until the engine was asked.
    """

    codes: NDArray[np.int64]
    rows: int
    last: tuple[int, ...] = ()


class Division(NamedTuple):
    """What divides a section into two sides.

    Attributes:
        column: The column by whose codes it is divided.
        goes_left: Whether rows with each code go left.
        loan: Which rows go left although their codes do not; None if there are none.
    """

    column: int
    goes_left: NDArray[np.bool_]
    loan: Loan | None = None


class Cut(NamedTuple):
    """A cut of a section.

    Attributes:
        column: The column by whose codes it is cut.
        parts: The part of each code, from 0 on; codes that do not occur may have any.
        is_settled: Whether it is made whatever models say of its parts.
        turn: Cuts of one turn follow each other. Models judge only the first that leaves enough people in each part.
        loan: The rows that go to part 0 instead of the part of their code.
    """

    column: int
    parts: NDArray[np.int32]
    is_settled: bool = False
    turn: int = 0
    loan: Loan | None = None

    def division(self, last: int = 0) -> Division:
        """Return what divides the parts up to the last of some from the others."""
        goes_left = self.parts <= last
        lends = self.loan is not None and not goes_left[self.loan.codes].any()  # all of them are in one part
        return Division(self.column, goes_left, self.loan if lends else None)


class Ruling(Enum):
    """What becomes of a proposed cut."""

    ALLOWED = "allowed"
    FEW_PEOPLE = "a part has too few people"
    REFUSED = "a model refuses it"


@dataclass
class Proposals:
    """The cuts of a section that are still to try, in order."""

    cuts: Iterator[Cut]
    closed_turn: int = -1

    def next(self) -> Cut | None:
        """Return the next cut; None if there is no other."""
        return next((cut for cut in self.cuts if cut.turn != self.closed_turn), None)

    def hear(self, cut: Cut, ruling: Ruling) -> None:
        """Hear what became of a cut: if models refuse it, the rest of its turn is passed over."""
        if ruling is Ruling.REFUSED:
            self.closed_turn = cut.turn


class Section(Protocol):
    """Some tuples of a table."""

    @property
    def n_tuples(self) -> int:
        """The number of tuples."""

    def histograms(self) -> Sequence[Counts]:
        """Return the number of tuples (or of rows, where a method decides by rows) of each code, column by column."""

    def halves(self, division: Division) -> tuple[Self, Self]:
        """Return the two sides of the section."""


AnySection = TypeVar("AnySection", bound=Section)


@dataclass(frozen=True)
class TupleSection:
    """Some tuples in memory.

    Attributes:
        codes: One row of codes for each tuple of the table.
        n_codes: The number of codes of each column.
        tuples: The tuples of the section, in order.
    """

    codes: NDArray[np.int32]
    n_codes: Sequence[int]
    tuples: NDArray[np.int64]

    @property
    def n_tuples(self) -> int:
        """The number of tuples."""
        return len(self.tuples)

    def histograms(self) -> list[Counts]:
        """Return the number of tuples of each code, column after column."""
        return [np.bincount(self.codes[self.tuples, c], minlength=n) for c, n in enumerate(self.n_codes)]

    def halves(self, division: Division) -> tuple[Self, Self]:
        """Return the two sides of the section; whole tuples are on either."""
        is_left = division.goes_left[self.codes[self.tuples, division.column]]
        left, right = (replace(self, tuples=self.tuples[side]) for side in (is_left, ~is_left))
        return left, right

    def holds(self, row_tuple: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Say of each row whether its tuple is in the section; row_tuple: the tuple of each row."""
        inside = np.zeros(len(self.codes), dtype=bool)
        inside[self.tuples] = True
        return inside[row_tuple]


@dataclass(frozen=True)
class Tree(Generic[AnySection]):
    """A section and, if it was cut, its two sides."""

    section: AnySection
    sides: tuple[Tree[AnySection], Tree[AnySection]] | None = None

    @property
    def n_leaves(self) -> int:
        """The number of sections that were not cut."""
        return 1 if self.sides is None else sum(side.n_leaves for side in self.sides)

    def leaves(self) -> list[AnySection]:
        """Return the sections that were not cut, from left to right."""
        if self.sides is None:
            return [self.section]
        return [leaf for side in self.sides for leaf in side.leaves()]

    def whole_where(self, fails: Callable[[AnySection], bool]) -> Tree[AnySection]:
        """Return the tree without the cuts that leave a section which fails."""
        if self.sides is None:
            return self
        left, right = (side.whole_where(fails) for side in self.sides)
        if any(side.sides is None and fails(side.section) for side in (left, right)):
            return Tree(self.section)
        return Tree(self.section, (left, right))

    def work(self, task: Callable[[AnySection, int], Result], number: int = 0) -> list[Result]:
        """Do a task in each section; where one proves infeasible, in the section that it was cut from instead.

        Args:
            task: Gets a section and its number.
            number: The number of the first section.

        Raises:
            InfeasibleError: The task is infeasible even in the whole table.
        """
        if self.sides is not None:
            left, right = self.sides
            with suppress(InfeasibleError):
                return [*left.work(task, number), *right.work(task, number + left.n_leaves)]
        return [task(self.section, number)]


def cut_by(
    section: AnySection,
    cuts: Callable[[Sequence[Counts]], Iterator[Cut]],
    largest: int,
    rule: Callable[[AnySection, Cut], Ruling] = lambda section, cut: Ruling.ALLOWED,
    locate: Callable[[AnySection, Cut], Cut] = lambda section, cut: cut,
) -> Tree[AnySection]:
    """Cut a section until no part has more than `largest` tuples, or nothing can be cut.

    Args:
        section: The section.
        cuts: Returns the cuts to try, in order.
        largest: The most tuples of a part.
        rule: Says whether a cut may be made.
        locate: Finds the last row that is lent by a cut.
    """

    def divide(section: AnySection, cut: Cut, first: int, last: int) -> Tree[AnySection]:
        """Separate some parts of a cut by halves, and cut each of them."""
        if first == last:
            return cut_by(section, cuts, largest, rule, locate)
        middle = (first + last) // 2
        left, right = section.halves(cut.division(middle))
        return Tree(section, (divide(left, cut, first, middle), divide(right, cut, middle + 1, last)))

    if section.n_tuples > largest:
        proposals = Proposals(cuts(section.histograms()))
        while (cut := proposals.next()) is not None:
            cut = cut if cut.loan is None else locate(section, cut)
            ruling = rule(section, cut)
            if ruling is Ruling.ALLOWED:
                return divide(section, cut, 0, int(cut.parts.max()))
            proposals.hear(cut, ruling)
    return Tree(section)


def priced_cuts(histograms: Sequence[Counts], prices: PriceList, largest: int) -> Iterator[Cut]:
    """Yield the cut that lowers the mean price of a pair most; no side is much smaller than `largest`."""
    cut = find_cut(histograms, prices, least=max(1, largest // SMALLEST_SHARE))
    if cut is not None:
        column, goes_left = cut
        yield Cut(column, (~goes_left).astype(np.int32))


def find_cut(histograms: Sequence[Counts], prices: PriceList, least: int) -> tuple[int, NDArray[np.bool_]] | None:
    """Return the column whose cut lowers the mean price of a pair most, and which of its codes go left; None if none.

    Args:
        histograms: The number of tuples of each code, column after column.
        prices: The prices of the columns.
        least: The least number of tuples on each side.
    """
    places, offsets, kinds, units = prices
    best, found = 0.0, None
    for c, counts in enumerate(histograms):
        own_places = places[offsets[c] : offsets[c + 1]]
        gain, left = _part(int(kinds[c]), own_places, int(units[c]), counts, least)
        if gain > best:
            goes_left = np.zeros(len(counts), dtype=bool)
            goes_left[left] = True
            best, found = gain, (c, goes_left)
    return found


def _part(
    kind: int, places: NDArray[np.int32], unit: int, counts: Counts, least: int
) -> tuple[float, NDArray[np.int64]]:
    """Return by how much a cut of a column lowers the mean price of a pair, 0 for no cut; and the codes on its left."""
    codes = np.flatnonzero(counts)
    rows = counts[codes].astype(np.float64)
    if len(codes) < 2 or kind in (RECODINGS["REACH"], RECODINGS["COUNT"]):  # the column that it limits is cut instead
        return 0.0, codes[:0]
    if kind == RECODINGS["RANGE"]:
        gain, n_left = _halve(places[codes].astype(np.int64), rows, unit, least)
        return gain, codes[:n_left]
    if kind != RECODINGS["TREE"]:
        gain, left = _part_by_frequency(rows, least)
        return (1.0 if kind == RECODINGS["RULE"] else 2.0) * unit * gain, codes[left]
    climbs = np.maximum.reduceat(places[: codes[-1]], codes[:-1])  # the price of each code with the next one
    branch = np.append(0, np.cumsum(climbs == climbs.max()))  # below the lowest common node
    gain, left = _part_by_frequency(np.bincount(branch, rows).astype(np.float64), least)
    return float(climbs.max()) * gain, codes[np.isin(branch, left)]


def _halve(places: NDArray[np.int64], rows: NDArray[np.float64], unit: int, least: int) -> tuple[float, int]:
    """Cut a range at the median; return by how much the mean distance of a pair falls, and the number of codes left."""
    ends = np.cumsum(rows)
    total = ends[-1]
    n_left = 1 + int(np.searchsorted(ends[:-1] + ends[1:], total, side="right"))
    left = ends[n_left - 1]
    if min(left, total - left) < least:
        return 0.0, 0
    gaps, below = np.minimum(np.diff(places), unit), ends[:-1]

    def spread(first: int, last: int, before: float, size: float) -> float:
        inside = below[first:last] - before
        return fsum((gaps[first:last] * inside * (size - inside)).tolist()) / size

    sides = spread(0, n_left - 1, 0.0, left) + spread(n_left, len(gaps), left, total - left)
    return float(2 * (spread(0, len(gaps), 0.0, total) - sides) / total), n_left


def _part_by_frequency(rows: NDArray[np.float64], least: int) -> tuple[float, NDArray[np.int64]]:
    """Return the largest decrease of the Gini index, and the values on the left: the most frequent ones."""
    order = np.argsort(-rows, kind="stable")
    ends, squares = np.cumsum(rows[order]), np.cumsum(rows[order] ** 2)
    total, left, left_squares = ends[-1], ends[:-1], squares[:-1]
    right = total - left
    gains = (left_squares * right / left + (squares[-1] - left_squares) * left / right) / total / total
    gains[np.minimum(left, right) < least] = 0.0
    n_left = int(np.argmax(gains)) + 1
    return float(gains[n_left - 1]), order[:n_left]
