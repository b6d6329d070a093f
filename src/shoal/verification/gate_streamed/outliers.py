"""Outliers of a source that is read block by block: it is read once more, to recode it by the verifier's own code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Column, Role, Schema
from shoal.verification.gate_streamed.blocks import BlockColumn
from shoal.verification.matching.outliers import recode_source
from shoal.verification.matching.people import with_people
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Violation

__all__ = [
    "Recoded",
    "RecodedColumn",
    "coded_blocks",
    "coded_names",
    "count_coded",
    "find_recoded",
    "recode_counted",
    "recoded_rows",
]

Codes = NDArray[np.int32]
Rows = Iterable[Sequence[Sequence[str]]]
Recoded = Mapping[str, Mapping[str, str]]  # by column, cells and what is shown in their place


def coded_names(schema: Schema) -> list[str]:
    """Return the columns that decide how outliers are recoded: those with codings, and that of people."""
    names = [column.name for column in schema.columns if column.codings]
    return [*names, *(name for name in schema.names(Role.PERSON) if names)]


def find_recoded(
    schema: Schema, k: int, blocks: Iterator[Sequence[tuple[BlockColumn, Codes]]]
) -> tuple[Recoded, list[Violation]]:
    """Recode the outliers of a source, as its columns ask for.

    Args:
        schema: The columns of the source.
        k: How many rows or people must share the bound of a share.
        blocks: The columns of `coded_names`, block by block.

    Returns:
        What is shown in the place of which cells, and the bounds and labels that are wrong.
    """
    return recode_counted(schema, k, count_coded(schema, blocks))


def count_coded(
    schema: Schema, blocks: Iterator[Sequence[tuple[BlockColumn, Codes]]]
) -> list[Counter[tuple[str, str]]]:
    """Count for each column with codings how often each cell, and person if people are counted, occur together."""
    coded, persons = [column for column in schema.columns if column.codings], schema.names(Role.PERSON)
    rows: list[Counter[tuple[str, str]]] = [Counter() for _ in coded]
    for block in blocks:
        people, of_rows = block[len(coded)] if persons else (None, np.zeros(len(block[0][1]), dtype=np.int32))
        for counter, column, (cells, codes) in zip(rows, coded, block, strict=False):
            is_person_counted = people is not None and any(coding.share is not None for coding in column.codings)
            keys = codes.astype(np.int64) << 32 | (of_rows if is_person_counted else 0)
            for key, n in zip(*(each.tolist() for each in np.unique(keys, return_counts=True)), strict=True):
                person = people.texts[key & 0xFFFFFFFF] if people is not None and is_person_counted else ""
                counter[cells.texts[key >> 32], person] += n
    return rows


def recode_counted(schema: Schema, k: int, rows: Sequence[Counter[tuple[str, str]]]) -> tuple[Recoded, list[Violation]]:
    """Recode outliers by the counts of the columns that have codings; see `find_recoded`."""
    coded = [column for column in schema.columns if column.codings]
    persons = [column for column in schema.columns if column.role is Role.PERSON]
    recoded, violations = {}, []
    for column, counter in zip(coded, rows, strict=True):
        recoded[column.name], wrong = _recode(schema, [column, *persons], k, counter)
        violations += wrong
    return recoded, violations


def _recode(
    schema: Schema, columns: Sequence[Column], k: int, rows: Counter[tuple[str, str]]
) -> tuple[dict[str, str], list[Violation]]:
    """Recode one column, beside that of people; rows: how often each cell and person occur together."""
    times = np.array(list(rows.values()), dtype=np.int64)
    names = [column.name for column in columns]
    coded = [_coded([pair[i] for pair in rows], times) for i in range(len(names))]
    table = CodedTable(names, coded, int(times.sum()))
    narrow = replace(schema, columns=tuple(columns))
    found, wrong = recode_source(with_people(table, narrow), narrow, k)
    shown = zip(table.columns[0].cells(), found.column(names[0]).cells(), strict=True)
    return {before: after for before, after in shown if before != after}, wrong


def _coded(cells: Sequence[str], times: NDArray[np.int64]) -> CodedColumn:
    place_of: dict[str, int] = {}
    codes = np.array([place_of.setdefault(cell, len(place_of)) for cell in cells], dtype=np.int32)
    return CodedColumn(list(place_of), codes, times)


def coded_blocks(rows: Rows) -> Iterator[list[tuple[BlockColumn, Codes]]]:
    """Yield rows as blocks of codes."""
    columns: list[BlockColumn] = []
    for chunk in rows:
        cells = list(zip(*chunk, strict=True))
        columns = columns or [BlockColumn() for _ in cells]
        yield [(column, column.code(own)) for column, own in zip(columns, cells, strict=True)]


def recoded_rows(rows: Rows, schema: Schema, recoded: Recoded) -> Rows:
    """Yield rows with their outliers recoded; they have the released columns in order."""
    shown = [recoded.get(column.name) for column in schema.released]
    for chunk in rows:
        columns = [
            list(cells) if own is None else [own.get(cell, cell) for cell in cells]
            for cells, own in zip(zip(*chunk, strict=True), shown, strict=True)
        ]
        yield list(map(list, zip(*columns, strict=True)))


class RecodedColumn(BlockColumn):
    """The cells of a column with what is shown in their place; codes are those of the column."""

    def __init__(self, shown: Mapping[str, str]) -> None:
        super().__init__()
        self._shown = shown

    def follow(self, column: BlockColumn) -> BlockColumn:
        """Learn the cells that a block brought; return this column."""
        if column.epoch != self.epoch:
            self.texts, self.epoch = [], column.epoch
        self.texts += [self._shown.get(text, text) for text in column.texts[len(self.texts) :]]
        return self
