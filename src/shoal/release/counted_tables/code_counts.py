"""What an engine counts by codes: units beside tuples, and combinations of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.limits import Limited
from shoal.encoding.population import shared_tuples
from shoal.encoding.windows import plan_combinations, plan_windows
from shoal.errors import InfeasibleError
from shoal.methods.suppression.all_groups import are_too_many
from shoal.metrics.association import Pairs
from shoal.release.cells.limits import Bounds
from shoal.release.counted_tables.dealing import coding_of
from shoal.release.counted_tables.searcher import (
    PopulationCounter,
    Searcher,
    UnitCounts,
    UnitSearcher,
    Upto,
)
from shoal.release.counted_tables.sections.people import CountedPeople
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.release.counted_tables.sections.windows import CodeWindows
from shoal.release.make import Plan
from shoal.release.preconditions import check_population
from shoal.tables.values.people import People

__all__ = ["CodeCounts"]


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
            if isinstance(self.source, UnitSearcher):
                self.found = self.source.count_units(coding, beside, self.people)
            else:  # nobody asks for lone rows then
                n_tuples, rarest = self.source.count_tuples(coding)
                self.found = UnitCounts(n_tuples, n_tuples, rarest, 0)
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
        """Say whether tuples of at least k rows fail the models; then so do some spellings of their values."""
        if not all(model.closed for model in search.models):
            return False
        found = self.of(search.whole)
        # Even if nobody has several rows.
        if search.by_all_groups and are_too_many(search.models, search.whole.n_rows, found.tuples, found.lone):
            return True
        if not search.by_units:
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

    def limited(self, plan: Plan, largest_k: int = -1) -> Bounds:
        """Return the limits of a run over rows that have the counts of the limited columns together.

        Args:
            plan: The run.
            largest_k: The largest personal k of rows that are counted; -1 for all rows.
        """
        assert isinstance(self.source, UnitSearcher)
        encoded, upto = plan.encoded, None
        if largest_k >= 0:
            assert encoded.personal_k is not None
            ks = np.unique(encoded.personal_k)
            upto = Upto(len(encoded.sensitive), int(np.searchsorted(ks, largest_k, side="right")) - 1)
        places = [limit.place for limit in plan.run.limits]
        codes, rows = self.source.count_together(places, upto)
        table = encoded.of_combinations(places, codes, rows)
        if isinstance(people := encoded.counted_people, CountedPeople):
            table = replace(table, counted_people=people.of_combinations(tuple(places), codes, upto))
        return replace(plan.bounds, encoded=table)

    def plan_windows(self, bounds: Bounds, limits: Sequence[Limited]) -> CodeWindows | None:
        """Return windows in which a method may group; the arguments are those of `check_limits`.

        Returns:
            The windows; None if a plan must lend single rows, so that codes do not tell the window of a row.

        Raises:
            InfeasibleError: Some limit cannot be kept.
        """
        labels = plan_combinations(bounds.encoded, limits, bounds.k, bounds.most)
        if labels is None:
            if any(limit.most for limit in limits):
                return None
            bounds.check(limits)
            labels = plan_windows(bounds.encoded, limits, bounds.k)
        places = [limit.place for limit in limits]
        counted = bounds.encoded
        return CodeWindows(tuple(places), counted.tuples[:, places], counted.counts, labels)

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
