"""A plan of windows, sets of rows that keep to all limits, inside which every method may group."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded, PeopleCounts
from shoal.encoding.limits import Limited

__all__ = [
    "LastMet",
    "parts_of",
    "plan_combinations",
    "plan_windows",
    "wall_classes",
]

MOST_ORDERS = 6  # orders of limits that are tried

Rows = NDArray[np.int64]
Labels = NDArray[np.int32]


def plan_windows(encoded: Encoded, limits: Sequence[Limited], k: int, *, lends: bool = True) -> Labels:
    """Divide the rows into windows of at least k rows (people, if people are counted) in which every limit is kept.

    With one limit, the plan leaves out as few rows as possible. With several, the windows of one limit are divided
    further by the next, in the order that leaves out fewest; another plan may be better.

    Args:
        encoded: The table.
        limits: Its limits.
        k: The least size of a window.
        lends: Whether frequent values may lend some of their rows to rare ones.

    Returns:
        The window of each canonical row; -1 for a row that no window has room for. Of the rows that one stands for,
        several windows may have some; they are left out only if all of them are.
    """
    walls = wall_classes(encoded.tuples, limits)[encoded.row_tuple]
    narrow = [limit for limit in limits if limit.most or limit.has_windows]
    best = np.full(len(walls), -1, dtype=np.int32)
    for number, order in enumerate(permutations(narrow)):
        if number == MOST_ORDERS:
            break
        plan = _Plan(encoded, k, _holders(encoded), lends=lends)
        labels = plan.labels(plan.divide(list(parts_of(walls)), order))
        if number == 0 or _left_out(encoded, labels) < _left_out(encoded, best):
            best = labels
        if _left_out(encoded, best) == 0:
            break
    return best


def plan_combinations(counted: Encoded, limits: Sequence[Limited], k: int, most: int) -> Labels | None:
    """Plan windows that have all rows with the same limited values; None if they have no room for too many rows.

    Args:
        counted: Combinations of limited values, and how many rows have each.
        limits: The limits.
        k: The least size of a window.
        most: How many rows may be left out.
    """
    labels = plan_windows(counted, limits, k, lends=False)
    return None if _left_out(counted, labels) > most else labels


def _left_out(encoded: Encoded, labels: Labels) -> int:
    return int(encoded.row_weights[labels < 0].sum())


def parts_of(labels: NDArray[Any]) -> Iterator[Rows]:
    """Yield the rows of each label in order; nothing if there are no rows."""
    if not len(labels):
        return
    order = np.argsort(labels, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


# ---- who is counted


class _Holders(Protocol):
    """What the size of a set of rows counts."""

    def sizes(self, sets: Sequence[Rows]) -> list[int]:
        """Return the size of each set."""

    def latest_starts(self, runs: Sequence[Sequence[Rows]], k: int) -> list[list[int]]:
        """Return for each set of a run the last one from which on the sets up to it have a size of k; -1 if none."""


def _holders(encoded: Encoded) -> _Holders:
    if encoded.people is not None:
        return _People(encoded.people)
    if encoded.counted_people is not None:
        return _CountedPeople(encoded.counted_people, len(encoded.order))
    return _Weights(encoded.weights)


@dataclass
class _Weights:
    """Rows are counted; weights: how many rows each row stands for, if not for itself only."""

    weights: Rows | None

    def sizes(self, sets: Sequence[Rows]) -> list[int]:
        """See `_Holders`."""
        weights = self.weights
        return [len(rows) if weights is None else int(weights[rows].sum()) for rows in sets]

    def take(self, rows: Rows, n_rows: int) -> tuple[Rows, Rows, int]:
        """Take so many of the rows that some rows stand for: those taken, and the others.

        A row that stands for some of both is divided; the new row, the first of the others, comes after all rows.
        Return also the row that was divided, or -1.
        """
        if self.weights is None:
            return rows[:n_rows], rows[n_rows:], -1
        upto = np.cumsum(self.weights[rows])
        last = int(np.searchsorted(upto, n_rows))
        others, rest = rows[last + 1 :], int(upto[last]) - n_rows
        if not rest:
            return rows[: last + 1], others, -1
        divided = int(rows[last])
        self.weights = np.append(self.weights, rest)
        self.weights[divided] -= rest
        return rows[: last + 1], np.append(len(self.weights) - 1, others), divided

    def latest_starts(self, runs: Sequence[Sequence[Rows]], k: int) -> list[list[int]]:
        """See `_Holders`."""
        below = [np.append(0, np.cumsum(self.sizes(sets))) for sets in runs]
        return [(np.searchsorted(own, own[1:] - k, side="right") - 1).tolist() for own in below]


@dataclass(frozen=True)
class _People:
    """People are counted; the person of each row is known."""

    people: Labels

    def sizes(self, sets: Sequence[Rows]) -> list[int]:
        """See `_Holders`."""
        return [len(np.unique(self.people[rows])) for rows in sets]

    def latest_starts(self, runs: Sequence[Sequence[Rows]], k: int) -> list[list[int]]:
        """See `_Holders`."""
        found = []
        for sets in runs:
            met, latest = LastMet(k), []
            for number, rows in enumerate(sets):
                met.meet(np.unique(self.people[rows]).tolist(), number)
                latest.append(met.latest)
            found.append(latest)
        return found


@dataclass(frozen=True)
class _CountedPeople:
    """People are counted by somebody who knows whose the rows are."""

    counts: PeopleCounts
    n_rows: int

    def sizes(self, sets: Sequence[Rows]) -> list[int]:
        """See `_Holders`."""
        if not sets:
            return []
        return [int(n) for n in self.counts.in_sets(*self._numbered([sets]))[0]]

    def latest_starts(self, runs: Sequence[Sequence[Rows]], k: int) -> list[list[int]]:
        """See `_Holders`."""
        if not runs:
            return []
        _, latest = self.counts.in_sets(*self._numbered(runs), k)
        return [own.tolist() for own in np.split(latest, np.cumsum([len(sets) for sets in runs])[:-1])]

    def _numbered(self, runs: Sequence[Sequence[Rows]]) -> tuple[Labels, Labels]:
        """Return for each row the number of its run, -1 if it is in none, and that of its set in the run."""
        run, number = np.full(self.n_rows, -1, dtype=np.int32), np.zeros(self.n_rows, dtype=np.int32)
        for i, sets in enumerate(runs):
            for j, rows in enumerate(sets):
                run[rows], number[rows] = i, j
        return run, number


class LastMet:
    """The k people who were met last in a run of sets."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._numbers: OrderedDict[int, int] = OrderedDict()  # where each was met last, those of long ago first

    def meet(self, people: Sequence[int], number: int) -> None:
        """Meet the people of the next set, or some of them."""
        for person in people:
            self._numbers.pop(person, None)
            self._numbers[person] = number
            if len(self._numbers) > self._k:
                self._numbers.popitem(last=False)

    @property
    def latest(self) -> int:
        """The last set from which on k people were met; -1 if there is none."""
        return next(iter(self._numbers.values())) if len(self._numbers) == self._k else -1


