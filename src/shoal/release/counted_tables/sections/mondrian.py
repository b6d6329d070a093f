"""Segments of Mondrian's cuts that are small enough, and the cuts of larger ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Entries, Partition, tight_partition
from shoal.errors import InfeasibleError
from shoal.methods.base import Method, Run, failing_groups, group_in_windows
from shoal.methods.mondrian import Mondrian
from shoal.methods.mondrian.counted_cuts import counted_cuts
from shoal.methods.mondrian.cuts_under_models import CHOICES
from shoal.methods.mondrian.declared_domains import Region, split_regions
from shoal.methods.mondrian.in_sections import MOST_SPARE
from shoal.methods.sections import Cut
from shoal.methods.shoaling.pricing import Column
from shoal.methods.shoaling.problem import Extent
from shoal.methods.suppression.all_groups import check_sample, least_section
from shoal.models import Distributions, PrivacyModel
from shoal.release.cells.limits import no_groups_within
from shoal.release.counted_tables.sections.judging import PartJudge
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.plan import PartCounts
from shoal.release.counted_tables.sections.windows import CodeWindows

__all__ = ["MondrianSections"]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class MondrianSections:
    """Segments of Mondrian's cuts that are small enough; which segments these are changes no group.

    Attributes:
        method: The method.
        attributes: The quasi-identifiers of the table.
        k: The least group size.
        least: The least rows of each part of a cut, or people: fewer could keep no share of a limit on all groups.
        whole: What models know of the whole table.
        judge: Judges the parts of a cut.
        counts_people: Whether people are counted in each part.
        windows: What may share a group, if cells are limited.
        leaving: Which rows are suppressed before the search.
        region: The region of the table, if domains are declared.
        regions: The region of each window from which segments were cut; as they are cut, it keeps theirs.
        spare: The share of the rows of a segment that may leave later without breaking a limit of all groups.
    """

    method: Mondrian
    attributes: tuple[Attribute, ...]
    k: int
    least: int
    whole: Distributions
    judge: PartJudge
    counts_people: bool
    windows: CodeWindows | None = None
    leaving: LeavingBefore | None = None
    region: Region | None = None
    regions: dict[int, Region] = field(default_factory=dict)
    spare: Fraction = Fraction(0)
    by_rows: ClassVar[bool] = True
    may_fail: ClassVar[bool] = False
    settled: ClassVar[bool] = False
    regroups: ClassVar[bool] = False

    @classmethod
    def suits(cls, method: Method) -> bool:
        """Say whether the counts of the values in a segment decide."""
        return isinstance(method, Mondrian) and method.cuts_parts

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
        """Plan the cuts of a table."""
        assert isinstance(method, Mondrian)
        check_sample(models, encoded.n_rows)
        k = max(model.minimum_size for model in models)
        return cls(
            method,
            encoded.attributes,
            k,
            max(k, least_section(models)),
            Distributions.of(encoded),
            PartJudge.of(encoded, models),
            extent.by_person,
            windows,
            leaving,
            Region.whole(encoded, method.domains) if method.domains else None,
            spare=min(run.suppression_limit, MOST_SPARE),
        )

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return tuple(Column(a, np.arange(n)) for a, n in enumerate(self.n_codes))

    @property
    def n_codes(self) -> list[int]:
        """The number of codes of each quasi-identifier."""
        return [len(attribute.texts) for attribute in self.attributes]

    @property
    def divides_units(self) -> bool:
        """Whether rows of one tuple or unit may go to several segments."""
        return self.method.divides_values

    @property
    def judged(self) -> tuple[tuple[int, ...], ...]:
        """The columns that each model counts; at last each quasi-identifier, if models look at the cells of a part."""
        return self.judge.judged

    def refusal(self, models: tuple[PrivacyModel, ...]) -> InfeasibleError:
        """Return the refusal of a run that finds no groups."""
        return self.method.no_groups(models) if self.windows is None else no_groups_within(self.method)

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield cuts that leave enough rows in each part, in the order of the method; windows are separated first."""
        if self.windows is not None and (cut := self.windows.first_cut(histograms)) is not None:
            return iter([cut])
        if self.region is not None:
            window = 0 if self.windows is None else self.windows.last(histograms)
            own = self._region(window).around(histograms).divide(histograms, self.attributes, self.k)
            return iter([] if own is None else [own])
        n_choices = CHOICES if self.judge.models else 1
        people, relaxed = self.counts_people, self.divides_units
        return counted_cuts(histograms, self.attributes, self.least, n_choices, by_person=people, relaxed=relaxed)

    def passes(self, counted: Iterable[PartCounts], people: Counts | None = None) -> bool:
        """Say whether every part passes the models."""
        return self.judge.passes(counted, people)

    def codes(self, tuples: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of tuples."""
        return tuples

    def group(
        self, section: Encoded, models: tuple[PrivacyModel, ...], run: Run, number: int
    ) -> Entries | NDArray[np.int32]:
        """Cut a segment to the end."""
        if section.people is not None:  # the kernel has a counter for each code
            own = np.unique(section.people, return_inverse=True)[1].reshape(-1)
            section = replace(section, people=own.astype(np.int32))
        windows = np.zeros(len(section.tuples), dtype=np.int32)
        if self.windows is not None:
            windows = self.windows.of(section.tuples)
        if self.region is not None and (windows == windows[0]).all():
            region = self._region(int(windows[0])).around(section.histograms)
            return split_regions(section, self.k, region, run)[section.row_tuple]
        if self.windows is not None:
            return self._group_in_windows(section, models, run, windows[section.row_tuple])
        labels = self.method.cut(section, self.k, models, run, self.spare)
        self.method.check_groups(section, models, labels)
        return labels

    def partition(self, section: Encoded, groups: Entries | NDArray[np.int32]) -> Partition:
        """Return groups with the cells of their own values."""
        return tight_partition(section, groups)

    def _region(self, window: int) -> Region:
        """Return the region of a window, which is that of the table until it is cut."""
        assert self.region is not None
        return self.regions.setdefault(window, replace(self.region))

    def _group_in_windows(
        self, section: Encoded, models: tuple[PrivacyModel, ...], run: Run, windows: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Cut each window of a section to the end; windows: that of each canonical row."""
        labels = group_in_windows(self.method, section, windows, models, replace(run, limits=())).labels
        if failing_groups(section, models, labels).any():
            raise no_groups_within(self.method)
        return labels
