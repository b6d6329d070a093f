"""The gate for releases of groups of rows, of tables larger than memory.

A release of groups is not a function of cells. Its maker states for each released row the cells that it was made from,
and which rows it left out. Put in place of the released quasi-identifiers, they must give back the rows of the source
as a bag; so each released row has a source row of its own, whose cells it must cover.

Two bags of rows are equal if the sums of the keyed hashes of their rows are equal. The key is random and new for each
check. A cell is hashed, read and judged once for each distinct text, never once for each row; memory depends on the
distinct cells and on the groups.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.schema import Dialect, Role, Schema, check_k
from shoal.verification.cells import Cells
from shoal.verification.gate_streamed.blocks import BlockColumn, CodedBlocks, pick_columns
from shoal.verification.gate_streamed.tallies import GroupTally, RowOrder
from shoal.verification.matching.people import person_numbers
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.models.limits import LimitedCells, limit_violations
from shoal.verification.reading.coded import CodedColumn, Step, ignore_step
from shoal.verification.reading.files import UnreadableError
from shoal.verification.reading.tables import PathName
from shoal.verification.recount import header_violations, name_violations, quasi_identifier_cells, shape_violations
from shoal.verification.verdict import (
    NO_ROWS,
    Verdict,
    Violation,
    claim_violations,
    judge_counts,
    plural,
    read_limit,
    suppression_violations,
)

__all__ = ["Dealt", "SourceTable", "gate_dealt"]

MOST_PAIRS = 500_000  # pairs of cells that are remembered
ODD = tuple(np.uint64(each) for each in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 0x9E3779B97F4A7C15))
HALF, LESS = np.uint64(32), np.uint64(29)

Codes = NDArray[np.int32]
Keys = NDArray[np.uint64]  # two numbers for each row
Bag = tuple[int, int, int]  # the sums of the two hashes of each row, and the number of rows


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
    examined = _Examined(schema, table, dealt, secrets.token_bytes(32), goal)
    try:
        for block in table.blocks():
            examined.add(block)
            step(examined.rows)
    except UnreadableError as error:
        return judge_counts(k, examined.rows, 0, 0, [Violation("file", error.reason)])
    violations = [] if table.reader is None else table.reader.faults()
    violations += name_violations(path, table.kind)
    if table.reader is not None:
        violations += shape_violations(table.reader.blank_lines(), table.reader.ragged_rows(), table.reader.width)
    violations += header_violations(table.names, schema)
    if not examined.is_counting:
        return judge_counts(k, examined.rows, 0, 0, violations)
    source_bag = examined.source_bag(source)
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


class _Examined:
    """Released rows beside the cells that they were made from, block after block.

    Args:
        schema: The columns of the source.
        table: The released file.
        dealt: What the maker states.
        key: The key of the hashes.
        goal: What the release must meet besides k.
    """

    def __init__(self, schema: Schema, table: CodedBlocks, dealt: Dealt, key: bytes, goal: Goal) -> None:
        self._schema, self._table, self._dealt = schema, table, dealt
        self._released = [column.name for column in schema.released]
        self._held_back = [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
        self._cells = quasi_identifier_cells(schema, goal.get("labels") or {})
        self._qi = [name for name in self._released if name in self._cells]
        names = [*self._released, *self._held_back]
        self._keys = {name: TextKeys(key, i) for i, name in enumerate(names)}  # of the source and what restores it
        self._shown = {name: TextKeys(key, i) for i, name in enumerate(names)}
        self._origins = {name: TextKeys(key, i) for i, name in enumerate(names)}
        self._chunks = _Feed(dealt.chunks, len(self._qi) + len(self._held_back))
        self._pairs: dict[str, set[int]] = {name: set() for name in self._qi}
        self._false: dict[str, int] = {}
        self._n_false: dict[str, int] = {}
        # Of columns with limits, the row in which each cell was met first.
        self._limited: dict[str, dict[str, int]] = {c.name: {} for c in schema.qi if any(c.limits)}
        self._ladders = goal.get("ladders") or {}
        self._bag: Bag = (0, 0, 0)
        self.rows = 0
        self.order = RowOrder()
        checks = ModelChecks.of_goal(goal, schema)
        person = next(iter(schema.names(Role.PERSON)), None)
        self._person_numbers: Codes | None = None
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
        origin = self._chunks.take(n_rows)
        origins = dict(zip([*self._qi, *self._held_back], origin, strict=True))
        stated = len(origin[0]) if origin else n_rows
        group = _total([shown[name] for name in self._qi], n_rows)
        people = self._people(origins[self._held_back[0]]) if self.groups.counts_people else None
        self.groups.add(group, self.rows + 1, people, {n: columns[n] for n in self.groups.columns}, stated)
        if own_k := self._schema.names(Role.PERSONAL_K):
            place = len(self._qi) + self._held_back.index(own_k[0])
            self.groups.ask(group[:, :stated], origins[own_k[0]], self._dealt.texts[place])
        restored = [shown[name][:, :stated] for name in columns if name not in self._cells]
        for place, (name, codes) in enumerate(origins.items()):
            restored.append(self._origins[name].of_texts(self._dealt.texts[place], codes))
            if name in self._cells:
                self._judge(name, codes, columns[name][0], columns[name][1][:stated], place)
        self._bag = _added(self._bag, _total(restored, stated))
        self.rows += n_rows

    def _people(self, origin: Codes) -> Codes:
        """Return a number for each row that is the same exactly where its person is."""
        if self._person_numbers is None:
            numbers = person_numbers(self._dealt.texts[len(self._qi)], self._schema.missing)
            self._person_numbers = np.array(numbers, dtype=np.int32)
        return self._person_numbers[origin]

    def made_bag(self) -> Bag:
        """Return the bag of the rows that were released or left out, as the source has them."""
        bag = self._bag
        names = [*self._released, *self._held_back]
        for block in self._dealt.left_out:
            keys = [TextKeys.like(self._keys[n]).of_texts(*each) for n, each in zip(names, block, strict=True)]
            bag = _added(bag, _total(keys, len(block[0][1])))
        return bag

    def source_bag(self, source: SourceTable) -> Bag:
        """Return the bag of the rows of the source."""
        bag: Bag = (0, 0, 0)
        names = [*self._released, *self._held_back]
        for block in source.blocks(names):
            keys = [self._keys[name].of(column, codes) for name, (column, codes) in zip(names, block, strict=True)]
            bag = _added(bag, _total(keys, len(block[0][1])))
        return bag

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

    def _judge(self, name: str, origin: Codes, column: BlockColumn, shown: Codes, place: int) -> None:
        """See whether cells cover what they were made from, each distinct pair once."""
        keys = origin.astype(np.int64) << 32 | shown
        pairs, first = np.unique(keys, return_index=True)
        seen, texts, cells = self._pairs[name], self._dealt.texts[place], self._cells[name]
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


class TextKeys:
    """Two secret random numbers for each text of a column.

    Args:
        key: The key of the hashes.
        column: The number of the column; equal texts of different columns have different numbers.
    """

    def __init__(self, key: bytes, column: int) -> None:
        self._key, self._column = key, column
        self._keys: Keys = np.empty((2, 0), dtype=np.uint64)
        self._n_known = self._epoch = 0

    @classmethod
    def like(cls, other: TextKeys) -> TextKeys:
        """Return keys of the same column that know no text yet."""
        return cls(other._key, other._column)

    def of(self, column: BlockColumn, codes: Codes) -> Keys:
        """Return the numbers of the cells of a block."""
        if column.epoch != self._epoch:
            self._n_known, self._epoch = 0, column.epoch
        return self.of_texts(column.texts, codes)

    def of_texts(self, texts: Sequence[str], codes: Codes) -> Keys:
        """Return the numbers of texts at some places; texts that were seen before must not have changed."""
        if len(texts) > self._n_known:
            self._learn(texts[self._n_known :])
        keys: Keys = self._keys[:, codes]
        return keys

    def _learn(self, texts: Sequence[str]) -> None:
        salt = self._column.to_bytes(16, "little")
        digests = b"".join(
            hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._key, salt=salt).digest()
            for text in texts
        )
        end = self._n_known + len(texts)
        if end > self._keys.shape[1]:
            room = np.empty((2, max(64, 2 * end)), dtype=np.uint64)
            room[:, : self._n_known] = self._keys[:, : self._n_known]
            self._keys = room
        self._keys[:, self._n_known : end] = np.frombuffer(digests, dtype="<u8").reshape(-1, 2).T
        self._n_known = end


def _total(keys: Sequence[Keys], n_rows: int) -> Keys:
    """Return two numbers for each row, the sums of those of its cells."""
    total = np.zeros((2, n_rows), dtype=np.uint64)
    for each in keys:
        total += each
    return total


def _added(bag: Bag, rows: Keys) -> Bag:
    """Return the bag with some more rows. Their numbers are mixed, so that cells cannot trade places between rows."""
    a, b = rows[0].copy(), rows[1].copy()
    for odd in ODD:
        a ^= b >> LESS
        a *= odd
        b ^= a >> HALF
        b *= odd
        a ^= a >> HALF
    sums: list[Any] = [int(lane.sum(dtype=np.uint64)) for lane in (a, b)]
    return (bag[0] + sums[0]) % 2**64, (bag[1] + sums[1]) % 2**64, bag[2] + rows.shape[1]
