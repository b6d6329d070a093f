"""The gate: a file just written is held against its source, row by row."""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, pairwise
from typing import Any

from shoal.errors import InputError, UsageError
from shoal.schema import Dialect, Role, Schema, check_k
from shoal.verification.cells import Cells
from shoal.verification.models import Promises
from shoal.verification.reading import files
from shoal.verification.reading.layout import Layout
from shoal.verification.reading.raw_bytes import Facts, has_bare_quote, scan
from shoal.verification.reading.tables import TEXTUAL, PathName, Step, chunks, ignore_step, picker
from shoal.verification.verdict import MOST_VIOLATIONS, Verdict, judge, small_groups

__all__ = ["gate"]

MOST_KEPT = 1_000_000


def gate(
    path: PathName,
    schema: Schema,
    k: int,
    original: Mapping[str, Sequence[str]],
    source_rows: Sequence[int],
    claims: Mapping[str, int],
    *,
    keep_order: bool = False,
    suppression_limit: float | Fraction = 0,
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    bounds: Iterable[str] = (),
    spreadsheet_safe: bool = False,
    models: Iterable[Any] = (),
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    population: Mapping[str, Sequence[str]] | None = None,
    step: Step = ignore_step,
) -> Verdict:
    """Return the verdict on a file just written: its bytes, its columns, its groups and, row by row, its truth.

    Args:
        path: the file, as a release is written: CSV (UTF-8, comma, LF, header), also in gzip, Parquet or Excel.
        schema: the columns of the source; the file must hold the released ones and no other.
        k: the size that every group must have.
        original: the text of the source by column name.
        source_rows: for each released row, the source row (from 0) that it was made from.
        claims: what the maker states: "rows", "groups", "smallest_group", "suppressed_rows"; each is recounted.
        keep_order: the rows stand in the order of the source instead of sorted by their cells.
        suppression_limit: the largest share of source rows that may be missing from the file.
        labels: by column, the values that each label of its hierarchy stands for.
        bounds: the columns whose ranges are written as two columns, NAME_min and NAME_max.
        spreadsheet_safe: a quote stands before whatever a spreadsheet would take for a formula.
        models: what every group must pass beside k, as plain values (see shoal.verification.models).
        paths: by sensitive column, the labels of each value in its hierarchy, from level 1 up.
        population: the text of the population table by column name.
        step: called with the number of rows examined so far; it may raise to end the check.

    Where the schema has a person column, every group must have rows of k persons; where it has a column of personal k,
    every group must have as many as each of its rows asks for.
    """
    k, limit = check_k(k), _share(suppression_limit)
    source, violations = _source(schema, original)
    n_source = len(next(iter(source.values()), ()))
    witness = list(map(operator.index, source_rows))
    kind = files.kind_of(path)
    facts = scan(path) if kind in TEXTUAL else Facts(False, False, 0, True)
    layout = Layout(bounds, spreadsheet_safe)
    promises = Promises(models, schema.columns, schema.missing, paths or {})
    recount = _Recount(schema, _align(source, witness, n_source), keep_order, layout, labels or {}, promises)
    try:
        for chunk in chunks(path, Dialect(), whole=True):
            recount.take(chunk)
            step(recount.rows)
    except InputError as error:
        broken = str(error).removeprefix(f"{os.fspath(path)}: ")
        violations += [*facts.violations(facts.carriage_returns), f"the file: {broken}"]
        return judge(k, recount.rows, recount.groups, violations)
    violations += facts.violations(recount.carriage_returns if kind in TEXTUAL else 0)
    if kind != files.SUFFIXES.get(os.path.splitext(path)[1], "csv"):
        violations.append("the file: its content is not what its name says.")
    violations += files.leftovers(path, kind)
    if kind in TEXTUAL and recount.has_quotes and has_bare_quote(path):
        violations.append("the file: a double quote stands in a cell that is not quoted.")
    violations += recount.header_violations
    violations += _witness_violations(witness, n_source, recount.rows, keep_order)
    suppressed = n_source - recount.rows
    if suppressed > limit * n_source:
        most = int(limit * n_source)
        violations.append(f"suppression: {suppressed} of {n_source} rows are not in the file; at most {most} may be.")
    if not recount.rows:
        violations.append("no rows: a release without data rows proves nothing.")

    def first_row(group: tuple[str, ...]) -> int:
        return recount.first_row(path, group)

    violations += small_groups(recount.sizes(), k, first_row)
    if recount.is_counting:
        violations += promises.violations(recount.groups, recount.sizes(), first_row, recount.cells, population)
    if layout.risky:
        violations.append(f"the file: {layout.risky} cells would be run by a spreadsheet.")
    violations += _claim_violations(claims, recount, suppressed)
    violations += recount.violations()
    return judge(k, recount.rows, recount.groups, violations)


def _share(limit: float | Fraction) -> Fraction:
    try:
        share = Fraction(str(limit))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise UsageError(f"suppression_limit={limit!r} is not a share. Use a number from 0 to 1.")
    return share


