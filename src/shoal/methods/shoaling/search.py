"""Shoaling: grow groups of the nearest rows, then let rows change places as long as that lowers the loss."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries, Partition, tight_partition
from shoal.errors import CancelledError, InfeasibleError, UsageError, setting
from shoal.methods.base import Run, check_models, failing_groups
from shoal.methods.counter_random import draws, mix
from shoal.methods.mondrian import Mondrian
from shoal.methods.options import read_flag, read_share
from shoal.methods.shoaling.block import NO_BUDGET, Block, Budget, Part, Task
from shoal.methods.shoaling.grouping import Grouping, near_hosts, repair
from shoal.methods.shoaling.level_cover import cover_tuples
from shoal.methods.shoaling.nested_ranges import in_halves, nested_partition
from shoal.methods.shoaling.pricing import Recoding
from shoal.methods.shoaling.problem import Problem, prepare
from shoal.methods.suppression import leave_out, leave_out_greedy, spread
from shoal.models import PrivacyModel

__all__ = ["Shoaling"]

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Effort:
    """How long to search. Budgets are numbers of steps, never time, so that every machine finds the same groups."""

    cycles: int
    proposals: int  # exchanges proposed for each entry and cycle
    proposals_per_k: int  # and as many more for each row of k
    least_steps: int  # least number of proposals for a block and cycle
    heat: float  # first temperature, in mean prices of a row times the root of k
    exchange: int  # least number of entries of a block in which rows change places
    exchange_per_k: int  # the same for each row of k
    with_members: bool  # whether groups also grow by gathering k members
    halvings: tuple[int, ...]  # for each cover by levels, the halvings of numbers without a hierarchy


EFFORTS = {
    "fast": Effort(
        cycles=1,
        proposals=3,
        proposals_per_k=0,
        least_steps=1_000,
        heat=0.0,
        exchange=512,
        exchange_per_k=10,
        with_members=False,
        halvings=(5,),
    ),
    "normal": Effort(
        cycles=1,
        proposals=60,
        proposals_per_k=15,
        least_steps=20_000,
        heat=0.15,
        exchange=2048,
        exchange_per_k=40,
        with_members=True,
        halvings=(3, 5),
    ),
    "high": Effort(
        cycles=12,
        proposals=200,
        proposals_per_k=4,
        least_steps=200_000,
        heat=0.2,
        exchange=2048,
        exchange_per_k=40,
        with_members=True,
        halvings=(3, 5),
    ),
}
BLOCK_TUPLES = 1200  # tuples of a block in which groups grow
PAIRS_BLOCK_TUPLES = 800  # the same for small k
SMALL_K = 4
CHUNK_GROUPS = 200  # groups of a block in which groups are given up
HEATS = (1.0, 0.5, 1.0, 2.0)  # factors of the first temperature, cycle after cycle
LARGEST_K_TO_REBUILD = 20
# Hierarchy labels jump from level to level: hot exchanges undo more than they gain, and wider blocks pay off.
HEAT_IN_TREES, EXCHANGE_IN_TREES = 1 / 3, 2
CUT = 1  # the index of Mondrian's cut among the starts


@dataclass(frozen=True)
class Shoaling:
    """Our own method: agglomeration in blocks, then moves and swaps between groups.

    Cost: about O(q m) for m distinct tuples and q attributes, with a large constant that grows with k, because tuples
    only meet inside their block. The result does not depend on the number of threads.

    Attributes:
        effort: "fast", "normal" or "high": how long to search for less loss.
        alpha: Balance in [0, 1] of the loss against data constraint rules. At 0.5, a group that breaks all rules of an
            attribute pays as much as for suppressing it; at 1 rules do not count; at 0 only rules count.
        non_overlapping: Whether ranges of a number or date never partly overlap; they are then halves, quarters and so
            on of its rows.

    >>> Shoaling(effort="fast").name
    'shoaling'
    """

    effort: str = "normal"
    alpha: float = 0.5
    non_overlapping: bool = False

    name: ClassVar[str] = "shoaling"
    counts_people: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.effort not in EFFORTS:
            raise UsageError(
                f"method 'shoaling': {setting('effort', self.effort)} is not known. Use {', '.join(EFFORTS)}."
            )
        object.__setattr__(self, "alpha", read_share(self.name, "alpha", self.alpha))
        object.__setattr__(self, "non_overlapping", read_flag(self.name, "non_overlapping", self.non_overlapping))

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups that pass all models; suppress the most expensive rows within the suppression limit."""
        most = run.most_suppressed(encoded.n_rows)
        stays = leave_out_greedy(encoded, models, most)
        searched = in_halves(encoded) if self.non_overlapping else encoded
        part = searched if stays.all() else searched.part(stays)
        k = check_models(self, part, models)

        def group(part: Encoded) -> Labels:
            return self._group(part, k, models, run, as_rows=True)

        left = most - int((~stays).sum())
        if left <= 0 and stays.all() and not self.non_overlapping:
            groups = self._group(part, k, models, run)
            run.progress(1.0)
            return tight_partition(encoded, groups)
        labels = leave_out(part, models, group(part), k, left, group)
        run.progress(1.0)
        if self.non_overlapping:
            return nested_partition(encoded, searched, spread(labels, stays))
        return tight_partition(encoded, spread(labels, stays))

    @overload
    def _group(
        self, encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run, *, as_rows: Literal[True]
    ) -> Labels: ...

    @overload
    def _group(self, encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run) -> Entries | Labels: ...

    def _group(
        self, encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run, *, as_rows: bool = False
    ) -> Entries | Labels:
        """Return entries, or the group of each canonical row if asked for or if models tell rows of a tuple apart."""
        problem = prepare(encoded, k, models, run, alpha=self.alpha)
        with ThreadPoolExecutor(max_workers=max(1, run.threads)) as pool:
            search = Search(problem, suited(EFFORTS[self.effort], problem), run, pool)
            starts = [search.grow(Grouping.of_tuples(problem)), cut(encoded, problem, models, run)]
            if any(attribute.tree is not None for attribute in encoded.attributes):
                halvings = search.effort.halvings if any(a.ordered for a in encoded.attributes) else (0,)
                starts += [covered(encoded, problem, run, n) for n in halvings]
            if not problem.free:
                starts = [repair(encoded, problem, models, start) for start in starts]
            starts = [start if i == CUT else search.dissolve(start, 0) for i, start in enumerate(starts)]
            grouping = min(starts, key=lambda start: start.cost(problem))
            for cycle in range(search.effort.cycles):
                grouping = search.improve(grouping, cycle)
        if not problem.free:
            grouping = repair(encoded, problem, models, grouping)
        grouping = grouping.condensed()
        groups = grouping.labels(problem) if as_rows else grouping.entries(problem)
        if not all(model.closed for model in models) and failing_groups(encoded, models, groups).any():
            goal = " and ".join(model.describe() for model in models)
            raise InfeasibleError(f"shoaling found no groups that pass {goal}. Weaken the goal.")
        return groups


