"""Releases whose tuples and groups stay with the engine that counts them; here are only the counts of single columns.

Everything that depends on the counts of single columns alone (kinds, dictionaries, prices, ends of ranges, losses) is
computed from a stand-in: a table of few weighted rows in which every value of every column has its count. What depends
on several columns at once is counted by the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.partition import SET, SUPPRESSION, Cells, Entries, Partition
from shoal.errors import InfeasibleError, InputError, Note
from shoal.methods import sections
from shoal.methods.base import Run, check_models
from shoal.methods.shoaling.pricing import price_table
from shoal.methods.shoaling.problem import prepare
from shoal.methods.shoaling.search import SectionPlan, Shoaling, suited
from shoal.methods.shoaling.steps import EFFORTS
from shoal.models import Basis, Distributions
from shoal.release.cells.show import JointGroups, Shown, make_release
from shoal.release.counted_tables.centered import Centered, stand_in_centers, text_ranks
from shoal.release.counted_tables.code_counts import CodeCounts, Judged, PopulationCounter, UnitSearcher
from shoal.release.counted_tables.dealing import coding_of
from shoal.release.counted_tables.duck_search import DuckSearcher
from shoal.release.counted_tables.outliers import Outliers
from shoal.release.counted_tables.section_search import SectionSearch
from shoal.release.counted_tables.targets import twins_in
from shoal.release.make import Plan, check_bans, plan_run
from shoal.release.release import Release
from shoal.report.public import public_column
from shoal.rules import compile_rules
from shoal.schema import Role, Schema
from shoal.tables.sources.base import Dealing, Source
from shoal.tables.sources.dealing import Engine
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.job import Job

__all__ = ["Found", "InPlace", "Searcher", "cells_of", "couple", "plan_in_place"]

IN_SECTIONS = frozenset(
    {Basis.SIZE, Basis.HISTOGRAM, Basis.PERSONAL_K, Basis.POPULATION}
)  # what judges a group by itself
Flags = Sequence[NDArray[np.bool_]]  # for each attribute, one for each distinct cell


class Found(JointGroups, Protocol):
    """The groups of all sections, where the engine keeps them."""

    @property
    def cells(self) -> Sequence[tuple[list[str], NDArray[np.int64]]]:
        """For each attribute, the keys of its distinct cells (see `cell_keys`), and the rows that show each."""

    def count_rows(self, chosen: Sequence[Flags]) -> list[int]:
        """Count the rows whose cells are all chosen; several choices together."""

    def ranked(self, ranks: Sequence[NDArray[np.int32]]) -> object:
        """Return the groups with the ranks of their cells, for dealing; ranks: by attribute, one for each cell."""


@runtime_checkable
class Searcher(Protocol):
    """A source that searches the sections of its table itself."""

    @property
    def searches(self) -> bool:
        """Whether it does."""

    def count_columns(self, names: Sequence[str]) -> Mapping[str, tuple[pl.Series, NDArray[np.int64]]]:
        """Return the distinct cells of columns, in order, and their counts."""

    def count_tuples(self, codes: Mapping[str, tuple[pl.Series, NDArray[np.int32]]]) -> tuple[int, int]:
        """Count the table by codes; return the number of tuples, and the rows of the rarest."""

    def search_sections(self, search: SectionSearch, largest: int) -> Found:
        """Cut the tuples or units that were counted last into sections of at most so many, and search each."""


@dataclass(frozen=True)
class InPlace:
    """A run that was planned from the counts of single columns.

    Attributes:
        plan: The run up to its search, on the stand-in.
        source: The table.
        search: What searches a section.
        job: The job.
        refusal: Why limits may be too narrow, if no plan of windows keeps to them.
    """

    plan: Plan
    source: Searcher
    search: SectionSearch
    job: Job
    refusal: InfeasibleError | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return self.plan.table.n_rows

    def release(self) -> Release:
        """Search, and return the release; its cells have the counts of each column, its rows are nobody's."""
        plan = self.plan
        try:
            found = self.source.search_sections(self.search, sections.LARGEST_SECTION)
        except InfeasibleError as error:
            raise self.refusal or error from None
        plan.run.stage("measuring")
        shown = _show(plan, found)
        table = replace(plan.table, frame=plan.table.frame.select([c.name for c in shown.schema.qi]), _factors={})
        release = make_release(table, plan.request, plan.models, shown, plan.population, plan.notes, plan.run.weights)
        release = replace(release, schema=plan.schema, settings=self.job.settings)
        release = replace(release, encoded=None, entries=None, groups=None)
        if isinstance(found, Judged):
            check_bans(plan.method, found.verdicts)
            release = replace(release, rules=found.verdicts)
        dealing = release.recoding
        assert isinstance(dealing, Dealing)
        ranks, exact, starred = text_ranks(dealing, len(plan.schema.qi)) if shown.centers else ([], [], [])
        for column, cells in zip(plan.schema.qi, shown.partition.cells, strict=True) if not shown.centers else ():
            texts, of_groups = dealing.cells[column.name]
            rank = np.empty(len(cells.form), dtype=np.int32)
            rank[cells.index] = of_groups
            ranks.append(rank)
            exact.append(public_column(release, column)[1][rank])
            starred.append((texts == SUPPRESSION).to_numpy()[rank])
        n_exact, n_starred = found.count_rows([exact, starred])
        none = np.empty(0, dtype=np.int32)
        recoding = replace(
            dealing,
            codes={**dealing.codes, **coding_of(plan.encoded)[1]},
            tuples=none.reshape(0, len(plan.schema.qi)),
            entries=(none, none.astype(np.int64), none),
            cells={name: (texts, none) for name, (texts, _) in dealing.cells.items()},
            searched=found.ranked(ranks),
        )
        return replace(release, recoding=recoding, joint=(n_exact, n_starred))


