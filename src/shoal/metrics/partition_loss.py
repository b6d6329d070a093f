"""Measure a release of our own from its partition, without reading its text again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.decode import cell_texts
from shoal.encoding.dictionary import Distinct
from shoal.encoding.ends import RangeEnds, release_ends
from shoal.encoding.partition import SUPPRESSION, Cells, Partition
from shoal.hierarchy.level_weights import Climb
from shoal.metrics.column_loss import Baseline, Bounds, ColumnLoss, column_loss
from shoal.metrics.extent import ColumnExtent, exact_cells, extent_of
from shoal.metrics.measure import GroupSizes, Measures, assemble, check_names, rules_of, weights_of
from shoal.metrics.released_cells import cell_counts, unreadable_cell
from shoal.metrics.research_value import Research, Worth
from shoal.metrics.variance import sum_of_squares
from shoal.rules import CompiledRules
from shoal.schema import Schema
from shoal.tables import values
from shoal.tables.sorting import number_rows, number_texts
from shoal.tables.table import Table

__all__ = ["CellFacts", "Joint", "measure_partition"]


class CellFacts(NamedTuple):
    """What is known of the distinct cells of an attribute.

    Attributes:
        ranks: The number of each cell's text.
        exact: Whether the cell is as it was.
        starred: Whether it is suppressed.
    """

    ranks: NDArray[np.int64]
    exact: NDArray[np.bool_]
    starred: NDArray[np.bool_]


class Joint(Protocol):
    """Groups that are not in memory: whoever has them answers what the counts of single columns do not tell."""

    @property
    def sse(self) -> float:
        """The sum of squares inside groups over that of the table."""

    def group_sizes(self, columns: Sequence[CellFacts], n_rows: int) -> GroupSizes:
        """Return the sizes of the groups that the release shows, and the rows that are exact in every column."""


def measure_partition(
    encoded: Encoded,
    partition: Partition,
    schema: Schema,
    *,
    ends: Sequence[RangeEnds] | None = None,
    k: int | None = None,
    weights: Mapping[str, float] | None = None,
    climb: Climb | None = None,
    rules: CompiledRules | None = None,
    original: Table | None = None,
    research: Research | None = None,
    alike: NDArray[np.int64] | None = None,
    joint: Joint | None = None,
) -> Measures:
    """Measure a release of our own from its partition; the figures equal those of `measure_tables` on its file.

    The cost depends on the number of distinct cells, groups and entries, not of rows. No released cell is parsed,
    except labels of hierarchies.

    Args:
        encoded: The table as codes.
        partition: Its groups and their cells.
        schema: The columns of the table.
        ends: The ends of the ranges of each attribute, from `release_ends`; exact by default.
        k: What c_avg divides by and dm judges groups by; by default the size of the smallest group.
        weights: Of the quasi-identifiers in ncp.
        climb: The weights of hierarchy levels in the distortion.
        rules: Over the quasi-identifiers of the original.
        original: The table before outliers were recoded, which the release is compared with.
        research: Declared research values, and the balance of granularity and rules.
        alike: For each group, the number of its group in the release, if the release shows other cells than those of
            the partition; the loss is that of the partition all the same.
        joint: The groups, if those of the partition only have the counts of each column.

    Raises:
        InputError: A label of a hierarchy cannot be read.
        UsageError: An argument names an unknown column or is out of range.
    """
    check_names("weights of the levels", climb.given if climb else {}, [column.name for column in schema.qi])
    n_rows = encoded.n_rows
    sizes = partition.entries.sizes(partition.n_groups)
    n_kept = int(sizes.sum())
    losses: dict[str, ColumnLoss] = {}
    extents: dict[str, ColumnExtent] = {}
    found: list[CellFacts] = []
    worth = Worth(weights_of(schema, weights), rules, research or Research())
    ends = ends or release_ends(encoded, partition, schema)
    for a, (column, attribute, cells) in enumerate(zip(schema.qi, encoded.attributes, partition.cells, strict=True)):
        is_coded = original is not None and bool(column.codings)
        distinct = Distinct.of(original, column.name) if is_coded and original else encoded.dictionaries[a].distinct
        baseline = Baseline.of(
            column,
            cell_counts(distinct.texts.to_list(), distinct.counts.tolist()),
            schema,
            hierarchy=attribute.hierarchy,
            climb=climb,
            pairs=rules_of(rules, a),
            attribute=attribute if is_coded else None,
        )
        shown = _loss_in_partition(baseline, attribute, cells, ends[a], sizes, n_rows - n_kept)
        texts, losses[column.name], same = shown
        extents[column.name] = extent_of(baseline, losses[column.name], n_rows)
        on_rows = set(cells.index[sizes > 0].tolist())
        worth.add(encoded.dictionaries[a], {values.normalise(texts[i]) for i in on_rows}, a)
        is_star = np.array([text == SUPPRESSION for text in texts], dtype=bool)
        found.append(CellFacts(number_texts(texts), same, is_star))
    has_stars = alike is not None or any(SUPPRESSION in each.distinct.texts for each in encoded.dictionaries)
    if joint is not None:
        groups, sse = joint.group_sizes(found, n_rows), joint.sse
    else:
        groups = _group_sizes(partition, found, sizes, n_rows, alike)
        sse = sum_of_squares(encoded, partition.entries, worth.weights)
    measures = assemble(losses, extents, replace(groups, n_starred=0) if has_stars else groups, worth, k, None)
    return replace(measures, sse=sse)


def _group_sizes(
    partition: Partition,
    found: Sequence[CellFacts],
    sizes: NDArray[np.int64],
    n_rows: int,
    alike: NDArray[np.int64] | None,
) -> GroupSizes:
    """Return the sizes of the groups that a release shows: groups with the same cells are one."""
    starred, exact = np.ones(len(sizes), dtype=bool), np.ones(len(sizes), dtype=bool)
    for facts, cells in zip(found, partition.cells, strict=True):
        exact &= facts.exact[cells.index]
        starred &= facts.starred[cells.index]
    merged = alike
    if merged is None:
        ranks = [facts.ranks[cells.index] for facts, cells in zip(found, partition.cells, strict=True)]
        merged = number_rows(ranks, [len(facts.ranks) for facts in found])
    by_cells = np.bincount(merged, weights=sizes).astype(np.int64)
    n_starred, n_exact = int(sizes[starred].sum()), int(sizes[exact].sum())
    return GroupSizes(by_cells[by_cells > 0], n_rows, int(sizes.sum()), n_starred, n_exact)


def _loss_in_partition(
    baseline: Baseline,
    attribute: Attribute,
    cells: Cells,
    ends: RangeEnds,
    sizes: NDArray[np.int64],
    n_suppressed: int,
) -> tuple[list[str], ColumnLoss, NDArray[np.bool_]]:
    """Return the released text of each distinct cell of an attribute, the loss of the column, and the exact cells."""
    texts = cell_texts(attribute, cells, ends)
    rows = np.bincount(cells.index, weights=sizes, minlength=len(texts)).astype(np.int64).tolist()
    cell_of = {values.normalise(text): i for i, text in enumerate(texts)}
    counts = {text: count for text, count in cell_counts(texts, rows).items() if count}

    def loss_of(text: str) -> ColumnLoss | Bounds:
        loss = baseline.read_cell(text, cells, cell_of[text], attribute.texts, ends)
        if loss is None:
            raise unreadable_cell(attribute.name, None)
        return loss

    exact = exact_cells(baseline, counts, map(values.normalise, texts))
    return texts, column_loss(baseline, counts, n_suppressed, loss_of), exact
