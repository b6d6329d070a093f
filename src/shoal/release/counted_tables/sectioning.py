"""How methods cut a large table into sections, and form the groups of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Entries
from shoal.encoding.sensitive import Sensitive
from shoal.methods.base import Method, Run
from shoal.methods.mondrian import Mondrian
from shoal.methods.mondrian.counted_cuts import counted_cuts
from shoal.methods.mondrian.cuts_under_models import CHOICES
from shoal.methods.sections import Cut, priced_cuts
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.pricing import Column, price_table
from shoal.methods.shoaling.problem import Extent, prepare
from shoal.methods.shoaling.search import SectionPlan, Shoaling, suited
from shoal.methods.shoaling.steps import EFFORTS, Search
from shoal.models import Basis, Distributions, Groups, PrivacyModel

__all__ = ["SECTIONINGS", "MondrianSections", "PartCounts", "Sectioning", "ShoalingSections"]

Counts = NDArray[np.int64]


class PartCounts(NamedTuple):
    """The rows of the parts of a cut, by codes of columns beside the quasi-identifiers.

    Attributes:
        parts: The part of each count.
        codes: Its codes, one column for each that was asked for.
        rows: The rows.
    """

    parts: NDArray[np.int32]
    codes: NDArray[np.int32]
    rows: Counts


class Sectioning(Protocol):
    """How a method cuts a large table into sections, and forms the groups of one. It can be pickled."""

    @classmethod
    def suits(cls, method: Method) -> bool:
        """Say whether the method, with its options, can work on a section without the rows of others."""

    @classmethod
    def of(cls, method: Method, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run, extent: Extent) -> Self:
        """Plan the sections of a table.

        Args:
            method: The method.
            encoded: Rows with the counts of each column of the table.
            models: The models.
            run: The run.
            extent: The size of the table.
        """

    @property
    def k(self) -> int:
        """The least group size."""

    @property
    def whole(self) -> Distributions:
        """What models know of the whole table."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns whose codes are counted to find a cut."""

    @property
    def n_codes(self) -> Sequence[int]:
        """The number of codes of each of these columns."""

    @property
    def by_rows(self) -> bool:
        """Whether rows decide where to cut; otherwise tuples or units do."""

    @property
    def judged(self) -> tuple[tuple[int, ...], ...]:
        """For each model that may refuse a cut, the columns beside the quasi-identifiers that it counts."""

    @property
    def may_fail(self) -> bool:
        """Whether a section may have no groups that pass, though the one that it was cut from has."""

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield the cuts of a section to try, in order.

        Args:
            histograms: The rows, tuples or units of each code, column after column.
            largest: The most tuples or units of a section that is not cut.
        """

    def passes(self, counted: Iterable[PartCounts]) -> bool:
        """Say whether models allow a cut; counted: for each entry of `judged`, the rows of the parts."""

    def codes(self, tuples: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of tuples in `columns`."""

    def group(
        self, section: Encoded, models: tuple[PrivacyModel, ...], run: Run, number: int
    ) -> Entries | NDArray[np.int32]:
        """Form the groups of a section.

        Args:
            section: Its tuples, each with its rows, or its rows one by one.
            models: The models.
            run: The run.
            number: The number of the section.

        Returns:
            Entries, or the group of each canonical row.

        Raises:
            InfeasibleError: No groups that pass were found.
        """