def plan_in_place(
    source: Source,
    schema: Schema,
    job: Job,
    outliers: Outliers,
    revealing: Callable[[], list[Note]] | None = None,
) -> InPlace | None:
    """Plan a run whose sections the engine searches; None if it cannot, or if the table is a single section."""
    import polars as pl

    method = job.method
    searcher = DuckSearcher(source) if isinstance(source, Engine) else source
    if not isinstance(searcher, Searcher) or not searcher.searches or not _is_in_reach(searcher, schema, job):
        return None
    assert isinstance(method, Shoaling)
    names = [column.name for column in schema.qi]
    names += dict.fromkeys([*(name for m in job.models for name in m.columns), *schema.names(Role.PERSONAL_K)])
    columns = searcher.count_columns(names)
    outliers.recode()  # the plan recodes the stand-in itself
    if prod(len(texts) for texts, _ in columns.values()) <= sections.LARGEST_SECTION:
        return None
    places, weights = couple([counts for _, counts in columns.values()])
    cells = {name: texts.gather(place) for (name, (texts, _)), place in zip(columns.items(), places, strict=True)}
    table = Table(pl.DataFrame(cells), notes=source.notes, weights=weights, dialect=source.dialect)
    narrow = replace(schema, columns=tuple(column for column in schema.columns if column.name in names))
    accepted = tuple(name for name in job.request.accept_unique if name in names)
    request = replace(job.request, accept_unique=accepted)
    counts = CodeCounts(searcher)
    try:
        plan = plan_run(
            table,
            narrow,
            request,
            method,
            job.models,
            job.run,
            job.hierarchies,
            job.settings.population_table(),
            twins_of=twins_in(source, schema, job.request.target),
            revealing=revealing,
            must_search=True,
            pairs_of=counts.pairs,
        )
    except InputError as error:  # the rows of the stand-in are not those of the table
        raise error.without_rows() from None
    encoded, limits = plan.encoded, plan.run.limits
    counts.check_population(encoded)
    if any(limit.most for limit in limits):  # a plan of sets lends single rows
        return None
    k = max(model.minimum_size for model in plan.models)
    n_tuples, rarest = counts.of(encoded)
    # The same sections as in memory. Sections of units are asked whether they fail; those of tuples must have k rows.
    too_large = not encoded.counted and k > sections.LARGEST_SECTION // sections.SMALLEST_SHARE
    if n_tuples <= sections.LARGEST_SECTION or too_large:
        return None
    refusal = counts.check_limits(plan) if limits else None
    check_models(method, encoded, plan.models)
    plan = replace(plan, encoded=counts.completed(encoded))
    search = _plan_search(plan, k, n_tuples)
    # It may be released as it is.
    if rarest >= k and not limits and not search.by_population and not counts.fail(search):
        return None
    return InPlace(plan, searcher, search, job, refusal)


def _plan_search(plan: Plan, k: int, n_tuples: int) -> SectionSearch:
    """Return what searches a section of a table of so many tuples or units."""
    encoded, method = plan.encoded, plan.method
    assert isinstance(method, Shoaling)
    given = plan.run
    run = Run(seed=given.seed, weights=given.weights, rules=given.rules, limits=given.limits, twins=given.twins)
    pricing = price_table(encoded.attributes, encoded.histograms, k, run, alpha=method.alpha)
    effort = suited(EFFORTS[method.effort], prepare(encoded, k, plan.models, run, pricing=pricing), n_tuples)
    sensitive = tuple(replace(column, totals=column.count(encoded.weights)) for column in encoded.sensitive)
    return SectionSearch(
        method,
        SectionPlan(pricing, Distributions.of(encoded), effort, k, 1),
        replace(encoded, dictionaries=(), others={}, counted=(), sensitive=sensitive),
        plan.models,
        run,
        plan.schema,
        plan.request.ends or "",
        plan.request.k,
        plan.request.center if plan.request.has_centers else "",
        plan.request.spread,
    )


