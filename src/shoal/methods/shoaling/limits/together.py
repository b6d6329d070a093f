"""A table counted by its limited columns together, as engines count one of several sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.ends import Holders
from shoal.encoding.limits import Limited
from shoal.encoding.windows import LastMet
from shoal.methods.sections import has_several
from shoal.models import PrivacyModel

__all__ = ["by_combinations", "count_limited"]


def by_combinations(encoded: Encoded, limits: Sequence[Limited], models: Sequence[PrivacyModel]) -> bool:
    """Say whether plans look at combinations of limited values: for sets of categories, in tables of several sections.

    All rows of a combination then share a window, lend to others or leave, so that nobody needs the rows to plan.
    """
    return any(limit.most for limit in limits) and has_several(encoded, models)


def count_limited(encoded: Encoded, limits: Sequence[Limited]) -> tuple[Encoded, NDArray[np.int32]]:
    """Return the combinations of limited values with their rows and people, and the one of each canonical row."""
    counted, of_tuples = encoded.counted_together([limit.place for limit in limits])
    combination = of_tuples[encoded.row_tuple]
    if encoded.people is not None:
        counted = replace(counted, counted_people=_KnownPeople(encoded, encoded.people, combination))
    return counted, combination


@dataclass(frozen=True)
class _KnownPeople:
    """The people of a table that has the person of each row; see `PeopleCounts`.

    Attributes:
        encoded: The table.
        people: The person of each canonical row.
        combination: Its combination of limited values.
    """

    encoded: Encoded
    people: NDArray[np.int32]
    combination: NDArray[np.int32]

    @property
    def n_people(self) -> int:
        """The number of people."""
        return len(np.unique(self.people))

    @cached_property
    def of_codes(self) -> dict[int, NDArray[np.int64]]:
        """By attribute with an order, the number of people with each code."""
        ordered = (a for a, attribute in enumerate(self.encoded.attributes) if attribute.ordered)
        return {a: Holders.of(self.encoded, a, 1).of_codes.astype(np.int64) for a in ordered}

    def are_enough(self, a: int, starts: NDArray[np.int64], needed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for each code of an attribute whether its run has as many people as it needs."""
        return replace(Holders.of(self.encoded, a, 1), needed=needed).are_enough(starts)

    def in_sets(
        self, run: NDArray[np.int32], number: NDArray[np.int32], k: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the people of sets of combinations."""
        inside = run[self.combination] >= 0
        own = self.combination[inside]
        pairs = np.unique(np.column_stack([run[own], number[own], self.people[inside]]), axis=0)
        starts = np.flatnonzero((np.diff(pairs[:, :2], axis=0, prepend=-1) != 0).any(axis=1))
        latest, met = np.full(len(starts), -1, dtype=np.int64), LastMet(k)
        of_sets = np.split(pairs[:, 2], starts[1:])
        for i, place in enumerate(pairs[starts, 1].tolist() if k else ()):
            met = met if place else LastMet(k)
            met.meet(of_sets[i].tolist(), place)
            latest[i] = met.latest
        return np.diff(starts, append=len(pairs)).astype(np.int64), latest