@dataclass(frozen=True)
class ShoalingSections:
    """Sections of shoaling; see `shoal.methods.sections`."""

    method: Shoaling
    plan: SectionPlan
    may_fail: bool
    by_rows: ClassVar[bool] = False
    judged: ClassVar[tuple[tuple[int, ...], ...]] = ()

    @classmethod
    def suits(cls, method: Method) -> bool:
        """Say whether ranges may overlap, and cells decide."""
        return isinstance(method, Shoaling) and not method.non_overlapping and not method.by_variance

    @classmethod
    def of(cls, method: Method, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run, extent: Extent) -> Self:
        """Price the table, and suit the effort to its size."""
        assert isinstance(method, Shoaling)
        k = max(model.minimum_size for model in models)
        pricing = price_table(encoded.attributes, encoded.histograms, k, run, alpha=method.alpha)
        effort = suited(EFFORTS[method.effort], pricing.prices, extent)
        may_fail = bool(encoded.sensitive or run.limits) or encoded.personal_k is not None or extent.by_person
        may_fail = may_fail or any(model.basis is Basis.POPULATION for model in models)
        return cls(method, SectionPlan(pricing, Distributions.of(encoded), effort, k, 1), may_fail)

    @property
    def k(self) -> int:
        """The least group size."""
        return self.plan.k

    @property
    def whole(self) -> Distributions:
        """What models know of the whole table."""
        return self.plan.whole

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the search."""
        return self.plan.pricing.columns

    @property
    def n_codes(self) -> list[int]:
        """The number of codes of each of these columns."""
        return [int(n) for n in np.diff(self.plan.pricing.prices.offsets)]

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield the cut that lowers the mean price of a pair of tuples most."""
        return priced_cuts(histograms, self.plan.pricing.prices, largest)

    def passes(self, counted: Iterable[PartCounts]) -> bool:
        """Allow every cut: groups are judged after the search."""
        return True

    def codes(self, tuples: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes that tuples have in the search."""
        return self.plan.pricing.codes(tuples)

    def group(
        self, section: Encoded, models: tuple[PrivacyModel, ...], run: Run, number: int
    ) -> Entries | NDArray[np.int32]:
        """Search a section."""
        posed = prepare(section, self.k, models, run, pricing=self.plan.pricing, distributions=self.whole)
        with ThreadPoolExecutor(max_workers=1) as pool:
            search = Search(posed, self.plan.effort, run, pool)
            posed, found = self.method.group_section(self.plan, section, models, search, number)
        return Grouping.joined([(found.tuples, found.rows, found.groups)]).condensed(posed).entries(posed)


@dataclass(frozen=True)
class MondrianSections:
    """Segments of Mondrian's strict cuts that are small enough; which segments these are changes no group.

    Attributes:
        method: The method.
        attributes: The quasi-identifiers of the table.
        k: The least group size.
        whole: What models know of the whole table.
        sensitive: The sensitive columns that models count, with the totals of the table.
        models: The models that judge more than sizes.
    """

    method: Mondrian
    attributes: tuple[Attribute, ...]
    k: int
    whole: Distributions
    sensitive: tuple[Sensitive, ...]
    models: tuple[PrivacyModel, ...]
    by_rows: ClassVar[bool] = True
    may_fail: ClassVar[bool] = False

    @classmethod
    def suits(cls, method: Method) -> bool:
        """Say whether the counts of values decide: the strict variant without declared domains."""
        return isinstance(method, Mondrian) and method.variant == "strict" and not method.domains

    @classmethod
    def of(cls, method: Method, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run, extent: Extent) -> Self:
        """Plan the cuts of a table."""
        assert isinstance(method, Mondrian)
        return cls(
            method,
            encoded.attributes,
            max(model.minimum_size for model in models),
            Distributions.of(encoded),
            tuple(replace(column, totals=column.count(encoded.weights)) for column in encoded.sensitive),
            tuple(model for model in models if not model.size_only),
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
    def judged(self) -> tuple[tuple[int, ...], ...]:
        """For each model that may refuse a cut, the columns beside the quasi-identifiers that it counts."""
        places = {column.name: place for place, column in enumerate(self.sensitive)}
        own_k = len(places)
        return tuple(
            (*(places[name] for name in model.columns), *([own_k] if model.basis is Basis.PERSONAL_K else []))
            for model in self.models
        )

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield the cuts that leave k rows in each part, in the order of the method."""
        return counted_cuts(histograms, self.attributes, self.k, CHOICES if self.models else 1)

    def passes(self, counted: Iterable[PartCounts]) -> bool:
        """Say whether every part passes the models."""
        columns = {column.name: column for column in self.sensitive}
        for model, (parts, codes, rows) in zip(self.models, counted, strict=True):
            own = {name: replace(columns[name], codes=codes[:, i]) for i, name in enumerate(model.columns)}
            own_k = self.whole.personal_ks[codes[:, -1]] if model.basis is Basis.PERSONAL_K else None
            if model.failing(Groups(parts, rows, own, own_k)).any():
                return False
        return True

    def codes(self, tuples: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of tuples."""
        return tuples

    def group(
        self, section: Encoded, models: tuple[PrivacyModel, ...], run: Run, number: int
    ) -> Entries | NDArray[np.int32]:
        """Cut a segment to the end."""
        labels = self.method.cut(section, self.k, models, run)
        self.method.check_groups(section, models, labels)
        return labels


SECTIONINGS: dict[str, type[Sectioning]] = {Shoaling.name: ShoalingSections, Mondrian.name: MondrianSections}