def _is_in_reach(source: Searcher, schema: Schema, job: Job) -> bool:
    """Say whether a section can be searched without the rows of the others."""
    method, request, run = job.method, job.request, job.run
    if not isinstance(method, Shoaling) or method.non_overlapping or method.by_variance:
        return False
    is_limited = any(any(column.limits) for column in schema.qi)
    if schema.names(Role.PERSON) or (is_limited and schema.names(Role.PERSONAL_K)):
        return False
    if any(model.basis not in IN_SECTIONS for model in job.models):
        return False
    if request.suppression_limit or request.bound:
        return False
    if job.settings.population is not None and not isinstance(source, PopulationCounter):
        return False
    beyond_tuples = job.models or is_limited or schema.names(Role.PERSONAL_K) or run.rules or run.derive_weights
    return isinstance(source, UnitSearcher) or not beyond_tuples


class Coupled(NamedTuple):
    """Few weighted rows with the counts of several columns.

    Attributes:
        places: For each column, the value of each row.
        weights: How often each row occurs.
    """

    places: list[NDArray[np.int64]]
    weights: NDArray[np.int64]


def couple(counts: Sequence[NDArray[np.int64]]) -> Coupled:
    """Return rows in which each value of each column has its count; values ascend from row to row.

    Args:
        counts: For each column, the count of each value. All columns have the same total.
    """
    ends = [np.cumsum(each) for each in counts]
    borders = np.unique(np.concatenate(ends))
    borders = borders[borders > 0]
    places = [np.searchsorted(each, borders) for each in ends]
    return Coupled(places, np.diff(borders, prepend=0).astype(np.int64))


def cells_of(keys: Sequence[str]) -> Cells:
    """Return distinct cells from their keys; see `cell_keys`."""
    parts = [key.split(":") for key in keys]
    form, low, high = (np.array([int(part[i]) for part in parts], dtype=np.int32) for i in range(3))
    sets = [[int(code) for code in part[3].split(",")] if part[3] else [] for part in parts]
    assert all(bool(members) == (kind == SET) for members, kind in zip(sets, form.tolist(), strict=True))
    return Cells(
        index=np.arange(len(keys), dtype=np.int32),
        form=form.astype(np.int8),
        low=low,
        high=high,
        starts=np.cumsum([0, *map(len, sets)]).astype(np.int64),
        members=np.array([code for members in sets for code in members], dtype=np.int32),
    )


def _show(plan: Plan, found: Found) -> Shown:
    """Return the cells of all groups over a stand-in of the table and the release together."""
    encoded = plan.encoded
    histograms, shown = encoded.histograms, [rows for _, rows in found.cells]
    of_centers = found.shown if plan.request.has_centers and isinstance(found, Centered) else []
    places, weights = couple([*histograms, *shown, *(rows for _, rows in of_centers)])
    codes = np.column_stack(places[: len(histograms)]).astype(np.int32)
    tuples, of_rows = np.unique(codes, axis=0, return_inverse=True)
    row_tuple: NDArray[np.int32] = of_rows.reshape(-1).astype(np.int32)
    every = np.arange(len(weights), dtype=np.int32)
    table = replace(
        encoded,
        tuples=np.ascontiguousarray(tuples),
        counts=np.bincount(row_tuple, weights=weights).astype(np.int64),
        row_tuple=row_tuple,
        order=np.minimum(every, plan.table.height - 1).astype(np.int64),
        weights=weights,
        others={},
        counted=(),
    )
    cells = tuple(
        replace(cells_of(keys), index=place.astype(np.int32))
        for (keys, _), place in zip(found.cells, places[len(histograms) :], strict=False)
    )
    partition = Partition(Entries(row_tuple, weights, every), cells, weights=weights)
    schema = replace(plan.schema, columns=tuple(plan.schema.qi))
    rules, centers = compile_rules(plan.run.rules, encoded.attributes), None
    if isinstance(found, Centered) and of_centers:
        centers = stand_in_centers(found, places[len(histograms) + len(shown) :], schema, plan.request)
    return Shown(schema, table, partition, rules, found, centers)
