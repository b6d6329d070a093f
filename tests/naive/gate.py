"""Twin of shoal.verification.gate: the written file is compared with its source cell by cell, with dictionaries.

It reads text with Python's csv module; everything that is judged once per distinct cell there is judged here where it
occurs.
"""

from __future__ import annotations

import csv
import gzip
import io
import operator
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple, TextIO

from shoal.schema import DURATION, Column, Dialect, Role, Schema, check_k
from shoal.verification.cells import SUPPRESSED, Cells, normalise
from shoal.verification.cells.forms import read_number
from shoal.verification.models.checks import ModelChecks
from shoal.verification.reading import files, tables
from shoal.verification.reading.files import UnreadableError, unreadable
from shoal.verification.reading.hidden import hidden_content
from shoal.verification.reading.tables import PathName, picker
from shoal.verification.verdict import (
    MOST_VIOLATIONS,
    NO_ROWS,
    Group,
    Verdict,
    Violation,
    claim_violations,
    judge,
    plural,
    read_limit,
    small_groups,
    suppression_violations,
)
from tests.naive.centers import center_violations
from tests.naive.limits import NaiveLimits, naive_recoding

MOST_KEPT = 1_000_000
CHUNK_ROWS = 1_000
TEXTUAL = ("csv", "gzip")
BLOCK_BYTES = 1 << 20
FIELDS = r'(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^"%s\r\n]*+)[%s\r\n])*+'  # with the delimiter
BARE_QUOTE = r'[^"%s\r\n]+"'
FORMULA_SIGNS = frozenset("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?")


def open_text(path: PathName) -> TextIO:
    csv.field_size_limit(2**31 - 1)
    try:
        packed = files.kind_of(path) == "gzip"
        return io.TextIOWrapper(gzip.open(path) if packed else open(path, "rb"), encoding="utf-8-sig", newline="")
    except OSError as error:
        raise unreadable(path, error) from None


