"""Outliers of a source that is read block by block: it is read once more, to recode it by the verifier's own code."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Role, Schema
from shoal.verification.cells import normalise
from shoal.verification.gate_streamed.blocks import BlockColumn
from shoal.verification.gate_streamed.keys import TextKeys
from shoal.verification.gate_streamed.tallies import FiledRuns
from shoal.verification.matching.outliers import recode_source
from shoal.verification.matching.people import person_of
from shoal.verification.reading.coded import CodedColumn, CodedTable
from shoal.verification.verdict import Violation

__all__ = [
    "CellSets",
    "Recoded",
    "RecodedColumn",
    "coded_blocks",
    "coded_names",
    "find_recoded",
    "holders_in",
    "recode_counted",
    "recoded_rows",
]

MOST_SETS = 62  # sets of cells that the bits of a number tell apart
PATIENCE = 100  # times k: rows that probably belong to k people

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Blocks = Iterator[Sequence[tuple[BlockColumn, Codes]]]
Rows = Iterable[Sequence[Sequence[str]]]
Recoded = Mapping[str, Mapping[str, str]]  # by column, cells and what is shown in their place


def coded_names(schema: Schema) -> list[str]:
    """Return the columns with codings, whose cells decide how outliers are recoded."""
    return [column.name for column in schema.columns if column.codings]


def find_recoded(
    schema: Schema, k: int, read: Callable[[Sequence[str]], Blocks], folder: str | None = None
) -> tuple[Recoded, list[Violation]]:
    """Recode the outliers of a source, as its columns ask for.

    Args:
        schema: The columns of the source.
        k: How many rows or people must share the bound of a share.
        read: Returns columns of the source, block by block; with people, it is asked several times.
        folder: Where people go while they are counted, if they are many.

    Returns:
        What is shown in the place of which cells, and the bounds and labels that are wrong.
    """

    def count(sets: Sequence[CellSets]) -> list[Sequence[int]]:
        names = [*(own.column for own in sets), *schema.names(Role.PERSON)]
        return count_holders(schema, sets, read(names), folder)

    return recode_counted(schema, k, count_cells(read(coded_names(schema)), schema), count)


def count_cells(blocks: Blocks, schema: Schema) -> list[Counter[str]]:
    """Count the cells of each column with codings."""
    rows: list[Counter[str]] = [Counter() for _ in coded_names(schema)]
    for block in blocks:
        for counter, (cells, codes) in zip(rows, block, strict=True):
            for code, n in zip(*(each.tolist() for each in np.unique(codes, return_counts=True)), strict=True):
                counter[cells.texts[code]] += n
    return rows


def recode_counted(
    schema: Schema,
    k: int,
    rows: Sequence[Mapping[str, int]],
    count: Callable[[Sequence[CellSets]], Sequence[Sequence[int]]],
) -> tuple[Recoded, list[Violation]]:
    """Recode outliers by the counts of the columns that have codings; see `find_recoded`.

    Args:
        schema: The columns of the source.
        k: How many rows or people must share the bound of a share.
        rows: The rows of each cell of these columns.
        count: Counts the people who have a cell of each set, for sets of some columns.
    """
    coded = [column for column in schema.columns if column.codings]
    tables = {column.name: _table(column.name, own) for column, own in zip(coded, rows, strict=True)}
    narrow = {column.name: replace(schema, columns=(column,)) for column in coded}
    asking = _Holders(tables, PATIENCE * k)
    holders = asking if schema.names(Role.PERSON) else None

    def recode() -> dict[str, tuple[CodedTable, list[Violation]]]:
        return {name: recode_source(table, narrow[name], k, holders=holders) for name, table in tables.items()}

    found = recode()
    while sets := asking.sets():
        asking.learn(sets, count(sets))
        found = recode()
    recoded, violations = {}, list[Violation]()
    for name, (changed, wrong) in found.items():
        shown = zip(tables[name].columns[0].cells(), changed.column(name).cells(), strict=True)
        recoded[name] = {before: after for before, after in shown if before != after}
        violations += wrong
    return recoded, violations


class CellSets(NamedTuple):
    """Sets of cells of a column, for each of which the people who have one of its cells are counted.

    Attributes:
        column: The column.
        bits: By cell, a number that has a bit for each set with this cell.
        keys: By what each set was asked for, in the order of bits.
    """

    column: str
    bits: Mapping[str, int]
    keys: Sequence[bytes]


class _Holders:
    """The people who have one of some cells of a column.

    Until they are counted, few rows belong to nobody and many to as many people, so that a recoding asks for all sets
    of cells that it probably needs.

    Args:
        tables: By column, its distinct cells.
        many: How many rows are many.
    """

    def __init__(self, tables: Mapping[str, CodedTable], many: int) -> None:
        self._tables, self._many = tables, many
        self._asked: dict[tuple[str, bytes], Flags] = {}
        self._known: dict[tuple[str, bytes], int] = {}

    def __call__(self, name: str, cells: Flags) -> int:
        """Return how many people have one of some distinct cells of a column."""
        key = name, np.packbits(cells).tobytes()
        if key in self._known:
            return self._known[key]
        self._asked[key] = cells
        n_rows = self._tables[name].columns[0].count(cells)
        return n_rows if n_rows >= self._many else 0

    def sets(self) -> list[CellSets]:
        """Return the sets that were asked for and are not known."""
        sets = []
        for name, table in self._tables.items():
            asked = [(key, cells) for (column, key), cells in self._asked.items() if column == name]
            for some in (asked[start : start + MOST_SETS] for start in range(0, len(asked), MOST_SETS)):
                bits = sum(cells.astype(np.int64) << bit for bit, (_, cells) in enumerate(some))
                of_cells = zip(table.columns[0].texts, np.asarray(bits).tolist(), strict=True)
                sets.append(CellSets(name, {cell: own for cell, own in of_cells if own}, [key for key, _ in some]))
        return sets

    def learn(self, sets: Sequence[CellSets], people: Sequence[Sequence[int]]) -> None:
        """Learn how many people have a cell of each set."""
        for own, counts in zip(sets, people, strict=True):
            self._known |= {(own.column, key): n for key, n in zip(own.keys, counts, strict=True)}
        self._asked, self._many = {}, PATIENCE * self._many


def holders_in(
    schema: Schema, sets: Sequence[CellSets], blocks: Blocks
) -> Iterator[tuple[int, BlockColumn, Codes, NDArray[np.int64]]]:
    """Yield the rows with cells of sets: the place of the sets, their people as a column and codes, and bits of sets.

    Args:
        schema: The columns of the source.
        sets: The sets.
        blocks: The column of each of the sets, and that of people, block by block.
    """
    absent = frozenset(map(normalise, schema.missing))
    people, numbers = ChangedColumn(lambda cell: person_of(cell, absent)), [_Bits(own.bits) for own in sets]
    for *columns, (ids, codes) in blocks:
        people.follow(ids)
        for i, (own, column) in enumerate(zip(numbers, columns, strict=True)):
            bits = own.of(*column)
            yield i, people, codes[bits > 0], bits[bits > 0]


def count_holders(
    schema: Schema, sets: Sequence[CellSets], blocks: Blocks, folder: str | None = None
) -> list[Sequence[int]]:
    """Count the people who have a cell of each set; the arguments are those of `holders_in` and `find_recoded`.

    People are known by keyed hashes, of which all sets of a column that a person has a cell of are added up.
    """
    key, counters = TextKeys(secrets.token_bytes(32), 0), [FiledRuns(folder, len(sets)) for _ in sets]
    for i, people, codes, bits in holders_in(schema, sets, blocks):
        counters[i].add(key.of(people, codes), bits, 0)
    found = list[Sequence[int]]()
    for own, counter in zip(sets, counters, strict=True):
        n_people = np.zeros(len(own.keys), dtype=np.int64)
        for runs in counter.parts():
            starts = np.flatnonzero(np.append(True, (np.diff(runs.keys) != 0).any(axis=0))[: len(runs.codes)])
            bits = np.bitwise_or.reduceat(runs.codes, starts) if len(starts) else runs.codes
            n_people += [int((bits >> bit & 1).sum()) for bit in range(len(own.keys))]
        found.append(n_people.tolist())
    return found


class _Bits:
    """The bits of the cells of a column.

    Args:
        of: The bits of each cell; none of any other.
    """

    def __init__(self, of: Mapping[str, int]) -> None:
        self._of, self._epoch = of, 0
        self._known = np.empty(0, dtype=np.int64)

    def of(self, column: BlockColumn, codes: Codes) -> NDArray[np.int64]:
        """Return the bits of the cells of a block."""
        if column.epoch != self._epoch:
            self._known, self._epoch = self._known[:0], column.epoch
        new = [self._of.get(text, 0) for text in column.texts[len(self._known) :]]
        self._known = np.concatenate([self._known, np.array(new, dtype=np.int64)])
        found: NDArray[np.int64] = self._known[codes]
        return found


def _table(name: str, rows: Mapping[str, int]) -> CodedTable:
    """Return a column as a table, a row for each distinct cell; rows: how often it occurs."""
    times = np.array(list(rows.values()), dtype=np.int64)
    return CodedTable([name], [CodedColumn(list(rows), np.arange(len(rows), dtype=np.int32), times)], int(times.sum()))


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


class ChangedColumn(BlockColumn):
    """The cells of a column with what stands in their place; codes are those of the column.

    Args:
        change: Returns what stands in the place of a cell.
    """

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self._change = change

    def follow(self, column: BlockColumn) -> BlockColumn:
        """Learn the cells that a block brought; return this column."""
        if column.epoch != self.epoch:
            self.texts, self.epoch = [], column.epoch
        self.texts += map(self._change, column.texts[len(self.texts) :])
        return self


class RecodedColumn(ChangedColumn):
    """The cells of a column with its outliers recoded; shown: what is shown in the place of cells."""

    def __init__(self, shown: Mapping[str, str]) -> None:
        super().__init__(lambda cell: shown.get(cell, cell))
