"""Recounting a written file row by row, for files larger than memory; what both gates check of a file."""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from shoal.schema import Column, Dialect, Schema
from shoal.verification.cells import Cells
from shoal.verification.models.checks import ModelChecks
from shoal.verification.reading import files
from shoal.verification.reading.coded import TEXTUAL, Tally, TextReader
from shoal.verification.reading.hidden import hidden_content
from shoal.verification.reading.layout import Layout, spread_names
from shoal.verification.reading.tables import PathName, chunks, picker
from shoal.verification.verdict import MOST_VIOLATIONS, Group, Violation, plural, small_groups

__all__ = [
    "Recount",
    "WrittenFile",
    "header_violations",
    "name_violations",
    "quasi_identifier_cells",
    "shape_violations",
    "spread_violations",
]


class WrittenFile:
    """A released file and what is wrong with its bytes.

    Args:
        path: The file.
    """

    def __init__(self, path: PathName) -> None:
        self.path = path
        self._kind = files.kind_of(path)
        self._reader = TextReader(path, Dialect()) if self._kind in TEXTUAL else None

    def chunks(self) -> Iterator[list[list[str]]]:
        """Yield the rows of the file, the header first."""
        return chunks(self.path, Dialect(), keep_blank=True) if self._reader is None else self._reader.chunks()

    def broken(self, error: files.UnreadableError) -> list[Violation]:
        """Return what is wrong with a file that cannot be read as a table."""
        return [Violation("file", error.reason)]

    def violations(self) -> list[Violation]:
        """Return what is wrong with the bytes of the file and the shape of its rows, after all rows were read."""
        violations = [] if self._reader is None else self._reader.faults()
        violations += name_violations(self.path, self._kind)
        if self._reader is not None:
            violations += shape_violations(self._reader.blank_lines(), self._reader.ragged_rows(), self._reader.width)
        return violations


def name_violations(path: PathName, kind: str, typed: Iterable[str] = ()) -> list[Violation]:
    """Return whether a file is not what its name says, and what it contains besides its cells.

    Args:
        path: The file.
        kind: Its kind, by its content.
        typed: The columns that may have a type; those of other names are text.
    """
    violations = []
    if kind != files.SUFFIXES.get(os.path.splitext(path)[1], "csv"):
        violations.append(Violation("file", "its content does not match its name"))
    return violations + hidden_content(path, strict=True, typed=[name for each in typed for name in (each, f"'{each}")])


def shape_violations(blank_lines: Tally, ragged_rows: Tally, width: int) -> list[Violation]:
    """Return a violation for blank lines, and one for rows of another width than the header."""
    violations = []
    if blank_lines.times:
        text = f"the file has {plural(blank_lines.times, 'blank line')}"
        violations.append(Violation("rows", text, blank_lines.first))
    if ragged_rows.times:
        text = f"{plural(ragged_rows.times, 'row')} without exactly {plural(width, 'cell')}"
        violations.append(Violation("rows", text, ragged_rows.first))
    return violations


