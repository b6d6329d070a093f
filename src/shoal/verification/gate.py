"""The gate: check a file that was just written against its source, row by row.

Both tables are coded first (see `reading.coded`), so each distinct pair of an original and a released cell is judged
once, no matter how many rows show it. The twin in tests/naive/gate.py reaches the same verdict cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.schema import INPUT, Column, Role, Schema, check_k
from shoal.verification.cells import Cells, normalise
from shoal.verification.cells.centers import CenterCells
from shoal.verification.cells.marks import OtherMark, are_numbers, as_released
from shoal.verification.matching.centers import CenteredColumn, Witnesses, cover_cells, spelling_violations
from shoal.verification.matching.groups import Groups, Pairs, order_violations
from shoal.verification.matching.outliers import recode_source
from shoal.verification.matching.people import with_people
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.models.limits import LimitedCells, limit_violations
from shoal.verification.reading import files
from shoal.verification.reading.coded import CodedColumn, CodedTable, Step, code_columns, ignore_step, read_written
from shoal.verification.reading.layout import Layout
from shoal.verification.reading.tables import PathName
from shoal.verification.recount import (
    header_violations,
    name_violations,
    quasi_identifier_cells,
    shape_violations,
    spread_violations,
)
from shoal.verification.verdict import (
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

__all__ = ["gate"]


def gate(
    path: PathName,
    schema: Schema,
    k: int,
    original: CodedTable | Mapping[str, Sequence[str]],
    source_rows: Sequence[int] | NDArray[np.int64],
    claims: Mapping[str, int],
    *,
    keep_order: bool = False,
    bounds: Iterable[str] = (),
    spreadsheet_safe: bool = False,
    delimiter: str = ",",
    decimal: str = INPUT,
    population: Mapping[str, Sequence[str]] | None = None,
    center: str | None = None,
    groups: Sequence[int] | NDArray[np.int64] = (),
    spread: bool = False,
    step: Step = ignore_step,
    **goal: Unpack[Goal],
) -> Verdict:
    """Return the verdict on a file that was just written: its bytes, columns and groups, and every cell.

    If the schema has a person column, every group must have rows of k persons. If it has a personal-k column, every
    group must have as many rows as each of its rows asks for.

    Args:
        path: The released file: CSV (UTF-8, comma, LF, header), also as gzip, Parquet or Excel.
        schema: The columns of the source; the file must have the released ones and no others.
        k: The size that every group must have.
        original: The source: read by `read_original`, or as text by column name.
        source_rows: The source row (from 0) of each released row.
        claims: What the maker states: "rows", "groups", "smallest_group", "suppressed_rows". Each is recounted.
        keep_order: Whether the rows are in the order of the source; by default they are sorted by their cells.
        bounds: The columns whose ranges are written as two columns, NAME_min and NAME_max.
        spreadsheet_safe: Whether a quote precedes every cell that a spreadsheet would take for a formula.
        delimiter: The separator of cells in a CSV file.
        decimal: The decimal mark of numbers in the file; "input" for that of the source.
        population: The text of the population table by column name.
        center: "mean" or "median" if the cells are the centres of groups, which are recomputed from the source.
        groups: With centres, the group of each released row. Groups with the same cells look alike in the file; k and
            every model are judged before and after, limits before.
        spread: Whether a standard deviation or share follows each centre.
        step: Called with the number of rows examined so far; it may raise to end the check.
        goal: What the release must meet besides k; see `Goal`.

    Returns:
        The verdict, good or bad.

    Raises:
        UsageError: An argument is not valid.
        FileError: The file cannot be opened.
    """
    k, limit = check_k(k), read_limit(goal.get("suppression_limit", 0))
    source, violations = _source(schema, original)
    source, wrong = recode_source(with_people(source, schema), schema, k)
    violations += wrong
    n_source = source.n_rows
    witness = np.asarray(source_rows, dtype=np.int64)
    spread_names = [column.name for column in schema.qi if spread]
    layout = Layout(bounds, spreadsheet_safe, mark=_mark(schema, source, decimal), spread=spread_names)
    try:
        written = read_written(path, step, delimiter)
    except files.UnreadableError as error:
        return judge(k, 0, {}, [*violations, Violation("file", error.reason)])
    violations += written.faults
    typed = [*(column.name for column in schema.released), *(written.names if center else ())]
    violations += name_violations(path, files.kind_of(path), typed)
    release = layout.table(written)
    violations += header_violations(release.names, schema)
    violations += spread_violations(layout, schema.qi if spread else ())
    violations += _witness_violations(witness, n_source, written.n_rows, keep_order)
    n_suppressed = n_source - written.n_rows
    violations += suppression_violations(n_suppressed, n_source, limit)
    if not written.n_rows:
        violations.append(NO_ROWS)
    cells = quasi_identifier_cells(schema, goal.get("labels") or {})
    counts = {"rows": written.n_rows, "suppressed_rows": n_suppressed}
    released_groups: dict[Group, int] = {}
    is_counting = bool(cells) and {column.name for column in schema.released} <= set(release.names)
    if is_counting:
        counter = Groups(release, list(cells), [column for _, column in layout.spread.values()])
        released_groups = counter.rows
        counts |= {"groups": len(counter.rows), "smallest_group": min(counter.rows.values(), default=0)}
        pairs = Pairs(release, source, witness)
        judged = _Judged(release, pairs, schema, k, goal, cells, population)
        violations += judged.groups(counter)
        if center is None:
            violations += judged.limits(release.column, release.row_numbers(), layout.pairs)
        elif source.names:
            violations += judged.centers(center, np.asarray(groups, dtype=np.int64), layout, decimal)
    violations += layout.violations()
    violations += claim_violations(claims, counts)
    violations += shape_violations(written.blank_lines, written.ragged_rows, len(written.names))
    if is_counting and source.names:
        for column in schema.released:
            step(written.n_rows)
            if center is None or column.role is not Role.QI:
                violations += pairs.violations(column.name, cells.get(column.name))
    if not keep_order:
        violations += order_violations(written)
    return judge(k, written.n_rows, released_groups, violations)


@dataclass(frozen=True)
class _Judged:
    """A release beside its source, whose groups are judged.

    Attributes:
        release: The released table.
        pairs: Its rows beside those of the source.
        schema: The columns of the source.
        k: The size that every group must have.
        goal: What the release must meet besides k.
        cells: How each quasi-identifier is read.
        population: The text of the population table by column name.
    """

    release: CodedTable
    pairs: Pairs
    schema: Schema
    k: int
    goal: Goal
    cells: Mapping[str, Cells]
    population: Mapping[str, Sequence[str]] | None

    def groups(self, counter: Groups, rows: NDArray[np.int64] | None = None) -> list[Violation]:
        """Return the groups that are too small or fail a model; rows: those that are in the groups, all by default."""
        checks = ModelChecks.of_goal(self.goal, self.schema)
        sizes = self._sizes(counter, rows)
        violations = small_groups(sizes, self.k, counter.first_row)
        for name in checks.columns:
            column = self.release.column(name)
            for group, cell, times in counter.with_cells(column if rows is None else column.at(rows)):
                checks.add(name, group, cell, times)
        for name in self.schema.names(Role.PERSONAL_K) if self.pairs.source.names else ():
            checks.ask((group, cell) for group, cell, _ in counter.with_cells(*self._source(name, rows)))
        return violations + checks.violations(counter.rows, sizes, counter.first_row, self.cells, self.population)

    def limits(
        self, column_of: Callable[[str], CodedColumn], numbers: NDArray[np.int64], closed: Container[str] = ()
    ) -> list[Violation]:
        """Return the limits that cells break.

        Args:
            column_of: Returns the cells of a column.
            numbers: The numbers of their rows.
            closed: The columns whose ranges are written as two bounds.
        """
        violations = []
        for column in self.schema.qi:
            if any(column.limits):
                reading = Cells.of(column, self.schema.missing)
                limited = LimitedCells(column, column.limits, reading, self._ladder(column), column.name in closed)
                violations += limit_violations(column_of(column.name), limited, numbers)
        return violations

    def centers(self, choice: str, groups: NDArray[np.int64], layout: Layout, decimal: str) -> list[Violation]:
        """Return the centres that are not those of their groups, and the groups that are too small or fail a model."""
        rows, numbers, missing = self.pairs.rows, self.pairs.numbers, self.schema.missing
        if len(groups) < int(numbers.max(initial=0)):
            return [Violation("groups", f"{plural(len(groups), 'row')} with a group, fewer than the file has")]
        people = next((self._source(name, rows)[0].codes for name in self.schema.names(Role.PERSON)), None)
        witnesses = Witnesses.of(groups[numbers - 1], numbers, people)
        violations = self.groups(witnesses.counter(), rows)

        def cover(name: str) -> CodedColumn:
            column = next(each for each in self.schema.qi if each.name == name)
            return cover_cells(column, missing, self._source(name, rows)[0], witnesses, self._ladder(column))

        violations += self.limits(cover, numbers)
        columns = []
        for column in self.schema.qi:
            original = self.pairs.source.column(column.name)
            counts = original.counts().tolist()
            _, spread = layout.spread.get(column.name, (None, None))
            mark = decimal if decimal != INPUT else column.decimal if column.kind == "numeric" else self.schema.marks[0]
            centers = CenterCells(column, missing, original.texts, counts, choice)
            columns.append(CenteredColumn(column, centers, self.release.column(column.name), spread, mark))
            violations += columns[-1].violations(rows, self._source(column.name, rows)[0], witnesses, self.k)
        return violations + spelling_violations(columns, rows)

    def _ladder(self, column: Column) -> Mapping[str, Sequence[str]]:
        return (self.goal.get("ladders") or {}).get(column.name, {})

    def _source(self, name: str, rows: NDArray[np.int64] | None) -> tuple[CodedColumn, NDArray[np.int64] | None]:
        """Return a column of the source, and the rows of the groups beside it; all of them if they are given."""
        column, beside = self.pairs.source_column(name)
        return column, beside if rows is None else None

    def _sizes(self, groups: Groups, rows: NDArray[np.int64] | None) -> Mapping[Group, int]:
        """Return the rows of each group or, if there is a person column, the persons."""
        person = next(iter(self.schema.names(Role.PERSON)), None)
        if person is None or not self.pairs.source.names:
            return groups.rows
        sizes = dict.fromkeys(groups.rows, 0)
        for group, _, _ in groups.with_cells(*self._source(person, rows)):
            sizes[group] += 1
        return sizes


def _mark(schema: Schema, source: CodedTable, decimal: str) -> OtherMark | None:
    """Return the decimal mark of the file, if it is not that of the source; columns of numbers alone have it."""
    if decimal == INPUT:
        return None
    missing = {"", *map(normalise, schema.missing)}
    columns = {}
    for column in schema.released if source.names else ():
        texts = [text for text in source.column(column.name).texts if normalise(text) not in missing]
        if are_numbers(read := as_released(column, schema.marks), texts):
            columns[column.name] = read
    return OtherMark(decimal, columns.get, missing)


def _source(schema: Schema, original: CodedTable | Mapping[str, Sequence[str]]) -> tuple[CodedTable, list[Violation]]:
    """Return the source columns to compare with, and what prevents a comparison."""
    names = [column.name for column in schema.released]
    names += [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
    nothing = CodedTable([], [], 0)
    if not schema.qi:
        return nothing, [Violation("columns", "there is no quasi-identifier, so there is nothing to count")]
    source_names = original.names if isinstance(original, CodedTable) else original
    if missing_names := [name for name in names if name not in source_names]:
        return nothing, [Violation("source", f"column {name!r} is missing") for name in missing_names]
    if isinstance(original, CodedTable):
        return CodedTable(names, [original.column(name) for name in names], original.n_rows), []
    if len({len(original[name]) for name in names}) > 1:
        return nothing, [Violation("source", "its columns differ in length")]
    return code_columns({name: original[name] for name in names}), []


def _witness_violations(witness: NDArray[np.int64], n_source: int, n_rows: int, keep_order: bool) -> list[Violation]:
    """Check the map from released rows to source rows."""
    violations = []
    if n_rows != len(witness):
        violations.append(Violation("rows", f"the file has {n_rows}, but {len(witness)} should have been written"))
    invalid = np.flatnonzero((witness < 0) | (witness >= n_source))
    if len(invalid):
        text = f"{plural(len(invalid), 'reference')} to a row that does not exist"
        violations.append(Violation("source rows", text, int(invalid[0]) + 1))
    valid = witness[(witness >= 0) & (witness < n_source)]
    n_distinct = int(np.count_nonzero(np.bincount(valid, minlength=1))) + len(set(witness[invalid].tolist()))
    if n_repeated := len(witness) - n_distinct:
        violations.append(
            Violation("source rows", f"{plural(n_repeated, 'reference')} to a row that is already in use")
        )
    falling = np.flatnonzero(np.diff(witness) <= 0)
    if keep_order and len(falling):
        violations.append(Violation("order", "the rows are not in the order of the source", int(falling[0]) + 2))
    return violations