def suited(effort: Effort, problem: Problem) -> Effort:
    """Return the effort adapted to a table with hierarchies."""
    if not (problem.prices.kinds == Recoding.TREE).any():
        return effort
    wider = effort.exchange_per_k * EXCHANGE_IN_TREES
    return replace(effort, heat=effort.heat * HEAT_IN_TREES, exchange_per_k=wider)


def cut(encoded: Encoded, problem: Problem, models: tuple[PrivacyModel, ...], run: Run) -> Grouping:
    """Return the groups of Mondrian's strict cuts."""
    labels = Mondrian().cut(encoded, problem.k, models, replace(run, progress=lambda share: None))
    return Grouping.from_rows(problem, labels)


def covered(encoded: Encoded, problem: Problem, run: Run, halvings: int) -> Grouping:
    """Return the groups of a cover by levels; the remainder joins one group, which may be given up later."""
    labels = cover_tuples(encoded, problem.k, run, halvings=halvings)[encoded.row_tuple]
    left_over = labels < 0
    if left_over.any():
        distances = problem.distances(int(problem.row_tuple[np.argmax(left_over)]))[problem.row_tuple]
        labels[left_over] = labels[np.argmin(np.where(left_over, np.iinfo(np.int64).max, distances))]
    return Grouping.from_rows(problem, labels)


