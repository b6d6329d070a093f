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
from shoal.encoding.population import Population, covered_rows
from shoal.encoding.sensitive import Sensitive
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
from shoal.models import Basis, Distributions, Groups, PrivacyModel
from shoal.release.cells.limits import no_groups_within
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
        sensitive: The sensitive columns that models count, with the totals of the table.
        models: The models that judge more than sizes.
        counts_people: Whether people are counted in each part.
        windows: What may share a group, if cells are limited.
        population: The population that models compare groups with.
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
    sensitive: tuple[Sensitive, ...]
    models: tuple[PrivacyModel, ...]
    counts_people: bool
    windows: CodeWindows | None = None
    population: Population | None = None
    leaving: LeavingBefore | None = None
    region: Region | None = None
    regions: dict[int, Region] = field(default_factory=dict)
    spare: Fraction = Fraction(0)
    by_rows: ClassVar[bool] = True
    may_fail: ClassVar[bool] = False
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
        parts: Sequence[NDArray[np.int32]] = (),
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
            tuple(replace(column, totals=column.count(encoded.weights)) for column in encoded.sensitive),
            tuple(model for model in models if not model.size_only),
            extent.by_person,
            windows,
            encoded.population,
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
        places = {column.name: place for place, column in enumerate(self.sensitive)}
        own_k = len(places)
        counted = [
            (*(places[name] for name in model.columns), *([own_k] if model.basis is Basis.PERSONAL_K else []))
            for model in self._counting
        ]
        shown = range(-len(self.attributes), 0) if self._covering else ()
        return (*counted, *((place,) for place in shown))

    @property
    def _counting(self) -> list[PrivacyModel]:
        """The models that count rows of each part."""
        return [model for model in self.models if model.basis not in (Basis.POPULATION, Basis.TABLE)]

    @property
    def _covering(self) -> list[PrivacyModel]:
        """The models that compare the cells of each part with a population."""
        return [model for model in self.models if model.basis is Basis.POPULATION]

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
        n_choices = CHOICES if self.models else 1
        people, relaxed = self.counts_people, self.divides_units
        return counted_cuts(histograms, self.attributes, self.least, n_choices, by_person=people, relaxed=relaxed)

    def passes(self, counted: Iterable[PartCounts], people: Counts | None = None) -> bool:
        """Say whether every part passes the models."""
        columns, counted = {column.name: column for column in self.sensitive}, iter(counted)
        for model, (parts, codes, rows) in zip(self._counting, counted, strict=False):
            own = {name: replace(columns[name], codes=codes[:, i]) for i, name in enumerate(model.columns)}
            own_k = self.whole.personal_ks[codes[:, -1]] if model.basis is Basis.PERSONAL_K else None
            if model.failing(Groups(parts, rows, own, own_k, n_people=people)).any():
                return False
        if not self._covering:
            return True
        shown = list(counted)
        groups = Groups(shown[0].parts, shown[0].rows, matches=lambda: self._covered_rows(shown), n_people=people)
        return not any(model.failing(groups).any() for model in self._covering)

    def _covered_rows(self, shown: Sequence[PartCounts]) -> Counts:
        """Return the rows of the population that the cells of each part cover; shown: codes by quasi-identifier."""
        n_parts = int(shown[0].parts.max()) + 1
        present = [[own.codes[own.parts == part, 0] for own in shown] for part in range(n_parts)]
        # Rows that have every code of a part in every column show the same cells.
        heights = [max(map(len, codes)) for codes in present]
        tuples = np.concatenate(
            [
                np.column_stack([np.resize(own, height) for own in codes])
                for codes, height in zip(present, heights, strict=True)
            ]
        )
        every = np.arange(len(tuples))
        table = Encoded(
            self.attributes,
            tuples.astype(np.int32),
            np.ones(len(tuples), dtype=np.int64),
            every.astype(np.int32),
            every,
            population=self.population,
        )
        return covered_rows(table, np.repeat(np.arange(n_parts, dtype=np.int32), heights))

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
