"""Recounting a written file: its bytes, its columns, its groups and, beside its source, its cells."""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from shoal.schema import Dialect, Role, Schema
from shoal.verification.cells import Cells
from shoal.verification.models import ModelChecks
from shoal.verification.reading import files
from shoal.verification.reading.layout import Layout
from shoal.verification.reading.raw_bytes import Facts, has_bare_quote, scan
from shoal.verification.reading.tables import TEXTUAL, PathName, chunks, picker
from shoal.verification.verdict import MOST_VIOLATIONS, Group, Violation, plural, small_groups

__all__ = ["Recount", "WrittenFile"]

MOST_KEPT = 1_000_000


class WrittenFile:
    """A released file and what is wrong with its bytes.

    Args:
        path: The file.
    """

    def __init__(self, path: PathName) -> None:
        self.path = path
        self._kind = files.kind_of(path)
        self._is_text = self._kind in TEXTUAL
        self._facts = scan(path) if self._is_text else Facts(False, False, 0, True)

    def chunks(self) -> Iterator[list[list[str]]]:
        """Yield the rows of the file, the header first."""
        return chunks(self.path, Dialect(), keep_blank=True)

    def broken(self, error: files.UnreadableError) -> list[Violation]:
        """Return what is wrong with a file that cannot be read as a table."""
        return [*self._facts.violations(self._facts.carriage_returns), Violation("file", error.reason)]

    def violations(self, recount: Recount) -> list[Violation]:
        """Return what is wrong with the bytes and the header of the file after all rows were counted."""
        violations = self._facts.violations(recount.carriage_returns if self._is_text else 0)
        if self._kind != files.SUFFIXES.get(os.path.splitext(self.path)[1], "csv"):
            violations.append(Violation("file", "its content does not match its name"))
        violations += files.leftovers(self.path, self._kind)
        if self._is_text and recount.has_quotes and has_bare_quote(self.path):
            violations.append(Violation("file", "there is a double quote in a cell that is not quoted"))
        return violations + recount.header_violations


@dataclass
class _Tally:
    """How often something was found, and the first row."""

    times: int = 0
    first: int = 0

    def add(self, row: int) -> None:
        self.times += 1
        self.first = self.first or row


