"""Centres of groups, recomputed from the cells that rows were made from, while the rows of a file pass by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Column, Schema
from shoal.verification.cells import Cells
from shoal.verification.cells.centers import CenterCells
from shoal.verification.gate_streamed.blocks import BlockColumn
from shoal.verification.gate_streamed.tallies import FiledRuns, Runs
from shoal.verification.matching.centers import cover_of, shows_spread
from shoal.verification.models.limits import LimitedCells, limit_violations
from shoal.verification.reading.coded import CodedColumn
from shoal.verification.verdict import Violation, plural

__all__ = ["CENTERS", "HOLDERS", "KINDS", "MADE", "SHOWN", "SPREAD", "CenterTally", "group_keys"]

# What is counted of a group: the cells that it was made from, what it shows, and the people who have a value.
MADE, SHOWN, SPREAD, HOLDERS = KINDS = range(4)
SPREADING = np.uint64(0x9E3779B97F4A7C15)  # odd, so that products of different numbers differ
CENTERS = 1 << 20  # in place of a column, the first number of these: those of the first quasi-identifier

Codes = NDArray[np.int32]
Keys = NDArray[np.uint64]
Cell = tuple[BlockColumn, Codes]


def group_keys(groups: NDArray[Any]) -> Keys:
    """Return the keys of groups that are known by numbers; their first bits are as different as those of hashes."""
    return np.stack([groups.astype(np.uint64) * SPREADING, np.zeros(len(groups), dtype=np.uint64)])


class CenterTally:
    """What the groups of one quasi-identifier were made from, and what they show.

    Args:
        column: The column, with its kind and format.
        schema: The columns of the source.
        in_source: The rows of each distinct cell in the source, as the verifier counted them.
        stated: The distinct cells that rows were made from, as the maker states them.
        choice: "mean" or "median".
        mark: The decimal mark of the spread.
        ladder: The labels of each value in the hierarchy of the column; empty if it has none.
        counter: Makes what counts the cells and people of groups.
    """

    def __init__(
        self,
        column: Column,
        schema: Schema,
        in_source: Mapping[str, int],
        stated: Sequence[str],
        choice: str,
        mark: str,
        ladder: Mapping[str, Sequence[str]],
        counter: Callable[[], FiledRuns] = FiledRuns,
    ) -> None:
        rows = {**in_source, **{text: 0 for text in stated if text not in in_source}}
        place = {text: i for i, text in enumerate(rows)}
        self._column, self._schema, self._mark, self._ladder = column, schema, mark, ladder
        self._texts, self._place_of = list(rows), place
        self._centers = CenterCells(column, schema.missing, self._texts, list(rows.values()), choice)
        self._codes = np.array([place[text] for text in stated], dtype=np.int64)
        self._is_known = np.array([value is not None for value in self._centers.values] or [False])
        self._made, self._holders = counter(), counter()
        self._shown, self._spread = _Texts(counter()), _Texts(counter())
        self._people: dict[str, int] = {}

    def add(
        self,
        groups: Keys,
        first: int,
        origin: Codes,
        shown: Cell,
        spread: Cell | None,
        people: NDArray[np.int64] | None,
    ) -> None:
        """Count some rows.

        Args:
            groups: The key of each row's group, as the maker states it.
            first: The number of the first row.
            origin: The cell that each row was made from, by its place among those that are stated.
            shown: The released cells.
            spread: The standard deviations or shares, if there are any.
            people: The person of each row; None if rows are counted.
        """
        if not groups.shape[1]:
            return
        codes = self._codes[origin]
        self._made.add(groups, codes, first)
        self._shown.add(groups, shown, first)
        if spread is not None:
            self._spread.add(groups, spread, first)
        if people is not None and not self._is_known.all():  # otherwise a group has as many holders as people
            known = self._is_known[codes]
            self._holders.add(groups[:, known], people[known].astype(np.int64), first)

    def listed(self, people: list[str]) -> list[tuple[int, list[str], Runs]]:
        """Return what was counted: its kind, the distinct cells, and the counts; people: the person of each number."""
        return [
            (MADE, self._texts, self._made.listed()),
            (SHOWN, list(self._shown.texts), self._shown.counter.listed()),
            (SPREAD, list(self._spread.texts), self._spread.counter.listed()),
            (HOLDERS, people, self._holders.listed()),
        ]

    def take(self, kind: int, keys: Keys, cells: Sequence[str], rows: NDArray[np.int64]) -> None:
        """Add what was listed elsewhere; cells: that of each count. Those that rows were made from are known."""
        counter, known = {
            MADE: (self._made, self._place_of),
            SHOWN: (self._shown.counter, self._shown.texts),
            SPREAD: (self._spread.counter, self._spread.texts),
            HOLDERS: (self._holders, self._people),
        }[kind]
        codes = np.array([known.setdefault(cell, len(known)) for cell in cells], dtype=np.int64)
        counter.take(Runs(keys, codes, rows, np.zeros(len(codes), dtype=np.int64)))

    def repeated(self, texts: Sequence[str]) -> list[Violation]:
        """Return whether a value is written in several ways."""
        values = Counter(str(value) for value in map(self._centers.read, texts) if value != "?")
        n_repeated = sum(times > 1 for times in values.values())
        return [self._violation(f"{plural(n_repeated, 'value')} written in several ways")] if n_repeated else []

    def violations(self, k: int, *, counts_people: bool) -> list[Violation]:
        """Return the cells that are not the centres of their groups, and what else is wrong with them.

        Args:
            k: How many rows or people must have a value.
            counts_people: Whether people are counted.
        """
        met: dict[str, int] = {}
        is_limited, cells = any(self._column.limits), Cells.of(self._column, self._schema.missing)
        read, texts = [self._centers.read(text) for text in self._shown.texts], list(self._spread.texts)
        centers, mark = self._centers, self._mark
        false_cells, false_spread = _Faults(), _Faults()
        counters = (self._made, self._holders, self._shown.counter, self._spread.counter)
        for made, holding, shown, spread in zip(*(each.parts() for each in counters), strict=True):
            expected: dict[int, Any] = {}
            figures: dict[int, Any] = {}
            holders = Counter(holding.keys[0].tolist())
            for group, bag, first in _bags(made):
                n_known = sum(rows for cell, rows in bag.items() if self._is_known[cell])
                expected[group] = centers.expected(bag, holders[group] if counts_people else n_known, k)
                if texts:
                    figures[group] = centers.figure(bag, expected[group])
                if is_limited:
                    cover = cover_of(cells, self._column, [self._texts[cell] for cell in bag], self._ladder)
                    met[cover] = min(first, met.get(cover, first))
            false_cells.add(shown, [read[c] == expected[g] for g, c in _pairs(shown)])
            false_spread.add(spread, [shows_spread(centers, figures[g], texts[c], mark) for g, c in _pairs(spread)])
        violations = false_cells.violations(self._column, "not the centre")
        violations += false_spread.violations(self._column, "not followed by the spread")
        violations += self.repeated(list(self._shown.texts))
        if is_limited:
            limited = LimitedCells(self._column, self._column.limits, cells, self._ladder)
            covers = CodedColumn(list(met), np.arange(len(met), dtype=np.int32))
            violations += limit_violations(covers, limited, np.array(list(met.values()), dtype=np.int64))
        return violations

    def _violation(self, text: str) -> Violation:
        return Violation(f"column {self._column.name!r}", text)


class _Faults:
    """Counts the rows whose cells are wrong."""

    def __init__(self) -> None:
        self._rows = self._first = 0

    def add(self, runs: Runs, are_true: Sequence[bool]) -> None:
        """Count some rows."""
        false = ~np.array(are_true, dtype=bool)
        if false.any():
            first = int(runs.first[false].min())
            self._first = min(self._first, first) if self._rows else first
            self._rows += int(runs.rows[false].sum())

    def violations(self, column: Column, words: str) -> list[Violation]:
        """Return a violation if cells of a column are wrong; words: what they are not."""
        if not self._rows:
            return []
        text = f"the cells of {plural(self._rows, 'row')} are {words} of their group"
        return [Violation(f"column {column.name!r}", text, self._first)]


class _Texts:
    """Counts the texts that groups show."""

    def __init__(self, counter: FiledRuns) -> None:
        self.texts: dict[str, int] = {}
        self.counter = counter

    def add(self, groups: Keys, cells: Cell, first: int) -> None:
        column, codes = cells
        distinct, places = np.unique(codes, return_inverse=True)
        numbers = [self.texts.setdefault(column.texts[code], len(self.texts)) for code in distinct.tolist()]
        self.counter.add(groups, np.array(numbers, dtype=np.int64)[places], first)


def _pairs(runs: Runs) -> Iterator[tuple[int, int]]:
    return zip(runs.keys[0].tolist(), runs.codes.tolist(), strict=True)


def _bags(runs: Runs) -> Iterator[tuple[int, dict[int, int], int]]:
    """Yield each group, how often each cell occurs in it, and its first row."""
    keys = runs.keys[0]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    ends = np.append(starts, len(keys))[1:]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        cells = dict(zip(runs.codes[start:end].tolist(), runs.rows[start:end].tolist(), strict=True))
        yield int(keys[start]), cells, int(runs.first[start:end].min())
