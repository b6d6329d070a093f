"""Strict Mondrian in a table of several sections, under models that judge all groups together.

Segments of more units than a section are cut by counts, as the engines cut them that have no rows in memory. The other
models judge each part of a cut. A smaller segment keeps its own share of the limits of all groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.methods import sections
from shoal.methods.base import failing_groups
from shoal.methods.mondrian.counted_cuts import counted_cuts
from shoal.methods.mondrian.cuts_under_models import CHOICES
from shoal.methods.sections import Cut, Ruling, cut_by, number_units
from shoal.methods.suppression.all_groups import judge_sections, least_section
from shoal.models import Basis, Groups, PopulationUniqueness, PrivacyModel

__all__ = ["Segment", "find_segments", "is_cut_in_sections"]


def is_cut_in_sections(encoded: Encoded, models: tuple[PrivacyModel, ...], k: int) -> bool:
    """Say whether each section of a table keeps its share of the limits of all groups."""
    together = [model for model in models if model.basis is Basis.TABLE]
    # People of the release are fewer than those of its sections together.
    if encoded.people is not None and any(isinstance(model, PopulationUniqueness) for model in together):
        return False
    return bool(together) and judge_sections(models, k) and sections.has_several(encoded, models)


@dataclass(frozen=True)
class Segment:
    """Some rows of a table.

    Attributes:
        rows: The canonical rows, ascending.
        part: These rows, whose sensitive values are compared with those of all rows.
        units: The unit of each.
    """

    rows: NDArray[np.int64]
    part: Encoded
    units: NDArray[np.int64]

    @property
    def n_tuples(self) -> int:
        """The number of units."""
        return len(np.unique(self.units))

    def histograms(self) -> Sequence[NDArray[np.int64]]:
        """Return the number of rows of each code, attribute after attribute."""
        return self.part.histograms

    def codes(self, column: int) -> NDArray[np.int32]:
        """Return the code of each row."""
        return np.asarray(self.part.tuples[self.part.row_tuple, column])

    def halves(self, column: int, goes_left: NDArray[np.bool_]) -> tuple[Self, Self]:
        """Cut the segment by the codes of an attribute."""
        is_left = goes_left[self.codes(column)]
        left, right = (
            replace(self, rows=self.rows[side], part=self.part.part(side), units=self.units[side])
            for side in (is_left, ~is_left)
        )
        return left, right


def find_segments(encoded: Encoded, k: int, models: tuple[PrivacyModel, ...]) -> list[Segment]:
    """Cut a table of several sections until no segment has more units than a section, or none can be cut.

    Args:
        encoded: The table.
        k: The least group size.
        models: The models; some judge all groups together.
    """
    least = max(k, least_section(models))
    local = tuple(model for model in models if not model.size_only and model.basis is not Basis.TABLE)

    def cuts(histograms: Sequence[NDArray[np.int64]]) -> Iterator[Cut]:
        by_person = encoded.people is not None
        return counted_cuts(histograms, encoded.attributes, least, CHOICES, by_person=by_person)

    def rule(segment: Segment, cut: Cut) -> Ruling:
        labels = cut.parts[segment.codes(cut.column)]
        if encoded.people is not None and (Groups.of(segment.part, labels).sizes < least).any():
            return Ruling.FEW_PEOPLE
        return Ruling.REFUSED if failing_groups(segment.part, local, labels).any() else Ruling.ALLOWED

    every = np.ones(len(encoded.order), dtype=bool)
    whole = Segment(np.arange(len(every)), encoded.section(every), number_units(encoded, models))
    return cut_by(whole, cuts, sections.LARGEST_SECTION, rule).leaves()