class Recount:
    """One pass over a written file beside its source, chunk by chunk; cells are compared one by one only on a mismatch.

    Args:
        schema: The columns of the source.
        source: By released column, the source cell of each released row; None if there is no such source row. Empty to
            count without comparing.
        keep_order: Whether the rows are in the order of the source rather than sorted.
        layout: How the file is laid out.
        labels: By column, the values that each label of its hierarchy means.
        checks: The models to check besides k.
    """

    def __init__(
        self,
        schema: Schema,
        source: dict[str, tuple[Any, ...]],
        keep_order: bool,
        layout: Layout,
        labels: Mapping[str, Mapping[str, Iterable[str]]],
        checks: ModelChecks,
    ) -> None:
        self._checks = checks
        self._schema = schema
        self._source = source
        self._keep_order = keep_order
        self._layout = layout
        self.cells = {
            c.name: Cells(c.kind, c.date_format, schema.missing, (c.decimal, c.thousands), labels.get(c.name))
            for c in schema.qi
        }
        self._person = next(iter(schema.names(Role.PERSON)), None)
        self._personal_k = next(iter(schema.names(Role.PERSONAL_K)), None)
        self._people: set[tuple[Group, str]] = set()
        self._width = 0
        self._true_pairs: dict[str, set[tuple[str, str]]] = {name: set() for name in self.cells}
        self._header: list[str] | None = None
        self._last_row: list[str] = []
        self._blank, self._ragged, self._disorder = _Tally(), _Tally(), _Tally()
        self._wrong = {column.name: _Tally() for column in schema.released}
        self.rows = 0
        self.groups: Counter[Group] = Counter()
        self.carriage_returns = 0
        self.has_quotes = False
        self.is_counting = False
        self.header_violations: list[Violation] = []

    def add(self, rows: list[list[str]]) -> None:
        """Count and compare the next rows; the very first is the header."""
        if self._header is None:
            self._read_header(rows.pop(0))
        numbers: Sequence[int] = range(self.rows + 1, self.rows + len(rows) + 1)
        if set(map(len, rows)) <= {self._width}:
            self.rows += len(rows)
        else:
            rows, numbers = self._drop_malformed(rows)
        if not rows:
            return
        if not self._keep_order:
            self._check_order(rows, numbers)
        columns = list(zip(*rows, strict=True))
        self._note_characters(columns)
        if not self._layout.is_plain:
            columns = list(zip(*self._layout.rows(rows), strict=True))
        if self.is_counting:
            self._count_groups(columns, numbers)
            if self._source:
                self._compare(columns, numbers)

    def first_row(self, path: PathName, group: Group) -> int:
        """Return the number of the first row of a group; this reads the file again."""
        rows = filter(None, chain.from_iterable(chunks(path, Dialect(), keep_blank=True)))
        next(rows)
        pick = picker(self._positions())
        table_rows = (self._layout.rows([row])[0] if len(row) == self._width else None for row in rows)
        return next(n for n, row in enumerate(table_rows, 1) if row is not None and pick(row) == group)

    def sizes(self) -> Mapping[Group, int]:
        """Return the rows of each group or, if there is a person column, the persons."""
        return self.groups if self._person is None else Counter(group for group, _ in self._people)

    def counts(self, n_suppressed: int) -> dict[str, int]:
        """Return what was counted, by the name of the claim."""
        counts = {"rows": self.rows, "suppressed_rows": n_suppressed}
        if self.is_counting:
            counts |= {"groups": len(self.groups), "smallest_group": min(self.groups.values(), default=0)}
        return counts

    def group_violations(
        self, path: PathName, k: int, population: Mapping[str, Sequence[str]] | None = None
    ) -> list[Violation]:
        """Return the groups that are smaller than k or fail a model."""

        def first_row(group: Group) -> int:
            return self.first_row(path, group)

        violations = small_groups(self.sizes(), k, first_row)
        if self.is_counting:
            violations += self._checks.violations(self.groups, self.sizes(), first_row, self.cells, population)
        return violations

    def row_violations(self) -> list[Violation]:
        """Return what is wrong with the rows and their cells."""
        violations = []
        if self._blank.times:
            text = f"the file has {plural(self._blank.times, 'blank line')}"
            violations.append(Violation("rows", text, self._blank.first))
        if self._ragged.times:
            text = f"{plural(self._ragged.times, 'row')} without exactly {plural(self._width, 'cell')}"
            violations.append(Violation("rows", text, self._ragged.first))
        for name, tally in self._wrong.items():
            if tally.times:
                fault = "do not cover their source" if name in self.cells else "differ from their source"
                text = f"the cells of {plural(tally.times, 'row')} {fault}"
                violations.append(Violation(f"column {name!r}", text, tally.first))
        if self._disorder.times:
            violations.append(Violation("order", "the rows are not sorted by their cells", self._disorder.first))
        return violations

    def _read_header(self, header: list[str]) -> None:
        self._width = len(header)
        self._note_characters([header])
        self._header = self._layout.names(header)
        self.header_violations = _header_violations(self._header, self._schema)
        released_names = {column.name for column in self._schema.released}
        self.is_counting = bool(self.cells) and released_names <= set(self._header)

    def _positions(self) -> list[int]:
        return [(self._header or []).index(name) for name in self.cells]

    def _note_characters(self, columns: Sequence[Sequence[str]]) -> None:
        text = "".join(chain.from_iterable(columns))
        self.carriage_returns += text.count("\r")
        self.has_quotes = self.has_quotes or '"' in text

    def _drop_malformed(self, rows: list[list[str]]) -> tuple[list[list[str]], list[int]]:
        """Return the rows of the right width and their numbers; tally the others."""
        well_formed, numbers = [], []
        for row in rows:
            self.rows += bool(row)
            if not row:
                self._blank.add(self.rows + 1)
            elif len(row) != self._width:
                self._ragged.add(self.rows)
            else:
                well_formed.append(row)
                numbers.append(self.rows)
        return well_formed, numbers

    def _check_order(self, rows: list[list[str]], numbers: Sequence[int]) -> None:
        before = [self._last_row, *islice(rows, len(rows) - 1)]
        self._last_row = rows[-1]
        if not all(map(operator.le, before, rows)):
            self._disorder.add(next(n for n, a, b in zip(numbers, before, rows, strict=True) if a > b))

    def _count_groups(self, columns: Sequence[Sequence[str]], numbers: Sequence[int]) -> None:
        groups: list[Group] = list(zip(*(columns[n] for n in self._positions()), strict=True))
        self.groups.update(groups)
        header = self._header or []
        self._checks.count(groups, {name: columns[header.index(name)] for name in self._checks.columns})
        if self._personal_k is not None and self._source:
            self._checks.ask(self._with_source(self._personal_k, groups, numbers))
        if self._person is not None and self._source:
            self._people.update(self._with_source(self._person, groups, numbers))

    def _with_source(self, name: str, groups: Sequence[Group], numbers: Sequence[int]) -> Iterator[tuple[Group, Any]]:
        """Yield the group of each row with its source cell of a column."""
        source = self._source[name]
        return ((group, source[n - 1]) for group, n in zip(groups, numbers, strict=True) if n <= len(source))

    def _compare(self, columns: Sequence[Sequence[str]], numbers: Sequence[int]) -> None:
        sources = {name: cells[numbers[0] - 1 : numbers[-1]] for name, cells in self._source.items()}
        any_source = next(iter(sources.values()))
        if len(any_source) != len(numbers) or None in any_source:
            start, end = numbers[0], numbers[0] + len(any_source)
            matched = [i for i, n in enumerate(numbers) if n < end and any_source[n - start] is not None]
            columns = [tuple(column[i] for i in matched) for column in columns]
            numbers = [numbers[i] for i in matched]
            sources = {name: tuple(cells[n - start] for n in numbers) for name, cells in sources.items()}
        for name, tally in self._wrong.items():
            cells = columns[(self._header or []).index(name)]
            source = sources[name]
            if source == cells:
                continue
            false_pairs = self._false_pairs(name, source, cells)
            if false_pairs is None or false_pairs:
                for n, pair in zip(numbers, zip(source, cells, strict=True), strict=True):
                    if pair[0] != pair[1] if false_pairs is None else pair in false_pairs:
                        tally.add(n)

    def _false_pairs(self, name: str, source: Sequence[str], cells: Sequence[str]) -> set[tuple[str, str]] | None:
        """Return the pairs of source and released cell that do not cover; None if every unequal pair is false."""
        if name not in self.cells:
            return None
        true_pairs = self._true_pairs[name]
        pairs = set(zip(source, cells, strict=True)).difference(true_pairs)
        false_pairs = {pair for pair in pairs if not self.cells[name].covers(*pair)}
        if len(true_pairs) > MOST_KEPT:
            true_pairs.clear()
        true_pairs |= pairs - false_pairs
        return false_pairs


def _header_violations(header: list[str], schema: Schema) -> list[Violation]:
    """Check the columns; the file's own names are not shown, because they may be cells."""
    wanted = [column.name for column in schema.released]
    held_back = {column.name: column.role for column in schema.columns if column.name not in wanted}
    texts = [f"{name!r} ({held_back[name]}) must not be released" for name in held_back if name in header]
    if extra := [str(n) for n, name in enumerate(header, 1) if name not in wanted and name not in held_back]:
        positions = ", ".join(extra[:MOST_VIOLATIONS])
        texts.append(f"{len(extra)} not in the table (position {positions})")
    texts += [f"{name!r} is not in the file" for name in wanted if name not in header]
    texts += [f"{name!r} occurs {n} times" for name in wanted if (n := header.count(name)) > 1]
    if list(dict.fromkeys(n for n in header if n in wanted)) != [name for name in wanted if name in header]:
        texts.append("they are not in the order of the table")
    return [Violation("columns", text) for text in texts]
