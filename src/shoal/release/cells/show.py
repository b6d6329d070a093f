"""What a release shows: the cells of a partition, decoded and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, Protocol

from shoal import metrics
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.ends import EXACT, Movement, RangeEnds, release_ends
from shoal.encoding.partition import Partition
from shoal.errors import InputError, Note, VerificationError
from shoal.metrics.partition_loss import Joint
from shoal.metrics.released_loss import label_losses
from shoal.metrics.research_value import Research
from shoal.metrics.singled import Singled, look_for_singled
from shoal.models import PrivacyModel
from shoal.release.cells.centers import Centers, find_centers
from shoal.release.cells.ends import about_ends
from shoal.release.counted_tables.dealing import dealing_of
from shoal.release.custom_models import check_custom_models
from shoal.release.notes import about_release, about_search
from shoal.release.release import Release, Request
from shoal.rules import CompiledRules
from shoal.schema import Schema
from shoal.tables.sources.memory import TableSource
from shoal.tables.table import Table

__all__ = ["JointGroups", "Shown", "ends_of", "make_release"]


class JointGroups(Joint, Protocol):
    """Groups that are not in memory."""

    @property
    def singled(self) -> Singled:
        """What the cells show of single rows."""


class Shown(NamedTuple):
    """What a release shows: the cells of a partition.

    Attributes:
        schema: The columns, with the kinds by which the table was encoded.
        encoded: The table as codes: values or, for a table that stays as it is, texts.
        partition: The groups and their cells.
        rules: The data constraint rules over the codes; None if no group mixes values.
        joint: The groups, if they are not in memory; those of the partition then only have the counts of each column.
        moves: How the ends of ranges move, if that is known already.
        centers: The centres of groups, if they are known already.
    """

    schema: Schema
    encoded: Encoded
    partition: Partition
    rules: CompiledRules | None
    joint: JointGroups | None = None
    moves: tuple[Movement, ...] | None = None
    centers: Centers | None = None


def ends_of(shown: Shown, request: Request) -> tuple[RangeEnds, ...]:
    """Return the ends of the released ranges of each quasi-identifier."""
    apart, choice = shown.rules.banned if shown.rules else None, request.ends or EXACT
    return release_ends(
        shown.encoded, shown.partition, shown.schema, choice, k=request.k, apart=apart, moves=shown.moves
    )


def make_release(
    table: Table,
    request: Request,
    models: tuple[PrivacyModel, ...],
    shown: Shown,
    population: Table | None,
    notes: list[Note],
    weights: Mapping[str, Fraction],
    research: Research | None = None,
) -> Release:
    """Decode the groups of a partition into cells, and measure their information loss."""
    schema, encoded, partition, rules, joint, _, centers = shown
    is_coded = any(column.codings for column in schema.columns)
    ends = ends_of(shown, request)
    if request.has_centers and centers is None:
        centers = find_centers(encoded, partition, center=request.center, spread=request.spread, k=request.k)
    shown_cells = None if centers is None else centers.texts
    released = decode(encoded, partition, schema, keep_order=request.keep_order, ends=ends, centers=shown_cells)
    notes = [*notes, *check_custom_models(models, encoded, released, schema)]
    trees = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None}
    floats = {name: float(weight) for name, weight in weights.items()}
    try:
        measures = metrics.measure_partition(
            encoded,
            partition,
            schema,
            ends=ends,
            k=request.k,
            weights=floats,
            rules=rules,
            research=research,
            original=table,
            alike=None if centers is None else centers.merged,
            joint=joint,
        )
    except InputError as error:  # our own release must be readable
        raise VerificationError(f"the release cannot be read back; nothing was written. {error}") from None
    if centers is not None:
        figures = {c.name: metrics.center_figures(table, released.table, c, schema.missing) for c in schema.qi}
        measures = replace(measures, centers=figures)
    singled, spread = Singled(), {} if centers is None else centers.spread_of(released)
    if centers is None:
        singled = joint.singled if joint else look_for_singled(encoded, partition, ends, request.k, floats)
    return Release(
        released.table,
        released.source_rows,
        table,
        TableSource(table),
        schema,
        request,
        measures,
        (
            *notes,
            *(note for tree in trees.values() for note in tree.notes),
            *about_release(table, released, schema, request, spread),
            *about_ends(singled, request, models),
            *about_search(partition.facts),
        ),
        labels={name: tree.values_under() for name, tree in trees.items()},
        population_labels={} if encoded.population is None else encoded.population.labels,
        label_losses={name: label_losses(tree) for name, tree in trees.items()},
        ends=released.bounds,
        groups=None if centers is None else centers.by_source(encoded, table.height),
        spread=spread,
        singled=singled,
        # The bound holds for releases of all rows as they are, with equal weights.
        encoded=None if request.suppression_limit or weights or is_coded else encoded,
        entries=partition.entries if request.bound else None,
        paths={c.name: c.hierarchy.rows for c in encoded.sensitive if c.hierarchy is not None},
        ladders={name: tree.rows for name, tree in trees.items()},
        population=population,
        levels=partition.levels,
        search=partition.facts,
        recoding=dealing_of(encoded, partition, released, None if centers is None else centers.spread_by_name(schema)),
    )
