"""Shoaling: grow groups of the nearest rows, then let rows change places as long as that lowers the loss."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import InfeasibleError, UsageError, setting
from shoal.methods import sections
from shoal.methods.base import Run, check_models, check_rows_left, failing_groups
from shoal.methods.mondrian import Mondrian
from shoal.methods.options import read_flag, read_share
from shoal.methods.sections import Tree, TupleSection
from shoal.methods.shoaling.block import Part
from shoal.methods.shoaling.grouping import Grouping, no_groups, repair
from shoal.methods.shoaling.level_cover import covered
from shoal.methods.shoaling.limits.planned import have_room, in_windows
from shoal.methods.shoaling.nested_ranges import in_halves, nested_partition
from shoal.methods.shoaling.pricing import Pricing, price_table
from shoal.methods.shoaling.problem import Problem, SectionPlan, in_sections, prepare, suited
from shoal.methods.shoaling.steps import EFFORTS, EFFORTS_BY_VARIANCE, Effort, Search
from shoal.methods.shoaling.unsteered import Excess, Found, search_under, steering
from shoal.methods.suppression import leave_out, leave_out_greedy, spread
from shoal.methods.suppression.all_groups import check_sample, judge_sections
from shoal.methods.suppression.leaving import SectionRows, leave_sections
from shoal.metrics.variance import Grid
from shoal.models import Distributions, PrivacyModel

__all__ = ["Shoaling"]

Labels = NDArray[np.int32]

CYCLES_OF_FEWER = 2  # further cycles if groups were given up because there were too many
OBJECTIVES = ("ncp", "variance")
CUT = 1  # the index of Mondrian's cut among the starts


@dataclass(frozen=True)
class Shoaling:
    """Our own method: agglomeration in blocks, then moves and swaps between groups.

    Cost: about O(q m) for m distinct tuples and q attributes, with a large constant that grows with k, because tuples
    only meet inside their block. A table of very many tuples is searched section by section. The result does not depend
    on the number of threads.

    Attributes:
        effort: "fast", "normal" or "high": how long to search for less loss.
        objective: What to minimise. "ncp": the width of the released cells. "variance": the sum of squares inside
            groups over standardised columns, which is what is lost if a group releases its means.
        alpha: Balance in [0, 1] of the loss against data constraint rules. At 0.5, a group that breaks all rules of an
            attribute pays as much as for suppressing it; at 1 rules do not count; at 0 only rules count.
        non_overlapping: Whether ranges of a number or date never partly overlap; they are then halves, quarters and so
            on of its rows.

    >>> Shoaling(effort="fast").name
    'shoaling'
    """

    effort: str = "normal"
    objective: str = "ncp"
    alpha: float = 0.5
    non_overlapping: bool = False

    name: ClassVar[str] = "shoaling"

    def __post_init__(self) -> None:
        if self.effort not in EFFORTS:
            raise UsageError(
                f"method 'shoaling': {setting('effort', self.effort)} is not known. Use {', '.join(EFFORTS)}."
            )
        if self.objective not in OBJECTIVES:
            raise UsageError(f"method 'shoaling': objective {self.objective!r} is not known. Use ncp or variance.")
        object.__setattr__(self, "alpha", read_share(self.name, "alpha", self.alpha))
        object.__setattr__(self, "non_overlapping", read_flag(self.name, "non_overlapping", self.non_overlapping))
        if self.non_overlapping and self.by_variance:
            raise UsageError(
                "method 'shoaling': non_overlapping does not support objective=variance, which forms groups around "
                "their means. Leave out one of the two."
            )

    @property
    def by_variance(self) -> bool:
        """Whether the search lowers the sum of squares inside groups."""
        return self.objective == "variance"

    @property
    def first_effort(self) -> Effort:
        """How long to search, before this is suited to a table."""
        return (EFFORTS_BY_VARIANCE if self.by_variance else EFFORTS)[self.effort]

    def price(self, encoded: Encoded, k: int, run: Run) -> Pricing:
        """Price a table, or lay it out as points if the search lowers the sum of squares inside groups."""
        attributes, histograms = encoded.attributes, encoded.histograms
        grid = Grid.of(attributes, histograms, run.weights) if self.by_variance else None
        return replace(price_table(attributes, histograms, k, run, alpha=self.alpha), grid=grid)

    def check_table(self, encoded: Encoded) -> None:
        """Refuse ranges that do not overlap for a table with a population: their labels are not those of its values."""
        if self.non_overlapping and encoded.population is not None:
            raise UsageError(
                f"method 'shoaling': non_overlapping does not support a population ({setting('population')}). Leave "
                "out one of the two, or use mondrian."
            )

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups that pass all models; suppress the most expensive rows within the suppression limit."""
        if self.by_variance and any(not rule.ban for rule in run.rules):
            raise UsageError(
                "method 'shoaling': objective=variance does not weigh rules against the loss. Make every rule a ban "
                "(ban = true), leave the rules out, or use objective=ncp."
            )
        most = run.most_suppressed(encoded.n_rows)
        stays = leave_out_greedy(encoded, models, most)
        if run.limits:
            planned = have_room(encoded, stays, run.limits, models)
            if int(encoded.row_weights[~planned].sum()) <= most:  # else the search may find more than the plan
                stays = planned
            check_rows_left(self.name, np.where(stays, 0, -1).astype(np.int32))
        searched = in_halves(encoded) if self.non_overlapping else encoded
        part = searched if stays.all() else searched.part(stays)
        k = check_models(self, part, models)
        # A suppressed row loses all of its squared distance from the mean, more than it costs in almost any group.
        left = 0 if self.by_variance else most - int((~stays).sum())
        if left <= 0 and stays.all() and not self.non_overlapping:
            problem, grouping = self._find(part, k, models, run)
            run.progress(1.0)
            return tight_partition(encoded, grouping.entries(problem))

        def group(part: Encoded) -> Labels:
            problem, grouping = self._find(part, k, models, run)
            return grouping.labels(problem)

        def regroup(part: Encoded) -> Labels | None:
            try:
                return group(part)
            except InfeasibleError:  # without these rows, some limit cannot be kept
                if not run.limits:
                    raise
                return None

        labels = self._leave_sections(searched, stays, k, models, run, left)
        if labels is None:
            labels = spread(leave_out(part, models, group(part), k, left, regroup), stays)
        run.progress(1.0)
        return nested_partition(encoded, searched, labels) if self.non_overlapping else tight_partition(encoded, labels)

    def _find(self, encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run) -> Found:
        """Return the problem and groups that pass the models."""
        if len(steering(models)) == len(models):
            problem, grouping = self._search(encoded, k, models, run)
        else:
            problem, grouping = self._search_sections(encoded, k, models, run) or search_under(
                encoded,
                models,
                run,
                k,
                lambda least, excess: self._search(encoded, least, steering(models), run, excess),
                lambda problem: cut(encoded, problem, models, run),
            )
        grouping = grouping.condensed(problem)
        closed = all(model.closed for model in models)
        if not closed and failing_groups(encoded, models, grouping.entries(problem)).any():
            raise InfeasibleError(no_groups(models))
        return problem, grouping

    def _search(
        self,
        encoded: Encoded,
        k: int,
        models: tuple[PrivacyModel, ...],
        run: Run,
        excess: Excess | None = None,
    ) -> Found:
        """Return groups that pass the models, and not too many as far as possible; a large table in sections."""
        with self._posed(encoded, k, models, run) as (search, pricing):
            if _is_section(search.problem):
                return search.problem, self._improve(encoded, models, search, excess)
            return search.problem, self._group_sections(encoded, models, search, pricing, excess)

    def _search_sections(self, encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run) -> Found | None:
        """Return groups under models of all groups; None if the table is one section, or must be judged as a whole."""
        if not judge_sections(models, k):
            return None
        with self._posed(encoded, k, models, run) as (search, pricing):
            if _is_section(search.problem):
                return None
            return search.problem, self._group_sections(encoded, models, search, pricing)

    @contextmanager
    def _posed(
        self, encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], run: Run
    ) -> Iterator[tuple[Search, Pricing]]:
        """Pose the problem of a table, with threads for its search; yield its prices as well."""
        pricing = self.price(encoded, k, run)
        problem = prepare(encoded, k, steering(models), run, pricing=pricing)
        effort = suited(self.first_effort, problem.prices, problem.extent)
        with ThreadPoolExecutor(max_workers=max(1, run.threads)) as pool:
            yield Search(problem, effort, run, pool), pricing

    def _leave_sections(
        self,
        encoded: Encoded,
        stays: NDArray[np.bool_],
        k: int,
        models: tuple[PrivacyModel, ...],
        run: Run,
        most: int,
    ) -> Labels | None:
        """Return the group of each row of a large table, -1 if it is suppressed; None if the table is one section.

        Prices and sections are those of all rows. Those that do not stay are left out of the search.
        """
        if (most <= 0 and stays.all()) or not judge_sections(models, k):
            return None
        with self._posed(encoded, k, models, run) as (search, pricing):
            problem = search.problem
            if _is_section(problem):
                return None
            tree, plan = self._cut(encoded, models, search, pricing, stays)

            def work(section: TupleSection, number: int) -> SectionRows:
                def group(part: Encoded) -> Labels:
                    posed, found = self.group_section(plan, part, models, search, number)
                    return found.condensed(posed).labels(posed)

                inside = section.holds(problem.row_tuple)
                part, own = encoded.section(inside), stays[inside]
                labels = group(part if own.all() else part.part(own))
                return SectionRows(np.flatnonzero(inside), part, spread(labels, own), group)

            parts = tree.work(work)
            is_passing = not any(failing_groups(each.part, models, each.labels).any() for each in parts)
            labels = leave_sections(encoded, models, parts, k, most) if is_passing else None
            if labels is None:
                raise InfeasibleError(no_groups(models))
            return labels

    def _group_sections(
        self,
        encoded: Encoded,
        models: tuple[PrivacyModel, ...],
        search: Search,
        pricing: Pricing,
        excess: Excess | None = None,
    ) -> Grouping:
        """Return the groups of a large table, section by section."""
        tree, plan = self._cut(encoded, models, search, pricing)

        def work(section: TupleSection, number: int) -> Part:
            part = encoded.section(section.holds(search.problem.row_tuple))
            _, found = self.group_section(plan, part, models, search, number, excess)
            return section.tuples[found.tuples].astype(np.int32), found.rows, found.groups

        return Grouping.joined(tree.work(work))

    def _cut(
        self,
        encoded: Encoded,
        models: tuple[PrivacyModel, ...],
        search: Search,
        pricing: Pricing,
        stays: NDArray[np.bool_] | None = None,
    ) -> tuple[Tree[TupleSection], SectionPlan]:
        """Cut a large table into sections in which some grouping passes the models; return what they share as well."""
        check_sample(models, encoded.n_rows)
        problem = search.problem

        def fails(section: TupleSection) -> bool:
            inside = section.holds(problem.row_tuple)
            inside = inside if stays is None else inside & stays
            if not inside.any():
                return True
            try:
                check_models(self, encoded.section(inside), models)
            except InfeasibleError:
                return True
            return False

        plan = SectionPlan(pricing, Distributions.of(encoded), search.effort, problem.k, 1)
        tree = in_sections(problem, plan).whole_where(fails)
        return tree, replace(plan, n_sections=tree.n_leaves)

    def group_section(
        self,
        plan: SectionPlan,
        part: Encoded,
        models: tuple[PrivacyModel, ...],
        search: Search,
        number: int,
        excess: Excess | None = None,
    ) -> Found:
        """Return the problem of one section of a large table, and its groups; every engine works on sections by this.

        Args:
            plan: What belongs to the whole table.
            part: The rows of the section, or their counts.
            models: The models.
            search: Its run and pool are used.
            number: The number of the section.
            excess: How many groups too many there are, if a model limits them.
        """
        steer = steering(models)

        def find(least: int, excess: Excess | None) -> Found:
            posed = prepare(part, least, steer, search.run, pricing=plan.pricing, distributions=plan.whole)
            own = replace(search, effort=plan.effort).of_section(posed, number, plan.n_sections)
            return posed, self._improve(part, steer, own, excess)

        if len(steer) == len(models):
            return find(plan.k, excess)
        return search_under(
            part, models, search.run, plan.k, find, lambda problem: cut(part, problem, models, search.run)
        )

    def _improve(
        self, encoded: Encoded, models: tuple[PrivacyModel, ...], search: Search, excess: Excess | None
    ) -> Grouping:
        """Return the groups of a table, or of a section of it."""
        if search.problem.space is not None:
            return self._gather(encoded, models, search)
        problem, run = search.problem, search.run
        start = grouping = self._start(encoded, models, search)
        if excess is not None:
            search, grouping = search.start_with_fewer(grouping, excess)
        for cycle in range(search.effort.cycles + (CYCLES_OF_FEWER if search.charge else 0)):
            grouping = search.improve(grouping, cycle)
        if excess is not None:
            search, grouping = search.give_up(grouping, excess)
        if problem.free:
            return grouping
        planned = in_windows(encoded, problem, models, run)
        return repair(encoded, problem, models, grouping, planned) or start

    def _gather(self, encoded: Encoded, models: tuple[PrivacyModel, ...], search: Search) -> Grouping:
        """Return groups with a low sum of squares."""
        problem, run = search.problem, search.run
        planned = in_windows(encoded, problem, models, run)
        starts = [search.scatter() if problem.free else search.grow(Grouping.of_tuples(problem))]
        if not run.limits:
            starts.append(cut(encoded, problem, models, run))
            starts += [search.mix()] if len(problem.requirement.facts) else []
        elif planned is not None:
            starts.append(planned)
        passing = [start if problem.free else repair(encoded, problem, models, start, planned) for start in starts]
        if not any(passing):
            raise InfeasibleError(no_groups(models))
        start = min((each for each in passing if each), key=lambda each: each.cost(problem))
        grouping = search.gather(start)
        return grouping if problem.free else repair(encoded, problem, models, grouping, planned) or start

    def _start(self, encoded: Encoded, models: tuple[PrivacyModel, ...], search: Search) -> Grouping:
        """Return the cheapest groups among several ways to form them."""
        problem, run = search.problem, search.run
        if run.limits:
            return self._start_in_windows(encoded, models, search)
        starts = [search.grow(Grouping.of_tuples(problem)), cut(encoded, problem, models, run)]
        if len(problem.requirement.facts):
            starts.append(search.mix())
        if any(attribute.tree is not None for attribute in encoded.attributes):
            halvings = search.effort.halvings if any(a.ordered for a in encoded.attributes) else (0,)
            starts += [covered(encoded, problem, run, n) for n in halvings]
        passing = [start if problem.free else repair(encoded, problem, models, start) for start in starts]
        if not any(passing):
            raise InfeasibleError(no_groups(models))
        dissolved = [start if i == CUT else search.dissolve(start, 0) for i, start in enumerate(passing) if start]
        return min(dissolved, key=lambda start: start.cost(problem))

    def _start_in_windows(self, encoded: Encoded, models: tuple[PrivacyModel, ...], search: Search) -> Grouping:
        """Return the cheaper groups that keep to the limits: grown ones, or those inside planned windows."""
        problem = search.problem
        planned = in_windows(encoded, problem, models, search.run)
        starts = [search.grow(Grouping.of_tuples(problem)), *([] if planned is None else [planned])]
        passing = [repair(encoded, problem, models, start, planned) for start in starts]
        if not any(passing):
            raise InfeasibleError(no_groups(models))
        dissolved = [search.dissolve(start, 0) for start in passing if start]
        return min(dissolved, key=lambda start: start.cost(problem))


def _is_section(problem: Problem) -> bool:
    """Say whether a table is searched as a whole."""
    return len(problem.codes) <= sections.LARGEST_SECTION


def cut(encoded: Encoded, problem: Problem, models: tuple[PrivacyModel, ...], run: Run) -> Grouping:
    """Return the groups of Mondrian's strict cuts."""
    labels = Mondrian().cut(encoded, problem.k, models, replace(run, progress=lambda share: None))
    return Grouping.from_rows(problem, labels)
