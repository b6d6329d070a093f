"""The gate for releases of groups of rows, of tables larger than memory.

A release of groups is not a function of cells. Its maker states for each released row the cells that it was made from,
and which rows it left out. Put in place of the released quasi-identifiers, they must give back the rows of the source
as a bag; so each released row has a source row of its own, whose cells it must cover.

Two bags of rows are equal if the sums of the keyed hashes of their rows are equal. The key is random and new for each
check. A cell is hashed, read and judged once for each distinct text, never once for each row; memory depends on the
distinct cells and on the groups.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.schema import Dialect, Schema, check_k
from shoal.verification.gate_streamed.blocks import BlockColumn, CodedBlocks, pick_columns
from shoal.verification.gate_streamed.examined import Dealt, Examined
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

__all__ = ["SourceTable", "gate_dealt"]

Codes = NDArray[np.int32]


class SourceTable:
    """The source as the verifier reads it: a file, or blocks of text by column.

    Args:
        table: A path, or an iterator of blocks: the cells of each column.
        dialect: How a file is written.
    """

    def __init__(self, table: PathName | Iterator[Sequence[Sequence[str]]], dialect: Dialect | None = None) -> None:
        self._table, self._dialect = table, dialect or Dialect()

    def blocks(self, names: Sequence[str]) -> Iterator[list[tuple[BlockColumn, Codes]]]:
        """Yield these columns block by block.

        Raises:
            InputError: A column is missing, or the file cannot be read as a table.
        """
        if not isinstance(self._table, str | os.PathLike):
            columns = [BlockColumn() for _ in names]
            for cells in self._table:
                yield [(column, column.code(each)) for column, each in zip(columns, cells, strict=True)]
            return
        table, places = CodedBlocks(self._table, self._dialect), list[int]()
        for block in table.blocks():
            try:
                places = places or pick_columns(table, names, self._dialect)
            except InputError as error:
                raise InputError(f"{os.fspath(self._table)}: {error.text}") from None
            yield [(table.columns[i], block[i]) for i in places]
        if table.reader is not None and table.reader.ragged_rows().times:
            raise table.reader.ragged_error()


def gate_dealt(
    path: PathName,
    schema: Schema,
    k: int,
    source: SourceTable,
    dealt: Dealt,
    claims: Mapping[str, int],
    *,
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
        step: Called with the number of rows examined so far; it may raise to end the check.
        goal: What the release must meet besides k; see `Goal`.
    """
    k, limit = check_k(k), read_limit(goal.get("suppression_limit", 0))
    table = CodedBlocks(path, Dialect(), keep_blank=True)
    examined = Examined(schema, table, dealt, secrets.token_bytes(32), goal)
    try:
        for block in table.blocks():
            examined.add(block)
            step(examined.rows)
    except UnreadableError as error:
        return judge_counts(k, examined.rows, 0, 0, [Violation("file", error.reason)])
    violations = examined.file_violations(path)
    if not examined.is_counting:
        return judge_counts(k, examined.rows, 0, 0, violations)
    source_bag = examined.bag_of(source.blocks(examined.names))
    n_suppressed = source_bag[2] - examined.rows
    violations += suppression_violations(n_suppressed, source_bag[2], limit)
    if not examined.rows:
        violations.append(NO_ROWS)
    violations += examined.groups.small(k)
    violations += examined.groups.model_violations()
    counts = {"rows": examined.rows, "suppressed_rows": n_suppressed, **examined.groups.counts()}
    violations += claim_violations(claims, counts)
    violations += examined.order.violations()
    violations += examined.violations()
    if source_bag != examined.made_bag():
        violations.append(Violation("rows", "the rows are not made from the rows of the source, each of them once"))
    return judge_counts(k, examined.rows, counts["groups"], counts["smallest_group"], violations)
