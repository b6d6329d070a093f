"""Groups that were counted apart from each other, judged where all counts of a group are together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoal.schema import Column, Role, Schema
from shoal.verification.cells import normalise
from shoal.verification.gate_streamed.centers import CENTERS, KINDS, MADE, SHOWN, CenterTally
from shoal.verification.gate_streamed.laid import Layout
from shoal.verification.gate_streamed.source import spread_mark
from shoal.verification.gate_streamed.tallies import ONE_VALUE, OWN_K, PERSON, SIZE
from shoal.verification.matching.people import person_of
from shoal.verification.models.checks import Goal, ModelChecks, TableCounts, failure
from shoal.verification.reading.coded import CodedTable
from shoal.verification.recount import quasi_identifier_cells
from shoal.verification.verdict import Group, Violation, small_groups_violation

__all__ = [
    "CenterFacts",
    "GroupCount",
    "GroupFacts",
    "center_violations",
    "examine_centers",
    "examine_groups",
    "group_violations",
]


class GroupCount(NamedTuple):
    """The rows of a group, or those of them that have one sensitive cell.

    Attributes:
        group: What tells the group from others.
        column: The place of the sensitive column among those that models count; or SIZE, PERSON, OWN_K or ONE_VALUE;
            see `GroupCounts`.
        cell: The sensitive cell, the person, or the k that is asked for.
        rows: The number of rows.
    """

    group: Group
    column: int
    cell: str
    rows: int


class GroupFacts(NamedTuple):
    """What was found about some of the groups.

    Attributes:
        groups: The number of groups.
        smallest: The rows of the smallest.
        small: The number of groups with fewer than k rows, or people.
        least: The rows, or people, of the smallest by that count.
        failing: By model, the number of groups that fail it.
    """

    groups: int
    smallest: int
    small: int
    least: int
    failing: Mapping[str, int]


def examine_groups(
    counts: Iterable[GroupCount],
    schema: Schema,
    k: int,
    goal: Goal,
    table: TableCounts | None = None,
    population: CodedTable | None = None,
) -> GroupFacts:
    """Examine groups, each with all of its counts.

    Args:
        counts: The counts.
        schema: The columns of the source.
        k: The size that every group must have.
        goal: What the release must meet besides k.
        table: What was counted over all groups; None if these groups are all.
        population: The population, if a model counts it.
    """
    checks = ModelChecks.of_goal(goal, schema)
    n_columns = len(checks.columns)
    groups: Counter[Group] = Counter()
    people: dict[Group, set[str]] = {}
    cells_of: dict[Group, dict[int, str]] = {}
    absent = frozenset(map(normalise, schema.missing))
    for group, column, cell, rows in counts:
        if column == SIZE:
            groups[group] += rows
        elif column <= ONE_VALUE:  # no model counts it
            continue
        elif column == PERSON:
            people.setdefault(group, set()).add(person_of(cell, absent))
        elif column == OWN_K:
            checks.ask([(group, cell)])
        elif column >= n_columns:  # with a population, quasi-identifiers follow
            cells_of.setdefault(group, {})[column] = cell
        else:
            checks.add(checks.columns[column], group, cell, rows)
    sizes: Mapping[Group, int] = groups
    if schema.names(Role.PERSON):
        sizes = {group: len(people.get(group, ())) for group in groups}
    small = sum(size < k for size in sizes.values())
    cells = quasi_identifier_cells(schema, goal.get("labels") or {})
    shown = {group: tuple(own[column] for column in sorted(own)) for group, own in cells_of.items()}
    found = checks.failing(groups, sizes, cells, population, table, shown)
    failing = {title: len(own) for title, own in found if own}
    smallest = min(groups.values(), default=0)
    return GroupFacts(len(groups), smallest, small, min(sizes.values(), default=0), failing)


class CenterFacts(NamedTuple):
    """What was found about the centres of some groups.

    Attributes:
        violations: Which are wrong.
        shown: By quasi-identifier, the distinct centres.
    """

    violations: Sequence[Violation]
    shown: Mapping[str, Sequence[str]]


def examine_centers(
    counts: Iterable[GroupCount],
    schema: Schema,
    k: int,
    goal: Goal,
    layout: Layout,
    in_source: Mapping[str, Mapping[str, int]],
) -> CenterFacts:
    """Recompute the centres of groups, each with all of its counts.

    Args:
        counts: The counts; see `CenterTally.listed`.
        schema: The columns of the source.
        k: How many rows or people must have a value.
        goal: What the release must meet besides k.
        layout: How it shows the columns.
        in_source: By quasi-identifier, the rows of each distinct cell of the source.
    """
    listed: dict[int, list[GroupCount]] = {}
    for each in counts:
        listed.setdefault(each.column - CENTERS, []).append(each)
    violations, shown = list[Violation](), dict[str, Sequence[str]]()
    for place, column in enumerate(schema.qi):
        own = {kind: listed.get(len(KINDS) * place + kind, []) for kind in KINDS}
        made = list(dict.fromkeys(each.cell for each in own[MADE]))
        centers = _centers(column, schema, goal, layout, in_source[column.name], made)
        for kind, found in own.items():
            if found:
                keys = np.array([each.group for each in found], dtype=np.int64).T
                rows = np.array([each.rows for each in found], dtype=np.int64)
                keys = np.ascontiguousarray(keys)
                centers.take(kind, keys.view(np.uint64), [each.cell for each in found], rows)
        shown[column.name] = list(dict.fromkeys(each.cell for each in own[SHOWN]))
        wrong = centers.violations(k, counts_people=bool(schema.names(Role.PERSON)))
        violations += [Violation(each.where, each.text) for each in wrong]  # rows have no numbers
    return CenterFacts(violations, shown)


def center_violations(
    facts: Sequence[CenterFacts],
    schema: Schema,
    goal: Goal,
    layout: Layout,
    in_source: Mapping[str, Mapping[str, int]],
) -> list[Violation]:
    """Return what is wrong with centres; facts: what was found about some groups each."""
    violations = dict.fromkeys(violation for each in facts for violation in each.violations)
    for column in schema.qi:
        texts = sorted({text for each in facts for text in each.shown[column.name]})
        centers = _centers(column, schema, goal, layout, in_source[column.name], [])
        violations |= dict.fromkeys(centers.repeated(texts))
    return list(violations)


def _centers(
    column: Column, schema: Schema, goal: Goal, layout: Layout, in_source: Mapping[str, int], made: Sequence[str]
) -> CenterTally:
    """Return what judges the centres of a column; made: the cells that groups were made from."""
    mark, ladder = spread_mark(column, schema, layout.decimal), (goal.get("ladders") or {}).get(column.name, {})
    assert layout.center is not None
    return CenterTally(column, schema, in_source, made, layout.center, mark, ladder)


def group_violations(groups: Sequence[GroupFacts], k: int) -> list[Violation]:
    """Return whether groups are smaller than k, and the models that groups fail."""
    n_groups, violations = sum(each.groups for each in groups), []
    if small := sum(each.small for each in groups):
        least = min(each.least for each in groups if each.groups)
        violations.append(small_groups_violation(k, small, n_groups, least))
    failing: Counter[str] = Counter()
    for each in groups:
        failing.update(each.failing)
    return violations + [failure(title, n, n_groups) for title, n in failing.items()]
