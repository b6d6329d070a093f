"""Utility-driven clustering: choose the merge that leaves the most research value, under data constraint rules."""

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
from shoal.methods.clustering.remainder import deal_pieces
from shoal.methods.merge_failing import merge_failing
from shoal.methods.options import read_flag, read_number, read_share
from shoal.methods.prices import Forms, common_scale, lay_forms, raw_span, whole_places
from shoal.metrics.research_value import Research
from shoal.models import PrivacyModel
from shoal.rules import CompiledRules, compile_rules
from shoal.schema import Kind

if TYPE_CHECKING:
    from shoal.kernels.clustering.utility import Utility

__all__ = ["UtilityDriven"]

SUPPRESS = ("nothing", "attributes", "rows")
SCORES = ("whole", "cluster")
# Merges between two reports of progress.
BATCH = 64
# Largest sum of spans and largest worth of an attribute, as integers.
MOST_SPAN, MOST_WORTH = 2**58, 2**44


@dataclass(frozen=True)
class UtilityDriven:
    """Utility-driven clustering with data constraint rules, of Morton's thesis.

    The research value of an attribute is the product of its weight, of the number of rows divided by the sum of the
    spans that they show, and of the share of the worth of its rules that all groups keep. A single value spans 1,
    integers a..b span b - a + 1, a category spans its number of values. The group with the fewest rows, if fewer than
    k, merges with the partner that leaves the largest sum of research values: of the whole clustering, or, with
    score="cluster", of the merged group alone.
    Groups that fail another model then merge with their nearest group until they pass.
    Cost: O(q m^2) for m distinct tuples and q attributes.

    Attributes:
        suppress: "nothing". "attributes": a merged group shows or suppresses each attribute, whichever leaves more
            research value. "rows": a small group may be suppressed if that leaves more research value, within the
            suppression limit.
        non_overlapping: Whether ranges or sets of an attribute in two groups must not overlap partially; a merged
            group absorbs the groups that it would overlap.
        resolutions: By column, the step in which numbers that are not integers are counted.
        score: "whole": a merge is scored by the research value of all groups. "cluster": by that of the merged group
            alone, as the formula of the thesis reads; its number of rows cancels, and many merges score alike.
        alpha: Balances granularity g against rules r, from 0 to 1: g^(2 alpha) * r^(2 - 2 alpha). At 0.5 this is the
            plain product.

    Choices where the source is silent: of equally small groups the one with the lowest tuple merges first; of equally
    good partners the one with the lowest tuple is taken, also if no research value is left; of partially overlapping
    groups the one with the lowest tuple joins first. Numbers that are not integers are counted in their smallest gap. A
    category spans the size of its set or, with a hierarchy, the leaves below its label. A suppressed attribute spans
    everything and breaks no rule. If suppressing several attributes pays, all of them are suppressed, fewest on ties;
    beyond 12 attributes, only the one that pays most. Sums are compared exactly; with score="cluster" or another alpha
    than 0.5, sums that differ by less than 1e-11 of their size are equal. Rows are suppressed by the value of the whole
    clustering, whatever the score.

    >>> UtilityDriven(suppress="attributes").name
    'utility-driven'
    """

    suppress: str = "nothing"
    non_overlapping: bool = False
    resolutions: Mapping[str, float] = field(default_factory=dict)
    score: str = "whole"
    alpha: float = 0.5

    name: ClassVar[str] = "utility-driven"

    def __post_init__(self) -> None:
        if self.suppress not in SUPPRESS:
            raise UsageError(f"utility-driven: suppress {self.suppress!r} is not known. Use {', '.join(SUPPRESS)}.")
        if self.score not in SCORES:
            raise UsageError(f"utility-driven: score {self.score!r} is not known. Use {' or '.join(SCORES)}.")
        object.__setattr__(self, "alpha", read_share(self.name, "alpha", self.alpha))
        object.__setattr__(self, "non_overlapping", read_flag(self.name, "non_overlapping", self.non_overlapping))
        for name, step in self.resolutions.items():
            if not read_number(self.name, f"resolution of {name!r}", step):
                raise UsageError(f"utility-driven: the resolution of {name!r} is 0. Use a number above 0.")

    @property
    def research(self) -> Research:
        """How research values are made."""
        return Research(alpha=self.alpha)

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups of at least k rows."""
        k = check_models(self, encoded, models)
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
        merged = merge_failing(encoded, labels, models, run)
        partition = tight_partition(encoded, merged)
        if not starred.any():
            return partition
        suppressed = np.zeros((partition.n_groups, starred.shape[1]), dtype=bool)
        np.logical_or.at(suppressed, merged[labels >= 0], starred[labels[labels >= 0]])
        cells = [suppress_cells(cells, suppressed[:, a]) for a, cells in enumerate(partition.cells)]
        return replace(partition, cells=tuple(cells))

    def _start(self, encoded: Encoded, k: int, run: Run) -> Utility:
        from shoal.kernels.clustering.utility import Utility

        rules = compile_rules(run.rules, encoded.attributes)
        forms, ones = _spans(encoded, self.resolutions)
        bases, worths = _worths(encoded.attributes, rules, run.weights, ones)
        return Utility(
            encoded.tuples,
            encoded.counts,
            forms,
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
            self.score == "cluster",
            self.alpha,
        )


def _finish(utility: Utility, q: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the group of each canonical row, and the attributes that each group suppresses."""
    empty = np.empty(0, dtype=np.int32)
    n_pieces = utility.pieces(empty, np.empty(0, dtype=np.int64), empty, np.empty((0, q), dtype=np.uint8))
    tuples, groups = np.empty(n_pieces, dtype=np.int32), np.empty(n_pieces, dtype=np.int32)
    rows, starred = np.empty(n_pieces, dtype=np.int64), np.zeros((utility.count(), q), dtype=np.uint8)
    utility.pieces(tuples, rows, groups, starred)
    return deal_pieces(tuples, rows, groups), starred.astype(bool)


