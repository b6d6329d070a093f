"""The table as the search of shoaling sees it: the codes and rows of tuples, prices, and what models require."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import Limited
from shoal.encoding.windows import wall_classes
from shoal.methods import sections
from shoal.methods.base import Run
from shoal.methods.sections import Cut, Tree, TupleSection, cut_by, priced_cuts
from shoal.methods.shoaling.crowd import NOBODY, Crowd
from shoal.methods.shoaling.model_terms import Requirement, find_requirement
from shoal.methods.shoaling.pricing import Prices, Pricing, Recoding, price_table
from shoal.methods.shoaling.space import Space, squared_cuts
from shoal.models import Distributions, PrivacyModel

if TYPE_CHECKING:
    from shoal.methods.shoaling.steps import Effort

__all__ = ["LARGE_TABLE", "Extent", "Problem", "SectionPlan", "in_sections", "prepare", "suited"]

Ints = NDArray[np.int32]

LARGE_TABLE = 100_000  # tuples
# Hierarchy labels jump from level to level: hot exchanges undo more than they gain, and wider blocks pay off.
HEAT_IN_TREES, EXCHANGE_IN_TREES = 1 / 3, 2
# Rows of one person cannot stand in for each other, so there are fewer useful neighbours: wider blocks pay off.
EXCHANGE_OF_PEOPLE = 2
# Fewer exchanges are allowed as well, so groups settle later: hotter exchanges pay off, and more of them for each
# tuple of codes. It has an entry for each of its people, so there are not always more for each entry.
HEAT_OF_PEOPLE, PROPOSALS_OF_PEOPLE = 5 / 3, 2


class Extent(NamedTuple):
    """How large a table is.

    Attributes:
        tuples: The number of tuples that a search tells apart.
        of_codes: The number of tuples of codes, if people tell tuples apart.
        by_person: Whether people tell tuples apart.
    """

    tuples: int
    of_codes: int
    by_person: bool


@dataclass(frozen=True)
class Problem:
    """All that the search needs.

    Attributes:
        codes: One row of codes for each tuple, in the columns of the pricing.
        counts: The number of rows of each tuple.
        prices: For the kernels.
        k: The least group size.
        classes: For each tuple, the class of its rows; models count rows by class.
        people: For each tuple, the person of its rows; empty if sizes count rows.
        of_codes: For each tuple, its tuple of codes in the encoded table.
        requirement: What the models require of a group beyond k rows.
        row_tuple: The tuple of each canonical row.
        row_weights: The number of source rows behind each canonical row.
        bans: The side of each tuple in each pair of sides that no group may mix.
        windows: For each tuple, its rank in each limit.
        limits: The limits.
        walls: For each tuple, its class; no group has tuples of two classes.
        crowd: The population, if a model compares groups with it.
        space: The tuples as points, if the search lowers the sum of squares inside groups.
        breach: The least price of a group that breaks a ban or a limit; 0 if there are none.
        is_section: Whether these are the rows of a section of a large table.
    """

    codes: Ints
    counts: NDArray[np.int64]
    prices: Prices
    k: int
    classes: Ints
    people: Ints
    of_codes: Ints
    requirement: Requirement
    row_tuple: Ints
    row_weights: NDArray[np.int64] | None
    bans: Ints
    windows: NDArray[np.int64]
    limits: tuple[Limited, ...]
    walls: NDArray[np.int64]
    crowd: Crowd
    space: Space | None = None
    breach: int = 0
    is_section: bool = False

    @property
    def free(self) -> bool:
        """Whether every group of k rows is allowed."""
        bound = self.bans.shape[1] or self.limits or self.by_person
        return self.requirement.size_only and not bound

    @property
    def by_codes(self) -> bool:
        """Whether the tuples of the search are those of the encoded table, because models do not tell rows apart."""
        return len(self.requirement.positions) == 1 and not self.by_person

    @property
    def by_person(self) -> bool:
        """Whether sizes count people; the rows of a tuple then belong to one person."""
        return len(self.people) > 0

    @property
    def extent(self) -> Extent:
        """How large the table is."""
        n_tuples = len(self.codes)
        return Extent(n_tuples, len(np.unique(self.of_codes)) if self.by_person else n_tuples, self.by_person)

    @property
    def needs_codes(self) -> bool:
        """Whether a search by the sum of squares needs codes: for bans, limits or the population inside cells."""
        return self.breach > 0 or len(self.crowd.rows) > 0

    def distances(self, one: int) -> NDArray[np.int64]:
        """Return the price of a row of each tuple together with one tuple, or how far it is away."""
        if self.space is not None:
            return self.space.distances(one)
        total = np.zeros(len(self.codes), dtype=np.int64)
        places_of_all, offsets, kinds, units = self.prices
        for a in range(self.codes.shape[1]):
            column = self.codes[:, a]
            places = places_of_all[offsets[a] : offsets[a + 1]]
            if kinds[a] == Recoding.RANGE:
                total += np.minimum(np.abs(places[column] - places[column[one]]), units[a])
            elif kinds[a] == Recoding.RULE:
                total += np.where(column + column[one] == 1, int(units[a]), 0)
            elif kinds[a] == Recoding.REACH:
                low, high = np.minimum(column, column[one]), np.maximum(column, column[one])
                total += np.where(high > places[low], int(units[a]), 0)
            elif kinds[a] == Recoding.COUNT:
                total += np.where(column != column[one], int(units[a]) if places[0] < 2 else 0, 0)
            elif kinds[a] == Recoding.TREE:
                own = int(column[one])
                right = np.maximum.accumulate(np.append(0, places[own:-1]))
                left = np.maximum.accumulate(np.append(0, places[:own][::-1]))[:0:-1]
                total += np.append(left, right)[column]
            else:
                total += np.where(column != column[one], 2 * int(units[a]), 0)
        return total


@dataclass(frozen=True)
class SectionPlan:
    """What the sections of a large table share. It can be pickled, and sent to wherever a section is searched.

    Attributes:
        pricing: The prices of the whole table.
        whole: What models know of the whole table.
        effort: The effort, suited to the whole table; see `suited`.
        k: The least group size.
        n_sections: The number of sections.
    """

    pricing: Pricing
    whole: Distributions
    effort: Effort
    k: int
    n_sections: int

    def cuts(self, histograms: Sequence[NDArray[np.int64]], largest: int) -> Iterator[Cut]:
        """Yield the cuts of a section to try; histograms: the tuples of each code, in the columns of the pricing."""
        if self.pricing.grid is None:
            return priced_cuts(histograms, self.pricing.prices, largest)
        return squared_cuts(histograms, self.pricing, self.pricing.grid, largest)


def suited(effort: Effort, prices: Prices, extent: Extent) -> Effort:
    """Return the effort adapted to a table that is large, has hierarchies or has several rows a person."""
    if extent.tuples > LARGE_TABLE:
        proposals = int(effort.proposals * effort.share_of_large), int(effort.proposals_per_k * effort.share_of_large)
        effort = replace(effort, proposals=proposals[0], proposals_per_k=proposals[1])
    if (prices.kinds == Recoding.TREE).any():
        wider = effort.exchange_per_k * EXCHANGE_IN_TREES
        effort = replace(effort, heat=effort.heat * HEAT_IN_TREES, exchange_per_k=wider)
    if extent.by_person:
        more = max(1.0, PROPOSALS_OF_PEOPLE * extent.of_codes / extent.tuples)
        effort = replace(
            effort,
            proposals=int(effort.proposals * more),
            proposals_per_k=int(effort.proposals_per_k * more),
            heat=effort.heat * HEAT_OF_PEOPLE,
            exchange=effort.exchange * EXCHANGE_OF_PEOPLE,
            exchange_per_k=effort.exchange_per_k * EXCHANGE_OF_PEOPLE,
        )
    return effort


def in_sections(problem: Problem, plan: SectionPlan) -> Tree[TupleSection]:
    """Cut the tuples of a large table into sections."""
    largest = sections.LARGEST_SECTION
    whole = TupleSection(problem.codes, np.diff(problem.prices.offsets).tolist(), np.arange(len(problem.codes)))
    return cut_by(whole, lambda histograms: plan.cuts(histograms, largest), largest)


def prepare(
    encoded: Encoded,
    k: int,
    models: tuple[PrivacyModel, ...] = (),
    run: Run | None = None,
    *,
    alpha: float = 0.5,
    pricing: Pricing | None = None,
    distributions: Distributions | None = None,
) -> Problem:
    """Pose the problem of grouping the rows of a table.

    Args:
        encoded: The table, or a block of its rows.
        k: The least group size.
        models: What every group must pass.
        run: Its rules and weights.
        alpha: Balance of loss and rules; see `price_table`.
        pricing: The prices of the whole table, if `encoded` is a block of it; by default those of `encoded`.
        distributions: What models know of the whole table, if `encoded` is a block of it.

    Raises:
        InfeasibleError: A ban leaves too few rows for a group.
    """
    run = run or Run()
    if pricing is None:
        pricing = price_table(encoded.attributes, encoded.histograms, k, run, alpha=alpha)
    requirement = find_requirement(encoded, models, distributions)
    of_codes, classes, people, counts, row_tuple = _distinct(encoded, requirement)
    tuples = encoded.tuples[of_codes]
    return Problem(
        codes=pricing.codes(tuples),
        counts=counts,
        prices=pricing.prices,
        k=k,
        classes=classes,
        people=people,
        of_codes=of_codes,
        requirement=requirement,
        row_tuple=row_tuple,
        row_weights=encoded.weights,
        bans=pricing.banned_sides(tuples),
        windows=np.column_stack(
            [np.zeros((len(tuples), 0)), *(limit.ranks[tuples[:, limit.place]] for limit in run.limits)]
        ).astype(np.int64),
        limits=run.limits,
        walls=wall_classes(tuples, run.limits),
        crowd=Crowd.of(encoded, pricing) if requirement.covers else NOBODY,
        space=None if pricing.grid is None else Space(of_codes, pricing.grid.points(encoded.tuples)),
        breach=pricing.breach,
        is_section=distributions is not None,
    )


def _distinct(encoded: Encoded, requirement: Requirement) -> tuple[Ints, Ints, Ints, NDArray[np.int64], Ints]:
    """Return the tuples that the search tells apart: tuple of codes, class, person, rows; and the tuple of each row.

    If neither models nor people tell rows apart, these are the distinct tuples of codes.
    """
    n_classes = len(requirement.positions)
    people = np.empty(0, dtype=np.int32)
    if n_classes == 1 and encoded.people is None:
        every = np.arange(len(encoded.tuples), dtype=np.int32)
        return every, np.zeros(len(every), dtype=np.int32), people, encoded.counts, encoded.row_tuple
    keys = encoded.row_tuple.astype(np.int64) * n_classes + requirement.classes
    if encoded.people is not None:  # tuples and classes are fewer than rows, and so are people
        _, keys = np.unique(keys, return_inverse=True)
        keys = keys << 32 | encoded.people
    _, first, row_tuple = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(row_tuple, weights=encoded.weights, minlength=len(first)).astype(np.int64)
    if encoded.people is not None:
        people = encoded.people[first]
    classes = requirement.classes[first].astype(np.int32)
    return encoded.row_tuple[first], classes, people, counts, row_tuple.astype(np.int32)