# ---- plans


class _Set(NamedTuple):
    """The rows of a value, or some of them, and their size."""

    rows: Rows
    size: int


@dataclass
class _Plan:
    """Divides rows of a table into windows of at least k rows or people.

    Attributes:
        encoded: The table.
        k: The least size of a window.
        holders: What is counted.
        lends: Whether frequent values lend rows.
        origins: The rows that were divided; the first one is now two rows, itself and a new one after all rows.
    """

    encoded: Encoded
    k: int
    holders: _Holders
    lends: bool = True
    origins: list[int] = field(default_factory=list)

    @property
    def _rows(self) -> Rows:
        """The row of the table that each row comes from."""
        every = np.arange(len(self.encoded.order) + len(self.origins))
        for number, origin in enumerate(self.origins, len(self.encoded.order)):
            every[number] = every[origin]
        return every

    def labels(self, windows: Sequence[Rows]) -> Labels:
        """Return for each row of the table the first window that has it, or a part of it."""
        of_rows, found = self._rows, np.full(len(self.encoded.order), -1, dtype=np.int32)
        for label, rows in reversed(list(enumerate(windows))):
            found[of_rows[rows]] = label
        return found

    def divide(self, parts: list[Rows], limits: Sequence[Limited]) -> list[Rows]:
        """Return windows of parts that keep to the limits, in order; rows that no window has room for are left out."""
        for limit in limits:
            ranks = limit.ranks[self.encoded.tuples[self.encoded.row_tuple[self._rows], limit.place]]
            runs = [[rows[own] for own in parts_of(ranks[rows])] for rows in parts]
            if limit.most:
                parts = self._of_values(runs, limit.most)
                continue
            latest = self.holders.latest_starts(runs, self.k)
            parts = [
                each
                for sets, starts in zip(runs, latest, strict=True)
                for each in self._of_ranks(sets, [int(ranks[rows[0]]) for rows in sets], limit.reach, starts)
            ]
        if limits and not limits[-1].most:  # runs of ranks are large enough
            return parts
        return [rows for rows, size in zip(parts, self.holders.sizes(parts), strict=True) if size >= self.k]

    def _of_ranks(
        self, parts: Sequence[Rows], distinct: Sequence[int], reach: Rows, latest: Sequence[int]
    ) -> list[Rows]:
        """Return runs of ranks within reach that leave out fewest rows and, among these, the fewest runs.

        Args:
            parts: The rows of each rank that occurs.
            distinct: These ranks.
            reach: For each rank, the greatest that may share its window.
            latest: For each part, the last one from which on a run up to it is large enough; -1 if there is none.
        """
        weights = self.holders.weights if isinstance(self.holders, _Weights) else self.encoded.weights
        sizes = _Weights(weights).sizes(parts)
        ends = np.searchsorted(distinct, reach[list(distinct)], side="right")  # of the longest run from each rank
        first = 0
        begun: deque[int] = deque()  # where the last run may begin, the best first; each is better than those before it
        # The best so far for the ranks before each one: rows left out, number of runs, and where the last run began.
        left, runs, begins = [0], [0], [-1]
        for i in range(len(distinct)):
            choice = (left[i] + sizes[i], runs[i], -1)
            while ends[first] <= i:
                first += 1
            for j in range(latest[i - 1] + 1 if i else 0, latest[i] + 1):
                while begun and (left[begun[-1]], runs[begun[-1]]) > (left[j], runs[j]):
                    begun.pop()
                begun.append(j)
            while begun and begun[0] < first:
                begun.popleft()
            if begun:
                choice = min(choice, (left[begun[0]], runs[begun[0]] + 1, begun[0]))
            left.append(choice[0])
            runs.append(choice[1])
            begins.append(choice[2])
        found, i = [], len(distinct)
        while i:
            if begins[i] >= 0:
                found.append(np.concatenate(parts[begins[i] : i]))
                i = begins[i]
            else:
                i -= 1
        return found[::-1]

    def _of_values(self, runs: Sequence[Sequence[Rows]], most: int) -> list[Rows]:
        """Return groups of at most `most` values. Values of too few rows go together, the largest with the smallest.

        What is still too small borrows rows of a value that can spare them, or joins a group that has room for it.

        Args:
            runs: For each part of the table, the rows of each value.
            most: The largest number of values.
        """
        sizes = iter(self.holders.sizes([rows for sets in runs for rows in sets]))
        sized = [[_Set(rows, size) for rows, size in zip(sets, sizes, strict=False)] for sets in runs]
        found = [self._joined(sets, most) for sets in sized]
        joined = [np.concatenate([each.rows for each in window]) for windows, _ in found for window in windows]
        sizes = iter(self.holders.sizes(joined))
        parts = []
        for windows, large in found:
            lacking = [window for window, size in zip(windows, sizes, strict=False) if size < self.k]
            hosted = [*windows, *([each] for each in large)]
            if not self.lends:  # joined to each other, those that lack rows may leave no room for one that has them
                lacks = {id(window) for window in lacking}
                hosted.sort(key=lambda own: id(own) in lacks)
            for window in lacking:
                host = next((own for own in hosted if own is not window and len(own) + len(window) <= most), None)
                if host is not None:
                    host += window
                    hosted = [own for own in hosted if own is not window]
            parts += [np.concatenate([each.rows for each in window]) for window in hosted]
        return parts

    def _joined(self, sets: Sequence[_Set], most: int) -> tuple[list[list[_Set]], list[_Set]]:
        """Join values of too few rows, and let others lend; return what was joined, and values of enough rows."""
        parts = sorted(sets, key=lambda each: (-each.size, each.rows[0]))
        large = [each for each in parts if each.size >= self.k]
        small = [each for each in parts if each.size < self.k]
        found: list[list[_Set]] = []
        while small:
            window = [small.pop()]
            while (lacking := self._lacking(window)) > 0 and len(window) < most and small:
                lender = self._borrow(large, lacking) if len(window) + 1 == most else None
                if not self.lends and len(window) + 1 == most and small[0].size < lacking:
                    break  # the last place is that of a value of enough rows
                window.append(small.pop(0) if lender is None else lender)
            if (lacking := self._lacking(window)) > 0 and len(window) < most:
                lender = self._borrow(large, lacking)
                window += [] if lender is None else [lender]
            found.append(window)
        return found, large

    def _lacking(self, window: Sequence[_Set]) -> int:
        """Return what a window lacks. Where people are counted elsewhere, those of its values are added up."""
        if isinstance(self.holders, _People):
            return self.k - self.holders.sizes([np.concatenate([each.rows for each in window])])[0]
        return self.k - sum(each.size for each in window)

    def _borrow(self, large: list[_Set], n_rows: int) -> _Set | None:
        """Take rows from the largest value that can spare them."""
        if not self.lends or not isinstance(self.holders, _Weights):
            return None
        for i, part in enumerate(large):
            if part.size - n_rows >= self.k:
                lent, others, divided = self.holders.take(part.rows, n_rows)
                large[i] = _Set(others, part.size - n_rows)
                if divided >= 0:
                    self.origins.append(divided)
                return _Set(lent, n_rows)
        return None


def wall_classes(tuples: NDArray[Any], limits: Sequence[Limited]) -> Rows:
    """Return the class of each tuple over all limits; no group has tuples of two classes."""
    classes = np.zeros(len(tuples), dtype=np.int64)
    for limit in limits:
        classes = classes * (int(limit.walls.max(initial=0)) + 1) + limit.walls[tuples[:, limit.place]]
        classes = np.unique(classes, return_inverse=True)[1].astype(np.int64)
    return classes
