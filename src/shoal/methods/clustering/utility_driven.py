"""Utility-driven clustering: the merge that leaves most research value, under data constraint rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Partition, suppress_cells, tight_partition
from shoal.errors import CancelledError, UsageError
from shoal.methods.base import Run, check_models
from shoal.methods.merge_failing import mend
from shoal.methods.options import read_flag, read_number
from shoal.methods.prices import Forms, common_scale, lay_forms, raw_span, whole_places
from shoal.methods.remainder import deal_rows
from shoal.models import PrivacyModel
from shoal.rules import CompiledRules, compile_rules
from shoal.schema import Kind

if TYPE_CHECKING:
    from shoal.kernels.clustering.utility import Utility

__all__ = ["UtilityDriven"]

SUPPRESS = ("nothing", "attributes", "rows")
# Merges between two looks at progress and cancellation.
BATCH = 64
# Largest sum of spans, and largest worth of an attribute, as whole numbers.
MOST_SPAN, MOST_WORTH = 2**58, 2**44


@dataclass(frozen=True)
class UtilityDriven:
    """Morton, a thesis on k-anonymity with data constraint rules: merge where most research value is left.

    suppress: "nothing"; "attributes": in a merged group each attribute is shown or suppressed, whichever leaves more
    research value; "rows": a small group may be left out where that leaves more, as far as the suppression limit
    allows. non_overlapping: no two groups' ranges or sets of an attribute may overlap in part; a merged group takes in
    those with which it would. resolutions: by column, the step in which a number that is not whole is counted.

    The research value of an attribute is its weight, times the rows over the sum of the spans that they show (a single
    value spans 1, whole numbers a..b span b - a + 1, a category its values), times the share of the worth of its rules
    that are kept by all groups. Of the groups with fewer than k rows the one of fewest rows is merged with the partner
    that leaves the largest sum over all attributes. Groups that fail a model beside k then merge with the nearest until
    they pass. Cost: O(q m^2) for m distinct tuples and q attributes.

    Where the source is silent: of equally small groups that of the lowest tuple is next, of equally good partners that
    of the lowest tuple is taken, also where no research value is left, and of groups that overlap in part that of the
    lowest tuple joins first; numbers that are not whole are counted in their smallest gap; a category spans the size of
    its set, with a hierarchy the leaves of its label; what is suppressed spans everything and breaks no rule, and with
    several attributes that pay, up to 12 in all, every one is suppressed (beyond 12, the one that pays most), fewest on
    ties. Sums are compared exactly.

    >>> UtilityDriven(suppress="attributes").name
    'utility-driven'
    """

    suppress: str = "nothing"
    non_overlapping: bool = False
    resolutions: Mapping[str, float] = field(default_factory=dict)

    name: ClassVar[str] = "utility-driven"

    def __post_init__(self) -> None:
        if self.suppress not in SUPPRESS:
            raise UsageError(f"utility-driven: suppress {self.suppress!r} is not known. Use {', '.join(SUPPRESS)}.")
        object.__setattr__(self, "non_overlapping", read_flag(self.name, "non_overlapping", self.non_overlapping))
        for name, step in self.resolutions.items():
            if not read_number(self.name, f"resolution of {name!r}", step):
                raise UsageError(f"utility-driven: resolution of {name!r} is 0. Use a number above 0.")

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        k = check_models(self.name, encoded, models, counts_people=True)
        utility = self._start(encoded, k, run)
        n_small = n_at_first = max(utility.merge(0), 1)
        while n_small:
            if run.cancelled():
                raise CancelledError
            n_small = utility.merge(BATCH)
            run.progress(1 - n_small / n_at_first)
        if run.cancelled():
            raise CancelledError
        run.progress(1.0)
        labels, starred = _finish(utility, len(encoded.attributes))
        mended = mend(encoded, labels, models, run)
        made = tight_partition(encoded, mended)
        if not starred.any():
            return made
        hidden = np.zeros((made.n_groups, starred.shape[1]), dtype=bool)
        np.logical_or.at(hidden, mended[labels >= 0], starred[labels[labels >= 0]])
        return replace(made, cells=tuple(suppress_cells(cells, hidden[:, a]) for a, cells in enumerate(made.cells)))

    def _start(self, encoded: Encoded, k: int, run: Run) -> Utility:
        from shoal.kernels.clustering.utility import Utility

        rules = compile_rules(run.rules, encoded.attributes)
        forms, ones = _spans(encoded, self.resolutions)
        bases, worths = _worths(encoded.attributes, rules, run.weights, ones)
        return Utility(
            encoded.tuples,
            encoded.counts,
            tuple(forms),
            ones,
            bases,
            worths,
            np.array(rules.attributes, dtype=np.int32),
            np.array([pair.rule for pair in rules.pairs], dtype=np.int32),
            *rules.sides(encoded.tuples),
            k,
            SUPPRESS.index(self.suppress),
            run.most_suppressed(encoded.n_rows),
            self.non_overlapping,
        )


def _finish(utility: Utility, q: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the group of each canonical row, and which attributes each group suppresses."""
    none = np.empty(0, dtype=np.int32)
    n_pieces = utility.pieces(none, np.empty(0, dtype=np.int64), none, np.empty((0, q), dtype=np.uint8))
    tuples, groups = np.empty(n_pieces, dtype=np.int32), np.empty(n_pieces, dtype=np.int32)
    rows, starred = np.empty(n_pieces, dtype=np.int64), np.zeros((utility.count(), q), dtype=np.uint8)
    utility.pieces(tuples, rows, groups, starred)
    return deal_rows(tuples, rows, groups), starred.astype(bool)


