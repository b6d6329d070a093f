"""What an engine counts by codes: units beside tuples, and combinations of some columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.population import shared_tuples
from shoal.errors import InfeasibleError
from shoal.metrics.association import Pairs
from shoal.release.counted_tables.dealing import Coding, coding_of
from shoal.release.counted_tables.section_search import SectionSearch
from shoal.release.make import Plan
from shoal.release.preconditions import check_population
from shoal.rules import RuleVerdict

if TYPE_CHECKING:
    from shoal.release.counted_tables.in_place import Searcher

__all__ = ["CodeCounts", "Judged", "PopulationCounter", "UnitSearcher"]


@runtime_checkable
class UnitSearcher(Protocol):
    """A searcher whose sections may also consist of units: the rows of a tuple that models cannot tell apart.

    Where no groups in a section pass, it searches the section that this one was cut from; see `sections.Tree.work`.
    """

    def count_units(self, coding: Coding, beside: Coding) -> tuple[int, int]:
        """Count the table by the codes of quasi-identifiers and of columns beside them.

        Returns:
            The number of units, and the rows of the rarest tuple.
        """

    def count_pairs(self) -> Pairs:
        """Count the rows of each pair of codes of the quasi-identifiers that were counted last."""

    def count_together(self, places: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count the rows by the codes of some of these quasi-identifiers; return the codes, sorted, and the rows."""

    def meets(self, search: SectionSearch) -> bool:
        """Say whether every tuple that was counted last passes the models as a group by itself."""

    def largest_beside(self) -> list[NDArray[np.int32]]:
        """Return the largest code of the last column beside that occurs with each code of each quasi-identifier."""


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
class CodeCounts:
    """What an engine counts by the codes of a table, once they are known."""

    source: Searcher
    found: tuple[int, int] | None = None

    def of(self, encoded: Encoded) -> tuple[int, int]:
        """Return the number of tuples, or of units if models tell the rows of a tuple apart; and the rarest's rows."""
        if self.found is None:
            coding, beside = coding_of(encoded)
            if beside:
                assert isinstance(self.source, UnitSearcher)
                self.found = self.source.count_units(coding, beside)
            else:
                self.found = self.source.count_tuples(coding)
        return self.found

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

    def check_limits(self, plan: Plan) -> InfeasibleError | None:
        """Refuse limits that cannot be kept; return the refusal if a search may still find groups that keep to them."""
        assert isinstance(self.source, UnitSearcher)
        encoded, limits = plan.encoded, plan.run.limits
        places = [limit.place for limit in limits]
        codes, rows = self.source.count_together(places)
        every = np.arange(len(rows))
        tuples = np.zeros((len(rows), len(encoded.attributes)), dtype=np.int32)
        tuples[:, places] = codes
        table = replace(
            encoded, tuples=tuples, counts=rows, row_tuple=every.astype(np.int32), order=every, weights=rows
        )
        bounds = replace(plan.bounds, encoded=replace(table, sensitive=()))
        try:
            bounds.check(limits)
        except InfeasibleError as refusal:
            if bounds.is_exact(limits):
                raise
            return refusal
        return None

    def check_population(self, encoded: Encoded) -> None:
        """Raise an InputError if the population lacks some rows of the table."""
        if encoded.population is not None:
            assert isinstance(self.source, PopulationCounter)
            self.of(encoded)
            check_population(encoded, self.source.count_beyond(*shared_tuples(encoded)))

    def completed(self, encoded: Encoded) -> Encoded:
        """Return the table with the largest personal k beside each value."""
        if encoded.personal_k is None:
            return encoded
        assert isinstance(self.source, UnitSearcher)
        ks = np.unique(encoded.personal_k)
        return replace(encoded, asked=tuple(ks[codes] for codes in self.source.largest_beside()))
