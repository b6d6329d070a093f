"""What an engine counts by codes: units beside tuples, and combinations of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import Limited
from shoal.encoding.population import shared_tuples
from shoal.encoding.windows import plan_windows
from shoal.errors import InfeasibleError
from shoal.methods.mondrian.single_dimensional import Allows, cut_attributes
from shoal.metrics.association import Pairs
from shoal.release.cells.limits import Bounds
from shoal.release.counted_tables.dealing import coding_of
from shoal.release.counted_tables.searcher import (
    PopulationCounter,
    RegionCounter,
    Searcher,
    UnitCounts,
    UnitSearcher,
)
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.release.counted_tables.sections.windows import CodeWindows
from shoal.release.make import Plan
from shoal.release.preconditions import check_population
from shoal.tables.values.people import People

__all__ = ["CodeCounts", "CountedPeople"]


@dataclass
class CountedPeople:
    """The people of a table that an engine has; see `PeopleCounts`. What was asked once can be asked without it.

    Attributes:
        n_people: Their number.
        of_codes: By attribute with an order, the number of people with each code.
        source: The engine.
        answers: What was asked, by attribute and runs.
        counted: By attribute, runs that were counted: the first code of each, the code after its last, and its people.
    """

    n_people: int
    of_codes: dict[int, NDArray[np.int64]]
    source: UnitSearcher | None
    answers: dict[tuple[int, bytes], NDArray[np.bool_]] = field(default_factory=dict)
    counted: dict[int, list[NDArray[np.int64]]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None, "counted": {}}

    def are_enough(self, a: int, starts: NDArray[np.int64], needed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for each code of an attribute whether its run has as many people as it needs."""
        key = a, sha256(starts.tobytes() + needed.tobytes()).digest()
        if key not in self.answers:
            self.answers[key] = self._judge(a, starts, needed)
        return self.answers[key]

    def _judge(self, a: int, starts: NDArray[np.int64], needed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Ask the engine about the runs for which neither their codes nor the runs inside them decide."""
        ends, of_codes = np.append(starts[1:], len(needed)), self.of_codes[a][: len(needed)]
        runs = np.repeat(np.arange(len(starts)), ends - starts)
        least, most = (bound.reduceat(of_codes, starts) for bound in (np.maximum, np.add))
        counted = self.counted.setdefault(a, [])
        for first, end, people in counted:
            is_inside = runs[first] == runs[end - 1]
            np.maximum.at(least, runs[first[is_inside]], people[is_inside])
        asked = np.unique(runs[(least[runs] < needed) & (most[runs] >= needed)])
        if len(asked):
            assert self.source is not None
            number = np.full(len(starts), -1, dtype=np.int32)
            number[asked] = np.arange(len(asked), dtype=np.int32)
            (least[asked],) = self.source.count_people({a: number[runs]})
            counted.append(np.stack([starts[asked], ends[asked], least[asked]]))
        enough: NDArray[np.bool_] = least[runs] >= needed
        return enough


@dataclass
class CodeCounts:
    """What an engine counts by the codes of a table, once they are known; see `JointCounts`.

    Attributes:
        source: The engine.
        people: The column of people.
        people_by: The number of people by this column.
        lone_rows: By counted column, the rows whose cell no other person has.
        found: What was counted of tuples or units.
    """

    source: Searcher
    people: People | None = None
    people_by: dict[str, int] = field(default_factory=dict)
    lone_rows: dict[str, int] = field(default_factory=dict)
    found: UnitCounts | None = None

    @classmethod
    def by(cls, source: Searcher, names: Sequence[str], people: People | None) -> CodeCounts:
        """Count the people, also of some columns."""
        if people is None:
            return cls(source)
        assert isinstance(source, UnitSearcher)
        people_by = {people.name: source.code_people(people)}
        return cls(source, people, people_by, dict(zip(names, source.count_lone_rows(names), strict=True)))

    def of(self, encoded: Encoded) -> UnitCounts:
        """Count the tuples, or the units if models or people tell the rows of a tuple apart."""
        if self.found is None:
            coding, beside = coding_of(encoded)
            if beside or self.people is not None:
                assert isinstance(self.source, UnitSearcher)
                self.found = self.source.count_units(coding, beside, self.people)
            else:
                n_tuples, rarest = self.source.count_tuples(coding)
                self.found = UnitCounts(n_tuples, n_tuples, rarest)
        return self.found

    def rows_of_one_person(self, name: str) -> int | None:
        """Count the rows whose value of a column no other person has; None if there is no column of people."""
        return self.lone_rows.get(name)

    def pairs(self, encoded: Encoded) -> Pairs:
        """Return the counts of pairs of codes."""
        assert isinstance(self.source, UnitSearcher)
        self.of(encoded)
        return self.source.count_pairs()

    def fail(self, search: SectionSearch) -> bool:
        """Say whether some tuple of at least k rows fails the models; then so does some spelling of its values."""
        if not search.by_units or not all(model.closed for model in search.models):
            return False
        assert isinstance(self.source, UnitSearcher)
        return not self.source.meets(search)

    def check_limits(self, bounds: Bounds, limits: Sequence[Limited]) -> InfeasibleError | None:
        """Refuse limits that cannot be kept; return the refusal if a search may still find groups that keep to them.

        Args:
            bounds: What `limited` returns.
            limits: The limits.
        """
        try:
            bounds.check(limits)
        except InfeasibleError as refusal:
            if bounds.is_exact(limits):
                raise
            return refusal
        return None

    def limited(self, plan: Plan) -> Bounds:
        """Return the limits of a run over rows that have the counts of the limited columns together."""
        assert isinstance(self.source, UnitSearcher)
        encoded = plan.encoded
        places = [limit.place for limit in plan.run.limits]
        codes, rows = self.source.count_together(places)
        every = np.arange(len(rows))
        tuples = np.zeros((len(rows), len(encoded.attributes)), dtype=np.int32)
        tuples[:, places] = codes
        table = replace(
            encoded, tuples=tuples, counts=rows, row_tuple=every.astype(np.int32), order=every, weights=rows
        )
        return replace(plan.bounds, encoded=replace(table, sensitive=(), personal_k=None))

    def plan_windows(self, bounds: Bounds, limits: Sequence[Limited]) -> CodeWindows:
        """Return windows in which a method may group; the arguments are those of `check_limits`.

        Raises:
            InfeasibleError: Some limit cannot be kept.
        """
        bounds.check(limits)
        places = [limit.place for limit in limits]
        labels = plan_windows(bounds.encoded, limits, bounds.k)
        return CodeWindows(tuple(places), bounds.encoded.tuples[:, places], labels)

    def cut_whole(self, plan: Plan, k: int) -> list[NDArray[np.int32]]:
        """Cut attributes through the whole table; return the part of each code, by attribute."""
        encoded, source = plan.encoded, self.source
        assert isinstance(source, RegionCounter)
        self.of(encoded)
        allows: Allows = lambda parts, _: source.smallest_region(parts) >= k  # noqa: E731
        return cut_attributes(encoded.attributes, encoded.histograms, allows, plan.run)

    def check_population(self, encoded: Encoded) -> None:
        """Raise an InputError if the population lacks some rows of the table."""
        if encoded.population is not None:
            assert isinstance(self.source, PopulationCounter)
            self.of(encoded)
            check_population(encoded, self.source.count_beyond(*shared_tuples(encoded)))

    def completed(self, encoded: Encoded) -> Encoded:
        """Return the table with what its rows do not show: the largest personal k beside each value, and people."""
        source = self.source
        if encoded.personal_k is None and self.people is None:
            return encoded
        assert isinstance(source, UnitSearcher)
        self.of(encoded)
        if encoded.personal_k is not None:
            ks, place = np.unique(encoded.personal_k), len(encoded.sensitive)
            encoded = replace(encoded, asked=tuple(ks[codes] for codes in source.largest_beside(place)))
        if self.people is not None:
            every = {a: np.arange(len(own.texts), dtype=np.int32) for a, own in enumerate(encoded.attributes)}
            ordered = {a: codes for a, codes in every.items() if encoded.attributes[a].ordered}
            of_codes = dict(zip(ordered, source.count_people(ordered), strict=True))
            people = CountedPeople(self.people_by[self.people.name], of_codes, source)
            encoded = replace(encoded, counted_people=people)
        return encoded