def _spans(encoded: Encoded, resolutions: Mapping[str, float]) -> tuple[Forms, NDArray[np.int64]]:
    """Return the attributes priced by what a union spans beyond a single value, and the span of a single value."""
    forms = lay_forms(encoded, most=2**61, raw=True)
    units, ones, fulls = [], [], []
    for attribute in encoded.attributes:
        unit, one, whole = 1, 1, len(attribute.texts) - 1
        if attribute.ordered:
            places, whole = whole_places(attribute)
            step = _step(attribute, places, whole, resolutions)
            unit, one = step.numerator, step.denominator
            shrink = max(1, (whole * unit + one) * encoded.n_rows // MOST_SPAN)
            unit, one = max(1, unit // shrink), max(1, one // shrink)
        units.append(unit)
        ones.append(one)
        fulls.append(whole * unit)
    priced = np.array(units, dtype=np.int64)
    return forms._replace(units=priced, firsts=priced, fulls=np.array(fulls, dtype=np.int64)), np.array(ones)


def _step(attribute: Attribute, places: NDArray[np.int64], whole: int, resolutions: Mapping[str, float]) -> Fraction:
    """Return how many values a step of the places spans: 1 of whole numbers and days, else by the resolution."""
    if whole == 0:
        return Fraction(1)
    size = raw_span(attribute) / whole  # of a step
    if attribute.name in resolutions:
        return size / Fraction(str(resolutions[attribute.name]))
    unit = 86400 if attribute.kind is Kind.DATE else 1
    known = attribute.values[: attribute.missing] if attribute.missing >= 0 else attribute.values
    if all(value % unit == 0 for value in known.tolist()):
        return size
    gaps = np.diff(np.unique(places[places >= 0]))
    return Fraction(1, int(gaps.min()))


def _worths(
    attributes: tuple[Attribute, ...],
    rules: CompiledRules,
    weights: Mapping[str, Fraction],
    ones: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, as whole numbers, what each attribute is worth without its rules, and what each rule adds."""
    bases: list[Fraction] = []
    shares = [Fraction(0)] * len(rules.importances)
    for a, attribute in enumerate(attributes):
        weight = weights.get(attribute.name, Fraction(1)) * int(ones[a])
        own = [rule for rule, owner in enumerate(rules.attributes) if owner == a]
        whole = rules.bases[a] + sum((rules.importances[rule] for rule in own), Fraction(0))
        bases.append(weight * rules.bases[a] / whole if whole else weight)
        for rule in own:
            shares[rule] = weight * rules.importances[rule] / whole if whole else Fraction(0)
    scale = Fraction(common_scale((share.denominator for share in (*bases, *shares)), 2**62))
    largest = max(sum(bases, Fraction(0)) + sum(shares, Fraction(0)), Fraction(1))
    scale = min(scale, MOST_WORTH / largest)
    return (
        np.array([math.floor(share * scale) for share in bases], dtype=np.int64),
        np.array([math.floor(share * scale) for share in shares], dtype=np.int64),
    )
