"""Released rows examined block by block, beside the cells that their maker says they were made from.

A cell is hashed, read and judged once for each distinct text, never once for each row; memory depends on the distinct
cells and on the groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Role, Schema
from shoal.verification.cells import Cells, normalise
from shoal.verification.gate_streamed.blocks import BlockColumn, CodedBlocks
from shoal.verification.gate_streamed.keys import EMPTY, Bag, Keys, TextKeys, add_rows, total_keys
from shoal.verification.gate_streamed.tallies import GroupCounts, GroupTally, RowOrder
from shoal.verification.matching.people import person_of
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.models.limits import LimitedCells, limit_violations
from shoal.verification.reading.coded import CodedColumn
from shoal.verification.reading.tables import PathName
from shoal.verification.recount import header_violations, name_violations, quasi_identifier_cells, shape_violations
from shoal.verification.verdict import Violation, plural

__all__ = ["Dealt", "Examined", "held_back"]

MOST_PAIRS = 500_000  # pairs of cells that are remembered

Codes = NDArray[np.int32]


class Dealt(Protocol):
    """What the maker states: the cells behind each released row, and the rows that were left out."""

    @property
    def texts(self) -> Sequence[list[str]]:
        """The distinct cells of each quasi-identifier, in the order of the file, and of each column held back."""

    @property
    def chunks(self) -> Iterator[Sequence[Codes]]:
        """Blocks of rows in the order of the file: places among these cells, column by column."""

    @property
    def left_out(self) -> Iterator[Sequence[tuple[list[str], Codes]]]:
        """Blocks of rows that are not released: texts and places, for all columns of the source."""


def held_back(schema: Schema) -> list[str]:
    """Return the columns that are counted but not released: people, and the k of rows."""
    return [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]


class Examined:
    """Released rows beside the cells that they were made from, block after block.

    Args:
        schema: The columns of the source.
        table: The released file.
        dealt: What the maker states; None for a full-domain release, whose rows are compared as they are.
        key: The key of the hashes.
        goal: What the release must meet besides k.

    Attributes:
        names: The columns by which rows are compared with the source: those released, then those held back.
        rows: The number of rows so far.
        bag: The rows so far, as the source has them.
        order: Whether they are sorted.
        groups: Their groups.
    """

    def __init__(self, schema: Schema, table: CodedBlocks, dealt: Dealt | None, key: bytes, goal: Goal) -> None:
        self._schema, self._table, self._dealt = schema, table, dealt
        self._released = [column.name for column in schema.released]
        self._held_back = held_back(schema) if dealt is not None else []
        self._cells = quasi_identifier_cells(schema, goal.get("labels") or {})
        self._qi = [name for name in self._released if name in self._cells]
        self.names = [*self._released, *self._held_back]
        self._keys = {name: TextKeys(key, i) for i, name in enumerate(self.names)}  # of the source
        self._shown = {name: TextKeys(key, i) for i, name in enumerate(self.names)}
        self._origins = {name: TextKeys(key, i) for i, name in enumerate(self.names)}
        self._chunks = _Feed(() if dealt is None else dealt.chunks, len(self._qi) + len(self._held_back))
        self._pairs: dict[str, set[int]] = {name: set() for name in self._qi}
        self._false: dict[str, int] = {}
        self._n_false: dict[str, int] = {}
        # Of columns with limits, the row in which each cell was met first.
        self._limited: dict[str, dict[str, int]] = {c.name: {} for c in schema.qi if any(c.limits)}
        self._ladders = goal.get("ladders") or {}
        self.bag = EMPTY
        self.rows = 0
        self.order = RowOrder()
        checks = ModelChecks.of_goal(goal, schema)
        person = next(iter(schema.names(Role.PERSON)), None)
        self._people: dict[str, int] = {}
        self._person_numbers: Codes = np.empty(0, dtype=np.int32)
        self.groups = GroupTally(checks, self._cells, counts_people=person is not None)

    @property
    def is_counting(self) -> bool:
        """Whether the file has the columns that it should have."""
        return self._table.names == self._released

    def add(self, block: Sequence[Codes]) -> None:
        """Read the next rows of the file."""
        n_rows = len(block[0]) if block else 0
        if not n_rows or not self.is_counting:
            self.rows += n_rows
            return
        columns = dict(zip(self._released, zip(self._table.columns, block, strict=True), strict=True))
        self.order.add(self._table.columns, block)
        for name, met in self._limited.items():
            column, codes = columns[name]
            for code, at in zip(*(each.tolist() for each in np.unique(codes, return_index=True)), strict=True):
                met.setdefault(column.texts[code], self.rows + 1 + at)
        shown = {name: self._shown[name].of(*columns[name]) for name in columns}
        group = total_keys([shown[name] for name in self._qi], n_rows)
        sensitive = {name: columns[name] for name in self.groups.columns}
        if self._dealt is None:
            self.groups.add(group, self.rows + 1, None, sensitive, 0)
            self.bag = add_rows(self.bag, total_keys(list(shown.values()), n_rows))
        else:
            self._restore(self._dealt, columns, shown, group, sensitive)
        self.rows += n_rows

    def _restore(
        self,
        dealt: Dealt,
        columns: Mapping[str, tuple[BlockColumn, Codes]],
        shown: Mapping[str, Keys],
        group: Keys,
        sensitive: Mapping[str, tuple[BlockColumn, Codes]],
    ) -> None:
        """Put the cells that rows were made from in place of the released ones."""
        origin = self._chunks.take(group.shape[1])
        origins = dict(zip([*self._qi, *self._held_back], origin, strict=True))
        stated = len(origin[0]) if origin else group.shape[1]
        people = None
        if self.groups.counts_people:
            people = self._numbers_of(dealt.texts[len(self._qi)])[origins[self._held_back[0]]]
        self.groups.add(group, self.rows + 1, people, sensitive, stated)
        if own_k := self._schema.names(Role.PERSONAL_K):
            place = len(self._qi) + self._held_back.index(own_k[0])
            self.groups.ask(group[:, :stated], origins[own_k[0]], dealt.texts[place])
        restored = [shown[name][:, :stated] for name in columns if name not in self._cells]
        for place, (name, codes) in enumerate(origins.items()):
            restored.append(self._origins[name].of_texts(dealt.texts[place], codes))
            if name in self._cells:
                self._judge(name, codes, columns[name][0], columns[name][1][:stated], dealt.texts[place])
        self.bag = add_rows(self.bag, total_keys(restored, stated))

    def _numbers_of(self, ids: Sequence[str]) -> Codes:
        """Return a number for each id that is the same exactly where its person is; more ids may follow."""
        n_known, absent = len(self._person_numbers), frozenset(map(normalise, self._schema.missing))
        if len(ids) > n_known:
            people = self._people
            new = [people.setdefault(person_of(text, absent), len(people)) for text in ids[n_known:]]
            self._person_numbers = np.concatenate([self._person_numbers, np.array(new, dtype=np.int32)])
        return self._person_numbers

    def made_bag(self) -> Bag:
        """Return the bag of the rows that were released or left out, as the source has them."""
        bag = self.bag
        for block in () if self._dealt is None else self._dealt.left_out:
            keys = [TextKeys.like(self._keys[n]).of_texts(*each) for n, each in zip(self.names, block, strict=True)]
            bag = add_rows(bag, total_keys(keys, len(block[0][1])))
        return bag

    def bag_of(self, source: Iterable[Sequence[tuple[BlockColumn, Codes]]]) -> Bag:
        """Return the bag of the rows of the source; source: its blocks, with the columns of `names`."""
        bag = EMPTY
        for block in source:
            keys = [self._keys[name].of(*each) for name, each in zip(self.names, block, strict=True)]
            bag = add_rows(bag, total_keys(keys, len(block[0][1])))
        return bag

    def group_counts(self) -> list[GroupCounts]:
        """Return what was counted in each group."""
        return self.groups.listed(list(self._people))

    def file_violations(self, path: PathName) -> list[Violation]:
        """Return what is wrong with the bytes of the file, the shape of its rows and its header, once all were read."""
        table, reader = self._table, self._table.reader
        violations = [] if reader is None else reader.faults()
        violations += name_violations(path, table.kind)
        if reader is not None:
            violations += shape_violations(reader.blank_lines(), reader.ragged_rows(), reader.width)
        return violations + header_violations(table.names, self._schema)

    def violations(self) -> list[Violation]:
        """Return the columns whose cells do not cover their source, and whether rows have no source."""
        violations = []
        for name, row in self._false.items():
            n = self._n_false[name]
            text = f"{plural(n, 'distinct cell')} {'does' if n == 1 else 'do'} not cover the source"
            violations.append(Violation(f"column {name!r}", text, row))
        for column in self._schema.qi:
            if column.name in self._limited:
                met, ladder = self._limited[column.name], self._ladders.get(column.name, {})
                limited = LimitedCells(column, column.limits, Cells.of(column, self._schema.missing), ladder)
                cells = CodedColumn(list(met), np.arange(len(met), dtype=np.int32))
                violations += limit_violations(cells, limited, np.array(list(met.values()), dtype=np.int64))
        if self._chunks.has_more():
            violations.append(Violation("rows", f"more than {plural(self.rows, 'row')} should have been written"))
        return violations

    def _judge(self, name: str, origin: Codes, column: BlockColumn, shown: Codes, texts: Sequence[str]) -> None:
        """See whether cells cover what they were made from, each distinct pair once."""
        keys = origin.astype(np.int64) << 32 | shown
        pairs, first = np.unique(keys, return_index=True)
        seen, cells = self._pairs[name], self._cells[name]
        key = (column.epoch & 0xFFFF) << 64
        for pair, at in zip(pairs.tolist(), first.tolist(), strict=True):
            if pair | key in seen:
                continue
            seen.add(pair | key)
            before, after = texts[pair >> 32], column.texts[pair & 0xFFFFFFFF]
            if before != after and not cells.covers(before, after):
                self._n_false[name] = self._n_false.get(name, 0) + 1
                self._false.setdefault(name, self.rows + 1 + at)
        if len(seen) > MOST_PAIRS:
            seen.clear()


class _Feed:
    """Rows that come in blocks of any size, taken in blocks of another size."""

    def __init__(self, chunks: Iterable[Sequence[Codes]], n_columns: int) -> None:
        self._chunks = iter(chunks)
        self._rest: Sequence[Codes] = [np.empty(0, dtype=np.int32)] * n_columns

    def take(self, n_rows: int) -> Sequence[Codes]:
        """Return the next rows; fewer if there are no more."""
        parts = [self._rest]
        while sum(len(part[0]) for part in parts) < n_rows:
            following = next(self._chunks, None)
            if following is None:
                break
            parts.append(following)
        joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        self._rest = [column[n_rows:] for column in joined]
        return [column[:n_rows] for column in joined]

    def has_more(self) -> bool:
        """Say whether rows are left."""
        return len(self._rest[0]) > 0 or any(len(chunk[0]) for chunk in self._chunks)
