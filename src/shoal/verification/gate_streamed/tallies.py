"""What is counted in the groups of a file while its rows pass by."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.verification.cells import Cells
from shoal.verification.gate_streamed.blocks import BlockColumn
from shoal.verification.models.checks import ModelChecks
from shoal.verification.verdict import Group, Violation, small_groups_violation

__all__ = ["MIXED", "ONE_VALUE", "OWN_K", "PERSON", "SIZE", "FiledRuns", "GroupCounts", "GroupTally", "Runs"]

# In place of a column: the rows of a group, those of one of its people, or those that ask for a k of their own.
SIZE, PERSON, OWN_K = -1, -2, -3
ONE_VALUE = -4  # and, downwards from here, those of sensitive columns that no model counts, with a number for the value
MIXED = 0  # in place of the number of a value: a group has several

LEAST_PENDING = 1_000_000  # runs of rows that are merged at once
MOST_RUNS = 4_000_000  # runs that counters keep in memory if they may go to files
PART_BITS = 6  # of the key of a group, which choose one of 64 parts of a file

Codes = NDArray[np.int32]
Keys = NDArray[np.uint64]


class Runs(NamedTuple):
    """Rows that belong together: the key of their group, a code, their number, and the first of them."""

    keys: Keys
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    first: NDArray[np.int64]

    def parts(self) -> tuple[list[int], list[int]]:
        """Return where parts begin and end that differ in the first bits of their groups; runs are sorted by group."""
        ends = np.searchsorted(self.keys[0] >> np.uint64(64 - PART_BITS), np.arange(1 << PART_BITS), side="right")
        return [0, *ends[:-1].tolist()], ends.tolist()

    def section(self, start: int, end: int) -> Runs:
        """Return some runs that follow each other."""
        return Runs(self.keys[:, start:end], *(each[start:end] for each in self[1:]))


class RunCounter:
    """Counts rows by group and code, in arrays that are merged from time to time."""

    def __init__(self) -> None:
        self._parts: list[Runs] = []
        self._n_merged = self._n_pending = 0

    def add(self, keys: Keys, codes: NDArray[np.int64], first: int) -> None:
        """Count some rows; first: the number of the first of them."""
        new = np.ones(keys.shape[1], dtype=bool)
        new[1:] = (keys[0, 1:] != keys[0, :-1]) | (keys[1, 1:] != keys[1, :-1]) | (codes[1:] != codes[:-1])
        starts = np.flatnonzero(new)
        rows = np.diff(starts, append=keys.shape[1]).astype(np.int64)
        self._parts.append(Runs(keys[:, starts], codes[starts], rows, starts + first))
        self._n_pending += len(starts)
        if self._n_pending > max(LEAST_PENDING, self._n_merged):
            self.merged()

    def take(self, runs: Runs) -> None:
        """Add counts."""
        self._parts.append(runs)
        self._n_pending += len(runs.codes)

    @property
    def size(self) -> int:
        """The number of runs that are kept."""
        return self._n_merged + self._n_pending

    def merged(self) -> Runs:
        """Return the counts, sorted by group and code."""
        if not self._parts:
            none = np.empty(0, dtype=np.int64)
            return Runs(np.empty((2, 0), dtype=np.uint64), none, none, none)
        if self._n_pending:
            keys = np.concatenate([part.keys for part in self._parts], axis=1)
            codes, rows, first = (np.concatenate([part[i] for part in self._parts]) for i in (1, 2, 3))
            self._parts = []
            order = np.lexsort((codes, keys[1], keys[0]))  # stable, so that the first row of a run comes first
            keys, codes = keys[:, order], codes[order]
            new = np.ones(len(codes), dtype=bool)
            new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0) | (codes[1:] != codes[:-1])
            starts = np.flatnonzero(new)
            self._parts = [
                Runs(
                    keys[:, starts],
                    codes[starts],
                    np.add.reduceat(rows[order], starts),
                    np.minimum.reduceat(first[order], starts),
                )
            ]
            self._n_merged, self._n_pending = len(starts), 0
        return self._parts[0]


class ValueCounter(RunCounter):
    """Counts rows by group, with the number of the value that they share, or MIXED: memory depends on the groups."""

    def add(self, keys: Keys, codes: NDArray[np.int64], first: int) -> None:
        """Count some rows; first: the number of the first of them."""
        block = RunCounter()
        block.add(keys, codes, first)
        self.take(_one_each(block.merged()))
        if self._n_pending > max(LEAST_PENDING, self._n_merged):
            self.merged()

    def merged(self) -> Runs:
        """Return the counts, sorted by group."""
        found = _one_each(super().merged())
        self._parts, self._n_merged = [found], len(found.codes)
        return found


def _one_each(runs: Runs) -> Runs:
    """Return one run for each group, of the value that all of its rows share, or of MIXED; runs: sorted by group."""
    new = np.ones(len(runs.codes), dtype=bool)
    new[1:] = (runs.keys[:, 1:] != runs.keys[:, :-1]).any(axis=0)
    starts = np.flatnonzero(new)
    if len(starts) == len(new):
        return runs
    is_mixed = np.diff(starts, append=len(new)) > 1
    return Runs(
        runs.keys[:, starts],
        np.where(is_mixed, MIXED, runs.codes[starts]),
        np.add.reduceat(runs.rows, starts),
        np.minimum.reduceat(runs.first, starts),
    )


class FiledRuns:
    """Counts rows by group and code; in a nameless file, by the first bits of the group, once the runs are many.

    Args:
        folder: Where the file is; None to keep all runs, which can then be listed.
        share: How many such counters share the memory for runs.
    """

    def __init__(self, folder: str | None = None, share: int = 1) -> None:
        self._folder, self._most = folder, MOST_RUNS // share
        self._kept = RunCounter()
        self._file: IO[bytes] | None = None
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(1 << PART_BITS)]  # by part, places and sizes

    def add(self, keys: Keys, codes: NDArray[np.int64], first: int) -> None:
        """Count some rows; first: the number of the first of them."""
        self._kept.add(keys, codes, first)
        if self._folder is not None and self._kept.size > self._most:
            self._store(self._folder)

    def take(self, runs: Runs) -> None:
        """Add counts."""
        self._kept.take(runs)

    def listed(self) -> Runs:
        """Return the counts, sorted by group and code."""
        assert self._file is None
        return self._kept.merged()

    def parts(self) -> Iterator[Runs]:
        """Yield the counts, sorted by group and code, in parts that have the same groups for every such counter."""
        if self._folder is None or self._file is None:
            runs = self._kept.merged()
            yield from map(runs.section, *runs.parts())
            return
        self._store(self._folder)
        for pieces in self._pieces:
            found = RunCounter()
            for place, size in pieces:
                self._file.seek(place)
                first, second, *others = np.frombuffer(self._file.read(size), dtype=np.uint64).reshape(5, -1)
                found.take(Runs(np.stack([first, second]), *(each.view(np.int64) for each in others)))
            yield found.merged()

    def _store(self, folder: str) -> None:
        """Append the runs to the file, those of each part together."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        place = self._file.seek(0, os.SEEK_END)
        runs = self._kept.merged()  # sorted by group
        columns = np.stack([*runs.keys, *(each.view(np.uint64) for each in (runs.codes, runs.rows, runs.first))])
        for pieces, start, end in zip(self._pieces, *runs.parts(), strict=True):
            pieces.append((place, self._file.write(columns[:, start:end].tobytes())))
            place += pieces[-1][1]
        self._kept = RunCounter()