def _source(schema: Schema, original: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the source of the released columns, and what keeps it from being compared."""
    names = [column.name for column in schema.released]
    names += [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
    if not schema.qi:
        return {}, ["columns: no quasi-identifier, so there is nothing to count."]
    if lacking := [name for name in names if name not in original]:
        return {}, [f"source: column {name!r} is not there to compare with." for name in lacking]
    source = {name: cells if isinstance(cells := original[name], list) else list(cells) for name in names}
    if len(set(map(len, source.values()))) > 1:
        return {}, ["source: its columns differ in length."]
    return source, []


def _exist(witness: list[int], n_source: int) -> bool:
    return not witness or (min(witness) >= 0 and max(witness) < n_source)


def _align(source: Mapping[str, list[str]], witness: list[int], n_source: int) -> dict[str, tuple[Any, ...]]:
    """Bring the source into the order of the release, one column after the other: kind to the processor's cache."""
    if _exist(witness, n_source):
        pick = picker(witness)
        return {name: pick(cells) for name, cells in source.items()}
    return {
        name: tuple(cells[row] if 0 <= row < n_source else None for row in witness) for name, cells in source.items()
    }


def _witness_violations(witness: list[int], n_source: int, n_rows: int, keep_order: bool) -> list[str]:
    found = []
    if n_rows != len(witness):
        found.append(f"rows: the file has {n_rows}, but {len(witness)} were to be written.")
    if not _exist(witness, n_source):
        strange = [n for n, row in enumerate(witness, 1) if not 0 <= row < n_source]
        found.append(f"source rows: {len(strange)} do not exist (first for row {strange[0]}).")
    if doubled := len(witness) - len(set(witness)):
        found.append(f"source rows: {doubled} rows stand for a source row that another row stands for already.")
    if keep_order and not all(map(operator.lt, witness, islice(witness, 1, None))):
        first = next(n for n, (a, b) in enumerate(pairwise(witness), 2) if a >= b)
        found.append(f"order: the rows are not in the order of the source (first at row {first}).")
    return found


def _claim_violations(claims: Mapping[str, int], recount: _Recount, suppressed: int) -> list[str]:
    counted: dict[str, int] = {"rows": recount.rows, "suppressed_rows": suppressed}
    if recount.is_counting:
        counted |= {"groups": len(recount.groups), "smallest_group": min(recount.groups.values(), default=0)}
    return [
        f"claim {name!r}: {stated} stated, {counted.get(name, 'nothing of that name')} counted."
        for name, stated in claims.items()
        if counted.get(name) != stated
    ]


@dataclass
class _Tally:
    """How often something was found, and at which row first."""

    times: int = 0
    first: int = 0

    def add(self, row: int) -> None:
        self.times += 1
        self.first = self.first or row


class _Recount:
    """One pass over a written file beside its source; what holds for a whole chunk is never looked at cell by cell.

    source: by released column, for each released row the text of its source cell, None if there is no such row.
    """

    def __init__(
        self,
        schema: Schema,
        source: dict[str, tuple[Any, ...]],
        keep_order: bool,
        layout: Layout,
        labels: Mapping[str, Mapping[str, Iterable[str]]],
        promises: Promises,
    ) -> None:
        self._promises = promises
        self._schema = schema
        self._source = source
        self._keep_order = keep_order
        self._layout = layout
        self.cells = {
            c.name: Cells(c.kind, c.date_format, schema.missing, (c.decimal, c.thousands), labels.get(c.name))
            for c in schema.qi
        }
        self._person = next(iter(schema.names(Role.PERSON)), None)
        self._own_k = next(iter(schema.names(Role.PERSONAL_K)), None)
        self._people: set[tuple[tuple[str, ...], str]] = set()
        self._width = 0
        self._passed: dict[str, set[tuple[str, str]]] = {name: set() for name in self.cells}
        self._header: list[str] | None = None
        self._last: list[str] = []
        self._blank, self._ragged, self._disorder = _Tally(), _Tally(), _Tally()
        self._wrong = {column.name: _Tally() for column in schema.released}
        self.rows = 0
        self.groups: Counter[tuple[str, ...]] = Counter()
        self.carriage_returns = 0
        self.has_quotes = False
        self.is_counting = False
        self.header_violations: list[str] = []

    def take(self, rows: list[list[str]]) -> None:
        """Count and compare the next rows; the very first is the header."""
        if self._header is None:
            written = rows.pop(0)
            self._width = len(written)
            self._note_characters([written])
            self._header = self._layout.names(written)
            self.header_violations = _header_violations(self._header, self._schema)
            names = set(self._header)
            self.is_counting = bool(self.cells) and {c.name for c in self._schema.released} <= names
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
            groups = list(zip(*(columns[n] for n in self._positions()), strict=True))
            self.groups.update(groups)
            header = self._header or []
            self._promises.take(groups, {name: columns[header.index(name)] for name in self._promises.columns})
            if self._own_k is not None and self._source:
                asked = self._source[self._own_k]
                self._promises.ask(
                    (group, asked[n - 1]) for group, n in zip(groups, numbers, strict=True) if n <= len(asked)
                )
            if self._person is not None and self._source:
                people = self._source[self._person]
                self._people.update(
                    (group, people[n - 1]) for group, n in zip(groups, numbers, strict=True) if n <= len(people)
                )
            if self._source:
                self._compare(columns, numbers)

    def first_row(self, path: PathName, group: tuple[str, ...]) -> int:
        """Return the number of the first row of a group, by reading the file again."""
        rows = filter(None, chain.from_iterable(chunks(path, Dialect(), whole=True)))
        next(rows)
        pick = picker(self._positions())
        laid_out = (self._layout.rows([row])[0] if len(row) == self._width else None for row in rows)
        return next(n for n, row in enumerate(laid_out, 1) if row is not None and pick(row) == group)

    def sizes(self) -> Mapping[tuple[str, ...], int]:
        """Return how many rows each group has or, where a column tells, rows of how many people."""
        return self.groups if self._person is None else Counter(group for group, _ in self._people)

    def violations(self) -> list[str]:
        """Return what was found wrong in the rows."""
        found = []
        if self._blank.times:
            found.append(f"blank lines: {self._blank.times} (the first before row {self._blank.first}).")
        if self._ragged.times:
            found.append(
                f"rows: {self._ragged.times} without exactly {self._width} cells (first row {self._ragged.first})."
            )
        for name, tally in self._wrong.items():
            if tally.times:
                fault = "do not cover their source" if name in self.cells else "differ from their source"
                found.append(f"column {name!r}: the cells of {tally.times} rows {fault} (first row {tally.first}).")
        if self._disorder.times:
            found.append(f"order: the rows are not sorted by their cells (first at row {self._disorder.first}).")
        return found

    def _positions(self) -> list[int]:
        return [(self._header or []).index(name) for name in self.cells]

    def _note_characters(self, columns: Sequence[Sequence[str]]) -> None:
        text = "".join(chain.from_iterable(columns))
        self.carriage_returns += text.count("\r")
        self.has_quotes = self.has_quotes or '"' in text

    def _drop_malformed(self, rows: list[list[str]]) -> tuple[list[list[str]], list[int]]:
        kept, numbers = [], []
        for row in rows:
            self.rows += bool(row)
            if not row:
                self._blank.add(self.rows + 1)
            elif len(row) != self._width:
                self._ragged.add(self.rows)
            else:
                kept.append(row)
                numbers.append(self.rows)
        return kept, numbers

    def _check_order(self, rows: list[list[str]], numbers: Sequence[int]) -> None:
        before = [self._last, *islice(rows, len(rows) - 1)]
        self._last = rows[-1]
        if not all(map(operator.le, before, rows)):
            self._disorder.add(next(n for n, a, b in zip(numbers, before, rows, strict=True) if a > b))

    def _compare(self, columns: Sequence[Sequence[str]], numbers: Sequence[int]) -> None:
        sources = {name: cells[numbers[0] - 1 : numbers[-1]] for name, cells in self._source.items()}
        some = next(iter(sources.values()))
        if len(some) != len(numbers) or None in some:
            start, end = numbers[0], numbers[0] + len(some)
            kept = [i for i, n in enumerate(numbers) if n < end and some[n - start] is not None]
            columns = [tuple(column[i] for i in kept) for column in columns]
            numbers = [numbers[i] for i in kept]
            sources = {name: tuple(cells[n - start] for n in numbers) for name, cells in sources.items()}
        for name, tally in self._wrong.items():
            cells = columns[(self._header or []).index(name)]
            source = sources[name]
            if source == cells:
                continue
            false = self._false_pairs(name, source, cells)
            if false is None or false:
                for n, pair in zip(numbers, zip(source, cells, strict=True), strict=True):
                    if pair[0] != pair[1] if false is None else pair in false:
                        tally.add(n)

    def _false_pairs(self, name: str, source: Sequence[str], cells: Sequence[str]) -> set[tuple[str, str]] | None:
        """Return the pairs of source and released cell where the one does not cover the other; None if any unequal."""
        if name not in self.cells:
            return None
        passed = self._passed[name]
        pairs = set(zip(source, cells, strict=True)).difference(passed)
        false = {pair for pair in pairs if not self.cells[name].covers(*pair)}
        if len(passed) > MOST_KEPT:
            passed.clear()
        passed |= pairs - false
        return false


def _header_violations(header: list[str], schema: Schema) -> list[str]:
    """Return what is wrong with the columns; the file's own names are not shown, they may be cells."""
    wanted = [column.name for column in schema.released]
    held_back = {column.name: column.role for column in schema.columns if column.name not in wanted}
    found = [f"columns: {name!r} ({held_back[name]}) must not be released." for name in held_back if name in header]
    if strangers := [str(n) for n, name in enumerate(header, 1) if name not in wanted and name not in held_back]:
        places = ", ".join(strangers[:MOST_VIOLATIONS])
        found.append(f"columns: {len(strangers)} not of the table (position {places}).")
    found += [f"columns: {name!r} is not in the file." for name in wanted if name not in header]
    found += [f"columns: {name!r} stands {n} times." for name in wanted if (n := header.count(name)) > 1]
    if list(dict.fromkeys(n for n in header if n in wanted)) != [name for name in wanted if name in header]:
        found.append("columns: not in the order of the table.")
    return found
