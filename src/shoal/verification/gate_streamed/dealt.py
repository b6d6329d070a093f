"""The gate for releases of groups of rows, of tables larger than memory.

A release of groups is not a function of cells. Its maker states for each released row the cells that it was made from,
and which rows it left out. Put in place of the released quasi-identifiers, they must give back the rows of the source
as a bag; so each released row has a source row of its own, whose cells it must cover.

Two bags of rows are equal if the sums of the keyed hashes of their rows are equal. The key is random and new for each
check. A cell is hashed, read and judged once for each distinct text, never once for each row; memory depends on the
distinct cells and on the groups.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.schema import INPUT, Dialect, Role, Schema, check_k
from shoal.verification.cells import Cells
from shoal.verification.gate_streamed.blocks import BlockColumn, CodedBlocks
from shoal.verification.gate_streamed.centers import CenterTally, group_keys
from shoal.verification.gate_streamed.keys import Bag, TextKeys, add_rows, row_keys, sum_keys
from shoal.verification.gate_streamed.laid import LaidBlocks
from shoal.verification.gate_streamed.source import SourceFacts, SourceTable
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

__all__ = ["Dealt", "gate_dealt"]

MOST_PAIRS = 500_000  # pairs of cells that are remembered

Codes = NDArray[np.int32]


class Dealt(Protocol):
    """What the maker states: the cells behind each released row, and the rows that were left out."""

    @property
    def texts(self) -> Sequence[list[str]]:
        """The distinct cells of each quasi-identifier, in the order of the file, and of each column held back."""

    @property
    def chunks(self) -> Iterator[Sequence[NDArray[Any]]]:
        """Blocks of rows in the order of the file: places among these cells, column by column.

        The number of each row's group follows if cells are centres; then that of its row in the source, from 0, if rows
        keep their order.
        """

    @property
    def left_out(self) -> Iterator[Sequence[tuple[list[str], NDArray[Any]]]]:
        """Blocks of rows that are not released: texts and places, for all columns of the source.

        No texts and the numbers of the rows in the source follow if rows keep their order.
        """


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
        step: Called with the number of rows examined so far; it may raise to end the check.
        goal: What the release must meet besides k; see `Goal`.
    """
    k, limit = check_k(k), read_limit(goal.get("suppression_limit", 0))
    key = secrets.token_bytes(32)
    held_back = [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
    facts = SourceFacts(schema, held_back, key, decimal, counted=center is not None, ordered=keep_order)
    facts.read(source)
    table = CodedBlocks(path, Dialect(delimiter), keep_blank=True)
    followed = [column.name for column in schema.qi if spread]
    laid = LaidBlocks(table, bounds, spreadsheet_safe, facts.mark(), followed)
    examined = _Examined(schema, laid, dealt, key, goal, facts, center)
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
    violations += header_violations(laid.names, schema)
    violations += laid.spread_violations(schema.qi)
    if not examined.is_counting:
        return judge_counts(k, examined.rows, 0, 0, violations)
    n_suppressed = facts.bag[2] - examined.rows
    violations += suppression_violations(n_suppressed, facts.bag[2], limit)
    if not examined.rows:
        violations.append(NO_ROWS)
    violations += examined.group_violations(k)
    counts = {"rows": examined.rows, "suppressed_rows": n_suppressed, **examined.groups.counts()}
    violations += claim_violations(claims, counts)
    violations += laid.violations()
    violations += examined.violations()
    if facts.bag != examined.made_bag():
        violations.append(Violation("rows", "the rows are not made from the rows of the source, each of them once"))
    return judge_counts(k, examined.rows, counts["groups"], counts["smallest_group"], violations)


class _Examined:
    """Released rows beside the cells that they were made from, block after block.

    Args:
        schema: The columns of the source.
        laid: The released file.
        dealt: What the maker states.
        key: The key of the hashes.
        goal: What the release must meet besides k.
        facts: What was found in the source.
        center: "mean" or "median" if the cells are the centres of groups.
    """

    def __init__(
        self,
        schema: Schema,
        laid: LaidBlocks,
        dealt: Dealt,
        key: bytes,
        goal: Goal,
        facts: SourceFacts,
        center: str | None,
    ) -> None:
        self._schema, self._laid, self._dealt, self._facts, self._key = schema, laid, dealt, facts, key
        self._released = [column.name for column in schema.released]
        self._held_back = [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]
        self._cells = quasi_identifier_cells(schema, goal.get("labels") or {})
        self._qi = [name for name in self._released if name in self._cells]
        names = [*self._released, *self._held_back]
        self._unchanged = {name: TextKeys(key, i) for i, name in enumerate(names)}
        self._origins = {name: TextKeys(key, i) for i, name in enumerate(names)}
        self._shown: dict[int, TextKeys] = {}  # by column of the file
        self._n_stated = len(self._qi) + len(self._held_back)
        self._chunks = _Feed(dealt.chunks, self._n_stated + (center is not None) + facts.ordered)
        self._pairs: dict[str, set[int]] = {name: set() for name in self._qi}
        self._false: dict[str, int] = {}
        self._n_false: dict[str, int] = {}
        self._ladders = goal.get("ladders") or {}
        # Of columns with limits, the row in which each cell was met first.
        limited = schema.qi if center is None else ()
        self._limited: dict[str, dict[str, int]] = {c.name: {} for c in limited if any(c.limits)}
        self._bag: Bag = (0, 0, 0)
        self._last_line, self._disorder = -1, 0
        self.rows = 0
        self.order = RowOrder()
        person = next(iter(schema.names(Role.PERSON)), None)
        self._person_numbers: Codes | None = None
        self._tallies = [
            GroupTally(ModelChecks.of_goal(goal, schema), self._cells, counts_people=person is not None)
            for _ in range(1 if center is None else 2)  # the groups of the file; those of the maker
        ]
        self._centers: dict[str, CenterTally] = {}
        if center is not None:
            stated = dict(zip(self._qi, dealt.texts, strict=False))
            for column in schema.qi:
                ladder, mark = self._ladders.get(column.name, {}), facts.spread_mark(column)
                known = facts.counts[column.name], stated[column.name]
                self._centers[column.name] = CenterTally(column, schema, *known, center, mark, ladder)

    @property
    def groups(self) -> GroupTally:
        """The groups of the file."""
        return self._tallies[0]

    @property
    def is_counting(self) -> bool:
        """Whether the file has the columns that it should have."""
        return self._laid.names == self._released

    def add(self, block: Sequence[Codes]) -> None:
        """Read the next rows of the file."""
        n_rows = len(block[0]) if block else 0
        if not n_rows or not self.is_counting:
            self.rows += n_rows
            return
        columns = dict(zip(self._released, self._laid.read(block), strict=True))
        self.order.add(self._laid.table.columns, block)
        for name, met in self._limited.items():
            column, codes = columns[name]
            for code, at in zip(*(each.tolist() for each in np.unique(codes, return_index=True)), strict=True):
                met.setdefault(column.texts[code], self.rows + 1 + at)
        taken = self._chunks.take(n_rows)
        origins = dict(zip([*self._qi, *self._held_back], taken, strict=False))
        stated = len(taken[0]) if taken else n_rows
        keys = [self._group(block, n_rows)]
        if self._centers:
            keys.append(group_keys(taken[self._n_stated]))
        people = self._people(origins[self._held_back[0]]) if self.groups.counts_people else None
        for tally, group in zip(self._tallies, keys, strict=True):
            cells = {n: (columns[n][0], columns[n][1][: group.shape[1]]) for n in tally.columns}
            tally.add(group, self.rows + 1, people, cells, stated)
            for name in self._schema.names(Role.PERSONAL_K):
                texts = self._dealt.texts[len(self._qi) + self._held_back.index(name)]
                tally.ask(group[:, :stated], origins[name], texts)
        restored = [self._unchanged[name].of(*columns[name])[:, :stated] for name in columns if name not in self._cells]
        for place, (name, codes) in enumerate(origins.items()):
            restored.append(self._origins[name].of_texts(self._dealt.texts[place], codes))
            if name in self._centers:
                shown, spread = self._centered(name, columns[name], block, stated)
                self._centers[name].add(keys[1], self.rows + 1, codes, shown, spread, people)
            elif name in self._cells:
                self._judge(name, codes, columns[name][0], columns[name][1][:stated], place)
        if self._facts.ordered:
            restored.append(row_keys(self._key, self._follow(taken[-1])))
        self._bag = add_rows(self._bag, sum_keys(restored, stated))
        self.rows += n_rows

    def _group(self, block: Sequence[Codes], n_rows: int) -> NDArray[np.uint64]:
        """Return the keys of rows by all that the file shows of their quasi-identifiers."""
        keys = []
        for column in self._laid.columns:
            for place in column.all_places if column.name in self._cells else ():
                own = self._shown.setdefault(place, TextKeys(self._key, len(self._unchanged) + place))
                keys.append(own.of(self._laid.table.columns[place], block[place]))
        return sum_keys(keys, n_rows)

    def _centered(
        self, name: str, shown: tuple[BlockColumn, Codes], block: Sequence[Codes], stated: int
    ) -> tuple[tuple[BlockColumn, Codes], tuple[BlockColumn, Codes] | None]:
        """Return the centres of some rows, and their spread."""
        place = next(column.spread for column in self._laid.columns if column.name == name)
        spread = None if place is None else (self._laid.table.columns[place], block[place][:stated])
        return (shown[0], shown[1][:stated]), spread

    def _follow(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """Note the first row that does not follow the one before it in the source; return the lines."""
        falling = np.flatnonzero(np.diff(lines, prepend=self._last_line) <= 0)
        if len(falling) and not self._disorder:
            self._disorder = self.rows + int(falling[0]) + 1
        self._last_line = int(lines[-1]) if len(lines) else self._last_line
        return lines

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
            cells = zip(names, block, strict=False)
            keys = [TextKeys.like(self._unchanged[name]).of_texts(*each) for name, each in cells]
            keys += [row_keys(self._key, block[-1][1])] if self._facts.ordered else []
            bag = add_rows(bag, sum_keys(keys, len(block[0][1])))
        return bag

    def group_violations(self, k: int) -> list[Violation]:
        """Return the groups that are too small or fail a model, and the centres that are not those of their group."""
        violations = []
        for tally in self._tallies:
            violations += tally.small(k)
            violations += tally.model_violations()
        for centers in self._centers.values():
            violations += centers.violations(k, counts_people=self.groups.counts_people)
        return violations

    def violations(self) -> list[Violation]:
        """Return the columns whose cells do not cover their source, and whether rows have no source or order."""
        violations = self.order.violations() if not self._facts.ordered else []
        if self._disorder:
            violations.append(Violation("order", "the rows are not in the order of the source", self._disorder))
        for name, row in self._false.items():
            n = self._n_false[name]
            text = f"{plural(n, 'distinct cell')} {'does' if n == 1 else 'do'} not cover the source"
            violations.append(Violation(f"column {name!r}", text, row))
        for column in self._schema.qi:
            if column.name in self._limited:
                met, ladder = self._limited[column.name], self._ladders.get(column.name, {})
                reading, is_closed = Cells.of(column, self._schema.missing), column.name in self._laid.closed
                limited = LimitedCells(column, column.limits, reading, ladder, is_closed)
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

    def __init__(self, chunks: Iterable[Sequence[NDArray[Any]]], n_columns: int) -> None:
        self._chunks = iter(chunks)
        self._rest: Sequence[NDArray[Any]] = [np.empty(0, dtype=np.int32)] * n_columns

    def take(self, n_rows: int) -> Sequence[NDArray[Any]]:
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
