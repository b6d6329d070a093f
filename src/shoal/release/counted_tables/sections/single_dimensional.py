"""Sections of single-dimensional Mondrian: the regions are known before, and a section has some of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Cells, Entries, Partition, tight_partition
from shoal.errors import InfeasibleError
from shoal.methods import sections
from shoal.methods.base import Method, Run, failing_groups, group_in_windows
from shoal.methods.mondrian import Mondrian
from shoal.methods.mondrian.single_dimensional import cells_of_parts, cut_attributes, regions_partition
from shoal.methods.sections import Cut
from shoal.methods.shoaling.pricing import Column
from shoal.methods.shoaling.problem import Extent
from shoal.methods.suppression.all_groups import are_too_many, check_sample
from shoal.models import Basis, Distributions, KAnonymity, PrivacyModel
from shoal.release.cells.limits import no_groups_within
from shoal.release.counted_tables.searcher import RegionCounter, Regions, Upto
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.plan import PartCounts
from shoal.release.counted_tables.sections.windows import CodeWindows
from shoal.tables.sorting import number_rows

__all__ = ["SingleSections"]

Counts = NDArray[np.int64]
Codes = NDArray[np.int32]
Parts = Sequence[Codes]  # the part of each code, by attribute; -1 for codes that no row has


@dataclass(frozen=True)
class SingleSections:
    """Sections of whole regions, of which every engine knows the parts of attributes.

    Attributes:
        method: The method.
        k: The least group size.
        whole: What models know of the whole table.
        models: The models.
        judge: Judges regions by the models that look at each by itself, and by size if these count anything else.
        histograms: The rows of each code, by attribute.
        windows: What may share a group, if cells are limited. Cuts then run through a window.
        leaving: Which rows are suppressed before the search.
        parts: The parts of the table, or those of each window that is too large for a section.
    """

    method: Mondrian
    k: int
    whole: Distributions
    models: tuple[PrivacyModel, ...]
    judge: PartJudge
    histograms: Sequence[Counts]
    windows: CodeWindows | None = None
    leaving: LeavingBefore | None = None
    parts: Mapping[int, Parts] = field(default_factory=dict)
    by_rows: ClassVar[bool] = True
    may_fail: ClassVar[bool] = False
    judged: ClassVar[tuple[tuple[int, ...], ...]] = ()
    counts_people: ClassVar[bool] = False
    divides_units: ClassVar[bool] = False
    regroups: ClassVar[bool] = False

    @classmethod
    def suits(cls, method: Method) -> bool:
        """Say whether cuts run through the whole table."""
        return isinstance(method, Mondrian) and method.variant == "single-dimensional"

    @classmethod
    def of(
        cls,
        method: Method,
        encoded: Encoded,
        models: tuple[PrivacyModel, ...],
        run: Run,
        extent: Extent,
        windows: CodeWindows | None,
        leaving: LeavingBefore | None = None,
    ) -> Self:
        """Prepare the cuts of a table; `cut` makes them."""
        assert isinstance(method, Mondrian)
        k = max(model.minimum_size for model in models)
        judge = PartJudge.of(encoded, models)
        if judge.judged:  # sizes are counted together with the rest
            judge = replace(judge, models=(KAnonymity(k), *judge.models))
        return cls(method, k, Distributions.of(encoded), models, judge, tuple(encoded.histograms), windows, leaving)

    def cut(self, counter: RegionCounter, run: Run) -> Self:
        """Cut the table, or each window that is too large for a section, by what an engine counts of regions.

        Raises:
            InfeasibleError: No cut can be made, and the table as one group fails.
        """
        if self.windows is None:
            return self._cut_table(counter, run)
        found = {}
        labels, rows = self.windows.labels, self.windows.rows
        sizes = np.bincount(labels[labels >= 0], rows[labels >= 0])
        for window in np.flatnonzero(sizes > sections.LARGEST_SECTION).tolist():
            inside = self.windows.codes_of(window, self.n_codes)
            every = [np.where(own, 0, -1).astype(np.int32) for own in inside]
            counted = counter.count_in_regions(Regions(every))[: len(every)]
            parts = self._cut_attributes(counter, counted, run)
            if _n_parts(parts) > len(parts):  # otherwise, a section has all of the window
                found[window] = parts
        return replace(self, parts=found)

    def _cut_table(self, counter: RegionCounter, run: Run) -> Self:
        """Cut the whole table; rows that leave before the search are no part of it."""
        search = self
        if self.leaving is not None:
            every = [np.zeros(n, dtype=np.int32) for n in self.n_codes]
            counted = counter.count_in_regions(Regions(every, self._upto))
            own, beside = counted[: len(every)], counted[len(every) :]
            columns = zip(self.judge.sensitive, beside, strict=False)
            judge = replace(self.judge, sensitive=tuple(replace(each, totals=rows) for each, rows in columns))
            search = replace(self, judge=judge, histograms=own)
        check_sample(self.models, int(search.histograms[0].sum()))
        parts = search._cut_attributes(counter, search.histograms, run)
        if _n_parts(parts) == len(parts) and not search._pass(counter, parts):
            refused = [model for model in self.models if not model.closed]
            raise self.method.no_groups(refused or self.models)
        return replace(search, parts={0: parts})

    def _cut_attributes(self, counter: RegionCounter, histograms: Sequence[Counts], run: Run) -> list[Codes]:
        """Return the parts of rows that have some codes."""

        def allows(parts: Parts, a: int, part: int) -> bool:
            touched = np.isin(parts[a], [part, parts[a].max()])  # other regions stay as they are
            return self._pass(counter, parts, [*parts[:a], np.where(touched, parts[a], -1), *parts[a + 1 :]])

        return cut_attributes(self.judge.attributes, histograms, allows, run)

    @property
    def _upto(self) -> Upto | None:
        """Which rows are counted, if some leave because of their personal k."""
        if self.leaving is None or self.leaving.largest_k < 0:
            return None
        return Upto(len(self.judge.sensitive), self.leaving.largest_code)

    def _pass(self, counter: RegionCounter, parts: Parts, changed: Parts | None = None) -> bool:
        """Say whether all regions pass; changed: the parts of those that may have changed, if the others passed."""
        changed, n_rows = changed or parts, int(self.histograms[0].sum())
        together = any(model.basis is Basis.TABLE for model in self.models)
        if together or not self.judge.judged:
            found = counter.measure_regions(Regions(parts if together else changed, self._upto))
            if found.smallest < self.k or are_too_many(self.models, n_rows, found.regions, found.lone):
                return False
        return not self.judge.judged or counter.regions_pass(Regions(changed, self._upto), self.judge)

    @cached_property
    def cells(self) -> tuple[Cells, ...]:
        """The cell of each part of the whole table, by attribute."""
        return tuple(cells_of_parts(self.judge.attributes, self.parts[0]))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return tuple(Column(a, np.arange(n)) for a, n in enumerate(self.n_codes))

    @property
    def least(self) -> int:
        """The least group size."""
        return self.k

    @property
    def n_codes(self) -> list[int]:
        """The number of codes of each quasi-identifier."""
        return [len(attribute.texts) for attribute in self.judge.attributes]

    @property
    def settled(self) -> bool:
        """Whether all groups were judged before sections are searched."""
        return self.windows is None

    def refusal(self, models: tuple[PrivacyModel, ...]) -> InfeasibleError:
        """Return the refusal of a run that finds no groups."""
        return self.method.no_groups(models) if self.windows is None else no_groups_within(self.method)

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield the cut between parts of an attribute that leaves most rows on its smaller side; windows come first."""
        if self.windows is not None and (cut := self.windows.first_cut(histograms)) is not None:
            yield cut
            return
        best, found = 0, None
        parts = self.parts.get(0 if self.windows is None else self.windows.last(histograms), ())
        for a, (own, rows) in enumerate(zip(parts, histograms, strict=False)):
            below = np.cumsum(np.bincount(np.maximum(own, 0), rows))
            smaller = np.minimum(below, below[-1] - below)
            place = int(np.argmax(smaller))
            if smaller[place] > best:
                best, found = int(smaller[place]), Cut(a, (own > place).astype(np.int32), is_settled=True)
        if found is not None:
            yield found

    def passes(self, counted: Iterable[PartCounts], people: Counts | None = None) -> bool:
        """Allow every cut: regions are settled."""
        return True

    def codes(self, tuples: Codes) -> Codes:
        """Return the codes of tuples."""
        return tuples

    def group(self, section: Encoded, models: tuple[PrivacyModel, ...], run: Run, number: int) -> Entries | Codes:
        """Return the region of each canonical row of a section."""
        if self.windows is None:
            return _regions_of(section.tuples, self.parts[0])[section.row_tuple]
        windows = self.windows.of(section.tuples)
        small = np.where(np.isin(windows, list(self.parts)), -1, windows)[section.row_tuple]
        labels = group_in_windows(self.method, section, small, models, replace(run, limits=())).labels
        for window, parts in self.parts.items():
            inside = windows == window
            if inside.any():
                regions = np.full(len(windows), -1, dtype=np.int32)
                regions[inside] = _regions_of(section.tuples[inside], parts)
                own = regions[section.row_tuple]
                labels = np.where(own >= 0, own + labels.max(initial=-1) + 1, labels).astype(np.int32)
        if failing_groups(section, models, labels).any():
            raise no_groups_within(self.method)
        return labels

    def partition(self, section: Encoded, groups: Entries | Codes) -> Partition:
        """Return regions with the cells of their parts; inside limits, with those of their own values."""
        if self.windows is not None:
            return tight_partition(section, groups)
        labels = groups.labels(section.weights) if isinstance(groups, Entries) else groups
        return regions_partition(section, labels, self.parts[0], self.cells)


def _n_parts(parts: Parts) -> int:
    """Return the number of parts of all attributes."""
    return sum(int(own.max(initial=0)) + 1 for own in parts)


def _regions_of(tuples: Codes, parts: Parts) -> Codes:
    """Return the region of each tuple, from 0 without gaps."""
    columns = [own[tuples[:, a]] for a, own in enumerate(parts)]
    return number_rows(columns, [int(own.max(initial=0)) + 1 for own in parts]).astype(np.int32)
