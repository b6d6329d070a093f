"""Shoaling: grow groups of the rows nearest to each other, then let rows change places as long as that pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import CancelledError, InfeasibleError, UsageError
from shoal.methods.base import Run, check_models, failing_groups
from shoal.methods.counter_random import draws, mix
from shoal.methods.mondrian import Mondrian
from shoal.methods.options import read_flag, read_share
from shoal.methods.shoaling.grouping import Grouping, cheaper, near_hosts, repair
from shoal.methods.shoaling.level_cover import cover_tuples
from shoal.methods.shoaling.nested_ranges import in_halves, nested_partition
from shoal.methods.shoaling.problem import Problem, Recoding, prepare
from shoal.methods.suppression import leave_out, leave_out_greedy, spread
from shoal.models import PrivacyModel

__all__ = ["Shoaling"]

Labels = NDArray[np.int32]
Whole = TypeVar("Whole", np.int32, np.int64)
# What a kernel makes of a block: tuples, rows and groups of its entries.
Part = tuple[NDArray[np.int32], NDArray[np.int64], Labels]


@dataclass(frozen=True)
class Effort:
    """How much is tried. Budgets are steps, never time, so that a run can be repeated anywhere."""

    cycles: int
    proposals: int  # for each entry and cycle, and as many more for each row of k
    proposals_per_k: int
    least_steps: int  # proposals for a block and cycle at least
    heat: float  # the first temperature, in mean prices of a row times root k
    exchange: int  # entries of a block in which rows change places, and as many times k at least
    exchange_per_k: int
    with_members: bool
    halvings: tuple[int, ...]  # for each covering by levels, those of numbers without a hierarchy


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
BLOCK_TUPLES = 1200  # of a block in which groups grow
PAIRS_BLOCK_TUPLES = 800  # the same where k is small
CHUNK_GROUPS = 200  # of a block in which groups are given up
HEATS = (1.0, 0.5, 1.0, 2.0)  # times the first temperature, cycle after cycle
PARTNERS = 3  # groups that are pooled with another
LARGEST_K_TO_REBUILD = 20
# Where labels of hierarchies jump from level to level, hot exchanges undo more than they find, and wider blocks pay.
HEAT_IN_TREES, EXCHANGE_IN_TREES = 1 / 3, 2
CUT = 1  # which of the starts is Mondrian's


@dataclass(frozen=True)
class Shoaling:
    """Our own method: agglomeration in blocks, then moves and swaps between groups.

    effort: "fast", "normal" or "high": how long it looks for something better. alpha in [0, 1] balances the loss
    against data constraint rules: at 0.5 a group that breaks all rules of an attribute pays as much as for losing it,
    at 1 rules do not count, at 0 nothing else does. non_overlapping: ranges of a number or date never overlap in part;
    they are halves, quarters and so on of its rows.

    Cost: about O(q m) for m distinct tuples and q attributes, with a large constant that grows with k: tuples meet only
    inside their block. The result does not depend on the number of threads.

    >>> Shoaling(effort="fast").name
    'shoaling'
    """

    effort: str = "normal"
    alpha: float = 0.5
    non_overlapping: bool = False

    name: ClassVar[str] = "shoaling"

    def __post_init__(self) -> None:
        if self.effort not in EFFORTS:
            raise UsageError(f"shoaling: effort {self.effort!r} is not known. Use {', '.join(EFFORTS)}.")
        object.__setattr__(self, "alpha", read_share(self.name, "alpha", self.alpha))
        object.__setattr__(self, "non_overlapping", read_flag(self.name, "non_overlapping", self.non_overlapping))

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups that pass all models; within the suppression limit, leave out the rows that cost most."""
        most = run.most_suppressed(encoded.n_rows)
        stays = leave_out_greedy(encoded, models, most)
        searched = in_halves(encoded) if self.non_overlapping else encoded
        part = searched if stays.all() else searched.part(stays)
        k = check_models(self.name, part, models)

        def group(part: Encoded) -> Labels:
            return self._group(part, k, models, run)

        labels = leave_out(part, models, group(part), k, most - int((~stays).sum()), group)
        run.progress(1.0)
        if self.non_overlapping:
            return nested_partition(encoded, searched, spread(labels, stays))
        return tight_partition(encoded, spread(labels, stays))

    def _group(self, encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run) -> Labels:
        """Return the group of each canonical row."""
        problem = prepare(encoded, k, models, run, alpha=self.alpha)
        with ThreadPoolExecutor(max_workers=max(1, run.threads)) as pool:
            search = Search(problem, suited(EFFORTS[self.effort], problem), run, pool)
            starts = [search.grow(Grouping.of_tuples(problem)), cut(encoded, problem, models, run)]
            if any(attribute.tree is not None for attribute in encoded.attributes):
                halvings = search.effort.halvings if any(a.ordered for a in encoded.attributes) else (0,)
                starts += [covered(encoded, problem, run, n) for n in halvings]
            if not problem.free:
                starts = [repair(encoded, problem, models, start) for start in starts]
            starts = [start if i == CUT else search.eject(start, 0) for i, start in enumerate(starts)]
            grouping = min(starts, key=lambda start: start.cost(problem))
            for cycle in range(search.effort.cycles):
                grouping = search.improve(grouping, cycle)
        if not problem.free:
            grouping = repair(encoded, problem, models, grouping)
        labels = grouping.labels(problem)
        if not all(model.closed for model in models) and failing_groups(encoded, models, labels).any():
            promises = " and ".join(model.describe() for model in models)
            raise InfeasibleError(f"shoaling found no groups that pass {promises}. Weaken the goal.")
        return labels


