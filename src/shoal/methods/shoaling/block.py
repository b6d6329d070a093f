"""A block of work for the kernels: a value that can be sent to another thread, process or machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InternalError
from shoal.methods.clustering.mdav import gather_groups
from shoal.methods.shoaling.pricing import Prices
from shoal.methods.shoaling.space import Points
from shoal.metrics.variance import Coordinates

__all__ = ["MOST_PARTS", "NO_BUDGET", "Block", "Budget", "Part", "Task", "price_of"]

MOST_PARTS = 3  # an entry of many rows is split into parts of at most 3 k rows in all
PARTNERS = 3  # groups that are pooled with another when they are rebuilt

Ints = NDArray[np.int32]
Integer = TypeVar("Integer", np.int32, np.int64)
# Entries of groups: tuples, rows, groups.
Part = tuple[Ints, NDArray[np.int64], Ints]


class Task(StrEnum):
    """What the kernels do with a block."""

    GROW = "grow"  # merge the nearest tuples into groups
    GROW_TWO_WAYS = "grow two ways"  # and gather k members as well; keep the cheaper groups
    DISSOLVE = "dissolve"  # give up groups whose members cost less elsewhere
    REBUILD = "rebuild"  # pool neighbouring groups and grow them again
    EXCHANGE = "exchange"  # let rows move and swap places
    SCATTER = "scatter"  # form the groups of MDAV
    GATHER = "gather"  # let rows move and swap places while that lowers the sum of squares


class Budget(NamedTuple):
    """How long rows exchange places: proposals for each entry, first temperature, seed."""

    proposals: int = 0
    heat: float = 0.0
    seed: int = 0


NO_BUDGET = Budget()


@dataclass(frozen=True, eq=False)
class Block:
    """Some entries with all that is needed to group them anew.

    The result depends on the content only, never on memory, threads or order. Blocks with equal content have equal ids.

    Attributes:
        task: What to do.
        codes: One row of codes for each entry.
        classes: For each entry, the class of its rows; models count rows by class.
        people: For each entry, the person of its rows; empty if sizes count rows.
        rows: The number of rows of each entry.
        groups: The group of each entry, in ascending order; the entries of a block that grows have a group each.
        prices: Of the whole table.
        k: The least group size.
        positions: The places of each class in the tally of a group.
        terms: What models require of the tally.
        facts: What models know of the whole table, two for each place of the tally.
        steps: The rows of the whole table up to each step of an order, and the sum of these before it.
        cover: For each row of the population inside the block, its place in each attribute of the kernel.
        crowd: How often each of these rows occurs.
        charge: What a group costs beside its rows; above 0 if there must be fewer groups.
        budget: For exchanges.
        points: The entries as points, if the sum of squares is lowered.
        breach: The least price of a group that breaks a ban or a limit; 0 if there are none.
    """

    task: Task
    codes: Ints = field(repr=False)
    classes: Ints = field(repr=False)
    people: Ints = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    groups: Ints = field(repr=False)
    prices: Prices = field(repr=False)
    k: int
    positions: Ints = field(repr=False)
    terms: NDArray[np.float64] = field(repr=False)
    facts: NDArray[np.float64] = field(repr=False)
    steps: NDArray[np.int64] = field(repr=False)
    cover: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int32), repr=False)
    crowd: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    charge: int = 0
    budget: Budget = NO_BUDGET
    points: Points | None = None
    breach: int = 0

    @cached_property
    def id(self) -> str:
        """A hash of the content, the same on every machine."""
        numbers = (str(self.task), self.k, self.charge, *self.budget, self.breach)
        arrays = (self.codes, self.classes, self.people, self.rows, self.groups, *self.prices)
        points = self.points or ()
        models = (self.positions, self.terms, self.facts, self.steps)
        return _digest(numbers, (*arrays, *models, self.cover, self.crowd, *points))

    def work(self) -> Part:
        """Run the task; return entries of new groups, with indices of entries of the block in place of tuples."""
        match self.task:
            case Task.GROW:
                return self._grow()
            case Task.GROW_TWO_WAYS:
                return self._cheaper(self._grow(), self._gather())
            case Task.DISSOLVE:
                return self._dissolve()
            case Task.REBUILD:
                return self._rebuild()
            case Task.EXCHANGE:
                return self._exchange()
            case Task.SCATTER:
                return self._scatter()
            case Task.GATHER:
                return self._gather_close()
        raise InternalError(f"a block has the unknown task {self.task!r}.")

    @property
    def _every(self) -> Ints:
        return np.arange(len(self.rows), dtype=np.int32)

    @property
    def _n_groups(self) -> int:
        return int(self.groups[-1]) + 1

    def _with_room(self, n: int) -> Part:
        """Return copies of the entries, their rows and their groups with room for n parts of entries."""
        return with_room(self._every, n), with_room(self.rows, n), with_room(self.groups, n)

    def _grow(self) -> Part:
        from shoal.kernels.shoaling.starts.agglomerate import agglomerate

        groups = self.groups.copy()
        agglomerate(self, groups)
        return self._every, self.rows, groups

    def _gather(self) -> Part:
        from shoal.kernels.shoaling.starts.k_member import gather_members

        entries, rows, groups = self._with_room(len(self.rows))
        n = gather_members(self, entries, rows, groups)
        return entries[:n], rows[:n], groups[:n]

    def _cheaper(self, part: Part, other: Part) -> Part:
        """Return the groups that cost less, the first if both cost the same."""
        return other if price_of(self.codes, self.prices, other) < price_of(self.codes, self.prices, part) else part

    def _dissolve(self) -> Part:
        from shoal.kernels.shoaling.dissolve import dissolve

        groups = self.groups.copy()
        dissolve(self, self._n_groups, groups)
        return self._every, self.rows, groups

    def _rebuild(self) -> Part:
        from shoal.kernels.shoaling.rebuild import rebuild

        groups = self.groups.copy()
        rebuild(self, self._n_groups, PARTNERS, groups)
        return self._every, self.rows, groups

    def _exchange(self) -> Part:
        from shoal.kernels.shoaling.anneal import anneal

        entries, rows, groups = self._with_room(len(self.rows) // 2)
        n = anneal(self, self._n_groups, *self.budget, entries, rows, groups)
        return entries[:n], rows[:n], groups[:n]

    def _scatter(self) -> Part:
        assert self.points is not None
        point, places, values, units = self.points
        return gather_groups(Coordinates(places, values, units).take(point), self.rows, self.k)

    def _gather_close(self) -> Part:
        from shoal.kernels.variance.exchange import exchange

        assert self.points is not None
        room = int(np.minimum(self.rows, MOST_PARTS * self.k).sum()) if not len(self.people) else 0
        entries, rows, groups = self._with_room(room)
        n = exchange(self, self._n_groups, *self.budget, self.breach, *self.points, entries, rows, groups)
        return entries[:n], rows[:n], groups[:n]


def with_room(array: NDArray[Integer], n: int) -> NDArray[Integer]:
    """Return a copy with n free places and a few more behind it."""
    return np.concatenate([array, np.zeros(n + 16, dtype=array.dtype)])


def price_of(codes: Ints, prices: Prices, part: Part) -> int:
    """Return what all rows of some groups cost; codes: of each tuple."""
    from shoal.kernels.shoaling.prices import price_groups

    tuples, rows, groups = part
    order = np.argsort(groups, kind="stable")
    starts = np.append(np.flatnonzero(np.diff(groups[order], prepend=-1)), len(order)).astype(np.int64)
    of_a_row = np.empty(len(starts) - 1, dtype=np.int64)
    price_groups(codes, np.ascontiguousarray(tuples[order]), starts, *prices, of_a_row)
    return int((of_a_row * np.add.reduceat(rows[order], starts[:-1])).sum())


def _digest(numbers: Iterable[object], arrays: Iterable[NDArray[Any]]) -> str:
    content = hashlib.sha256(repr(tuple(numbers)).encode())
    for array in arrays:
        plain = np.ascontiguousarray(array)
        content.update(f"{plain.dtype.newbyteorder('<').str}{plain.shape}".encode())
        content.update(plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes())
    return content.hexdigest()
