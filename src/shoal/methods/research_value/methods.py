"""Research-value optimisation: the string of levels that keeps most of what researchers need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import InfeasibleError, UsageError
from shoal.methods.full_domain.base import Problem, Solution
from shoal.methods.full_domain.infeasible import refuse
from shoal.methods.full_domain.lattice import Lattice
from shoal.methods.full_domain.research_values import Researched
from shoal.methods.research_value.search import Search, search_listed, search_local
from shoal.methods.research_value.subsets import search_subsets

__all__ = ["RVGlobal", "RVHybrid", "RVLocal"]


@dataclass(frozen=True)
class ResearchValue(Researched):
    """What the three searches share.

    choose: which of the strings that were found to pass is released, 1 for the best; the list is in the search facts.
    The best has the highest total value, then fewest attributes at their root, then the lowest height, then it is the
    smallest vector. budget: the most strings that are listed in memory. subsets: search subsets of the attributes whose
    strings fit the budget, then their combinations.
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
            raise UsageError(f"{self.name}: choose and budget must be whole numbers.") from None
        if isinstance(self.subsets, str):
            object.__setattr__(self, "subsets", str(self.subsets).lower() in ("true", "yes", "1"))
        if self.choose < 1 or self.budget < 1:
            raise UsageError(f"{self.name}: choose and budget count from 1.")

    def search(self, problem: Problem) -> Solution:
        """Prune, search, and take the string that is chosen."""
        problem.require_monotone(self.name)
        search = Search(problem, self.research_values(problem)).pre_pruned()
        possible = search.problem.passes(search.problem.top)
        search.problem.n_tests = 0  # from here on, tests of strings
        if possible:
            self.look(search)
        found = search.ranked()
        if not found:
            raise self.refusal(search)
        if self.choose > len(found):
            raise UsageError(f"{self.name}: choose={self.choose}, but {len(found)} strings were found to pass.")
        vector = found[self.choose - 1]
        return Solution(vector, search.problem.judge(vector), search.facts(), search.problem)

    def look(self, search: Search) -> None:
        """Search the strings."""
        raise NotImplementedError

    def refusal(self, search: Search) -> InfeasibleError:
        """Return the error of a search that found nothing."""
        return refuse(search.problem)

    def listed(self, search: Search) -> Lattice:
        """Return a mark for each string, or refuse a list that is too long."""
        if search.generated > self.budget:
            raise UsageError(
                f"{self.name}: {search.generated:,} strings are more than the {self.budget:,} that fit in memory "
                "(option budget). Search subsets of the attributes: --subsets."
            )
        return Lattice(search.problem.shape)


@dataclass(frozen=True)
class RVGlobal(ResearchValue):
    """Morton: halve the list of all strings in order of research value.

    The list ascends by (value, vector); the middle of what is left is tested. A string that passes removes all of lower
    value and all more general ones, one that fails all more specific ones. Exact where values fall as levels rise,
    which computed ones do; given ones need not, and the search facts name the attributes that break it ("rising"). With
    subsets the search is exact whatever the values are.
    """

    name: ClassVar[str] = "rv-global"

    def look(self, search: Search) -> None:
        """Search the list, or subsets of the attributes."""
        if self.subsets:
            search_subsets(search, self.budget)
        else:
            search_listed(search, self.listed(search))


@dataclass(frozen=True)
class RVLocal(ResearchValue):
    """Morton: halve every attribute between its root and its most specific level, all together.

    Position 0 is the root; Mid = floor((Lo + Hi) / 2) from Lo = 0, Hi = positions; a string that passes sets Lo = Mid,
    one that fails Hi = Mid; the end is where no Mid changes. A few tests, but no promise: it may find nothing where
    other strings pass, and what it finds need not be the best.
    """

    name: ClassVar[str] = "rv-local"

    def look(self, search: Search) -> None:
        """Test the strings on the way."""
        search_local(search)

    def refusal(self, search: Search) -> InfeasibleError:
        """Point to the search that looks at all strings, where one of them passes."""
        if not search.problem.passes(search.problem.top):
            return super().refusal(search)
        return InfeasibleError(
            f"rv-local found no string that passes among the {search.problem.n_tests} that it tests; others do. Use "
            "rv-hybrid, which looks at the rest too."
        )


@dataclass(frozen=True)
class RVHybrid(ResearchValue):
    """Morton: the local search first, each of its tests pruning the list; then the global search on what is left.

    As exact as rv-global. With subsets, the local search's best string bounds the search of the combinations.
    """

    name: ClassVar[str] = "rv-hybrid"

    def look(self, search: Search) -> None:
        """Search locally, then the rest."""
        if self.subsets:
            search_local(search)
            search_subsets(search, self.budget)
        else:
            lattice = self.listed(search)
            search_local(search, lattice)
            search_listed(search, lattice)
