"""How methods cut a large table into sections, and form the groups of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import Entries, Partition
from shoal.errors import InfeasibleError
from shoal.methods.base import Method, Run
from shoal.methods.sections import Cut
from shoal.methods.shoaling.pricing import Column
from shoal.methods.shoaling.problem import Extent
from shoal.models import Distributions, PrivacyModel
from shoal.release.counted_tables.sections.leaving import LeavingBefore
from shoal.release.counted_tables.sections.windows import CodeWindows

__all__ = ["PIECE", "PartCounts", "Sectioning"]

# The columns of units that cuts may divide: the rows of the unit before this piece of it, and all rows of the unit.
PIECE = ("start", "total")

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
        """Plan the sections of a table.

        Args:
            method: The method.
            encoded: Rows with the counts of each column of the table.
            models: The models.
            run: The run.
            extent: The size of the table.
            windows: What may share a group, if the method does not keep to limits itself.
            leaving: Which rows are suppressed before the search.
        """

    @property
    def k(self) -> int:
        """The least group size."""

    @property
    def least(self) -> int:
        """The least rows of each part of a cut; the least people, if these are counted."""

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
    def leaving(self) -> LeavingBefore | None:
        """Which rows are not counted to find or judge a cut, because they are suppressed before the search."""

    @property
    def judged(self) -> tuple[tuple[int, ...], ...]:
        """What is counted to judge a cut: combinations of columns beside the quasi-identifiers, from 0 on.

        The quasi-identifiers themselves have negative numbers; the last one is -1.
        """

    @property
    def counts_people(self) -> bool:
        """Whether people are counted in each part of a cut."""

    @property
    def may_fail(self) -> bool:
        """Whether a section may have no groups that pass, though the one that it was cut from has."""

    @property
    def divides_units(self) -> bool:
        """Whether rows of one tuple or unit may go to several sections, which are then searched row by row."""

    @property
    def settled(self) -> bool:
        """Whether all groups were judged before sections are searched, so that nobody asks again."""

    @property
    def regroups(self) -> bool:
        """Whether a section is grouped again without its outliers."""

    def refusal(self, models: tuple[PrivacyModel, ...]) -> InfeasibleError:
        """Return the refusal of a run that finds no groups."""

    def cuts(self, histograms: Sequence[Counts], largest: int) -> Iterator[Cut]:
        """Yield the cuts of a section to try, in order.

        Args:
            histograms: The rows, tuples or units of each code, column after column.
            largest: The most tuples or units of a section that is not cut.
        """

    def passes(self, counted: Iterable[PartCounts], people: Counts | None = None) -> bool:
        """Say whether models allow a cut.

        Args:
            counted: For each entry of `judged`, the rows of the parts.
            people: The people of each part, if they are counted.
        """

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

    def partition(self, section: Encoded, groups: Entries | NDArray[np.int32]) -> Partition:
        """Return the groups of a section, or of its rows one by one, with the cells that they show."""
