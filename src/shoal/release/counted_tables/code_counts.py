"""What an engine counts by codes: units beside tuples, and combinations of some columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import Limited
from shoal.encoding.population import shared_tuples
from shoal.encoding.windows import plan_windows
from shoal.errors import InfeasibleError
from shoal.metrics.association import Pairs
from shoal.release.cells.limits import Bounds
from shoal.release.counted_tables.dealing import Coding, coding_of
from shoal.release.counted_tables.section_search import SectionSearch
from shoal.release.counted_tables.windowing import CodeWindows
from shoal.release.make import Plan
from shoal.release.preconditions import check_population
from shoal.rules import RuleVerdict
from shoal.tables.values.people import People

if TYPE_CHECKING:
    from shoal.release.counted_tables.in_place import Searcher

__all__ = ["CodeCounts", "CountedPeople", "Judged", "PopulationCounter", "UnitCounts", "UnitSearcher"]


class UnitCounts(NamedTuple):
    """What was counted of units.

    Attributes:
        units: Their number.
        tuples: The number of tuples.
        rarest: The rows of the rarest tuple; its people, if people are counted.
    """

    units: int
    tuples: int
    rarest: int


@runtime_checkable
class UnitSearcher(Protocol):
    """A searcher whose sections may also consist of units: the rows of a tuple that models cannot tell apart.

    Where no groups in a section pass, it searches the section that this one was cut from; see `sections.Tree.work`.
    """

    def code_people(self, people: People) -> int:
        """Give every person a code; return their number."""

    def count_lone_rows(self, names: Sequence[str]) -> list[int]:
        """Count for each column the rows whose cell no other person has; people have codes already."""

    def count_units(self, coding: Coding, beside: Coding, people: People | None = None) -> UnitCounts:
        """Count the table by the codes of quasi-identifiers, of columns beside them, and at last of people."""

    def count_pairs(self) -> Pairs:
        """Count the rows of each pair of codes of the quasi-identifiers that were counted last."""

    def count_together(self, places: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the rows by the codes of some of these quasi-identifiers; return the codes, sorted, and the rows."""

    def meets(self, search: SectionSearch) -> bool:
        """Say whether every tuple that was counted last passes the models as a group by itself."""

    def largest_beside(self, place: int) -> list[NDArray[np.int32]]:
        """Return the largest code of a column beside that occurs with each code of each quasi-identifier."""

    def count_people(self, runs: Mapping[int, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
        """Count the people of runs of codes; runs: by place of a quasi-identifier, of each code, or -1 for none."""


@runtime_checkable
class PopulationCounter(Protocol):
    """A searcher that compares its tuples with those of a population."""

    def count_beyond(self, tuples: NDArray[np.int32], rows: NDArray[np.int64]) -> int:
        """Count the rows of the table that are not among some rows, given as distinct tuples of codes."""


@runtime_checkable
class Judged(Protocol):
    """Groups that know how they keep the rules."""

    @property
    def verdicts(self) -> tuple[RuleVerdict, ...]:
        """How all groups together keep each rule."""


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
