"""The gate for a release in several files, examined apart from each other: by tasks of a cluster.

Each part is examined by itself: its bytes, its header, its order, and the cells that its rows were made from. Groups
and their sensitive values are counted in each part, added up elsewhere, and judged where all counts of a group are
together. The driver of the cluster compares sums. As in the other gates, rows are compared as bags by the sums of keyed
hashes; groups are known by their keys.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.schema import Dialect, Role, Schema, check_k
from shoal.verification.gate_streamed import Claimed, label_violations
from shoal.verification.gate_streamed.blocks import BlockColumn, CodedBlocks
from shoal.verification.gate_streamed.examined import Examined, held_back
from shoal.verification.gate_streamed.groups import GroupCount, GroupFacts, examine_groups, group_violations
from shoal.verification.gate_streamed.keys import (
    EMPTY,
    Bag,
    Keys,
    TextKeys,
    add_bags,
    add_rows,
    are_among,
    total_keys,
)
from shoal.verification.gate_streamed.laid import LaidBlocks, Layout
from shoal.verification.gate_streamed.outliers import Recoded, RecodedColumn
from shoal.verification.gate_streamed.source import SourceTable, SourceTally, other_mark
from shoal.verification.gate_streamed.stated import Dealt
from shoal.verification.gate_streamed.tallies import GroupCounts, GroupTally
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.reading.files import UnreadableError, cell_text
from shoal.verification.reading.tables import PathName
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

__all__ = [
    "GroupCount",
    "GroupFacts",
    "PartFacts",
    "SourceFacts",
    "cell_texts",
    "count_cells",
    "count_groups",
    "examine_groups",
    "examine_part",
    "examine_source",
    "group_violations",
    "held_back",
    "judge_parts",
]

PLAIN = Layout()

Codes = NDArray[np.int32]


class PartFacts(NamedTuple):
    """What was found in one part.

    Attributes:
        bag: Its rows, with the cells that they were made from.
        first: Its first row.
        last: Its last row.
        sha256: The hash of its bytes.
        violations: What is wrong with it.
        rows: The number of its rows.
    """

    bag: Bag
    first: Sequence[str]
    last: Sequence[str]
    sha256: str
    violations: Sequence[Violation]
    rows: int


class SourceFacts(NamedTuple):
    """What was found in a part of the source.

    Attributes:
        rows: The number of its rows.
        bag: Those that are released.
        numbers: The columns with nothing but numbers, if the release has another decimal mark.
    """

    rows: int
    bag: Bag
    numbers: frozenset[str] = frozenset()


def examine_part(
    path: PathName,
    schema: Schema,
    goal: Goal,
    key: bytes,
    dealt: Dealt | None,
    layout: Layout = PLAIN,
    numbers: Container[str] = (),
) -> tuple[PartFacts, list[GroupCounts]]:
    """Examine one part of a release.

    Args:
        path: The file.
        schema: The columns of the source; the file must have the released ones and no others.
        goal: What the release must meet besides k.
        key: The key of the hashes, new for each release.
        dealt: What the maker states about the rows of the part; None for a full-domain release.
        layout: How the part shows the released columns.
        numbers: The columns of the source with nothing but numbers, if the release has another decimal mark.

    Returns:
        What was found, and the counts of its groups.
    """
    table = CodedBlocks(path, Dialect(layout.delimiter), keep_blank=True)
    mark = other_mark(schema, layout.decimal, numbers)
    laid = LaidBlocks(table, layout.bounds, layout.spreadsheet_safe, mark, layout.followed(schema))
    source = None
    if layout.center:  # the source is counted elsewhere, and centres are compared with it there
        source = SourceTally(schema, held_back(schema), key, layout.decimal, counted=True, ordered=False)
    examined = Examined(schema, laid, dealt, key, goal, source, layout.center, population={})
    try:
        for block in table.blocks():
            examined.add(block)
    except UnreadableError as error:
        return PartFacts(EMPTY, [], [], "", [Violation("file", error.reason)], examined.rows), []
    violations = examined.file_violations(path) + laid.violations() + examined.violations()
    order = examined.order
    facts = PartFacts(examined.bag, order.first, order.last, _digest(path), violations, examined.rows)
    return facts, examined.group_counts()


def _digest(path: PathName) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def examine_source(
    table: SourceTable,
    schema: Schema,
    key: bytes,
    claimed: Claimed | None,
    layout: Layout = PLAIN,
    recoded: Recoded | None = None,
) -> SourceFacts:
    """Examine a part of the source, or of the rows that are left out.

    Args:
        table: The part.
        schema: The columns of the source.
        key: The key of the hashes.
        claimed: What the maker claims of a full-domain release; None for a release of groups, which has every row.
        layout: How the release shows its columns.
        recoded: By column, the outliers and what is shown in their place.
    """
    if claimed is None:
        names, kept_as = held_back(schema), {"counted": False, "ordered": False}
        tally = SourceTally(schema, names, key, layout.decimal, recoded=recoded, **kept_as)
        tally.read(table)
        return SourceFacts(tally.bag[2], tally.bag, tally.numbers)
    names = [column.name for column in schema.released]
    keys = [TextKeys(key, i) for i in range(len(names))]
    labels = {i: _Labels(claimed.maps[n], keys[i]) for i, n in enumerate(names) if n in claimed.maps}
    kept = _kept_keys(claimed, names, keys)
    shown_as = {name: RecodedColumn(own) for name, own in (recoded or {}).items()}
    n_rows, bag = 0, EMPTY
    for read in table.blocks(names):
        named = zip(names, read, strict=True)
        block = [
            (shown_as[name].follow(column) if name in shown_as else column, codes) for name, (column, codes) in named
        ]
        height = len(block[0][1])
        shown, is_released = list[Keys](), np.ones(height, dtype=bool)
        for i, (column, codes) in enumerate(block):
            if i in labels:
                own, has_label = labels[i].of(column, codes)
                is_released &= has_label
                shown.append(own)
            else:
                shown.append(keys[i].of(column, codes))
        if kept is not None:
            is_released &= are_among(total_keys([shown[i] for i in labels], height), kept)
        n_rows += height
        bag = add_rows(bag, total_keys(shown, height)[:, is_released])
    return SourceFacts(n_rows, bag)


def _kept_keys(claimed: Claimed, names: Sequence[str], keys: Sequence[TextKeys]) -> Keys | None:
    """Return the keys of the groups that are released; None if all are."""
    if claimed.kept is None:
        return None
    groups = list(claimed.kept)
    total = np.zeros((2, len(groups)), dtype=np.uint64)
    for place, name in enumerate(claimed.maps):
        column = BlockColumn()
        codes = column.code([group[place] for group in groups])
        total += TextKeys.like(keys[names.index(name)]).of(column, codes)
    return total


class _Labels:
    """The labels that stand for the cells of a column.

    Args:
        label_of: The label of each cell.
        keys: The secret numbers of the column's texts.
    """

    def __init__(self, label_of: Mapping[str, str], keys: TextKeys) -> None:
        self._label_of, self._keys = label_of, TextKeys.like(keys)
        self._labels = BlockColumn()
        self._labels.code([""])  # stands for a cell without a label
        self._places = np.empty(0, dtype=np.int32)
        self._has_label = np.empty(0, dtype=bool)
        self._epoch = 0

    def of(self, column: BlockColumn, codes: Codes) -> tuple[Keys, NDArray[np.bool_]]:
        """Return the secret numbers of the labels of some cells, and whether they have one."""
        if column.epoch != self._epoch:
            self._places, self._has_label = self._places[:0], self._has_label[:0]
            self._epoch = column.epoch
        new = [self._label_of.get(text) for text in column.texts[len(self._places) :]]
        if new:
            self._places = np.concatenate([self._places, self._labels.code([label or "" for label in new])])
            self._has_label = np.concatenate([self._has_label, np.array([label is not None for label in new])])
        return self._keys.of(self._labels, self._places[codes]), self._has_label[codes]


def count_cells(table: SourceTable, names: Sequence[str]) -> list[Counter[str]]:
    """Count the cells of columns in a part of the source."""
    counters: list[Counter[str]] = [Counter() for _ in names]
    for block in table.blocks(names):
        for counter, (column, codes) in zip(counters, block, strict=True):
            for code, n in zip(*(each.tolist() for each in np.unique(codes, return_counts=True)), strict=True):
                counter[column.texts[code]] += n
    return counters


def count_groups(table: SourceTable, schema: Schema, goal: Goal, key: bytes) -> list[GroupCounts]:
    """Count the groups of a part of a table that nothing else is known about.

    Args:
        table: The part.
        schema: The quasi-identifiers, and the columns that models count.
        goal: The models.
        key: The key of the hashes.
    """
    checks, qi = ModelChecks.of_goal(goal, schema), schema.names(Role.QI)
    tally = GroupTally(checks, {}, counts_people=False)
    keys, n_rows = [TextKeys(key, i) for i in range(len(qi))], 0
    for block in table.blocks([*qi, *checks.columns]):
        height = len(block[0][1])
        groups = total_keys([own.of(*each) for own, each in zip(keys, block, strict=False)], height)
        tally.add(groups, n_rows + 1, None, dict(zip(checks.columns, block[len(qi) :], strict=True)), 0)
        n_rows += height
    return tally.listed([])


def judge_parts(
    parts: Sequence[PartFacts],
    groups: Sequence[GroupFacts],
    source: Sequence[SourceFacts],
    left_out: Sequence[SourceFacts],
    schema: Schema,
    k: int,
    claimed: Claimed,
    goal: Goal,
    wrong: Sequence[Violation] = (),
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
        wrong: What is wrong with the bounds and labels of recoded outliers.
    """
    k, limit = check_k(k), read_limit(goal.get("suppression_limit", 0))
    n_rows, n_source = sum(part.rows for part in parts), sum(each.rows for each in source)
    n_groups, smallest = sum(each.groups for each in groups), min((e.smallest for e in groups if e.groups), default=0)
    violations = [*wrong]
    violations += [_in_part(each, number) for number, part in enumerate(parts, 1) for each in part.violations]
    violations += suppression_violations(n_source - n_rows, n_source, limit)
    if not n_rows:
        violations.append(NO_ROWS)
    violations += group_violations(groups, k)
    counts = {"rows": n_rows, "suppressed_rows": n_source - n_rows, "groups": n_groups, "smallest_group": smallest}
    violations += claim_violations(claimed.counts, counts)
    if any(list(a.last) > list(b.first) for a, b in pairwise(parts)):
        violations.append(Violation("order", "the parts are not sorted by their cells"))
    if claimed.maps:
        violations += label_violations(schema, claimed.maps, goal.get("labels") or {})
    expected = add_bags(each.bag for each in source)
    made = add_bags([*(part.bag for part in parts), *(each.bag for each in left_out)])
    n_kept = expected[2] - sum(each.rows for each in left_out)
    if n_kept != n_rows or expected != made:
        text = f"the parts do not have exactly the {plural(n_kept, 'row')} that are made from the source"
        violations.append(Violation("rows", text))
    return replace(judge(k, n_rows, {}, violations), groups=n_groups, smallest_group=smallest)


def _in_part(violation: Violation, number: int) -> Violation:
    return Violation(f"part {number}, {violation.where}", violation.text, violation.row)


def cell_texts(columns: Iterable[Sequence[object]]) -> list[list[str]]:
    """Return columns of Python values as text, as the verifier reads the cells of a frame."""
    return [list(map(cell_text, values)) for values in columns]
