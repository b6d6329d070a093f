"""The gate for a release in several files, examined apart from each other: by tasks of a cluster.

Each part is examined by itself: its bytes, its header, its order, and the cells that its rows were made from. Groups
and their sensitive values are counted in each part, added up elsewhere, and judged where all counts of a group are
together. The driver of the cluster compares sums. As in the other gates, rows are compared as bags by the sums of keyed
hashes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.schema import Role, Schema, check_k
from shoal.verification.cells import Cells, normalise
from shoal.verification.gate_streamed import BAG, Claimed, Rows, bag_of, is_true, label_violations, recode
from shoal.verification.matching.people import person_of
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.models.limits import LimitedCells, limit_violations
from shoal.verification.reading.coded import CodedColumn
from shoal.verification.reading.files import UnreadableError, cell_text
from shoal.verification.reading.tables import PathName
from shoal.verification.recount import Recount, WrittenFile, quasi_identifier_cells
from shoal.verification.verdict import (
    NO_ROWS,
    Group,
    Verdict,
    Violation,
    claim_violations,
    judge,
    plural,
    read_limit,
    small_groups_violation,
    suppression_violations,
)

__all__ = [
    "GroupCount",
    "GroupFacts",
    "PartFacts",
    "SourceFacts",
    "cell_texts",
    "examine_groups",
    "examine_part",
    "examine_source",
    "held_back",
    "judge_parts",
]

# In place of a column: the rows of a group, those of one of its people, or those that ask for a k of their own.
SIZE, PERSON, OWN_K = -1, -2, -3
MOST_PAIRS = 500_000  # pairs of cells that are kept at a time


class GroupCount(NamedTuple):
    """The rows of a group in one part, or those of them that have one sensitive cell.

    Attributes:
        group: The released quasi-identifier cells.
        column: The place of the sensitive column among those that models count; or SIZE, PERSON or OWN_K.
        cell: The sensitive cell, the person, or the k that is asked for.
        rows: The number of rows.
    """

    group: Group
    column: int
    cell: str
    rows: int


class PartFacts(NamedTuple):
    """What was found in one part.

    Attributes:
        rows: The number of its rows.
        bag: The sum of the hashes of its rows, with the cells that they were made from.
        first: Its first row.
        last: Its last row.
        sha256: The hash of its bytes.
        violations: What is wrong with it.
    """

    rows: int
    bag: int
    first: Sequence[str]
    last: Sequence[str]
    sha256: str
    violations: Sequence[Violation]


class SourceFacts(NamedTuple):
    """What was found in a part of the source.

    Attributes:
        rows: The number of its rows.
        kept: The number of those that are released.
        bag: The sum of the hashes of these.
    """

    rows: int
    kept: int
    bag: int


class GroupFacts(NamedTuple):
    """What was found about some of the groups.

    Attributes:
        groups: The number of groups.
        smallest: The rows of the smallest.
        small: The number of groups with fewer than k rows, or people.
        least: The rows, or people, of the smallest by that count.
        violations: The models that groups fail.
    """

    groups: int
    smallest: int
    small: int
    least: int
    violations: Sequence[Violation]


def examine_part(
    path: PathName, schema: Schema, goal: Goal, key: bytes, witness: Rows | None
) -> tuple[PartFacts, Iterator[GroupCount]]:
    """Examine one part of a release.

    Args:
        path: The file.
        schema: The columns of the source; the file must have the released ones and no others.
        goal: What the release must meet besides k.
        key: The key of the hashes, new for each release.
        witness: For each row, the quasi-identifier cells that it was made from, in the order of the file, and its cells
            of `held_back` columns; None for a full-domain release.

    Returns:
        What was found, and the counts of its groups.
    """
    labels = goal.get("labels") or {}
    checks = ModelChecks.of_goal(goal, schema)
    file, recount = WrittenFile(path), Recount(schema, labels, checks)
    made_from = None if witness is None else _MadeFrom(schema, labels, witness, key)
    bag, first, last = 0, list[str](), list[str]()
    try:
        for number, chunk in enumerate(file.chunks()):
            rows = chunk[1:] if number == 0 else list(chunk)
            if made_from is None:
                bag += bag_of(rows, key)
            else:
                made_from.add(rows)
            first = first or next(iter(rows), [])
            last = rows[-1] if rows else last
            recount.add(chunk)
    except UnreadableError as error:
        return PartFacts(recount.rows, 0, [], [], "", file.broken(error)), iter(())
    violations = file.violations() + recount.header_violations + recount.row_violations()
    if made_from is not None:
        violations += made_from.violations(recount.rows)
        violations += _limit_violations(schema, recount, goal)
        bag = made_from.bag
    more = {} if made_from is None else made_from.held_back
    return PartFacts(recount.rows, bag % BAG, first, last, _digest(path), violations), _counts(recount, checks, more)


def _digest(path: PathName) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def held_back(schema: Schema) -> list[str]:
    """Return the columns that are counted but not released: people, and the k of rows."""
    return [*schema.names(Role.PERSON), *schema.names(Role.PERSONAL_K)]


def _limit_violations(schema: Schema, recount: Recount, goal: Goal) -> list[Violation]:
    """Return the columns whose cells are wider than their limits."""
    violations = []
    for place, name in enumerate(recount.cells):
        column = next(column for column in schema.qi if column.name == name)
        if any(column.limits):
            cells = sorted({group[place] for group in recount.groups})
            ladder = (goal.get("ladders") or {}).get(name, {})
            limited = LimitedCells(column, column.limits, Cells.of(column, schema.missing), ladder)
            coded = CodedColumn(cells, np.arange(len(cells), dtype=np.int32))
            violations += limit_violations(coded, limited, np.ones(len(cells), dtype=np.int64))
    return violations


class _MadeFrom:
    """Released rows beside the cells that they were made from, row after row.

    Args:
        schema: The columns of the source.
        labels: By column, the values that each label of its hierarchy means.
        witness: For each released row, the quasi-identifier cells that it was made from, and those held back.
        key: The key of the hashes.
    """

    def __init__(
        self, schema: Schema, labels: Mapping[str, Mapping[str, Iterable[str]]], witness: Rows, key: bytes
    ) -> None:
        names = [column.name for column in schema.released]
        self._cells = quasi_identifier_cells(schema, labels)
        self._positions = sorted((names.index(name), name) for name in self._cells)
        self._group = [names.index(name) for name in self._cells]
        self._width = len(names)
        self._witness = (cells for chunk in witness for cells in chunk)
        self._key = key
        self._pairs: dict[str, dict[tuple[str, str], int]] = {name: {} for name in self._cells}
        self._false: dict[str, list[int]] = {name: [] for name in self._cells}
        people = schema.names(Role.PERSON)
        self._columns = [PERSON if name in people else OWN_K for name in held_back(schema)]
        self._n_read = 0
        self.held_back: Counter[tuple[Group, int, str]] = Counter()
        self.bag = 0

    def add(self, rows: Sequence[Sequence[str]]) -> None:
        """Read the next rows of the file."""
        restored = []
        n_stated = len(self._positions)
        for row in rows:
            self._n_read += 1
            origin = next(self._witness, None)
            if origin is None or len(row) != self._width or len(origin) != n_stated + len(self._columns):
                continue
            cells = list(row)
            for column, cell in zip(self._columns, origin[n_stated:], strict=True):
                self.held_back[tuple(row[place] for place in self._group), column, cell] += 1
            for (position, name), cell in zip(self._positions, origin[:n_stated], strict=True):
                self._pairs[name].setdefault((cell, cells[position]), self._n_read)
                cells[position] = cell
            restored.append([*cells, *origin[n_stated:]])
        self.bag += bag_of(restored, self._key)
        if sum(map(len, self._pairs.values())) > MOST_PAIRS:
            self._judge_pairs()

    def violations(self, n_rows: int) -> list[Violation]:
        """Return the columns whose cells do not cover their source, and whether rows have no source."""
        self._judge_pairs()
        violations = []
        for _, name in self._positions:
            if rows := self._false[name]:
                text = f"{plural(len(rows), 'distinct cell')} {'does' if len(rows) == 1 else 'do'} not cover the source"
                violations.append(Violation(f"column {name!r}", text, min(rows)))
        if next(self._witness, None) is not None:
            violations.append(Violation("rows", f"more than {plural(n_rows, 'row')} should have been written"))
        return violations

    def _judge_pairs(self) -> None:
        for name, pairs in self._pairs.items():
            cells = self._cells[name]
            self._false[name] += [row for (cell, shown), row in pairs.items() if not is_true(cells, cell, shown)]
            pairs.clear()


def _counts(
    recount: Recount, checks: ModelChecks, held_back: Mapping[tuple[Group, int, str], int]
) -> Iterator[GroupCount]:
    for group, rows in recount.groups.items():
        yield GroupCount(group, SIZE, "", rows)
    for (group, column, cell), rows in held_back.items():
        yield GroupCount(group, column, cell, rows)
    for column, name in enumerate(checks.columns):
        for group, cells in checks.cell_counts(name).items():
            for cell, rows in cells.items():
                yield GroupCount(group, column, cell, rows)


def examine_source(rows: Rows, schema: Schema, key: bytes, claimed: Claimed | None) -> SourceFacts:
    """Examine a part of the source.

    Args:
        rows: Its rows: the released columns in order, then, for a release of groups, those of `held_back`.
        schema: The columns of the source.
        key: The key of the hashes.
        claimed: What the maker claims of a full-domain release; None for a release of groups, which has every row.
    """
    if claimed is not None:
        n_source, n_kept, bag = recode(schema, rows, claimed, key)
        return SourceFacts(n_source, n_kept, bag % BAG)
    n_source = bag = 0
    for chunk in rows:
        n_source += len(chunk)
        bag += bag_of(chunk, key)
    return SourceFacts(n_source, n_source, bag % BAG)


def examine_groups(counts: Iterable[GroupCount], schema: Schema, k: int, goal: Goal) -> GroupFacts:
    """Examine groups, each with all of its counts; a model that compares with the table needs all groups."""
    checks = ModelChecks.of_goal(goal, schema)
    groups: Counter[Group] = Counter()
    people: dict[Group, set[str]] = {}
    absent = frozenset(map(normalise, schema.missing))
    for group, column, cell, rows in counts:
        if column == SIZE:
            groups[group] += rows
        elif column == PERSON:
            people.setdefault(group, set()).add(person_of(cell, absent))
        elif column == OWN_K:
            checks.ask([(group, cell)])
        else:
            checks.add(checks.columns[column], group, cell, rows)
    sizes: Mapping[Group, int] = groups
    if schema.names(Role.PERSON):
        sizes = {group: len(people.get(group, ())) for group in groups}
    small = sum(size < k for size in sizes.values())
    cells = quasi_identifier_cells(schema, goal.get("labels") or {})
    violations = checks.violations(groups, sizes, None, cells)
    smallest = min(groups.values(), default=0)
    return GroupFacts(len(groups), smallest, small, min(sizes.values(), default=0), violations)


def judge_parts(
    parts: Sequence[PartFacts],
    groups: Sequence[GroupFacts],
    source: Sequence[SourceFacts],
    left_out: Sequence[SourceFacts],
    schema: Schema,
    k: int,
    claimed: Claimed,
    goal: Goal,
) -> Verdict:
    """Return the verdict on a release in several parts.

    Args:
        parts: What was found in each part, in order.
        groups: What was found about the groups.
        source: What was found in the source.
        left_out: What was found in the rows that a release of groups leaves out.
        schema: The columns of the source.
        k: The size that every group must have.
        claimed: What the maker claims: of a release of groups, only its counts.
        goal: What the release must meet besides k.
    """
    k, limit = check_k(k), read_limit(goal.get("suppression_limit", 0))
    n_rows, n_source = sum(part.rows for part in parts), sum(each.rows for each in source)
    n_groups, smallest = sum(each.groups for each in groups), min((e.smallest for e in groups if e.groups), default=0)
    violations = [_in_part(each, number) for number, part in enumerate(parts, 1) for each in part.violations]
    violations += suppression_violations(n_source - n_rows, n_source, limit)
    if not n_rows:
        violations.append(NO_ROWS)
    if small := sum(each.small for each in groups):
        least = min(each.least for each in groups if each.groups)
        violations.append(small_groups_violation(k, small, n_groups, least))
    violations += [violation for each in groups for violation in each.violations]
    counts = {"rows": n_rows, "suppressed_rows": n_source - n_rows, "groups": n_groups, "smallest_group": smallest}
    violations += claim_violations(claimed.counts, counts)
    if any(list(a.last) > list(b.first) for a, b in pairwise(parts)):
        violations.append(Violation("order", "the parts are not sorted by their cells"))
    if claimed.maps:
        violations += label_violations(schema, claimed.maps, goal.get("labels") or {})
    n_kept = sum(each.kept for each in source) - sum(each.rows for each in left_out)
    made = sum(part.bag for part in parts) + sum(each.bag for each in left_out)
    if n_kept != n_rows or (sum(each.bag for each in source) - made) % BAG:
        text = f"the parts do not have exactly the {plural(n_kept, 'row')} that are made from the source"
        violations.append(Violation("rows", text))
    return replace(judge(k, n_rows, {}, violations), groups=n_groups, smallest_group=smallest)


def _in_part(violation: Violation, number: int) -> Violation:
    return Violation(f"part {number}, {violation.where}", violation.text, violation.row)


def cell_texts(columns: Mapping[str, Sequence[object]]) -> list[list[str]]:
    """Return rows of text from columns of Python values, as the verifier reads the cells of a frame."""
    return list(map(list, zip(*(map(cell_text, values) for values in columns.values()), strict=True)))
