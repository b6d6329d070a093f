"""Released rows examined block by block, beside the cells that their maker says they were made from.

A cell is hashed, read and judged once for each distinct text, never once for each row; memory depends on the distinct
cells and on the groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Role, Schema
from shoal.verification.cells import Cells, normalise
from shoal.verification.gate_streamed.blocks import BlockColumn, RowOrder
from shoal.verification.gate_streamed.centers import CENTERS, KINDS, CenterTally, group_keys
from shoal.verification.gate_streamed.keys import EMPTY, Bag, Keys, TextKeys, add_rows, row_keys, total_keys
from shoal.verification.gate_streamed.laid import LaidBlocks
from shoal.verification.gate_streamed.source import SourceTally
from shoal.verification.gate_streamed.stated import Dealt, Feed, Listed, Texts, whole
from shoal.verification.gate_streamed.tallies import MIXED, ONE_VALUE, FiledRuns, GroupCounts, GroupTally
from shoal.verification.matching.people import person_of
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.models.limits import LimitedCells, limit_violations
from shoal.verification.reading.coded import CodedColumn
from shoal.verification.reading.tables import PathName
from shoal.verification.recount import header_violations, name_violations, quasi_identifier_cells, shape_violations
from shoal.verification.verdict import Violation, plural

__all__ = ["Examined", "held_back"]

MOST_PAIRS = 500_000  # pairs of cells that are remembered
OF_PEOPLE = 1 << 40  # in place of the number of a column, in hashes of people

Codes = NDArray[np.int32]


def held_back(schema: Schema) -> list[str]:
    """Return the columns that are counted but not released: people, and the k of rows."""
    return [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]


class Examined:
    """Released rows beside the cells that they were made from, block after block.

    Args:
        schema: The columns of the source.
        laid: The released file.
        dealt: What the maker states; None for a full-domain release, whose rows are compared as they are.
        key: The key of the hashes.
        goal: What the release must meet besides k.
        source: What was found in the source, if it was read before.
        center: "mean" or "median" if the cells are the centres of groups, which are compared with the source.
        folder: Where counts go that are many: people and, with centres, values by group; by default they are kept, and
            can be listed.
        population: The text of the population table by column name, if a model counts it.

    Attributes:
        rows: The number of rows so far.
        bag: The rows so far, as the source has them.
        order: Whether they are sorted.
    """

    def __init__(
        self,
        schema: Schema,
        laid: LaidBlocks,
        dealt: Dealt | None,
        key: bytes,
        goal: Goal,
        source: SourceTally | None = None,
        center: str | None = None,
        folder: str | None = None,
        population: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._schema, self._laid, self._dealt, self._key = schema, laid, dealt, key
        self._ordered = source is not None and source.ordered
        self._released = [column.name for column in schema.released]
        self._held_back = held_back(schema) if dealt is not None else []
        self._cells = quasi_identifier_cells(schema, goal.get("labels") or {})
        self._qi = [name for name in self._released if name in self._cells]
        names = [*self._released, *self._held_back]
        self._unchanged = {name: TextKeys(key, i) for i, name in enumerate(names)}
        self._origins = {name: TextKeys(key, i) for i, name in enumerate(names)}
        self._shown: dict[int, TextKeys] = {}  # by column of the file
        self._n_stated = len(self._qi) + len(self._held_back)
        n_columns = self._n_stated + (center is not None) + self._ordered
        self._chunks = Feed(() if dealt is None else dealt.chunks, n_columns)
        self._pairs: dict[str, set[int]] = {name: set() for name in self._qi}
        self._false: dict[str, int] = {}
        self._n_false: dict[str, int] = {}
        self._ladders = goal.get("ladders") or {}
        # Of columns with limits, the row in which each cell was met first.
        limited = schema.qi if center is None else ()
        self._limited: dict[str, dict[str, int]] = {c.name: {} for c in limited if any(c.limits)}
        self._last_line, self._disorder = -1, 0
        self.bag = EMPTY
        self.rows = 0
        self.order = RowOrder()
        self._people: dict[str, int] = {}
        self._person_numbers: Codes = np.empty(0, dtype=np.int32)
        by_person, self._uncounted = bool(schema.names(Role.PERSON)), ModelChecks.of_goal(goal, schema).uncounted
        self._tallies = [
            GroupTally(
                ModelChecks.of_goal(goal, schema),
                self._cells,
                counts_people=by_person,
                folder=folder,
                population=population,
                uncounted=self._uncounted if is_of_file else (),
            )
            for is_of_file in ((True,) if center is None else (True, False))  # the groups of the file; of the maker
        ]
        self._centers: dict[str, CenterTally] = {}
        if center is not None:
            assert source is not None
            assert dealt is not None
            stated = dict(zip(self._qi, dealt.texts, strict=False))
            for column in schema.qi:
                ladder, mark = self._ladders.get(column.name, {}), source.spread_mark(column)
                counts, known = source.counts[column.name], whole(stated[column.name])[:]
                counter = partial(FiledRuns, folder, len(KINDS) * len(schema.qi))
                self._centers[column.name] = CenterTally(column, schema, counts, known, center, mark, ladder, counter)

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
        group = self._group(block, n_rows)
        if self._dealt is None:
            self.groups.add(group, self.rows + 1, None, {name: columns[name] for name in self.groups.counted}, 0)
            shown = {name: self._unchanged[name].of(*columns[name]) for name in columns}
            self.bag = add_rows(self.bag, total_keys(list(shown.values()), n_rows))
            for name in self._uncounted:
                self.groups.look_at(name, group, self.rows + 1, shown[name])
        else:
            self._restore(self._dealt, columns, block, group)
        self.rows += n_rows

    def _restore(
        self, dealt: Dealt, columns: dict[str, tuple[BlockColumn, Codes]], block: Sequence[Codes], group: Keys
    ) -> None:
        """Put the cells that rows were made from in place of the released ones."""
        n_rows = group.shape[1]
        taken = self._chunks.take(n_rows)
        origins = dict(zip([*self._qi, *self._held_back], taken, strict=False))
        stated = len(taken[0]) if taken else n_rows
        keys = [group]
        if self._centers:
            keys.append(group_keys(taken[self._n_stated]))
        people = None
        if self.groups.counts_people:
            people = self._people_behind(dealt.texts[len(self._qi)], origins[self._held_back[0]])
        for tally, own in zip(self._tallies, keys, strict=True):
            cells = {name: (columns[name][0], columns[name][1][: own.shape[1]]) for name in tally.counted}
            tally.add(own, self.rows + 1, people, cells, stated)
            for name in self._schema.names(Role.PERSONAL_K):
                texts = dealt.texts[len(self._qi) + self._held_back.index(name)]
                assert isinstance(texts, list)
                tally.ask(own[:, :stated], origins[name], texts)
        unchanged = {name: self._unchanged[name].of(*columns[name]) for name in columns if name not in self._cells}
        for name in self._uncounted:
            self.groups.look_at(name, group, self.rows + 1, unchanged[name])
        restored = [keys[:, :stated] for keys in unchanged.values()]
        for place, (name, codes) in enumerate(origins.items()):
            texts = dealt.texts[place]
            restored.append(self._keys_behind(self._origins[name], texts, codes))
            if name in self._centers:
                shown, spread = self._centered(name, columns[name], block, stated)
                self._centers[name].add(keys[1], self.rows + 1, codes, shown, spread, people)
            elif name in self._cells:
                self._judge(name, codes, columns[name][0], columns[name][1][:stated], whole(texts))
        if self._ordered:
            restored.append(row_keys(self._key, self._follow(taken[-1])))
        self.bag = add_rows(self.bag, total_keys(restored, stated))

    def _group(self, block: Sequence[Codes], n_rows: int) -> Keys:
        """Return the keys of rows by all that the file shows of their quasi-identifiers."""
        keys = []
        for column in self._laid.columns:
            for place in column.all_places if column.name in self._cells else ():
                own = self._shown.setdefault(place, TextKeys(self._key, len(self._unchanged) + place))
                keys.append(own.of(self._laid.table.columns[place], block[place]))
        return total_keys(keys, n_rows)

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

    def _keys_behind(self, known: TextKeys, texts: Texts, codes: NDArray[Any]) -> Keys:
        """Return the numbers of cells; known: of their column. Those that are gathered are hashed block by block."""
        if isinstance(texts, list | Listed):
            return known.of_texts(texts, codes)
        distinct, places = np.unique(codes, return_inverse=True)
        return TextKeys.like(known).of_texts(texts.gather(distinct), places.astype(np.int32))

    def _people_behind(self, ids: Texts, codes: NDArray[Any]) -> NDArray[np.int64]:
        """Return a number for the person of each row: by order, or by hash if ids are gathered.

        If hashes of two people were equal, they would count as one: a group would seem too small, never too large.
        """
        if isinstance(ids, list):
            return np.asarray(self._numbers_of(ids)[codes], dtype=np.int64)
        distinct, places = np.unique(codes, return_inverse=True)
        absent = frozenset(map(normalise, self._schema.missing))
        people = [person_of(text, absent) for text in ids.gather(distinct)]
        hashes = TextKeys(self._key, OF_PEOPLE).of_texts(people, places.astype(np.int32))
        numbers: NDArray[np.int64] = hashes[0].view(np.int64)
        return numbers

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
            cells = zip(self._unchanged.values(), block, strict=False)
            keys = [TextKeys.like(own).of_texts(*each) for own, each in cells]
            keys += [row_keys(self._key, block[-1][1])] if self._ordered else []
            bag = add_rows(bag, total_keys(keys, len(block[0][1])))
        return bag

    def one_value(self) -> dict[str, int]:
        """Return for each sensitive column that no model counts the rows in groups that share one value of it."""
        found = self.groups.shared_values(self._starred())
        return {name: int(runs.rows[runs.codes != MIXED].sum()) for name, runs in found}

    def _starred(self) -> Keys:
        """Return the key of the rows that show "*" in every quasi-identifier."""
        places = [place for column in self._laid.columns if column.name in self._cells for place in column.all_places]
        keys = (TextKeys(self._key, len(self._unchanged) + place) for place in places)
        return total_keys([own.of_texts(["*"], np.zeros(1, dtype=np.int32)) for own in keys], 1)

    def group_counts(self) -> list[GroupCounts]:
        """Return what was counted in each group of the file and, with centres, of the maker."""
        people = list(self._people)
        counts = self.groups.listed(people)
        for place, (_, runs) in enumerate(self.groups.shared_values(self._starred())):
            numbers, codes = np.unique(runs.codes, return_inverse=True)
            counts.append(GroupCounts(ONE_VALUE - place, runs.keys, list(map(str, numbers.tolist())), codes, runs.rows))
        for tally in self._tallies[1:]:
            counts += [each._replace(of_maker=True) for each in tally.listed(people)]
        for place, centers in enumerate(self._centers.values()):
            for kind, cells, runs in centers.listed(people):
                column = CENTERS + len(KINDS) * place + kind
                counts.append(GroupCounts(column, runs.keys, cells, runs.codes, runs.rows, of_maker=True))
        return counts

    def group_violations(self, k: int) -> list[Violation]:
        """Return the groups that are too small or fail a model, and the centres that are not those of their group."""
        violations = []
        for tally in self._tallies:
            violations += tally.small(k)
            violations += tally.model_violations()
        for centers in self._centers.values():
            violations += centers.violations(k, counts_people=self.groups.counts_people)
        return violations

    def file_violations(self, path: PathName) -> list[Violation]:
        """Return what is wrong with the bytes of the file, the shape of its rows and its header, once all were read."""
        laid, reader = self._laid, self._laid.table.reader
        violations = [] if reader is None else reader.faults()
        violations += name_violations(path, laid.table.kind)
        if reader is not None:
            violations += shape_violations(reader.blank_lines(), reader.ragged_rows(), reader.width)
        violations += header_violations(laid.names, self._schema)
        return violations + laid.spread_violations(self._schema.qi)

    def violations(self) -> list[Violation]:
        """Return the columns whose cells do not cover their source, and whether rows have no source or order."""
        violations = self.order.violations() if not self._ordered else []
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

    def _judge(self, name: str, origin: Codes, column: BlockColumn, shown: Codes, texts: list[str] | Listed) -> None:
        """See whether cells cover what they were made from, each distinct pair once."""
        keys = origin.astype(np.int64) << 32 | shown
        pairs, first = np.unique(keys, return_index=True)
        seen, cells = self._pairs[name], self._cells[name]
        key = (column.epoch & 0xFFFF) << 64
        places = np.unique(pairs >> 32)
        known = [texts[i] for i in places.tolist()] if isinstance(texts, list) else texts.gather(places)
        origins = dict(zip(places.tolist(), known, strict=True))
        for pair, at in zip(pairs.tolist(), first.tolist(), strict=True):
            if pair | key in seen:
                continue
            seen.add(pair | key)
            before, after = origins[pair >> 32], column.texts[pair & 0xFFFFFFFF]
            if before != after and not cells.covers(before, after):
                self._n_false[name] = self._n_false.get(name, 0) + 1
                self._false.setdefault(name, self.rows + 1 + at)
        if len(seen) > MOST_PAIRS:
            seen.clear()
