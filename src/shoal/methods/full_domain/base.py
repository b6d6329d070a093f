"""What full-domain methods share: the test of a level vector, and the release at a vector."""

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
from shoal.methods.full_domain.levels import CountedTable, Ladder, QuerySets, Sets, Vector, ladders, level_limits
from shoal.models import PrivacyModel

__all__ = ["FullDomain", "Judged", "LatticeProblem", "Solution"]


# Cache of judged vectors: a test is often followed by a request for the price.
CACHED_VECTORS = 64


@dataclass(frozen=True)
class Judged:
    """The frequency set of a vector, its failing groups, and the number of their rows."""

    groups: FrequencySet
    failing: NDArray[np.bool_]
    failing_rows: int

    @property
    def released_rows(self) -> int:
        """The number of rows in groups that pass."""
        return int(self.groups.sizes.sum()) - self.failing_rows


@dataclass
class LatticeProblem:
    """The lattice of level vectors under models. A vector is feasible if its failing groups can be suppressed.

    Attributes:
        sets: The frequency sets of the vectors.
        by: Judges the groups of a set.
        most_suppressed: The maximum number of suppressed rows.
        run: The run.
        n_tests: The number of vectors judged so far.
        judged_vectors: A cache of judged vectors.
        rows_below: For vectors tested by their sizes alone, the number of rows in groups that fail.
    """

    sets: Sets
    by: Judge
    most_suppressed: int
    run: Run
    n_tests: int = 0
    judged_vectors: dict[Vector, Judged] = field(default_factory=dict)
    rows_below: dict[Vector, int] = field(default_factory=dict)

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
        """The models that groups must pass."""
        return self.by.models

    @property
    def monotone(self) -> bool:
        """Whether every vector above a passing vector passes.

        The groups of a more general vector are unions of groups. Without suppression all of these pass, so closed
        models suffice. With suppression some may fail, so models must be monotone.
        """
        return all(model.monotone if self.most_suppressed else model.closed for model in self.models)

    def n_roots(self, vector: Vector) -> int:
        """Return the number of attributes that a vector releases as "*"."""
        pairs = zip(self.ladders, vector, strict=True)
        return sum(ladder.first + place == ladder.height for ladder, place in pairs)

    def require_monotone(self, method: str) -> None:
        """Refuse models under which a passing vector implies nothing about more general ones."""
        if not self.monotone:
            promises = " and ".join(model.describe() for model in self.models)
            raise UsageError(
                f"{method}: under {promises}, with {self.most_suppressed} rows that may be suppressed, a vector that "
                "passes implies nothing about more general ones. Use optimal."
            )

    def judge(self, vector: Vector) -> Judged:
        """Judge the groups of a vector."""
        if vector in self.judged_vectors:
            return self.judged_vectors[vector]
        if self.run.cancelled():
            raise CancelledError
        groups = self.sets.at(vector)
        failing = self.by.failing(groups)
        judged = Judged(groups, failing, int(groups.sizes[failing].sum()))
        self.n_tests += vector not in self.rows_below
        if len(self.judged_vectors) >= CACHED_VECTORS:
            self.judged_vectors.clear()
        self.judged_vectors[vector] = judged
        return judged

    def passes(self, vector: Vector) -> bool:
        """Say whether a vector passes; at least one group must remain."""
        least = self.by.least_size
        if least is not None and vector not in self.judged_vectors:
            if self.run.cancelled():
                raise CancelledError
            if vector not in self.rows_below and (below := self.sets.rows_below(vector, least)) is not None:
                self.n_tests += 1
                self.rows_below[vector] = below
            if vector in self.rows_below:
                return self.rows_below[vector] <= self.most_suppressed and self.rows_below[vector] < self.sets.n_rows
        judged = self.judge(vector)
        return judged.failing_rows <= self.most_suppressed and judged.released_rows > 0

    def surely_fails(self, vector: Vector) -> bool:
        """Say whether a vector and all more specific ones fail, which the monotone models decide."""
        groups = self.sets.at(vector)
        monotone = replace(self.by, models=tuple(model for model in self.models if model.monotone))
        return int(groups.sizes[monotone.failing(groups)].sum()) > self.most_suppressed

    def levels(self, vector: Vector) -> dict[str, int]:
        """Return the levels of a vector by attribute, as the hierarchies number them."""
        pairs = zip(self.ladders, vector, strict=True)
        return {ladder.name: ladder.first + place for ladder, place in pairs}


