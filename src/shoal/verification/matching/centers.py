"""Centres of groups, recomputed from the original: row by row in the gate, as far as possible without its witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Column
from shoal.verification.cells import Cells, normalise
from shoal.verification.cells.centers import CenterCells, is_deviation, is_share
from shoal.verification.matching.groups import Groups
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Violation, plural

__all__ = ["CenteredColumn", "Witnesses", "cover_cells", "cover_of", "shows_spread", "spelling_violations"]

GROUP = "\0group"  # no column of a table has this name

Ladder = Mapping[str, Sequence[str]]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Witnesses:
    """Rows of a release whose original rows are known, with their groups.

    Attributes:
        groups: The number of each row's group, from 0.
        numbers: The number of each row in the file.
        people: The person of each row; None if rows are counted.
    """

    groups: Ints
    numbers: Ints
    people: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, groups: NDArray[Any], numbers: Ints, people: NDArray[np.int32] | None) -> Witnesses:
        """Return rows with any numbers as names of their groups."""
        return cls(np.unique(groups, return_inverse=True)[1].astype(np.int64), numbers, people)

    def counter(self) -> Groups:
        """Return the groups, to count them as those of a release."""
        column = CodedColumn([str(n) for n in range(self.n_groups)], self.groups.astype(np.int32))
        return Groups(CodedTable([GROUP], [column], len(self.groups), self.numbers), [GROUP])

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.groups.max(initial=-1)) + 1

    def bags(self, original: CodedColumn) -> list[dict[int, int]]:
        """Return for each group how often each distinct cell of the original occurs; original: of each row."""
        card = max(len(original.texts), 1)
        pairs, counts = np.unique(self.groups * card + original.codes, return_counts=True)
        bags: list[dict[int, int]] = [{} for _ in range(self.n_groups)]
        for pair, rows in zip(pairs.tolist(), counts.tolist(), strict=True):
            bags[pair // card][pair % card] = rows
        return bags

    def count_holders(self, is_known: NDArray[np.bool_]) -> Ints:
        """Return how many rows, or people, of each group have a value; is_known: whether a row has one."""
        groups = self.groups[is_known]
        if self.people is not None:
            pairs = np.unique(np.column_stack([groups, self.people[is_known]]), axis=0)
            groups = pairs[:, 0].astype(np.int64)
        return np.bincount(groups, minlength=self.n_groups)


@dataclass(frozen=True)
class CenteredColumn:
    """A quasi-identifier whose cells are centres, with its spread.

    Attributes:
        column: The column, with its kind and format.
        centers: What its centres are.
        cells: The released cells.
        spread: The standard deviations or shares; None if the release has none.
        mark: The decimal mark of the spread.
    """

    column: Column
    centers: CenterCells
    cells: CodedColumn
    spread: CodedColumn | None = None
    mark: str = "."

    def violations(
        self, rows: NDArray[np.int64], original: CodedColumn, witnesses: Witnesses, k: int
    ) -> list[Violation]:
        """Return the cells that are not the centres of their groups.

        Args:
            rows: The rows of the release whose original rows are known.
            original: The original cell of each of them.
            witnesses: Their groups.
            k: How many rows or people must have a value.
        """
        bags = witnesses.bags(original)
        known = np.array([value is not None for value in self.centers.values] or [False])
        holders = witnesses.count_holders(known[original.codes]).tolist()
        expected = [self.centers.expected(bag, n, k) for bag, n in zip(bags, holders, strict=True)]
        read = {code: self.centers.read(text) for code, text in enumerate(self.cells.texts)}
        faults = self._faults(
            self.cells.at(rows), witnesses, lambda group, code: read[code] == expected[group], "not the centre"
        )
        if self.spread is None:
            return faults
        figures = [self.centers.figure(bag, center) for bag, center in zip(bags, expected, strict=True)]
        texts = self.spread.texts

        def shows(group: int, code: int) -> bool:
            return shows_spread(self.centers, figures[group], texts[code], self.mark)

        return faults + self._faults(self.spread.at(rows), witnesses, shows, "not followed by the spread")

    def _faults(
        self, shown: CodedColumn, witnesses: Witnesses, is_true: Callable[[int, int], bool], words: str
    ) -> list[Violation]:
        card = max(len(shown.texts), 1)
        pair_of_row = witnesses.groups * card + shown.codes
        false_pairs = [pair for pair in np.unique(pair_of_row).tolist() if not is_true(pair // card, pair % card)]
        if not false_pairs:
            return []
        numbers = witnesses.numbers[np.isin(pair_of_row, false_pairs)]
        text = f"the cells of {plural(len(numbers), 'row')} are {words} of their group"
        return [Violation(f"column {self.column.name!r}", text, int(numbers[0]))]

    # ---- without a witness

    def possible(self, source: CodedColumn, counter: Groups, numbers: Ints, *, complete: bool) -> list[Violation]:
        """Return what no groups of the original could show.

        A centre lies between the least and the greatest value; a category is a value of the original, as often as
        groups show it. If no row is missing and every cell has a value, means and values have the same sum.

        Args:
            source: The column of the original.
            counter: The groups of the release.
            numbers: The number of each row in the file.
            complete: Whether the release has as many rows as the original.
        """
        read = [self.centers.read(text) for text in self.cells.texts]
        ends = self._ends()
        is_false = np.array([not self._can_occur(value, ends) for value in read] or [False])
        rows = np.flatnonzero(is_false[self.cells.codes])
        where = f"column {self.column.name!r}"
        if len(rows):
            n_false = plural(self.cells.count(is_false), "row")
            text = f"the cells of {n_false} are not the centre of any rows of the original"
            return [Violation(where, text, int(numbers[rows[0]]))]
        counts, in_source = self.cells.counts().tolist(), source.counts().tolist()
        shown_rows: Counter[Any] = Counter()
        for value, n in zip(read, counts, strict=True):
            shown_rows[value] += n
        if not self.centers.needs_values:
            groups = Counter(read[code] for _, code in self._pairs(counter))
            if too_many := sum(times > self.centers.in_table[value] for value, times in groups.items()):
                text = f"{plural(too_many, 'value')} shown by more groups than the original has rows with it"
                return [Violation(where, text)]
        elif self.centers.is_mean and complete and None not in (*self.centers.values, *(+shown_rows)):
            total = sum(value * n for value, n in zip(self.centers.values, in_source, strict=True))
            shown = sum(value * n for value, n in (+shown_rows).items())
            if 2 * abs(Fraction(shown) - total) > self.centers.step * sum(counts):
                return [Violation(where, "the mean of its cells is not that of the original")]
        if not self._is_crowd(+shown_rows):
            return [Violation(where, "its cells are not the centres of any rows: the original has too few such values")]
        return []

    def _is_crowd(self, shown: Mapping[Any, int]) -> bool:
        """Return whether enough values of the original lie around centres; shown: the rows of each centre.

        The most frequent of m values is at least an m-th of a group. At least half of a group lies on either side of
        its median. Means sum up to what their rows do, so rows with the greatest means sum up to no more than as many
        of the greatest values.
        """
        known = self.centers.in_table
        if not self.centers.needs_values:
            return all(n <= len(known) * known[value] for value, n in shown.items())
        if None in known or None in shown:
            return True
        if self.centers.is_mean:
            half = Fraction(self.centers.step, 2)
            return all(_sums_fit(shown, known, half, sign) for sign in (1, -1))
        half = Fraction(self.centers.step, 2) if self.centers.is_measured else Fraction(0)
        return all(_halves_fit(shown, known, half, sign) for sign in (1, -1))

    def near(self, original: CodedColumn, witnesses: Witnesses) -> list[Violation]:
        """Return the cells that are not the centre of the rows that share them; these may be several groups.

        The mean, the median and the most frequent value of groups that look alike are those of all their rows, but
        for what was rounded and for values that are equally frequent.

        Args:
            original: The original cell of each row.
            witnesses: The rows that share their cells.
        """
        read = [self.centers.read(text) for text in self.cells.texts]
        bags = witnesses.bags(original)
        return self._faults(
            self.cells, witnesses, lambda group, code: self.centers.is_near(read[code], bags[group]), "not the centre"
        )

    def _ends(self) -> tuple[Any, Any] | None:
        """Return the least and the greatest centre of any rows; None if the column has no such ends."""
        known = [each for each in self.centers.values if each is not None]
        if not known or not self.centers.is_measured:
            return None
        return self.centers.rounded(Fraction(min(known))), self.centers.rounded(Fraction(max(known)))

    def _can_occur(self, value: Any, ends: tuple[Any, Any] | None) -> bool:
        if ends is None or value is None:
            return value in self.centers.in_table
        return value != "?" and bool(ends[0] <= value <= ends[1])

    def _pairs(self, counter: Groups) -> Iterable[tuple[int, int]]:
        """Return each group with the distinct cell that it shows."""
        card = max(len(self.cells.texts), 1)
        return ((pair // card, pair % card) for pair in np.unique(counter.of_row * card + self.cells.codes).tolist())


def _sums_fit(shown: Mapping[Any, int], known: Mapping[Any, int], half: Fraction, sign: int) -> bool:
    """Return whether no means sum up to more than as many values; sign: 1 from above, -1 from below."""
    values = iter(sorted(((sign * value, n) for value, n in known.items()), reverse=True))
    value, left = next(values)
    most = total = n_taken = 0
    for mean, n in sorted(((sign * mean, n) for mean, n in shown.items()), reverse=True):
        total, n_taken, wanted = total + mean * n, n_taken + n, n
        while wanted:
            if not left:
                value, left = next(values, (value, wanted))  # a release with too many rows is told elsewhere
            taken = min(left, wanted)
            most, left, wanted = most + value * taken, left - taken, wanted - taken
        if total - half * n_taken > most:
            return False
    return True


def _halves_fit(shown: Mapping[Any, int], known: Mapping[Any, int], half: Fraction, sign: int) -> bool:
    """Return whether enough values lie on one side of medians; sign: 1 for those at or below, -1 at or above."""
    values = sorted((sign * value, n) for value, n in known.items())
    place = n_shown = n_beside = 0
    for median, n in sorted((sign * median, n) for median, n in shown.items()):
        n_shown += n
        while place < len(values) and values[place][0] <= median + half:
            n_beside, place = n_beside + values[place][1], place + 1
        if n_shown > 2 * n_beside:
            return False
    return True


def shows_spread(centers: CenterCells, figure: Fraction | None, text: str, mark: str) -> bool:
    """Return whether a text is the spread of a group.

    Args:
        centers: What the centres of the column are.
        figure: The variance or the share of the group; None if its centre is missing.
        text: The text.
        mark: The decimal mark of the spread.
    """
    if mark != ".":
        text = "?" if "." in text else text.replace(mark, ".")
    if figure is None:
        return text == ""
    return is_deviation(text, figure) if centers.is_measured else is_share(text, figure)


def spelling_violations(columns: Iterable[CenteredColumn], rows: Ints | None = None) -> list[Violation]:
    """Return the columns that write one value in several ways, so that groups could be told apart by it.

    Args:
        columns: The columns.
        rows: The rows to look at; all by default.
    """
    violations = []
    for each in columns:
        counts = (each.cells if rows is None else each.cells.at(rows)).counts().tolist()
        used = [text for text, times in zip(each.cells.texts, counts, strict=True) if times]
        values = Counter(str(value) for text in used if (value := each.centers.read(text)) != "?")
        if repeated := sum(times > 1 for times in values.values()):
            text = f"{plural(repeated, 'value')} written in several ways"
            violations.append(Violation(f"column {each.column.name!r}", text))
    return violations


def cover_cells(
    column: Column, missing: Iterable[str], original: CodedColumn, witnesses: Witnesses, ladder: Ladder
) -> CodedColumn:
    """Return for each row the cell that would cover its group: a range, a set, or a label of the hierarchy.

    Args:
        column: The column.
        missing: The texts that mean a missing value.
        original: The original cell of each row.
        witnesses: The groups of the rows.
        ladder: The labels of each value in its hierarchy; empty if it has none.
    """
    cells = Cells.of(column, missing)
    covers = [
        cover_of(cells, column, [original.texts[cell] for cell in bag], ladder) for bag in witnesses.bags(original)
    ]
    return CodedColumn(covers, witnesses.groups.astype(np.int32))


def cover_of(cells: Cells, column: Column, texts: Sequence[str], ladder: Ladder) -> str:
    """Return the cell that would cover texts of a column: a range, a set, or a label of the hierarchy."""
    known = sorted({normalise(text) for text in texts if not cells.is_missing(text)})
    if not known:
        return ""
    if ladder:
        paths = [(text, *ladder.get(text, ())) for text in known]
        return next((level[0] for level in zip(*paths, strict=False) if len(set(level)) == 1), "*")
    if column.kind in ("numeric", "date"):
        known.sort(key=lambda text: cells.place(text)[1])
        return known[0] if len(known) == 1 else f"[{known[0]}, {known[-1]}]"
    if column.kind in ("boolean", "ordered"):
        ranks = [cells.place(text)[1] for text in known]
        inside = [value for value in column.order if min(ranks) <= cells.place(normalise(value))[1] <= max(ranks)]
        known = inside or known
    quoted = ['"' + text.replace('"', '""') + '"' for text in known]
    return known[0] if len(known) == 1 else "{" + ", ".join(quoted) + "}"
