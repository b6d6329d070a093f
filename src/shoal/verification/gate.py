"""The gate: a file just written is held against its source, row by row.

Both tables are coded first (see `reading.coded`), so a pair of an original and a released cell is judged once, however
many rows show it. The plain-Python twin in tests/naive/gate.py reaches the same verdict cell by cell.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, UsageError
from shoal.schema import Role, Schema, check_k
from shoal.verification.cells import Cells
from shoal.verification.models import Promises
from shoal.verification.reading import files
from shoal.verification.reading.coded import CodedColumn, CodedTable, code_columns, read_written
from shoal.verification.reading.layout import Layout
from shoal.verification.reading.tables import PathName
from shoal.verification.verdict import MOST_VIOLATIONS, Verdict, judge, small_groups

__all__ = ["check_share", "claim_violations", "gate", "header_violations"]

Group = tuple[str, ...]
KEY_LIMIT = 2**62  # keys below this are exact in 64 bits


def gate(
    path: PathName,
    schema: Schema,
    k: int,
    original: CodedTable | Mapping[str, Sequence[str]],
    source_rows: Sequence[int] | NDArray[np.int64],
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
) -> Verdict:
    """Return the verdict on a file just written: its bytes, its columns, its groups and, row by row, its truth.

    Args:
        path: the file, as a release is written: CSV (UTF-8, comma, LF, header), also in gzip, Parquet or Excel.
        schema: the columns of the source; the file must hold the released ones and no other.
        k: the size that every group must have.
        original: the source, coded by `read_original` or as text by column name.
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

    Where the schema has a person column, every group must have rows of k persons; where it has a column of personal k,
    every group must have as many as each of its rows asks for.
    """
    k, limit = check_k(k), check_share(suppression_limit)
    source, violations = _source(schema, original)
    witness = np.asarray(source_rows, dtype=np.int64)
    n_source = source.n_rows
    layout = Layout(bounds, spreadsheet_safe)
    promises = Promises(models, schema.columns, schema.missing, paths or {})
    kind = files.kind_of(path)
    try:
        written = read_written(path)
    except InputError as error:
        broken = str(error).removeprefix(f"{os.fspath(path)}: ")
        return judge(k, 0, {}, [*violations, f"the file: {broken}"])
    violations += written.faults
    if kind != files.SUFFIXES.get(os.path.splitext(path)[1], "csv"):
        violations.append("the file: its content is not what its name says.")
    violations += files.leftovers(path, kind)
    release = layout.table(written)
    violations += header_violations(release.names, schema)
    violations += _witness_violations(witness, n_source, written.n_rows, keep_order)
    suppressed = n_source - written.n_rows
    if suppressed > limit * n_source:
        most = int(limit * n_source)
        violations.append(f"suppression: {suppressed} of {n_source} rows are not in the file; at most {most} may be.")
    if not written.n_rows:
        violations.append("no rows: a release without data rows proves nothing.")
    cells = {
        c.name: Cells(c.kind, c.date_format, schema.missing, (c.decimal, c.thousands), (labels or {}).get(c.name))
        for c in schema.qi
    }
    counted: dict[str, int] = {"rows": written.n_rows, "suppressed_rows": suppressed}
    groups = None
    if cells and {column.name for column in schema.released} <= set(release.names):
        groups = _Groups(release, list(cells))
        counted |= {"groups": len(groups.keys), "smallest_group": min(groups.rows.values(), default=0)}
        pairs = _Pairs(release, source, witness)
        sizes = _sizes(groups, pairs, schema)
        violations += small_groups(sizes, k, groups.first_row)
        for name in promises.columns:
            for group, cell, times in groups.counted_with(release.column(name)):
                promises.add(name, group, cell, times)
        for name in schema.names(Role.PERSONAL_K) if source.names else ():
            promises.ask((group, cell) for group, cell, _ in groups.counted_with(*pairs.beside(name)))
        violations += promises.violations(groups.rows, sizes, groups.first_row, cells, population)
    if layout.risky:
        violations.append(f"the file: {layout.risky} cells would be run by a spreadsheet.")
    violations += claim_violations(claims, counted)
    violations += _shape_violations(written)
    if groups is not None and source.names:
        for column in schema.released:
            violations += pairs.violations(column.name, cells.get(column.name))
    if not keep_order:
        violations += _order_violations(written)
    return judge(k, written.n_rows, {} if groups is None else groups.rows, violations)


def check_share(limit: float | Fraction) -> Fraction:
    """Return a limit as an exact share, or refuse it."""
    try:
        share = Fraction(str(limit))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise UsageError(f"suppression_limit={limit!r} is not a share. Use a number from 0 to 1.")
    return share


def claim_violations(claims: Mapping[str, int], counted: Mapping[str, int]) -> list[str]:
    """Compare what the maker of a release states with what was counted."""
    return [
        f"claim {name!r}: {stated} stated, {counted.get(name, 'nothing of that name')} counted."
        for name, stated in claims.items()
        if counted.get(name) != stated
    ]


def _source(schema: Schema, original: CodedTable | Mapping[str, Sequence[str]]) -> tuple[CodedTable, list[str]]:
    """Return the source of the released columns, and what keeps it from being compared."""
    names = [column.name for column in schema.released]
    names += [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
    nothing = CodedTable([], [], 0)
    if not schema.qi:
        return nothing, ["columns: no quasi-identifier, so there is nothing to count."]
    columns = original.names if isinstance(original, CodedTable) else original
    if lacking := [name for name in names if name not in columns]:
        return nothing, [f"source: column {name!r} is not there to compare with." for name in lacking]
    if isinstance(original, CodedTable):
        return CodedTable(names, [original.column(name) for name in names], original.n_rows), []
    if len({len(original[name]) for name in names}) > 1:
        return nothing, ["source: its columns differ in length."]
    return code_columns({name: original[name] for name in names}), []


def _witness_violations(witness: NDArray[np.int64], n_source: int, n_rows: int, keep_order: bool) -> list[str]:
    violations = []
    if n_rows != len(witness):
        violations.append(f"rows: the file has {n_rows}, but {len(witness)} were to be written.")
    outside = np.flatnonzero((witness < 0) | (witness >= n_source))
    if len(outside):
        violations.append(f"source rows: {len(outside)} do not exist (first for row {outside[0] + 1}).")
    if repeated := len(witness) - len(np.unique(witness)):
        violations.append(f"source rows: {repeated} rows stand for a source row that another row stands for already.")
    falling = np.flatnonzero(np.diff(witness) <= 0)
    if keep_order and len(falling):
        violations.append(f"order: the rows are not in the order of the source (first at row {falling[0] + 2}).")
    return violations


def _shape_violations(written: CodedTable) -> list[str]:
    violations = []
    n_blank, before = written.blank_lines
    if n_blank:
        violations.append(f"blank lines: {n_blank} (the first before row {before}).")
    n_ragged, first, _ = written.ragged_rows
    if n_ragged:
        violations.append(f"rows: {n_ragged} without exactly {len(written.names)} cells (first row {first}).")
    return violations


def _order_violations(written: CodedTable) -> list[str]:
    """Return whether the rows are sorted by their cells, the first column first."""
    undecided: NDArray[np.int64] | None = None  # pairs of neighbours that are equal so far
    wrong: list[int] = []
    for column in written.columns:
        steps = np.diff(column.ranks())
        undecided = np.arange(len(steps)) if undecided is None else undecided
        steps = steps[undecided]
        wrong += undecided[steps < 0][:1].tolist()
        undecided = undecided[steps == 0]
    if not wrong:
        return []
    return [f"order: the rows are not sorted by their cells (first at row {written.row_numbers()[min(wrong) + 1]})."]


class _Groups:
    """The groups of a release: rows that show the same texts in all quasi-identifiers."""

    def __init__(self, release: CodedTable, names: Sequence[str]) -> None:
        columns = [release.column(name) for name in names]
        key = np.zeros(len(columns[0].codes), dtype=np.int64)
        span = 1
        for column in columns:
            card = max(len(column.texts), 1)
            if span * card >= KEY_LIMIT:
                distinct, key = np.unique(key, return_inverse=True)
                span = max(len(distinct), 1)
            key = key * card + _distinct_codes(column)
            span *= card
        _, first, of_row, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)  # groups in the order of their first rows
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        self.of_row = place[of_row]
        first = first[order]
        self.keys: list[Group] = list(zip(*([c.texts[code] for code in c.codes[first]] for c in columns), strict=True))
        self.rows: dict[Group, int] = dict(zip(self.keys, counts[order].tolist(), strict=True))
        self._first_rows = dict(zip(self.keys, release.row_numbers()[first].tolist(), strict=True))

    def first_row(self, group: Group) -> int:
        """Return the number of the first row of a group."""
        return int(self._first_rows[group])

    def counted_with(
        self, column: CodedColumn, rows: NDArray[np.int64] | None = None
    ) -> Iterable[tuple[Group, str, int]]:
        """Yield each group with each cell of a column that its rows show, and how many do; rows: those that count."""
        of_row = self.of_row if rows is None else self.of_row[rows]
        card = max(len(column.texts), 1)
        pairs, counts = np.unique(of_row.astype(np.int64) * card + column.codes, return_counts=True)
        for pair, times in zip(pairs.tolist(), counts.tolist(), strict=True):
            yield self.keys[pair // card], column.texts[pair % card], times


def _distinct_codes(column: CodedColumn) -> NDArray[np.int64]:
    """Return codes of a column that are equal exactly where its texts are."""
    code_of: dict[str, int] = {}
    merged = np.array([code_of.setdefault(text, len(code_of)) for text in column.texts] or [0], dtype=np.int64)
    return merged[column.codes]


@dataclass
class _Pairs:
    """Released rows beside the source rows that they were made from.

    Rows of the file without a source row (the witness names none, or one that does not exist) are left out; they are
    violations of their own.
    """

    release: CodedTable
    source: CodedTable
    witness: NDArray[np.int64]

    def __post_init__(self) -> None:
        numbers = self.release.row_numbers()
        self._rows = np.flatnonzero(numbers <= len(self.witness))
        sources = self.witness[numbers[self._rows] - 1]
        exist = (sources >= 0) & (sources < self.source.n_rows)
        self._rows, self._sources = self._rows[exist], sources[exist]
        self._numbers = numbers[self._rows]

    def beside(self, name: str) -> tuple[CodedColumn, NDArray[np.int64]]:
        """Return a column of the source in the order of the release, and the rows of the release that it stands by."""
        return self.source.column(name).at(self._sources), self._rows

    def violations(self, name: str, cells: Cells | None) -> list[str]:
        """Compare a released column with its source: covered where it is a quasi-identifier, equal elsewhere."""
        released, original = self.release.column(name).at(self._rows), self.source.column(name).at(self._sources)
        card = max(len(released.texts), 1)
        keys = original.codes.astype(np.int64) * card + released.codes
        pairs, inverse = np.unique(keys, return_inverse=True)

        def is_true(before: str, after: str) -> bool:
            return before == after or (cells is not None and cells.covers(before, after))

        false = np.array([not is_true(original.texts[p // card], released.texts[p % card]) for p in pairs.tolist()])
        if not false.any():
            return []
        rows = self._numbers[false[inverse]]
        fault = "differ from their source" if cells is None else "do not cover their source"
        return [f"column {name!r}: the cells of {len(rows)} rows {fault} (first row {rows[0]})."]


def _sizes(groups: _Groups, pairs: _Pairs, schema: Schema) -> Mapping[Group, int]:
    """Return how many rows each group has or, where a column tells, rows of how many people."""
    people = schema.names(Role.PERSON)
    if not people or not pairs.source.names:
        return groups.rows
    sizes = dict.fromkeys(groups.rows, 0)
    for group, _, _ in groups.counted_with(*pairs.beside(people[0])):
        sizes[group] += 1
    return sizes


def header_violations(header: list[str], schema: Schema) -> list[str]:
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
