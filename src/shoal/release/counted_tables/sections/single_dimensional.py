"""Sections of single-dimensional Mondrian: the regions are known before, and a section has some of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Cells, Entries, Partition
from shoal.errors import InfeasibleError
from shoal.methods.base import Method, Run
from shoal.methods.mondrian import Mondrian
from shoal.methods.mondrian.single_dimensional import cells_of_parts, regions_partition
from shoal.methods.sections import Cut
from shoal.methods.shoaling.pricing import Column
from shoal.methods.shoaling.problem import Extent
from shoal.models import Distributions, PrivacyModel
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.plan import PartCounts
from shoal.release.counted_tables.sections.windows import CodeWindows
from shoal.tables.sorting import number_rows

__all__ = ["SingleSections"]

Counts = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class SingleSections:
    """Sections of whole regions, of which every engine knows the parts of attributes.

    Attributes:
        method: The method.
        k: The least group size.
        whole: What models know of the whole table.
        parts: The part of each code, by attribute.
        cells: The cell of each part, by attribute.
    """

    method: Mondrian
    k: int
    whole: Distributions
    parts: tuple[Codes, ...]
    cells: tuple[Cells, ...]
    by_rows: ClassVar[bool] = False
    may_fail: ClassVar[bool] = False
    judged: ClassVar[tuple[tuple[int, ...], ...]] = ()
    counts_people: ClassVar[bool] = False
    divides_units: ClassVar[bool] = False
    leaving: ClassVar[LeavingBefore | None] = None
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
        parts: Sequence[Codes] = (),
    ) -> Self:
        """Find the cells of all parts."""
        assert isinstance(method, Mondrian)
        k = max(model.minimum_size for model in models)
        cells = cells_of_parts(encoded.attributes, encoded.histograms, parts)
        return cls(method, k, Distributions.of(encoded), tuple(parts), tuple(cells))

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
        return [len(own) for own in self.parts]

    def refusal(self, models: tuple[PrivacyModel, ...]) -> InfeasibleError:
        """Return the refusal of a run that finds no groups."""
        return self.method.no_groups(models)

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield the cut between parts of an attribute that leaves most tuples on its smaller side."""
        best, found = 0, None
        for a, (own, tuples) in enumerate(zip(self.parts, histograms, strict=True)):
            below = np.cumsum(np.bincount(own, tuples))
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
        columns = [own[section.tuples[:, a]] for a, own in enumerate(self.parts)]
        regions = number_rows(columns, [int(own.max(initial=0)) + 1 for own in self.parts])
        return regions.astype(np.int32)[section.row_tuple]

    def partition(self, section: Encoded, groups: Entries | Codes) -> Partition:
        """Return regions with the cells of their parts."""
        labels = groups.labels(section.weights) if isinstance(groups, Entries) else groups
        return regions_partition(section, labels, self.parts, self.cells)
