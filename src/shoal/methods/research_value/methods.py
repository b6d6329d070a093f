"""Research-value optimisation: the generalisation string that keeps most of what researchers need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import InfeasibleError, UsageError, setting
from shoal.methods.full_domain.base import LatticeProblem, Solution
from shoal.methods.full_domain.infeasible import refuse
from shoal.methods.full_domain.lattice import Lattice
from shoal.methods.full_domain.research_values import Researched
from shoal.methods.research_value.search import StringSearch, search_listed, search_local
from shoal.methods.research_value.subsets import search_subsets

__all__ = ["RVGlobal", "RVHybrid", "RVLocal"]


@dataclass(frozen=True)
class ResearchValue(Researched):
    """What the three searches share.

    The best string has the highest total value, then fewest attributes at their root, then the lowest height, then the
    smallest vector.

    Attributes:
        choose: Which of the passing strings to release, 1 for the best; the search facts list them.
        subsets: Search subsets of the attributes whose strings fit into the budget, then their combinations.
        budget: The maximum number of strings in memory.
    """

    choose: int = 1
    subsets: bool = False
    budget: int = 2**18

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            object.__setattr__(self, "choose", int(self.choose))
            object.__setattr__(self, "budget", int(self.budget))
        except ValueError:
            raise UsageError(f"{self.name}: choose and budget must be integers.") from None
        if isinstance(self.subsets, str):
            object.__setattr__(self, "subsets", str(self.subsets).lower() in ("true", "yes", "1"))
        if self.choose < 1 or self.budget < 1:
            raise UsageError(f"{self.name}: choose and budget must be at least 1.")

    @property
    def needs_search(self) -> bool:
        """Whether the options ask for more than the goal: limits of the levels, or another string than the best."""
        return super().needs_search or self.choose > 1

    def search(self, problem: LatticeProblem) -> Solution:
        """Prune, search, and return the string selected by `choose`."""
        problem.require_monotone(self.name)
        search = StringSearch(problem, self.research_values(problem)).pre_pruned()
        possible = search.problem.passes(search.problem.top)
        search.problem.n_tests = 0  # count tests of strings from here on
        if possible:
            self.look(search)
        solutions = search.ranked()
        if not solutions:
            raise self.refusal(search)
        if self.choose > len(solutions):
            raise UsageError(f"{self.name}: choose={self.choose}, but {len(solutions)} strings were found to pass.")
        vector = solutions[self.choose - 1]
        return Solution(vector, search.problem.judge(vector), search.facts(), search.problem)

    def look(self, search: StringSearch) -> None:
        """Search the strings."""
        raise NotImplementedError

    def refusal(self, search: StringSearch) -> InfeasibleError:
        """Return the error of a search that found nothing."""
        return refuse(search.problem)

    def listed(self, search: StringSearch) -> Lattice:
        """Return a lattice with a mark for each string; refuse one that exceeds the budget."""
        if search.generated > self.budget:
            raise UsageError(
                f"{self.name}: there are {search.generated:,} strings, and option budget allows {self.budget:,} in "
                f"memory. Search subsets of the attributes: {setting('options', 'subsets=true')}."
            )
        return Lattice(search.problem.shape)


@dataclass(frozen=True)
class RVGlobal(ResearchValue):
    """Morton: bisect the list of all strings in order of research value.

    The list ascends by (value, vector); the middle of the remaining strings is tested. A passing string removes all
    strings of lower value and all more general ones, a failing string all more specific ones. Exact if values fall as
    levels rise, as computed values do; for declared values the search facts name the attributes that violate this
    ("rising"). With subsets the search is always exact.
    """

    name: ClassVar[str] = "rv-global"

    def look(self, search: StringSearch) -> None:
        """Search the list, or subsets of the attributes."""
        if self.subsets:
            search_subsets(search, self.budget)
        else:
            search_listed(search, self.listed(search))


@dataclass(frozen=True)
class RVLocal(ResearchValue):
    """Morton: bisect every attribute between its root and its most specific level, all at once.

    Position 0 is the root; Mid = floor((Lo + Hi) / 2) from Lo = 0, Hi = positions; a passing string sets Lo = Mid, a
    failing one Hi = Mid; the search ends when no Mid changes. It needs few tests but guarantees nothing: it may find
    nothing although other strings pass, and its result may not be the best. If it ends with every attribute at its
    root, where nothing is left to research, it has found nothing.
    """

    name: ClassVar[str] = "rv-local"

    def look(self, search: StringSearch) -> None:
        """Search locally; the string of roots is not a result."""
        search_local(search)
        n_attributes = len(search.problem.shape)
        search.successes = {each for each in search.successes if search.problem.n_roots(each) < n_attributes}

    def refusal(self, search: StringSearch) -> InfeasibleError:
        """Recommend rv-hybrid if all rows as one group pass."""
        if not search.problem.passes(search.problem.top):
            return super().refusal(search)
        return InfeasibleError(
            "rv-local found nothing: every string that it tests fails, except the one that suppresses every cell. Use "
            "rv-hybrid, which searches the other strings too."
        )


@dataclass(frozen=True)
class RVHybrid(ResearchValue):
    """Morton: the local search, whose tests prune the list, then the global search on the remaining strings.

    As exact as rv-global. With subsets, the best string of the local search bounds the search of the combinations.
    """

    name: ClassVar[str] = "rv-hybrid"

    def look(self, search: StringSearch) -> None:
        """Search locally, then globally."""
        if self.subsets:
            search_local(search)
            search_subsets(search, self.budget)
        else:
            lattice = self.listed(search)
            search_local(search, lattice)
            search_listed(search, lattice)
