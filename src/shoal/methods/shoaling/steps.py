"""The steps of shoaling's search, each in blocks of groups that are near each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.errors import CancelledError
from shoal.methods.base import Run
from shoal.methods.counter_random import draws, mix
from shoal.methods.shoaling.block import MOST_PARTS, NO_BUDGET, Block, Budget, Part, Task
from shoal.methods.shoaling.grouping import Grouping, count_people, in_parts, near_hosts, spread_out
from shoal.methods.shoaling.problem import LARGE_TABLE, Problem

__all__ = ["EFFORTS", "EFFORTS_BY_VARIANCE", "Effort", "Search"]

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Effort:
    """How long to search. Budgets are numbers of steps, never time, so that every machine finds the same groups."""

    cycles: int
    proposals: int  # exchanges proposed for each entry and cycle
    proposals_per_k: int  # and as many more for each row of k
    share_of_large: float  # the share of these proposals in a table of many tuples
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
        share_of_large=1.0,
        least_steps=1_000,
        heat=0.0,
        exchange=256,
        exchange_per_k=10,
        with_members=False,
        halvings=(5,),
    ),
    "normal": Effort(
        cycles=1,
        proposals=60,
        proposals_per_k=15,
        share_of_large=0.75,
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
        share_of_large=1.0,
        least_steps=200_000,
        heat=0.2,
        exchange=2048,
        exchange_per_k=40,
        with_members=True,
        halvings=(3, 5),
    ),
}
# The same for the sum of squares, which is cheaper to compute. Exchanges are hot and long, in blocks that hold most
# tables as a whole: with several columns, most groups lie at the border of a smaller block.
_LONG = replace(
    EFFORTS["normal"],
    proposals=900,
    proposals_per_k=0,
    share_of_large=0.06,
    least_steps=1_000_000,
    heat=0.7,
    exchange=2**18,
)
EFFORTS_BY_VARIANCE = {
    "fast": replace(EFFORTS["fast"], proposals=40, least_steps=100_000, heat=0.3, exchange=2**18),
    "normal": _LONG,
    "high": replace(_LONG, proposals=2_500, least_steps=5_000_000),
}
CYCLES_OF_BLOCKS = 2  # cycles if a table is more than one such block, each with its share of the proposals
CYCLES_OF_SMALL = 4  # cycles if a table is small, each with the least number of steps
BLOCK_TUPLES = 1200  # tuples of a block in which groups grow; for small k, fewer do
LEAST_BLOCK_TUPLES, BLOCK_TUPLES_PER_K = 680, 60
LEAST_ITEMS = 16  # groups, or tuples, of a block in which the sum of squares is lowered
SCATTER_TUPLES = 4096  # tuples of a block in which MDAV forms groups
CHUNK_GROUPS = 200  # groups of a block in which groups are given up
HEATS = (1.0, 0.5, 1.0, 2.0)  # factors of the first temperature, cycle after cycle
LARGEST_K_TO_REBUILD = 20
LARGEST_K_TO_MERGE = 20  # for larger groups, gathering k members is often cheaper than merging the nearest
CHARGES = 24  # charges to try
MOST_CHARGE = 2**61  # the kernels add it to costs, in 64 bits
SHARES = 16  # shares of a step for each thread; one task, because a single block may take less time than a task


@dataclass(frozen=True)
class Search:
    """The steps of the search: each cuts groups into blocks and returns groups that do not cost more."""

    problem: Problem
    effort: Effort
    run: Run
    pool: Executor
    charge: int = 0  # what a group costs beside its rows

    def of_section(self, problem: Problem, number: int, n_sections: int) -> Search:
        """Return the search of a section of the table, with the same effort; the first has the seed of the table."""
        run = self.run
        seed = mix(run.seed, number) if number else run.seed
        own = replace(run, seed=seed, progress=lambda share: run.progress((number + share) / n_sections))
        return replace(self, problem=problem, run=own)

    def grow(self, singles: Grouping) -> Grouping:
        """Merge the tuples that are too small alone; if they are too few for a group, with larger ones near them."""
        problem = self.problem
        plain = problem.requirement.plain
        if not plain:
            singles = spread_out(problem, singles)
        chosen = singles.people(problem) < problem.k if plain else np.full(len(singles.members), True)
        if 0 < count_people(problem, singles, chosen) < problem.k:
            chosen |= near_hosts(problem, singles, chosen)
        with_members = self.effort.with_members and problem.k > LARGEST_K_TO_MERGE
        two_ways = with_members and plain and not problem.by_person
        task = Task.GROW_TWO_WAYS if two_ways else Task.GROW
        limit = min(BLOCK_TUPLES, LEAST_BLOCK_TUPLES + BLOCK_TUPLES_PER_K * problem.k)
        return self._in_blocks(task, singles, chosen, limit=limit, least=problem.k, step=0)

    def mix(self) -> Grouping:
        """Cut the table into small groups that pass; where rows near each other do not, cuts mix in rows from afar."""
        from shoal.kernels.shoaling.starts.mixed_cuts import cut_mixed

        problem = self.problem
        tuples, rows = in_parts(problem.counts, max(1, problem.k // 2))
        order, marks = np.arange(len(tuples), dtype=np.int32), np.zeros(len(tuples), dtype=np.uint8)
        cut_mixed(
            np.ascontiguousarray(problem.codes[tuples]),
            rows,
            problem.classes[tuples],
            problem.people[tuples] if problem.by_person else problem.people,
            *problem.prices,
            problem.k,
            problem.requirement.positions,
            problem.requirement.terms,
            problem.requirement.facts,
            problem.requirement.steps,
            order,
            marks,
        )
        groups = np.cumsum(marks, dtype=np.int32) - np.int32(1)
        return Grouping.joined([(tuples[order], rows[order], groups)])

    def dissolve(self, grouping: Grouping, cycle: int) -> Grouping:
        """Give up groups whose members cost less elsewhere."""
        costly = grouping.prices(self.problem) > (-1 if self.charge else 0)
        return self._in_blocks(Task.DISSOLVE, grouping, costly, limit=CHUNK_GROUPS, by_groups=True, step=3 * cycle + 1)

    def start_with_fewer(
        self, grouping: Grouping, excess: Callable[[Problem, Grouping], float]
    ) -> tuple[Search, Grouping]:
        """Return not too many groups: larger ones grown anew, from which a few are given up.

        If terms of models steer, the groups are not grown anew: those of the start may be of another kind.
        """
        share = excess(self.problem, grouping)
        if share > 1 and self.problem.requirement.plain:
            larger = replace(self, problem=replace(self.problem, k=int(self.problem.k * sqrt(share))))
            grouping = self.dissolve(larger.grow(Grouping.of_tuples(self.problem)), 0)
        return self.give_up(grouping, excess)

    def give_up(self, grouping: Grouping, excess: Callable[[Problem, Grouping], float]) -> tuple[Search, Grouping]:
        """Give up groups that others can take in at the least cost, until there are not too many.

        A charge for each group decides which: it doubles until it suffices, and is then narrowed down.

        Returns:
            The search with this charge, and the groups; they may still be too many.
        """
        search, fewer = self, grouping
        if excess(self.problem, grouping) <= 1:
            return search, fewer
        low, high = self.charge, 0
        first = int(grouping.cost(self.problem)) // len(grouping.members) // 4 + 1
        for _ in range(CHARGES):
            charge = (low + high) // 2 if high else 2 * low or first
            if charge > MOST_CHARGE:
                break
            trial = replace(self, charge=charge)
            groups = trial.dissolve(grouping, 0)
            if excess(self.problem, groups) <= 1:
                search, fewer, high = trial, groups, charge
            elif high:
                low = charge
            else:
                search, fewer, low = trial, groups, charge
            if high and high - low <= high // 16:
                break
        return search, fewer

    def scatter(self) -> Grouping:
        """Return the groups of MDAV, formed block by block."""
        singles = Grouping.of_tuples(self.problem)
        every = np.ones(len(singles.members), dtype=bool)
        limit = SCATTER_TUPLES if len(every) <= LARGE_TABLE else BLOCK_TUPLES
        return self._in_blocks(Task.SCATTER, singles, every, limit=limit, least=self.problem.k, step=0)

    def gather(self, grouping: Grouping) -> Grouping:
        """Let rows move and swap places while that lowers the sum of squares; each cycle cuts new blocks."""
        # Where codes matter, a block keeps the number of entries of each code in each group.
        limit = EFFORTS["high"].exchange if self.problem.needs_codes else self.effort.exchange
        limit = max(limit, self.effort.exchange_per_k * self.problem.k)
        cycles, proposals = 1, self.effort.proposals
        if len(grouping.tuples) > limit:
            cycles, proposals = CYCLES_OF_BLOCKS, -(-proposals // CYCLES_OF_BLOCKS)
        elif len(grouping.tuples) * proposals < self.effort.least_steps:
            cycles = CYCLES_OF_SMALL
        share = replace(self.effort, cycles=cycles, proposals=proposals)
        search = replace(self, effort=share)
        for cycle in range(cycles):
            every = np.ones(len(grouping.members), dtype=bool)
            grouping = search._in_blocks(Task.GATHER, grouping, every, limit=limit, step=3 * cycle + 3, cycle=cycle)
        return grouping

    def improve(self, grouping: Grouping, cycle: int) -> Grouping:
        """Rebuild neighbouring groups, then let rows move and swap places; each step cuts new blocks."""
        problem, k = self.problem, self.problem.k
        limit = max(self.effort.exchange, self.effort.exchange_per_k * k)
        if cycle > 0:
            grouping = self.dissolve(grouping, cycle)
        if cycle > 0 and k <= LARGEST_K_TO_REBUILD and not len(problem.crowd.rows):
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

        def work(numbers: range) -> list[Part]:
            return self._work(task, grouping, blocks, numbers, step, cycle)

        parts: list[Part] = []
        n_steps = 3 * self.effort.cycles + 1
        size = -(-len(blocks) // (SHARES * max(1, self.run.threads))) or 1
        shares = [range(begin, min(begin + size, len(blocks))) for begin in range(0, len(blocks), size)]
        for done in self.pool.map(work, shares):
            parts += done
            self.run.progress((step + len(parts) / len(blocks)) / n_steps)
        if self.run.cancelled():
            raise CancelledError
        entries, labels = grouping.entries_of(np.flatnonzero(~chosen))
        parts.append((grouping.tuples[entries], grouping.rows[entries], labels))
        return Grouping.joined(parts)

    def _work(
        self,
        task: Task,
        grouping: Grouping,
        blocks: Sequence[NDArray[np.int64]],
        numbers: range,
        step: int,
        cycle: int,
    ) -> list[Part]:
        """Run a task on consecutive blocks, whose entries are gathered at once; after a cancel, on none."""
        entries, labels = grouping.entries_of(np.concatenate([blocks[number] for number in numbers]))
        tuples, rows = grouping.tuples.take(entries), grouping.rows.take(entries)
        exchanges = task in (Task.EXCHANGE, Task.GATHER)
        parts: list[Part] = []
        first = begin = 0
        for number in numbers:
            if self.run.cancelled():
                break
            end = begin + int(grouping.members[blocks[number]].sum())
            own = tuples[begin:end]
            budget = self._budget(len(own), cycle, mix(step, number)) if exchanges else NO_BUDGET
            block = self.block(task, own, rows[begin:end], labels[begin:end] - np.int32(first), budget)
            picks, new_rows, new_labels = block.work()
            parts.append((own.take(picks), new_rows, new_labels))
            first, begin = first + len(blocks[number]), end
        return parts

    def _budget(self, n_entries: int, cycle: int, number: int) -> Budget:
        """Return the budget of exchanges of a block; its seed comes from the run and the place of the block."""
        effort = self.effort
        # If the sum of squares is lowered, blocks may be small: the least number of steps is that of the whole table.
        if self.problem.space is not None:
            n_entries = int(np.minimum(self.problem.counts, MOST_PARTS * self.problem.k).sum())
        proposals = max(effort.proposals + effort.proposals_per_k * self.problem.k, effort.least_steps // n_entries)
        return Budget(proposals, effort.heat * HEATS[cycle % len(HEATS)], mix(self.run.seed, cycle, number))

    def block(
        self, task: Task, tuples: Labels, rows: NDArray[np.int64], groups: Labels, budget: Budget = NO_BUDGET
    ) -> Block:
        """Return the block of some entries: all that a kernel needs, and nothing of the rest of the table."""
        problem = self.problem
        by_points = problem.space is not None and task in (Task.SCATTER, Task.GATHER)
        n_codes = problem.codes.shape[1] if problem.needs_codes or not by_points else 0
        codes = problem.codes.take(tuples, axis=0) if n_codes else np.empty((len(tuples), 0), dtype=np.int32)
        crowd = problem.crowd.near(codes, problem.prices.kinds)
        return Block(
            task=task,
            codes=codes,
            classes=problem.classes.take(tuples),
            people=problem.people[tuples] if problem.by_person else problem.people,
            rows=rows,
            groups=groups,
            prices=problem.prices,
            k=problem.k,
            positions=problem.requirement.positions,
            terms=problem.requirement.terms,
            facts=problem.requirement.facts,
            steps=problem.requirement.steps,
            cover=crowd.places,
            crowd=crowd.rows,
            charge=self.charge,
            budget=budget,
            points=problem.space.near(tuples) if problem.space is not None and by_points else None,
            breach=problem.breach,
        )

    def _cut(
        self, grouping: Grouping, chosen: NDArray[np.bool_], limit: int, step: int, least: int, by_groups: bool
    ) -> Iterator[NDArray[np.int64]]:
        """Yield blocks of groups that are near each other and of one class; a random member represents each group."""
        walls = self.problem.walls[grouping.tuples[grouping.starts[:-1]]]
        for wall in np.unique(walls[chosen]).tolist() if self.problem.limits else (None,):
            inside = chosen if wall is None else chosen & (walls == wall)
            yield from self._cut_class(grouping, inside, limit, step, least, by_groups)

    def _cut_class(
        self, grouping: Grouping, chosen: NDArray[np.bool_], limit: int, step: int, least: int, by_groups: bool
    ) -> Iterator[NDArray[np.int64]]:
        from shoal.kernels.shoaling.starts.cut_blocks import cut_blocks

        problem, groups = self.problem, np.flatnonzero(chosen)
        members = grouping.members[groups]
        picked = draws(mix(self.run.seed, step), groups) % members.astype(np.uint64)
        tuples = grouping.tuples[grouping.starts[groups] + picked.astype(np.int64)]
        order = np.arange(len(groups), dtype=np.int32)
        marks = np.zeros(len(groups), dtype=np.uint8)
        if problem.space is not None:
            weights = np.ones(len(groups), dtype=np.int64) if by_groups else members
            least_items = max(LEAST_ITEMS, least)
            for block in problem.space.cut(tuples, weights, limit, least_items, mix(self.run.seed, step)):
                yield groups[block]
            return
        cut_blocks(
            problem.codes.take(tuples, axis=0),
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
