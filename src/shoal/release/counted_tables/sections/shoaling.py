"""Sections of shoaling, cut where that lowers the mean price, or the squared distance, of a pair of tuples most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries, Partition, tight_partition
from shoal.errors import InfeasibleError
from shoal.methods.base import Method, Run
from shoal.methods.sections import Cut
from shoal.methods.shoaling.grouping import Grouping, no_groups
from shoal.methods.shoaling.pricing import Column
from shoal.methods.shoaling.problem import Extent, SectionPlan, prepare, suited
from shoal.methods.shoaling.search import Shoaling
from shoal.methods.shoaling.steps import Search
from shoal.methods.shoaling.unsteered import steering
from shoal.methods.suppression.all_groups import check_sample
from shoal.models import Basis, Distributions, PrivacyModel
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.plan import PartCounts
from shoal.release.counted_tables.sections.windows import CodeWindows

__all__ = ["ShoalingSections"]

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class ShoalingSections:
    """Sections of shoaling; see `shoal.methods.sections`."""

    method: Shoaling
    plan: SectionPlan
    may_fail: bool
    by_rows: ClassVar[bool] = False
    judged: ClassVar[tuple[tuple[int, ...], ...]] = ()
    counts_people: ClassVar[bool] = False
    divides_units: ClassVar[bool] = False
    leaving: ClassVar[LeavingBefore | None] = None
    settled: ClassVar[bool] = False
    regroups: ClassVar[bool] = True

    @classmethod
    def suits(cls, method: Method) -> bool:
        """Say whether it is shoaling."""
        return isinstance(method, Shoaling)

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
        """Price the table, and suit the effort to its size."""
        assert isinstance(method, Shoaling)
        k = max(model.minimum_size for model in models)
        pricing = method.price(encoded, k, run)
        effort = suited(method.first_effort, pricing.prices, extent)
        may_fail = bool(encoded.sensitive or run.limits) or encoded.personal_k is not None or extent.by_person
        may_fail = may_fail or any(model.basis in (Basis.POPULATION, Basis.TABLE) for model in models)
        check_sample(models, encoded.n_rows)
        return cls(method, SectionPlan(pricing, Distributions.of(encoded), effort, k, 1), may_fail)

    @property
    def k(self) -> int:
        """The least group size."""
        return self.plan.k

    @property
    def least(self) -> int:
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

    def refusal(self, models: tuple[PrivacyModel, ...]) -> InfeasibleError:
        """Return the refusal of a run that finds no groups."""
        return InfeasibleError(no_groups(models))

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield the cut that lowers the mean price or squared distance of a pair of tuples most."""
        return self.plan.cuts(histograms, largest)

    def passes(self, counted: Iterable[PartCounts], people: Counts | None = None) -> bool:
        """Allow every cut: groups are judged after the search."""
        return True

    def codes(self, tuples: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes that tuples have in the search."""
        return self.plan.pricing.codes(tuples)

    def group(
        self, section: Encoded, models: tuple[PrivacyModel, ...], run: Run, number: int
    ) -> Entries | NDArray[np.int32]:
        """Search a section."""
        posed = prepare(section, self.k, steering(models), run, pricing=self.plan.pricing, distributions=self.whole)
        with ThreadPoolExecutor(max_workers=1) as pool:
            search = Search(posed, self.plan.effort, run, pool)
            posed, found = self.method.group_section(self.plan, section, models, search, number)
        return Grouping.joined([(found.tuples, found.rows, found.groups)]).condensed(posed).entries(posed)

    def partition(self, section: Encoded, groups: Entries | NDArray[np.int32]) -> Partition:
        """Return groups with the cells of their own values."""
        return tight_partition(section, groups)
