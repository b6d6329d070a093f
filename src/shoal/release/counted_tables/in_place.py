"""Releases whose tuples and groups stay with the engine that counts them; here are only the counts of single columns.

Everything that depends on the counts of single columns alone (kinds, dictionaries, prices, ends of ranges, losses) is
computed from a stand-in: a table of few weighted rows in which every value of every column has its count. What depends
on several columns at once is counted by the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from shoal.encoding.ends import EXACT, movements
from shoal.encoding.partition import SUPPRESSION
from shoal.encoding.windows import plan_windows
from shoal.errors import InfeasibleError, InputError, Note
from shoal.methods import sections
from shoal.methods.base import Run, check_models
from shoal.methods.registry import DEFAULT
from shoal.methods.shoaling.nested_ranges import in_halves
from shoal.methods.shoaling.problem import Extent
from shoal.methods.suppression.all_groups import never_exceed
from shoal.release.cells.show import make_release
from shoal.release.counted_tables.centered import text_ranks
from shoal.release.counted_tables.code_counts import CodeCounts
from shoal.release.counted_tables.dealing import coding_of
from shoal.release.counted_tables.duck.search import DuckSearcher
from shoal.release.counted_tables.outliers import Outliers
from shoal.release.counted_tables.reach import heeds_own_k, is_in_reach, leaves_groups, sectioning_of
from shoal.release.counted_tables.searcher import Judged, RegionCounter, Searcher
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.release.counted_tables.sections.single_dimensional import SingleSections
from shoal.release.counted_tables.sections.windows import CodeWindows
from shoal.release.counted_tables.stand_in import Measured, couple, show_found
from shoal.release.counted_tables.targets import twins_in
from shoal.release.make import Plan, check_bans, plan_run
from shoal.release.release import Release
from shoal.report.public import JointFigures, public_column
from shoal.schema import Role, Schema
from shoal.tables.formats.memory_limit import give_back
from shoal.tables.sources.base import Dealing, Source
from shoal.tables.sources.dealing import Engine
from shoal.tables.table import Table
from shoal.tables.values.people import People

if TYPE_CHECKING:
    from shoal.release.job import Job

__all__ = ["InPlace", "plan_in_place"]


@dataclass(frozen=True)
class InPlace:
    """A run that was planned from the counts of single columns.

    Attributes:
        plan: The run up to its search, on the stand-in.
        source: The table.
        search: What searches a section.
        job: The job.
        refusal: Why limits may be too narrow, if no plan of windows keeps to them.
        people: The column of people.
    """

    plan: Plan
    source: Searcher
    search: SectionSearch
    job: Job
    refusal: InfeasibleError | None = None
    people: People | None = None

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
        give_back()
        plan.run.stage("measuring")
        groups = Measured(found)
        shown = show_found(plan, found, groups, self.search.moves)
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
        columns = [] if shown.centers else [public_column(release, column) for column in plan.schema.qi]
        for (public, shows_one), cells in zip(columns, shown.partition.cells, strict=False):
            texts, of_groups = dealing.cells[public.name]
            rank = np.empty(len(cells.form), dtype=np.int32)
            rank[cells.index] = of_groups
            ranks.append(rank)
            exact.append(shows_one[rank])
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
            people=self.people,
        )
        assert groups.sizes is not None
        figures = JointFigures(n_exact, n_starred, groups.sizes, tuple(public for public, _ in columns))
        return replace(release, recoding=recoding, joint=figures)


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
    if not isinstance(searcher, Searcher) or not is_in_reach(searcher, schema, job):
        return None
    names = [column.name for column in schema.qi]
    names += dict.fromkeys([*(name for m in job.models for name in m.columns), *schema.names(Role.PERSONAL_K)])
    columns = searcher.count_columns(names)
    people = next((People(name, tuple(schema.missing)) for name in schema.names(Role.PERSON)), None)
    counts = CodeCounts.by(searcher, names, people)
    outliers.recode()  # the plan recodes the stand-in itself
    most = prod([*(len(texts) for texts, _ in columns.values()), *counts.people_by.values()])
    if most <= sections.LARGEST_SECTION:
        return None
    places, weights = couple([counts for _, counts in columns.values()])
    cells = {name: texts.gather(place) for (name, (texts, _)), place in zip(columns.items(), places, strict=True)}
    table = Table(pl.DataFrame(cells), notes=source.notes, weights=weights, dialect=source.dialect)
    narrow = replace(schema, columns=tuple(column for column in schema.columns if column.name in names))
    accepted = tuple(name for name in job.request.accept_unique if name in names)
    request = replace(job.request, accept_unique=accepted)
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
            joint=counts,
        )
    except InputError as error:  # the rows of the stand-in are not those of the table
        raise error.without_rows() from None
    encoded, limits = plan.encoded, plan.run.limits
    if people is not None and not never_exceed(plan.models, encoded.n_rows):  # only the groups of all rows tell
        return None
    counts.check_population(encoded)
    k = max(model.minimum_size for model in plan.models)
    found = counts.of(encoded)
    # The same sections as in memory. Sections of units are asked whether they fail; those of tuples must have k rows.
    by_units = bool(encoded.counted) or people is not None
    large_k = not by_units and k > sections.LARGEST_SECTION // sections.SMALLEST_SHARE
    too_large = large_k and method.name == DEFAULT
    if found.units <= sections.LARGEST_SECTION or too_large:
        return None
    refusal, windows, most_gone = None, None, plan.run.most_suppressed(encoded.n_rows)
    by_window = bool(limits) and method.name != DEFAULT
    suppresses = leaves_groups(method, is_limited=bool(limits))  # otherwise limits alone leave rows out
    heeds = heeds_own_k(method, is_limited=bool(limits))
    leaving = asking = LeavingBefore.of(encoded, plan.models, most_gone if heeds else 0)
    if limits:
        limited = counts.limited(plan)
        if by_window:
            windows = counts.plan_windows(limited, limits)
            if windows is None:
                return None
        else:
            refusal = counts.check_limits(limited, limits)
        if asking is not None:  # windows are planned for the others
            limited, most_gone = counts.limited(plan, asking.largest_k), most_gone - asking.rows
        labels = plan_windows(limited.encoded, limits, k) if windows is None else windows.labels
        without_room = LeavingBefore.of_limits(limited.encoded, limits, labels, most_gone)
        leaving = without_room if asking is None else asking.besides(without_room)
    if windows is None:  # otherwise each window is checked
        check_models(method, encoded if asking is None else encoded.part(asking.stays(encoded)), plan.models)
    most = plan.run.most_suppressed(encoded.n_rows) - (leaving.rows if leaving else 0)
    most = max(0, most) if suppresses and not getattr(method, "by_variance", False) else 0
    extent = Extent(found.units, found.tuples, people is not None)
    search = _plan_search(plan, extent, windows, leaving, most)
    # It may be released as it is.
    if found.rarest >= k and not limits and not search.by_population and not counts.fail(search):
        return None
    if isinstance(search.plan, SingleSections):
        assert isinstance(searcher, RegionCounter)
        search = replace(search, plan=search.plan.cut(searcher, plan.run))
    return InPlace(plan, searcher, search, job, refusal, people)


def _plan_search(
    plan: Plan,
    extent: Extent,
    windows: CodeWindows | None,
    leaving: LeavingBefore | None,
    most: int,
) -> SectionSearch:
    """Return what searches a section of a table of so many tuples or units.

    Args:
        plan: The run up to its search.
        extent: The size of the table.
        windows: What may share a group, if the method does not keep to limits itself.
        leaving: Which rows are suppressed before the search.
        most: How many others may be suppressed.
    """
    encoded, method, models, given, request = plan.encoded, plan.method, plan.models, plan.run, plan.request
    sectioning = sectioning_of(method)
    assert sectioning is not None
    halved = in_halves(encoded) if getattr(method, "non_overlapping", False) else None
    run = Run(seed=given.seed, weights=given.weights, rules=given.rules, limits=given.limits, twins=given.twins)
    sensitive = tuple(replace(column, totals=column.count(encoded.weights)) for column in encoded.sensitive)
    whole = replace(encoded, dictionaries=(), others={}, counted=(), sensitive=sensitive)
    moves = movements(whole, plan.schema, request.ends or EXACT, request.k)
    if extent.by_person:  # later, nobody may be there to count people
        for move in moves:
            move.prepare()
    planned = replace(run, suppression_limit=given.suppression_limit)
    return SectionSearch(
        method,
        sectioning.of(method, halved or encoded, models, planned, extent, windows, leaving),
        whole,
        models,
        run,
        plan.schema,
        request.ends or "",
        request.k,
        moves,
        by_person=extent.by_person,
        most=most,
        leaving=leaving,
        center=request.center if request.has_centers else "",
        spread=request.spread,
        halved=halved.attributes if halved else (),
    )