def suited(effort: Effort, problem: Problem) -> Effort:
    """Return the effort for a table with hierarchies or without."""
    if not (problem.kinds == Recoding.TREE).any():
        return effort
    wider = effort.exchange_per_k * EXCHANGE_IN_TREES
    return replace(effort, heat=effort.heat * HEAT_IN_TREES, exchange_per_k=wider)


def cut(encoded: Encoded, problem: Problem, models: tuple[PrivacyModel, ...], run: Run) -> Grouping:
    """Return the groups of Mondrian's strict cuts."""
    labels = Mondrian().cut(encoded, problem.k, models, replace(run, progress=lambda share: None))
    return Grouping.from_rows(problem.row_tuple, labels)


def covered(encoded: Encoded, problem: Problem, run: Run, halvings: int) -> Grouping:
    """Return the groups of a covering by levels; what is left over joins a group, which may then be given up."""
    labels = cover_tuples(encoded, problem.k, run, halvings=halvings)[encoded.row_tuple]
    left = labels < 0
    if left.any():
        distances = problem.distances(int(problem.row_tuple[np.argmax(left)]))[problem.row_tuple]
        labels[left] = labels[np.argmin(np.where(left, np.iinfo(np.int64).max, distances))]
    return Grouping.from_rows(problem.row_tuple, labels)


