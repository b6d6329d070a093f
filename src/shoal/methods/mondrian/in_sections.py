"""Mondrian in a table of several sections, as far as the rows of other sections decide what happens in one.

Under models that judge all groups together, segments of more units than a section are cut by counts, as the engines cut
them that have no rows in memory. The other models judge each part of a cut. A smaller segment keeps its own share of
the limits of all groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.methods import sections
from shoal.methods.base import failing_groups
from shoal.methods.mondrian.counted_cuts import counted_cuts
from shoal.methods.mondrian.cuts_under_models import CHOICES
from shoal.methods.sections import Cut, Division, Loan, Ruling, cut_by, number_units
from shoal.methods.suppression.all_groups import judge_sections, least_section, never_exceed
from shoal.models import Basis, Groups, PrivacyModel

__all__ = ["MOST_SPARE", "Segment", "find_segments", "works_in_sections"]

# The largest share of the rows that may leave groups although models limit how many groups or lone rows there are.
MOST_SPARE = Fraction(1, 512)


def works_in_sections(
    encoded: Encoded, models: tuple[PrivacyModel, ...], k: int, stays: NDArray[np.bool_], most: int
) -> bool:
    """Say whether a table is cut, or rows leave its groups, as those of a table of several sections.

    Args:
        encoded: The table.
        models: What every group must pass.
        k: The least group size.
        stays: The canonical rows that do not leave before the search.
        most: How many others may leave.
    """
    if encoded.people is not None and not never_exceed(models, encoded.n_rows):  # only the groups of all rows tell
        return False
    matters = most > 0 or not stays.all() or any(model.basis is Basis.TABLE for model in models)
    return matters and judge_sections(models, k) and sections.has_several(encoded, models)


@dataclass(frozen=True)
class Segment:
    """Some rows of a table.

    Attributes:
        rows: The canonical rows, ascending.
        part: These rows, whose sensitive values are compared with those of all rows.
        units: The unit of each.
        stays: Whether each stays in the table; others are not counted to find or judge a cut.
    """

    rows: NDArray[np.int64]
    part: Encoded
    units: NDArray[np.int64]
    stays: NDArray[np.bool_]

    @property
    def n_tuples(self) -> int:
        """The number of units."""
        return len(np.unique(self.units))

    def histograms(self) -> Sequence[NDArray[np.int64]]:
        """Return the number of rows of each code, attribute after attribute."""
        rows = np.where(self.stays, self.part.row_weights, 0)
        return [
            np.bincount(self.codes(a), rows, len(attribute.texts)).astype(np.int64)
            for a, attribute in enumerate(self.part.attributes)
        ]

    def codes(self, column: int) -> NDArray[np.int32]:
        """Return the code of each row."""
        return np.asarray(self.part.tuples[self.part.row_tuple, column])

    def halves(self, division: Division) -> tuple[Self, Self]:
        """Return the two sides of the segment."""
        codes = self.codes(division.column)
        is_left = division.goes_left[codes]
        if division.loan is not None:
            is_left |= self._is_lent(codes, division.loan)
        left, right = (
            replace(self, rows=self.rows[own], part=self.part.part(own), units=self.units[own], stays=self.stays[own])
            for own in (is_left, ~is_left)
        )
        return left, right

    def parts(self, cut: Cut) -> NDArray[np.int32]:
        """Return the part of each row by a cut."""
        codes = self.codes(cut.column)
        parts = cut.parts[codes]
        return parts if cut.loan is None else np.where(self._is_lent(codes, cut.loan), 0, parts).astype(np.int32)

    def locate(self, cut: Cut) -> Cut:
        """Find the last row that is lent by a cut: the number of its unit, and its canonical row."""
        assert cut.loan is not None
        lenders = np.flatnonzero(np.isin(self.codes(cut.column), cut.loan.codes) & self.stays)
        last = lenders[np.argsort(self.units[lenders], kind="stable")[cut.loan.rows - 1]]
        return cut._replace(loan=cut.loan._replace(last=(int(self.units[last]), int(self.rows[last]))))

    def _is_lent(self, codes: NDArray[np.int32], loan: Loan) -> NDArray[np.bool_]:
        """Say which rows are lent; codes: that of each row."""
        unit, row = loan.last
        is_before = (self.units < unit) | ((self.units == unit) & (self.rows <= row))
        return np.asarray(is_before & np.isin(codes, loan.codes))


def find_segments(
    encoded: Encoded, k: int, models: tuple[PrivacyModel, ...], stays: NDArray[np.bool_], *, relaxed: bool = False
) -> list[Segment]:
    """Cut a table until no segment has more units than a section, or none can be cut.

    If no model judges all groups together, the table stays whole: no group depends on such cuts.

    Args:
        encoded: The table.
        k: The least group size.
        models: The models.
        stays: The canonical rows that do not leave before the search.
        relaxed: Whether the rows of one value may go to two segments.
    """
    every = np.ones(len(stays), dtype=bool)
    whole = Segment(np.arange(len(stays)), encoded.section(every), number_units(encoded, models), stays)
    if not any(model.basis is Basis.TABLE for model in models):
        return [whole]
    least = max(k, least_section(models))
    local = tuple(model for model in models if not model.size_only and model.basis is not Basis.TABLE)

    def cuts(histograms: Sequence[NDArray[np.int64]]) -> Iterator[Cut]:
        by_person = encoded.people is not None
        return counted_cuts(histograms, encoded.attributes, least, CHOICES, by_person=by_person, relaxed=relaxed)

    def rule(segment: Segment, cut: Cut) -> Ruling:
        labels = np.where(segment.stays, segment.parts(cut), -1).astype(np.int32)
        if encoded.people is not None and (Groups.of(segment.part, labels).sizes < least).any():
            return Ruling.FEW_PEOPLE
        return Ruling.REFUSED if failing_groups(segment.part, local, labels).any() else Ruling.ALLOWED

    return cut_by(whole, cuts, sections.LARGEST_SECTION, rule, Segment.locate).leaves()