def chunks(path: PathName, dialect: Dialect, *, keep_blank: bool = False) -> Iterator[list[list[str]]]:
    """Yield the rows of a written file; blank lines of a text file as empty rows."""
    if files.kind_of(path) not in TEXTUAL:
        yield from tables.chunks(path, dialect, keep_blank=keep_blank)
        return
    with open_text(path) as file:
        reader = csv.reader(file, strict=True, delimiter=dialect.delimiter)
        try:
            while rows := list(islice(reader, CHUNK_ROWS)):
                yield rows
        except (csv.Error, UnicodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UnreadableError(path, f"{type(error).__name__} in the text") from None


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
    delimiter: str = ",",
    decimal: str = "input",
    models: Iterable[Any] = (),
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    population: Mapping[str, Sequence[str]] | None = None,
    center: str | None = None,
    groups: Sequence[int] = (),
    spread: bool = False,
    ladders: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Verdict:
    """Return the verdict on a file that was just written: its bytes, columns and groups, and every cell.

    If the schema has a person column, every group must have rows of k persons. If it has a personal-k column, every
    group must have as many rows as each of its rows asks for.

    Args:
        path: The released file: CSV (UTF-8, comma, LF, header), also as gzip, Parquet or Excel.
        schema: The columns of the source; the file must have the released ones and no others.
        k: The size that every group must have.
        original: The text of the source by column name.
        source_rows: The source row (from 0) of each released row.
        claims: What the maker states: "rows", "groups", "smallest_group", "suppressed_rows". Each is recounted.
        keep_order: Whether the rows are in the order of the source; by default they are sorted by their cells.
        suppression_limit: The largest share of source rows that may be missing from the file.
        labels: By column, the values that each label of its hierarchy means.
        bounds: The columns whose ranges are written as two columns, NAME_min and NAME_max.
        spreadsheet_safe: Whether a quote precedes every cell that a spreadsheet would take for a formula.
        delimiter: The separator of cells in a CSV file.
        decimal: The decimal mark of numbers in the file; "input" for that of the source.
        models: What every group must pass besides k, as plain values (see shoal.verification.models.checks).
        paths: By sensitive column, the labels of each value in its hierarchy, from level 1 up.
        population: The text of the population table by column name.
        center: "mean" or "median" if cells are the centres of groups.
        groups: The group of each released row, if cells are centres.
        spread: Whether a standard deviation or share follows each centre.
        ladders: By quasi-identifier, the labels of each value in its hierarchy, for limits that name levels.

    Returns:
        The verdict, good or bad.

    Raises:
        UsageError: An argument is not valid.
        FileError: The file cannot be opened.
    """
    k, limit, bounds = check_k(k), read_limit(suppression_limit), frozenset(bounds)
    source, violations = _source(schema, original)
    for column in schema.columns if source else ():
        if column.codings:
            source[column.name] = naive_recoding(column, source[column.name], schema.missing)
    missing = {"", *map(normalise, schema.missing)}
    for name in schema.names(Role.PERSON) if source else ():
        ids = [normalise(text) for text in source[name]]
        source[name] = ["" if each in missing else each for each in ids]
    n_source = len(next(iter(source.values()), ()))
    witness = list(map(operator.index, source_rows))
    file = WrittenFile(path, delimiter)
    layout = Layout(bounds, spreadsheet_safe, naive_marks(schema, source, decimal), schema.missing)
    checks = ModelChecks(models, schema.columns, schema.missing, paths or {})
    limits = {
        column.name: NaiveLimits(
            column, schema.missing, (ladders or {}).get(column.name, {}), closed=column.name in bounds
        )
        for column in schema.qi
        if any(column.limits)
    }
    recount = Recount(schema, _align(source, witness, n_source), keep_order, layout, labels or {}, checks, file.dialect)
    recount.centered, recount.has_spread = center is not None, spread
    recount.limits = limits
    try:
        for chunk in file.chunks():
            recount.add(chunk)
    except UnreadableError as error:
        violations += file.broken(error)
        return judge(k, recount.rows, recount.groups, violations)
    for name, n in layout.marked.items():
        text = f"{plural(n, 'cell')} without the decimal mark of the release"
        violations += [Violation(f"column {name!r}", text)] if n else []
    violations += file.violations(recount)
    violations += _witness_violations(witness, n_source, recount.rows, keep_order)
    n_suppressed = n_source - recount.rows
    violations += suppression_violations(n_suppressed, n_source, limit)
    if not recount.rows:
        violations.append(NO_ROWS)
    violations += recount.group_violations(path, k, population)
    violations += [violation for each in limits.values() for violation in each.violations()]
    if layout.risky:
        violations.append(Violation("file", f"a spreadsheet would run {plural(layout.risky, 'cell')} as a formula"))
    if layout.quoted:
        violations.append(Violation("file", f"a quote precedes {plural(layout.quoted, 'cell')} that needs none"))
    if center is not None and recount.is_counting and source:
        violations += _centered_violations(recount, schema, source, groups, k, center, (models, paths or {}))
    violations += claim_violations(claims, recount.counts(n_suppressed))
    violations += recount.row_violations()
    return judge(k, recount.rows, recount.groups, violations)


def _centered_violations(
    recount: Recount,
    schema: Schema,
    source: Mapping[str, list[str]],
    groups: Sequence[int],
    k: int,
    center: str,
    goal: tuple[Iterable[Any], Mapping[str, Mapping[str, Sequence[str]]]],
) -> list[Violation]:
    """Judge the groups before they look alike, and recompute their centres."""
    rows = [(n, groups[n - 1], cells, origin) for n, cells, origin in recount.kept]
    checks = ModelChecks(goal[0], schema.columns, schema.missing, goal[1])
    sizes: Counter[Group] = Counter((str(group),) for _, group, _, _ in rows)
    first: dict[Group, int] = {}
    for number, group, cells, origin in rows:
        first.setdefault((str(group),), number)
        for name in checks.columns:
            checks.add(name, (str(group),), cells[name], 1)
        for name in schema.names(Role.PERSONAL_K):
            checks.ask([((str(group),), origin[name])])
    counted: Mapping[Group, int] = sizes
    for name in schema.names(Role.PERSON):
        people = {((str(group),), origin[name]) for _, group, _, origin in rows}
        counted = Counter(group for group, _ in people)
    violations = small_groups(counted, k, first.__getitem__)
    violations += checks.violations(sizes, counted, first.__getitem__, recount.cells, None)
    return violations + center_violations(schema, rows, source, center, k)


def _source(schema: Schema, original: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], list[Violation]]:
    """Return the source columns to compare with, and what prevents a comparison."""
    names = [column.name for column in schema.released]
    names += [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
    if not schema.qi:
        return {}, [Violation("columns", "there is no quasi-identifier, so there is nothing to count")]
    if missing_names := [name for name in names if name not in original]:
        return {}, [Violation("source", f"column {name!r} is missing") for name in missing_names]
    source = {name: cells if isinstance(cells := original[name], list) else list(cells) for name in names}
    if len(set(map(len, source.values()))) > 1:
        return {}, [Violation("source", "its columns differ in length")]
    return source, []


def _exist(witness: list[int], n_source: int) -> bool:
    return not witness or (min(witness) >= 0 and max(witness) < n_source)


def _align(source: Mapping[str, list[str]], witness: list[int], n_source: int) -> dict[str, tuple[Any, ...]]:
    """Return the source cells in the order of the release, gathered column by column to suit the processor cache."""
    if _exist(witness, n_source):
        pick = picker(witness)
        return {name: pick(cells) for name, cells in source.items()}
    return {
        name: tuple(cells[row] if 0 <= row < n_source else None for row in witness) for name, cells in source.items()
    }


def _witness_violations(witness: list[int], n_source: int, n_rows: int, keep_order: bool) -> list[Violation]:
    """Check the map from released rows to source rows."""
    violations = []
    if n_rows != len(witness):
        violations.append(Violation("rows", f"the file has {n_rows}, but {len(witness)} should have been written"))
    if not _exist(witness, n_source):
        invalid = [n for n, row in enumerate(witness, 1) if not 0 <= row < n_source]
        violations.append(
            Violation("source rows", f"{plural(len(invalid), 'reference')} to a row that does not exist", invalid[0])
        )
    if n_repeated := len(witness) - len(set(witness)):
        violations.append(
            Violation("source rows", f"{plural(n_repeated, 'reference')} to a row that is already in use")
        )
    if keep_order and not all(map(operator.lt, witness, islice(witness, 1, None))):
        row = next(n for n, (a, b) in enumerate(pairwise(witness), 2) if a >= b)
        violations.append(Violation("order", "the rows are not in the order of the source", row))
    return violations


class WrittenFile:
    """A released file and what is wrong with its bytes.

    Args:
        path: The file.
        delimiter: The separator of its cells.
    """

    def __init__(self, path: PathName, delimiter: str = ",") -> None:
        self.path = path
        self.dialect = Dialect(delimiter)
        self._kind = files.kind_of(path)
        self._is_text = self._kind in TEXTUAL
        self._facts = scan(path) if self._is_text else Facts(False, False, 0, True)

    def chunks(self) -> Iterator[list[list[str]]]:
        """Yield the rows of the file, the header first."""
        return chunks(self.path, self.dialect, keep_blank=True)

    def broken(self, error: files.UnreadableError) -> list[Violation]:
        """Return what is wrong with a file that cannot be read as a table."""
        return [*self._facts.violations(self._facts.carriage_returns), Violation("file", error.reason)]

    def violations(self, recount: Recount) -> list[Violation]:
        """Return what is wrong with the bytes and the header of the file after all rows were counted."""
        violations = self._facts.violations(recount.carriage_returns if self._is_text else 0)
        if self._kind != files.SUFFIXES.get(os.path.splitext(self.path)[1], "csv"):
            violations.append(Violation("file", "its content does not match its name"))
        violations += hidden_content(self.path, strict=True)
        if self._is_text and recount.has_quotes and has_bare_quote(self.path, self.dialect.delimiter):
            violations.append(Violation("file", "there is a double quote in a cell that is not quoted"))
        if self._is_text and has_needless_quote(self.path, self.dialect.delimiter):
            violations.append(Violation("file", "there are quotes around a cell that needs none"))
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
        dialect: How the file is written.
    """

    def __init__(
        self,
        schema: Schema,
        source: dict[str, tuple[Any, ...]],
        keep_order: bool,
        layout: Layout,
        labels: Mapping[str, Mapping[str, Iterable[str]]],
        checks: ModelChecks,
        dialect: Dialect,
    ) -> None:
        self._dialect = dialect
        self._checks = checks
        self._schema = schema
        self._source = source
        self._keep_order = keep_order
        self._layout = layout
        self.cells = {c.name: Cells.of(c, schema.missing, labels.get(c.name)) for c in schema.qi}
        self._person = next(iter(schema.names(Role.PERSON)), None)
        self._personal_k = next(iter(schema.names(Role.PERSONAL_K)), None)
        self._people: set[tuple[Group, str]] = set()
        self._width = 0
        self._true_pairs: dict[str, set[tuple[str, str]]] = {name: set() for name in self.cells}
        self._header: list[str] | None = None
        self._last_row: list[str] = []
        self._blank, self._ragged, self._disorder = _Tally(), _Tally(), _Tally()
        self._wrong = {column.name: _Tally() for column in schema.released}
        self.centered = self.has_spread = False
        self.kept: list[tuple[int, dict[str, str], dict[str, str]]] = []  # rows with a source: number, cells, source
        self._spread: list[int] = []  # the places of columns of spread
        self.rows = 0
        self.groups: Counter[Group] = Counter()
        self.carriage_returns = 0
        self.has_quotes = False
        self.is_counting = False
        self.header_violations: list[Violation] = []
        self.limits: dict[str, NaiveLimits] = {}

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
        rows = filter(None, chain.from_iterable(chunks(path, self._dialect, keep_blank=True)))
        next(rows)
        pick = picker(self._positions())
        table_rows = (self._layout.rows([row])[0] if len(row) == self._width else None for row in rows)
        return next(n for n, row in enumerate(table_rows, 1) if row is not None and pick(row) == group)

    def sizes(self) -> Mapping[Group, int]:
        """Return the rows of each group or, if there is a person column, the persons."""
        if self._person is None:
            return self.groups
        people = Counter(group for group, _ in self._people)
        return {group: people[group] for group in self.groups}

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
        if self.has_spread:
            self._read_spread(self._header)
        names = [name for n, name in enumerate(self._header) if n not in self._spread]
        self.header_violations += _header_violations(names, self._schema)
        released_names = {column.name for column in self._schema.released}
        self.is_counting = bool(self.cells) and released_names <= set(self._header)

    def _read_spread(self, header: list[str]) -> None:
        """Find the columns of spread: each stands right after the column that it belongs to."""
        for column in self._schema.qi:
            both = [f"{column.name}_sd", f"{column.name}_share"]
            expected = both[column.kind not in ("numeric", "date")]
            place = header.index(column.name) + 1 if column.name in header else len(header)
            found = header[place] if place < len(header) else ""
            if found in both:
                self._spread.append(place)
            if found != expected:
                text = f"{expected!r} does not follow {column.name!r}"
                self.header_violations = [*self.header_violations, Violation("columns", text)]
        self._spread.sort()

    def _positions(self) -> list[int]:
        return [*((self._header or []).index(name) for name in self.cells), *self._spread]

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
        for name, limited in self.limits.items():
            for text, number in zip(columns[header.index(name)], numbers, strict=True):
                limited.add(text, number)
        if self._personal_k is not None and self._source:
            self._checks.ask(self._with_source(self._personal_k, groups, numbers))
        if self._person is not None and self._source:
            pairs = self._with_source(self._person, groups, numbers)
            self._people.update((group, person) for group, person in pairs if person is not None)

    def _with_source(self, name: str, groups: Sequence[Group], numbers: Sequence[int]) -> Iterator[tuple[Group, Any]]:
        """Yield the group of each row with its source cell of a column."""
        source = self._source[name]
        return ((group, source[n - 1]) for group, n in zip(groups, numbers, strict=True) if n <= len(source))

    def _compare(self, columns: Sequence[Sequence[str]], numbers: Sequence[int]) -> None:
        sources = {name: cells[numbers[0] - 1 : numbers[-1]] for name, cells in self._source.items()}
        any_source = next(iter(sources.values()))
        is_contiguous = numbers[-1] - numbers[0] + 1 == len(numbers)
        if len(any_source) != len(numbers) or not is_contiguous or None in any_source:
            start, end = numbers[0], numbers[0] + len(any_source)
            matched = [i for i, n in enumerate(numbers) if n < end and any_source[n - start] is not None]
            columns = [tuple(column[i] for i in matched) for column in columns]
            numbers = [numbers[i] for i in matched]
            sources = {name: tuple(cells[n - start] for n in numbers) for name, cells in sources.items()}
        if self.centered:
            named = zip(*columns, strict=True)
            origins = zip(*sources.values(), strict=True)
            for n, row, origin in zip(numbers, named, origins, strict=True):
                shown = dict(zip(self._header or [], row, strict=True))
                self.kept.append((n, shown, dict(zip(sources, origin, strict=True))))
        for name, tally in self._wrong.items():
            if self.centered and name in self.cells:
                continue
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


class Facts(NamedTuple):
    """What the bytes of a text file show.

    Attributes:
        bom: Whether the file begins with a byte order mark.
        nul: Whether it contains a NUL byte.
        carriage_returns: How many carriage returns it contains.
        ended: Whether it ends with a line feed.
    """

    bom: bool
    nul: bool
    carriage_returns: int
    ended: bool

    def violations(self, n_in_cells: int) -> list[Violation]:
        """Return what is wrong with the bytes, given the number of carriage returns inside cells."""
        checks = [
            (self.bom, "it begins with a byte order mark"),
            (self.nul, "it contains a NUL byte"),
            (self.carriage_returns > n_in_cells, "it contains a carriage return outside a quoted cell"),
            (not self.ended, "it does not end with a line feed"),
        ]
        return [Violation("file", text) for fault, text in checks if fault]


def scan(path: PathName) -> Facts:
    """Scan the bytes of a text file, decompressed if necessary."""
    start, last, nul, carriage_returns = b"", b"", False, 0
    try:
        with files.open_bytes(path) as file:
            while block := file.read(BLOCK_BYTES):
                start = start or block[:3]
                last = block[-1:]
                nul = nul or b"\0" in block
                carriage_returns += block.count(b"\r")
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    return Facts(start == b"\xef\xbb\xbf", nul, carriage_returns, last == b"\n")


def has_bare_quote(path: PathName, delimiter: str = ",") -> bool:
    """Return whether an unquoted cell contains a quote, which readers treat differently; the file must be valid CSV."""
    rest, sign = "", re.escape(delimiter)
    fields, bare_quote = re.compile(FIELDS % (sign, sign)), re.compile(BARE_QUOTE % sign)
    with open_text(path) as file:
        while block := file.read(BLOCK_BYTES):
            rest += block
            end = fields.match(rest).end()  # type: ignore[union-attr]  # it matches even the empty text
            if bare_quote.match(rest, end):
                return True
            rest = rest[end:]
    return False


def has_needless_quote(path: PathName, delimiter: str = ",") -> bool:
    """Return whether a valid CSV file has more quotes than its cells need."""
    with open_text(path) as file:
        text = file.read()
    n_needed = 0
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        for cell in row:
            is_special = any(letter in cell for letter in f'{delimiter}"\n\r') or row == [""]
            n_needed += 2 + 2 * cell.count('"') if is_special else 0
    return text.count('"') > n_needed


def naive_marks(schema: Schema, source: Mapping[str, Sequence[str]], decimal: str) -> dict[str, tuple[Column, Column]]:
    """Return the columns of numbers alone, as the source and as the file writes them, if their decimal marks differ."""
    columns = {}
    for column in schema.released if source and decimal != "input" else ():
        if column.role is not Role.QI:
            column = replace(column, decimal=schema.marks[0], thousands=schema.marks[1], unit="")
        cells = Cells.of(column, schema.missing)
        known = {normalise(text) for text in source[column.name] if not cells.is_missing(text)}
        is_labelled = any(coding.form == "rare" for coding in column.codings)
        is_number = column.kind in (None, "numeric") and column.unit != DURATION and not is_labelled
        if (
            is_number
            and column.decimal != decimal
            and all(read_number(text, *column.marks) is not None for text in known)
        ):
            thousands = column.decimal if column.thousands == decimal else column.thousands
            columns[column.name] = column, replace(column, decimal=decimal, thousands=thousands)
    return columns


class Layout:
    """How the columns of a file map to the columns of a table.

    Args:
        bounds: The columns that are written as NAME_min and NAME_max.
        safe: Whether a quote precedes every cell or name that a spreadsheet would take for a formula.
        marks: The columns whose numbers have other marks in the file: as the source and as the file writes them.
        missing: The texts that mean a missing value.
    """

    def __init__(
        self,
        bounds: Iterable[str] = (),
        safe: bool = False,
        marks: Mapping[str, tuple[Column, Column]] | None = None,
        missing: Iterable[str] = (),
    ) -> None:
        self._marks = marks or {}
        self._unread = {SUPPRESSED, "", *map(normalise, missing)}
        self._names: list[str] = []
        self.marked: Counter[str] = Counter()  # by column, the cells with a wrong decimal mark
        self._bounds = frozenset(bounds)
        self._safe = safe
        self._steps: list[tuple[int, int]] = []  # the position of a column in the file, and its width in columns
        self.risky = 0
        self.quoted = 0

    @property
    def is_plain(self) -> bool:
        """Whether the columns of the file are those of the table."""
        return not self._bounds and not self._safe and not self._marks

    def names(self, header: Sequence[str]) -> list[str]:
        """Return the names of the columns of the table; a column that is not laid out correctly keeps its own name."""
        header = [self._bare(name) for name in header]
        names, position = [], 0
        while position < len(header):
            name = header[position].removesuffix("_min")
            pair = name in self._bounds and list(header[position : position + 2]) == [f"{name}_min", f"{name}_max"]
            self._steps.append((position, 2 if pair else 1))
            self._names += [name if pair else header[position]] * (2 if pair else 1)
            names.append(name if pair else header[position])
            position += 2 if pair else 1
        return names

    def rows(self, rows: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the cells of the table: two bounds become a range, or one value if they are equal."""
        if self._safe:
            rows = [[self._bare(cell) for cell in row] for row in rows]
        if self._marks:
            rows = [[self._marked(name, cell) for name, cell in zip(self._names, row, strict=True)] for row in rows]
        if not self._bounds:
            return [list(row) for row in rows]
        return [[self._cell(row, position, width) for position, width in self._steps] for row in rows]

    def _marked(self, name: str, cell: str) -> str:
        """Return a number or a range with the marks of the source; count those without the mark of the file."""
        if name not in self._marks or normalise(cell) in self._unread:
            return cell
        source, there = self._marks[name]
        parts = re.fullmatch(r"\[(.*), (.*)([\])])", cell, re.DOTALL)
        ends = [cell] if parts is None else [parts[1], parts[2]]
        if all(read_number(normalise(end), *there.marks) is not None for end in ends):
            ends = [re.sub("(?<=[0-9])[^0-9](?=[0-9])", lambda sign: back(sign[0], source, there), end) for end in ends]
            return ends[0] if parts is None else f"[{ends[0]}, {ends[1]}{parts[3]}"
        self.marked[name] += all(read_number(normalise(end), *source.marks) is not None for end in ends)
        return cell

    @staticmethod
    def _cell(row: Sequence[str], position: int, width: int) -> str:
        if width == 1 or row[position] == row[position + 1]:
            return row[position]
        return f"[{row[position]}, {row[position + 1]}]"

    def _bare(self, cell: str) -> str:
        """Remove the escaping quote; count the cells that lack one, and those that have one without need."""
        if not self._safe or cell.lstrip("'")[:1] not in FORMULA_SIGNS or not cell.lstrip("'"):
            return cell
        if not cell.startswith("'"):
            self.risky += not NUMBER.fullmatch(cell)
            return cell
        if NUMBER.fullmatch(cell[1:]):
            self.quoted += 1
            return cell
        return cell[1:]


def back(sign: str, source: Column, there: Column) -> str:
    """Return the sign between two digits as the source writes it."""
    return {there.thousands: source.thousands, there.decimal: source.decimal}.get(sign, sign)


def naive_numbers(names: list[str]) -> list[str]:
    """Return different names for columns that share one: the first keeps it, the others get the next free number."""
    result: list[str] = []
    for position, name in enumerate(names):
        number = 1
        while name in names[:position] and (number == 1 or f"{name}_{number}" in [*names, *result]):
            number += 1
        result.append(name if number == 1 else f"{name}_{number}")
    return result