@dataclass(frozen=True)
class Search:
    """The steps of the search: each cuts groups into blocks and returns groups that do not cost more."""

    problem: Problem
    effort: Effort
    run: Run
    pool: Executor

    def grow(self, singles: Grouping) -> Grouping:
        """Merge the tuples that are too small alone; if they are too few for a group, with larger ones near them."""
        problem = self.problem
        chosen = np.full(len(singles.rows), True) if not problem.requirement.plain else singles.rows < problem.k
        if 0 < singles.rows[chosen].sum() < problem.k:
            chosen |= near_hosts(problem, singles, chosen)
        task = Task.GROW_TWO_WAYS if self.effort.with_members and problem.requirement.plain else Task.GROW
        limit = PAIRS_BLOCK_TUPLES if problem.k < SMALL_K else BLOCK_TUPLES
        return self._in_blocks(task, singles, chosen, limit=limit, least=problem.k, step=0)

    def dissolve(self, grouping: Grouping, cycle: int) -> Grouping:
        """Give up groups whose members cost less elsewhere."""
        costly = grouping.prices(self.problem) > 0
        return self._in_blocks(Task.DISSOLVE, grouping, costly, limit=CHUNK_GROUPS, by_groups=True, step=3 * cycle + 1)

    def improve(self, grouping: Grouping, cycle: int) -> Grouping:
        """Rebuild neighbouring groups, then let rows move and swap places; each step cuts new blocks."""
        problem, k = self.problem, self.problem.k
        limit = max(self.effort.exchange, self.effort.exchange_per_k * k)
        if cycle > 0:
            grouping = self.dissolve(grouping, cycle)
        if cycle > 0 and k <= LARGEST_K_TO_REBUILD:
            costly = grouping.prices(problem) > 0
            grouping = self._in_blocks(Task.REBUILD, grouping, costly, limit=limit, step=3 * cycle + 2)
        every = np.ones(len(grouping.starts) - 1, dtype=bool)
        return self._in_blocks(Task.EXCHANGE, grouping, every, limit=limit, step=3 * cycle + 3, cycle=cycle)

    def _in_blocks(
        self,
        task: Task,
        grouping: Grouping,
        chosen: NDArray[np.bool_],
        *,
        limit: int,
        step: int,
        least: int = 1,
        by_groups: bool = False,
        cycle: int = 0,
    ) -> Grouping:
        """Cut the chosen groups into blocks, run a task on each, and join the results.

        Args:
            task: What to do with each block.
            grouping: The groups.
            chosen: For each group, whether it takes part.
            limit: The largest number of entries of a block, or of groups if `by_groups`.
            step: The number of the step, which fixes its random numbers.
            least: The least number of rows of a block.
            by_groups: Whether the limit counts groups.
            cycle: The number of the cycle, for exchanges.
        """
        blocks = list(self._cut(grouping, chosen, limit, step, least, by_groups))

        def work(numbered: tuple[int, NDArray[np.int64]]) -> Part | None:
            if self.run.cancelled():
                return None
            number, groups = numbered
            entries, labels = grouping.entries_of(groups)
            tuples = grouping.tuples[entries]
            budget = self._budget(len(entries), cycle, mix(step, number)) if task is Task.EXCHANGE else NO_BUDGET
            block = self.block(task, tuples, grouping.rows[entries], labels, budget)
            picks, rows, new_labels = block.work()
            return tuples[picks], rows, new_labels

        parts = []
        n_steps = 3 * self.effort.cycles + 1
        for part in self.pool.map(work, enumerate(blocks)):
            if part is not None:
                parts.append(part)
                self.run.progress((step + len(parts) / len(blocks)) / n_steps)
        if self.run.cancelled():
            raise CancelledError
        entries, labels = grouping.entries_of(np.flatnonzero(~chosen))
        parts.append((grouping.tuples[entries], grouping.rows[entries], labels))
        return Grouping.joined(parts)

    def _budget(self, n_entries: int, cycle: int, number: int) -> Budget:
        """Return the budget of exchanges of a block; its seed comes from the run and the place of the block."""
        effort = self.effort
        proposals = max(effort.proposals + effort.proposals_per_k * self.problem.k, effort.least_steps // n_entries)
        return Budget(proposals, effort.heat * HEATS[cycle % len(HEATS)], mix(self.run.seed, cycle, number))

    def block(
        self, task: Task, tuples: Labels, rows: NDArray[np.int64], groups: Labels, budget: Budget = NO_BUDGET
    ) -> Block:
        """Return the block of some entries: all that a kernel needs, and nothing of the rest of the table."""
        problem = self.problem
        return Block(
            task=task,
            codes=np.ascontiguousarray(problem.codes[tuples]),
            classes=problem.classes[tuples],
            rows=rows,
            groups=groups,
            prices=problem.prices,
            k=problem.k,
            positions=problem.requirement.positions,
            terms=problem.requirement.terms,
            facts=problem.requirement.facts,
            budget=budget,
        )

    def _cut(
        self, grouping: Grouping, chosen: NDArray[np.bool_], limit: int, step: int, least: int, by_groups: bool
    ) -> Iterator[NDArray[np.int64]]:
        """Yield blocks of groups that are near each other; a random member represents each group."""
        from shoal.kernels.shoaling.cut_blocks import cut_blocks

        problem, groups = self.problem, np.flatnonzero(chosen)
        members = grouping.members[groups]
        picked = draws(mix(self.run.seed, step), groups) % members.astype(np.uint64)
        tuples = grouping.tuples[grouping.starts[groups] + picked.astype(np.int64)]
        order = np.arange(len(groups), dtype=np.int32)
        marks = np.zeros(len(groups), dtype=np.uint8)
        cut_blocks(
            np.ascontiguousarray(problem.codes[tuples]),
            np.ones(len(groups), dtype=np.int64) if by_groups else members,
            grouping.sizes()[groups],
            *problem.prices,
            np.ones(problem.codes.shape[1]),
            limit,
            least,
            order,
            marks,
        )
        begins = np.flatnonzero(marks)
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(groups)], strict=False):
            yield groups[order[begin:end]]