@dataclass(frozen=True)
class Solution:
    """The result of a search.

    Attributes:
        vector: The chosen vector.
        judged: Its groups; those that fail are suppressed.
        facts: What else the search found, ready for JSON.
        problem: The problem that the vector refers to, if the search narrowed the original one.
    """

    vector: Vector
    judged: Judged
    facts: Mapping[str, Any] = field(default_factory=dict)
    problem: LatticeProblem | None = None


@dataclass(frozen=True)
class FullDomain:
    """A method that releases every attribute on one level of its hierarchy.

    Attributes:
        minimum: The lowest level of attributes by name; 0 is the value.
        maximum: The highest level of attributes by name. An attribute without a hierarchy has two levels, the value
            and "*".
        levels: The level of attributes that are fixed; short for the same minimum and maximum.
    """

    minimum: Mapping[str, int] = field(default_factory=dict)
    maximum: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for option in ("minimum", "maximum", "levels"):
            object.__setattr__(self, option, level_limits(getattr(self, option), option))
        for option in ("minimum", "maximum"):
            object.__setattr__(self, option, {**getattr(self, option), **self.levels})

    @property
    def needs_search(self) -> bool:
        """Whether the options ask for more than the goal: they limit the levels."""
        return bool(self.minimum or self.maximum)

    def search(self, problem: LatticeProblem) -> Solution:
        """Choose a vector that passes, or raise an InfeasibleError."""
        raise NotImplementedError

    def problem(
        self, engine: FrequencyEngine, models: tuple[PrivacyModel, ...], run: Run, *, people: bool = False
    ) -> LatticeProblem:
        """Count the table once and return the problem; people: sizes count people."""
        rungs = ladders(engine.attributes, self.minimum, self.maximum)
        judge = Judge.of(engine, models, people=people)
        finest = engine.finest(judge.counted)
        sets = Sets(finest, rungs)
        if isinstance(run.table, CountedTable) and isinstance(engine, MemoryEngine):
            sets = QuerySets(finest, rungs, run.table.counter, run.table.codes(engine.encoded, judge.counted))
        return LatticeProblem(sets, judge, run.most_suppressed(finest.n_rows), run)

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form the groups of the vector that the search chooses."""
        check_models(self, encoded, models)
        problem = self.problem(MemoryEngine(encoded), models, run, people=encoded.people is not None)
        solution = self.search(problem)
        run.progress(1.0)
        return recoded(encoded, solution.problem or problem, solution)


def recoded(encoded: Encoded, problem: LatticeProblem, solution: Solution) -> Partition:
    """Release a table at the levels of a solution; failing groups are suppressed."""
    levels = list(zip(problem.ladders, solution.vector, strict=True))
    columns = [ladder.maps[place][encoded.tuples[:, i]] for i, (ladder, place) in enumerate(levels)]
    order, starts = sorted_runs(columns, [len(ladder.nodes[place]) for ladder, place in levels])
    kept = ~solution.judged.failing
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    of_tuple = np.empty(len(order), dtype=np.int32)
    of_tuple[order] = np.repeat(numbers, np.diff(np.append(starts, len(order))))
    first = order[starts][kept]
    cells = tuple(_cells(*level, column[first]) for level, column in zip(levels, columns, strict=True))
    by_name = problem.levels(solution.vector)
    return Partition.of_tuples(encoded, of_tuple, cells, by_name, dict(solution.facts))


def _cells(ladder: Ladder, place: int, groups: NDArray[np.int32]) -> Cells:
    """Return the cells of an attribute at a level; groups: the group at this level of each group of the release."""
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
