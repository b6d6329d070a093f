"""A release compared with its original: rows, people, each row's own k, rules and the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import UsageError
from shoal.schema import Kind
from shoal.verification.cells import Cells
from shoal.verification.matching.avoided import avoided_sets
from shoal.verification.matching.groups import Pairs
from shoal.verification.matching.rows import Matching, Rows
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Violation, plural

__all__ = ["Comparison"]


class Comparison:
    """A release beside its original, when nobody says which row is which.

    Args:
        release: The released table.
        source: The original.
        cells: The quasi-identifiers, and how to read each; one that is listed twice must be true in both readings.
        equal: The columns whose cells must equal the original ones.
    """

    def __init__(
        self, release: CodedTable, source: CodedTable, cells: Sequence[tuple[str, Cells]], equal: Sequence[str]
    ) -> None:
        self._release, self._source, self._cells, self._equal = release, source, cells, equal

    def violations(self, own_k: tuple[CodedColumn, NDArray[np.int64]] | None = None) -> list[Violation]:
        """Return the rows that cannot be assigned an original row of their own.

        Args:
            own_k: The k that each original row asks for, and the size of the group of each released row; None if rows
                have no k of their own.
        """
        n_rows, n_source = self._n_rows, self._source.n_rows
        violations = []
        if n_rows > n_source:
            violations.append(Violation("rows", f"the release has {n_rows}, the original only {n_source}"))
        matching = self._matching if own_k is None else self._with_own_k(*own_k)
        for (name, _), times in zip(self._cells, matching.n_empty, strict=False):
            if times:
                text = f"the cells of {plural(times, 'row')} cover no value of the original"
                violations.append(Violation(f"column {name!r}", text))
        if n_unmatched := matching.count_unmatched():
            limit = "" if own_k is None else " whose personal k their group reaches"
            text = f"{n_unmatched} of {n_rows} cannot be matched, one to one, with original rows{limit}"
            violations.append(Violation("rows", text))
        return list(dict.fromkeys(violations))

    def count_people(self, groups: NDArray[np.int64], person: str) -> NDArray[np.int64]:
        """Return the most people that the rows of each group can belong to."""
        return self._matching.count_people(groups, self._source.column(person))

    def count_people_behind(self, groups: NDArray[np.int64], person: str, *, in_order: bool) -> NDArray[np.int64]:
        """Return the same if the cells of quasi-identifiers cover nothing.

        Args:
            groups: The group of each released row, from 0.
            person: The column of people.
            in_order: Whether the rows are those of the original in its order; people are then known.
        """
        persons = self._source.column(person)
        if not in_order:
            return self._matching.count_people_by_key(groups, persons)
        pairs = np.unique(np.stack([groups, persons.codes]), axis=1)
        return np.bincount(pairs[0], minlength=int(groups.max(initial=-1)) + 1)

    def rule_violations(self, rules: Iterable[Mapping[str, Any]], groups: NDArray[np.int64]) -> list[Violation]:
        """Return the columns in which groups must mix values that a rule keeps apart.

        Args:
            rules: The rules as plain values; see `avoided_sets`.
            groups: The group of each released row, from 0.
        """
        names, violations = [name for name, _ in self._cells], []
        for rule in rules:
            name = rule["column"]
            if name not in names:
                raise UsageError(f"rule for column {name!r}: not a quasi-identifier.")
            position = names.index(name)
            mixed: set[int] = set()
            for sets in avoided_sets(rule, position, self._source.column(name), self._cells[position][1]):
                mixed.update(self._matching.mixed_groups(groups, sets).tolist())
            if mixed:
                text = f"{plural(len(mixed), 'group')} must mix values that a rule keeps apart"
                violations.append(Violation(f"column {name!r}", text))
        return violations

    def is_in_order(self) -> bool:
        """Return whether the released rows can be original rows in the order of the original."""
        if self._n_rows == self._source.n_rows:
            pairs = Pairs(self._release, self._source, np.arange(self._source.n_rows))
            named = [*self._cells, *((name, None) for name in self._equal)]
            return not any(pairs.violations(name, cells) for name, cells in named)
        return self._n_rows < self._source.n_rows and self._is_subsequence()

    def _is_subsequence(self) -> bool:
        """Go through both tables once: each released row takes the first original row after the last that fits."""
        tests = [self._fits(name, cells) for name, cells in (*self._cells, *((name, None) for name in self._equal))]
        place, n_source = 0, self._source.n_rows
        for row in range(self._n_rows):
            while place < n_source and not all(fits(row, place) for fits in tests):
                place += 1
            if place == n_source:
                return False
            place += 1
        return True

    def _fits(self, name: str, cells: Cells | None) -> Callable[[int, int], bool]:
        """Return a function of a released and an original row: whether the cell of the one is true of the other."""
        released, original = self._release.column(name), self._source.column(name)
        after, before, judged = released.codes.tolist(), original.codes.tolist(), dict[tuple[int, int], bool]()

        def fits(row: int, place: int) -> bool:
            pair = after[row], before[place]
            if pair not in judged:
                cell, text = released.texts[pair[0]], original.texts[pair[1]]
                judged[pair] = cell == text or (cells is not None and cells.covers(text, cell))
            return judged[pair]

        return fits

    @property
    def _n_rows(self) -> int:
        return self._release.count_coded()

    @cached_property
    def _matching(self) -> Matching:
        return Matching([cells for _, cells in self._cells], self._rows(self._release), self._rows(self._source))

    def _rows(self, table: CodedTable) -> Rows:
        qi = [table.column(name) for name, _ in self._cells]
        return Rows(qi, [table.column(name) for name in self._equal], len(table.row_numbers()), table.times)

    def _with_own_k(self, requests: CodedColumn, sizes: NDArray[np.int64]) -> Matching:
        """Return the matching with the sizes of groups as one more quasi-identifier, which covers what rows ask for."""
        distinct, codes = np.unique(sizes, return_inverse=True)
        ranges = CodedColumn([f"[0, {size}]" for size in distinct.tolist()], codes.astype(np.int32))
        released, source = self._rows(self._release), self._rows(self._source)
        return Matching(
            [*(cells for _, cells in self._cells), Cells(Kind.NUMERIC)],
            released._replace(qi=[*released.qi, ranges]),
            source._replace(qi=[*source.qi, requests]),
        )