def _spans(encoded: Encoded, resolutions: Mapping[str, float]) -> tuple[Forms, NDArray[np.int64]]:
    """Return prices of the attributes by the span of a union beyond a single value, and the span of a single value."""
    forms = lay_forms(encoded, most=2**61, raw=True)
    units, ones, fulls = [], [], []
    for attribute in encoded.attributes:
        unit, one, width = 1, 1, len(attribute.texts) - 1
        if attribute.ordered:
            places, width = whole_places(attribute)
            step = _step(attribute, places, width, resolutions)
            unit, one = step.numerator, step.denominator
            shrink = max(1, (width * unit + one) * encoded.n_rows // MOST_SPAN)
            unit, one = max(1, unit // shrink), max(1, one // shrink)
        units.append(unit)
        ones.append(one)
        fulls.append(width * unit)
    prices = np.array(units, dtype=np.int64)
    return forms._replace(units=prices, firsts=prices, fulls=np.array(fulls, dtype=np.int64)), np.array(ones)


def _step(attribute: Attribute, places: NDArray[np.int64], width: int, resolutions: Mapping[str, float]) -> Fraction:
    """Return how many values a step of the places spans: 1 for integers and days, else by the resolution."""
    if width == 0:
        return Fraction(1)
    size = raw_span(attribute) / width
    if attribute.name in resolutions:
        return size / Fraction(str(resolutions[attribute.name]))
    unit = 86400 if attribute.kind is Kind.DATE else 1
    present = attribute.values[: attribute.missing] if attribute.missing >= 0 else attribute.values
    if all(value % unit == 0 for value in present.tolist()):
        return size
    gaps = np.diff(np.unique(places[places >= 0]))
    return Fraction(1, int(gaps.min()))


def _worths(
    attributes: tuple[Attribute, ...],
    rules: CompiledRules,
    weights: Mapping[str, Fraction],
    ones: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, as integers, what each attribute is worth without its rules, and what each rule adds."""
    bases: list[Fraction] = []
    shares = [Fraction(0)] * len(rules.importances)
    for a, attribute in enumerate(attributes):
        weight = weights.get(attribute.name, Fraction(1)) * int(ones[a])
        own_rules = [rule for rule, owner in enumerate(rules.attributes) if owner == a]
        total = rules.bases[a] + sum((rules.importances[rule] for rule in own_rules), Fraction(0))
        bases.append(weight * rules.bases[a] / total if total else weight)
        for rule in own_rules:
            shares[rule] = weight * rules.importances[rule] / total if total else Fraction(0)
    scale = Fraction(common_scale((share.denominator for share in (*bases, *shares)), 2**62))
    largest = max(sum(bases, Fraction(0)) + sum(shares, Fraction(0)), Fraction(1))
    scale = min(scale, MOST_WORTH / largest)
    return (
        np.array([math.floor(share * scale) for share in bases], dtype=np.int64),
        np.array([math.floor(share * scale) for share in shares], dtype=np.int64),
    )