class GroupCounts(NamedTuple):
    """What was counted in groups: their rows, or those of them that have the same cell.

    Attributes:
        column: The place of the sensitive column among those that models count; or SIZE, PERSON, OWN_K or, downwards
            from ONE_VALUE, a column that no model counts. With a population, quasi-identifiers follow, and cells are
            those that groups show.
        groups: The keys of the groups, one for each count.
        cells: The distinct cells: sensitive ones, people, or the k that is asked for; numbers of values that a group
            shares.
        codes: The place among them of the cell of each count.
        rows: The number of rows of each count.
        of_maker: Whether groups are those of the maker, known by numbers, which show their centres.
    """

    column: int
    groups: Keys
    cells: list[str]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]
    of_maker: bool = False


class GroupTally:
    """The groups of a file, known by keys: their rows, or people, and what models count in them.

    Args:
        checks: The models besides k.
        cells: How to read each quasi-identifier.
        counts_people: Whether sizes count people.
        folder: Where pairs of groups and people go if they are many; by default they are kept, and can be listed.
        population: The text of the population table by column name, if a model counts it.
        uncounted: The sensitive columns that no model counts.

    Attributes:
        columns: The sensitive columns that models count.
        counted: The columns whose cells are counted in each group: these and, with a population, quasi-identifiers.
    """

    def __init__(
        self,
        checks: ModelChecks,
        cells: Mapping[str, Cells],
        *,
        counts_people: bool,
        folder: str | None = None,
        population: Mapping[str, Sequence[str]] | None = None,
        uncounted: Sequence[str] = (),
    ) -> None:
        self.counts_people = counts_people
        self.columns = checks.columns
        population = population if checks.needs_population else None
        self.counted = [*checks.columns, *(cells if population is not None else ())]
        self._checks, self._cells, self._population = checks, cells, population
        self._rows, self._asked = RunCounter(), RunCounter()
        self._people = FiledRuns(folder)
        self._values = {name: RunCounter() for name in self.counted}
        self._texts: dict[str, dict[str, int]] = {name: {} for name in self.counted}
        self._ks: dict[str, int] = {}
        self._shared = {name: ValueCounter() for name in uncounted}

    def add(
        self,
        groups: Keys,
        first: int,
        people: NDArray[np.int64] | None,
        counted: Mapping[str, tuple[BlockColumn, Codes]],
        n_stated: int,
    ) -> None:
        """Count some rows.

        Args:
            groups: The key of each row's group.
            first: The number of the first row.
            people: The person of each row.
            counted: By column whose cells are counted, the cells.
            n_stated: For how many rows the person is known.
        """
        self._rows.add(groups, np.zeros(groups.shape[1], dtype=np.int64), first)
        if people is not None and n_stated:
            self._people.add(groups[:, :n_stated], people, first)
        for name, (column, codes) in counted.items():
            known = self._texts[name]
            distinct, places = np.unique(codes, return_inverse=True)
            numbers = [known.setdefault(column.texts[code], len(known)) for code in distinct.tolist()]
            self._values[name].add(groups, np.array(numbers, dtype=np.int64)[places], first)

    def ask(self, groups: Keys, codes: Codes, texts: Sequence[str]) -> None:
        """Record the k that rows ask for."""
        distinct, places = np.unique(codes, return_inverse=True)
        numbers = [self._ks.setdefault(texts[code], len(self._ks)) for code in distinct.tolist()]
        if len(codes):
            self._asked.add(groups, np.array(numbers, dtype=np.int64)[places], 0)

    def look_at(self, name: str, groups: Keys, first: int, values: Keys) -> None:
        """Look whether groups share one value of a column that no model counts; values: two numbers for each row's."""
        self._shared[name].add(groups, (values[0] | np.uint64(1)).view(np.int64), first)  # never MIXED

    def shared_values(self, apart: Keys) -> Iterator[tuple[str, Runs]]:
        """Yield each such column, and a number for the value that groups share, or MIXED; apart: a group to skip."""
        for name, counter in self._shared.items():
            runs = counter.merged()
            counts = (runs.keys != apart).any(axis=0)
            yield name, Runs(runs.keys[:, counts], *(each[counts] for each in runs[1:]))

    def counts(self) -> dict[str, int]:
        """Return the number of groups and the rows of the smallest."""
        rows = self._rows.merged().rows
        return {"groups": len(rows), "smallest_group": int(rows.min(initial=rows[0])) if len(rows) else 0}

    def listed(self, people: list[str]) -> list[GroupCounts]:
        """Return what was counted; people: the person behind each number."""
        found = [(SIZE, [""], self._rows.merged()), (PERSON, people, self._people.listed())]
        found.append((OWN_K, list(self._ks), self._asked.merged()))
        found += [(i, list(self._texts[name]), self._values[name].merged()) for i, name in enumerate(self.counted)]
        return [GroupCounts(column, own.keys, cells, own.codes, own.rows) for column, cells, own in found]

    def sizes(self) -> NDArray[np.int64]:
        """Return the rows of each group, or its people."""
        groups = self._rows.merged()
        if not self.counts_people:
            return groups.rows
        sizes = np.zeros(len(groups.rows), dtype=np.int64)
        for keys in (part.keys for part in self._people.parts()):
            if keys.shape[1]:
                first = np.searchsorted(groups.keys[0], keys[0].min())
                last = np.searchsorted(groups.keys[0], keys[0].max(), side="right")
                np.add.at(sizes, first + _places(groups.keys[:, first:last], keys), 1)
        return sizes

    def small(self, k: int) -> list[Violation]:
        """Return a violation if groups are smaller than k."""
        sizes = self.sizes()
        n_small = int((sizes < k).sum())
        if not n_small:
            return []
        smallest = int(np.argmin(sizes))
        row = int(self._rows.merged().first[smallest])
        return [small_groups_violation(k, n_small, len(sizes), int(sizes[smallest]), row)]

    def model_violations(self) -> list[Violation]:
        """Return the models that groups fail."""
        if not self._checks.models and not self._ks:
            return []
        groups = self._rows.merged()
        names = self._names(groups)
        for name in self.columns:
            for group, text, rows in self._cells_of(name, groups):
                self._checks.add(name, names[group], text, rows)
        asked, ks = self._asked.merged(), list(self._ks)
        places = _places(groups.keys, asked.keys).tolist()
        self._checks.ask((names[at], ks[code]) for at, code in zip(places, asked.codes.tolist(), strict=True))
        rows_of = dict(zip(names, groups.rows.tolist(), strict=True))
        sizes = rows_of if not self.counts_people else dict(zip(names, self.sizes().tolist(), strict=True))
        first = dict(zip(names, groups.first.tolist(), strict=True))
        return self._checks.violations(rows_of, sizes, first.__getitem__, self._cells, self._population)

    def _names(self, groups: Runs) -> list[Group]:
        """Return a name for each group: with a population, the cells that it shows."""
        if self._population is None:
            return [(str(group),) for group in range(len(groups.rows))]
        shown = []
        for name in self._cells:
            texts = [""] * len(groups.rows)
            for group, text, _ in self._cells_of(name, groups):
                texts[group] = text
            shown.append(texts)
        return list(zip(*shown, strict=True))

    def _cells_of(self, name: str, groups: Runs) -> Iterator[tuple[int, str, int]]:
        """Yield the place of each group, the cells of a column in it, and the rows of each."""
        texts, counted = list(self._texts[name]), self._values[name].merged()
        places = _places(groups.keys, counted.keys).tolist()
        for group, code, rows in zip(places, counted.codes.tolist(), counted.rows.tolist(), strict=True):
            yield group, texts[code], rows


def _places(groups: Keys, keys: Keys) -> NDArray[np.int64]:
    """Return the place of each key among the sorted keys of groups."""
    both = np.concatenate([groups, keys], axis=1)
    order = np.lexsort((both[1], both[0]))  # stable: a group comes before the keys that equal it
    is_group = order < groups.shape[1]
    number = np.cumsum(is_group) - 1
    places = np.empty(both.shape[1], dtype=np.int64)
    places[order] = number
    return places[groups.shape[1] :]
