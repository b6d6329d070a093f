"""What full-domain methods share: the question put to them, the test of a vector, and the release of the one chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import NODE, SUPPRESSED, VALUE, Cells, Partition
from shoal.errors import CancelledError, UsageError
from shoal.methods.base import Run, check_models
from shoal.methods.full_domain.frequency import FrequencyEngine, FrequencySet, MemoryEngine, sorted_runs
from shoal.methods.full_domain.judge import Judge
from shoal.methods.full_domain.levels import Ladder, Sets, Vector, ladders, level_limits
from shoal.models import PrivacyModel

__all__ = ["FullDomain", "Judged", "Problem", "Solution"]


# Judged vectors that are at hand, since a test is often followed by the question of the price.
KEPT_JUDGED = 64


@dataclass(frozen=True)
class Judged:
    """A vector's set, which of its groups fail, and how many rows these have."""

    found: FrequencySet
    failing: NDArray[np.bool_]
    failing_rows: int

    @property
    def kept_rows(self) -> int:
        """The rows of the groups that do not fail."""
        return int(self.found.sizes.sum()) - self.failing_rows


@dataclass
class Problem:
    """Which vectors pass: those whose failing groups have at most so many rows as may be suppressed.

    n_tests counts the vectors judged.
    """

    sets: Sets
    by: Judge
    most_suppressed: int
    run: Run
    n_tests: int = 0
    judged_last: dict[Vector, Judged] = field(default_factory=dict)

    @property
    def ladders(self) -> tuple[Ladder, ...]:
        """The levels of each attribute."""
        return self.sets.ladders

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each attribute."""
        return tuple(ladder.n_levels for ladder in self.ladders)

    @property
    def top(self) -> Vector:
        """The most general vector."""
        return tuple(n - 1 for n in self.shape)

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The models that groups have to pass."""
        return self.by.models

    @property
    def monotone(self) -> bool:
        """Whether a vector that passes makes every more general one pass.

        Its groups are unions of groups. Where nothing may be suppressed all of these pass, and it is enough that unions
        of passing groups pass. Where groups may fail, any union with a passing group has to.
        """
        return all(model.monotone if self.most_suppressed else model.closed for model in self.models)

    def n_roots(self, vector: Vector) -> int:
        """Return how many attributes a vector releases as "*"."""
        pairs = zip(self.ladders, vector, strict=True)
        return sum(ladder.first + place == ladder.height for ladder, place in pairs)

    def require_monotone(self, method: str) -> None:
        """Refuse models for which a vector tells nothing about more general ones."""
        if not self.monotone:
            asked = " and ".join(model.describe() for model in self.models)
            raise UsageError(
                f"{method}: with {asked}, and {self.most_suppressed} rows that may be suppressed, a vector that passes "
                "tells nothing about more general ones. Use optimal."
            )

    def judge(self, vector: Vector) -> Judged:
        """Test the groups of a vector."""
        if vector in self.judged_last:
            return self.judged_last[vector]
        if self.run.cancelled():
            raise CancelledError
        found = self.sets.at(vector)
        failing = self.by.failing(found)
        judged = Judged(found, failing, int(found.sizes[failing].sum()))
        self.n_tests += 1
        if len(self.judged_last) >= KEPT_JUDGED:
            self.judged_last.clear()
        self.judged_last[vector] = judged
        return judged

    def passes(self, vector: Vector) -> bool:
        """Say whether a vector passes; at least one group must be left."""
        judged = self.judge(vector)
        return judged.failing_rows <= self.most_suppressed and judged.kept_rows > 0

    def surely_fails(self, vector: Vector) -> bool:
        """Say whether a vector and all more specific ones fail: the monotone models alone say so."""
        found = self.sets.at(vector)
        monotone = replace(self.by, models=tuple(model for model in self.models if model.monotone))
        return int(found.sizes[monotone.failing(found)].sum()) > self.most_suppressed

    def levels(self, vector: Vector) -> dict[str, int]:
        """Return the levels of a vector by attribute, as the hierarchies count them."""
        pairs = zip(self.ladders, vector, strict=True)
        return {ladder.name: ladder.first + place for ladder, place in pairs}


@dataclass(frozen=True)
class Solution:
    """The vector chosen, the groups that go, and what else the search found, ready for JSON.

    problem: the question that the vector answers, where the search narrowed the one it was put.
    """

    vector: Vector
    judged: Judged
    facts: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None


@dataclass(frozen=True)
class FullDomain:
    """A method that releases every attribute on one level of its hierarchy.

    minimum, maximum: the least and the highest level of attributes by name; 0 is the value. An attribute without
    hierarchy has two levels, the value and "*".
    """

    minimum: Mapping[str, int] = field(default_factory=dict)
    maximum: Mapping[str, int] = field(default_factory=dict)

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for option in ("minimum", "maximum"):
            object.__setattr__(self, option, level_limits(getattr(self, option), option))

    def search(self, problem: Problem) -> Solution:
        """Choose a vector that passes, or raise an InfeasibleError."""
        raise NotImplementedError

    def problem(
        self, engine: FrequencyEngine, models: tuple[PrivacyModel, ...], run: Run, *, people: bool = False
    ) -> Problem:
        """Count the table once and put the question; people: sizes count people."""
        rungs = ladders(engine.attributes, self.minimum, self.maximum)
        judge = Judge.of(engine, models, people=people)
        finest = engine.finest(judge.counted)
        return Problem(Sets(finest, rungs), judge, run.most_suppressed(finest.n_rows), run)

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form the groups of the vector that the search chooses."""
        check_models(self.name, encoded, models, counts_people=True)
        problem = self.problem(MemoryEngine(encoded), models, run, people=encoded.people is not None)
        solution = self.search(problem)
        run.progress(1.0)
        return recoded(encoded, solution.problem or problem, solution)


def recoded(encoded: Encoded, problem: Problem, solution: Solution) -> Partition:
    """Release a table on the levels of a solution; groups that fail are suppressed."""
    levels = list(zip(problem.ladders, solution.vector, strict=True))
    columns = [ladder.maps[place][encoded.tuples[:, i]] for i, (ladder, place) in enumerate(levels)]
    order, starts = sorted_runs(columns, [len(ladder.nodes[place]) for ladder, place in levels])
    kept = ~solution.judged.failing
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    of_tuple = np.empty(len(order), dtype=np.int32)
    of_tuple[order] = np.repeat(numbers, np.diff(np.append(starts, len(order))))
    first = order[starts][kept]
    cells = tuple(_cells(*level, column[first]) for level, column in zip(levels, columns, strict=True))
    told = problem.levels(solution.vector)
    return Partition.of_tuples(encoded, of_tuple, cells, told, dict(solution.facts))


def _cells(ladder: Ladder, place: int, groups: NDArray[np.int32]) -> Cells:
    """Return the cells of one attribute on one level; groups: that of each group of the release on the level."""
    shown, index = np.unique(groups, return_inverse=True)
    low = ladder.nodes[place][shown].astype(np.int32)
    form = VALUE if ladder.first + place == 0 else NODE
    return Cells(
        index=index.astype(np.int32),
        form=np.where(low < 0, SUPPRESSED, form).astype(np.int8),
        low=low,
        high=low,
        starts=np.zeros(len(shown) + 1, dtype=np.int64),
        members=np.empty(0, dtype=np.int32),
    )