class Recount:
    """One pass over a written file, chunk by chunk; memory grows with the groups, not with the rows.

    Args:
        schema: The columns of the source.
        labels: By column, the values that each label of its hierarchy means.
        checks: The models to check besides k.
    """

    def __init__(self, schema: Schema, labels: Mapping[str, Mapping[str, Iterable[str]]], checks: ModelChecks) -> None:
        self._checks = checks
        self._schema = schema
        self.cells = quasi_identifier_cells(schema, labels)
        self._header: list[str] | None = None
        self._last_row: list[str] = []
        self._first_unsorted = 0
        self.rows = 0
        self.groups: Counter[Group] = Counter()
        self.is_counting = False
        self.header_violations: list[Violation] = []
        self._shared: dict[str, dict[Group, str | None]] = {name: {} for name in checks.uncounted}

    def add(self, rows: list[list[str]]) -> None:
        """Count the next rows; the very first is the header."""
        if self._header is None:
            self._header = rows.pop(0)
            self.header_violations = header_violations(self._header, self._schema)
            released_names = {column.name for column in self._schema.released}
            self.is_counting = bool(self.cells) and released_names <= set(self._header)
        if not rows:
            return
        self._check_order(rows)
        self.rows += len(rows)
        if self.is_counting:
            columns = list(zip(*rows, strict=True))
            groups: list[Group] = list(zip(*(columns[n] for n in self._positions()), strict=True))
            self.groups.update(groups)
            header = self._header
            self._checks.count(groups, {name: columns[header.index(name)] for name in self._checks.columns})
            for name, shared in self._shared.items():
                for group, value in zip(groups, columns[header.index(name)], strict=True):
                    if shared.setdefault(group, value) != value:
                        shared[group] = None

    def first_row(self, path: PathName, group: Group) -> int:
        """Return the number of the first row of a group; this reads the file again."""
        rows = chain.from_iterable(WrittenFile(path).chunks())
        next(rows)
        pick = picker(self._positions())
        return next(n for n, row in enumerate(rows, 1) if pick(row) == group)

    def one_value(self) -> dict[str, int]:
        """Return for each sensitive column that no model counts the rows in groups that share one value of it."""
        starred = ("*",) * len(self.cells)
        return {
            name: sum(self.groups[group] for group, value in shared.items() if value is not None and group != starred)
            for name, shared in self._shared.items()
        }

    def counts(self, n_suppressed: int) -> dict[str, int]:
        """Return what was counted, by the name of the claim."""
        counts = {"rows": self.rows, "suppressed_rows": n_suppressed}
        if self.is_counting:
            counts |= {"groups": len(self.groups), "smallest_group": min(self.groups.values(), default=0)}
        return counts

    def group_violations(self, path: PathName, k: int) -> list[Violation]:
        """Return the groups that are smaller than k or fail a model."""

        def first_row(group: Group) -> int:
            return self.first_row(path, group)

        violations = small_groups(self.groups, k, first_row)
        if self.is_counting:
            violations += self._checks.violations(self.groups, self.groups, first_row, self.cells)
        return violations

    def row_violations(self) -> list[Violation]:
        """Return whether the rows are not sorted."""
        if not self._first_unsorted:
            return []
        return [Violation("order", "the rows are not sorted by their cells", self._first_unsorted)]

    def _positions(self) -> list[int]:
        return [(self._header or []).index(name) for name in self.cells]

    def _check_order(self, rows: list[list[str]]) -> None:
        before = [self._last_row, *islice(rows, len(rows) - 1)]
        self._last_row = rows[-1]
        if not self._first_unsorted and not all(map(operator.le, before, rows)):
            numbers = range(self.rows + 1, self.rows + len(rows) + 1)
            self._first_unsorted = next(n for n, a, b in zip(numbers, before, rows, strict=True) if a > b)


def spread_violations(layout: Layout, columns: Iterable[Column]) -> list[Violation]:
    """Return the columns that are not followed by the spread that belongs to them.

    Args:
        layout: How the file is laid out, after it was read.
        columns: The columns that must be followed by their spread, with their kinds.
    """
    texts = []
    for column in columns:
        of_numbers, of_categories = spread_names(column.name)
        expected = of_numbers if column.kind in ("numeric", "date") else of_categories
        if layout.spread.get(column.name, ("",))[0] != expected:
            texts.append(f"{expected!r} does not follow {column.name!r}")
    return [Violation("columns", text) for text in texts]


def quasi_identifier_cells(schema: Schema, labels: Mapping[str, Mapping[str, Iterable[str]]]) -> dict[str, Cells]:
    """Return how the cells of each quasi-identifier are read."""
    return {c.name: Cells.of(c, schema.missing, labels.get(c.name)) for c in schema.qi}


def header_violations(header: list[str], schema: Schema) -> list[Violation]:
    """Check the columns; the file's own names are not shown, because they may be cells."""
    expected_names = [column.name for column in schema.released]
    held_back = {column.name: column.role for column in schema.columns if column.name not in expected_names}
    texts = [f"{name!r} ({held_back[name]}) must not be released" for name in held_back if name in header]
    if extra := [str(n) for n, name in enumerate(header, 1) if name not in expected_names and name not in held_back]:
        positions = ", ".join(extra[:MOST_VIOLATIONS])
        texts.append(f"{len(extra)} not in the table (position {positions})")
    texts += [f"{name!r} is not in the file" for name in expected_names if name not in header]
    texts += [f"{name!r} occurs {n} times" for name in expected_names if (n := header.count(name)) > 1]
    if list(dict.fromkeys(n for n in header if n in expected_names)) != [
        name for name in expected_names if name in header
    ]:
        texts.append("they are not in the order of the table")
    return [Violation("columns", text) for text in texts]
