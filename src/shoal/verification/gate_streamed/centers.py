"""Centres of groups, recomputed from the cells that rows were made from, while the rows of a file pass by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Column, Schema
from shoal.verification.cells import Cells
from shoal.verification.cells.centers import CenterCells
from shoal.verification.gate_streamed.blocks import BlockColumn
from shoal.verification.gate_streamed.tallies import RunCounter, Runs
from shoal.verification.matching.centers import cover_of, shows_spread
from shoal.verification.models.limits import LimitedCells, limit_violations
from shoal.verification.reading.coded import CodedColumn
from shoal.verification.verdict import Violation, plural

__all__ = ["CENTERS", "HOLDERS", "KINDS", "MADE", "SHOWN", "SPREAD", "CenterTally", "group_keys"]

# What is counted of a group: the cells that it was made from, what it shows, and the people who have a value.
MADE, SHOWN, SPREAD, HOLDERS = KINDS = range(4)
CENTERS = 1 << 20  # in place of a column, the first number of these: those of the first quasi-identifier

Codes = NDArray[np.int32]
Keys = NDArray[np.uint64]
Cell = tuple[BlockColumn, Codes]


def group_keys(groups: NDArray[Any]) -> Keys:
    """Return the keys of groups that are known by numbers."""
    return np.stack([groups.astype(np.uint64), np.zeros(len(groups), dtype=np.uint64)])


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
    ) -> None:
        rows = {**in_source, **{text: 0 for text in stated if text not in in_source}}
        place = {text: i for i, text in enumerate(rows)}
        self._column, self._schema, self._mark, self._ladder = column, schema, mark, ladder
        self._texts, self._place_of = list(rows), place
        self._centers = CenterCells(column, schema.missing, self._texts, list(rows.values()), choice)
        self._codes = np.array([place[text] for text in stated], dtype=np.int64)
        self._is_known = np.array([value is not None for value in self._centers.values] or [False])
        self._made, self._holders = RunCounter(), RunCounter()
        self._shown = _Texts()
        self._spread = _Texts()
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
        known = self._is_known[codes]
        if people is not None and known.any():
            self._holders.add(groups[:, known], people[known].astype(np.int64), first)

    def listed(self, people: list[str]) -> list[tuple[int, list[str], Runs]]:
        """Return what was counted: its kind, the distinct cells, and the counts; people: the person of each number."""
        return [
            (MADE, self._texts, self._made.merged()),
            (SHOWN, list(self._shown.texts), self._shown.counter.merged()),
            (SPREAD, list(self._spread.texts), self._spread.counter.merged()),
            (HOLDERS, people, self._holders.merged()),
        ]

    def take(self, kind: int, keys: Keys, cells: Sequence[str], rows: NDArray[np.int64]) -> None:
        """Add what was listed elsewhere; cells: that of each count. Those that rows were made from are known."""
        counter, known = {
            MADE: (self._made, self._place_of),
            SHOWN: (self._shown.counter, self._shown.texts),
            SPREAD: (self._spread.counter, self._spread.texts),
            HOLDERS: (self._holders, self._people),
        }[kind]
        counter.take(keys, np.array([known.setdefault(cell, len(known)) for cell in cells], dtype=np.int64), rows)

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
        expected: dict[int, Any] = {}
        figures: dict[int, Any] = {}
        met: dict[str, int] = {}
        is_limited, cells = any(self._column.limits), Cells.of(self._column, self._schema.missing)
        holders = Counter(self._holders.merged().keys[0].tolist()) if counts_people else {}
        for group, bag, first in _bags(self._made.merged()):
            n_known = sum(rows for cell, rows in bag.items() if self._is_known[cell])
            n_holders = holders.get(group, 0) if counts_people else n_known
            expected[group] = self._centers.expected(bag, n_holders, k)
            if self._spread.texts:
                figures[group] = self._centers.figure(bag, expected[group])
            if is_limited:
                cover = cover_of(cells, self._column, [self._texts[cell] for cell in bag], self._ladder)
                met[cover] = min(first, met.get(cover, first))
        read = [self._centers.read(text) for text in self._shown.texts]
        shown, spread = self._shown.counter.merged(), self._spread.counter.merged()
        texts, centers, mark = list(self._spread.texts), self._centers, self._mark
        true_cells = [read[c] == expected[g] for g, c in _pairs(shown)]
        true_spread = [shows_spread(centers, figures[g], texts[c], mark) for g, c in _pairs(spread)]
        violations = self._faults(shown, true_cells, "not the centre")
        violations += self._faults(spread, true_spread, "not followed by the spread")
        violations += self.repeated(list(self._shown.texts))
        if is_limited:
            limited = LimitedCells(self._column, self._column.limits, cells, self._ladder)
            covers = CodedColumn(list(met), np.arange(len(met), dtype=np.int32))
            violations += limit_violations(covers, limited, np.array(list(met.values()), dtype=np.int64))
        return violations

    def _faults(self, runs: Runs, are_true: Sequence[bool], words: str) -> list[Violation]:
        false = ~np.array(are_true, dtype=bool)
        if not false.any():
            return []
        n_rows = int(runs.rows[false].sum())
        return [self._violation(f"the cells of {plural(n_rows, 'row')} are {words} of their group", runs.first[false])]

    def _violation(self, text: str, rows: NDArray[np.int64] | None = None) -> Violation:
        where = f"column {self._column.name!r}"
        return Violation(where, text) if rows is None else Violation(where, text, int(rows.min()))


class _Texts:
    """Counts the texts that groups show."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.counter = RunCounter()

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
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.empty(0, dtype=np.int64)
    ends = np.append(starts[1:], len(keys))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        cells = dict(zip(runs.codes[start:end].tolist(), runs.rows[start:end].tolist(), strict=True))
        yield int(keys[start]), cells, int(runs.first[start:end].min())