@dataclass(frozen=True)
class Search:
    """The steps of the search: each takes groups, cuts them into blocks and gives back groups that cost no more."""

    problem: Problem
    effort: Effort
    run: Run
    pool: Executor

    def grow(self, singles: Grouping) -> Grouping:
        """Merge the tuples that are not ripe alone; where these are too few for a group, with ripe ones near them."""
        from shoal.kernels.shoaling.agglomerate import agglomerate

        problem = self.problem
        chosen = np.full(len(singles.rows), True) if not problem.requirement.plain else singles.rows < problem.k
        if 0 < singles.rows[chosen].sum() < problem.k:
            chosen |= near_hosts(problem, singles, chosen)

        def work(tuples: NDArray[np.int32], rows: NDArray[np.int64], labels: Labels, number: int) -> Part:
            agglomerate(problem.codes, tuples, rows, *problem.prices, *problem.required, labels)
            part = (tuples, rows, labels)
            if self.effort.with_members and problem.requirement.plain:
                return cheaper(problem, part, self._gather(tuples, rows))
            return part

        limit = PAIRS_BLOCK_TUPLES if problem.k < 4 else BLOCK_TUPLES
        return self._in_blocks(singles, chosen, work, limit=limit, least=problem.k, step=0)

    def _gather(self, tuples: NDArray[np.int32], rows: NDArray[np.int64]) -> Part:
        from shoal.kernels.shoaling.k_member import gather_members

        problem, n = self.problem, len(tuples)
        picks, counts, labels = with_room(tuples, n), with_room(rows, n), with_room(np.zeros(n, np.int32), n)
        n = gather_members(problem.codes, picks, counts, *problem.prices, *problem.required, n, labels)
        return picks[:n], counts[:n], labels[:n]

    def eject(self, grouping: Grouping, cycle: int) -> Grouping:
        """Give up groups whose members cost less elsewhere."""
        from shoal.kernels.shoaling.dissolve import dissolve

        problem = self.problem

        def work(tuples: NDArray[np.int32], rows: NDArray[np.int64], labels: Labels, number: int) -> Part:
            dissolve(problem.codes, tuples, rows, *problem.prices, *problem.required, int(labels[-1]) + 1, labels)
            return tuples, rows, labels

        costly = grouping.prices(problem) > 0
        return self._in_blocks(grouping, costly, work, limit=CHUNK_GROUPS, by_groups=True, step=3 * cycle + 1)

    def improve(self, grouping: Grouping, cycle: int) -> Grouping:
        """Rebuild neighbouring groups, then let rows move and change places; the blocks are cut anew each time."""
        from shoal.kernels.shoaling.anneal import anneal
        from shoal.kernels.shoaling.rebuild import rebuild

        problem, k = self.problem, self.problem.k
        limit = max(self.effort.exchange, self.effort.exchange_per_k * k)

        def grow_again(tuples: NDArray[np.int32], rows: NDArray[np.int64], labels: Labels, number: int) -> Part:
            rebuild(
                problem.codes, tuples, rows, *problem.prices, *problem.required, int(labels[-1]) + 1, PARTNERS, labels
            )
            return tuples, rows, labels

        def exchange(tuples: NDArray[np.int32], rows: NDArray[np.int64], labels: Labels, number: int) -> Part:
            n = len(tuples)
            picks, counts, groups = with_room(tuples, n // 2), with_room(rows, n // 2), with_room(labels, n // 2)
            proposals = max(self.effort.proposals + self.effort.proposals_per_k * k, self.effort.least_steps // n)
            budget = proposals, self.effort.heat * HEATS[cycle % len(HEATS)], mix(self.run.seed, cycle, number)
            n = anneal(
                *(
                    problem.codes,
                    picks,
                    counts,
                    *problem.prices,
                    *problem.required,
                    n,
                    int(labels[-1]) + 1,
                    *budget,
                    groups,
                ),
            )
            return picks[:n], counts[:n], groups[:n]

        if cycle > 0:
            grouping = self.eject(grouping, cycle)
        if cycle > 0 and k <= LARGEST_K_TO_REBUILD:
            costly = grouping.prices(problem) > 0
            grouping = self._in_blocks(grouping, costly, grow_again, limit=limit, step=3 * cycle + 2)
        every = np.ones(len(grouping.starts) - 1, dtype=bool)
        return self._in_blocks(grouping, every, exchange, limit=limit, step=3 * cycle + 3)

    def _in_blocks(
        self,
        grouping: Grouping,
        chosen: NDArray[np.bool_],
        work: Callable[[NDArray[np.int32], NDArray[np.int64], Labels, int], Part],
        *,
        limit: int,
        step: int,
        least: int = 1,
        by_groups: bool = False,
    ) -> Grouping:
        """Cut the chosen groups into blocks around a random member each, and put together what comes of the blocks."""
        blocks = list(self._cut(grouping, chosen, limit, step, least, by_groups))

        def task(numbered: tuple[int, NDArray[np.int64]]) -> Part | None:
            if self.run.cancelled():
                return None
            number, groups = numbered
            entries, labels = grouping.entries_of(groups)
            return work(grouping.tuples[entries], grouping.rows[entries], labels, mix(step, number))

        parts = []
        n_steps = 3 * self.effort.cycles + 1
        for part in self.pool.map(task, enumerate(blocks)):
            if part is not None:
                parts.append(part)
                self.run.progress((step + len(parts) / len(blocks)) / n_steps)
        if self.run.cancelled():
            raise CancelledError
        entries, labels = grouping.entries_of(np.flatnonzero(~chosen))
        parts.append((grouping.tuples[entries], grouping.rows[entries], labels))
        return Grouping.joined(parts)

    def _cut(
        self, grouping: Grouping, chosen: NDArray[np.bool_], limit: int, step: int, least: int, by_groups: bool
    ) -> Iterator[NDArray[np.int64]]:
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


def with_room(array: NDArray[Whole], n: int) -> NDArray[Whole]:
    """Return a copy with n free places and a few more behind it."""
    return np.concatenate([array, np.zeros(n + 16, dtype=array.dtype)])
