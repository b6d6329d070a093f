"""The gate: check a file that was just written against its source, row by row."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

from shoal.schema import Role, Schema, check_k
from shoal.verification.models import ModelChecks
from shoal.verification.reading.files import UnreadableError
from shoal.verification.reading.layout import Layout
from shoal.verification.reading.tables import PathName, Step, ignore_step, picker
from shoal.verification.recount import Recount, WrittenFile
from shoal.verification.verdict import (
    NO_ROWS,
    Verdict,
    Violation,
    claim_violations,
    judge,
    plural,
    read_limit,
    suppression_violations,
)

__all__ = ["gate"]


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
        models: What every group must pass besides k, as plain values (see shoal.verification.models).
        paths: By sensitive column, the labels of each value in its hierarchy, from level 1 up.
        population: The text of the population table by column name.
        step: Called with the number of rows examined so far; it may raise to end the check.

    Returns:
        The verdict, good or bad.

    Raises:
        UsageError: An argument is not valid.
        FileError: The file cannot be opened.
    """
    k, limit = check_k(k), read_limit(suppression_limit)
    source, violations = _source(schema, original)
    n_source = len(next(iter(source.values()), ()))
    witness = list(map(operator.index, source_rows))
    file = WrittenFile(path)
    layout = Layout(bounds, spreadsheet_safe)
    checks = ModelChecks(models, schema.columns, schema.missing, paths or {})
    recount = Recount(schema, _align(source, witness, n_source), keep_order, layout, labels or {}, checks)
    try:
        for chunk in file.chunks():
            recount.add(chunk)
            step(recount.rows)
    except UnreadableError as error:
        violations += file.broken(error)
        return judge(k, recount.rows, recount.groups, violations)
    violations += file.violations(recount)
    violations += _witness_violations(witness, n_source, recount.rows, keep_order)
    n_suppressed = n_source - recount.rows
    violations += suppression_violations(n_suppressed, n_source, limit)
    if not recount.rows:
        violations.append(NO_ROWS)
    violations += recount.group_violations(path, k, population)
    if layout.risky:
        violations.append(Violation("file", f"a spreadsheet would run {plural(layout.risky, 'cell')} as a formula"))
    violations += claim_violations(claims, recount.counts(n_suppressed))
    violations += recount.row_violations()
    return judge(k, recount.rows, recount.groups, violations)


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
