"""The gate for releases of groups of rows, of tables larger than memory.

A release of groups is not a function of cells. Its maker states for each released row the cells that it was made from,
and which rows it left out. Put in place of the released quasi-identifiers, they must give back the rows of the source
as a bag; so each released row has a source row of its own, whose cells it must cover.

Two bags of rows are equal if the sums of the keyed hashes of their rows are equal. The key is random and new for each
check. A cell is hashed, read and judged once for each distinct text, never once for each row; memory depends on the
distinct cells and on the groups. Pairs of a group and one of its people go to files if they are many.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from shoal.schema import INPUT, Dialect, Schema, check_k
from shoal.verification.gate_streamed.blocks import CodedBlocks
from shoal.verification.gate_streamed.examined import Examined, held_back
from shoal.verification.gate_streamed.laid import LaidBlocks
from shoal.verification.gate_streamed.outliers import coded_names, find_recoded
from shoal.verification.gate_streamed.source import SourceTable, SourceTally
from shoal.verification.gate_streamed.stated import Dealt
from shoal.verification.models.checks import Goal
from shoal.verification.reading.coded import Step, ignore_step
from shoal.verification.reading.files import UnreadableError
from shoal.verification.reading.tables import PathName
from shoal.verification.verdict import (
    NO_ROWS,
    Verdict,
    Violation,
    claim_violations,
    judge_counts,
    read_limit,
    suppression_violations,
)

__all__ = ["gate_dealt"]


def gate_dealt(
    path: PathName,
    schema: Schema,
    k: int,
    source: SourceTable,
    dealt: Dealt,
    claims: Mapping[str, int],
    *,
    keep_order: bool = False,
    bounds: Iterable[str] = (),
    spreadsheet_safe: bool = False,
    delimiter: str = ",",
    decimal: str = INPUT,
    center: str | None = None,
    spread: bool = False,
    population: Mapping[str, Sequence[str]] | None = None,
    step: Step = ignore_step,
    **goal: Unpack[Goal],
) -> Verdict:
    """Return the verdict on a release of groups of rows that was just written.

    Args:
        path: The released file.
        schema: The columns of the source; the file must have the released ones and no others.
        k: The size that every group must have.
        source: The source.
        dealt: What the maker states about the rows.
        claims: "rows", "groups", "smallest_group" and "suppressed_rows".
        keep_order: Whether the rows are in the order of the source; by default they are sorted by their cells.
        bounds: The columns whose ranges are written as two columns, NAME_min and NAME_max.
        spreadsheet_safe: Whether a quote precedes every cell that a spreadsheet would take for a formula.
        delimiter: The separator of cells in a CSV file.
        decimal: The decimal mark of numbers in the file; "input" for that of the source.
        center: "mean" or "median" if the cells are the centres of groups, which are recomputed from the source.
        spread: Whether a standard deviation or share follows each centre.
        population: The text of the population table by column name.
        step: Called with the number of rows examined so far; it may raise to end the check.
        goal: What the release must meet besides k; see `Goal`.
    """
    k, limit = check_k(k), read_limit(goal.get("suppression_limit", 0))
    key = secrets.token_bytes(32)
    folder = os.path.dirname(os.path.abspath(path))
    recoded, wrong = find_recoded(schema, k, source.blocks, folder) if coded_names(schema) else ({}, [])
    kept: dict[str, bool] = {"counted": center is not None, "ordered": keep_order}
    found = SourceTally(schema, held_back(schema), key, decimal, recoded=recoded, **kept)
    found.read(source)
    table = CodedBlocks(path, Dialect(delimiter), keep_blank=True)
    followed = [column.name for column in schema.qi if spread]
    laid = LaidBlocks(table, bounds, spreadsheet_safe, found.mark(), followed)
    examined = Examined(schema, laid, dealt, key, goal, found, center, folder, population)
    try:
        for block in table.blocks():
            examined.add(block)
            step(examined.rows)
    except UnreadableError as error:
        return judge_counts(k, examined.rows, 0, 0, [Violation("file", error.reason)])
    violations = [*wrong, *examined.file_violations(path)]
    if not examined.is_counting:
        return judge_counts(k, examined.rows, 0, 0, violations)
    n_suppressed = found.bag[2] - examined.rows
    violations += suppression_violations(n_suppressed, found.bag[2], limit)
    if not examined.rows:
        violations.append(NO_ROWS)
    violations += examined.group_violations(k)
    counts = {"rows": examined.rows, "suppressed_rows": n_suppressed, **examined.groups.counts()}
    violations += claim_violations(claims, counts)
    violations += laid.violations()
    violations += examined.violations()
    if found.bag != examined.made_bag():
        violations.append(Violation("rows", "the rows are not made from the rows of the source, each of them once"))
    verdict = judge_counts(k, examined.rows, counts["groups"], counts["smallest_group"], violations)
    return replace(verdict, one_value=examined.one_value())
